//! The bypass: who may, when it is looked at, and what is said.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "helpers of tests")]

#[path = "support/resume.rs"]
mod resume;
mod support;

use resume::{
    BYPASS, HELD, RESUME, annotated, depending, is_suspended, mark, put, refusal, stored, suspended, unsettled,
};
use rstest::rstest;
use serde_json::Value;
use sluicegate_core::gate::{Question, Role, Severity};
use sluicegate_core::testing::{sample, with};
use support::{AUDIT, By, COMPANION, FLUX, Judged, PERSON, World};

fn own() -> Value {
    sample::kustomization("n", "x")
}

fn grant(namespace: &str) -> Question {
    Question { verb: "bypass", group: "sluicegate.dev", resource: "gates", namespace: namespace.into(), name: None }
}

fn unlevel() -> World {
    World::with([unsettled(sample::git_repository("n", "repo"))])
}

fn granted() -> World {
    World { allowed: vec![grant("n")], ..unlevel() }
}

fn because(object: Value) -> Value {
    annotated(object, BYPASS, Some("fire in production"))
}

fn audit<'j>(judged: &'j Judged, key: &str) -> Option<&'j str> {
    judged.verdict.audit.iter().find(|(name, _)| *name == key).map(|(_, value)| value.as_str())
}

const EARLY: &str =
    "premature unsuspend: Kustomization/n/x waits for GitRepository/n/repo: generation 3 not yet observed (2)";

#[test]
fn a_person_with_the_grant_gets_through() {
    let judged = granted().update(PERSON, &suspended(own()), &because(own()));
    assert_eq!(judged.verdict.refusal, None);
    assert_eq!(judged.verdict.warnings.len(), 1);
    assert!(judged.verdict.warnings[0].starts_with("bypassed: premature unsuspend: Kustomization/n/x waits for "));
    assert!(judged.verdict.mutation.is_empty());
    assert_eq!(judged.questions, [grant("n")], "nothing else is asked, once");
    assert_eq!(audit(&judged, "bypass-user"), Some("alice"));
    assert_eq!(audit(&judged, "bypass-reason"), Some("fire in production"));
    assert_eq!(audit(&judged, "rule"), Some("premature-unsuspend"));
    assert_eq!(audit(&judged, "path"), Some("Kustomization/n/x -> GitRepository/n/repo"));
}

#[test]
fn without_the_grant_the_text_says_which_rule_to_add() {
    let judged = unlevel().update(PERSON, &suspended(own()), &because(own()));
    let text = refusal(&judged);
    assert!(text.starts_with(EARLY));
    let last =
        "the bypass was not granted: alice needs the verb bypass on gates in group sluicegate.dev in namespace n";
    assert_eq!(text.lines().last(), Some(last));
    assert_eq!(judged.questions, [grant("n")]);
    assert_eq!((audit(&judged, "bypass-user"), audit(&judged, "bypass-reason")), (None, None));
    // A grant for another namespace is none.
    let world = World { allowed: vec![grant("m"), grant("")], ..unlevel() };
    assert!(world.update(PERSON, &suspended(own()), &because(own())).verdict.refusal.is_some());
}

#[rstest]
#[case::absent_before(None, Some("now"), true)]
#[case::changed(Some("then"), Some("now"), true)]
#[case::the_same(Some("now"), Some("now"), false)]
#[case::gone(Some("then"), None, false)]
#[case::empty(None, Some(""), false)]
#[case::blank(None, Some(" \t\n"), false)]
#[case::emptied(Some("then"), Some(""), false)]
#[case::none(None, None, false)]
fn only_a_new_reason_counts(#[case] before: Option<&str>, #[case] after: Option<&str>, #[case] counts: bool) {
    let old = annotated(suspended(own()), BYPASS, before);
    let judged = granted().update(PERSON, &old, &annotated(own(), BYPASS, after));
    assert_eq!(judged.verdict.refusal.is_none(), counts);
    assert_eq!(judged.questions.len(), usize::from(counts));
    if !counts {
        assert!(!refusal(&judged).contains("bypass"), "{}", refusal(&judged));
        assert_eq!(audit(&judged, "bypass-user"), None);
    }
}

#[test]
fn on_create_the_reason_is_new() {
    let new = because(depending(own(), &["x"]));
    let judged = granted().create(PERSON, &new);
    assert_eq!(judged.verdict.refusal, None);
    assert!(judged.verdict.warnings[0].starts_with("bypassed: self-dependency: "));
}

