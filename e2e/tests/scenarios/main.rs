//! The scenarios, each against a cluster of its own.

mod child;
mod cluster;
mod s01_loops;
mod s02_reversed;
mod s03_true_loop;
mod s04_early_resume;
mod s05_hold;
mod s06_one_commit;
mod s07_endings;
