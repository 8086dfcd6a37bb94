//! *Settled*, row by row.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

mod cases;
mod chains;
mod expected;
mod follower;
mod releases;
mod rows;
mod texts;
mod torn;
