//! Bad input for the compiled policy: always a verdict, with a sentence that names object and field, never a trap, and
//! never an unescaped or unbounded piece of an object. Every answer is checked by [`crate::harness::Answer::new`].

mod expressions;
mod fields;
mod host;
mod payloads;
mod sizes;

use crate::harness::{Gate, LEASE, create, request, update};
use crate::resume::{annotated, depending, resumed, suspended, unsettled};
use crate::support::shape::{having, inventory_id, object, owned, to};
use crate::support::{AUDIT, By, COMPANION, FLUX, PERSON, kustomization};
use proptest::prelude::*;
use proptest::test_runner::Config;
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::object::Kind;
use sluicegate_core::testing::{reference, sample, with};

/// Control characters, newlines, terminal escapes, invisible and bidirectional marks, quotes, and what means something
/// in paths, formats and markup.
const NASTY: &str = "x\u{0}\u{7}\n\r\t\u{1b}[31m\u{202e}\u{200b}\"'\\/_%s{}<script>\u{10ffff}é";

/// The same, 10 KB of it.
fn nasty() -> String {
    NASTY.repeat(10_000 / NASTY.len() + 1)
}

fn cases(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
}

/// `[[[…]]]`
fn deep(levels: usize) -> String {
    format!("{}{}", "[".repeat(levels), "]".repeat(levels))
}
