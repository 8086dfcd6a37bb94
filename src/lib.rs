//! The companion: the shell around [`sluicegate_core`], which decides everything.

pub mod clock;
pub mod cluster;
pub mod command;
pub mod control;
pub mod files;
pub mod logs;
pub mod metrics;
pub mod names;
pub mod output;
pub mod rights;
pub mod serve;