#[test]
fn it_is_looked_at_only_when_something_would_be_refused() {
    let world = World { allowed: vec![grant("n")], ..World::with([sample::git_repository("n", "repo")]) };
    for judged in [
        world.update(PERSON, &suspended(own()), &because(own())),
        world.update(PERSON, &own(), &because(own())),
        world.update(PERSON, &own(), &because(suspended(own()))),
        granted().update(FLUX, &suspended(own()), &because(own())),
    ] {
        assert_eq!(judged.questions, []);
        assert_eq!(audit(&judged, "bypass-user"), None);
    }
}

/// Every refusal of a person.
#[test]
fn it_turns_any_refusal_into_a_warning() {
    let mut world = granted();
    put(&mut world, depending(sample::kustomization("n", "a"), &["x"]));
    world.settings.dependencies = Severity::Refuse;
    let several: Vec<String> = (0..501).map(|i| format!("k{i}")).collect();
    let several: Vec<&str> = several.iter().map(String::as_str).collect();
    let cases = [
        (own(), depending(own(), &["x"]), "self-dependency"),
        (own(), depending(own(), &["a"]), "dependency cycle"),
        (own(), depending(own(), &["gone"]), "Kustomization/n/x names Kustomization/n/gone"),
        (own(), depending(own(), &several), "Kustomization/n/x adds 501 needs at once"),
        (suspended(own()), own(), "premature unsuspend"),
    ];
    for (old, new, said) in cases {
        let refused = world.update(PERSON, &old, &new);
        assert!(refusal(&refused).starts_with(said), "{}", refusal(&refused));
        let judged = world.update(PERSON, &old, &because(new));
        assert_eq!(judged.verdict.refusal, None, "{said}");
        let bypassed = format!("bypassed: {said}");
        assert!(judged.verdict.warnings.iter().any(|warning| warning.starts_with(&bypassed)), "{said}");
    }
    // A forged mark, where that is refused.
    world.settings.role = Role::Refuse;
    let marked = annotated(suspended(own()), HELD, Some(&mark("bob", "m", "2026-11-30T11:00:00Z", "premature")));
    assert!(world.create(PERSON, &marked).verdict.refusal.is_some());
    let judged = world.create(PERSON, &because(marked));
    assert!(judged.verdict.warnings[0].starts_with("bypassed: the new mark"), "{:?}", judged.verdict.warnings);
}

#[test]
fn what_cannot_be_judged_is_bypassed_too() {
    let mut world = granted();
    world.forbidden.insert(sluicegate_core::object::Kind::GitRepository);
    let judged = world.update(PERSON, &suspended(own()), &because(own()));
    assert_eq!(judged.verdict.refusal, None);
    assert!(judged.verdict.warnings[0].starts_with("bypassed: unsuspend of Kustomization/n/x not judged"));
}

#[test]
fn it_is_not_for_appliers() {
    let mut world = granted();
    // Held all the same.
    let judged = world.update(FLUX, &suspended(own()), &because(own()));
    assert!(is_suspended(&stored(&judged, &own())));
    // Refused all the same.
    let judged = world.update(FLUX, &own(), &because(depending(own(), &["x"])));
    assert!(refusal(&judged).starts_with("self-dependency"));
    assert!(!refusal(&judged).contains("bypass"));
    assert_eq!(judged.questions, []);
    // A dry-run under its manager is the applier's.
    let diff = By { user: "alice", manager: "kustomize-controller", dry_run: true };
    let judged = world.update(diff, &own(), &because(depending(own(), &["x"])));
    assert!(judged.verdict.refusal.is_some());
    assert_eq!(judged.questions, []);
    world.settings.unheld = Severity::Refuse;
    world.lease = None;
    assert!(world.update(FLUX, &suspended(own()), &because(own())).verdict.refusal.is_some());
}

