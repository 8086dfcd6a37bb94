//! A loop that the same apply may still undo is only a warning: reversing a need in one commit passes through a state
//! that looks cyclic.

use crate::support::shape::{having, object, owned, to};
use crate::support::{By, COMPANION, FLUX, PERSON, World, kustomization, reference};
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::object::Kind;

const DRY: By = By { dry_run: true, ..FLUX };

fn owner() -> Value {
    kustomization("flux-system", "apps", &[])
}

fn member(name: &str, needs: &[&str]) -> Value {
    owned(kustomization("n", name, needs), &owner())
}

fn warned(name: &str) -> String {
    format!("admitted: dependency cycle: Kustomization/n/{name} needs itself")
}

/// Applies a commit as kustomize-controller does: a dry-run of all against the live cluster, then one after the other.
/// What each request was answered.
fn apply(world: &mut World, commit: &[Value]) -> Vec<String> {
    let mut said = Vec::new();
    for by in [DRY, FLUX] {
        for new in commit {
            let old = world.objects[&reference(new)].clone();
            let judged = world.update(by, &old, new);
            said.push(judged.said());
            if !judged.verdict.is_admitted() {
                return said;
            }
            if !by.dry_run {
                world.objects.insert(reference(new), new.clone());
            }
        }
    }
    said
}

#[test]
fn case_9_an_edge_is_reversed_in_one_commit() {
    let mut world = World::with([member("a", &["b"]), member("b", &[])]);
    let commit = [member("a", &[]), member("b", &["a"])];
    let quiet = "admitted".to_owned();
    // The dry-run of `b` sees `a` as it was; in the real apply `a` has gone first.
    assert_eq!(apply(&mut world, &commit), [quiet.clone(), warned("b"), quiet.clone(), quiet]);
}

#[test]
fn case_9_mirrored() {
    let mut world = World::with([member("a", &[]), member("b", &["a"])]);
    let commit = [member("a", &["b"]), member("b", &[])];
    let quiet = "admitted".to_owned();
    // The real apply of `a` comes before that of `b`, which will take the other need away.
    assert_eq!(apply(&mut world, &commit), [warned("a"), quiet.clone(), warned("a"), quiet]);
    let left = world.update(FLUX, &member("a", &[]), &member("a", &["b"]));
    assert_eq!(left.said(), "admitted");
}

/// Within a kind and a namespace an apply goes by name.
#[rstest]
#[case::dry_run_of_one_that_sorts_earlier(DRY, "a", Some(owner()), false)]
#[case::dry_run_of_one_that_sorts_later(DRY, "z", Some(owner()), false)]
#[case::one_that_sorts_later(FLUX, "z", Some(owner()), false)]
#[case::one_that_sorts_earlier(FLUX, "a", Some(owner()), true)]
#[case::without_an_owner(DRY, "z", None, true)]
#[case::of_another_owner(DRY, "z", Some(kustomization("flux-system", "other", &[])), true)]
#[case::of_an_owner_of_that_name_elsewhere(DRY, "z", Some(kustomization("other", "apps", &[])), true)]
#[case::of_an_owner_of_another_kind(DRY, "z", Some(object(Kind::ResourceSet, "flux-system", "apps", json!({}))), true)]
#[case::by_a_person(PERSON, "z", Some(owner()), true)]
#[case::by_a_person_in_a_dry_run(By { dry_run: true, ..PERSON }, "z", Some(owner()), true)]
#[case::by_a_person_who_previews(By { dry_run: true, manager: "kustomize-controller", ..PERSON }, "z", Some(owner()), false)]
fn who_may_still_undo_what(
    #[case] by: By,
    #[case] other: &str,
    #[case] other_owner: Option<Value>,
    #[case] refused: bool,
) {
    let mut back = kustomization("n", other, &["m"]);
    if let Some(owner) = &other_owner {
        back = owned(back, owner);
    }
    let old = member("m", &[]);
    let judged = World::with([old.clone(), back]).update(by, &old, &member("m", &[other]));
    if refused {
        assert_eq!(judged.said(), "refused: dependency cycle: Kustomization/n/m needs itself");
    } else {
        assert_eq!(judged.said(), warned("m"));
        assert_eq!(judged.verdict.audit[0].1, "cycle");
    }
}

/// Kinds stand in the order of their groups, then of their names; namespaces before names.
#[rstest]
#[case::resource_sets_first(object(Kind::ResourceSet, "n", "z", json!({})), true)]
#[case::then_releases(object(Kind::HelmRelease, "n", "z", json!({})), true)]
#[case::then_kustomizations(kustomization("a", "z", &[]), true)]
#[case::of_a_later_namespace(kustomization("o", "a", &[]), false)]
#[case::of_a_later_name(kustomization("n", "n", &[]), false)]
fn the_order_of_an_apply(#[case] other: Value, #[case] reached: bool) {
    // m → check → other → m, of which only `other` is of the same apply.
    let other = owned(having(other, "dependsOn", json!([to(&member("m", &[]))])), &owner());
    let mut other = other;
    if reference(&other).kind == Kind::ResourceSet {
        other["spec"]["dependsOn"][0]["ready"] = json!(true);
    }
    let check = having(kustomization("n", "check", &[]), "healthChecks", json!([to(&other)]));
    let old = member("m", &[]);
    let judged = World::with([old.clone(), check, other]).update(FLUX, &old, &member("m", &["check"]));
    assert_eq!(judged.verdict.is_admitted(), !reached, "{}", judged.said());
}

