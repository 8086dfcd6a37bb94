//! `sluicegate run`: the companion as a controller.

use crate::clock::Clock;
use crate::cluster::access::missing;
use crate::cluster::lease::{Candidate, Config, Fence};
use crate::cluster::watch::{Scope, watch_all};
use crate::control::{Control, Settings};
use crate::logs::{LogFormat, start};
use crate::metrics::Metrics;
use crate::rights;
use crate::serve::{Pages, is_loopback, refused, serve};
use anyhow::{Context, bail};
use chrono::TimeDelta;
use clap::{Args, ValueEnum};
use sluicegate_core::gate::Disclose;
use sluicegate_core::recovery::{PackageSources, Signal};
use sluicegate_core::release::Marks;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};

/// How long what is under way may take to end.
const GRACE: Duration = Duration::from_secs(4);

/// Which marks are obeyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MarksArgument {
    /// Those of the gate.
    Gate,
    /// The bare annotation sluicegate.dev/resume: when-settled too, for clusters without the gate.
    Annotations,
}

/// How a stalled generator is made to see drift.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SignalArgument {
    /// Clear status.observedSourcesDigest.
    SourcesDigest,
    /// Write Ready False with a reason of ours.
    ReadyCondition,
}

/// What is done about the PackageSources of cozystack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PackageSourcesArgument {
    /// Write their status, where no operator does.
    Status,
    /// Events alone.
    Observe,
    /// Nothing.
    Off,
}

/// How much texts may tell of other namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DiscloseArgument {
    /// The namespace of the object, and what it names itself.
    Permitted,
    /// Everything: for clusters of one team.
    Everyone,
}

/// Resumes what the gate has held, recovers stalled generators, and watches for cycles.
#[derive(Clone, Debug, Args)]
pub struct RunArguments {
    /// Say what would be written, and write nothing; takes no Lease, so that the gate holds nothing for it.
    #[arg(long, env = "SLUICEGATE_DRY_RUN")]
    pub dry_run: bool,
    /// Watch this namespace alone.
    #[arg(long, env = "SLUICEGATE_NAMESPACE", value_name = "NAME")]
    pub namespace: Option<String>,
    /// Watch objects with these labels alone, as Flux's controllers do for a shard.
    #[arg(long, env = "SLUICEGATE_WATCH_LABEL_SELECTOR", value_name = "SELECTOR")]
    pub watch_label_selector: Option<String>,
    /// Which marks are obeyed.
    #[arg(long, env = "SLUICEGATE_MARKS", value_enum, default_value = "gate")]
    pub marks: MarksArgument,
    /// How a stalled generator is made to see drift.
    #[arg(long, env = "SLUICEGATE_SIGNAL", value_enum, default_value = "sources-digest")]
    pub signal: SignalArgument,
    /// What is done about the PackageSources of cozystack.
    #[arg(long, env = "SLUICEGATE_PACKAGE_SOURCES", value_enum, default_value = "observe")]
    pub package_sources: PackageSourcesArgument,
    /// How much conditions and Events may tell of other namespaces.
    #[arg(long, env = "SLUICEGATE_DISCLOSE", value_enum, default_value = "permitted")]
    pub disclose: DiscloseArgument,
    /// For how long nothing with the labels of an owner must have changed, where its apply cannot be seen to end.
    #[arg(long, env = "SLUICEGATE_SETTLE_SECONDS", default_value_t = 10, value_name = "SECONDS",
          value_parser = clap::value_parser!(u32).range(0..=3600))]
    pub settle_seconds: u32,
    /// After how long a hold is reported.
    #[arg(long, env = "SLUICEGATE_HELD_TOO_LONG", default_value_t = 3_600, value_name = "SECONDS",
          value_parser = clap::value_parser!(u32).range(1..=31_536_000))]
    pub held_too_long: u32,
    /// Whether readyExpr adds to the built-in test, as with Flux's feature gate AdditiveCELDependencyCheck.
    #[arg(long, env = "SLUICEGATE_ADDITIVE_READY_EXPR")]
    pub additive_ready_expr: bool,
    /// How many objects one judgement may read.
    #[arg(long, env = "SLUICEGATE_MAX_READS", default_value_t = 500, value_name = "COUNT",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub max_reads: u32,
    /// The namespace of the Lease.
    #[arg(long, env = "SLUICEGATE_LEASE_NAMESPACE", default_value = "sluicegate-system", value_name = "NAME")]
    pub lease_namespace: String,
    /// The name of the Lease; the gate looks for it by this name, and for the shard KEY by NAME-KEY.
    #[arg(long, env = "SLUICEGATE_LEASE_NAME", default_value = "sluicegate", value_name = "NAME")]
    pub lease_name: String,
    /// Where health and metrics are served.
    #[arg(long, env = "SLUICEGATE_LISTEN", default_value = "0.0.0.0:8080", value_name = "ADDRESS")]
    pub listen: SocketAddr,
    /// Where the graph and explanations are served, which show everything: an address of the loopback.
    #[arg(long, env = "SLUICEGATE_LISTEN_LOCAL", default_value = "127.0.0.1:8081", value_name = "ADDRESS")]
    pub listen_local: SocketAddr,
    /// The form of the logs.
    #[arg(long, env = "SLUICEGATE_LOG_FORMAT", value_enum, default_value = "text")]
    pub log_format: LogFormat,
    /// What is logged, as in "info" or "sluicegate=debug".
    #[arg(long, env = "SLUICEGATE_LOG", default_value = "info,kube_runtime=off", value_name = "FILTER")]
    pub log: String,
}

