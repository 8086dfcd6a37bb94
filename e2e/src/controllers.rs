//! Flux's controllers, the real ones.

use std::path::Path;

use anyhow::Result;

use crate::actor::Actor;
use crate::child::{Child, Run};
use crate::cluster::Cluster;
use crate::net::free_ports;
use crate::parts;

/// Starts source-controller under its own account, until it is dropped.
///
/// # Errors
///
/// It has not been built.
pub fn source_controller(cluster: &Cluster) -> Result<Child> {
    source_controller_as(cluster, cluster.actor("source-controller"))
}

/// As [`source_controller`], through a fault proxy's actor.
///
/// # Errors
///
/// As [`source_controller`].
pub fn source_controller_as(cluster: &Cluster, actor: &Actor) -> Result<Child> {
    let [port] = free_ports()?;
    let storage = cluster.folder().join("storage");
    std::fs::create_dir_all(&storage)?;
    let extra = [
        format!("--storage-path={}", storage.display()),
        format!("--storage-addr=127.0.0.1:{port}"),
        format!("--storage-adv-addr=127.0.0.1:{port}"),
        "--requeue-dependency=2s".to_owned(),
    ];
    controller(cluster, actor, "source-controller", &parts::SOURCE_CONTROLLER.path()?, &extra)
}

/// Starts kustomize-controller under its own account, until it is dropped.
///
/// # Errors
///
/// It has not been built.
pub fn kustomize_controller(cluster: &Cluster) -> Result<Child> {
    kustomize_controller_as(cluster, cluster.actor("kustomize-controller"))
}

/// As [`kustomize_controller`], through a fault proxy's actor.
///
/// # Errors
///
/// As [`kustomize_controller`].
pub fn kustomize_controller_as(cluster: &Cluster, actor: &Actor) -> Result<Child> {
    let extra = ["--requeue-dependency=2s".to_owned(), "--feature-gates=ExternalArtifact=true".to_owned()];
    controller(cluster, actor, "kustomize-controller", &parts::KUSTOMIZE_CONTROLLER.path()?, &extra)
}

/// Starts any Flux controller.
///
/// # Errors
///
/// The supervisor cannot be started.
pub fn controller(cluster: &Cluster, actor: &Actor, name: &str, program: &Path, extra: &[String]) -> Result<Child> {
    let mut arguments: Vec<String> = [
        "--events-addr=",
        "--enable-leader-election=false",
        "--metrics-addr=0",
        "--health-addr=0",
        "--log-level=debug",
        "--log-encoding=json",
    ]
    .map(str::to_owned)
    .into();
    arguments.extend_from_slice(extra);
    let environment = vec![
        ("KUBECONFIG".to_owned(), actor.kubeconfig().display().to_string()),
        ("RUNTIME_NAMESPACE".to_owned(), "flux-system".to_owned()),
        ("HOME".to_owned(), cluster.folder().display().to_string()),
        ("TMPDIR".to_owned(), temporary(cluster)?),
    ];
    cluster.run(Run { name, program, arguments, environment, remove: None })
}

/// What they leave behind when killed goes with the test's folder.
fn temporary(cluster: &Cluster) -> Result<String> {
    let folder = cluster.folder().join("tmp");
    std::fs::create_dir_all(&folder)?;
    Ok(folder.display().to_string())
}
