//! Missing, wrong kind, twice: mistakes of their own kind, told apart from a cycle and from each other.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "helpers of tests")]

#[path = "../support/mod.rs"]
mod support;

mod not_judged;

use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::gate::{Question, Settings, Severity};
use sluicegate_core::object::Kind;
use support::shape::{having, listing, object, to};
use support::{AUDIT, By, COMPANION, FLUX, PERSON, World, kustomization};

fn strict(objects: impl IntoIterator<Item = Value>) -> World {
    World { settings: Settings { dependencies: Severity::Refuse, ..Settings::default() }, ..World::with(objects) }
}

fn old() -> Value {
    kustomization("n", "a", &[])
}

fn with(depends_on: Value) -> Value {
    having(old(), "dependsOn", depends_on)
}

const MISSING: &str = "Kustomization/n/a names Kustomization/n/b in spec.dependsOn[0], which does not exist";

#[rstest]
#[case::person(PERSON, false, format!("admitted: {MISSING}"))]
#[case::person_where_the_setting_says_so(PERSON, true, format!("refused: {MISSING}"))]
#[case::applier(FLUX, false, format!("admitted: {MISSING}"))]
#[case::applier_is_never_refused(FLUX, true, format!("admitted: {MISSING}"))]
fn a_missing_dependency(#[case] by: By, #[case] refuse: bool, #[case] said: String) {
    let world = if refuse { strict([]) } else { World::default() };
    let judged = world.update(by, &old(), &kustomization("n", "a", &["b"]));
    assert_eq!(judged.said(), said);
    // The second read looks for the object under the kind that people confuse with this one.
    assert_eq!(judged.reads, ["Kustomization/n/b", "HelmRelease/n/b"]);
    assert_eq!(judged.verdict.audit[0].1, "missing-dependency");
    assert_eq!(judged.verdict.audit[1].1, "Kustomization/n/a -> Kustomization/n/b");
}

#[test]
fn what_was_missing_before_is_no_finding() {
    let old = kustomization("n", "a", &["gone"]);
    let judged = strict([kustomization("n", "b", &[])]).update(PERSON, &old, &kustomization("n", "a", &["gone", "b"]));
    assert_eq!(judged.said(), "admitted");
    assert_eq!(judged.reads, ["Kustomization/n/b"]);
}

/// Who needs a dependency that is missing further up is not told: it is not what this change names.
#[test]
fn only_what_the_object_names_itself_is_missing() {
    let judged = strict([kustomization("n", "b", &["gone"])]).update(PERSON, &old(), &kustomization("n", "a", &["b"]));
    assert_eq!(judged.said(), "admitted");
    assert_eq!(judged.reads, ["Kustomization/n/b", "Kustomization/n/gone"]);
}

#[rstest]
#[case::resource_set(Kind::ResourceSet)]
#[case::terraform(Kind::Terraform)]
fn case_7_of_the_rules_an_optional_kind_that_is_not_installed(#[case] kind: Kind) {
    let new = object(Kind::ResourceSet, "n", "a", json!({"dependsOn": [to(&object(kind, "n", "b", json!({})))]}));
    let mut world = World::default();
    world.absent_kinds.insert(kind);
    let judged = world.create(FLUX, &new);
    assert_eq!(
        judged.said(),
        format!("admitted: ResourceSet/n/a names {kind}/n/b in spec.dependsOn[0], but the cluster has no {kind}")
    );
    assert_eq!(judged.reads, [format!("{kind}/n/b")]);
}

/// A dependency that has to exist only can be missing like any other; no loop leads through it.
#[rstest]
#[case::missing(false, "admitted: ResourceSet/n/a names Kustomization/n/b in spec.dependsOn[0], which does not exist",
    &["Kustomization/n/b", "HelmRelease/n/b"])]
#[case::there(true, "admitted", &["Kustomization/n/b"])]
fn existence_is_looked_at(#[case] there: bool, #[case] said: &str, #[case] reads: &[&str]) {
    let set = object(Kind::ResourceSet, "n", "a", json!({}));
    let back = listing(having(kustomization("n", "b", &["more"]), "wait", json!(true)), &[&set]);
    let new = having(set.clone(), "dependsOn", json!([to(&back)]));
    let judged = World::with(there.then_some(back)).update(PERSON, &set, &new);
    assert_eq!(judged.said(), said);
    assert_eq!(judged.reads, reads);
}

