//! The compiled policy on the host: the field cases, bad input, the module itself, and that what was compiled decides as
//! the library does.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "helpers of tests")]

mod differential;
mod field_cases;
mod harness;
mod hostile;
#[path = "../../../core/tests/gate_properties/model.rs"]
#[allow(dead_code, reason = "its oracle is for the tests of core")]
mod model;
mod module;
#[path = "../../../core/tests/support/resume.rs"]
mod resume;
#[path = "../../../core/tests/support/mod.rs"]
mod support;
mod testdata;
