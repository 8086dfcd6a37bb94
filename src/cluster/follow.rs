//! Watches of single objects, one each, for as long as somebody waits for them.

use super::discovery::Served;
use super::read::{self, fetched};
use futures::TryStreamExt;
use http::Request;
use kube::Client;
use kube::core::WatchEvent;
use serde::Deserialize;
use serde_json::value::RawValue;
use sluicegate_core::gate::Fetched;
use sluicegate_core::object::{Kind, Reference};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// How many objects are watched at a time, each over a connection of its own; more are read from time to time.
const WATCHES: usize = 200;
/// How often an object is read that cannot be watched.
const POLL: Duration = Duration::from_secs(2);
/// How often, where there are too many to watch.
const SELDOM: Duration = Duration::from_secs(10);
/// How soon after the last one a watch is begun anew at most.
const QUICK: Duration = Duration::from_millis(100);
/// How long one watch lasts; the API server ends it then, and it is begun anew.
const LASTS: u32 = 290;
/// How long a read may take.
const LIMIT: Duration = Duration::from_secs(10);

/// What followers tell.
#[derive(Debug)]
pub enum Told {
    /// How an object is, or that it is not.
    Heard(Reference, Fetched),
    /// There is no right to watch this kind: its objects are read from time to time.
    Unwatched(Kind),
}

/// Follows objects, each by a task. All end with it.
pub struct Followers {
    client: Client,
    kinds: Served,
    told: mpsc::UnboundedSender<Told>,
    watches: Arc<Semaphore>,
    tasks: JoinSet<()>,
    followed: BTreeSet<Reference>,
}

impl Followers {
    /// Follows nothing yet. What is heard comes out of the other end.
    #[must_use]
    pub fn new(client: Client, kinds: Served) -> (Self, mpsc::UnboundedReceiver<Told>) {
        let (told, heard) = mpsc::unbounded_channel();
        let (watches, tasks) = (Arc::new(Semaphore::new(WATCHES)), JoinSet::new());
        (Self { client, kinds, told, watches, tasks, followed: BTreeSet::new() }, heard)
    }

    /// Follows an object from now on, if it does not yet.
    pub fn follow(&mut self, object: &Reference) {
        if self.followed.insert(object.clone()) {
            let follower = Follower {
                client: self.client.clone(),
                version: self.kinds.get(&object.kind).copied(),
                object: object.clone(),
                told: self.told.clone(),
                watches: self.watches.clone(),
            };
            self.tasks.spawn(follower.run());
        }
    }

    /// Whether each of them has a watch, as far as their number goes.
    #[must_use]
    pub fn are_few(&self) -> bool {
        self.followed.len() <= WATCHES
    }

    /// All that is followed.
    #[must_use]
    pub fn followed(&self) -> &BTreeSet<Reference> {
        &self.followed
    }
}

struct Follower {
    client: Client,
    version: Option<&'static str>,
    object: Reference,
    told: mpsc::UnboundedSender<Told>,
    watches: Arc<Semaphore>,
}

/// How a watch ended.
enum Ended {
    /// It is begun anew at once: the API server ended it, or it was too old.
    Anew,
    /// We may not.
    Forbidden,
    /// Something that may pass.
    Failed,
    /// Nobody listens any more.
    Deaf,
}

/// An object as it came.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
struct Raw(Box<RawValue>);

#[derive(Deserialize)]
struct Versioned {
    metadata: Version,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    resource_version: Option<String>,
}

impl Follower {
    /// Reads, watches from there on, and begins anew whenever that ends: what happened in between is never missed.
    async fn run(self) {
        let mut failures = 0_u32;
        let mut may_watch = true;
        loop {
            let answer = self.read().await;
            let since = match &answer {
                Fetched::Found(json) => version(json),
                _ => None,
            };
            // Rights do not come by waiting, and what is heard of once need not be said again and again.
            let over = matches!(answer, Fetched::Forbidden);
            let absent_kind = matches!(answer, Fetched::KindAbsent);
            if self.told.send(Told::Heard(self.object.clone(), answer)).is_err() || over {
                return;
            }
            let place = if may_watch && !absent_kind { self.watches.clone().try_acquire_owned().ok() } else { None };
            let Some(_place) = place else {
                tokio::time::sleep(if may_watch { SELDOM } else { POLL }).await;
                continue;
            };
            let begun = Instant::now();
            match self.watch(since.as_deref()).await {
                // One that ends as soon as it begins is no better than one that fails.
                Ended::Anew if begun.elapsed() < QUICK => tokio::time::sleep(QUICK).await,
                Ended::Anew => failures = 0,
                Ended::Deaf => return,
                Ended::Forbidden => {
                    may_watch = false;
                    let _ = self.told.send(Told::Unwatched(self.object.kind));
                    tokio::time::sleep(POLL).await;
                }
                Ended::Failed => {
                    failures += 1;
                    let pause = Duration::from_millis(250_u64 << failures.min(6));
                    tokio::time::sleep(pause.mul_f64(0.8 + 0.4 * fastrand::f64())).await;
                }
            }
        }
    }

    async fn read(&self) -> Fetched {
        let Some(version) = self.version else { return Fetched::KindAbsent };
        match tokio::time::timeout(LIMIT, read::get(&self.client, &self.object, version)).await {
            Ok(answer) => fetched(answer),
            Err(_) => Fetched::Failed("the API server does not answer in time".into()),
        }
    }

    async fn watch(&self, since: Option<&str>) -> Ended {
        let path = self.version.and_then(|version| read::path(&self.object, version));
        let Some(path) = path.as_deref().and_then(|path| path.rsplit_once('/')).map(|(path, _)| path) else {
            return Ended::Failed;
        };
        let mut path =
            format!("{path}?watch=true&fieldSelector=metadata.name%3D{}&timeoutSeconds={LASTS}", self.object.name);
        if let Some(since) = since.filter(|since| since.bytes().all(|byte| byte.is_ascii_alphanumeric())) {
            path.push_str("&resourceVersion=");
            path.push_str(since);
        }
        let Ok(request) = Request::get(path).body(Vec::new()) else { return Ended::Failed };
        let events = match self.client.request_events::<Raw>(request).await {
            Ok(events) => events,
            Err(kube::Error::Api(status)) if status.code == 403 => return Ended::Forbidden,
            Err(kube::Error::Api(status)) if status.code == 410 => return Ended::Anew,
            Err(_) => return Ended::Failed,
        };
        futures::pin_mut!(events);
        loop {
            let answer = match events.try_next().await {
                Ok(Some(WatchEvent::Added(object) | WatchEvent::Modified(object))) => {
                    Fetched::Found(object.0.get().as_bytes().to_vec())
                }
                Ok(Some(WatchEvent::Deleted(_))) => Fetched::Absent,
                Ok(Some(WatchEvent::Bookmark(_))) => continue,
                Ok(Some(WatchEvent::Error(_)) | None) => return Ended::Anew,
                Err(_) => return Ended::Failed,
            };
            if self.told.send(Told::Heard(self.object.clone(), answer)).is_err() {
                return Ended::Deaf;
            }
        }
    }
}

fn version(json: &[u8]) -> Option<String> {
    serde_json::from_slice::<Versioned>(json).ok()?.metadata.resource_version
}
