//! The companion may change only the switch, marks, its request token and its recovery annotations.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "helpers of tests")]

#[path = "support/resume.rs"]
mod resume;
mod support;

use resume::{HELD, annotated, assert_silent, depending, mark, refusal, stored, suspended};
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::gate::Role;
use sluicegate_core::object::KINDS;
use sluicegate_core::testing::{sample, with};
use support::{AUDIT, By, COMPANION, FLUX, PERSON, World};

fn world() -> World {
    World::with([sample::git_repository("n", "repo")])
}

fn own() -> Value {
    sample::kustomization("n", "x")
}

fn held(object: Value) -> Value {
    annotated(suspended(object), HELD, Some(&mark("u", "m", "2026-11-30T11:00:00Z", "premature")))
}

/// The field that a refusal names, for this change of `x`.
fn refused(old: &Value, new: &Value) -> Option<String> {
    let judged = world().update(COMPANION, old, new);
    let text = judged.verdict.refusal?;
    let head =
        "the companion may change only the suspend switch, marks, the request token and its recovery annotations of ";
    let rest = text.strip_prefix(head).unwrap_or_else(|| panic!("{text}"));
    let (_, field) = rest.split_once(", not ").unwrap();
    assert!(judged.verdict.mutation.is_empty());
    assert_eq!(judged.reads.len() + judged.questions.len() + judged.leases.len(), 0);
    Some(field.to_owned())
}

#[test]
fn its_release_is_one_ordinary_write() {
    let released = annotated(own(), "reconcile.fluxcd.io/requestedAt", Some("2026-11-30T12:00:00Z"));
    let judged = world().update(COMPANION, &held(own()), &released);
    assert_silent(&judged);
    assert_eq!(judged.leases, [] as [&str; 0]);
    // Where an Apply manager owns the switch.
    let off = with(released, &[("/spec/suspend", json!(false))]);
    assert_silent(&world().update(COMPANION, &held(own()), &off));
}

#[rstest]
#[case::token(annotated(own(), "reconcile.fluxcd.io/requestedAt", Some("t")))]
#[case::attempts(annotated(own(), "sluicegate.dev/recovery-attempts", Some("1")))]
#[case::last(annotated(own(), "sluicegate.dev/recovery-last-at", Some("2026-11-30T12:00:00Z")))]
#[case::switch(suspended(own()))]
#[case::versions(with(own(), &[("/metadata/resourceVersion", "7".into()), ("/metadata/generation", json!(3))]))]
#[case::managed(with(own(), &[("/metadata/managedFields", json!([{"manager": "sluicegate"}]))]))]
#[case::status(with(own(), &[("/status/observedGeneration", json!(1))]))]
#[case::nothing(own())]
fn it_may_change_this(#[case] new: Value) {
    for (old, new) in [(own(), new.clone()), (new, own())] {
        assert_silent(&world().update(COMPANION, &old, &new));
    }
}

#[rstest]
#[case::label(with(own(), &[("/metadata/labels/a", "b".into())]), "metadata.labels")]
#[case::finalizer(with(own(), &[("/metadata/finalizers", json!(["a"]))]), "metadata.finalizers")]
#[case::owner(with(own(), &[("/metadata/ownerReferences", json!([{"uid": "1"}]))]), "metadata.ownerReferences")]
#[case::annotation(annotated(own(), "a", Some("b")), "metadata.annotations.a")]
#[case::bypass(annotated(own(), resume::BYPASS, Some("b")), "metadata.annotations.sluicegate.dev/bypass")]
#[case::veto(annotated(own(), resume::RELEASE, Some("never")), "metadata.annotations.sluicegate.dev/release")]
#[case::wish(annotated(own(), resume::RESUME, Some("when-settled")), "metadata.annotations.sluicegate.dev/resume")]
#[case::expected(
    annotated(own(), resume::EXPECTED, Some("v1")),
    "metadata.annotations.sluicegate.dev/expected-revision"
)]
#[case::switch_of_another_kind(
    annotated(own(), "source.extensions.fluxcd.io/reconcile", Some("disabled")),
    "metadata.annotations.source.extensions.fluxcd.io/reconcile"
)]
#[case::path(with(own(), &[("/spec/path", "./other".into())]), "spec.path")]
#[case::new_field(with(own(), &[("/spec/force", json!(true))]), "spec.force")]
#[case::dependency(depending(own(), &["a"]), "spec.dependsOn")]
#[case::deep(with(own(), &[("/spec/sourceRef/name", "other".into())]), "spec.sourceRef")]
#[case::uid(with(own(), &[("/metadata/uid", "1".into())]), "metadata.uid")]
#[case::own_top(with(own(), &[("/data", json!({"a": "b"}))]), "data")]
fn it_may_change_nothing_else(#[case] new: Value, #[case] field: &str) {
    for (old, new) in [(own(), new.clone()), (new.clone(), own()), (held(own()), new.clone())] {
        assert_eq!(refused(&old, &new).as_deref(), Some(field));
    }
    // Not together with a release either, in no role.
    for role in [Role::Both, Role::Hold, Role::Refuse] {
        let mut world = world();
        world.settings.role = role;
        assert!(world.update(COMPANION, &held(own()), &new).verdict.refusal.is_some());
        // Others may.
        assert_eq!(world.update(FLUX, &own(), &new).verdict.refusal, None);
        assert_eq!(world.update(PERSON, &own(), &new).verdict.refusal, None);
    }
}

