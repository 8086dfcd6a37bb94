//! The companion: the shell around [`sluicegate_core`], which decides everything.

pub mod clock;
pub mod cluster;
pub mod control;
pub mod metrics;
pub mod rights;
