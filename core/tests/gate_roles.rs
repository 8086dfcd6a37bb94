//! The two roles, alone and one after the other, and `enforce: false`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "helpers of tests")]

#[path = "support/resume.rs"]
mod resume;
mod support;

use resume::{
    BYPASS, HELD, RELEASE, RESUME, annotated, annotation, assert_silent, depending, is_suspended, mark, put, refusal,
    stored, suspended, unsettled,
};
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::gate::{Role, Severity};
use sluicegate_core::testing::{sample, with};
use support::{AUDIT, By, COMPANION, FLUX, Judged, PERSON, World};

const AT: &str = "2026-11-30T12:00:00Z";

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

fn as_role(mut world: World, role: Role) -> World {
    world.settings.role = role;
    world
}

fn old_mark() -> String {
    mark("u", "m", "2026-11-30T11:00:00Z", "premature")
}

fn held(object: Value) -> Value {
    annotated(suspended(object), HELD, Some(&old_mark()))
}

fn cyclic(mut world: World) -> (World, Value) {
    put(&mut world, depending(sample::kustomization("n", "a"), &["x"]));
    (world, depending(own(), &["a"]))
}

// `hold`

#[test]
fn the_role_hold_refuses_nobody_but_the_companion() {
    let (mut world, new) = cyclic(as_role(unlevel(), Role::Hold));
    (world.settings.dependencies, world.settings.unheld) = (Severity::Refuse, Severity::Refuse);
    let requests = [
        // A loop, a need of itself, too many needs, a missing one, an early resume.
        (own(), new),
        (own(), depending(own(), &["x"])),
        (own(), depending(own(), &["gone", "gone"])),
        (suspended(own()), own()),
        (own(), annotated(own(), HELD, Some(&old_mark()))),
    ];
    for (old, new) in &requests {
        for by in [PERSON, FLUX] {
            let judged = world.update(by, old, new);
            assert_eq!(judged.verdict.refusal, None, "{new}");
        }
        assert_eq!(world.update(PERSON, old, new).reads, [] as [&str; 0]);
    }
    world.settings.max_reads = 1;
    assert_eq!(world.update(PERSON, &own(), &depending(own(), &["a", "b"])).verdict.refusal, None);
    world.settings.max_reads = 500;
    // Nor where nobody is alive to hold for.
    world.lease = None;
    assert_eq!(world.update(FLUX, &suspended(own()), &own()).verdict.refusal, None);
    let refused = world.update(COMPANION, &suspended(own()), &own());
    assert!(refusal(&refused).starts_with("premature unsuspend: "));
    let refused = world.update(COMPANION, &own(), &with(own(), &[("/spec/path", "./p".into())]));
    assert!(refused.verdict.refusal.is_some());
}

#[test]
fn the_role_hold_finds_no_old_marks() {
    // One instance speaks in the background audit.
    let marked = annotated(suspended(own()), HELD, Some(&mark("u", "m", "2020-01-01T00:00:00Z", "premature")));
    assert_eq!(as_role(level(), Role::Hold).create(AUDIT, &marked).verdict.refusal, None);
    assert!(as_role(level(), Role::Refuse).create(AUDIT, &marked).verdict.refusal.is_some());
    assert!(as_role(level(), Role::Both).create(AUDIT, &marked).verdict.refusal.is_some());
}

#[test]
fn the_role_hold_warns_of_no_dependency() {
    let world = as_role(level(), Role::Hold);
    for by in [PERSON, FLUX] {
        let judged = world.update(by, &own(), &depending(own(), &["gone", "gone"]));
        assert_silent(&judged);
        assert_eq!(judged.reads, [] as [&str; 0]);
    }
}

// `refuse`

#[rstest]
#[case(Severity::Warn)]
#[case(Severity::Refuse)]
fn in_the_role_refuse_an_early_resume_that_nobody_held_warns_or_is_refused(#[case] unheld: Severity) {
    let mut world = as_role(unlevel(), Role::Refuse);
    world.settings.unheld = unheld;
    let judged = world.update(FLUX, &suspended(own()), &own());
    let line =
        "premature unsuspend: Kustomization/n/x waits for GitRepository/n/repo: generation 3 not yet observed (2)";
    assert!(judged.verdict.mutation.is_empty());
    assert_eq!(judged.leases, [] as [&str; 0]);
    if unheld == Severity::Refuse {
        assert!(refusal(&judged).starts_with(line));
    } else {
        assert_eq!(judged.verdict.refusal, None);
        assert_eq!(judged.verdict.warnings, [line, "Kustomization/n/x is not held: this policy only refuses"]);
    }
    // What is vetoed, too.
    let old = annotated(suspended(own()), RELEASE, Some("never"));
    let judged = world.update(FLUX, &old, &own());
    assert_eq!(judged.verdict.refusal.is_some(), unheld == Severity::Refuse);
    assert!(judged.verdict.mutation.is_empty());
    // A settled one is an ordinary request.
    let mut world = as_role(level(), Role::Refuse);
    world.settings.unheld = unheld;
    assert_silent(&world.update(FLUX, &suspended(own()), &own()));
}

