//! What a decision costs: the objects it reads, each once, in a fixed order, and nothing at all where nothing that
//! matters is changed.

use crate::support::shape::{having, listing, object, owned, to};
use crate::support::{By, FLUX, PERSON, World, kustomization};
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::object::Kind;

/// `a` is a member of a loop that is stored already, `a` → `b` → `a`, has owners and a source, and is suspended.
fn stored() -> Value {
    let mut a = owned(kustomization("n", "a", &["b", "c"]), &kustomization("n", "owner", &[]));
    a["spec"]["sourceRef"] = json!({"kind": "GitRepository", "name": "g"});
    a["spec"]["suspend"] = json!(true);
    a["metadata"]["labels"]["team"] = json!("one");
    listing(a, &[&kustomization("n", "child", &[])])
}

fn world() -> World {
    let owner = having(kustomization("n", "owner", &["a"]), "wait", json!(true));
    World::with([stored(), owner, kustomization("n", "b", &["a"]), kustomization("n", "c", &[])])
}

#[rstest]
#[case::nothing_at_all("/metadata/labels/team", json!("one"))]
#[case::status("/status/conditions", json!([{"type": "Ready", "status": "True"}]))]
#[case::inventory_of_the_status("/status/inventory/entries", json!([{"id": "n_b_kustomize.toolkit.fluxcd.io_Kustomization"}]))]
#[case::a_status_that_cannot_be_read("/status", json!({"conditions": "none"}))]
#[case::a_label("/metadata/labels/team", json!("two"))]
#[case::the_shard("/metadata/labels/sharding.fluxcd.io~1key", json!("two"))]
#[case::owner_labels_removed("/metadata/labels", Value::Null)]
#[case::finalizers("/metadata/finalizers", json!(["finalizers.fluxcd.io"]))]
#[case::a_request_token("/metadata/annotations", json!({"reconcile.fluxcd.io/requestedAt": "1"}))]
#[case::our_annotations("/metadata/annotations", json!({"sluicegate.dev/bypass": "x", "sluicegate.dev/release": "never"}))]
#[case::a_need_removed("/spec/dependsOn", json!([{"name": "b"}]))]
#[case::all_needs_removed("/spec/dependsOn", Value::Null)]
#[case::needs_in_another_order("/spec/dependsOn", json!([{"name": "c"}, {"name": "b"}]))]
#[case::the_namespace_spelt_out("/spec/dependsOn", json!([{"name": "b", "namespace": "n"}, {"name": "c"}]))]
#[case::another_expression("/spec/dependsOn", json!([{"name": "b", "readyExpr": "true"}, {"name": "c"}]))]
#[case::the_source_removed("/spec/sourceRef", Value::Null)]
#[case::a_need_that_is_there_as_another("/spec/healthChecks", json!([to(&kustomization("n", "b", &[]))]))]
#[case::fields_that_are_no_needs("/spec/postBuild", json!({"substituteFrom": [{"kind": "ConfigMap", "name": "x"}]}))]
fn nothing_is_read_where_no_need_is_added(#[case] field: &str, #[case] value: Value, #[values(PERSON, FLUX)] by: By) {
    let (old, mut new) = (stored(), stored());
    let (parent, key) = field.rsplit_once('/').unwrap();
    new.pointer_mut(parent).unwrap()[key.replace("~1", "/")] = value;
    world().update(by, &old, &new).is_untouched();
}

#[rstest]
fn suspending_reads_nothing(#[values(PERSON, FLUX)] by: By) {
    let mut old = stored();
    old["spec"]["suspend"] = json!(false);
    world().update(by, &old, &stored()).is_untouched();
}

/// Case 109: a member of a stored loop, which gains a need, a forged mark and a resume on its way out.
#[rstest]
#[case::update(true)]
#[case::unreadable(false)]
fn an_object_that_is_being_deleted_is_admitted_as_it_is(#[case] readable: bool, #[values(PERSON, FLUX)] by: By) {
    let mut old = stored();
    old["metadata"]["deletionTimestamp"] = json!("2026-11-30T11:00:00Z");
    old["metadata"]["finalizers"] = json!(["finalizers.fluxcd.io"]);
    let mut new = old.clone();
    new["metadata"]["finalizers"] = Value::Null;
    new["metadata"]["annotations"] = json!({"sluicegate.dev/held": "forged"});
    new["spec"]["suspend"] = json!(false);
    new["spec"]["dependsOn"] = json!([{"name": "a"}, {"name": "b"}, {"name": "c"}]);
    if !readable {
        new["status"] = json!(3);
    }
    world().update(by, &old, &new).is_untouched();
}

#[test]
fn one_new_need_reads_its_cone_level_by_level_in_the_stable_order() {
    let old = kustomization("n", "a", &["old"]);
    let mut new = kustomization("n", "a", &["old", "z", "m"]);
    new["spec"]["healthChecks"] = json!([to(&object(Kind::HelmRelease, "n", "z", json!({})))]);
    let release = object(
        Kind::HelmRelease,
        "n",
        "z",
        json!({"chart": {"spec": {"chart": "c", "sourceRef": {"kind": "HelmRepository", "name": "h", "namespace": "f"}}}}),
    );
    let mut deep = kustomization("n", "deep", &["z", "m", "deeper"]);
    deep["spec"]["sourceRef"] = json!({"kind": "GitRepository", "name": "g"});
    let world = World::with([
        old.clone(),
        kustomization("n", "old", &["not-looked-at"]),
        kustomization("n", "z", &["deep", "b"]),
        kustomization("n", "m", &["b"]),
        kustomization("n", "b", &["m"]),
        deep,
        kustomization("n", "deeper", &[]),
        object(Kind::GitRepository, "n", "g", json!({"include": [{"repository": {"name": "included"}}]})),
        object(Kind::GitRepository, "n", "included", json!({})),
        release,
    ]);
    let judged = world.update(PERSON, &old, &new);
    assert_eq!(judged.said(), "admitted");
    assert_eq!(
        judged.reads,
        [
            "HelmRelease/n/z",
            "Kustomization/n/m",
            "Kustomization/n/z",
            "Kustomization/n/b",
            "Kustomization/n/deep",
            "GitRepository/n/g",
            "Kustomization/n/deeper",
            "GitRepository/n/included",
        ]
    );
}

