//! The life of a mark, and the Lease that a hold needs.

#[path = "support/resume.rs"]
mod resume;
mod support;

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

// The form.

#[test]
fn a_mark_is_these_bytes() {
    let judged = unlevel().update(FLUX, &suspended(own()), &own());
    let text = r#"{"applier":{"user":"system:serviceaccount:flux-system:kustomize-controller","manager":"kustomize-controller"},"at":"2026-11-30T12:00:00Z","cause":"premature"}"#;
    assert_eq!(annotation(&stored(&judged, &own()), HELD), Some(text));
    let read = Mark::parse(text).unwrap();
    assert_eq!((&*read.applier.user, &*read.applier.manager, read.cause), (FLUX.user, FLUX.manager, Cause::Premature));
    assert_eq!((read.made(), &*read.render()), (now(), text));
}

#[rstest]
#[case::empty("")]
#[case::text("true")]
#[case::unknown_field(
    r#"{"applier":{"user":"a","manager":"b"},"at":"2026-11-30T11:00:00Z","cause":"premature","x":1}"#
)]
#[case::unknown_cause(r#"{"applier":{"user":"a","manager":"b"},"at":"2026-11-30T11:00:00Z","cause":"Premature"}"#)]
#[case::no_time(r#"{"applier":{"user":"a","manager":"b"},"at":"yesterday","cause":"premature"}"#)]
#[case::no_applier(r#"{"at":"2026-11-30T11:00:00Z","cause":"premature"}"#)]
#[case::no_manager(r#"{"applier":{"user":"a"},"at":"2026-11-30T11:00:00Z","cause":"premature"}"#)]
#[case::two(r#"{"applier":{"user":"a","manager":"b"},"at":"2026-11-30T11:00:00Z","cause":"premature"}{}"#)]
#[case::twice(
    r#"{"applier":{"user":"a","manager":"b"},"at":"2026-11-30T11:00:00Z","cause":"premature","cause":"premature"}"#
)]
fn anything_else_counts_as_no_mark(#[case] text: &str) {
    assert_eq!(Mark::parse(text), None);
    let garbage = annotated(suspended(own()), HELD, Some(text));
    // A hold replaces it.
    let judged = unlevel().update(FLUX, &garbage, &resumed(garbage.clone()));
    let fresh = mark(FLUX.user, FLUX.manager, AT, "premature");
    assert_eq!(annotation(&stored(&judged, &own()), HELD), Some(fresh.as_str()));
    // It is not put back, neither is it warned of.
    assert_silent(&level().update(FLUX, &garbage, &suspended(own())));
    assert_silent(&level().update(PERSON, &garbage, &garbage));
}

// Every transition.

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stays {
    /// As the request has it.
    AsIs,
    /// The mark of the old object.
    Old,
    None,
}

