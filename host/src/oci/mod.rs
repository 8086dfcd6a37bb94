//! Policies in an OCI registry, as `kwctl push` and policy-server's fetcher have them.
//!
//! One manifest, one layer with the module as it is, an empty configuration, and the module's metadata as annotations of
//! the manifest. The same module always gives the same manifest, and so the same digest.

mod error;
mod manifest;
mod place;

use std::{
    io,
    pin::Pin,
    sync::OnceLock,
    task::{Context, Poll},
    time::Duration,
};

use oci_client::{
    Client, RegistryOperation,
    client::{ClientConfig, ClientProtocol},
    manifest::{IMAGE_MANIFEST_LIST_MEDIA_TYPE, OCI_IMAGE_INDEX_MEDIA_TYPE, OCI_IMAGE_MEDIA_TYPE},
    secrets::RegistryAuth,
};
use tokio::io::AsyncWrite;

pub use error::{Action, OciError};
pub use manifest::{CONFIG_TYPE, LAYER_TYPE, digest};
pub use place::{Account, Place, PlaceError, SCHEME};

use manifest::Manifest;

/// The largest module that is pulled: a policy of Kubewarden's own has a few megabytes, one with a language runtime some tens.
pub const MAX_MODULE_BYTES: u64 = 128 * 1024 * 1024;

/// How every module begins.
const MAGIC: &[u8] = b"\0asm";

/// What a registry answers with, or says to try again later, within this time.
const PATIENCE: Duration = Duration::from_secs(30);

/// A policy that has come from a registry, all digests of it checked.
#[derive(Debug, Clone)]
pub struct Pulled {
    /// The module
    pub module: Vec<u8>,
    /// `HOST/NAME@sha256:…`, of the manifest
    pub immutable: String,
    /// The manifest's annotations, sorted
    pub annotations: Vec<(String, String)>,
}

/// Access to the registry of one place.
pub struct Registry {
    place: Place,
    client: Client,
    auth: RegistryAuth,
    account: Account,
}

impl Registry {
    /// A client for the registry of a place. Nothing is asked yet.
    ///
    /// `insecure` speaks plain HTTP; so do places on this machine.
    ///
    /// # Errors
    /// Docker's configuration cannot be read.
    pub fn new(place: Place, account: Account, insecure: bool) -> Result<Self, OciError> {
        provide_cryptography();
        let (auth, account) = account.resolve(place.registry())?;
        let protocol = if insecure || place.is_loopback() { ClientProtocol::Http } else { ClientProtocol::Https };
        let client = Client::new(ClientConfig {
            protocol,
            // An index would be resolved by the platform of whoever pulls. Kubewarden refuses one.
            platform_resolver: None,
            connect_timeout: Some(PATIENCE),
            read_timeout: Some(PATIENCE),
            user_agent: concat!("sluicegate-host/", env!("CARGO_PKG_VERSION")),
            ..ClientConfig::default()
        });
        Ok(Self { place, client, auth, account })
    }

    /// Pushes a module under the tag of the place; gives `HOST/NAME@sha256:…`.
    ///
    /// # Errors
    /// The place has no tag, policy-server would not load the module, or the registry refuses: see [`OciError`].
    pub async fn push(&self, module: Vec<u8>) -> Result<String, OciError> {
        if self.place.tag().is_none() || self.place.digest().is_some() {
            return Err(OciError::NoTag(self.place.to_string()));
        }
        if !module.starts_with(MAGIC) {
            return Err(OciError::NotWasm);
        }
        let manifest = Manifest::of(&module)?;
        let failed = |error| self.failed(Action::Push, error);
        let reference = self.place.reference();
        self.client.auth(reference, &self.auth, RegistryOperation::Push).await.map_err(failed)?;
        self.client.push_blob(reference, module, manifest.layer_digest()).await.map_err(failed)?;
        self.client.push_blob(reference, manifest::CONFIG, manifest.config_digest()).await.map_err(failed)?;
        let bytes = manifest.to_bytes()?;
        let digest = digest(&bytes);
        let content_type = http::HeaderValue::from_static(OCI_IMAGE_MEDIA_TYPE);
        self.client.push_manifest_raw(reference, bytes, content_type).await.map_err(failed)?;
        Ok(self.place.immutable(&digest))
    }

    /// Pulls the module of the place.
    ///
    /// # Errors
    /// See [`OciError`].
    pub async fn pull(&self) -> Result<Pulled, OciError> {
        let failed = |error| self.failed(Action::Pull, error);
        // Indexes are asked for, too: what is there is to be named, not to be called absent.
        let accepted = [OCI_IMAGE_MEDIA_TYPE, OCI_IMAGE_INDEX_MEDIA_TYPE, IMAGE_MANIFEST_LIST_MEDIA_TYPE];
        let reference = self.place.reference();
        let (bytes, digest) = self.client.pull_manifest_raw(reference, &self.auth, &accepted).await.map_err(failed)?;
        let manifest = Manifest::parse(&bytes, &self.place)?;
        let layer = manifest.module_layer(&self.place, MAX_MODULE_BYTES)?;
        let mut module = Bounded { bytes: Vec::new(), limit: usize::try_from(layer.size).unwrap_or_default() };
        self.client.pull_blob(reference, &layer, &mut module).await.map_err(failed)?;
        if !module.bytes.starts_with(MAGIC) {
            return Err(OciError::NoModule(self.place.to_string()));
        }
        Ok(Pulled {
            module: module.bytes,
            immutable: self.place.immutable(&digest),
            annotations: manifest.into_annotations(),
        })
    }

    fn failed(&self, action: Action, error: oci_client::errors::OciDistributionError) -> OciError {
        OciError::of(error, action, &self.place, &self.account)
    }
}

/// Takes as many bytes as a layer was announced with, and fails on the next one: what a registry sends is not to fill the
/// memory before its digest can be found wrong.
struct Bounded {
    bytes: Vec<u8>,
    limit: usize,
}

impl AsyncWrite for Bounded {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, more: &[u8]) -> Poll<io::Result<usize>> {
        if self.bytes.len().saturating_add(more.len()) > self.limit {
            return Poll::Ready(Err(io::Error::from(io::ErrorKind::FileTooLarge)));
        }
        self.bytes.extend_from_slice(more);
        Poll::Ready(Ok(more.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// The client's TLS takes the provider of the process. Whoever has installed one before keeps it.
fn provide_cryptography() {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}
