use super::*;
use crate::gate::Fetched;
use crate::object::{Kind, Switch};
use crate::testing::{reference, reference as reference_of, sample, set, with};
use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub(crate) fn ks(name: &str) -> Reference {
    Reference::new(Kind::Kustomization, "ns", name)
}

fn world<'a>(objects: impl IntoIterator<Item = &'a Value>) -> World {
    let mut world = World::new();
    for json in objects {
        world.insert(&reference(json), Fetched::Found(json.to_string().into_bytes()));
    }
    world
}

/// Grows the cone in this world, in which nothing else exists.
fn grown(target: Reference, world: &mut World) -> Cone {
    let mut cone = Cone::new([target], false);
    loop {
        let wanted = cone.grow(world);
        if wanted.is_empty() {
            return cone;
        }
        for reference in wanted {
            world.insert(&reference, Fetched::Absent);
        }
    }
}

fn judged(target: Reference, objects: &[Value]) -> Judgement {
    let mut world = world(objects);
    let cone = grown(target, &mut world);
    judge(&cone, &world, &Asked::default())
}

fn depending(json: Value, entries: Value) -> Value {
    with(json, &[("/spec/dependsOn", entries)])
}

fn failing(json: Value) -> Value {
    with(json, &[("/status/conditions/Ready/status", json!("False")), ("/status/conditions/Ready/message", json!("x"))])
}

fn suspended(json: Value) -> Value {
    with(json, &[("/spec/suspend", json!(true))])
}

/// `a>b b>c! c?`: needs by dependsOn; `!` fails, `?` is suspended. Without a source, for tables of shapes.
fn shape(text: &str) -> Vec<Value> {
    let mut objects: Vec<Value> = Vec::new();
    for word in text.split_whitespace() {
        let (name, needs) = word.split_once('>').unwrap_or((word, ""));
        let plain = name.trim_end_matches(['!', '?']);
        let mut json = sample::kustomization("ns", plain);
        set(&mut json, "/spec/sourceRef", Value::Null);
        let entries: Vec<Value> = needs.split(',').filter(|n| !n.is_empty()).map(|n| json!({"name": n})).collect();
        json = depending(json, json!(entries));
        if name.ends_with('!') {
            json = failing(json);
        } else if name.ends_with('?') {
            json = suspended(json);
        }
        objects.push(json);
    }
    objects
}

fn shown(judgement: &Judgement) -> String {
    let mut words: Vec<String> = Vec::new();
    for root in &judgement.roots {
        let mut names: Vec<&str> = root.way.iter().map(|(from, _)| &*from.name).collect();
        names.push(&root.at.name);
        words.push(names.join(">"));
    }
    for found in &judgement.loops {
        words.push(format!("({})", found.members().map(|member| &*member.name).collect::<Vec<_>>().join(">")));
    }
    words.join(" ")
}

#[rstest]
#[case("a", "")]
#[case("a!", "a")]
#[case("a>b b", "")]
#[case("a>b b!", "a>b")]
#[case("a!>b b!", "a>b")]
#[case("a>b,c b! c!", "a>b a>c")]
#[case("a>b b>c c", "")]
#[case("a>b b>c", "a>b>c")]
#[case("a>b,c b>d c>d d!", "a>b>d")]
#[case("a>b b>a", "")]
#[case("a!>b b>a", "(a>b)")]
#[case("a>b b>c c!>b", "(b>c)")]
#[case("a>a", "")]
#[case("a!>a", "(a)")]
#[case("a!>b b>a,c c!", "a>b>c")]
#[case("a>b b?>c c!", "a>b>c")]
#[case("a>b b? x!", "a>b")]
fn finds_roots_and_loops(#[case] text: &str, #[case] expected: &str) {
    let judgement = judged(ks("a"), &shape(text));
    assert_eq!(shown(&judgement), expected);
    assert_eq!(judgement.is_settled(), expected.is_empty());
}

#[test]
fn case_21_the_root_is_named_and_not_the_nearest_waiter() {
    let judgement = judged(ks("e"), &shape("e!>d d!>c c!>b b!>a a!"));
    assert_eq!(shown(&judgement), "e>d>c>b>a");
    assert_eq!(judgement.behind(&ks("a")), 4);
}

#[test]
fn case_05_a_chain_of_ten_thousand_ends_and_so_does_a_loop_of_them() {
    for last in ["", "0"] {
        let mut text: String = (0..9_999).map(|n| format!("k{n}>k{} ", n + 1)).collect();
        text.push_str(&format!("k9999!>{}", if last.is_empty() { "" } else { "k0" }));
        let judgement = judged(ks("k0"), &shape(&text));
        assert_eq!(judgement.states.len(), 10_000);
        assert_eq!((judgement.roots.len(), judgement.loops.len()), if last.is_empty() { (1, 0) } else { (0, 1) });
    }
}

