//! Controllers that cannot be built from Go modules here. Where an executable of the name is at hand (`E2E_BIN`, PATH), it
//! plays; where not, a small stand-in, that follows the real one's decisions: what wakes it, what it waits for, and the order of its
//! status requests. The assertions are the same for both, and the test's output says which played.

mod helm;
mod status;

use anyhow::Result;

use crate::actor::Actor;
use crate::child::Child;
use crate::cluster::Cluster;
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
    let Some(program) = parts::player("helm-controller") else {
        eprintln!("helm-controller: played by the stand-in");
        return Ok(Player::StandIn(tokio::spawn(helm::play(actor.clone()))));
    };
    eprintln!("helm-controller: played by {}", program.display());
    controllers::controller(cluster, actor, "helm-controller", &program, &[]).map(Player::Real)
}
