//! Who asks, and what each of them gets for the same mistake.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "helpers of tests")]

mod support;

use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::gate::{Asker, Fetched, Role, Settings};
use support::shape::{having, object, owned};
use support::{AUDIT, By, COMPANION, FLUX, PERSON, World, kustomization, reference};

const KUSTOMIZE: &str = "system:serviceaccount:flux-system:kustomize-controller";

#[rstest]
#[case::companion("system:serviceaccount:sluicegate-system:sluicegate", "anything", false, Asker::Companion)]
#[case::companion_under_a_name_of_an_applier(
    "system:serviceaccount:sluicegate-system:sluicegate",
    "kustomize-controller",
    true,
    Asker::Companion
)]
#[case::kustomize_controller(KUSTOMIZE, "kustomize-controller", false, Asker::Applier)]
#[case::helm_controller("system:serviceaccount:flux-system:helm-controller", "helm-controller", false, Asker::Applier)]
#[case::flux_operator("system:serviceaccount:flux-system:flux-operator", "flux-operator", false, Asker::Applier)]
#[case::impersonated_tenant("system:serviceaccount:tenant:deployer", "kustomize-controller", false, Asker::Applier)]
#[case::a_listed_user("argocd", "argocd-controller", false, Asker::Applier)]
#[case::a_listed_user_by_hand("argocd", "kubectl-edit", false, Asker::Applier)]
#[case::a_user_who_borrows_a_manager("alice", "kustomize-controller", false, Asker::Person)]
#[case::a_user_who_previews("alice", "kustomize-controller", true, Asker::Applier)]
#[case::a_user_in_a_dry_run("alice", "kubectl", true, Asker::Person)]
#[case::a_job("system:serviceaccount:ci:job", "kubectl", false, Asker::Person)]
#[case::the_controller_under_another_manager(KUSTOMIZE, "gotk-kustomize-controller", false, Asker::Person)]
#[case::a_manager_that_begins_alike(KUSTOMIZE, "kustomize-controller2", false, Asker::Person)]
#[case::no_manager(KUSTOMIZE, "", false, Asker::Person)]
#[case::another_account_of_that_name("system:serviceaccount:other:sluicegate", "sluicegate", false, Asker::Person)]
#[case::nobody("", "", false, Asker::Person)]
fn who_asks(#[case] user: &str, #[case] manager: &str, #[case] dry_run: bool, #[case] expected: Asker) {
    let settings = Settings { applier_users: vec!["argocd".into()], ..Settings::default() };
    assert_eq!(Asker::by(user, Some(manager), dry_run, &settings), expected);
    if manager.is_empty() {
        assert_eq!(Asker::by(user, None, dry_run, &settings), expected);
    }
}

#[test]
fn the_settings_say_who_is_who() {
    let settings = Settings { appliers: vec!["argo".into()], companion: "cozy".into(), ..Settings::default() };
    assert_eq!(Asker::by(KUSTOMIZE, Some("kustomize-controller"), false, &settings), Asker::Person);
    assert_eq!(Asker::by("system:serviceaccount:a:b", Some("argo"), false, &settings), Asker::Applier);
    assert_eq!(Asker::by("cozy", None, false, &settings), Asker::Companion);
    let default = "system:serviceaccount:sluicegate-system:sluicegate";
    assert_eq!(Asker::by(default, None, false, &settings), Asker::Person);
}

const DRY: By = By { dry_run: true, ..FLUX };
const PREVIEW: By = By { dry_run: true, manager: "kustomize-controller", ..PERSON };

/// The rows of the table that are about needs; `b` → `a` is stored, and of the same apply where `shared`.
fn cycle(by: By, shared: bool) -> String {
    let owner = kustomization("f", "owner", &[]);
    let own = |object: Value| if shared { owned(object, &owner) } else { object };
    let old = own(kustomization("n", "a", &[]));
    let world = World::with([old.clone(), own(kustomization("n", "b", &["a"]))]);
    world.update(by, &old, &own(kustomization("n", "a", &["b"]))).said()
}

#[rstest]
#[case::person(PERSON, "refused", "refused")]
#[case::person_dry(By { dry_run: true, ..PERSON }, "refused", "refused")]
#[case::applier(FLUX, "refused", "admitted")]
#[case::applier_dry(DRY, "refused", "admitted")]
#[case::preview(PREVIEW, "refused", "admitted")]
fn a_cycle(#[case] by: By, #[case] alone: &str, #[case] shared: &str) {
    let line = "dependency cycle: Kustomization/n/a needs itself";
    assert_eq!(cycle(by, false), format!("{alone}: {line}"));
    assert_eq!(cycle(by, true), format!("{shared}: {line}"));
}

/// An unsuspend by each of them while `b` is not settled, or cannot be read.
#[rstest]
#[case::person(PERSON, "refused: premature unsuspend: ", "refused: unsuspend of ")]
#[case::applier(FLUX, "admitted: held: ", "admitted: held: ")]
#[case::preview(PREVIEW, "admitted: held: ", "admitted: held: ")]
#[case::companion(COMPANION, "refused: premature unsuspend: ", "admitted")]
fn an_early_unsuspend(#[case] by: By, #[case] premature: &str, #[case] unread: &str) {
    let new = kustomization("n", "a", &["b"]);
    let old = having(new.clone(), "suspend", json!(true));
    let mut world = World::with([old.clone(), kustomization("n", "b", &[])]);
    let judged = world.update(by, &old, &new);
    assert!(judged.said().starts_with(premature), "{}", judged.said());
    assert_eq!(judged.verdict.mutation.suspend.is_some(), premature.contains("held"));
    world.failing.insert(reference(&kustomization("n", "b", &[])), Fetched::OutOfTime);
    let judged = world.update(by, &old, &new);
    assert!(judged.said().starts_with(unread), "{}", judged.said());
    assert_eq!(judged.verdict.mutation.suspend.is_some(), unread.contains("held"));
}