/// What is only looked at where the request names it is followed where it is waited for further on.
#[test]
fn existence_hides_no_loop() {
    let set = object(Kind::ResourceSet, "n", "a", json!({}));
    let release = listing(object(Kind::HelmRelease, "n", "r", json!({})), &[&set]);
    let check = having(kustomization("n", "k", &[]), "healthChecks", json!([to(&release)]));
    let mut waited = to(&check);
    waited["ready"] = json!(true);
    let new = having(set.clone(), "dependsOn", json!([to(&release), waited]));
    let judged = World::with([set.clone(), release, check]).update(PERSON, &set, &new);
    assert_eq!(
        judged.steps(),
        [
            "Kustomization/n/k (spec.dependsOn[1], added by this change)",
            "HelmRelease/n/r (spec.healthChecks[0])",
            "ResourceSet/n/a (spec.waitStrategy)",
        ]
    );
}

/// What an object applies itself is not there at first: its checks and its inventory are no dependencies.
#[test]
fn what_is_waited_for_after_the_apply_is_never_missing() {
    let release = object(Kind::HelmRelease, "n", "r", json!({}));
    let new = having(old(), "healthChecks", json!([to(&release)]));
    let judged = strict([]).update(PERSON, &old(), &new);
    assert_eq!(judged.said(), "admitted");
    assert_eq!(judged.reads, ["HelmRelease/n/r"]);
    let gone = listing(old(), &[&release]);
    let judged = strict([]).update(PERSON, &gone, &having(gone.clone(), "wait", json!(true)));
    assert_eq!(judged.said(), "admitted");
}

#[rstest]
#[case::kustomization(Kind::Kustomization, Kind::HelmRelease)]
#[case::release(Kind::HelmRelease, Kind::Kustomization)]
#[case::terraform(Kind::Terraform, Kind::Kustomization)]
fn case_23_the_name_exists_as_another_kind(#[case] kind: Kind, #[case] other: Kind) {
    let found = object(other, "storage", "cluster", json!({}));
    let old = object(kind, "storage", "books", json!({}));
    let new = having(old.clone(), "dependsOn", json!([{"name": "cluster"}]));
    let said = format!(
        "no {kind} of the name that {kind}/storage/books gives in spec.dependsOn[0]; there is \
         {other}/storage/cluster, which spec.dependsOn[0] cannot name"
    );
    let refused = strict([found.clone()]).update(PERSON, &old, &new);
    assert_eq!(refused.said(), format!("refused: {said}"));
    let warned = World::with([found]).update(FLUX, &old, &new);
    let short = format!("spec.dependsOn[0]: no {kind}/storage/cluster; there is {other}/storage/cluster");
    assert_eq!(warned.verdict.warnings, [short]);
    assert_eq!(warned.reads, [format!("{kind}/storage/cluster"), format!("{other}/storage/cluster")]);
    assert_eq!(warned.verdict.audit[0].1, "wrong-kind-dependency");
}

/// A `sourceRef` can name either kind: the kind that is written is the mistake.
#[rstest]
#[case::git(Kind::GitRepository, Kind::OCIRepository)]
#[case::oci(Kind::OCIRepository, Kind::GitRepository)]
fn a_source_of_another_kind(#[case] kind: Kind, #[case] other: Kind) {
    let source = object(other, "n", "s", json!({}));
    let judged =
        strict([source]).update(PERSON, &old(), &having(old(), "sourceRef", json!({"kind": kind.name(), "name": "s"})));
    assert_eq!(
        judged.said(),
        format!("refused: no {kind} of the name that Kustomization/n/a gives in spec.sourceRef; there is {other}/n/s")
    );
}

fn may_get(kind: Kind, namespace: &str, name: &str) -> Question {
    let row = kind.row();
    Question {
        verb: "get",
        group: row.group,
        resource: row.plural,
        namespace: namespace.into(),
        name: Some(name.into()),
    }
}

