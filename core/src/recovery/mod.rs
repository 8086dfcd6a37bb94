//! Objects that have finished their work and will never say so, and how to get them going again.
//!
//! source-watcher writes its status in several requests. When the API server loses the one with the conditions, Ready
//! stays Unknown for good: the next pass sees no drift and leaves the conditions as they are (source-watcher 2.0 to
//! 2.2.1, fluxcd/pkg#934). A request token alone cures nothing, and neither does a write to the status alone: it takes
//! both, the status first.
//!
//! # State
//! The number of attempts and the time of the last one stand in annotations on the object itself, so that a restart loses
//! nothing, and they are written *before* anything is done, so that a lost write is an attempt as well. They are taken
//! off only by an honest verdict of the controller. What must have been *seen* over time (see [`Memory`]) begins anew
//! after a restart.

mod decide;
mod memory;
mod outdated;
mod package_source;
mod patch;
mod schedule;
mod stall;
mod tracking;

pub use decide::{Case, OPERATOR_ATTEMPTS, OPERATOR_LAST_AT, Verdict, decide};
pub use memory::Memory;
pub use outdated::{Staleness, decide_outdated};
pub use package_source::{PackageSources, Report, is_left_to_the_operator, report};
pub use patch::{count, lever, refresh, request, reset};
pub use schedule::{ATTEMPTS, delay};
pub use stall::{GRACE, is_provably_stalled};
pub use tracking::{ATTEMPTS_KEY, LAST_AT_KEY, Tracking};

/// The reason of the Ready condition that the signal [`Signal::ReadyCondition`] writes.
pub const FORCED: &str = "SluicegateRecoveryForced";

/// The status lever that makes a generator see drift.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Signal {
    /// Clear `status.observedSourcesDigest`: touches no condition, and outlasts another lost write, since only a pass
    /// that succeeds writes it anew.
    #[default]
    SourcesDigest,
    /// Write Ready False with our reason, as cozystack's operator does with its own.
    ReadyCondition,
}