/// An unsuspend while the inputs are judged for a cycle too: each object is read once for both.
#[test]
fn a_refused_cycle_beats_a_hold() {
    let old = having(kustomization("n", "a", &[]), "suspend", json!(true));
    let world = World::with([old.clone(), kustomization("n", "b", &["a"])]);
    let judged = world.update(FLUX, &old, &kustomization("n", "a", &["b"]));
    assert!(judged.refusal().starts_with("dependency cycle: "));
    assert!(judged.verdict.mutation.is_empty());
    assert_eq!(judged.reads, ["Kustomization/n/b"]);
}

#[rstest]
#[case::both(Role::Both, false)]
#[case::refuse(Role::Refuse, false)]
#[case::hold(Role::Hold, true)]
fn only_a_role_that_refuses_looks_for_cycles(#[case] role: Role, #[case] silent: bool, #[values(PERSON, FLUX)] by: By) {
    let old = kustomization("n", "a", &[]);
    let mut world = World::with([old.clone(), kustomization("n", "b", &["a"])]);
    world.settings.role = role;
    for new in [kustomization("n", "a", &["b"]), kustomization("n", "a", &["a"]), kustomization("n", "a", &["x", "x"])]
    {
        let judged = world.update(by, &old, &new);
        if silent {
            judged.is_untouched();
        } else {
            assert_ne!(judged.said(), "admitted");
        }
    }
}

#[rstest]
fn without_enforcement_every_refusal_is_a_warning(#[values(PERSON, FLUX)] by: By) {
    let old = kustomization("n", "a", &[]);
    let mut world = World::with([old.clone(), kustomization("n", "b", &["a"])]);
    world.settings.enforce = false;
    let said = |new: &Value| world.update(by, &old, new).said();
    assert_eq!(
        said(&kustomization("n", "a", &["b"])),
        "admitted: would be refused: dependency cycle: Kustomization/n/a needs itself"
    );
    assert_eq!(
        said(&kustomization("n", "a", &["a"])),
        "admitted: would be refused: self-dependency: Kustomization/n/a names itself in spec.dependsOn[0]"
    );
}

/// The background audit sends stored objects as a CREATE without old object and user.
#[rstest]
#[case::the_audit(AUDIT, "refused: dependency cycle: Kustomization/n/a needs itself")]
#[case::a_user_is_no_audit(By { user: "alice", ..AUDIT }, "refused: dependency cycle: Kustomization/n/a needs itself")]
fn the_audit_fails_cycles_of_existing_objects(#[case] by: By, #[case] said: &str) {
    let own = |object: Value| owned(object, &kustomization("f", "owner", &[]));
    let stored = own(kustomization("n", "a", &["b", "missing"]));
    let world = World::with([stored.clone(), own(kustomization("n", "b", &["a"]))]);
    let judged = world.create(by, &stored);
    assert_eq!(judged.said(), said);
    assert_eq!(judged.verdict.warnings.is_empty(), by.user.is_empty());
    assert!(judged.questions.is_empty(), "there is nobody to ask about");
}

/// An object that cannot be read is admitted, whoever asks; nothing of it is judged.
#[rstest]
fn what_cannot_be_read_is_admitted_with_a_warning(#[values(PERSON, FLUX, COMPANION, AUDIT)] by: By) {
    let new = having(kustomization("n", "a", &["a"]), "suspend", json!("no"));
    let judged = World::default().create(by, &new);
    assert_eq!(judged.said(), "admitted: Kustomization/n/a is not judged: field spec.suspend is not a boolean");
    assert_eq!(judged.verdict.audit[0].1, "unreadable");
    let mut other = kustomization("n", "a", &["a"]);
    other["apiVersion"] = json!("kustomize.toolkit.fluxcd.io/v9");
    let judged = World::default().create(by, &other);
    assert_eq!(judged.said(), "admitted: Kustomization/n/a is not judged: version v9 is not known");
    let old = having(kustomization("n", "a", &[]), "dependsOn", json!("b"));
    let judged = World::default().update(by, &old, &kustomization("n", "a", &["a"]));
    assert_eq!(judged.said(), "admitted: Kustomization/n/a is not judged: field spec.dependsOn is not a list");
}

/// A request may say what it likes about the status: the API server drops it, so it opens no way around the gate.
#[rstest]
fn a_garbled_status_does_not_keep_the_rest_from_being_judged(#[values(PERSON, FLUX)] by: By) {
    let mut new = kustomization("n", "a", &["a"]);
    new["status"] = json!({"inventory": 7, "conditions": "none"});
    assert!(!World::default().create(by, &new).verdict.is_admitted());
    assert!(!World::default().update(by, &kustomization("n", "a", &[]), &new).verdict.is_admitted());
}

#[test]
fn the_companion_may_not_be_borrowed() {
    let old = kustomization("n", "a", &["b"]);
    for (new, field) in [
        (having(old.clone(), "dependsOn", json!([])), "spec.dependsOn"),
        (
            owned(old.clone(), &object(sluicegate_core::object::Kind::HelmRelease, "n", "o", json!({}))),
            "metadata.labels",
        ),
    ] {
        let judged = World::default().update(COMPANION, &old, &new);
        assert!(judged.refusal().ends_with(&format!("not {field}")), "{}", judged.refusal());
        assert_eq!(judged.reads, [""; 0]);
    }
    let judged = World::default().create(COMPANION, &old);
    assert!(judged.refusal().ends_with("not the whole object"), "{}", judged.refusal());
}
