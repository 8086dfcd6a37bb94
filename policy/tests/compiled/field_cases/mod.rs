//! Real reports from people who run Flux, by their numbers in the collection of field cases: those that the policy has a
//! part in, each judged by the compiled policy. A file a chapter. Names are replaced; the shapes follow the reports.

mod a_cycles;
mod b_deadlocks;
mod c_references;
mod d_suspend;
mod e_waiting;
mod f_torn_status;
mod g_webhook;
mod h_companion;
mod i_special_kinds;
mod j_appliers;

use crate::harness::{Gate, LEASE, create, update};
use crate::resume::{EXPECTED, HELD, annotated, annotation, is_suspended, resumed, suspended, unsettled};
use crate::support::shape::{having, listing, object, owned, to};
use crate::support::{AUDIT, By, COMPANION, FLUX, PERSON, kustomization};
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::object::Kind;
use sluicegate_core::testing::{reference, sample, with};

/// The first request of an apply: nothing is stored yet.
const DRY: By = By { dry_run: true, ..FLUX };

/// The object as its controller has failed with this reason and message.
fn failed(object: Value, reason: &str, message: &str) -> Value {
    with(
        object,
        &[
            ("/status/conditions/Ready/status", json!("False")),
            ("/status/conditions/Ready/reason", json!(reason)),
            ("/status/conditions/Ready/message", json!(message)),
        ],
    )
}

/// Applies a commit as kustomize-controller does: a dry-run of all against the live cluster, then one after the other.
/// What each request was answered; it ends with the first refusal.
fn apply(gate: &mut Gate, commit: &[Value]) -> Vec<String> {
    let mut said = Vec::new();
    for by in [DRY, FLUX] {
        for new in commit {
            let answer = gate.update(by, &gate.stored(new), new);
            said.push(answer.said());
            if !answer.is_admitted() {
                return said;
            }
            if !by.dry_run {
                gate.put(answer.stored());
            }
        }
    }
    said
}