/// What becomes of a mark while the object stays suspended.
#[rstest]
// no mark before
#[case(None, None, false, Stays::None, "", "", "")]
#[case(None, Some("forged"), false, Stays::None, STRIPPED, STRIPPED, STRIPPED)]
#[case(None, Some("garbage"), false, Stays::None, STRIPPED, STRIPPED, STRIPPED)]
#[case(Some("garbage"), Some("garbage"), false, Stays::AsIs, "", "", "")]
#[case(Some("garbage"), Some("forged"), false, Stays::None, STRIPPED, STRIPPED, STRIPPED)]
#[case(Some("garbage"), None, false, Stays::None, "", "", "")]
#[case(None, None, true, Stays::None, "", "", "")]
#[case(None, Some("forged"), true, Stays::None, STRIPPED, STRIPPED, STRIPPED)]
// a mark before
#[case(Some("old"), Some("old"), false, Stays::Old, "", LEFT, "")]
#[case(Some("old"), Some("forged"), false, Stays::Old, RESTORED, RESTORED, RESTORED)]
#[case(Some("old"), Some("garbage"), false, Stays::Old, RESTORED, RESTORED, RESTORED)]
fn marks_are_put_right(
    #[case] before: Option<&str>,
    #[case] after: Option<&str>,
    #[case] declares: bool,
    #[case] stays: Stays,
    #[case] applier: &str,
    #[case] person: &str,
    #[case] companion: &str,
) {
    let text = |name: Option<&str>| {
        name.map(|name| match name {
            "old" => old_mark(),
            "forged" => forged(),
            other => other.to_owned(),
        })
    };
    let object = if declares { declaring(suspended(own())) } else { suspended(own()) };
    let old = annotated(object.clone(), HELD, text(before).as_deref());
    let new = annotated(object, HELD, text(after).as_deref());
    for (by, said) in [(FLUX, applier), (PERSON, person), (COMPANION, companion)] {
        for role in [Role::Both, Role::Hold] {
            let mut world = unlevel();
            world.settings.role = role;
            let judged = world.update(by, &old, &new);
            let then = stored(&judged, &new);
            let expected = match stays {
                Stays::AsIs => text(after),
                Stays::Old => Some(old_mark()),
                Stays::None => None,
            };
            assert_eq!(annotation(&then, HELD), expected.as_deref(), "{by:?}");
            assert!(is_suspended(&then));
            let expected: &[&str] = if said.is_empty() { &[] } else { &[said] };
            assert_eq!(warnings(&judged), expected, "{by:?}");
            assert_eq!(judged.reads.len() + judged.leases.len() + judged.questions.len(), 0, "without a read");
        }
    }
}

#[test]
fn an_appliers_request_that_loses_the_mark_gets_it_back() {
    let judged = level().update(FLUX, &held(own()), &suspended(own()));
    assert_eq!(stored(&judged, &suspended(own())), held(own()));
    assert_eq!(judged.verdict.warnings, [] as [&str; 0]);
    // Another applier's too.
    assert_eq!(stored(&level().update(HELM, &held(own()), &suspended(own())), &suspended(own())), held(own()));
}

#[rstest]
#[case(PERSON)]
#[case(COMPANION)]
fn persons_and_the_companion_may_take_a_mark_off(#[case] by: By) {
    assert_silent(&level().update(by, &held(own()), &suspended(own())));
}

#[test]
fn an_applier_that_declares_the_switch_on_ends_the_mark() {
    for new in
        [declaring(held(own())), declaring(suspended(own())), declaring(annotated(suspended(own()), HELD, Some("x")))]
    {
        let judged = unlevel().update(FLUX, &held(own()), &new);
        assert_eq!(stored(&judged, &new), declaring(suspended(own())));
        assert_eq!(warnings(&judged), [ENDED]);
        assert_eq!(judged.reads, [] as [&str; 0]);
    }
    // A person's request with the same fields ends nothing.
    let judged = unlevel().update(PERSON, &held(own()), &declaring(held(own())));
    assert_eq!(warnings(&judged), [LEFT]);
    assert!(judged.verdict.mutation.is_empty());
    // Neither does the companion's.
    assert_silent(&unlevel().update(COMPANION, &held(own()), &declaring(held(own()))));
}

#[rstest]
#[case::update(json!([{"manager": "kustomize-controller", "operation": "Update", "fieldsV1": {"f:spec": {"f:suspend": {}}}}]))]
#[case::another(json!([{"manager": "helm-controller", "operation": "Apply", "fieldsV1": {"f:spec": {"f:suspend": {}}}}]))]
#[case::other_field(json!([{"manager": "kustomize-controller", "operation": "Apply", "fieldsV1": {"f:spec": {"f:path": {}}}}]))]
#[case::elsewhere(json!([{"manager": "kustomize-controller", "operation": "Apply", "fieldsV1": {"f:status": {"f:suspend": {}}}}]))]
#[case::deeper(json!([{"manager": "kustomize-controller", "operation": "Apply", "fieldsV1": {"f:spec": {"f:x": {"f:suspend": {}}}}}]))]
#[case::garbage(json!("garbage"))]
#[case::odd(json!([{"manager": "kustomize-controller", "operation": "Apply", "fieldsV1": 3}]))]
#[case::empty(json!([{}]))]
#[case::null(json!(null))]
fn what_is_no_declaration_ends_nothing(#[case] managed: Value) {
    let mut new = held(own());
    new["metadata"]["managedFields"] = managed;
    let judged = unlevel().update(FLUX, &held(own()), &new);
    assert_silent(&judged);
    let mut lost = suspended(own());
    lost["metadata"]["managedFields"] = new["metadata"]["managedFields"].clone();
    let judged = unlevel().update(FLUX, &held(own()), &lost);
    assert_eq!(annotation(&stored(&judged, &lost), HELD), Some(old_mark().as_str()));
}

