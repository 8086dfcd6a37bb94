//! What the gate can find, as data. The sentences are in [`crate::text`].

use super::cone::Blockage;
use super::mark::MarkNote;
use super::reached::Unreached;
use super::store::Unread;
use super::walk::Loop;
use crate::need::{Reason, Unjudged};
use crate::object::{Reference, Unreadable};

/// What was being decided when something could not be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judging {
    /// Whether a new need closes a loop.
    Cycle,
    /// Whether a dependency exists.
    Dependency,
}

/// Why a hold that was due was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unheld {
    /// The companion's Lease has run out.
    Stale,
    /// There is no Lease: no companion was ever here.
    Absent,
    /// The Lease cannot be read.
    NoLease,
    /// This instance only refuses.
    Role,
}

/// One thing that the gate found.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// The kind, version or a field of the object cannot be read.
    Unreadable(Unreadable),
    /// The version of the object is not one that is read.
    UnknownVersion(Box<str>),
    /// The companion changes this field.
    CompanionChange(Box<str>),
    /// The companion would release an object that is not to be released.
    CompanionVetoed,
    /// An object names itself.
    SelfNeed(Reason),
    /// More inputs added at once than may be read.
    TooMany {
        /// How many.
        count: usize,
        /// How many may be.
        limit: usize,
    },
    /// A loop. `undo` is a member that the same apply may still change.
    Cycle {
        /// The shortest loop.
        links: Loop,
        /// The member that may still change.
        undo: Option<Reference>,
    },
    /// A new need names nothing that exists.
    Missing {
        /// What is named.
        target: Reference,
        /// Where.
        reason: Reason,
        /// Whether even its kind does not exist.
        kind: bool,
    },
    /// A new need names an object of another kind.
    WrongKind {
        /// What is named.
        target: Reference,
        /// Where.
        reason: Reason,
        /// What exists under that name.
        found: Reference,
    },
    /// The same dependency twice.
    Duplicate {
        /// What is named.
        target: Reference,
        /// Where first.
        first: Reason,
        /// Where again.
        again: Reason,
    },
    /// A new reference to a kind that is not judged.
    Unjudged(Unjudged),
    /// Something could not be judged.
    NotJudged {
        /// What was being decided.
        judging: Judging,
        /// Where it ended.
        at: Reference,
        /// Why.
        why: Unread,
    },
    /// A resume while an input is not settled, or could not be judged.
    Premature(Blockage),
    /// A resume while the same apply may not have reached something.
    NotReached(Unreached),
    /// A resume while `sluicegate.dev/release: never` is on the object.
    Vetoed,
    /// A hold was due and not made.
    Unheld(Unheld),
    /// Something about a mark.
    Mark(MarkNote),
    /// A mark was asked for and no companion is alive to act on it.
    NoCompanion,
    /// In the background audit: a mark older than allowed.
    HeldTooLong {
        /// How old, in seconds.
        seconds: i64,
    },
    /// A hold that could not be written into the object.
    Unwritable,
}

impl Finding {
    /// The value of the audit annotation `rule`.
    #[must_use]
    pub fn rule(&self) -> &'static str {
        match self {
            Self::Unreadable(_) | Self::UnknownVersion(_) => "unreadable",
            Self::CompanionChange(_) | Self::CompanionVetoed => "companion",
            Self::SelfNeed(_) => "self-dependency",
            Self::TooMany { .. } => "too-many-dependencies",
            Self::Cycle { .. } => "cycle",
            Self::Missing { .. } => "missing-dependency",
            Self::WrongKind { .. } => "wrong-kind-dependency",
            Self::Duplicate { .. } => "duplicate-dependency",
            Self::Unjudged(_) => "unjudged-dependency",
            Self::NotJudged { .. } => "not-judged",
            Self::Premature(blockage) if blockage.is_unread() => "not-judged",
            Self::Premature(_) => "premature-unsuspend",
            Self::NotReached(_) => "not-reached",
            Self::Vetoed => "release-never",
            Self::Unheld(_) => "not-held",
            Self::Mark(_) | Self::NoCompanion | Self::Unwritable => "mark",
            Self::HeldTooLong { .. } => "held-too-long",
        }
    }
}
