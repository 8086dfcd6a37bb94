//! Cycles: what is refused, to whom, in which words, and what it takes to know.

mod support;

use serde_json::{Value, json};
use support::{FLUX, PERSON, World, kustomization};

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

#[test]
fn a_person_is_refused() {
    let (world, old, new) = sylva();
    let judged = world.update(PERSON, &old, &new);
    insta::assert_snapshot!(judged.verdict.refusal.unwrap(), @r"
    dependency cycle: Kustomization/s/cluster needs itself
      Kustomization/s/cluster
        needs Kustomization/s/kyverno-policies-ready   (spec.dependsOn[3], added by this change)
        needs Kustomization/s/cluster-machines-ready   (spec.dependsOn[0])
        needs Kustomization/s/cluster                  (spec.dependsOn[1])
    ");
    assert_eq!(judged.reads, ["Kustomization/s/kyverno-policies-ready", "Kustomization/s/cluster-machines-ready"]);
}

#[test]
fn an_applier_is_refused_as_well() {
    let (world, old, new) = sylva();
    assert!(world.update(FLUX, &old, &new).verdict.refusal.is_some());
}

#[test]
fn a_hold_keeps_it_suspended() {
    let mut old = kustomization("s", "a", &["b"]);
    old["spec"]["suspend"] = json!(true);
    let new = kustomization("s", "a", &["b"]);
    let world = World::with([old.clone(), kustomization("s", "b", &[])]);
    let judged = world.update(FLUX, &old, &new);
    insta::assert_debug_snapshot!(judged);
    insta::assert_snapshot!(world.update(PERSON, &old, &new).verdict.refusal.unwrap());
}