#[test]
fn a_switch_that_is_declared_off_is_no_end() {
    // Git says false: kustomize-controller owns the field, and each dry-run is a hold again.
    let new = declaring(with(own(), &[("/spec/suspend", json!(false))]));
    let judged = unlevel().update(FLUX, &declaring(held(own())), &new);
    assert_eq!(stored(&judged, &new), declaring(held(own())));
}

#[rstest]
#[case(sample::artifact_generator("n", "x"), "source.extensions.fluxcd.io/reconcile", "Disabled")]
#[case(sample::resource_set("n", "x"), "fluxcd.controlplane.io/reconcile", "disabled")]
fn switches_that_are_annotations_are_declared_too(#[case] object: Value, #[case] key: &str, #[case] value: &str) {
    let on = annotated(annotated(object, key, Some(value)), HELD, Some(&old_mark()));
    let mut owned = serde_json::Map::new();
    owned.insert(format!("f:{key}"), json!({}));
    let managed = |fields: Value| json!([{"manager": "kustomize-controller", "operation": "Apply", "fieldsV1": {"f:metadata": {"f:annotations": fields}}}]);
    let declared = with(on.clone(), &[("/metadata/managedFields", managed(Value::Object(owned)))]);
    let judged = level().update(FLUX, &on, &declared);
    let then = stored(&judged, &declared);
    assert_eq!((annotation(&then, HELD), annotation(&then, key)), (None, Some(value)));
    let other = with(on.clone(), &[("/metadata/managedFields", managed(json!({"f:other": {}})))]);
    assert_silent(&level().update(FLUX, &on, &other));
}

#[test]
fn an_object_that_is_not_suspended_carries_no_mark() {
    let marked = annotated(own(), HELD, Some(&forged()));
    for by in [FLUX, PERSON, COMPANION] {
        let judged = level().update(by, &own(), &marked);
        assert_eq!(stored(&judged, &marked), own());
        assert_eq!(warnings(&judged), [STRIPPED]);
        // One that is there already goes silently, and is not carried into a suspension.
        let judged = level().update(by, &marked, &marked);
        assert_eq!(stored(&judged, &marked), own());
        assert_eq!(warnings(&judged), [] as [&str; 0]);
        let judged = level().update(by, &marked, &suspended(marked.clone()));
        assert_eq!(stored(&judged, &suspended(marked.clone())), suspended(own()), "{by:?}");
        assert_eq!(warnings(&judged), [STRIPPED]);
    }
}

#[test]
fn a_copy_from_a_backup_is_without_effect() {
    for by in [FLUX, PERSON] {
        let judged = level().create(by, &held(own()));
        assert_eq!(stored(&judged, &held(own())), suspended(own()));
        assert_eq!(warnings(&judged), [STRIPPED]);
        let judged = level().create(by, &annotated(own(), HELD, Some(&old_mark())));
        assert_eq!(stored(&judged, &own()), own());
        assert_eq!(warnings(&judged), [STRIPPED]);
    }
}

#[test]
fn a_mark_goes_with_the_switch() {
    // An applier's, with everything settled and reached; and a person's.
    for by in [FLUX, PERSON, COMPANION] {
        for new in [own(), annotated(own(), HELD, Some(&old_mark()))] {
            let judged = level().update(by, &held(own()), &new);
            assert_eq!(stored(&judged, &new), own(), "{by:?}");
            assert_eq!(judged.verdict.warnings, [] as [&str; 0]);
            assert_eq!(judged.leases, [] as [&str; 0]);
        }
    }
}

