//! The scenarios, each against a cluster of its own.

mod cluster;
mod s01_loops;
mod s02_reversed;
mod s03_true_loop;
