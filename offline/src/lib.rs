//! What works on text alone: manifests with positions, the whole graph, drawing.
//!
//! No cluster, no async, no clock: the command line and the page in a browser both stand on it.

pub mod check;
pub mod draw;
pub mod manifest;
#[cfg(test)]
mod sample;
pub mod tree;
pub mod yaml;
