//! The compiled policy in the cluster: `sluicegate-host serve`, registered as webhook.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

use crate::certificate::Authority;
use crate::child::{Child, Run};
use crate::cluster::Cluster;
use crate::rights::documents;
use crate::wait::until;

/// The gate, running. Dropped, it stops serving, while its registration stays.
pub struct Gate {
    url: String,
    metrics: String,
    authority: Arc<Authority>,
    child: Child,
}

/// How the gate shall be set up.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Its name, as registered; webhooks run in the order of their configurations' names.
    pub name: &'static str,
    /// Mutating or validating.
    pub mutating: bool,
    /// The policy's settings.
    pub settings: Value,
    /// Ignore or Fail.
    pub failure_policy: &'static str,
    /// The webhook's own limit, in seconds.
    pub timeout_seconds: u8,
    /// Policy-server's limit on one evaluation, in seconds.
    pub evaluation_seconds: u8,
    /// Where the policy reads: the API server, or a proxy before it.
    pub reads_from: Option<PathBuf>,
}

impl Default for Setting {
    /// One mutating instance that holds and refuses. `Fail`: a gate that is not there must not look like one that admits.
    fn default() -> Self {
        Self {
            name: "sluicegate",
            mutating: true,
            settings: json!({}),
            failure_policy: "Fail",
            timeout_seconds: 10,
            evaluation_seconds: 10,
            reads_from: None,
        }
    }
}

impl Setting {
    /// The validating half of an installation with two instances.
    #[must_use]
    pub fn refuse() -> Self {
        Self { name: "sluicegate-refuse", mutating: false, settings: json!({"role": "refuse"}), ..Self::default() }
    }

    /// The mutating half.
    #[must_use]
    pub fn hold() -> Self {
        Self { name: "sluicegate-hold", settings: json!({"role": "hold"}), ..Self::default() }
    }
}

impl Gate {
    /// Starts the gate and registers it, and waits until the API server asks it.
    ///
    /// # Errors
    ///
    /// Policy or host have not been built, or do not start.
    pub async fn open(cluster: &Cluster, setting: Setting) -> Result<Self> {
        let host = built("SLUICEGATE_HOST", "sluicegate-host")?;
        let policy = built("SLUICEGATE_POLICY_WASM", "policy.wasm")?;
        let authority = cluster.authority();
        let settings = cluster.folder().join(format!("{}-settings.json", setting.name));
        std::fs::write(&settings, setting.settings.to_string())?;
        let kubeconfig =
            setting.reads_from.clone().unwrap_or_else(|| cluster.actor("policy-server").kubeconfig().to_owned());
        let path = |path: &PathBuf| path.display().to_string();
        let arguments = [
            "serve".to_owned(),
            path(&policy),
            format!("--kubeconfig={}", path(&kubeconfig)),
            format!("--settings={}", path(&settings)),
            "--listen=127.0.0.1:0".to_owned(),
            format!("--tls-cert={}", path(&authority.certificate)),
            format!("--tls-key={}", path(&authority.key)),
            format!("--name={}", setting.name),
            "--instances=2".to_owned(),
            "--trace".to_owned(),
            format!("--evaluation-seconds={}", setting.evaluation_seconds),
        ];
        let mut child = cluster.run(Run {
            name: setting.name,
            program: &host,
            arguments: arguments.into(),
            environment: Vec::new(),
            remove: None,
        })?;
        let url = until("the gate listens", async || {
            child.alive()?;
            let said = child.said();
            let listening = said.lines().find_map(|line| line.strip_prefix("listening on "));
            Ok(listening.map(str::to_owned).ok_or(said))
        })
        .await?;
        let base = url.split("/validate/").next().unwrap_or_default();
        let gate = Self { metrics: format!("{base}/metrics"), url, authority, child };
        gate.register(cluster, &setting, &host, &policy).await?;
        Ok(gate)
    }

    /// Registers the webhook as `sluicegate-host webhook` prints it.
    async fn register(&self, cluster: &Cluster, setting: &Setting, host: &PathBuf, policy: &PathBuf) -> Result<()> {
        let output = tokio::process::Command::new(host)
            .arg("webhook")
            .arg(policy)
            .args(["--name", setting.name, "--url", &self.url])
            .arg("--ca")
            .arg(&self.authority.ca)
            .arg(if setting.mutating { "--mutating" } else { "--validating" })
            .args(["--failure-policy", setting.failure_policy])
            .args(["--timeout-seconds", &setting.timeout_seconds.to_string()])
            .output()
            .await?;
        if !output.status.success() {
            bail!("sluicegate-host webhook: {}", String::from_utf8_lossy(&output.stderr));
        }
        for manifest in documents(&String::from_utf8_lossy(&output.stdout))? {
            cluster.admin().apply(&manifest).await?.admitted()?;
        }
        // The API server reads its configurations from a watch, a moment later: a request that the gate must have seen
        // tells.
        until("the API server asks the gate", async || {
            let asked = crate::manifest::kustomization("apps", "probe", "probe")
                .annotated("sluicegate.dev/probe", "1")
                .depends_on(&["probe"]);
            let answer = cluster.person().dry_run().apply(&asked).await?;
            let counted = self.evaluations().await?;
            Ok(if counted > 0.0 { Ok(()) } else { Err(format!("{} {}", answer.code, answer.message())) })
        })
        .await
    }

    /// The webhook's URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// All it has said.
    #[must_use]
    pub fn log(&self) -> String {
        self.child.said()
    }

    /// How many requests it has judged.
    ///
    /// # Errors
    ///
    /// It does not answer.
    pub async fn evaluations(&self) -> Result<f64> {
        self.count("sluicegate_host_evaluations_total", "").await
    }

    /// The sum of a counter over all series whose labels contain `labelled`.
    ///
    /// # Errors
    ///
    /// It does not answer.
    pub async fn count(&self, name: &str, labelled: &str) -> Result<f64> {
        let text = self.metrics().await?;
        let series = text.lines().filter(|line| {
            let (head, _) = line.split_once(' ').unwrap_or((line, ""));
            let (series, labels) = head.split_once('{').unwrap_or((head, ""));
            series == name && labels.contains(labelled)
        });
        Ok(series.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum())
    }

    /// Its metrics, as text.
    ///
    /// # Errors
    ///
    /// It does not answer.
    pub async fn metrics(&self) -> Result<String> {
        let connector =
            HttpsConnectorBuilder::new().with_tls_config(self.authority.client()?).https_only().enable_http1().build();
        let client: Client<_, Empty<Bytes>> = Client::builder(TokioExecutor::new()).build(connector);
        let response = client.get(self.metrics.parse()?).await.context("the gate's metrics")?;
        Ok(String::from_utf8_lossy(&response.into_body().collect().await?.to_bytes()).into_owned())
    }
}

/// What the Makefile has built: named by an environment variable, or lying where `make` puts it.
pub(crate) fn built(variable: &str, name: &str) -> Result<PathBuf> {
    if let Some(path) = std::env::var_os(variable) {
        return Ok(PathBuf::from(path));
    }
    let binary = std::env::current_exe()?;
    let beside = binary.ancestors().skip(1).take(3).map(|folder| folder.join(name));
    let top = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(name);
    beside
        .chain([top])
        .find(|path| path.is_file())
        .with_context(|| format!("missing: {name}; `make e2e` builds it ({variable} names another)"))
}