#[test]
fn a_persons_refused_resume_changes_no_mark() {
    let judged = unlevel().update(PERSON, &held(own()), &own());
    assert!(refusal(&judged).starts_with("premature unsuspend: "));
    assert!(judged.verdict.mutation.is_empty());
}

// Stable.

/// As cluster.md saw it: the same apply, over and over.
#[rstest]
#[case::line_removed(own())]
#[case::says_false(declaring(with(own(), &[("/spec/suspend", json!(false))])))]
#[case::says_null(with(own(), &[("/spec/suspend", json!(null))]))]
fn case_107_repeating_the_same_apply_converges(#[case] from_git: Value, #[values(FLUX, HELM)] second: By) {
    let mut world = unlevel();
    let first = stored(&world.update(FLUX, &suspended(own()), &from_git), &from_git);
    assert!(is_suspended(&first));
    assert_eq!(annotation(&first, HELD), Some(mark(FLUX.user, FLUX.manager, AT, "premature").as_str()));
    let mut live = first.clone();
    for round in 1..5 {
        world.time = Some(now() + Duration::minutes(round));
        // The cause may change, and the asker: the mark does not.
        let by = if round % 2 == 0 { FLUX } else { second };
        for dry_run in [true, false] {
            let judged = world.update(By { dry_run, ..by }, &live, &from_git);
            let then = stored(&judged, &from_git);
            assert_eq!(then.to_string(), first.to_string(), "round {round}");
            if !dry_run {
                live = then;
            }
        }
        // A switch that nobody owns stays on the live object, and is read as true to true.
        if from_git.pointer("/metadata/managedFields").is_none() {
            let judged = world.update(by, &live, &live);
            assert_eq!(stored(&judged, &live).to_string(), first.to_string());
        }
    }
}

#[test]
fn the_cause_of_a_mark_is_kept_too() {
    let object = resume::owned(own(), sluicegate_core::object::Kind::Kustomization, "n", "root");
    let repo = resume::owned(git(), sluicegate_core::object::Kind::Kustomization, "n", "root");
    let old = mark(FLUX.user, FLUX.manager, "2026-11-30T11:00:00Z", "premature");
    let before = annotated(suspended(object.clone()), HELD, Some(&old));
    let judged = World::with([repo]).update(FLUX, &before, &object);
    assert_eq!(annotation(&stored(&judged, &object), HELD), Some(old.as_str()));
    assert_eq!(warnings(&judged), ["held: GitRepository/n/repo may not have been applied yet"]);
}

#[test]
fn a_forged_change_during_a_hold_is_undone() {
    let new = annotated(own(), HELD, Some(&forged()));
    let judged = unlevel().update(FLUX, &held(own()), &new);
    assert_eq!(stored(&judged, &new), held(own()));
    let judged = unlevel().update(FLUX, &suspended(own()), &new);
    let fresh = mark(FLUX.user, FLUX.manager, AT, "premature");
    assert_eq!(annotation(&stored(&judged, &new), HELD), Some(fresh.as_str()));
}

// Asked for by a person.

fn when_settled(object: Value) -> Value {
    annotated(object, RESUME, Some("when-settled"))
}

const MADE: &str = "Kustomization/n/x will be resumed once all that it needs is settled";

#[test]
fn a_person_who_suspends_may_ask_for_a_mark() {
    let new = when_settled(suspended(own()));
    let marked = annotated(suspended(own()), HELD, Some(&mark(PERSON.user, PERSON.manager, AT, "premature")));
    for role in [Role::Both, Role::Hold] {
        let mut world = unlevel();
        world.settings.role = role;
        for judged in [world.update(PERSON, &own(), &new), world.create(PERSON, &new)] {
            assert_eq!(stored(&judged, &new), marked);
            assert_eq!(warnings(&judged), [MADE]);
            assert_eq!(judged.leases.len(), 1);
        }
        // Whatever mark it brings along.
        let copied = annotated(new.clone(), HELD, Some(&forged()));
        assert_eq!(stored(&world.update(PERSON, &own(), &copied), &copied), marked);
        // The annotation may have been there before.
        assert_eq!(stored(&world.update(PERSON, &when_settled(own()), &new), &new), marked);
    }
}