/// What stands in another namespace is told only on a refusal, and only to a person who may get it.
#[rstest]
#[case::refused_to_one_who_may(PERSON, true, true, "there is HelmRelease/storage/cluster, which")]
#[case::refused_to_one_who_may_not(PERSON, true, false, "which does not exist")]
#[case::a_warning_says_no_more(PERSON, false, true, "which does not exist")]
#[case::nor_does_an_applier_learn_it(FLUX, true, true, "which does not exist")]
fn a_hint_about_another_namespace(#[case] by: By, #[case] refuse: bool, #[case] may: bool, #[case] said: &str) {
    let found = object(Kind::HelmRelease, "storage", "cluster", json!({}));
    let mut world = if refuse { strict([found]) } else { World::with([found]) };
    if may {
        world.allowed.push(may_get(Kind::HelmRelease, "storage", "cluster"));
    }
    let judged = world.update(by, &old(), &with(json!([{"name": "cluster", "namespace": "storage"}])));
    let told = judged.verdict.refusal.clone().unwrap_or_else(|| judged.verdict.warnings.join("\n"));
    assert!(told.contains(said), "{told}");
    assert_eq!(told.contains("HelmRelease"), said.contains("HelmRelease"), "{told}");
    let hinted = judged.reads.contains(&"HelmRelease/storage/cluster".to_owned());
    assert_eq!(hinted, said.contains("HelmRelease"), "nothing foreign is read that is not to be told");
    assert_eq!(judged.questions.is_empty(), !(by.user == PERSON.user && refuse));
}

#[test]
fn case_25_and_29_a_name_is_never_resolved_by_itself() {
    let elsewhere = object(Kind::HelmRelease, "flux-system", "y", json!({}));
    let release = object(Kind::HelmRelease, "n", "x", json!({}));
    for namespace in [json!(null), json!("")] {
        let new = having(release.clone(), "dependsOn", json!([{"name": "y", "namespace": namespace}]));
        let judged = World::with([elsewhere.clone()]).update(PERSON, &release, &new);
        assert_eq!(
            judged.said(),
            "admitted: HelmRelease/n/x names HelmRelease/n/y in spec.dependsOn[0], which does not exist"
        );
        assert_eq!(judged.reads, ["HelmRelease/n/y", "Kustomization/n/y"]);
    }
}

