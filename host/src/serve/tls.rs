//! The server's side of TLS.

use std::sync::Arc;

use axum_server::tls_rustls::RustlsConfig;
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};

use super::ServeError;

/// HTTP/2 and 1.1, which the API server both speaks; TLS 1.2 and 1.3; no client certificates.
pub(super) fn config(certificates: &[u8], key: &[u8]) -> Result<RustlsConfig, ServeError> {
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(certificates).collect::<Result<_, _>>().map_err(text)?;
    let key = PrivateKeyDer::from_pem_slice(key).map_err(text)?;
    // Named, as the process may have several providers, and then no default.
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(text)?
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .map_err(text)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(RustlsConfig::from_config(Arc::new(config)))
}

fn text(error: impl ToString) -> ServeError {
    ServeError::Tls(error.to_string())
}
