//! Released when all inputs are settled, in their order.

use super::{held, judge};
use crate::support::{World, kustomization, reference};
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::gate::Fetched;
use sluicegate_core::object::{Kind, Object};
use sluicegate_core::release::{Marks, Outcome, Standing, Wait};
use sluicegate_core::testing::{sample, set, with};

fn depending(mut json: Value, names: &[&str]) -> Value {
    let entries: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
    set(&mut json, "/spec/dependsOn", json!(entries));
    json
}

#[test]
fn all_settled_is_released_after_each_object_was_read_once() {
    let own = held(sample::helm_release("ns", "a"), "premature", 0);
    let world = World::with([sample::git_repository("ns", "repo"), sample::helm_chart("ns", "ns-a")]);
    let judged = judge(&world, &own);
    assert_eq!(judged.said(), "now");
    assert_eq!(judged.reads, [["GitRepository/ns/repo", "HelmChart/ns/ns-a"]]);
}

#[rstest]
#[case::kustomization(sample::kustomization("ns", "a"))]
#[case::release(sample::helm_release("ns", "a"))]
#[case::chart(sample::helm_chart("ns", "a"))]
#[case::generator(sample::artifact_generator("ns", "a"))]
#[case::terraform(sample::terraform("ns", "a"))]
fn each_kind_waits_for_its_source(#[case] json: Value) {
    let own = held(json, "premature", 0);
    let behind = with(sample::git_repository("ns", "repo"), &[("/metadata/generation", json!(3))]);
    let mut world = World::with([behind, sample::helm_chart("ns", "ns-a")]);
    assert_eq!(judge(&world, &own).said(), "held: GitRepository/ns/repo: generation 3 not yet observed (2)");
    world.objects.insert(reference(&sample::git_repository("ns", "repo")), sample::git_repository("ns", "repo"));
    assert_eq!(judge(&world, &own).said(), "now");
}

/// Case 37: in the order of the needs, whatever the alphabet says.
#[test]
fn case_37_a_chain_is_released_from_its_far_end() {
    let chain = [("apps", vec!["monitoring"]), ("monitoring", vec!["storage"]), ("storage", vec![])];
    let all: Vec<Value> =
        chain.iter().map(|(name, needs)| depending(sample::kustomization("f", name), needs)).collect();
    let mut world = World::with(all.iter().map(|json| held(json.clone(), "premature", 0)));
    world.objects.insert(reference(&sample::git_repository("f", "repo")), sample::git_repository("f", "repo"));
    let mut released = Vec::new();
    while released.len() < all.len() {
        let now: Vec<&Value> = all
            .iter()
            .filter(|json| !released.contains(&reference(json)))
            .filter(|json| judge(&world, &world.objects[&reference(json)]).said() == "now")
            .collect();
        assert_eq!(now.len(), 1, "one at a time");
        released.push(reference(now[0]));
        world.objects.insert(reference(now[0]), now[0].clone());
    }
    let order: Vec<&str> = released.iter().map(|reference| &*reference.name).collect();
    assert_eq!(order, ["storage", "monitoring", "apps"]);
}

/// Case 39: the source first, then the chart that is suspended itself, then the release.
#[test]
fn case_39_a_suspended_chart_is_the_blocker_once_its_source_is_settled() {
    let own = held(sample::helm_release("ns", "a"), "premature", 0);
    let chart = with(sample::helm_chart("ns", "ns-a"), &[("/spec/suspend", json!(true))]);
    let behind = with(sample::git_repository("ns", "repo"), &[("/status/observedGeneration", json!(1))]);
    let mut world = World::with([behind, chart]);
    assert_eq!(judge(&world, &own).said(), "held: GitRepository/ns/repo: generation 2 not yet observed (1)");
    world.objects.insert(reference(&sample::git_repository("ns", "repo")), sample::git_repository("ns", "repo"));
    assert_eq!(judge(&world, &own).said(), "held: HelmChart/ns/ns-a: suspended (spec.suspend)");
}

/// Case 103: a HelmRepository of type oci has no status and is settled all the same.
#[test]
fn case_103_an_oci_repository_without_status_holds_nobody() {
    let spec = json!({"kind": "HelmRepository", "name": "charts"});
    let chart = with(sample::helm_chart("ns", "ns-a"), &[("/spec/sourceRef", spec.clone())]);
    let own = with(sample::helm_release("ns", "a"), &[("/spec/chart/spec/sourceRef", spec)]);
    let own = held(own, "premature", 0);
    let mut world = World::with([sample::helm_repository_oci("ns", "charts"), chart.clone()]);
    assert_eq!(judge(&world, &own).said(), "now");
    let empty = with(sample::helm_repository("ns", "charts"), &[("/status", json!(null))]);
    world.objects.insert(reference(&empty), empty);
    assert_eq!(judge(&world, &own).said(), "held: HelmRepository/ns/charts: not yet seen by its controller");
}

