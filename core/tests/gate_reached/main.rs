//! Resumes whose apply may not have reached everything in the input cone: held, however settled all looks.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "helpers of tests")]

#[path = "../support/resume.rs"]
mod resume;
#[path = "../support/mod.rs"]
mod support;

mod same_apply;
mod siblings;

use resume::{
    HELD, annotated, annotation, assert_silent, depending, mark, owned, put, resumed, stored, suspended, unsettled,
};
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::gate::{Fetched, Role, is_past_apply};
use sluicegate_core::object::{Kind, Reference};
use sluicegate_core::testing::{object, reference, sample, with};
use support::{By, COMPANION, FLUX, Judged, PERSON, World};

const AT: &str = "2026-11-30T12:00:00Z";
const DRY: By = By { dry_run: true, ..FLUX };
const HELM: By =
    By { user: "system:serviceaccount:flux-system:helm-controller", manager: "helm-controller", dry_run: false };

fn git() -> Value {
    sample::git_repository("n", "repo")
}

fn kustomization(name: &str, depends_on: &[&str]) -> Value {
    depending(sample::kustomization("n", name), depends_on)
}

/// Applied by the Kustomization `root`.
fn mine(object: Value) -> Value {
    owned(object, Kind::Kustomization, "n", "root")
}

fn update(world: &World, by: By, object: &Value) -> Judged {
    world.update(by, &suspended(object.clone()), &resumed(object.clone()))
}

/// Held for the reason that this was not reached, and by whom.
#[track_caller]
fn assert_not_reached(judged: &Judged, by: By, object: &Value, said: &str) {
    let held = mark(by.user, by.manager, AT, "not-reached");
    assert_eq!(stored(judged, &resumed(object.clone())), annotated(suspended(object.clone()), HELD, Some(&held)));
    assert_eq!(judged.verdict.warnings, [format!("held: {said}")]);
    assert_eq!(judged.leases.len(), 1);
    let audit: std::collections::BTreeMap<_, _> = judged.verdict.audit.iter().cloned().collect();
    assert_eq!(audit["rule"], "not-reached");
    assert_eq!(audit["held"], "not-reached");
}