#[test]
fn in_the_role_refuse_nothing_is_changed() {
    let world = as_role(level(), Role::Refuse);
    let wish = annotated(suspended(own()), RESUME, Some("when-settled"));
    let marked = annotated(own(), HELD, Some(&old_mark()));
    for by in [PERSON, FLUX, COMPANION] {
        for (old, new) in [(held(own()), suspended(own())), (held(own()), own()), (own(), marked.clone())] {
            assert_silent(&world.update(by, &old, &new));
        }
    }
    assert_silent(&world.update(PERSON, &own(), &wish));
    assert_silent(&world.update(PERSON, &held(own()), &held(own())));
}

#[rstest]
#[case::both_another(mark("bob", "kubectl-edit", AT, "premature"), true)]
#[case::another_user(mark("bob", PERSON.manager, AT, "premature"), true)]
#[case::another_manager(mark(PERSON.user, "other", AT, "premature"), true)]
#[case::the_asker(mark(PERSON.user, PERSON.manager, AT, "premature"), false)]
#[case::no_mark("garbage".to_owned(), false)]
fn in_the_role_refuse_a_new_mark_of_somebody_else_is_refused(#[case] text: String, #[case] refused: bool) {
    let world = as_role(level(), Role::Refuse);
    let marked = annotated(suspended(own()), HELD, Some(&text));
    let said = refused
        .then(|| "the new mark sluicegate.dev/held on Kustomization/n/x names somebody else than who asks".to_owned());
    for judged in [
        world.create(PERSON, &marked),
        world.update(PERSON, &suspended(own()), &marked),
        world.update(PERSON, &held(own()), &marked),
    ] {
        assert_eq!(judged.verdict.refusal, said);
    }
    // It is there already.
    assert_silent(&world.update(PERSON, &marked, &with(marked.clone(), &[("/spec/path", "./p".into())])));
}

#[test]
fn in_the_role_refuse_a_companion_and_an_applier_forge_no_marks_either() {
    let world = as_role(level(), Role::Refuse);
    let marked = annotated(suspended(own()), HELD, Some(&mark("bob", "m", AT, "premature")));
    for by in [FLUX, COMPANION] {
        assert!(world.update(by, &suspended(own()), &marked).verdict.refusal.is_some());
    }
}

// One after the other, as the chart deploys them.

fn both(world: &World, by: By, old: &Value, new: &Value) -> (Judged, Value, Judged) {
    let first = as_role(world.clone(), Role::Hold).update(by, old, new);
    let between = stored(&first, new);
    let second = as_role(world.clone(), Role::Refuse).update(by, old, &between);
    (first, between, second)
}

#[rstest]
#[case::held(FLUX, suspended(own()), own(), true)]
#[case::held_again(FLUX, held(own()), own(), true)]
#[case::lost(FLUX, held(own()), suspended(own()), true)]
#[case::wished(PERSON, own(), annotated(suspended(own()), RESUME, Some("when-settled")), true)]
#[case::forged(PERSON, suspended(own()), held(own()), false)]
#[case::changed(PERSON, held(own()), annotated(suspended(own()), HELD, Some("x")), true)]
#[case::taken_off(PERSON, held(own()), suspended(own()), false)]
#[case::vetoed(
    FLUX,
    annotated(suspended(own()), RELEASE, Some("never")),
    annotated(own(), RELEASE, Some("never")),
    true
)]
fn what_the_first_does_the_second_admits(#[case] by: By, #[case] old: Value, #[case] new: Value, #[case] marked: bool) {
    let mut world = unlevel();
    world.settings.unheld = Severity::Refuse;
    let (_, between, second) = both(&world, by, &old, &new);
    assert!(is_suspended(&between));
    assert_eq!(annotation(&between, HELD).is_some(), marked);
    assert_silent(&second);
    // And together they do what one instance does.
    let one = as_role(world, Role::Both).update(by, &old, &new);
    assert_eq!(stored(&one, &new), between);
}

#[test]
fn a_person_is_refused_by_the_second_only() {
    let (first, _, second) = both(&unlevel(), PERSON, &suspended(own()), &own());
    assert_silent(&first);
    assert!(refusal(&second).starts_with("premature unsuspend: "));
}

// `enforce: false`

fn lenient(mut world: World) -> World {
    world.settings.enforce = false;
    world
}

/// Admitted as it is; what would have happened is said.
#[track_caller]
fn assert_would(judged: &Judged, said: &[&str]) {
    assert_eq!(judged.verdict.refusal, None);
    assert!(judged.verdict.mutation.is_empty(), "{:?}", judged.verdict.mutation);
    assert_eq!(judged.verdict.warnings, said);
    assert!(judged.questions.is_empty());
}