#[test]
fn what_cannot_be_read_comes_first_and_then_the_companion() {
    // Only what the API server has stored in a version that is not known, or what it will not store.
    let old = with(own(), &[("/apiVersion", "kustomize.toolkit.fluxcd.io/v9".into())]);
    let judged = world().update(COMPANION, &old, &with(old.clone(), &[("/spec/path", "p".into())]));
    assert_eq!(judged.verdict.warnings, ["Kustomization/n/x is not judged: version v9 is not known"]);
    let deleting = with(own(), &[("/metadata/deletionTimestamp", "2026-11-30T12:00:00Z".into())]);
    assert_silent(&world().update(COMPANION, &own(), &deleting));
}

#[test]
fn it_may_not_lose_anything_else_either() {
    let old = annotated(held(own()), "a", Some("b"));
    assert_eq!(refused(&old, &own()).as_deref(), Some("metadata.annotations.a"));
    let bare = with(own(), &[("/spec", Value::Null)]);
    assert_eq!(refused(&own(), &bare).as_deref(), Some("spec.interval"));
    let nameless = with(own(), &[("/metadata/annotations", json!(null))]);
    assert_eq!(refused(&annotated(own(), "a", Some("b")), &nameless).as_deref(), Some("metadata.annotations.a"));
}

#[test]
fn several_changes_name_the_first() {
    let new =
        with(own(), &[("/spec/path", "p".into()), ("/metadata/labels/a", "b".into()), ("/spec/force", json!(true))]);
    assert_eq!(refused(&own(), &new).as_deref(), Some("metadata.labels"));
}

#[test]
fn it_creates_nothing() {
    for object in [own(), suspended(own())] {
        let judged = world().create(COMPANION, &object);
        assert!(refusal(&judged).ends_with("not the whole object"), "{}", refusal(&judged));
    }
    assert_eq!(world().create(AUDIT, &own()).verdict.refusal, None);
}

#[test]
fn annotations_are_its_switches_of_their_kinds_only() {
    let generator = sample::artifact_generator("n", "x");
    let judged = world().update(COMPANION, &held(generator.clone()), &generator);
    assert_silent(&judged);
    let odd = with(generator.clone(), &[("/spec/suspend", json!(true))]);
    assert_eq!(refused(&generator, &odd).as_deref(), Some("spec.suspend"));
    let set = sample::resource_set("n", "x");
    assert_silent(&world().update(COMPANION, &held(set.clone()), &set));
    let other = annotated(set.clone(), "source.extensions.fluxcd.io/reconcile", Some("disabled"));
    let field = "metadata.annotations.source.extensions.fluxcd.io/reconcile";
    assert_eq!(refused(&set, &other).as_deref(), Some(field));
}

#[test]
fn it_makes_no_marks() {
    let marked = held(own());
    let judged = world().update(COMPANION, &suspended(own()), &marked);
    assert_eq!(stored(&judged, &marked), suspended(own()));
    assert_eq!(judged.verdict.warnings.len(), 1);
}

#[test]
fn every_kind_is_guarded() {
    for row in &KINDS {
        let old = json!({
            "apiVersion": row.api_version, "kind": row.name, "metadata": {"namespace": "n", "name": "x"}, "spec": {}
        });
        let new = with(old.clone(), &[("/spec/a", json!(1))]);
        assert_eq!(refused(&old, &new).as_deref(), Some("spec.a"), "{}", row.name);
    }
}

#[test]
fn it_is_the_user_of_the_settings_and_nobody_else() {
    let new = with(own(), &[("/spec/path", "./other".into())]);
    let mut world = world();
    world.settings.companion = "system:serviceaccount:elsewhere:other".into();
    assert_eq!(world.update(COMPANION, &own(), &new).verdict.refusal, None);
    let other = By { user: "system:serviceaccount:elsewhere:other", ..COMPANION };
    assert!(world.update(other, &own(), &new).verdict.refusal.is_some());
    // Also under the field manager of an applier, in a dry-run, and if it is listed as one.
    world.settings.applier_users = vec![other.user.into()];
    let disguised = By { manager: "kustomize-controller", dry_run: true, ..other };
    assert!(world.update(disguised, &own(), &new).verdict.refusal.is_some());
}

#[test]
fn what_it_writes_is_compared_whatever_its_form() {
    // Numbers and strings that look alike, an order of keys, an empty map: as JSON has it.
    let old = with(own(), &[("/spec/timeout", json!("1"))]);
    let new = with(own(), &[("/spec/timeout", json!(1))]);
    assert_eq!(refused(&old, &new).as_deref(), Some("spec.timeout"));
    let null = with(own(), &[("/spec/a", json!({}))]);
    let mut absent = null.clone();
    absent["spec"]["a"] = json!(null);
    assert_silent(&world().update(COMPANION, &own(), &absent));
    assert_eq!(refused(&absent, &null).as_deref(), Some("spec.a"));
}

#[test]
fn a_hostile_key_is_shown_cleaned() {
    let new = annotated(own(), &format!("a\nb{}", "c".repeat(1_000)), Some("x"));
    let field = refused(&own(), &new).unwrap();
    assert!(field.starts_with("metadata.annotations.a\\u{a}bccc"), "{field}");
    assert!(field.chars().count() < 120);
}