/// A ResourceSet applies in the same order as a Kustomization; the order in which Helm applies is not known.
#[rstest]
#[case::resource_set_reached(Kind::ResourceSet, "a", true)]
#[case::resource_set_not_reached(Kind::ResourceSet, "z", false)]
#[case::helm_earlier(Kind::HelmRelease, "a", false)]
#[case::helm_later(Kind::HelmRelease, "z", false)]
fn every_owner_applies_in_its_order(#[case] owner: Kind, #[case] other: &str, #[case] refused: bool) {
    let owner = object(owner, "f", "owner", json!({}));
    let old = owned(kustomization("n", "m", &[]), &owner);
    let back = owned(kustomization("n", other, &["m"]), &owner);
    let new = owned(kustomization("n", "m", &[other]), &owner);
    let judged = World::with([old.clone(), back]).update(FLUX, &old, &new);
    assert_eq!(judged.verdict.is_admitted(), !refused, "{}", judged.said());
}

#[test]
fn half_a_pair_of_labels_names_no_owner() {
    let half = |mut object: Value| {
        object["metadata"]["labels"].as_object_mut().unwrap().remove("kustomize.toolkit.fluxcd.io/namespace");
        object
    };
    let old = half(member("m", &[]));
    let judged = World::with([old.clone(), half(member("z", &["m"]))]).update(DRY, &old, &half(member("m", &["z"])));
    assert!(!judged.verdict.is_admitted());
}

#[test]
fn it_is_a_member_of_the_loop_that_must_be_able_to_change() {
    // `z` is of the same apply, but only leads out of the loop.
    let old = member("m", &[]);
    let others = [kustomization("n", "b", &["m", "z"]), member("z", &["b"])];
    let judged = World::with(others.into_iter().chain([old.clone()])).update(DRY, &old, &member("m", &["b", "z"]));
    assert_eq!(
        judged.steps(),
        ["Kustomization/n/b (spec.dependsOn[0], added by this change)", "Kustomization/n/m (spec.dependsOn[0])"]
    );
}

/// The object under review does not count itself: it is what is being applied.
#[test]
fn nothing_undoes_a_need_of_itself() {
    let old = member("m", &[]);
    let judged = World::with([old.clone()]).update(DRY, &old, &member("m", &["m"]));
    assert_eq!(judged.said(), "refused: self-dependency: Kustomization/n/m names itself in spec.dependsOn[0]");
}

/// One loop may go away; the other, longer one is there to stay.
#[test]
fn a_final_loop_beside_one_that_may_be_undone_is_refused() {
    let old = member("m", &[]);
    let world = World::with([
        old.clone(),
        member("z", &["m", "y"]),
        kustomization("n", "b", &["c"]),
        kustomization("n", "c", &["m"]),
        kustomization("n", "y", &["m"]),
    ]);
    let judged = world.update(FLUX, &old, &member("m", &["z", "b"]));
    assert_eq!(
        judged.steps(),
        [
            "Kustomization/n/b (spec.dependsOn[1], added by this change)",
            "Kustomization/n/c (spec.dependsOn[0])",
            "Kustomization/n/m (spec.dependsOn[0])",
        ]
    );
    let without = world.update(FLUX, &old, &member("m", &["z"]));
    assert_eq!(without.said(), warned("m"));
    assert_eq!(without.reads, ["Kustomization/n/z"]);
}

/// Two appliers may each close half of a loop; the second one is refused, since the first is not of its apply.
#[test]
fn another_apply_undoes_nothing() {
    let other = kustomization("flux-system", "infra", &[]);
    let old = member("m", &[]);
    let back = owned(kustomization("n", "z", &["m"]), &other);
    let judged = World::with([old.clone(), back]).update(DRY, &old, &member("m", &["z"]));
    assert!(!judged.verdict.is_admitted());
}

#[test]
fn the_companion_adds_no_need_at_all() {
    let judged =
        World::with([member("m", &[]), member("z", &["m"])]).update(COMPANION, &member("m", &[]), &member("m", &["z"]));
    assert_eq!(
        judged.said(),
        "refused: the companion may change only the suspend switch, marks, the request token and its recovery \
         annotations of Kustomization/n/m, not spec.dependsOn"
    );
    assert_eq!(judged.reads, [""; 0]);
}
