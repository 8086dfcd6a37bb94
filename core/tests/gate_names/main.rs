//! What a text may say: a tenant's dry-run must not map another tenant's graph.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "helpers of tests")]

#[path = "../support/resume.rs"]
mod resume;
#[path = "../support/mod.rs"]
mod support;

mod cycles;
mod hostile;
mod unsuspends;

use resume::{EXPECTED, annotated, put, refusal, resumed, suspended, unsettled};
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::gate::{Disclose, Fetched, Question, Role};
use sluicegate_core::object::{Kind, Reference};
use sluicegate_core::testing::{sample, with};
use support::{COMPANION, FLUX, Judged, PERSON, World};

/// A Kustomization that depends on these (`namespace/name`); its source stands in `n`.
fn kustomization(at: &str, depends_on: &[&str]) -> Value {
    let (namespace, name) = at.split_once('/').unwrap();
    let entry = |at: &&str| {
        let (namespace, name) = at.split_once('/').unwrap();
        json!({"namespace": namespace, "name": name})
    };
    let entries: Vec<Value> = depends_on.iter().map(entry).collect();
    let fields = [("/spec/dependsOn", json!(entries)), ("/spec/sourceRef/namespace", "n".into())];
    with(sample::kustomization(namespace, name), &fields)
}

fn git() -> Value {
    sample::git_repository("n", "repo")
}

fn may_get(at: &str) -> Question {
    let (namespace, name) = at.split_once('/').unwrap();
    Question {
        verb: "get",
        group: "kustomize.toolkit.fluxcd.io",
        resource: "kustomizations",
        namespace: namespace.into(),
        name: Some(name.into()),
    }
}

fn resume(world: &World, by: support::By, object: &Value) -> Judged {
    world.update(by, &suspended(object.clone()), &resumed(object.clone()))
}
