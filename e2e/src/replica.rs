//! The real companion, as a process of its own.

use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, bail};
use rustix::process::{Pid, Signal};

use crate::actor::Actor;
use crate::child::{Child, Run};
use crate::cluster::Cluster;
use crate::gate::built;
use crate::kind;
use crate::manifest::Manifest;
use crate::net::free_ports;
use crate::rights::documents;
use crate::wait::until;

/// A replica of the companion; dropped, it is killed.
pub struct Replica {
    child: Child,
    metrics: String,
}

fn binary() -> Result<PathBuf> {
    built("SLUICEGATE", "sluicegate")
}

/// Gives the companion the rights that `sluicegate rbac` prints, in the place of those that the harness gives it.
///
/// # Errors
///
/// The companion has not been built, or the API server does not take what it prints.
pub async fn grant(cluster: &Cluster) -> Result<()> {
    grant_as(cluster, &[]).await
}

/// As [`grant`], with flags of `sluicegate rbac`.
///
/// # Errors
///
/// As [`grant`].
pub async fn grant_as(cluster: &Cluster, flags: &[&str]) -> Result<()> {
    let printed = tokio::process::Command::new(binary()?).arg("rbac").args(flags).output().await?;
    if !printed.status.success() {
        bail!("sluicegate rbac: {}", String::from_utf8_lossy(&printed.stderr));
    }
    cluster.admin().delete(&kind::CLUSTER_ROLE_BINDING.at("", "e2e-companion")).await?.admitted()?;
    for manifest in documents(&String::from_utf8_lossy(&printed.stdout))? {
        let object = manifest.object();
        // The namespace is there, and the policy server has its rights from the README.
        let skipped = object.is_none_or(|object| object.kind.name == "Namespace" || object.name == "sluicegate-policy");
        if !skipped {
            apply(cluster, &manifest).await?;
        }
    }
    Ok(())
}

async fn apply(cluster: &Cluster, manifest: &Manifest) -> Result<()> {
    cluster.admin().apply(manifest).await?.admitted().map(|_| ())
}

impl Replica {
    /// Starts one that speaks to the API server as `actor`, and waits until it has listed everything.
    ///
    /// # Errors
    ///
    /// It has not been built, or does not start: with the end of its log.
    pub async fn start(cluster: &Cluster, actor: &Actor, name: &'static str, flags: &[&str]) -> Result<Self> {
        let [public, private] = free_ports()?;
        let mut arguments = vec![
            "run".to_owned(),
            format!("--listen=127.0.0.1:{public}"),
            format!("--listen-local=127.0.0.1:{private}"),
        ];
        if !flags.iter().any(|flag| flag.starts_with("--log=")) {
            arguments.push("--log=info,sluicegate=debug,kube_runtime=off".to_owned());
        }
        arguments.extend(flags.iter().map(|flag| (*flag).to_owned()));
        let mut child = cluster.run(Run {
            name,
            program: &binary()?,
            arguments,
            environment: vec![
                ("KUBECONFIG".to_owned(), actor.kubeconfig().display().to_string()),
                ("POD_NAME".to_owned(), name.to_owned()),
            ],
            remove: None,
        })?;
        until(&format!("{name} is ready"), async || {
            child.alive()?;
            Ok(if get(public, "/readyz").await.is_ok_and(|body| body == "ok\n") { Ok(()) } else { Err(child.said()) })
        })
        .await?;
        Ok(Self { child, metrics: format!("127.0.0.1:{public}") })
    }

    /// Waits until it leads.
    ///
    /// # Errors
    ///
    /// It does not come to that.
    pub async fn leads(&self) -> Result<()> {
        let port = self.port()?;
        until("the replica leads", async || {
            let text = get(port, "/metrics").await.unwrap_or_default();
            Ok(if text.contains("\nsluicegate_leading 1\n") { Ok(()) } else { Err("it does not".to_owned()) })
        })
        .await
    }

    /// The sum of one of its metrics over all series whose labels contain `labelled`.
    ///
    /// # Errors
    ///
    /// It does not answer.
    pub async fn count(&self, name: &str, labelled: &str) -> Result<f64> {
        let text = get(self.port()?, "/metrics").await?;
        let series = text.lines().filter(|line| {
            let (series, _) = line.split_once(' ').unwrap_or((line, ""));
            let (series, labels) = series.split_once('{').unwrap_or((series, ""));
            series == name && labels.contains(labelled)
        });
        Ok(series.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum())
    }

    fn port(&self) -> Result<u16> {
        self.metrics.rsplit(':').next().and_then(|port| port.parse().ok()).context("no port")
    }

    /// Its process.
    #[must_use]
    pub fn child(&self) -> &Child {
        &self.child
    }

    /// All that it has logged.
    #[must_use]
    pub fn said(&self) -> String {
        self.child.said()
    }

    /// Stops it as SIGSTOP does, in whatever it is.
    ///
    /// # Errors
    ///
    /// It does not run.
    pub fn freeze(&self) -> Result<()> {
        self.signal(Signal::STOP)
    }

    /// Lets it go on.
    ///
    /// # Errors
    ///
    /// It does not run.
    pub fn thaw(&self) -> Result<()> {
        self.signal(Signal::CONT)
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        let id = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        rustix::process::kill_process(id.ok_or_else(|| anyhow!("the replica does not run"))?, signal)?;
        Ok(())
    }
}

/// A page of the replica.
async fn get(port: u16, path: &str) -> Result<String> {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await?;
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let (head, body) = answer.split_once("\r\n\r\n").context("no HTTP")?;
    if !head.starts_with("HTTP/1.1 200") {
        bail!("{head}");
    }
    Ok(body.to_owned())
}
