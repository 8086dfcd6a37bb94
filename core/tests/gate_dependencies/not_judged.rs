//! What cannot be read, and what there is no budget for: admitted, and said.

use crate::support::shape::{having, object, to};
use crate::support::{AUDIT, By, FLUX, PERSON, World, kustomization, reference};
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::gate::{Fetched, Settings};
use sluicegate_core::object::Kind;
use std::time::Duration;

fn old() -> Value {
    kustomization("n", "a", &[])
}

#[rstest]
#[case::forbidden(Fetched::Forbidden, "the policy server may not get kustomizations.kustomize.toolkit.fluxcd.io")]
#[case::failed(Fetched::Failed("EOF\nat line 3".into()), "Kustomization/n/b could not be read: EOF\\u{a}at line 3")]
#[case::out_of_time(Fetched::OutOfTime, "the time for reading was over before Kustomization/n/b")]
#[case::garbage(Fetched::Found(b"<html>".to_vec()), "Kustomization/n/b cannot be read: it is not valid JSON")]
#[case::another_object(Fetched::Found(kustomization("n", "c", &["a"]).to_string().into()),
    "Kustomization/n/b cannot be read: field metadata.name is not the name that was asked for")]
#[case::a_wrong_type(Fetched::Found(having(kustomization("n", "b", &[]), "dependsOn", json!({})).to_string().into()),
    "Kustomization/n/b cannot be read: field spec.dependsOn is not a list")]
fn what_cannot_be_read_leaves_the_question_of_a_cycle_open(
    #[case] failure: Fetched,
    #[case] why: &str,
    #[values(PERSON, FLUX)] by: By,
) {
    let mut world = World::default();
    world.failing.insert(reference(&kustomization("n", "b", &[])), failure);
    let judged = world.update(by, &old(), &kustomization("n", "a", &["b"]));
    let said = format!("dependency cycles of Kustomization/n/a not judged: {why}");
    assert!(judged.verdict.is_admitted());
    assert_eq!(judged.verdict.warnings.len(), 1);
    assert!(said.starts_with(judged.verdict.warnings[0].trim_end_matches('…')), "{}", judged.said());
    assert_eq!(judged.verdict.audit[0].1, "not-judged");
    assert_eq!(judged.reads, ["Kustomization/n/b"]);
}

/// No loop leads through a source without needs, nor through what has to exist only: then it is the dependency alone
/// that was not judged.
#[rstest]
#[case::a_leaf(Kind::Kustomization, "sourceRef", json!({"kind": "Bucket", "name": "b"}), Kind::Bucket)]
#[case::existence(Kind::ResourceSet, "dependsOn", json!([to(&object(Kind::Terraform, "n", "b", json!({})))]), Kind::Terraform)]
fn a_dependency_that_cannot_be_read(
    #[case] kind: Kind,
    #[case] field: &str,
    #[case] value: Value,
    #[case] target: Kind,
) {
    let old = object(kind, "n", "a", json!({}));
    let mut world = World::default();
    world.forbidden.insert(target);
    let judged = world.update(PERSON, &old, &having(old.clone(), field, value));
    assert_eq!(
        judged.said(),
        format!(
            "admitted: the dependencies of {kind}/n/a not judged: the policy server may not get {}",
            target.resource()
        )
    );
}

#[test]
fn a_loop_is_found_in_spite_of_what_cannot_be_read() {
    let mut world = World::with([kustomization("n", "c", &["a"])]);
    world.failing.insert(reference(&kustomization("n", "b", &[])), Fetched::Forbidden);
    let judged = world.update(PERSON, &old(), &kustomization("n", "a", &["b", "c"]));
    assert_eq!(judged.steps().len(), 2);
    assert_eq!(judged.verdict.warnings, [""; 0]);
}

#[rstest]
fn the_budget_is_spent(#[values(PERSON, FLUX)] by: By) {
    let mut world = World::with((0..9).map(|i| kustomization("n", &format!("b{i}"), &[&format!("b{}", i + 1)])));
    world.settings.max_reads = 5;
    let judged = world.update(by, &old(), &kustomization("n", "a", &["b0"]));
    assert_eq!(
        judged.said(),
        "admitted: dependency cycles of Kustomization/n/a not judged: the budget of reads (maxReads) was spent before \
         Kustomization/n/b5"
    );
    assert_eq!(judged.reads.len(), 5);
}

#[rstest]
#[case::a_person_within(PERSON, 3, "admitted", 3)]
#[case::a_person(
    PERSON,
    4,
    "refused: Kustomization/n/a adds 4 needs at once; no more than 3 can be checked for cycles (maxReads)",
    0
)]
#[case::an_applier_is_judged_as_far_as_it_goes(
    FLUX,
    4,
    "admitted: dependency cycles of Kustomization/n/a not judged: the budget of reads (maxReads) was spent before Kustomization/n/b3",
    3
)]
#[case::the_audit(
    AUDIT,
    4,
    "admitted: dependency cycles of Kustomization/n/a not judged: the budget of reads (maxReads) was spent before Kustomization/n/b3",
    3
)]
fn too_many_at_once(#[case] by: By, #[case] count: usize, #[case] said: &str, #[case] reads: usize) {
    let names: Vec<String> = (0..count).map(|i| format!("b{i}")).collect();
    let mut world = World::with(names.iter().map(|name| kustomization("n", name, &[])));
    world.settings.max_reads = 3;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let judged = world.create(by, &kustomization("n", "a", &names));
    assert_eq!(judged.said(), said);
    assert_eq!(judged.reads.len(), reads);
    // Entries that name one object are one need.
    assert!(world.create(PERSON, &kustomization("n", "a", &["b0"; 9])).verdict.is_admitted());
}

/// Half of what the evaluation leaves after one second: the other half is for the read that is under way.
#[rstest]
#[case(10, 4_500)]
#[case(2, 500)]
#[case(1, 0)]
#[case(0, 0)]
fn the_time_for_reading(#[case] evaluation: u64, #[case] milliseconds: u128) {
    let settings = Settings { evaluation: Duration::from_secs(evaluation), ..Settings::default() };
    assert_eq!(settings.reading_time().as_millis(), milliseconds);
}
