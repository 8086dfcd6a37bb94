//! Cycles: which change is refused, with which loop, and which one is not to blame. Numbers are those of the field cases.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "helpers of tests")]

#[path = "../support/mod.rs"]
mod support;

mod loops;
mod packages;
mod reads;
mod undo;

use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::gate::Operation;
use sluicegate_core::gate::Request;
use sluicegate_core::object::Kind;
use support::shape::{having, object};
use support::{AUDIT, By, FLUX, PERSON, World, kustomization};

fn sylva() -> (World, Value, Value) {
    let old = kustomization("s", "cluster", &["a", "b", "c"]);
    let new = kustomization("s", "cluster", &["a", "b", "c", "kyverno-policies-ready"]);
    let world = World::with([
        old.clone(),
        kustomization("s", "kyverno-policies-ready", &["cluster-machines-ready"]),
        kustomization("s", "cluster-machines-ready", &["x", "cluster"]),
        kustomization("s", "x", &[]),
    ]);
    (world, old, new)
}

#[rstest]
fn a_loop_starts_at_the_object_under_review_and_names_every_field(#[values(PERSON, FLUX)] by: By) {
    let (world, old, new) = sylva();
    let judged = world.update(by, &old, &new);
    insta::allow_duplicates! {
        insta::assert_snapshot!(judged.refusal(), @r"
        dependency cycle: Kustomization/s/cluster needs itself
          Kustomization/s/cluster
            needs Kustomization/s/kyverno-policies-ready   (spec.dependsOn[3], added by this change)
            needs Kustomization/s/cluster-machines-ready   (spec.dependsOn[0])
            needs Kustomization/s/cluster                  (spec.dependsOn[1])
        ");
    }
    assert_eq!(judged.reads, ["Kustomization/s/kyverno-policies-ready", "Kustomization/s/cluster-machines-ready"]);
    assert_eq!(
        judged.verdict.audit,
        [
            ("rule", "cycle".to_owned()),
            (
                "path",
                "Kustomization/s/cluster -> Kustomization/s/kyverno-policies-ready -> \
                 Kustomization/s/cluster-machines-ready -> Kustomization/s/cluster"
                    .to_owned()
            ),
        ]
    );
}

#[test]
fn in_the_audit_no_need_is_called_new() {
    let (world, _, new) = sylva();
    let judged = world.create(AUDIT, &new);
    insta::assert_snapshot!(judged.refusal(), @r"
    dependency cycle: Kustomization/s/cluster needs itself
      Kustomization/s/cluster
        needs Kustomization/s/kyverno-policies-ready   (spec.dependsOn[3])
        needs Kustomization/s/cluster-machines-ready   (spec.dependsOn[0])
        needs Kustomization/s/cluster                  (spec.dependsOn[1])
    ");
}

#[test]
fn case_1_the_second_of_two_patches_closes_the_loop() {
    let of = |name: &str, needs: &[&str]| {
        having(kustomization("flux-system", name, needs), "sourceRef", json!({"kind": "GitRepository", "name": "repo"}))
    };
    let world = World::with([
        of("one", &[]),
        of("two", &["one"]),
        of("bystander", &[]),
        object(Kind::GitRepository, "flux-system", "repo", json!({})),
    ]);
    let judged = world.update(PERSON, &of("one", &[]), &of("one", &["two"]));
    assert_eq!(
        judged.steps(),
        [
            "Kustomization/flux-system/two (spec.dependsOn[0], added by this change)",
            "Kustomization/flux-system/one (spec.dependsOn[0])",
        ]
    );
    assert!(!judged.refusal().contains("bystander"));
}

#[rstest]
fn case_3_what_leads_into_a_loop_is_not_a_member_and_not_to_blame(#[values(PERSON, FLUX)] by: By) {
    let rbac = kustomization("n", "rbac", &["scc"]);
    let (scc, init) = (kustomization("n", "scc", &["init"]), kustomization("n", "init", &["scc"]));
    let world = World::with([rbac.clone(), scc.clone(), init.clone()]);
    let created = world.create(by, &rbac);
    assert_eq!(created.said(), "admitted");
    assert_eq!(created.reads, ["Kustomization/n/scc", "Kustomization/n/init"]);

    // What closes the loop is told without the lead-in, and without what leads out of it.
    let closing =
        world.update(by, &kustomization("n", "init", &["rbac"]), &kustomization("n", "init", &["rbac", "scc"]));
    assert_eq!(
        closing.steps(),
        ["Kustomization/n/scc (spec.dependsOn[1], added by this change)", "Kustomization/n/init (spec.dependsOn[0])"]
    );
    assert!(!closing.refusal().contains("rbac"));
}

#[rstest]
#[case::the_loop_is_through_a_kept_need(&["b"], &["b", "c"])]
#[case::and_stays_whatever_else_is_removed(&["b", "c"], &["b"])]
fn a_loop_that_was_there_before_is_no_reason(
    #[case] before: &[&str],
    #[case] after: &[&str],
    #[values(PERSON, FLUX)] by: By,
) {
    let old = kustomization("n", "a", before);
    let world = World::with([
        old.clone(),
        kustomization("n", "b", &["a"]),
        kustomization("n", "c", &["d"]),
        kustomization("n", "d", &[]),
    ]);
    assert_eq!(world.update(by, &old, &kustomization("n", "a", after)).said(), "admitted");
}

#[test]
fn of_two_loops_the_shorter_one_is_told_and_of_equals_the_first() {
    let old = kustomization("n", "a", &[]);
    let world = World::with([
        old.clone(),
        kustomization("n", "b", &["long"]),
        kustomization("n", "long", &["a"]),
        kustomization("n", "y", &["a"]),
        kustomization("n", "x", &["a"]),
    ]);
    let judged = world.update(PERSON, &old, &kustomization("n", "a", &["y", "b", "x"]));
    assert_eq!(judged.steps()[0], "Kustomization/n/x (spec.dependsOn[2], added by this change)");
    assert_eq!(judged.refusal().lines().count(), 4);
}

#[rstest]
#[case::name_alone(json!([{"name": "a"}]), true)]
#[case::with_its_namespace(json!([{"name": "a", "namespace": "ns"}]), true)]
#[case::with_an_empty_namespace(json!([{"name": "a", "namespace": ""}]), true)]
#[case::with_an_expression(json!([{"name": "a", "readyExpr": "true"}]), true)]
#[case::of_another_namespace(json!([{"name": "a", "namespace": "other"}]), false)]
fn case_5_an_object_that_needs_itself(
    #[case] depends_on: Value,
    #[case] itself: bool,
    #[values(PERSON, FLUX, AUDIT)] by: By,
    #[values(Kind::Kustomization, Kind::HelmRelease, Kind::Terraform)] kind: Kind,
) {
    let new = object(kind, "ns", "a", json!({"dependsOn": depends_on}));
    let judged = World::default().create(by, &new);
    if itself {
        insta::allow_duplicates! {
            insta::assert_snapshot!(judged.refusal().replace(kind.name(), "Kind"), @r"
            self-dependency: Kind/ns/a names itself in spec.dependsOn[0]
              Kind/ns/a
                needs Kind/ns/a   (spec.dependsOn[0])
            ");
        }
        assert_eq!(judged.reads, [""; 0]);
        assert_eq!(judged.verdict.audit[0].1, "self-dependency");
    } else {
        let audited = by.user.is_empty();
        let missing = format!("admitted: {kind}/ns/a names {kind}/other/a in spec.dependsOn[0], which does not exist");
        assert_eq!(judged.said(), if audited { "admitted".to_owned() } else { missing });
    }
}

#[test]
fn an_object_that_needed_itself_before_can_be_repaired_and_changed() {
    let old = kustomization("n", "a", &["a"]);
    let world = World::with([old.clone(), kustomization("n", "b", &[])]);
    world.update(PERSON, &old, &having(old.clone(), "path", json!("./x"))).is_untouched();
    world.update(PERSON, &old, &kustomization("n", "a", &[])).is_untouched();
    assert_eq!(world.update(PERSON, &old, &kustomization("n", "a", &["a", "b"])).said(), "admitted");
}

#[rstest]
#[case::include(Kind::GitRepository, json!({"include": [{"repository": {"name": "b"}}, {"repository": {"name": "a"}}]}),
    "spec.include[1].repository")]
#[case::source(Kind::HelmChart, json!({"sourceRef": {"kind": "HelmChart", "name": "a"}}), "spec.sourceRef")]
#[case::depends_on_of_any_kind(Kind::ResourceSet, json!({"dependsOn": [{"apiVersion": "fluxcd.controlplane.io/v1",
    "kind": "ResourceSet", "name": "a", "namespace": "n", "ready": true}]}), "spec.dependsOn[0]")]
