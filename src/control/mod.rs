//! The controllers: they look, ask core, and hand what it intends to the one place that writes.

mod cycles;
mod driver;
mod execute;
mod free;
mod publish;
mod recovery;
mod release;
mod state;
mod work;

pub use driver::{Feed, run};
pub use execute::{Done, NotDone};
pub use free::Freed;
pub use state::{Held, State};
pub use work::{Key, Queue};

use crate::clock::Clock;
use crate::cluster::discovery::Served;
use crate::cluster::lease::Fence;
use crate::cluster::{Known, Trouble, read};
use crate::metrics::Metrics;
use chrono::SecondsFormat;
use futures::StreamExt;
use kube::Client;
use sluicegate_core::gate::{Disclose, Fetched, Names, Read};
use sluicegate_core::intent::Fresh;
use sluicegate_core::object::{Kind, Object, Reference};
use sluicegate_core::recovery::{PackageSources, Signal};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;
use tokio::time::Instant;

/// The field manager of everything that the companion writes.
pub const MANAGER: &str = "sluicegate";

/// How many reads of one judgement are under way at a time.
const READS: usize = 8;

/// How the companion works.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How releases are judged.
    pub release: sluicegate_core::release::Settings,
    /// How generators are recovered.
    pub signal: Signal,
    /// What is done about PackageSources.
    pub package_sources: PackageSources,
    /// How much a text may tell of other namespaces.
    pub disclose: Disclose,
    /// Say what would be written, and write nothing.
    pub dry_run: bool,
    /// Only some objects are watched: those outside are read one by one.
    pub partial: bool,
    /// Who we are, in Events.
    pub identity: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            release: sluicegate_core::release::Settings::default(),
            signal: Signal::default(),
            package_sources: PackageSources::default(),
            disclose: Disclose::default(),
            dry_run: false,
            partial: false,
            identity: "sluicegate".to_owned(),
        }
    }
}

/// When to look again.
pub type Next = Option<Instant>;

/// What all controllers share.
pub struct Control {
    client: Client,
    clock: Clock,
    /// `None` in a dry run, which takes no Lease.
    fence: Option<Fence>,
    settings: Settings,
    served: RwLock<Served>,
    state: Mutex<State>,
    /// What is counted.
    pub metrics: Arc<Metrics>,
}

impl Control {
    /// Knows nothing of the cluster yet. Without a fence it only pretends.
    #[must_use]
    pub fn new(
        client: Client,
        clock: Clock,
        fence: Option<Fence>,
        settings: Settings,
        metrics: Arc<Metrics>,
    ) -> Arc<Self> {
        let settings = Settings { dry_run: settings.dry_run || fence.is_none(), ..settings };
        let state = Mutex::new(State::new(settings.release.marks));
        Arc::new(Self { client, clock, fence, settings, served: RwLock::default(), state, metrics })
    }

    /// The state, for a short look: nobody waits for anything while holding it.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The clock.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Whether this replica leads at this instant, or only pretends.
    #[must_use]
    pub fn leads(&self) -> bool {
        self.fence.as_ref().is_none_or(Fence::holds)
    }

    /// Which kinds the cluster has by now.
    pub fn serve(&self, served: Served) -> Vec<Key> {
        let kinds: BTreeSet<Kind> = served.keys().copied().collect();
        *self.served.write().unwrap_or_else(PoisonError::into_inner) = served;
        self.lock().serve(&kinds, self.clock.now())
    }

    fn version(&self, kind: Kind) -> &'static str {
        let served = self.served.read().unwrap_or_else(PoisonError::into_inner);
        served.get(&kind).copied().unwrap_or_else(|| read::default_version(kind))
    }

    /// Reads an object as it is now.
    ///
    /// # Errors
    /// Why it could not be read.
    async fn get(&self, object: &Reference) -> Result<Vec<u8>, Trouble> {
        self.metrics.read(object.kind);
        let version = self.version(object.kind);
        let limit = Duration::from_secs(10);
        match tokio::time::timeout(limit, read::get(&self.client, object, version)).await {
            Ok(answer) => answer,
            Err(_) => Err(Trouble::Transient("no answer in time".to_owned())),
        }
    }

    /// Reads an object as it is now, for a write. What cannot be read as an object is not written.
    async fn fresh(&self, object: &Reference) -> Result<(Fresh, Vec<u8>), Trouble> {
        let json = self.get(object).await?;
        let fresh = Fresh::read(object, &json).map_err(|unreadable| Trouble::Invalid(unreadable.to_string()))?;
        Ok((fresh, json))
    }

    /// Answers reads from the API server itself, all at a time.
    async fn fetch_fresh(&self, reads: &[Read]) -> Vec<Fetched> {
        let answers = futures::stream::iter(reads.to_vec()).map(|read| async move {
            if self.lock().is_served(read.reference.kind) {
                read::fetched(self.get(&read.reference).await)
            } else {
                Fetched::KindAbsent
            }
        });
        answers.buffered(READS).collect().await
    }

    /// Answers reads from what is watched, and from the API server only where that does not know: for an expression, and
    /// for what is not watched here. Whether any such read was made: then a change of it wakes nobody.
    async fn fetch_watched(&self, reads: &[Read]) -> (Vec<Fetched>, bool) {
        let mut outside = Vec::new();
        let mut answers = Vec::new();
        for (index, read) in reads.iter().enumerate() {
            let state = self.lock();
            let known = state.get(&read.reference);
            answers.push(match known {
                _ if !state.is_served(read.reference.kind) => Fetched::KindAbsent,
                Known::NotListed => Fetched::Failed("its kind is not listed yet".into()),
                Known::Forbidden => Fetched::Forbidden,
                Known::Found(json) if !read.whole => Fetched::Found(json.to_vec()),
                Known::Absent if !self.settings.partial => Fetched::Absent,
                Known::Absent | Known::Found(_) => {
                    outside.push((index, matches!(known, Known::Absent)));
                    Fetched::Absent
                }
            });
        }
        let wanted: Vec<Read> = outside.iter().filter_map(|(index, _)| reads.get(*index).cloned()).collect();
        for ((index, _), answer) in outside.iter().zip(self.fetch_fresh(&wanted).await) {
            if let Some(place) = answers.get_mut(*index) {
                *place = answer;
            }
        }
        (answers, outside.iter().any(|(_, unwatched)| *unwatched))
    }

    /// What a text about this object may name.
    fn names(&self, object: &Object) -> Names {
        let direct = object.needs().judged.into_iter().map(|need| need.target);
        let owners = object.owners().0.into_iter().map(|owner| owner.0);
        Names::new(&object.reference, direct.chain(owners).chain(object.generated_chart()), self.settings.disclose)
    }

    /// A token that nobody has used before.
    fn token(&self) -> String {
        self.clock.now().to_rfc3339_opts(SecondsFormat::Nanos, true)
    }
}

/// When to try again after so many failures in a row: from one second on, doubled each time up to five minutes, and spread.
fn backoff(failures: u32) -> Instant {
    let seconds = 1_u64 << failures.saturating_sub(1).min(9);
    let seconds = Duration::from_secs(seconds.min(300));
    Instant::now() + seconds.mul_f64(0.8 + 0.4 * fastrand::f64())
}

/// Shortly, when somebody else was faster.
fn soon() -> Instant {
    Instant::now() + Duration::from_millis(100 + fastrand::u64(..100))
}
