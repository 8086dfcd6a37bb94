use super::dense::{Dense, Node};
use super::*;
use crate::need::{Demand, Direction, Need, Reason};
use crate::object::{Kind, Reference};
use rstest::rstest;

/// `ks ns/a`, `hr ns/b`, `gr …`, `hch …`
fn object(text: &str) -> Reference {
    let (kind, path) = text.split_once(' ').unwrap();
    let kind = match kind {
        "ks" => Kind::Kustomization,
        "hr" => Kind::HelmRelease,
        "hch" => Kind::HelmChart,
        "gr" => Kind::GitRepository,
        "rs" => Kind::ResourceSet,
        other => panic!("{other}"),
    };
    let (namespace, name) = path.split_once('/').unwrap();
    Reference::new(kind, namespace, name)
}

fn need(reason: Reason, target: &str) -> Need {
    let output = matches!(reason, Reason::Wait | Reason::HealthCheck(_) | Reason::WaitStrategy);
    let direction = if output { Direction::Output } else { Direction::Input };
    Need { target: object(target), reason, direction, demand: Demand::Settled }
}

fn on(index: usize, target: &str) -> Need {
    need(Reason::DependsOn(index), target)
}

fn graph<const N: usize>(objects: [(&str, Vec<Need>); N]) -> Graph {
    objects.into_iter().map(|(from, needs)| (object(from), needs)).collect()
}

fn texts<'a>(objects: impl IntoIterator<Item = &'a Reference>) -> Vec<String> {
    objects.into_iter().map(ToString::to_string).collect()
}

fn steps(found: &Loop) -> Vec<String> {
    found.steps.iter().map(|step| format!("{} -> {} ({})", step.from, step.need.target, step.need.reason)).collect()
}

fn fields(cut: &Cut) -> String {
    let fields: Vec<_> = cut.needs.iter().map(|need| need.reason.to_string()).collect();
    format!("{} -> {} ({})", cut.from, cut.target, fields.join(", "))
}

/// <https://github.com/fluxcd/kustomize-controller/issues/1712>
#[test]
fn case_1_a_loop_silences_its_source_for_bystanders() {
    let source = || need(Reason::SourceRef, "gr flux-system/repo");
    let graph = graph([
        ("gr flux-system/repo", vec![]),
        ("ks flux-system/two", vec![source(), on(0, "ks flux-system/one")]),
        ("ks flux-system/one", vec![source(), on(0, "ks flux-system/two")]),
        ("ks flux-system/bystander", vec![source()]),
        ("ks flux-system/elsewhere", vec![need(Reason::SourceRef, "gr flux-system/other")]),
    ]);
    let loops = graph.loops();
    assert_eq!(loops.len(), 1);
    assert_eq!(
        steps(&loops[0].shortest),
        [
            "Kustomization/flux-system/one -> Kustomization/flux-system/two (spec.dependsOn[0])",
            "Kustomization/flux-system/two -> Kustomization/flux-system/one (spec.dependsOn[0])",
        ]
    );
    let silenced = graph.silenced_by(&loops[0].members);
    assert_eq!(silenced.len(), 1);
    assert_eq!(*silenced[0].source, object("gr flux-system/repo"));
    assert_eq!(texts(silenced[0].bystanders.iter().copied()), ["Kustomization/flux-system/bystander"]);
    assert_eq!(graph.behind(&loops[0].members), Vec::<&Reference>::new());
}

/// What kustomize-controller cannot see as a loop when it sorts, it does not stumble over.
#[rstest]
#[case::one_source("gr n/r", "gr n/r", on(0, "ks n/b"), true)]
#[case::two_sources("gr n/r", "gr n/s", on(0, "ks n/b"), false)]
#[case::through_a_health_check("gr n/r", "gr n/r", need(Reason::HealthCheck(0), "ks n/b"), false)]
fn only_a_loop_within_one_source_silences(
    #[case] source_of_a: &str,
    #[case] source_of_b: &str,
    #[case] from_a_to_b: Need,
    #[case] silences: bool,
) {
    let graph = graph([
        ("ks n/a", vec![need(Reason::SourceRef, source_of_a), from_a_to_b]),
        ("ks n/b", vec![need(Reason::SourceRef, source_of_b), on(0, "ks n/a")]),
        ("ks n/c", vec![need(Reason::SourceRef, "gr n/r")]),
    ]);
    let loops = graph.loops();
    assert_eq!(texts(&loops[0].members), ["Kustomization/n/a", "Kustomization/n/b"]);
    assert_eq!(!graph.silenced_by(&loops[0].members).is_empty(), silences);
}

