//! A mark of cause `not-reached` waits until the apply that was held is over.

use super::{at, held, judge, judge_at};
use crate::support::{World, reference};
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::gate::Fetched;
use sluicegate_core::object::{Kind, Reference};
use sluicegate_core::release::{Activity, Outcome, Wait};
use sluicegate_core::testing::{sample, set, with};

fn owned(mut json: Value, kind: Kind, name: &str) -> Value {
    let prefix = match kind {
        Kind::Kustomization => "kustomize.toolkit.fluxcd.io",
        Kind::HelmRelease => "helm.toolkit.fluxcd.io",
        _ => "resourceset.fluxcd.controlplane.io",
    };
    for (field, value) in [("name", name), ("namespace", "ns")] {
        set(&mut json, &format!("/metadata/labels/{prefix}~1{field}"), json!(value));
    }
    json
}

fn own(cause: &str, kind: Kind) -> Value {
    held(owned(sample::kustomization("ns", "a"), kind, "parent"), cause, 0)
}

fn world(owner: Option<Value>) -> World {
    let source = owned(sample::git_repository("ns", "repo"), Kind::Kustomization, "parent");
    World::with(owner.into_iter().chain([source]))
}

fn running() -> Value {
    with(sample::kustomization("ns", "parent"), &[("/status/conditions/Ready/status", json!("Unknown"))])
}

#[test]
fn the_owner_is_read_before_any_input() {
    let judged = judge(&world(Some(sample::kustomization("ns", "parent"))), &own("not-reached", Kind::Kustomization));
    assert_eq!(judged.reads, [["Kustomization/ns/parent"], ["GitRepository/ns/repo"]]);
    assert_eq!(judged.said(), "now");
}

#[test]
fn it_waits_while_its_owner_applies_however_settled_all_looks() {
    let judged = judge(&world(Some(running())), &own("not-reached", Kind::Kustomization));
    assert_eq!(judged.said(), "held: Kustomization/ns/parent is still applying");
    assert_eq!(judged.reads.iter().flatten().count(), 1, "no input is looked at");
}

#[test]
fn health_checks_come_after_the_apply() {
    let checking = json!({"type": "Reconciling", "status": "True",
        "message": "Running health checks for revision main@sha1:1 with a timeout of 9m30s"});
    let owner = with(running(), &[("/status/conditions/Reconciling", checking)]);
    assert_eq!(judge(&world(Some(owner)), &own("not-reached", Kind::Kustomization)).said(), "now");
}

#[test]
fn an_owner_that_fails_before_is_the_blocker() {
    let owner = with(
        sample::kustomization("ns", "parent"),
        &[
            ("/status/conditions/Ready/status", json!("False")),
            ("/status/conditions/Ready/reason", json!("ReconciliationFailed")),
            ("/status/conditions/Ready/message", json!("Widget/x dry-run failed")),
        ],
    );
    let said = judge(&world(Some(owner)), &own("not-reached", Kind::Kustomization)).said();
    assert_eq!(said, "held: Kustomization/ns/parent: did not end its apply: not ready: Widget/x dry-run failed");
}

#[test]
fn a_mark_of_another_cause_does_not_ask_for_the_owner() {
    let judged = judge(&world(Some(running())), &own("premature", Kind::Kustomization));
    assert_eq!(judged.said(), "now");
}

#[rstest]
#[case::absent(Kind::Kustomization, None)]
#[case::unreadable(Kind::Kustomization, Some(Fetched::Forbidden))]
#[case::helm(Kind::HelmRelease, None)]
#[case::resource_set(Kind::ResourceSet, None)]
fn where_nothing_tells_silence_must_do(#[case] kind: Kind, #[case] failure: Option<Fetched>) {
    let mut world = world(None);
    let owner = Reference::new(kind, "ns", "parent");
    world.failing.extend(failure.map(|failure| (owner.clone(), failure)));
    let own = own("not-reached", kind);
    let waits = |judged: &super::Judged, until: i64| matches!(&judged.outcome, Outcome::Waits(Wait::Silence { until: end, .. }) if *end == at(until));
    let quiet = Activity::new();
    assert!(waits(&judge_at(&world, &own, &quiet, 9), 10));
    assert_eq!(judge_at(&world, &own, &quiet, 10).said(), "now");
    let busy = Activity::from([(owner, at(8))]);
    assert!(waits(&judge_at(&world, &own, &busy, 17), 18));
    assert_eq!(judge_at(&world, &own, &busy, 18).said(), "now");
}

/// A helm owner that timed out is no blocker: it waits for what is held.
#[test]
fn a_helm_owner_that_failed_is_no_blocker() {
    let failed = with(sample::helm_release("ns", "parent"), &[("/status/conditions/Ready/status", json!("False"))]);
    let mut world = world(None);
    world.objects.insert(reference(&failed), failed);
    assert_eq!(judge_at(&world, &own("not-reached", Kind::HelmRelease), &Activity::new(), 11).said(), "now");
}

fn of_two(second: Value) -> World {
    let mut world = world(Some(sample::kustomization("ns", "parent")));
    let dependency = owned(sample::kustomization("ns", "dep"), Kind::Kustomization, "sibling");
    for object in [dependency, second] {
        world.objects.insert(reference(&object), object);
    }
    world
}

/// Another Kustomization on the same source may be about to change an input of its own.
#[test]
fn a_sibling_that_has_not_applied_the_new_revision_is_waited_for() {
    let own = with(own("not-reached", Kind::Kustomization), &[("/spec/dependsOn", json!([{"name": "dep"}]))]);
    let behind = with(
        sample::kustomization("ns", "sibling"),
        &[("/status/lastAppliedRevision", json!("old")), ("/status/conditions/Ready/status", json!("Unknown"))],
    );
    assert_eq!(
        judge(&of_two(behind.clone()), &own).said(),
        "held: Kustomization/ns/sibling may not have applied Kustomization/ns/dep yet"
    );
    assert_eq!(judge(&of_two(sample::kustomization("ns", "sibling")), &own).said(), "now");
    let suspended = with(behind.clone(), &[("/spec/suspend", json!(true))]);
    assert_eq!(judge(&of_two(suspended), &own).said(), "now");
    let waiting = with(behind, &[("/spec/dependsOn", json!([{"name": "parent"}]))]);
    assert_eq!(judge(&of_two(waiting), &own).said(), "now");
}
