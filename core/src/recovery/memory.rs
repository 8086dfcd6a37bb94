//! What must have been seen over time, since no single snapshot tells it.

use crate::intent::Fresh;
use crate::object::Condition;
use crate::settled::{Snapshot, sources_digest};
use chrono::{DateTime, Utc};

/// What was seen of one object since the companion started. Another object of the same name has another UID, and begins
/// anew.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    uid: Box<str>,
    generation: i64,
    reconciling: bool,
    /// The state of Ready, and since when it has been seen so.
    state: Option<(Box<str>, i64, DateTime<Utc>)>,
    /// The digest that the sources have by now and the one that is recorded, where they differ, and since when.
    behind: Option<(Box<str>, Box<str>, DateTime<Utc>)>,
    /// The generation that arrived while a build was under way.
    edited: Option<i64>,
    outdated_since: Option<DateTime<Utc>>,
}

impl Memory {
    /// Takes in a version of the object. Every one should be: an edit during a build shows between two of them alone.
    pub fn notice(&mut self, fresh: &Fresh, now: DateTime<Utc>) {
        let object = fresh.object();
        let generation = object.metadata.generation.unwrap_or_default();
        if self.uid != fresh.identity().uid {
            *self = Self { uid: fresh.identity().uid.clone(), generation, ..Self::default() };
        }
        if generation != self.generation && self.reconciling {
            self.edited = Some(generation);
        }
        self.generation = generation;
        self.reconciling = object.condition("Reconciling").is_some_and(Condition::is_true);
        let ready = object.condition("Ready");
        if ready.and_then(|ready| ready.status.as_deref()) == Some("False") {
            // That is drift in itself: the next pass builds from what is there by then.
            self.edited = None;
        }
        let state: Box<str> = ready.and_then(|ready| ready.status.clone()).unwrap_or_default();
        let observed = ready.and_then(|ready| ready.observed_generation).unwrap_or_default();
        if !self.state.as_ref().is_some_and(|(old, at, since)| *old == state && *at == observed && *since <= now) {
            self.state = Some((state, observed, now));
        }
        let outdated = object.condition("ArtifactOutdated").is_some_and(Condition::is_true);
        let since = self.outdated_since.filter(|since| *since <= now).unwrap_or(now);
        self.outdated_since = outdated.then_some(since);
    }

    /// Takes in a version of the object together with its sources.
    pub fn see(&mut self, fresh: &Fresh, snapshot: &dyn Snapshot, now: DateTime<Utc>) {
        self.notice(fresh, now);
        let object = fresh.object();
        let recorded: Box<str> = object.status.observed_sources_digest.clone().unwrap_or_default();
        let current = sources_digest(object, snapshot).filter(|current| *current != recorded);
        self.behind = current.map(|current| match self.behind.take() {
            Some((was, had, since)) if was == current && had == recorded && since <= now => (was, had, since),
            _ => (current, recorded, now),
        });
    }

    /// An attempt was made: a new build will see what the lost edit said.
    pub fn attempted(&mut self) {
        self.edited = None;
    }

    /// Since when Ready has been seen as it is.
    pub(super) fn state_since(&self, now: DateTime<Utc>) -> DateTime<Utc> {
        self.state.as_ref().map_or(now, |(_, _, since)| *since)
    }

    /// Since when the recorded digest has been seen to differ from that of the sources.
    pub(super) fn behind_since(&self) -> Option<DateTime<Utc>> {
        self.behind.as_ref().map(|(_, _, since)| *since)
    }

    pub(super) fn lost_edit(&self, generation: i64) -> bool {
        self.edited == Some(generation)
    }

    pub(super) fn outdated_since(&self) -> Option<DateTime<Utc>> {
        self.outdated_since
    }
}
