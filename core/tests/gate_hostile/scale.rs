//! Ten thousand of everything: no recursion on user data, and answers that stay short.

use crate::support::shape::{having, listing, object};
use crate::support::{By, FLUX, PERSON, World, kustomization, reference};
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::gate::{Settings, Severity};
use sluicegate_core::object::Kind;

fn named(count: usize) -> Vec<String> {
    (0..count).map(|i| format!("b{i:05}")).collect()
}

fn depends(count: usize) -> Value {
    let entries: Vec<Value> = named(count).into_iter().map(|name| json!({"name": name})).collect();
    having(kustomization("n", "a", &[]), "dependsOn", json!(entries))
}

#[test]
fn ten_thousand_dependencies() {
    let mut world = World::with(named(10_000).iter().map(|name| kustomization("n", name, &[])));
    let (old, new) = (depends(0), depends(10_000));
    let refused = world.update(PERSON, &old, &new);
    assert_eq!(
        refused.said(),
        "refused: Kustomization/n/a adds 10000 needs at once; no more than 500 can be checked for cycles (maxReads)"
    );
    assert_eq!(refused.reads, [""; 0]);
    let applied = world.update(FLUX, &old, &new);
    assert!(applied.said().contains("not judged: the budget of reads"), "{}", applied.said());
    assert_eq!(applied.reads.len(), 500);
    world.update(FLUX, &new, &old).is_untouched();
    world.update(PERSON, &new, &having(new.clone(), "path", json!("x"))).is_untouched();

    world.settings.max_reads = 20_000;
    assert_eq!(world.update(PERSON, &old, &new).reads.len(), 10_000);
    world.objects.insert(reference(&kustomization("n", "b09999", &[])), kustomization("n", "b09999", &["a"]));
    assert_eq!(
        world.update(PERSON, &old, &new).steps()[0],
        "Kustomization/n/b09999 (spec.dependsOn[9999], added by this change)"
    );
}

#[rstest]
fn ten_thousand_mistakes_of_one_kind(#[values(PERSON, FLUX)] by: By) {
    let old = kustomization("n", "a", &[]);
    let settings = Settings { dependencies: Severity::Refuse, max_reads: 20_000, ..Settings::default() };
    let world = World { settings, ..World::default() };
    world.update(by, &old, &depends(10_000));

    let twice: Vec<Value> =
        named(5_000).into_iter().flat_map(|name| [json!({"name": name}), json!({"name": name})]).collect();
    let twice = having(old.clone(), "dependsOn", json!(twice));
    let judged = world.update(by, &old, &twice);
    assert_ne!(judged.said(), "admitted");
    world.update(by, &twice, &having(twice.clone(), "path", json!("x"))).is_untouched();

    let other: Vec<Value> =
        named(10_000).into_iter().map(|name| json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name})).collect();
    let set = object(Kind::ResourceSet, "n", "a", json!({}));
    let many = having(set.clone(), "dependsOn", json!(other));
    let judged = world.update(by, &set, &many);
    assert_eq!(judged.verdict.warnings.len(), 11);
    world.update(by, &many, &having(many.clone(), "path", json!("x"))).is_untouched();
}

/// Case 5: no recursion on the depth of a graph, and a text that stays readable.
#[rstest]
#[case::closed(true)]
#[case::open(false)]
fn a_chain_of_ten_thousand(#[case] closed: bool) {
    let names = named(10_000);
    let next = |i: usize| names.get(i + 1).map_or(if closed { "a" } else { "end" }, String::as_str);
    let mut world = World::with(names.iter().enumerate().map(|(i, name)| kustomization("n", name, &[next(i)])));
    world.settings.max_reads = 20_000;
    let old = kustomization("n", "a", &[]);
    let judged = world.update(PERSON, &old, &kustomization("n", "a", &["b00000"]));
    if closed {
        assert_eq!(judged.reads.len(), 10_000);
        let lines: Vec<&str> = judged.refusal().lines().collect();
        assert_eq!(lines.len(), 43);
        assert_eq!(lines[22], "    … 9961 more …");
        assert!(lines[42].contains("needs Kustomization/n/a "), "{}", lines[42]);
        assert!(judged.verdict.audit[1].1.len() <= 1_010);
    } else {
        assert_eq!(judged.said(), "admitted");
        assert_eq!(judged.reads.len(), 10_001);
    }
}

#[test]
fn an_inventory_of_ten_thousand() {
    let children: Vec<Value> = named(10_000).iter().map(|name| kustomization("n", name, &[])).collect();
    let applied = |wait: bool| {
        let owner = having(kustomization("n", "a", &[]), "wait", json!(wait));
        listing(owner, &children.iter().collect::<Vec<_>>())
    };
    let mut world = World::with(children.clone());
    world.settings.max_reads = 20_000;
    let judged = world.update(PERSON, &applied(false), &applied(true));
    assert_eq!(judged.said(), "admitted");
    assert_eq!(judged.reads.len(), 10_000);
    world.update(PERSON, &applied(true), &having(applied(true), "path", json!("x"))).is_untouched();

    // One that is met on the way, and a loop through its last entry.
    world.objects.insert(reference(&applied(true)), applied(true));
    let last = kustomization("n", "b09999", &[]);
    let judged = world.update(PERSON, &last, &kustomization("n", "b09999", &["a"]));
    assert_eq!(judged.steps()[1], "Kustomization/n/b09999 (spec.wait)");
    assert_eq!(judged.reads, ["Kustomization/n/a"]);
}

/// A resume whose input cone is a chain of unsettled objects.
#[rstest]
fn a_resume_behind_a_chain_of_ten_thousand(#[values(PERSON, FLUX)] by: By) {
    let names = named(10_000);
    let next = |i: usize| names.get(i + 1).map(String::as_str);
    let of = |(i, name): (usize, &String)| kustomization("n", name, &next(i).into_iter().collect::<Vec<_>>());
    let mut world = World::with(names.iter().enumerate().map(of));
    world.settings.max_reads = 20_000;
    let new = kustomization("n", "a", &["b00000"]);
    let judged = world.update(by, &having(new.clone(), "suspend", json!(true)), &new);
    assert_eq!(judged.reads.len(), 10_000);
    let told = judged.verdict.refusal.clone().unwrap_or_else(|| judged.verdict.warnings.join("\n"));
    assert!(told.contains("Kustomization/n/b09999"), "{told}");
}