#[test]
fn a_loop_without_bystanders_has_nothing_to_say_about_its_source() {
    let graph = graph([
        ("ks n/a", vec![need(Reason::SourceRef, "gr n/r"), on(0, "ks n/a")]),
        ("hr n/c", vec![need(Reason::ChartSource, "gr n/r")]),
    ]);
    assert_eq!(graph.silenced_by(&graph.loops()[0].members), []);
}

/// <https://gitlab.com/sylva-projects/sylva-core/-/merge_requests/9460>
#[test]
fn case_3_what_leads_into_a_loop_is_no_member() {
    let graph = graph([
        ("ks n/rbac", vec![on(0, "ks n/scc")]),
        ("ks n/scc", vec![on(0, "ks n/init")]),
        ("ks n/init", vec![on(0, "ks n/scc")]),
    ]);
    let loops = graph.loops();
    assert_eq!(loops.len(), 1);
    assert_eq!(texts(&loops[0].members), ["Kustomization/n/init", "Kustomization/n/scc"]);
    assert_eq!(texts(loops[0].shortest.members()), ["Kustomization/n/init", "Kustomization/n/scc"]);
    assert_eq!(texts(graph.behind(&loops[0].members)), ["Kustomization/n/rbac"]);
    assert_eq!(
        loops[0].cut.as_ref().map(fields).as_deref(),
        Some("Kustomization/n/init -> Kustomization/n/scc (spec.dependsOn[0])")
    );
}

/// <https://gitlab.com/sylva-projects/sylva-elements/sylvactl/-/issues/30>
#[rstest]
#[case("ks ns/a", &["Kustomization/ns/a -> Kustomization/ns/a (spec.dependsOn[0])"])]
#[case("ks other/a", &[])]
fn case_5_an_object_that_needs_itself(#[case] target: &str, #[case] expected: &[&str]) {
    let graph = graph([("ks ns/a", vec![on(0, target)])]);
    let loops = graph.loops();
    assert_eq!(loops.iter().flat_map(|report| steps(&report.shortest)).collect::<Vec<_>>(), expected);
    assert_eq!(loops.iter().filter_map(|report| report.cut.as_ref()).map(fields).collect::<Vec<_>>(), expected);
    assert_eq!(graph.absent().count(), usize::from(expected.is_empty()));
}

/// <https://github.com/kubernetes-sigs/cli-utils/pull/512>
#[test]
fn case_7_the_same_dependency_twice_is_one_loop_with_two_fields_to_change() {
    let differs = Need { demand: Demand::Expression("dep.spec.suspend".into()), ..on(1, "ks ns/b") };
    for second in [on(1, "ks ns/b"), differs] {
        let graph = graph([("ks ns/a", vec![second, on(0, "ks ns/b")]), ("ks ns/b", vec![on(0, "ks ns/a")])]);
        let loops = graph.loops();
        assert_eq!(loops.len(), 1);
        assert_eq!(
            steps(&loops[0].shortest),
            [
                "Kustomization/ns/a -> Kustomization/ns/b (spec.dependsOn[0])",
                "Kustomization/ns/b -> Kustomization/ns/a (spec.dependsOn[0])",
            ]
        );
        assert_eq!(
            loops[0].cut.as_ref().map(fields).as_deref(),
            Some("Kustomization/ns/a -> Kustomization/ns/b (spec.dependsOn[0], spec.dependsOn[1])")
        );
    }
}

/// <https://gitlab.com/sylva-projects/sylva-core/-/issues/4042>
#[test]
fn case_17_being_applied_by_something_is_no_need() {
    let graph = graph([
        ("ks s/root-5", vec![need(Reason::HealthCheck(0), "hr s/units-job")]),
        ("hr s/units-job", vec![need(Reason::ChartRef, "hch s/units-job")]),
        ("hch s/units-job", vec![need(Reason::SourceRef, "gr s/repo")]),
        ("gr s/repo", vec![]),
        ("ks s/tools", vec![on(0, "ks s/root-5")]),
    ]);
    assert_eq!(graph.loops(), []);
    let job = object("hr s/units-job");
    assert_eq!(texts(graph.behind([&job])), ["Kustomization/s/root-5", "Kustomization/s/tools"]);
    assert_eq!(texts(graph.dependants(&job)), ["Kustomization/s/root-5"]);
}