#[rstest]
#[case::case_53_that_is_suspended_and_looks_ready(2)]
#[case::case_15_that_is_suspended_and_not_observed(1)]
fn outputs_are_followed_to_a_child(#[case] observed: i64) {
    let parent = with(
        sample::kustomization("ns", "parent"),
        &[(
            "/spec/healthChecks",
            json!([{"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "name": "child"}]),
        )],
    );
    let child = suspended(sample::helm_release("ns", "child"));
    let child = with(child, &[("/status/observedGeneration", json!(observed))]);
    let objects = [parent, child, sample::git_repository("ns", "repo"), sample::helm_chart("ns", "ns-child")];
    let judgement = judged(ks("parent"), &objects);
    assert_eq!(shown(&judgement), "parent>child");
    let root = &judgement.roots[0];
    assert_eq!(root.way, [(ks("parent"), Reason::HealthCheck(0))]);
    let blocked = &judgement.states[&root.at].troubles[0];
    assert!(matches!(blocked, Trouble::Blocked(Blocker::Suspended { .. })), "{blocked:?}");
}

#[test]
fn case_69_a_child_that_no_controller_has_seen_is_not_ready() {
    let parent = with(
        sample::kustomization("ns", "parent"),
        &[(
            "/spec/healthChecks",
            json!([{"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "name": "child"}]),
        )],
    );
    let child = with(sample::helm_release("ns", "child"), &[("/status", Value::Null)]);
    let objects = [parent, child, sample::git_repository("ns", "repo"), sample::helm_chart("ns", "ns-child")];
    assert_eq!(shown(&judged(ks("parent"), &objects)), "parent>child");
}

#[test]
fn case_63_the_chart_is_the_root_with_its_own_message() {
    let release = failing(sample::helm_release("ns", "r"));
    let chart = with(
        failing(sample::helm_chart("ns", "ns-r")),
        &[("/status/conditions/Ready/message", json!("no chart version found for app-9"))],
    );
    let judgement = judged(reference(&release), &[release.clone(), chart, sample::git_repository("ns", "repo")]);
    assert_eq!(shown(&judgement), "r>ns-r");
}

#[test]
fn a_chart_that_the_release_will_write_anew_is_not_the_root() {
    let release = with(sample::helm_release("ns", "r"), &[("/spec/chart/spec/version", json!("2.0.0"))]);
    let chart = failing(sample::helm_chart("ns", "ns-r"));
    let world = [release.clone(), chart, sample::git_repository("ns", "repo")];
    assert_eq!(shown(&judged(reference(&release), &world)), "r");
    let gone = [release.clone(), sample::git_repository("ns", "repo")];
    assert_eq!(shown(&judged(reference(&release), &gone)), "r", "nor is one that it has not written yet");
}

fn generated() -> [Value; 4] {
    let consumer = with(
        sample::kustomization("ns", "k"),
        &[
            ("/spec/sourceRef", json!({"kind": "ExternalArtifact", "name": sample::ARTIFACT})),
            ("/status/lastAppliedRevision", json!(sample::ARTIFACT_REVISION)),
        ],
    );
    let artifact = sample::external_artifact("ns", sample::ARTIFACT);
    let generator = sample::artifact_generator("ns", sample::GENERATOR);
    [consumer, artifact, generator, sample::git_repository("ns", "repo")]
}

#[test]
fn case_105_the_chain_goes_through_artifacts_and_generators() {
    assert_eq!(shown(&judged(ks("k"), &generated())), "");
    let mut objects = generated();
    set(&mut objects[3], "/metadata/generation", json!(4));
    assert_eq!(shown(&judged(ks("k"), &objects)), "k>artifact>generator>repo");
    let mut objects = generated();
    set(&mut objects[2], "/metadata/annotations/source.extensions.fluxcd.io~1reconcile", json!("disabled"));
    assert_eq!(shown(&judged(ks("k"), &objects)), "k>artifact>generator");
}

#[test]
fn case_79_a_torn_status_is_the_root() {
    let torn = with(sample::git_repository("ns", "repo"), &[("/status/artifact/revision", json!("v1@sha1:1111111"))]);
    let judgement = judged(ks("k"), &[sample::kustomization("ns", "k"), torn]);
    assert_eq!(shown(&judgement), "k>repo");
    let troubles = &judgement.states[&judgement.roots[0].at].troubles;
    assert!(troubles.iter().any(|t| matches!(t, Trouble::Blocked(Blocker::TornRevision { .. }))), "{troubles:?}");
}

#[test]
fn case_103_a_static_repository_is_settled_and_an_empty_one_is_not() {
    let of = |source: Value| {
        let reference = json!({"kind": "HelmRepository", "name": "r"});
        let release = with(sample::helm_release("ns", "x"), &[("/spec/chart/spec/sourceRef", reference.clone())]);
        let chart = with(sample::helm_chart("ns", "ns-x"), &[("/spec/sourceRef", reference)]);
        shown(&judged(reference_of(&release), &[source, release, chart]))
    };
    assert_eq!(of(sample::helm_repository_oci("ns", "r")), "");
    assert_eq!(of(with(sample::helm_repository("ns", "r"), &[("/status", Value::Null)])), "x>r");
}

#[rstest]
#[case("dep.metadata.name == 'b'", "")]
#[case("dep.metadata.name == 'x'", "a>b")]
#[case("dep.metadata.nothing == 'x'", "a>b")]
#[case("dep.", "a>b")]
fn case_31_an_expression_decides(#[case] expression: &str, #[case] expected: &str) {
    let mut objects = shape("a b!");
    objects[0] = depending(objects[0].clone(), json!([{"name": "b", "readyExpr": expression}]));
    assert_eq!(shown(&judged(ks("a"), &objects)), expected);
}

#[test]
fn an_expression_that_a_settled_object_does_not_meet_is_the_needing_objects_trouble() {
    let mut objects = shape("a b");
    objects[0] = depending(objects[0].clone(), json!([{"name": "b", "readyExpr": "false"}]));
    let judgement = judged(ks("a"), &objects);
    assert_eq!(shown(&judgement), "a");
    let expected = Trouble::Expression { reason: Reason::DependsOn(0), target: ks("b"), failure: None };
    assert_eq!(judgement.states[&ks("a")].troubles, [expected]);
}

#[rstest]
#[case(json!(false), "")]
#[case(json!(true), "s>b")]
fn existence_is_all_that_some_needs_ask(#[case] ready: Value, #[case] expected: &str) {
    let set = depending(
        sample::resource_set("ns", "s"),
        json!([{"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "name": "b",
                "namespace": "ns", "ready": ready}]),
    );
    let target = reference(&set);
    let mut objects = vec![set.clone()];
    assert_eq!(shown(&judged(target.clone(), &objects)), "s>b", "which must be there at least");
    objects.extend(shape("b!"));
    assert_eq!(shown(&judged(target, &objects)), expected);
}

#[rstest]
#[case("1111111", "")]
#[case("2222222", "k>repo")]
fn case_59_the_source_shows_the_expected_revision_or_is_the_root(#[case] expected: &str, #[case] root: &str) {
    let objects = [sample::kustomization("ns", "k"), sample::git_repository("ns", "repo")];
    let mut world = world(&objects);
    let cone = grown(ks("k"), &mut world);
    let asked = Asked { expected: Some(expected.into()), ..Asked::default() };
    assert_eq!(shown(&judge(&cone, &world, &asked)), root);
}

#[test]
fn suspended_objects_can_be_left_out_with_what_only_they_need() {
    let mut world = world(&shape("a>b b?>c c!"));
    let mut cone = Cone::new([ks("a")], true);
    assert_eq!(cone.grow(&world), []);
    assert!(!cone.contains(&ks("c")));
    assert!(judge(&cone, &world, &Asked::default()).is_settled());
    // Resumed, it counts again.
    let resumed = with(shape("b>c").remove(0), &[("/metadata/resourceVersion", json!("2"))]);
    world.insert(&ks("b"), Fetched::Found(resumed.to_string().into_bytes()));
    cone.changed(&ks("b"), &world);
    assert!(!judge(&cone, &world, &Asked::default()).is_settled());
}

#[test]
fn an_older_answer_never_replaces_a_newer_one_and_another_uid_is_told() {
    let at = |version: &str, uid: &str| {
        let json = with(
            sample::kustomization("ns", "a"),
            &[("/metadata/resourceVersion", json!(version)), ("/metadata/uid", json!(uid))],
        );
        Fetched::Found(json.to_string().into_bytes())
    };
    let mut world = World::new();
    assert_eq!(world.insert(&ks("a"), at("10", "u")), Change::Changed);
    assert_eq!(world.insert(&ks("a"), at("9", "u")), Change::None);
    assert_eq!(world.insert(&ks("a"), at("10", "u")), Change::None);
    assert_eq!(world.insert(&ks("a"), at("11", "u")), Change::Changed);
    assert_eq!(world.insert(&ks("a"), at("12", "v")), Change::Recreated);
    assert_eq!(world.insert(&ks("a"), Fetched::Absent), Change::Changed);
    assert_eq!(world.insert(&ks("a"), Fetched::Absent), Change::None);
    assert_eq!(world.insert(&ks("a"), at("13", "w")), Change::Recreated, "also where it was seen to be gone");
}

#[rstest]
#[case(Kind::Kustomization, json!({"f:spec": {"f:suspend": {}}}), true)]
#[case(Kind::Kustomization, json!({"f:spec": {"f:path": {}}}), false)]
#[case(Kind::ArtifactGenerator,
       json!({"f:metadata": {"f:annotations": {"f:source.extensions.fluxcd.io/reconcile": {}}}}), true)]
fn managed_fields_say_who_suspended(#[case] kind: Kind, #[case] fields: Value, #[case] told: bool) {
    let mut json = match kind {
        Kind::Kustomization => suspended(sample::kustomization("ns", "a")),
        _ => sample::artifact_generator("ns", "a"),
    };
    if let Switch::Annotation(key) = kind.row().switch {
        set(&mut json, &format!("/metadata/annotations/{}", key.replace('/', "~1")), json!("disabled"));
    }
    let entry = json!({"manager": "flux", "operation": "Update", "time": "2026-01-02T03:04:05Z", "fieldsV1": fields});
    set(&mut json, "/metadata/managedFields", json!([entry]));
    let world = world([&json]);
    let suspender = world.found(&reference(&json)).unwrap().suspender();
    let time = time("2026-01-02T03:04:05Z");
    assert_eq!(suspender, told.then(|| Suspender { manager: "flux".into(), applied: false, time }));
}

use super::world::time;

/// Up to ten objects, each with what it needs and what is wrong with it.
fn graphs() -> impl Strategy<Value = Vec<(BTreeSet<usize>, u8)>> {
    proptest::collection::vec((proptest::collection::btree_set(0_usize..11, 0..4), 0_u8..5), 1..11)
}

fn objects(graph: &[(BTreeSet<usize>, u8)]) -> Vec<Value> {
    let word = |(index, (needs, state)): (usize, &(BTreeSet<usize>, u8))| {
        let mark = ["", "", "", "!", "?"][usize::from(*state)];
        let needs: Vec<String> = needs.iter().map(|need| format!("k{need}")).collect();
        format!("k{index}{mark}>{}", needs.join(","))
    };
    shape(&graph.iter().enumerate().map(word).collect::<Vec<_>>().join(" "))
}

proptest! {
    #[test]
    fn every_root_is_one_and_what_is_not_settled_has_a_root_or_a_loop(graph in graphs()) {
        let objects = objects(&graph);
        let mut world = world(&objects);
        let cone = grown(ks("k0"), &mut world);
        let judgement = judge(&cone, &world, &Asked::default());
        prop_assert_eq!(judgement.unknown, 0);
        let clean = judgement.states.values().all(|state| state.troubles.is_empty());
        prop_assert_eq!(judgement.is_settled(), clean);
        prop_assert_eq!(judgement.roots.is_empty() && judgement.loops.is_empty(), clean);
        for root in &judgement.roots {
            let state = &judgement.states[&root.at];
            prop_assert!(!state.troubles.is_empty());
            for need in cone.needs_of(&root.at) {
                prop_assert!(judgement.states[&need.target].is_settled(), "{} waits for {}", root.at, need.target);
            }
            let mut at = ks("k0");
            for (index, (from, reason)) in root.way.iter().enumerate() {
                prop_assert_eq!(&at, from);
                let next = root.way.get(index + 1).map_or(&root.at, |(next, _)| next).clone();
                prop_assert!(cone.needs_of(from).iter().any(|need| need.reason == *reason && need.target == next));
                at = next;
            }
            prop_assert_eq!(&at, &root.at);
        }
        for found in &judgement.loops {
            for step in &found.steps {
                prop_assert!(!judgement.states[&step.from].is_settled());
            }
        }
    }

    #[test]
    fn the_order_of_the_answers_does_not_matter(graph in graphs(), order in any::<u64>()) {
        let objects = objects(&graph);
        let mut whole = world(&objects);
        let cone = grown(ks("k0"), &mut whole);
        let expected = judge(&cone, &whole, &Asked::default());
        let (mut seen, mut other, mut state) = (World::new(), Cone::new([ks("k0")], false), order);
        loop {
            let wanted = other.grow(&seen);
            if wanted.is_empty() {
                break;
            }
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let one = &wanted[(state >> 33) as usize % wanted.len()];
            let json = objects.iter().find(|json| reference(json) == *one);
            seen.insert(one, json.map_or(Fetched::Absent, |json| Fetched::Found(json.to_string().into_bytes())));
            other.changed(one, &seen);
        }
        let judgement = judge(&other, &seen, &Asked::default());
        prop_assert_eq!(format!("{judgement:?}"), format!("{expected:?}"));
    }
}
