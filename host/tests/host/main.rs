//! The host, with guests made for the purpose. One test binary, as each links wasmtime.

mod binary;
mod cluster;
mod evaluation;
mod host_calls;
mod module;
mod normalisation;
mod response;
mod session;
mod support;