impl RunArguments {
    fn settings(&self, identity: &str, scope: &Scope) -> Settings {
        Settings {
            release: sluicegate_core::release::Settings {
                marks: match self.marks {
                    MarksArgument::Gate => Marks::Gate,
                    MarksArgument::Annotations => Marks::Annotations,
                },
                settle: TimeDelta::seconds(i64::from(self.settle_seconds)),
                additive_ready_expr: self.additive_ready_expr,
                max_reads: usize::try_from(self.max_reads).unwrap_or(usize::MAX),
                held_too_long: TimeDelta::seconds(i64::from(self.held_too_long)),
            },
            signal: match self.signal {
                SignalArgument::SourcesDigest => Signal::SourcesDigest,
                SignalArgument::ReadyCondition => Signal::ReadyCondition,
            },
            package_sources: match self.package_sources {
                PackageSourcesArgument::Status => PackageSources::Status,
                PackageSourcesArgument::Observe => PackageSources::Observe,
                PackageSourcesArgument::Off => PackageSources::Off,
            },
            disclose: match self.disclose {
                DiscloseArgument::Permitted => Disclose::Permitted,
                DiscloseArgument::Everyone => Disclose::Everyone,
            },
            dry_run: self.dry_run,
            partial: scope.is_partial(),
            identity: identity.to_owned(),
        }
    }
}

/// Runs until it is asked to stop.
///
/// # Errors
/// Where it cannot start: no cluster, an address in use, a filter that is none.
pub async fn run(arguments: RunArguments) -> anyhow::Result<()> {
    start(arguments.log_format, &arguments.log).context("--log")?;
    if !is_loopback(arguments.listen_local) {
        bail!("--listen-local shows everything to everyone: it must be an address of the loopback");
    }
    let public = TcpListener::bind(arguments.listen).await;
    let public = public.map_err(|error| anyhow::anyhow!(refused(arguments.listen, &error)))?;
    let private = TcpListener::bind(arguments.listen_local).await;
    let private = private.map_err(|error| anyhow::anyhow!(refused(arguments.listen_local, &error)))?;
    let client = super::client().await.context("no Kubernetes cluster")?;
    let scope = Scope { namespace: arguments.namespace.clone(), selector: arguments.watch_label_selector.clone() };
    let identity = identity();
    let metrics = Arc::new(Metrics::new());
    let (sender, fence) = Fence::new();
    let fence = (!arguments.dry_run).then_some(fence);
    let settings = arguments.settings(&identity, &scope);
    let control = Control::new(client.clone(), Clock::System, fence, settings, metrics.clone());
    let (feed, fed) = mpsc::channel(256);
    tokio::spawn(serve(public, control.clone(), Pages::Public));
    tokio::spawn(serve(private, control.clone(), Pages::Private));
    tokio::spawn(say_what_is_missing(client.clone(), arguments.clone()));
    let watches = tokio::spawn(watch_all(client.clone(), scope, feed, metrics));
    let mut driver = tokio::spawn(crate::control::run(control, fed));
    let (stop, stopped) = watch::channel(false);
    let candidate = (!arguments.dry_run).then(|| {
        let config = Config::new(&arguments.lease_namespace, &arguments.lease_name, &identity);
        let mut stopped = stopped.clone();
        tokio::spawn(Candidate::new(client, config, Clock::System, sender).run(async move {
            // Dropped is stopped.
            let _ = stopped.wait_for(|stopped| *stopped).await;
        }))
    });
    tracing::info!(identity, version = env!("CARGO_PKG_VERSION"), dry_run = arguments.dry_run, "started");
    tokio::select! {
        () = signalled() => tracing::info!("stopping"),
        // It ends by itself only where something is wrong with it; somebody must start it anew.
        ended = &mut driver => {
            ended?;
            bail!("the driver has stopped");
        }
    }
    // No more events: the driver ends what is under way, and with that the Lease can go to another replica.
    watches.abort();
    if tokio::time::timeout(GRACE, &mut driver).await.is_err() {
        tracing::warn!("what was under way did not end in time");
    }
    stop.send_replace(true);
    if let Some(candidate) = candidate {
        // The Lease runs out by itself.
        let _ = tokio::time::timeout(Duration::from_secs(1), candidate).await;
    }
    tracing::info!("stopped");
    Ok(())
}

/// The name of the pod, and something that no other start has: a replica that comes back must not take itself for the one
/// that it was.
fn identity() -> String {
    let name = std::env::var("POD_NAME").or_else(|_| std::env::var("HOSTNAME")).unwrap_or_else(|_| "sluicegate".into());
    let name: String = name.chars().take(63).collect();
    format!("{name}_{:08x}", fastrand::u32(..))
}

async fn say_what_is_missing(client: kube::Client, arguments: RunArguments) {
    let reports = arguments.package_sources == PackageSourcesArgument::Status;
    let (watched, own) = (rights::companion(reports, arguments.namespace.is_some()), rights::own());
    let leases = if arguments.dry_run { &[][..] } else { &own };
    let asked = [(watched.as_slice(), arguments.namespace.as_deref()), (leases, Some(&*arguments.lease_namespace))];
    for (rights, namespace) in asked {
        match missing(&client, rights, namespace).await {
            Ok(missing) => {
                for right in missing {
                    tracing::warn!(right, "this right is missing; sluicegate rbac prints what is needed");
                }
            }
            Err(trouble) => tracing::warn!(error = %trouble, "the rights could not be checked"),
        }
    }
}

async fn signalled() {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        let Ok(mut terminate) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) else {
            let _ = interrupt.await;
            return;
        };
        tokio::select! {
            _ = interrupt => {}
            _ = terminate.recv() => {}
        }
    }
    #[cfg(not(unix))]
    {
        let _ = interrupt.await;
    }
}