/// A loop cannot lead through them. Named directly they are looked at all the same, to tell whether they exist.
#[rstest]
#[case(Kind::Bucket)]
#[case(Kind::HelmRepository)]
#[case(Kind::OCIRepository)]
fn kinds_without_needs_are_read_only_where_the_request_names_them(#[case] kind: Kind) {
    let leaf = object(kind, "n", "leaf", json!({}));
    let chart = object(Kind::HelmChart, "n", "chart", json!({"sourceRef": to(&leaf)}));
    let release = object(Kind::HelmRelease, "n", "a", json!({}));
    let world = World::with([leaf.clone(), chart.clone(), release.clone()]);

    let direct = world.update(PERSON, &release, &having(release.clone(), "chartRef", to(&leaf)));
    assert_eq!(direct.said(), "admitted");
    assert_eq!(direct.reads, [format!("{kind}/n/leaf")]);

    let above = world.update(PERSON, &release, &having(release.clone(), "chartRef", to(&chart)));
    assert_eq!(above.said(), "admitted");
    assert_eq!(above.reads, ["HelmChart/n/chart"]);
}

#[test]
fn the_walk_ends_with_the_level_that_closes_the_loop() {
    let old = kustomization("n", "a", &[]);
    let world = World::with([
        old.clone(),
        kustomization("n", "b", &["far"]),
        kustomization("n", "c", &["a", "far"]),
        kustomization("n", "far", &[]),
    ]);
    let judged = world.update(PERSON, &old, &kustomization("n", "a", &["b", "c"]));
    assert_eq!(judged.steps()[0], "Kustomization/n/c (spec.dependsOn[1], added by this change)");
    assert_eq!(judged.reads, ["Kustomization/n/b", "Kustomization/n/c"]);
}

#[rstest]
#[case::of_itself(true, true, &[])]
#[case::of_another(false, true, &["Kustomization/n/owner"])]
#[case::without_any_need(false, false, &[])]
fn new_owner_labels_read_the_owner(#[case] itself: bool, #[case] needs: bool, #[case] reads: &[&str]) {
    let old = kustomization("n", "a", if needs { &["b"] } else { &[] });
    let owner = kustomization("n", if itself { "a" } else { "owner" }, &[]);
    let world = World::with([old.clone(), owner.clone(), kustomization("n", "b", &[])]);
    let judged = world.update(FLUX, &old, &owned(old.clone(), &owner));
    assert_eq!(judged.said(), "admitted");
    assert_eq!(judged.reads, reads);
}

/// On a CREATE every need is new, so an owner that is on a loop is met on the way.
#[test]
fn the_owner_of_a_new_object_is_not_read_for_its_own_sake() {
    let owner = having(kustomization("n", "owner", &[]), "wait", json!(true));
    let world = World::with([owner.clone(), kustomization("n", "b", &[])]);
    let judged = world.create(FLUX, &owned(kustomization("n", "a", &["b"]), &owner));
    assert_eq!(judged.said(), "admitted");
    assert_eq!(judged.reads, ["Kustomization/n/b"]);
}

/// The reads of an object whose needs are judged by an expression ask for all its fields, whoever asks first.
#[test]
fn what_an_expression_needs_is_read_whole_and_once() {
    let mut old = kustomization("n", "a", &["b"]);
    old["spec"]["suspend"] = json!(true);
    let mut new = kustomization("n", "a", &["b", "c"]);
    new["spec"]["dependsOn"][0]["readyExpr"] = json!("dep.metadata.name == 'b'");
    new["spec"]["dependsOn"][1]["readyExpr"] = json!("dep.spec.custom && self.metadata.name == 'a'");
    let c = having(kustomization("n", "c", &["b"]), "custom", json!(true));
    let world = World::with([old.clone(), kustomization("n", "b", &[]), c]);
    let judged = world.update(PERSON, &old, &new);
    assert_eq!(judged.said(), "admitted");
    assert_eq!(judged.reads, ["Kustomization/n/c", "Kustomization/n/b"]);
    assert_eq!(judged.whole, judged.reads);
}

/// The status of the object itself is the stored one, whatever the request says.
#[test]
fn an_expression_reads_the_stored_status() {
    let expression = "self.status.done == true";
    let mut new = having(kustomization("n", "a", &[]), "dependsOn", json!([{"name": "b", "readyExpr": expression}]));
    let mut old = having(new.clone(), "suspend", json!(true));
    let world = World::with([kustomization("n", "b", &[])]);
    old["status"] = json!({"done": true});
    new["status"] = json!({"done": false});
    assert_eq!(world.update(PERSON, &old, &new).said(), "admitted");
    old["status"] = json!({"done": false});
    new["status"] = json!({"done": true});
    assert!(world.update(PERSON, &old, &new).said().contains("does not meet spec.dependsOn[0].readyExpr"));
}
