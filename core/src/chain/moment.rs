//! Where a trouble shows in the object, and since when.

use super::Trouble;
use super::world::time;
use crate::object::Object;
use crate::settled::Blocker;
use chrono::{DateTime, Utc};

/// The condition that shows a trouble.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// Its type.
    pub condition: &'static str,
    /// Its status; hostile until cleaned.
    pub status: Box<str>,
    /// Its reason; hostile until cleaned.
    pub reason: Option<Box<str>>,
    /// Its last transition.
    pub since: Option<DateTime<Utc>>,
}

/// The condition of the object in which a trouble shows, if it is one that shows in a condition.
#[must_use]
pub fn evidence(object: &Object, trouble: &Trouble) -> Option<Evidence> {
    let Trouble::Blocked(blocker) = trouble else { return None };
    let name = match blocker {
        Blocker::Stalled { .. } => "Stalled",
        Blocker::Reconciling { .. } => "Reconciling",
        Blocker::NotInStorage { .. } | Blocker::StoredForOtherGeneration { .. } | Blocker::TornRevision { .. } => {
            "ArtifactInStorage"
        }
        Blocker::ArtifactOutdated { .. } => "ArtifactOutdated",
        Blocker::Deleting
        | Blocker::RequestNotHandled { .. }
        | Blocker::NeverReconciled { begun: false }
        | Blocker::NotExpected { .. } => return None,
        _ => "Ready",
    };
    let condition = object.condition(name)?;
    Some(Evidence {
        condition: name,
        status: condition.status.clone().unwrap_or_default(),
        reason: condition.reason.clone().filter(|reason| !reason.is_empty()),
        since: condition.last_transition_time.as_deref().and_then(time),
    })
}