/// Case 67: a single Unknown holds, and only as long as it lasts.
#[test]
fn case_67_unknown_for_a_moment() {
    let own = held(depending(sample::helm_release("ns", "b"), &["a"]), "premature", 0);
    let blip = with(sample::helm_release("ns", "a"), &[("/status/conditions/Ready/status", json!("Unknown"))]);
    let charts =
        [sample::helm_chart("ns", "ns-a"), sample::helm_chart("ns", "ns-b"), sample::git_repository("ns", "repo")];
    let mut world = World::with(charts.into_iter().chain([blip]));
    assert!(judge(&world, &own).said().starts_with("held: HelmRelease/ns/a: not ready yet"));
    world.objects.insert(reference(&sample::helm_release("ns", "a")), sample::helm_release("ns", "a"));
    assert_eq!(judge(&world, &own).said(), "now");
}

/// Case 31: the expression decides.
#[rstest]
#[case("1", "now")]
#[case("2", "held: Kustomization/ns/a: does not meet spec.dependsOn[0].readyExpr")]
fn case_31_an_expression_decides(#[case] version: &str, #[case] said: &str) {
    let expression = "dep.metadata.labels['v'] == self.metadata.labels['v'] && !has(self.spec.suspend)";
    let own = with(
        held(sample::kustomization("ns", "b"), "premature", 0),
        &[("/metadata/labels/v", json!("1")), ("/spec/dependsOn", json!([{"name": "a", "readyExpr": expression}]))],
    );
    let failing = [("/status/conditions/Ready/status", json!("False")), ("/metadata/labels/v", json!(version))];
    let world = World::with([with(sample::kustomization("ns", "a"), &failing), sample::git_repository("ns", "repo")]);
    assert_eq!(judge(&world, &own).said(), said);
}

#[rstest]
#[case(Fetched::Forbidden)]
#[case(Fetched::OutOfTime)]
#[case(Fetched::Failed("reset by peer".into()))]
#[case(Fetched::Found(b"{\"spec\":3}".to_vec()))]
fn what_cannot_be_read_is_never_taken_for_settled(#[case] failure: Fetched) {
    let own = held(sample::kustomization("ns", "a"), "premature", 0);
    let mut world = World::with([]);
    world.failing.insert(reference(&sample::git_repository("ns", "repo")), failure);
    assert!(matches!(judge(&world, &own).outcome, Outcome::Waits(Wait::Input(blockage)) if blockage.is_unread()));
}

#[test]
fn the_budget_is_kept() {
    let names: Vec<String> = (0..50).map(|i| format!("k{i}")).collect();
    let needs: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut world = World::with(names.iter().map(|name| sample::kustomization("ns", name)));
    world.settings.max_reads = 10;
    let judged = judge(&world, &held(kustomization("ns", "own", &needs), "premature", 0));
    assert_eq!(judged.reads.iter().flatten().count(), 10);
    assert!(matches!(judged.outcome, Outcome::Waits(_)));
}

#[test]
fn what_belongs_to_others_is_named_only_as_far_as_it_may_be() {
    let source = with(sample::git_repository("other", "secret"), &[("/spec/suspend", json!(true))]);
    let dependency = with(
        sample::kustomization("other", "dep"),
        &[("/spec/sourceRef/name", json!("secret")), ("/metadata/generation", json!(9))],
    );
    let own =
        with(sample::kustomization("ns", "a"), &[("/spec/dependsOn", json!([{"name": "dep", "namespace": "other"}]))]);
    let own = held(own, "premature", 0);
    let world = World::with([source, dependency, sample::git_repository("ns", "repo")]);
    let said = judge(&world, &own).said();
    assert!(!said.contains("secret") && said.starts_with("held: an object in another namespace"), "{said}");
}

#[rstest]
#[case::not_suspended(&[("/spec/suspend", json!(null))], Standing::None)]
#[case::no_mark(&[("/metadata/annotations/sluicegate.dev~1held", json!(null))], Standing::None)]
#[case::no_valid_mark(&[("/metadata/annotations/sluicegate.dev~1held", json!("true"))], Standing::None)]
#[case::case_109_deleting(&[("/metadata/deletionTimestamp", json!("2026-01-01T00:00:00Z"))], Standing::None)]
#[case::vetoed(&[("/metadata/annotations/sluicegate.dev~1release", json!("never"))], Standing::Vetoed)]
fn everything_else_is_left_alone(#[case] fields: &[(&str, Value)], #[case] expected: Standing) {
    let json = with(held(sample::kustomization("ns", "a"), "premature", 0), fields);
    let object = Object::of_request(Kind::Kustomization, None, None, json.to_string().as_bytes()).unwrap();
    assert_eq!(Standing::of(&object, Marks::Gate), expected);
}