#[test]
fn a_person_who_asks_for_a_mark_is_told_that_no_companion_is_alive() {
    let mut world = level();
    world.lease = None;
    let new = when_settled(suspended(own()));
    let judged = world.update(PERSON, &own(), &new);
    assert!(annotation(&stored(&judged, &new), HELD).is_some());
    assert_eq!(warnings(&judged), [MADE, "no companion is alive to resume Kustomization/n/x"]);
    assert_eq!(judged.verdict.refusal, None);
}

#[test]
fn the_wish_does_nothing_otherwise() {
    let world = level();
    let wish = |object| when_settled(suspended(object));
    // Of an applier it would contradict git.
    assert_silent(&world.update(FLUX, &own(), &wish(own())));
    assert_silent(&world.create(FLUX, &wish(own())));
    // Suspended already.
    assert_silent(&world.update(PERSON, &suspended(own()), &wish(own())));
    // Not suspended.
    assert_silent(&world.update(PERSON, &own(), &when_settled(own())));
    // Another word.
    let other = annotated(suspended(own()), RESUME, Some("When-Settled"));
    assert_silent(&world.update(PERSON, &own(), &other));
    // Held already: it stays held by who held it.
    let judged = world.update(PERSON, &held(own()), &when_settled(held(own())));
    assert_eq!(warnings(&judged), [LEFT]);
    assert!(judged.verdict.mutation.is_empty());
    // In the background audit.
    assert_silent(&world.create(AUDIT, &wish(own())));
    // Where marks are not made.
    let mut world = level();
    world.settings.role = Role::Refuse;
    let judged = world.update(PERSON, &own(), &wish(own()));
    assert_silent(&judged);
    assert_eq!(judged.leases, [] as [&str; 0]);
}

#[test]
fn a_refused_request_makes_no_mark() {
    let new = when_settled(suspended(depending(own(), &["x"])));
    let judged = level().update(PERSON, &own(), &new);
    assert!(refusal(&judged).starts_with("self-dependency"));
    assert!(judged.verdict.mutation.is_empty());
    assert_eq!(judged.leases, [] as [&str; 0]);
}

// Vetoed.

fn never(object: Value) -> Value {
    annotated(object, RELEASE, Some("never"))
}

#[test]
fn what_is_not_to_be_released_is_held_however_settled_companion_or_not() {
    for role in [Role::Both, Role::Hold] {
        let mut world = level();
        world.settings.role = role;
        world.lease = None;
        let fresh = mark(FLUX.user, FLUX.manager, AT, "premature");
        // The old object's annotation counts: the request cannot take it off.
        for new in [never(own()), own()] {
            let judged = world.update(FLUX, &never(suspended(own())), &new);
            assert_eq!(stored(&judged, &new), annotated(suspended(new.clone()), HELD, Some(&fresh)));
            assert_eq!(warnings(&judged), ["held: sluicegate.dev/release says never"]);
            assert_eq!((judged.reads.len(), judged.leases.len()), (0, 0));
        }
        // A mark that is there is kept.
        let judged = world.update(FLUX, &never(held(own())), &never(own()));
        assert_eq!(stored(&judged, &never(own())), never(held(own())));
    }
}

#[test]
fn the_veto_counts_where_it_was_and_says_never() {
    assert_silent(&level().update(FLUX, &suspended(own()), &never(own())));
    for other in ["Never", "always", ""] {
        let old = annotated(suspended(own()), RELEASE, Some(other));
        assert_silent(&level().update(FLUX, &old, &annotated(own(), RELEASE, Some(other))));
    }
}

#[test]
fn the_companion_is_refused_and_a_person_is_not() {
    for role in [Role::Both, Role::Hold, Role::Refuse] {
        let mut world = level();
        world.settings.role = role;
        let judged = world.update(COMPANION, &never(held(own())), &never(own()));
        assert_eq!(
            refusal(&judged),
            "Kustomization/n/x is not to be resumed: the annotation sluicegate.dev/release says never"
        );
        assert!(judged.verdict.mutation.is_empty());
        assert_eq!(world.update(PERSON, &never(suspended(own())), &never(own())).verdict.refusal, None);
    }
}

