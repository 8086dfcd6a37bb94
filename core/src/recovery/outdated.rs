//! A HelmChart or OCIRepository that has stored what it found, and goes on saying that it is outdated.
//!
//! source-controller 1.9 takes the condition off in a request that may get lost; it stays until somebody asks for another
//! pass.

use super::{GRACE, Memory, Tracking};
use crate::intent::Fresh;
use crate::object::{Condition, Kind, Object};
use crate::settled::quotes_artifact;
use chrono::{DateTime, TimeDelta, Utc};

/// What to do about such an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Staleness {
    /// Nothing; look again at that time, if one is given.
    Leave(Option<DateTime<Utc>>),
    /// It is over: forget the attempt.
    Reset,
    /// Ask for one pass.
    Refresh,
    /// That was tried, and did not help.
    GaveUp,
}

/// Decides about a HelmChart or OCIRepository at `now`. One attempt is made, not five: a pass that does not take the
/// condition off found a reason to keep it.
#[must_use]
pub fn decide_outdated(fresh: &Fresh, memory: &Memory, now: DateTime<Utc>) -> Staleness {
    let object = fresh.object();
    if !matches!(object.reference.kind, Kind::HelmChart | Kind::OCIRepository) {
        return Staleness::Leave(None);
    }
    let tracking = Tracking::of(fresh, now);
    let Some(since) = memory.outdated_since() else {
        return if tracking.present { Staleness::Reset } else { Staleness::Leave(None) };
    };
    if !is_left_over(object) {
        return Staleness::Leave(None);
    }
    // The grace period must be over, not ending.
    let (end, over) = match tracking.attempts {
        0 => (since.checked_add_signed(GRACE + TimeDelta::milliseconds(1)), Staleness::Refresh),
        _ => {
            let pause = super::delay(super::ATTEMPTS);
            (tracking.last_at.and_then(|last| last.checked_add_signed(pause)), Staleness::GaveUp)
        }
    };
    end.filter(|end| *end > now).map_or(over, |end| Staleness::Leave(Some(end)))
}

/// Everything but that condition says that the artifact is the current one.
fn is_left_over(object: &Object) -> bool {
    let is_true = |name| object.condition(name).is_some_and(Condition::is_true);
    let generation = object.metadata.generation;
    let stored = object.condition("ArtifactInStorage").and_then(|condition| condition.observed_generation);
    let observed = object.status.observed_generation == generation && stored == generation;
    !object.is_suspended()
        && !object.is_deleting()
        && !is_true("Stalled")
        && is_true("Ready")
        && observed
        && is_true("ArtifactInStorage")
        && quotes_artifact(object)
}