fn every_kind_can_need_itself(#[case] kind: Kind, #[case] spec: Value, #[case] field: &str) {
    let judged = World::default().create(FLUX, &object(kind, "n", "a", spec));
    assert_eq!(judged.said(), format!("refused: self-dependency: {kind}/n/a names itself in {field}"));
    assert_eq!(judged.reads, [""; 0]);
}

#[rstest]
#[case::existence_is_enough(Kind::ResourceSet, json!({"dependsOn": [{"apiVersion": "fluxcd.controlplane.io/v1",
    "kind": "ResourceSet", "name": "a", "namespace": "n", "ready": false}]}))]
#[case::health_checks_leave_it_out(Kind::Kustomization, json!({"healthChecks": [{"apiVersion":
    "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "name": "a", "namespace": "n"}]}))]
#[case::wait_leaves_it_out(Kind::Kustomization, json!({"wait": true}))]
#[case::so_does_a_release(Kind::HelmRelease, json!({"waitStrategy": {"name": "poller"}}))]
#[case::a_namespace_is_not_defaulted(Kind::ResourceSet, json!({"dependsOn": [{"apiVersion":
    "fluxcd.controlplane.io/v1", "kind": "ResourceSet", "name": "a", "ready": true}]}))]
fn what_is_no_need_of_itself(#[case] kind: Kind, #[case] spec: Value) {
    let empty = object(kind, "n", "a", json!({}));
    let own = support::shape::listing(empty, &[&object(kind, "n", "a", json!({}))]);
    let mut new = own.clone();
    new["spec"] = spec;
    let judged = World::with([own.clone()]).update(PERSON, &own, &new);
    assert!(judged.verdict.is_admitted(), "{}", judged.said());
    assert_eq!(judged.reads, [""; 0]);
}

