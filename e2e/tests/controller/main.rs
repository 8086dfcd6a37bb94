//! The real companion, beside the gate and Flux's controllers, each test in a cluster of its own.

#![allow(clippy::indexing_slicing, reason = "helpers of tests")]

mod attempts;
mod cozystack;
mod crew;
mod measure;
mod recovery;
mod release;
mod replicas;
mod watches;
mod writes;