// The Lease.

fn lease(renewed: Duration, lasts: i64) -> Value {
    let renewed = (now() + renewed).format("%Y-%m-%dT%H:%M:%S%.6fZ").to_string();
    json!({"spec": {"renewTime": renewed, "leaseDurationSeconds": lasts, "holderIdentity": "a"}})
}

const HOLD: &str = "held: GitRepository/n/repo: generation 3 not yet observed (2)";
const EARLY: &str =
    "premature unsuspend: Kustomization/n/x waits for GitRepository/n/repo: generation 3 not yet observed (2)";
const STALE: &str = "Kustomization/n/x is not held: the companion's Lease has run out";
const NONE: &str = "Kustomization/n/x is not held: the companion's Lease cannot be read";

#[rstest]
#[case::current(Some(lease(Duration::zero(), 15)), None, &[HOLD])]
#[case::within_the_grace(Some(lease(Duration::seconds(-44), 15)), None, &[HOLD])]
#[case::at_its_end(Some(lease(Duration::seconds(-45), 15)), None, &[EARLY, STALE])]
#[case::long_gone(Some(lease(Duration::days(-1), 15)), None, &[EARLY, STALE])]
#[case::of_the_future(Some(lease(Duration::days(1), 15)), None, &[HOLD])]
#[case::absent(None, None, &[EARLY, NONE])]
#[case::never_renewed(Some(json!({"spec": {"leaseDurationSeconds": 15}})), None, &[EARLY, NONE])]
#[case::without_duration(Some(json!({"spec": {"renewTime": "2999-01-01T00:00:00Z"}})), None, &[EARLY, NONE])]
#[case::wrong_type(Some(json!({"spec": {"renewTime": 3, "leaseDurationSeconds": 15}})), None, &[EARLY, NONE])]
#[case::forbidden(None, Some(Fetched::Forbidden), &[EARLY, NONE])]
#[case::failed(None, Some(Fetched::Failed("boom".into())), &[EARLY, NONE])]
#[case::too_late(None, Some(Fetched::OutOfTime), &[EARLY, NONE])]
#[case::garbage(None, Some(Fetched::Found(b"<html>".to_vec())), &[EARLY, NONE])]
fn a_hold_needs_a_living_companion(
    #[case] lease: Option<Value>,
    #[case] fails: Option<Fetched>,
    #[case] said: &[&str],
    #[values(Role::Both, Role::Hold)] role: Role,
) {
    let mut world = unlevel();
    (world.lease, world.lease_fails, world.settings.role) = (lease, fails, role);
    let judged = world.update(FLUX, &suspended(own()), &own());
    assert_eq!(
        warnings(&judged),
        said.iter().map(|text| text.chars().take(119).collect::<String>()).collect::<Vec<_>>()
    );
    let alive = said == [HOLD];
    assert_eq!(is_suspended(&stored(&judged, &own())), alive);
    assert_eq!(judged.leases, ["sluicegate-system/sluicegate"]);
    // The mark goes with the switch.
    let judged = world.update(FLUX, &held(own()), &annotated(own(), HELD, Some(&old_mark())));
    let then = stored(&judged, &annotated(own(), HELD, Some(&old_mark())));
    assert_eq!(then, if alive { held(own()) } else { own() });
    // By setting it is refused, but not by the instance that holds.
    world.settings.unheld = Severity::Refuse;
    let judged = world.update(FLUX, &suspended(own()), &own());
    assert_eq!(judged.verdict.refusal.is_some(), !alive && role == Role::Both);
    if let Some(text) = &judged.verdict.refusal {
        assert!(text.starts_with(EARLY), "{text}");
        assert!(judged.verdict.mutation.is_empty());
    }
}

