//! The scenarios, each against a cluster of its own.

mod child;
mod cluster;
mod s01_loops;
mod s02_reversed;
mod s03_true_loop;
mod s04_early_resume;
mod s05_hold;
mod s06_one_commit;
mod s07_beginnings;
mod s07_endings;
mod s08_bypass;
mod s09_never_in_the_way;
mod s10_fifty_at_once;
mod s11_reads_that_fail;
mod s12_registry;
mod s12_upgrade;
mod s13_wait;