/// A ResourceSet's namespace is not defaulted: what leaves it out names nothing.
#[test]
fn a_namespace_that_is_left_out_where_it_must_be_said() {
    let entry =
        json!({"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "name": "b", "ready": true});
    let set = object(Kind::ResourceSet, "n", "a", json!({}));
    let new = having(set.clone(), "dependsOn", json!([entry]));
    let judged = World::with([kustomization("n", "b", &[])]).update(PERSON, &set, &new);
    assert_eq!(
        judged.said(),
        "admitted: ResourceSet/n/a names Kustomization//b in spec.dependsOn[0], which does not exist"
    );
    assert_eq!(judged.reads, [""; 0]);
}

const TWICE: &str = "Kustomization/n/a names Kustomization/n/b twice: spec.dependsOn[0] and spec.dependsOn[1]";

#[rstest]
#[case::spelt_differently(json!([{"name": "b"}, {"name": "b", "namespace": "n"}]), true)]
#[case::equal(json!([{"name": "b"}, {"name": "b"}]), true)]
#[case::three_times(json!([{"name": "b"}, {"name": "b"}, {"name": "b"}]), true)]
#[case::the_same_expression(json!([{"name": "b", "readyExpr": "x"}, {"name": "b", "readyExpr": "x"}]), true)]
#[case::an_expression_and_none(json!([{"name": "b"}, {"name": "b", "readyExpr": "x"}]), false)]
#[case::two_expressions(json!([{"name": "b", "readyExpr": "y"}, {"name": "b", "readyExpr": "x"}]), false)]
#[case::two_namespaces(json!([{"name": "b"}, {"name": "b", "namespace": "o"}]), false)]
fn case_7_the_same_dependency_twice(#[case] depends_on: Value, #[case] twice: bool) {
    let there = [kustomization("n", "b", &[]), kustomization("o", "b", &[])];
    let said = |judged: &support::Judged| judged.said();
    let warned = World::with(there.clone()).update(PERSON, &old(), &with(depends_on.clone()));
    assert_eq!(said(&warned), if twice { format!("admitted: {TWICE}") } else { "admitted".to_owned() });
    let refused = strict(there.clone()).update(PERSON, &old(), &with(depends_on.clone()));
    assert_eq!(said(&refused), if twice { format!("refused: {TWICE}") } else { "admitted".to_owned() });
    let applied = strict(there).update(FLUX, &old(), &with(depends_on));
    assert_eq!(said(&applied), if twice { format!("admitted: {TWICE}") } else { "admitted".to_owned() });
}

#[test]
fn a_duplicate_that_was_there_before_is_no_finding() {
    let old = with(json!([{"name": "b"}, {"name": "b"}]));
    let new = with(json!([{"name": "b"}, {"name": "b"}, {"name": "c"}]));
    let judged = strict([kustomization("n", "c", &[])]).update(PERSON, &old, &new);
    assert_eq!(judged.said(), "admitted");
    // An entry that repeats an old one is new as a duplicate, and needs no read.
    let again = World::default().update(PERSON, &with(json!([{"name": "b"}])), &old);
    assert_eq!((again.said(), again.reads.len()), (format!("admitted: {TWICE}"), 0));
}

#[test]
fn a_loop_through_a_duplicate_is_one_loop() {
    let world = World::with([kustomization("n", "b", &["a"])]);
    let judged = world.update(PERSON, &old(), &with(json!([{"name": "b"}, {"name": "b", "namespace": "n"}])));
    assert_eq!(
        judged.steps(),
        ["Kustomization/n/b (spec.dependsOn[0], added by this change)", "Kustomization/n/a (spec.dependsOn[0])"]
    );
    assert_eq!(judged.refusal().matches("needs itself").count(), 1);
}

#[test]
fn a_missing_dependency_that_stands_twice_is_looked_for_once() {
    let judged =
        World::default().update(PERSON, &old(), &with(json!([{"name": "b"}, {"name": "b", "namespace": "n"}])));
    assert_eq!(judged.reads, ["Kustomization/n/b", "HelmRelease/n/b"]);
    assert_eq!(judged.verdict.warnings, [TWICE, MISSING]);
}

#[test]
fn case_35_a_kind_that_is_not_judged() {
    let entry = json!({"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "name": "w", "namespace": "c", "ready": true});
    let set = object(Kind::ResourceSet, "c", "net", json!({}));
    let new = having(set.clone(), "dependsOn", json!([entry]));
    for by in [PERSON, FLUX] {
        let judged = strict([]).update(by, &set, &new);
        assert_eq!(
            judged.said(),
            "admitted: ResourceSet/c/net waits in spec.dependsOn[0] for Cluster w, a kind that is not judged"
        );
        assert_eq!(judged.reads, [""; 0]);
    }
    strict([]).update(PERSON, &new, &having(new.clone(), "resources", json!([]))).is_untouched();
}

#[test]
fn the_audit_says_nothing_of_dependencies() {
    let mut new = kustomization("n", "a", &["missing", "missing"]);
    new["spec"]["sourceRef"] = json!({"kind": "Unknown", "name": "x"});
    let judged = strict([]).create(AUDIT, &new);
    assert_eq!(judged.said(), "admitted");
    assert_eq!(judged.reads, ["Kustomization/n/missing"]);
}

#[test]
fn the_audit_judges_a_stored_object_with_its_own_status() {
    let child = kustomization("n", "child", &["a"]);
    let stored = listing(having(old(), "wait", json!(true)), &[&child]);
    let judged = World::with([child]).create(AUDIT, &stored);
    assert_eq!(judged.steps(), ["Kustomization/n/child (spec.wait)", "Kustomization/n/a (spec.dependsOn[0])"]);
}

#[test]
fn the_companion_is_not_asked_about_dependencies() {
    let mut old = kustomization("n", "a", &["b"]);
    old["spec"]["suspend"] = json!(true);
    let mut new = old.clone();
    new["metadata"]["annotations"] = json!({"reconcile.fluxcd.io/requestedAt": "1"});
    World::default().update(COMPANION, &old, &new).is_untouched();
}

#[test]
fn findings_without_end_are_told_in_part() {
    let names: Vec<String> = (0..40).map(|i| format!("b{i:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let judged = World::default().update(PERSON, &old(), &kustomization("n", "a", &names));
    assert_eq!(judged.verdict.warnings.len(), 11);
    assert_eq!(judged.verdict.warnings[10], "and 30 more");
    assert_eq!(judged.reads.len(), 45);
    let refused = strict([]).update(PERSON, &old(), &kustomization("n", "a", &names));
    assert_eq!(refused.refusal().lines().count(), 11);
}