#[test]
fn the_lease_is_read_only_when_a_hold_is_due() {
    let world = level();
    for judged in [
        world.update(FLUX, &suspended(own()), &own()),
        world.update(FLUX, &held(own()), &held(own())),
        world.update(FLUX, &held(own()), &suspended(own())),
        world.update(FLUX, &own(), &suspended(own())),
        world.update(PERSON, &suspended(own()), &own()),
        world.create(FLUX, &held(own())),
        unlevel().update(PERSON, &suspended(own()), &own()),
        unlevel().update(COMPANION, &suspended(own()), &own()),
    ] {
        assert_eq!(judged.leases, [] as [&str; 0]);
    }
}

#[rstest]
#[case(None, "sluicegate-system/sluicegate")]
#[case(Some("a"), "sluicegate-system/sluicegate-a")]
#[case(Some(""), "sluicegate-system/sluicegate")]
fn each_shard_has_its_own_lease(#[case] shard: Option<&str>, #[case] name: &str) {
    let shard = |object: Value| shard.map_or(object.clone(), |key| labelled(object, "sharding.fluxcd.io/key", key));
    let world = unlevel();
    let judged = world.update(FLUX, &shard(suspended(own())), &shard(own()));
    assert_eq!(judged.leases, [name]);
    let wish = shard(when_settled(suspended(own())));
    assert_eq!(world.update(PERSON, &shard(own()), &wish).leases, [name]);
}

#[test]
fn the_lease_is_the_one_of_the_settings() {
    let mut world = unlevel();
    world.settings.companion_lease = ("elsewhere".into(), "other".into());
    assert_eq!(world.update(FLUX, &suspended(own()), &own()).leases, ["elsewhere/other"]);
}

#[test]
fn a_refusal_beats_a_hold() {
    let mut world = unlevel();
    put(&mut world, depending(sample::kustomization("n", "a"), &["x"]));
    let new = depending(own(), &["a"]);
    let judged = world.update(FLUX, &suspended(own()), &new);
    assert!(refusal(&judged).starts_with("dependency cycle: "));
    assert!(judged.verdict.mutation.is_empty());
    assert_eq!(judged.verdict.warnings, [] as [&str; 0]);
}

// The background audit.

#[rstest]
#[case::younger(3_599, None)]
#[case::just(3_600, None)]
#[case::older(3_601, Some("1 h 0 min"))]
#[case::much_older(180_000, Some("2 d 2 h"))]
#[case::of_the_future(-10, None)]
fn a_mark_that_is_too_old_fails_the_audit(#[case] seconds: i64, #[case] said: Option<&str>) {
    let at = (now() - Duration::seconds(seconds)).to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
    let marked = |object| annotated(object, HELD, Some(&mark("u", "m", &at, "premature")));
    let world = level();
    let judged = world.create(AUDIT, &marked(suspended(own())));
    let text = said.map(|said| format!("Kustomization/n/x has been held for {said}"));
    assert_eq!(judged.verdict.refusal, text);
    assert!(judged.verdict.mutation.is_empty());
    // What is not suspended is not held, and neither is what carries no mark.
    assert_eq!(world.create(AUDIT, &marked(own())).verdict.refusal, None);
    let garbage = annotated(suspended(own()), HELD, Some(&at));
    assert_eq!(world.create(AUDIT, &garbage).verdict.refusal, None);
    // Nobody but the audit looks at the age.
    assert_eq!(world.create(PERSON, &marked(suspended(own()))).verdict.refusal, None);
}

#[test]
fn the_age_that_fails_the_audit_is_a_setting() {
    let mut world = level();
    world.settings.held_too_long = std::time::Duration::from_secs(60);
    let at = (now() - Duration::seconds(61)).to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
    let marked = annotated(suspended(own()), HELD, Some(&mark("u", "m", &at, "not-reached")));
    let judged = world.create(AUDIT, &marked);
    assert_eq!(refusal(&judged), "Kustomization/n/x has been held for 1 min");
    world.settings.held_too_long = std::time::Duration::from_secs(u64::MAX);
    assert_eq!(world.create(AUDIT, &marked).verdict.refusal, None);
}
