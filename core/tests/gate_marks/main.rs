//! The life of a mark, and the Lease that a hold needs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "helpers of tests")]

#[path = "../support/resume.rs"]
mod resume;
#[path = "../support/mod.rs"]
mod support;

mod audit;
mod form;
mod lease;
mod stable;
mod transitions;
mod wish;

use chrono::Duration;
use resume::{
    HELD, RELEASE, RESUME, annotated, annotation, assert_silent, depending, is_suspended, labelled, mark, put, refusal,
    resumed, stored, suspended, unsettled,
};
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::gate::{Cause, Fetched, Mark, Role, Severity};
use sluicegate_core::testing::{sample, with};
use support::{AUDIT, By, COMPANION, FLUX, Judged, PERSON, World, now};

const AT: &str = "2026-11-30T12:00:00Z";
const HELM: By =
    By { user: "system:serviceaccount:flux-system:helm-controller", manager: "helm-controller", dry_run: false };

fn git() -> Value {
    sample::git_repository("n", "repo")
}

fn own() -> Value {
    sample::kustomization("n", "x")
}

fn level() -> World {
    World::with([git()])
}

fn unlevel() -> World {
    World::with([unsettled(git())])
}

fn old_mark() -> String {
    mark(
        "system:serviceaccount:flux-system:kustomize-controller",
        "kustomize-controller",
        "2026-11-30T11:00:00Z",
        "not-reached",
    )
}

/// Another valid mark.
fn forged() -> String {
    mark("mallory", "kubectl", "2026-11-30T11:30:00Z", "premature")
}

fn held(object: Value) -> Value {
    annotated(suspended(object), HELD, Some(&old_mark()))
}

/// The object with an Apply entry of kustomize-controller that owns the switch of `spec`.
fn declaring(object: Value) -> Value {
    let entry = json!([
        {"manager": "gotk-kustomize-controller", "operation": "Update", "fieldsV1": {"f:status": {}}, "subresource": "status"},
        {"manager": "kustomize-controller", "operation": "Apply", "fieldsV1": {"f:spec": {"f:suspend": {}, "f:path": {}}}}
    ]);
    with(object, &[("/metadata/managedFields", entry)])
}

fn warnings(judged: &Judged) -> Vec<&str> {
    judged.verdict.warnings.iter().map(String::as_str).collect()
}

const STRIPPED: &str = "the mark sluicegate.dev/held on Kustomization/n/x was taken off: only the gate makes marks";
const RESTORED: &str = "the mark sluicegate.dev/held on Kustomization/n/x was restored: only the gate changes marks";
const ENDED: &str = "Kustomization/n/x is no longer held: its applier now declares it suspended";
const LEFT: &str = "Kustomization/n/x is held and will be resumed; to keep it suspended remove sluicegate.dev/held";

fn when_settled(object: Value) -> Value {
    annotated(object, RESUME, Some("when-settled"))
}
