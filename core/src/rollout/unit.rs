//! What is remembered of each object of the roll-out.

use crate::chain::{State, Trouble};
use crate::object::Object;
use crate::settled::{Blocker, Readiness};
use chrono::{DateTime, Utc};

/// What an object is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It waits for something that it needs.
    Waits,
    /// It is suspended.
    Suspended,
    /// It is not there.
    Absent,
    /// It is at work, or has not begun.
    Works,
    /// It has failed, and may try again.
    Failed,
    /// It is settled.
    Settled,
}

impl Phase {
    /// The name in events and records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Waits => "waiting",
            Self::Suspended => "suspended",
            Self::Absent => "absent",
            Self::Works => "working",
            Self::Failed => "failed",
            Self::Settled => "settled",
        }
    }

    /// Of a member of the chain as it stands.
    #[must_use]
    pub fn of(state: &State) -> Self {
        let has = |is: fn(&Blocker) -> bool| {
            state.troubles.iter().any(|trouble| matches!(trouble, Trouble::Blocked(blocker) if is(blocker)))
        };
        if state.is_settled() {
            Self::Settled
        } else if has(|blocker| matches!(blocker, Blocker::Suspended { .. })) {
            Self::Suspended
        } else if !state.waits.is_empty() {
            Self::Waits
        } else if state.troubles.iter().any(|trouble| matches!(trouble, Trouble::Missing | Trouble::KindMissing)) {
            Self::Absent
        } else if has(|blocker| {
            matches!(blocker, Blocker::Stalled { .. } | Blocker::NotReady { readiness: Readiness::Failed, .. })
        }) {
            Self::Failed
        } else {
            Self::Works
        }
    }
}

/// A time during which an object did one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// What.
    pub phase: Phase,
    /// From when; until the next span begins.
    pub from: DateTime<Utc>,
}

/// An object of the roll-out.
#[derive(Clone, Debug)]
pub struct Unit {
    /// What it does now.
    pub phase: Phase,
    /// Why, in a sentence that follows its name.
    pub why: String,
    /// Since when it says so.
    pub since: DateTime<Utc>,
    /// Since when nothing is left that it waits for, while it is not settled.
    pub alone_since: Option<DateTime<Utc>>,
    /// What it did, in order.
    pub spans: Vec<Span>,
    /// Whether the targets cannot be settled without it.
    pub required: bool,
    /// What it was settled at.
    pub(super) proof: Option<Proof>,
}

/// What an object was settled at: a moment of being at work at the same is no new beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Proof {
    token: Option<Box<str>>,
    generation: Option<i64>,
    revision: Option<Box<str>>,
    release: Option<i64>,
}

impl Proof {
    pub(super) fn of(object: &Object) -> Self {
        let status = &object.status;
        Self {
            token: object.metadata.annotations.as_ref().and_then(|annotations| annotations.requested_at.clone()),
            generation: object.metadata.generation,
            revision: object.revision().map(Into::into).or_else(|| status.last_applied_revision.clone()),
            release: status.history.iter().flatten().filter_map(|entry| entry.version).max(),
        }
    }
}

/// Whether an object is merely at work: every controller writes Reconciling, and Ready Unknown, at the start of each pass.
pub(super) fn is_blip(state: &State) -> bool {
    state.waits.is_empty()
        && state.troubles.iter().all(|trouble| {
            matches!(
                trouble,
                Trouble::Blocked(Blocker::Reconciling { .. } | Blocker::NotReady { readiness: Readiness::Unknown, .. })
            )
        })
}
