//! One watch a kind, for as long as the cluster has the kind.

use super::discovery::{Served, resource, served};
use super::{Trouble, Watched};
use crate::control::Feed;
use crate::metrics::Metrics;
use futures::StreamExt;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client};
use sluicegate_core::object::Kind;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

/// How many objects a page of a list has: what is in flight costs memory, whole.
const PAGE: u32 = 250;
/// How long to wait before everything is listed anew: whoever says so may say so again.
const ANEW: Duration = Duration::from_secs(1);
/// How often it is asked whether the cluster has other kinds by now.
const DISCOVERY: Duration = Duration::from_secs(30);

/// What is watched.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// One namespace alone; kinds without namespaces are then not watched.
    pub namespace: Option<String>,
    /// Objects with these labels alone.
    pub selector: Option<String>,
}

impl Scope {
    /// Whether objects may exist that are not watched.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.namespace.is_some() || self.selector.is_some()
    }

    fn covers(&self, kind: Kind) -> bool {
        self.namespace.is_none() || kind.row().namespaced
    }
}

/// Watches every kind that the cluster has, and begins and ends with it, for ever.
pub async fn watch_all(client: Client, scope: Scope, feed: mpsc::Sender<Feed>, metrics: Arc<Metrics>) {
    let mut watches: BTreeMap<Kind, (&'static str, AbortHandle)> = BTreeMap::new();
    let mut tasks = JoinSet::new();
    let mut known: Option<Served> = None;
    loop {
        match served(&client).await {
            Ok(now) => {
                let now: Served = now.into_iter().filter(|(kind, _)| scope.covers(*kind)).collect();
                if known.as_ref() != Some(&now) {
                    tell(known.as_ref(), &now);
                    // A kind that is gone or has another version.
                    watches.retain(|kind, (version, watch)| {
                        let stays = now.get(kind) == Some(version);
                        if !stays {
                            watch.abort();
                        }
                        stays
                    });
                    if feed.send(Feed::Served(now.clone())).await.is_err() {
                        return;
                    }
                    for (kind, version) in &now {
                        if !watches.contains_key(kind) {
                            let task =
                                watch(client.clone(), *kind, version, scope.clone(), feed.clone(), metrics.clone());
                            watches.insert(*kind, (*version, tasks.spawn(task)));
                        }
                    }
                    known = Some(now);
                }
            }
            Err(trouble) => tracing::warn!(error = %trouble, "the API server does not say which kinds it has"),
        }
        let pause = if known.is_some() { DISCOVERY } else { Duration::from_secs(2) };
        tokio::time::sleep(pause.mul_f64(0.9 + 0.2 * fastrand::f64())).await;
    }
}

fn tell(before: Option<&Served>, now: &Served) {
    let names = |served: &Served| served.keys().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
    match before {
        None => tracing::info!(kinds = names(now), "watching"),
        Some(before) => {
            tracing::info!(kinds = names(now), before = names(before), "the cluster has other kinds by now")
        }
    }
}

async fn watch(
    client: Client,
    kind: Kind,
    version: &str,
    scope: Scope,
    feed: mpsc::Sender<Feed>,
    metrics: Arc<Metrics>,
) {
    let resource = resource(kind, version);
    let api: Api<Watched> = match &scope.namespace {
        Some(namespace) => Api::namespaced_with(client, namespace, &resource),
        None => Api::all_with(client, &resource),
    };
    let mut config = watcher::Config::default().page_size(PAGE);
    if let Some(selector) = &scope.selector {
        config = config.labels(selector);
    }
    let begin = || Box::pin(watcher(api.clone(), config.clone()).default_backoff());
    let mut events = begin();
    let mut told = String::new();
    while let Some(event) = events.next().await {
        match event {
            Ok(event) => {
                told.clear();
                if feed.send(Feed::Event(kind, Box::new(event))).await.is_err() {
                    return;
                }
            }
            // The same, said before the watch has begun: kube would ask for ever for the version that is gone.
            Err(watcher::Error::WatchStartFailed(kube::Error::Api(status))) if status.code == 410 => {
                tracing::info!(kind = kind.name(), "a watch begins anew");
                tokio::time::sleep(ANEW.mul_f64(0.9 + 0.2 * fastrand::f64())).await;
                events = begin();
            }
            // What it had seen is too old: everything is listed anew.
            Err(watcher::Error::WatchError(status)) if status.code == 410 => {
                tracing::info!(kind = kind.name(), "a watch begins anew");
            }
            Err(error) => {
                metrics.watch_error(kind);
                if is_forbidden(&error) && feed.send(Feed::Forbidden(kind)).await.is_err() {
                    return;
                }
                let text = describe(&error);
                // The same trouble again is no news.
                if text != told {
                    tracing::warn!(kind = kind.name(), error = text, "a watch failed, and is begun again");
                    told = text;
                }
            }
        }
    }
}

fn is_forbidden(error: &watcher::Error) -> bool {
    use watcher::Error as E;
    match error {
        E::InitialListFailed(kube::Error::Api(status)) | E::WatchStartFailed(kube::Error::Api(status)) => {
            status.code == 403
        }
        _ => false,
    }
}

fn describe(error: &watcher::Error) -> String {
    use watcher::Error as E;
    match error {
        E::InitialListFailed(error) | E::WatchStartFailed(error) | E::WatchFailed(error) => {
            Trouble::of(error).to_string()
        }
        E::WatchError(status) => Trouble::of(&kube::Error::Api(status.clone())).to_string(),
        E::NoResourceVersion => "no resource version".to_owned(),
    }
}
