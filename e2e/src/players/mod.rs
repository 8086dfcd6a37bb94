//! Controllers that cannot be built from Go modules here. Where an executable of the name is at hand (`E2E_BIN`, PATH), it
//! plays; where not, a small stand-in, that follows the real one's decisions: what wakes it, what it waits for, and the order of its
//! status requests. The assertions are the same for both, and the test's output says which played.

mod cozystack;
mod helm;
mod status;
mod watcher;

use anyhow::Result;

use crate::actor::Actor;
use crate::child::{Child, Run};
use crate::cluster::Cluster;
use crate::net::free_ports;
use crate::{controllers, parts};

/// A player, until it is dropped.
pub enum Player {
    /// The real one.
    Real(Child),
    /// Ours.
    StandIn(tokio::task::JoinHandle<()>),
}

impl Drop for Player {
    fn drop(&mut self) {
        if let Self::StandIn(task) = self {
            task.abort();
        }
    }
}

/// helm-controller.
///
/// # Errors
///
/// The real one is there and cannot be started.
pub fn helm_controller(cluster: &Cluster) -> Result<Player> {
    helm_controller_as(cluster, cluster.actor("helm-controller"))
}

/// As [`helm_controller`], through a fault proxy's actor.
///
/// # Errors
///
/// As [`helm_controller`].
pub fn helm_controller_as(cluster: &Cluster, actor: &Actor) -> Result<Player> {
    player(cluster, actor, "helm-controller", &[], helm::play(actor.clone()))
}

/// source-watcher.
///
/// # Errors
///
/// The real one is there and cannot be started.
pub fn source_watcher(cluster: &Cluster) -> Result<Player> {
    source_watcher_as(cluster, cluster.actor("source-watcher"))
}

/// As [`source_watcher`], through a fault proxy's actor.
///
/// # Errors
///
/// As [`source_watcher`].
pub fn source_watcher_as(cluster: &Cluster, actor: &Actor) -> Result<Player> {
    let [port] = free_ports()?;
    let storage = cluster.folder().join("source-watcher-storage");
    std::fs::create_dir_all(&storage)?;
    let extra = [
        format!("--storage-path={}", storage.display()),
        format!("--storage-addr=127.0.0.1:{port}"),
        format!("--storage-adv-addr=127.0.0.1:{port}"),
    ];
    player(cluster, actor, "source-watcher", &extra, watcher::play(actor.clone()))
}

/// cozystack's operator, as far as PackageSources go. The real one is told nothing but to keep to itself.
///
/// # Errors
///
/// The real one is there and cannot be started.
pub fn cozystack_operator_as(cluster: &Cluster, actor: &Actor) -> Result<Player> {
    let name = "cozystack-operator";
    let Some(program) = parts::player(name) else {
        eprintln!("{name}: played by the stand-in");
        return Ok(Player::StandIn(tokio::spawn(cozystack::play(actor.clone()))));
    };
    eprintln!("{name}: played by {}", program.display());
    let arguments = ["--metrics-bind-address=0", "--health-probe-bind-address=0", "--leader-elect=false"];
    let environment = vec![("KUBECONFIG".to_owned(), actor.kubeconfig().display().to_string())];
    let arguments = arguments.map(str::to_owned).into();
    cluster.run(Run { name, program: &program, arguments, environment, remove: None }).map(Player::Real)
}

fn player(
    cluster: &Cluster,
    actor: &Actor,
    name: &str,
    extra: &[String],
    stand_in: impl Future<Output = ()> + Send + 'static,
) -> Result<Player> {
    let Some(program) = parts::player(name) else {
        eprintln!("{name}: played by the stand-in");
        return Ok(Player::StandIn(tokio::spawn(stand_in)));
    };
    eprintln!("{name}: played by {}", program.display());
    controllers::controller(cluster, actor, name, &program, extra).map(Player::Real)
}
