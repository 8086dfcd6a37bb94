//! The policy as a webhook.
//!
//! What policy-server serves for one policy: `POST /validate/NAME` takes an AdmissionReview and answers with one, over TLS.
//! `POST /audit/NAME` is the same without the mutation constraint. A body that cannot be read and a policy of another name
//! get policy-server's texts and codes. Beside them, on the same port: `GET /readiness`, and `GET /metrics` in the text
//! format of Prometheus ([`metrics`] lists them), where policy-server pushes them instead.
//!
//! # How a request is run
//!
//! As in policy-server, each evaluation has a fresh instance on a thread that may block, and as many run at once as there
//! are [`Options::instances`]; others wait, and their deadline only begins when they start. The deadline is that of the
//! [`Host`]: it interrupts the guest, not a read that hangs. A client that goes away (the API server does, when
//! the webhook's `timeoutSeconds` are over) frees its place at once, though its evaluation goes on until the guest meets its
//! deadline or the read its end; so hanging reads do not stop the webhook, but each keeps a thread, of which there are 512.
//!
//! # Example
//!
//! ```no_run
//! use sluicegate_host::{Host, LiveCluster, Policy, serve::{Options, Server}};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let cluster = LiveCluster::from_kubeconfig("kubeconfig").await?;
//! let host = Host::new(&Policy::load("policy.wasm")?, cluster).with_timeout(Some(10));
//! let options = Options {
//!     name: "sluicegate".to_owned(),
//!     listen: ([127, 0, 0, 1], 0).into(),
//!     certificates: std::fs::read("tls.crt")?,
//!     key: std::fs::read("tls.key")?,
//!     instances: 2,
//!     observer: None,
//! };
//! let server = Server::start(host, options).await?;
//! println!("listening on {}", server.url());
//! server.run_until(std::future::pending()).await?;
//! # Ok(()) }
//! ```

mod api;
pub mod metrics;
mod tls;

use std::{fmt, future::Future, io, net::SocketAddr, num::NonZero, sync::Arc, thread, time::Duration};

use axum_server::Handle;
use thiserror::Error;
use tokio::task::JoinHandle;

use crate::{AdmissionRequest, AdmissionResponse, host::Host};

/// How long requests that are being answered may take when the server ends.
const GRACE: Duration = Duration::from_secs(5);

/// Why there is no server.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The certificates or the key cannot be read, or do not fit together.
    #[error("cannot use the certificate and its key: {0}")]
    Tls(String),
    /// The address cannot be listened on, or no longer.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address
        address: SocketAddr,
        /// What went wrong
        source: io::Error,
    },
    /// It has ended by itself.
    #[error("the server has ended")]
    Ended,
}

/// Told of each request once it is answered.
pub type Observer = Arc<dyn Fn(&AdmissionRequest, &AdmissionResponse) + Send + Sync>;

/// How a policy is served.
#[derive(Clone)]
pub struct Options {
    /// Name of the policy, the last part of its path, and in texts of the host
    pub name: String,
    /// Where to listen; port 0 takes a free one
    pub listen: SocketAddr,
    /// The certificate chain, PEM
    pub certificates: Vec<u8>,
    /// The private key, PEM
    pub key: Vec<u8>,
    /// How many evaluations run at once; see [`default_instances`]. 0 counts as 1.
    pub instances: usize,
    /// Who is shown the verdicts
    pub observer: Option<Observer>,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("name", &self.name)
            .field("listen", &self.listen)
            .field("instances", &self.instances)
            .finish_non_exhaustive()
    }
}

/// As many as there are cores, as policy-server does.
pub fn default_instances() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// A server that listens. Dropped, it goes on; only [`Server::run_until`] ends it.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    name: String,
    handle: Handle<SocketAddr>,
    task: JoinHandle<io::Result<()>>,
}

impl Server {
    /// Begins to listen. The settings of the host have been found valid, or nobody has asked: see
    /// [`Host::validate_settings`].
    ///
    /// # Errors
    /// See [`ServeError`].
    pub async fn start(host: Host, options: Options) -> Result<Self, ServeError> {
        let tls = tls::config(&options.certificates, &options.key)?;
        let (name, wanted) = (options.name.clone(), options.listen);
        let router = api::router(host, options);
        let handle = Handle::new();
        let server = axum_server::bind_rustls(wanted, tls).handle(handle.clone());
        let task = tokio::spawn(server.serve(router.into_make_service()));
        match handle.listening().await {
            Some(address) => Ok(Self { address, name, handle, task }),
            None => Err(match task.await {
                Ok(Err(source)) => ServeError::Listen { address: wanted, source },
                _ => ServeError::Ended,
            }),
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where AdmissionReviews are to be sent.
    pub fn url(&self) -> String {
        format!("https://{}/validate/{}", self.address, self.name)
    }

    /// Serves until `end` comes; then takes no new requests, and gives those on their way five seconds.
    ///
    /// # Errors
    /// [`ServeError`] if the server ends before.
    pub async fn run_until(mut self, end: impl Future<Output = ()>) -> Result<(), ServeError> {
        tokio::select! {
            () = end => {
                self.handle.graceful_shutdown(Some(GRACE));
                // Whatever it says now, it has ended.
                let _ = self.task.await;
                Ok(())
            }
            ended = &mut self.task => Err(match ended {
                Ok(Err(source)) => ServeError::Listen { address: self.address, source },
                _ => ServeError::Ended,
            }),
        }
    }
}