/// <https://github.com/onedr0p/home-ops/pull/11544>
#[test]
fn case_19_all_that_waits_behind_one_failing_leaf() {
    let mut graph = Graph::new();
    let children = (0..30).map(|i| need(Reason::Wait, &format!("hr ns/child-{i}"))).collect();
    graph.replace(&object("ks ns/storage"), children);
    for i in 0..12 {
        graph.replace(&object(&format!("ks ns/app-{i:02}")), vec![on(0, "ks ns/storage")]);
    }
    let behind = graph.behind([&object("hr ns/child-7")]);
    assert_eq!(behind.len(), 13);
    assert_eq!(texts(behind[11..].iter().copied()), ["Kustomization/ns/app-11", "Kustomization/ns/storage"]);
    assert_eq!(graph.behind([&object("ks ns/storage")]).len(), 12);
}

#[rstest]
#[case::existence_alone(&[Demand::Exists], 0)]
#[case::an_expression(&[Demand::Expression("true".into())], 1)]
#[case::existence_and_more(&[Demand::Exists, Demand::Settled], 1)]
fn a_need_of_mere_existence_closes_no_loop(#[case] demands: &[Demand], #[case] loops: usize) {
    let needs = demands.iter().enumerate().map(|(i, demand)| Need { demand: demand.clone(), ..on(i, "ks n/a") });
    let graph = graph([("rs n/set", needs.collect()), ("ks n/a", vec![on(0, "rs n/set")])]);
    assert_eq!(graph.loops().len(), loops);
    assert_eq!(graph.behind([&object("ks n/a")]).len(), loops);
    assert_eq!(texts(graph.dependants(&object("ks n/a"))), ["ResourceSet/n/set"]);
    for report in graph.loops() {
        assert!(report.shortest.steps.iter().all(|step| step.need.binds()));
        assert!(report.cut.unwrap().needs.iter().all(Need::binds));
    }
}

/// `a → b → c → d → a`, and what else there is.
#[rstest]
#[case::nothing_else(&[], &[], Some(("a", "b")))]
#[case::the_added_one(&[], &[("c", "d")], Some(("c", "d")))]
#[case::the_first_of_those_added(&[], &[("d", "a"), ("c", "d")], Some(("c", "d")))]
#[case::an_added_one_that_does_not_help(&[("a", "c")], &[("a", "b")], Some(("c", "d")))]
#[case::a_chord_back(&[("c", "b")], &[], Some(("b", "c")))]
#[case::a_chord_back_over_the_first(&[("b", "d")], &[], Some(("a", "b")))]
#[case::two_loops_that_share_only_an_object(&[("a", "e"), ("e", "a")], &[], None)]
#[case::a_loop_of_one_beside_it(&[("c", "c")], &[], None)]
#[case::a_long_detour(&[("b", "e"), ("e", "f"), ("f", "a")], &[], Some(("a", "b")))]
#[case::back_and_forth(&[("b", "a"), ("d", "c")], &[], None)]
fn the_single_need_to_remove(
    #[case] more: &[(&str, &str)],
    #[case] added: &[(&str, &str)],
    #[case] expected: Option<(&str, &str)>,
) {
    let mut edges = vec![("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")];
    edges.extend(more);
    let node = |name: &str| object(&format!("ks n/{name}"));
    let mut graph = Graph::new();
    for name in ["a", "b", "c", "d", "e", "f"] {
        let targets = edges.iter().filter(|(from, _)| *from == name).enumerate();
        graph.replace(&node(name), targets.map(|(i, (_, to))| on(i, &format!("ks n/{to}"))).collect());
    }
    let is_added = |from: &Reference, to: &Reference| added.iter().any(|(a, b)| node(a) == *from && node(b) == *to);
    let loops = graph.loops_after(is_added);
    assert_eq!(loops.len(), 1);
    let cut = loops[0].cut.as_ref();
    assert_eq!(cut.map(|cut| (&*cut.from.name, &*cut.target.name)), expected);
    assert_eq!(cut.is_some_and(|cut| cut.added), expected.is_some_and(|edge| added.contains(&edge)));
}

