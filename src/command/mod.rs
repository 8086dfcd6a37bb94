//! The subcommands.

pub mod check;
pub mod cluster;
pub mod completions;
pub mod explain;
pub mod from_files;
pub mod graph;
pub mod man;
pub mod rbac;
pub mod release;
pub mod run;
pub mod wait;

use kube::Client;

/// A client by the usual ways: `KUBECONFIG`, `~/.kube/config`, or the service account of the pod.
///
/// # Errors
/// Where none of them leads anywhere.
pub async fn client() -> anyhow::Result<Client> {
    let mut config = kube::Config::infer().await?;
    set_limits(&mut config);
    Ok(Client::try_from(config)?)
}

fn set_limits(config: &mut kube::Config) {
    // What hangs is taken for lost: the controllers have limits of their own, and watches end by themselves.
    config.connect_timeout = Some(std::time::Duration::from_secs(10));
    config.write_timeout = Some(std::time::Duration::from_secs(30));
    // A write that is sent once more, seconds later, would not ask the fence again.
    config.default_retry = false;
}
