//! Certificates: one authority a test, which all servers of the test are signed by.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The authority, with one server certificate for the loopback.
#[derive(Debug)]
pub struct Authority {
    /// The authority's certificate, PEM.
    pub ca: PathBuf,
    /// The server's certificate, PEM.
    pub certificate: PathBuf,
    /// The server's key, PEM.
    pub key: PathBuf,
    /// A key pair for the tokens of service accounts, PEM: private and public.
    pub accounts: (PathBuf, PathBuf),
    ca_der: CertificateDer<'static>,
    certificate_der: CertificateDer<'static>,
    key_der: Vec<u8>,
}

impl Authority {
    /// Makes all of it in `folder`.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn new(folder: &Path) -> Result<Self> {
        let mut params = CertificateParams::new(Vec::<String>::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "sluicegate e2e");
        let ca = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        let key = KeyPair::generate()?;
        let names = ["127.0.0.1", "localhost"].map(str::to_owned);
        let certificate = CertificateParams::new(names)?.signed_by(&key, &ca)?;
        let accounts = KeyPair::generate()?;
        let write = |name: &str, text: String| -> Result<PathBuf> {
            let path = folder.join(name);
            std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
            Ok(path)
        };
        Ok(Self {
            ca: write("ca.crt", ca.pem())?,
            certificate: write("server.crt", certificate.pem())?,
            key: write("server.key", key.serialize_pem())?,
            accounts: (
                write("accounts.key", accounts.serialize_pem())?,
                write("accounts.pub", accounts.public_key_pem())?,
            ),
            ca_der: ca.der().clone(),
            certificate_der: certificate.der().clone(),
            key_der: key.serialize_der(),
        })
    }

    /// The authority's certificate, DER.
    #[must_use]
    pub fn ca_der(&self) -> &[u8] {
        &self.ca_der
    }

    /// A client's side of TLS that trusts this authority.
    ///
    /// # Errors
    ///
    /// None that a certificate of our own making gives.
    pub fn client(&self) -> Result<rustls::ClientConfig> {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(self.ca_der.clone())?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        Ok(rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth())
    }

    /// A server's side of TLS.
    ///
    /// # Errors
    ///
    /// None that a certificate of our own making gives.
    pub fn server(&self) -> Result<rustls::ServerConfig> {
        let key = PrivateKeyDer::Pkcs8(self.key_der.clone().into());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        Ok(rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![self.certificate_der.clone()], key)?)
    }
}