#[test]
fn a_search_cut_short_still_gives_a_loop_and_says_so() {
    // The first search starts at `f`, which more objects need than `d`; the loop of two is only found by the second.
    let graph = graph([
        ("ks n/a", vec![on(0, "ks n/b"), on(1, "ks n/x"), on(2, "ks n/y"), on(3, "ks n/z")]),
        ("ks n/b", vec![on(0, "ks n/c")]),
        ("ks n/c", vec![on(0, "ks n/d")]),
        ("ks n/d", vec![on(0, "ks n/e"), on(1, "ks n/c")]),
        ("ks n/e", vec![on(0, "ks n/f")]),
        ("ks n/f", vec![on(0, "ks n/a")]),
        ("ks n/x", vec![on(0, "ks n/e")]),
        ("ks n/y", vec![on(0, "ks n/f")]),
        ("ks n/z", vec![on(0, "ks n/f")]),
    ]);
    let proven = &graph.loops_within(1_000, |_, _| false)[0];
    assert!(proven.proven);
    assert_eq!(texts(proven.shortest.members()), ["Kustomization/n/c", "Kustomization/n/d"]);
    let cut_short = &graph.loops_within(0, |_, _| false)[0];
    assert!(!cut_short.proven);
    let members = ["Kustomization/n/a", "Kustomization/n/y", "Kustomization/n/f"];
    assert_eq!(texts(cut_short.shortest.members()), members);
    assert_eq!((&cut_short.members, &cut_short.cut), (&proven.members, &None));
}

/// The search from node 2 ends with the loop 1, 5, 2; 1 also lies on one with 0, which is as short and comes first.
#[test]
fn a_loop_starts_with_its_first_member_even_if_the_search_was_cut_short() {
    let edges = [(0, 6), (1, 0), (1, 5), (2, 1), (2, 3), (2, 4), (3, 5), (4, 7), (5, 2), (6, 1), (7, 2)];
    let edges = edges.map(|(from, to)| (Node::new(from), Node::new(to)));
    let found = shortest::shortest(&Dense::new(8, &edges), 0).unwrap();
    assert!(!found.proven);
    assert_eq!(found.nodes, [0, 6, 1].map(Node::new));
}

fn numbered(number: usize) -> Reference {
    Reference::new(Kind::Kustomization, "ns", &format!("n{number:06}"))
}

fn line(count: usize) -> Graph {
    let needs = |i: usize| Need { target: numbered(i + 1), ..on(0, "ks ns/next") };
    (0..count - 1).map(|i| (numbered(i), vec![needs(i)])).chain([(numbered(count - 1), vec![])]).collect()
}

#[rstest]
#[case(10_000)]
#[case(100_000)]
fn a_long_chain_and_a_long_ring(#[case] count: usize) {
    let mut graph = line(count);
    assert_eq!(graph.loops(), []);
    assert_eq!(graph.behind([&numbered(count - 1)]).len(), count - 1);
    graph.replace(&numbered(count - 1), vec![Need { target: numbered(0), ..on(0, "ks ns/next") }]);
    let added = |from: &Reference, _: &Reference| *from == numbered(count - 1);
    let loops = graph.loops_after(added);
    assert_eq!(loops.len(), 1);
    assert_eq!(loops[0].members.len(), count);
    assert!(loops[0].shortest.members().eq(&loops[0].members));
    assert!(loops[0].proven);
    assert_eq!(loops[0].cut.as_ref().map(|cut| &cut.from), Some(&numbered(count - 1)));
}

#[test]
fn objects_come_and_go() {
    let mut graph = Graph::new();
    assert!(graph.is_empty());
    assert!(graph.replace(&object("ks n/a"), vec![on(0, "ks n/b")]));
    assert!(!graph.replace(&object("ks n/a"), vec![on(0, "ks n/b")]));
    assert!(graph.replace(&object("ks n/a"), vec![on(1, "ks n/b")]), "another field");
    assert_eq!((graph.len(), texts(graph.absent())), (1, vec!["Kustomization/n/b".to_owned()]));
    assert!(!graph.contains(&object("ks n/b")));
    assert!(!graph.remove(&object("ks n/b")), "needed, but never there");
    assert!(graph.replace(&object("ks n/b"), vec![on(0, "ks n/a")]));
    assert_eq!((graph.len(), graph.absent().count(), graph.loops().len()), (2, 0, 1));
    assert!(graph.remove(&object("ks n/a")));
    assert!(!graph.remove(&object("ks n/a")));
    assert_eq!((graph.len(), texts(graph.absent())), (1, vec!["Kustomization/n/a".to_owned()]));
    assert_eq!(graph.loops(), []);
    assert!(graph.remove(&object("ks n/b")));
    assert_eq!((graph.len(), graph.absent().count(), graph.objects().count()), (0, 0, 0));
    assert!(graph.replace(&object("ks n/c"), vec![on(0, "ks n/c")]), "a used place is used again");
    assert_eq!((texts(graph.objects()), graph.loops().len()), (vec!["Kustomization/n/c".to_owned()], 1));
    assert!(graph.remove(&object("ks n/c")));
    assert_eq!(graph.absent().count(), 0);
}