/// Nobody can need an object whose name is not known yet, not even one that leaves the name out.
#[rstest]
#[case::absent(json!({"generateName": "job-", "namespace": "n"}), None, "job-<generated>")]
#[case::empty(json!({"generateName": "job-", "namespace": "n", "name": ""}), Some(""), "job-<generated>")]
#[case::filled_already(json!({"generateName": "job-", "namespace": "n", "name": "job-x7"}), Some("job-x7"), "job-x7")]
fn case_33_a_name_that_is_generated(
    #[case] metadata: Value,
    #[case] name: Option<&str>,
    #[case] shown: &str,
    #[values(PERSON, FLUX)] by: By,
) {
    let mut new = kustomization("n", "job", &["x", "missing"]);
    new["metadata"] = metadata;
    let json = new.to_string();
    let mut back = kustomization("n", "x", &[""]);
    back["spec"]["dependsOn"] = json!([{"namespace": "n"}, {"name": ""}]);
    let world = World::with([back]);
    let judged = world.run(Request {
        operation: Operation::Create,
        kind: Kind::Kustomization,
        version: "v1",
        namespace: Some("n"),
        name,
        user: by.user,
        groups: vec![],
        manager: Some(by.manager),
        dry_run: false,
        object: json.as_bytes(),
        old: None,
    });
    let missing =
        format!("Kustomization/n/{shown} names Kustomization/n/missing in spec.dependsOn[1], which does not exist");
    assert_eq!(judged.said(), format!("admitted: {missing}"));
    assert_eq!(judged.verdict.audit[1].1, format!("Kustomization/n/{shown} -> Kustomization/n/missing"));
}

#[test]
fn case_11_and_17_what_is_no_need_closes_no_loop() {
    let release = object(
        Kind::HelmRelease,
        "sec",
        "vault",
        json!({"valuesFrom": [{"kind": "Secret", "name": "s"}], "chartRef": {"kind": "OCIRepository", "name": "c"}}),
    );
    let platform = having(kustomization("ns", "platform", &[]), "wait", json!(true));
    let platform = support::shape::listing(platform, &[&release]);
    let old = kustomization("ns", "secrets", &[]);
    let secrets = support::shape::listing(kustomization("ns", "secrets", &["platform"]), &[&platform]);
    let world = World::with([release, platform, old.clone()]);
    let judged = world.update(PERSON, &old, &secrets);
    assert_eq!(judged.said(), "admitted");
    assert_eq!(judged.reads, ["Kustomization/ns/platform", "HelmRelease/sec/vault"]);
}
