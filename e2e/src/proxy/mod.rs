//! A proxy between one client and the API server that loses, delays or falsifies the requests that a test picks.
//!
//! ```text
//! let lost = proxy.on(Pick::patch("/kustomizations/app/status").saying("\"reason\":\"Succeeded\"")).nth(1).answer(504);
//! ```
//!
//! A request's body is read whole, so that a rule can look into it; an answer is passed on as it comes, watches included.

mod rule;
mod serve;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tokio::net::TcpListener;
use tokio::sync::watch;

use rule::Rule;
pub use rule::{Handle, Pick};

use crate::actor::Actor;
use crate::cluster::Cluster;

/// The proxy; it ends when dropped, and its connections with it.
pub struct Proxy {
    url: String,
    rules: Rules,
    warnings: Warnings,
    cut: Arc<watch::Sender<()>>,
    task: tokio::task::JoinHandle<()>,
}

type Rules = Arc<Mutex<Vec<Arc<Rule>>>>;
/// What Warning headers said, in their order.
type Warnings = Arc<Mutex<Vec<String>>>;

impl Proxy {
    /// Starts a proxy before the cluster's API server.
    ///
    /// # Errors
    ///
    /// There is no port.
    pub async fn start(cluster: &Cluster) -> Result<Self> {
        let authority = cluster.authority();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let url = format!("https://{}", listener.local_addr()?);
        let rules = Rules::default();
        let warnings = Warnings::default();
        let cut = Arc::new(watch::Sender::new(()));
        let connector =
            HttpsConnectorBuilder::new().with_tls_config(authority.client()?).https_only().enable_http1().build();
        let client = Client::builder(TokioExecutor::new()).build(connector);
        let server = serve::Server {
            client,
            upstream: cluster.url().parse()?,
            rules: Arc::clone(&rules),
            warnings: Arc::clone(&warnings),
            cut: Arc::clone(&cut),
        };
        let task = tokio::spawn(server.run(listener, authority.server()?));
        Ok(Self { url, rules, warnings, cut, task })
    }

    /// Its URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Somebody who speaks to the API server through this proxy.
    ///
    /// # Errors
    ///
    /// The kubeconfig cannot be written.
    pub fn actor(&self, cluster: &Cluster, short: &str) -> Result<Actor> {
        let folder = cluster.folder().join(format!("{short}-through-proxy"));
        std::fs::create_dir_all(&folder)?;
        cluster.actor_at(short, &self.url, Path::new(&folder))
    }

    /// Picks requests; what shall become of them is said on the handle. Until then they are only counted. Of several
    /// rules that match a request the newest decides, and all count.
    #[must_use]
    pub fn on(&self, pick: Pick) -> Handle {
        let rule = Arc::new(Rule::new(pick));
        self.rules.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&rule));
        Handle::new(rule)
    }

    /// Cuts all connections that there are, watches included.
    pub fn hang_up(&self) {
        self.cut.send_replace(());
    }

    /// All warnings that the API server has given this client.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Forgets the warnings so far.
    pub fn forget_warnings(&self) {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}
