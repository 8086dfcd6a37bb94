//! What is waited for: objects that are named, or lists where all of a kind are meant.

use super::super::cluster::{Cluster, object};
use super::WaitArguments;
use crate::cluster::list::list;
use crate::names;
use anyhow::anyhow;
use sluicegate_core::object::{Kind, Reference};

/// The objects, or what is wrong with the command line.
///
/// # Errors
/// Where something cannot be listed.
pub async fn resolve(
    arguments: &WaitArguments,
    cluster: &Cluster,
) -> anyhow::Result<Result<Vec<Reference>, anyhow::Error>> {
    let lists = arguments.all || arguments.selector.is_some();
    if arguments.objects.is_empty() && !lists {
        return Ok(Err(anyhow!("name the objects as KIND/NAME, or ask for --all or --selector")));
    }
    let (mut targets, mut kinds): (Vec<Reference>, Vec<Kind>) = (Vec::new(), Vec::new());
    for text in &arguments.objects {
        match names::kind(text).filter(|_| lists) {
            Some(kind) => kinds.push(kind),
            None => match object(text, &cluster.namespace) {
                Ok(target) => targets.push(target),
                Err(error) => return Ok(Err(error)),
            },
        }
    }
    if lists && targets.is_empty() && kinds.is_empty() {
        kinds.extend(cluster.kinds.keys());
    }
    for kind in kinds {
        let Some(version) = cluster.kinds.get(&kind) else { continue };
        // Objects without a namespace are meant only where their kind is named.
        if arguments.objects.is_empty() && !kind.row().namespaced {
            continue;
        }
        let found =
            list(&cluster.client, (kind, version), Some(&cluster.namespace), arguments.selector.as_deref()).await?;
        targets.extend(found.into_iter().map(|(reference, _)| reference));
    }
    Ok(Ok(targets))
}
