//! The host, with guests made for the purpose. One test binary, as each links wasmtime.

// Clippy's leave for tests covers the test functions alone, not what they share.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

mod binary;
mod cluster;
mod evaluation;
mod host_calls;
mod module;
mod normalisation;
#[cfg(feature = "bundle")]
mod oci;
#[cfg(feature = "bundle")]
mod release;
mod response;
#[cfg(feature = "serve")]
mod serve;
mod session;
mod support;
mod webhook;
