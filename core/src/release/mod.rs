//! Which held objects may be resumed now, and the one write that does it.
//!
//! [`Release`] is a state machine without I/O, like the gate's: it asks for reads until it knows. The input cone is
//! judged by the very code that judges an unsuspend at admission.

mod judge;
mod owner;
mod patch;

pub use judge::{Outcome, Release, Step, Wait};
pub use owner::{Activity, OwnerState};
pub use patch::{end_bypass, free, resume, resume_unmarked};

use crate::gate::{Cause, Mark, carried, is_vetoed};
use crate::object::Object;
use chrono::{DateTime, TimeDelta, Utc};

/// Which marks are obeyed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Marks {
    /// Those of the gate.
    #[default]
    Gate,
    /// Also the bare annotation `sluicegate.dev/resume: when-settled`, for clusters without the gate.
    Annotations,
}

/// How releases are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Which marks are obeyed.
    pub marks: Marks,
    /// How long nothing with the labels of an owner must have changed, where its apply cannot be seen to have ended.
    pub settle: TimeDelta,
    /// Whether `readyExpr` adds to the built-in test instead of replacing it.
    pub additive_ready_expr: bool,
    /// How many objects one judgement may read.
    pub max_reads: usize,
    /// When an object has been held for too long.
    pub held_too_long: TimeDelta,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            marks: Marks::Gate,
            settle: TimeDelta::seconds(10),
            additive_ready_expr: false,
            max_reads: 500,
            held_too_long: TimeDelta::hours(1),
        }
    }
}

/// The mark of an object, whichever it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Marked {
    /// The gate's.
    Held(Mark),
    /// The bare annotation.
    Wished,
}

impl Marked {
    /// Why the object is held.
    #[must_use]
    pub fn cause(&self) -> Cause {
        match self {
            Self::Held(mark) => mark.cause,
            Self::Wished => Cause::Premature,
        }
    }

    /// When the mark was made, if it says so.
    #[must_use]
    pub fn made(&self) -> Option<DateTime<Utc>> {
        match self {
            Self::Held(mark) => Some(mark.made()),
            Self::Wished => None,
        }
    }
}

/// What the companion has to do with an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing: it is not suspended, or it is somebody else's decision, or it is being deleted.
    None,
    /// It is marked, and must not be resumed: `sluicegate.dev/release: never`.
    Vetoed,
    /// It waits to be resumed.
    Held(Marked),
}

impl Standing {
    /// Reads it off an object.
    #[must_use]
    pub fn of(object: &Object, marks: Marks) -> Self {
        if object.is_deleting() || !object.is_suspended() {
            return Self::None;
        }
        let annotations = object.metadata.annotations.as_ref();
        let wished = annotations.and_then(|annotations| annotations.resume.as_deref()) == Some("when-settled");
        let marked = carried(object)
            .map(Marked::Held)
            .or_else(|| (marks == Marks::Annotations && wished).then_some(Marked::Wished));
        match marked {
            Some(_) if is_vetoed(object) => Self::Vetoed,
            Some(marked) => Self::Held(marked),
            None => Self::None,
        }
    }

    /// Whether the object carries a mark.
    #[must_use]
    pub fn is_marked(&self) -> bool {
        *self != Self::None
    }
}

/// Whether an object that has been held since then has been held too long at `now`. A time in the future does not
/// count.
#[must_use]
pub fn held_too_long(since: DateTime<Utc>, now: DateTime<Utc>, limit: TimeDelta) -> bool {
    now.signed_duration_since(since) > limit
}