#[test]
fn without_enforcement_a_refusal_is_a_warning() {
    let line = "would be refused: premature unsuspend: Kustomization/n/x waits for GitRepository/n/repo: generation 3 \
                not yet observed…";
    for by in [PERSON, COMPANION] {
        assert_would(&lenient(unlevel()).update(by, &suspended(own()), &own()), &[line]);
    }
    let (world, new) = cyclic(lenient(level()));
    let judged = world.update(PERSON, &own(), &new);
    assert_would(&judged, &["would be refused: dependency cycle: Kustomization/n/x needs itself"]);
    // Not even the bypass is looked at.
    let judged = world.update(PERSON, &own(), &annotated(new, BYPASS, Some("because")));
    assert_would(&judged, &["would be refused: dependency cycle: Kustomization/n/x needs itself"]);
    let judged = world.update(FLUX, &own(), &depending(own(), &["x"]));
    assert_would(&judged, &["would be refused: self-dependency: Kustomization/n/x names itself in spec.dependsOn[0]"]);
    let judged = world.update(COMPANION, &own(), &with(own(), &[("/spec/path", "./p".into())]));
    assert!(judged.verdict.warnings[0].starts_with("would be refused: the companion may change only"));
    assert!(judged.verdict.mutation.is_empty());
    let marked = annotated(suspended(own()), HELD, Some(&mark("u", "m", "2020-01-01T00:00:00Z", "premature")));
    let judged = lenient(level()).create(AUDIT, &marked);
    assert_eq!(judged.verdict.refusal, None);
    assert!(judged.verdict.warnings[0].starts_with("would be refused: Kustomization/n/x has been held for "));
}

#[test]
fn without_enforcement_nothing_is_held() {
    let judged = lenient(unlevel()).update(FLUX, &suspended(own()), &own());
    assert_would(&judged, &["would be held: GitRepository/n/repo: generation 3 not yet observed (2)"]);
    let old = annotated(suspended(own()), RELEASE, Some("never"));
    let judged = lenient(level()).update(FLUX, &old, &own());
    assert_would(&judged, &["would be held: sluicegate.dev/release says never"]);
    for object in [own(), with(own(), &[("/spec/suspend", json!(false))])] {
        let judged = lenient(unlevel()).update(FLUX, &held(own()), &object);
        assert_would(&judged, &["would be held: GitRepository/n/repo: generation 3 not yet observed (2)"]);
    }
}

#[test]
fn without_enforcement_no_mark_is_touched() {
    let world = lenient(level());
    let cases = [
        (PERSON, suspended(own()), held(own())),
        (FLUX, held(own()), suspended(own())),
        (FLUX, held(own()), annotated(suspended(own()), HELD, Some("x"))),
        (PERSON, own(), annotated(suspended(own()), RESUME, Some("when-settled"))),
        (PERSON, own(), annotated(own(), HELD, Some(&old_mark()))),
        (FLUX, held(own()), annotated(own(), HELD, Some(&old_mark()))),
    ];
    for (by, old, new) in cases {
        let judged = world.update(by, &old, &new);
        assert_eq!(judged.verdict.refusal, None);
        assert!(judged.verdict.mutation.is_empty(), "{new}");
        assert_eq!(judged.verdict.warnings.len(), 1, "{new} {:?}", judged.verdict.warnings);
        for warning in &judged.verdict.warnings {
            assert!(warning.contains("would"), "{warning}");
        }
    }
}

#[test]
fn without_enforcement_and_a_companion_nothing_would_be_held() {
    let mut world = lenient(unlevel());
    world.lease = None;
    let judged = world.update(FLUX, &suspended(own()), &own());
    assert_eq!(judged.verdict.warnings.len(), 2);
    assert!(judged.verdict.mutation.is_empty());
    world.settings.unheld = Severity::Refuse;
    let judged = world.update(FLUX, &suspended(own()), &own());
    assert_eq!(judged.verdict.refusal, None);
    assert!(judged.verdict.warnings[0].starts_with("would be refused: premature unsuspend: "));
}

#[test]
fn every_warning_is_short() {
    let long = "n".repeat(240);
    let mut world = unlevel();
    put(&mut world, unsettled(sample::kustomization(&long, &long)));
    let object = with(own(), &[("/spec/dependsOn", json!([{"namespace": long, "name": long}]))]);
    world.settings.disclose = sluicegate_core::gate::Disclose::Everyone;
    for world in [world.clone(), lenient(world)] {
        for by in [FLUX, PERSON] {
            let judged = world.update(by, &suspended(object.clone()), &object);
            for warning in &judged.verdict.warnings {
                assert!(warning.chars().count() < 120, "{warning}");
            }
        }
    }
}