#[test]
fn it_is_for_an_account_that_the_settings_name_if_it_has_the_grant() {
    let mut world = granted();
    world.settings.bypass_users = vec![FLUX.user.into()];
    let new = because(depending(own(), &["x"]));
    let judged = world.update(FLUX, &own(), &new);
    assert_eq!(judged.verdict.refusal, None);
    assert_eq!(audit(&judged, "bypass-user"), Some(FLUX.user));
    world.allowed.clear();
    let judged = world.update(FLUX, &own(), &new);
    assert!(refusal(&judged).contains("the bypass was not granted: system:serviceaccount:flux-system:kustomize-cont"));
    // A hold is no refusal: it stays.
    let mut world = granted();
    world.settings.bypass_users = vec![FLUX.user.into()];
    let judged = world.update(FLUX, &suspended(own()), &because(own()));
    assert!(is_suspended(&stored(&judged, &own())));
    assert_eq!(judged.questions, []);
    // Also where something else was bypassed.
    let judged = world.update(FLUX, &suspended(own()), &because(depending(own(), &["x"])));
    assert_eq!(judged.verdict.refusal, None);
    assert!(is_suspended(&stored(&judged, &own())), "{:?}", judged.verdict.warnings);
    // If a companion is alive.
    world.lease = None;
    let judged = world.update(FLUX, &suspended(own()), &because(depending(own(), &["x"])));
    assert_eq!(judged.verdict.refusal, None);
    assert!(judged.verdict.mutation.is_empty());
    assert_eq!(judged.leases.len(), 1);
}

#[test]
fn it_is_not_for_the_companion() {
    let mut world = granted();
    world.settings.bypass_users = vec![COMPANION.user.into()];
    let judged = world.update(COMPANION, &suspended(own()), &own());
    assert!(refusal(&judged).starts_with(EARLY));
    let judged = world.update(COMPANION, &own(), &because(own()));
    assert!(refusal(&judged).contains("metadata.annotations.sluicegate.dev/bypass"));
    let judged = world.update(COMPANION, &own(), &because(with(own(), &[("/spec/path", "./p".into())])));
    assert!(judged.verdict.refusal.is_some());
    assert_eq!(judged.questions, []);
}

#[test]
fn it_is_not_for_the_background_audit() {
    let marked = annotated(suspended(own()), HELD, Some(&mark("u", "m", "2020-01-01T00:00:00Z", "premature")));
    let judged = granted().create(AUDIT, &because(marked));
    assert!(judged.verdict.refusal.is_some());
    assert_eq!(judged.questions, []);
}

#[test]
fn what_a_bypassed_request_asks_for_is_done() {
    let new = because(annotated(suspended(depending(own(), &["x"])), RESUME, Some("when-settled")));
    let judged = granted().update(PERSON, &own(), &new);
    let then = stored(&judged, &new);
    assert!(resume::annotation(&then, HELD).is_some());
    assert_eq!(resume::annotation(&then, RESUME), None);
}

#[test]
fn a_hostile_reason_stays_in_its_place() {
    let reason = format!("a\nb\u{202e}\"{}", "c".repeat(5_000));
    let judged = granted().update(PERSON, &suspended(own()), &annotated(own(), BYPASS, Some(&reason)));
    let shown = audit(&judged, "bypass-reason").unwrap();
    assert!(shown.starts_with("a\\u{a}b\\u{202e}\""), "{shown}");
    assert!(shown.chars().count() < 600);
    assert!(judged.verdict.warnings.iter().all(|warning| !warning.contains('c') || warning.chars().count() < 120));
    let mallory = By { user: "mal\nlory", manager: "m", dry_run: false };
    let judged = unlevel().update(mallory, &suspended(own()), &because(own()));
    let last = "the bypass was not granted: mal\\u{a}lory needs the verb bypass on gates in group sluicegate.dev in \
                namespace n";
    assert_eq!(refusal(&judged).lines().last(), Some(last));
}

#[test]
fn who_bypasses_is_not_asked_about_names() {
    let foreign = with(sample::kustomization("m", "a"), &[("/spec/sourceRef/namespace", "n".into())]);
    let entry = serde_json::json!([{"namespace": "m", "name": "a"}]);
    let object = with(own(), &[("/spec/dependsOn", entry)]);
    let mut world = granted();
    put(&mut world, sample::git_repository("n", "repo"));
    put(&mut world, unsettled(foreign));
    let judged = world.update(PERSON, &suspended(object.clone()), &because(object.clone()));
    assert_eq!(judged.verdict.refusal, None);
    assert_eq!(judged.questions, [grant("n")]);
    // Without the grant the names are asked about, after it.
    world.allowed.clear();
    let judged = world.update(PERSON, &suspended(object.clone()), &because(object));
    assert_eq!((judged.questions.len(), &judged.questions[0]), (2, &grant("n")));
}
