//! The graph against an oracle that knows nothing but brute force.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

use proptest::prelude::*;
use proptest::sample::subsequence;
use sluicegate_core::graph::{Graph, LoopReport};
use sluicegate_core::need::{Demand, Direction, Need, Reason};
use sluicegate_core::object::{Kind, Reference};
use std::collections::{BTreeMap, BTreeSet};

type Objects = Vec<(Reference, Vec<Need>)>;

/// Numbers are spread over kinds and namespaces, so that their order is not the stable one.
fn reference(number: usize) -> Reference {
    let kind = match number % 4 {
        0 => Kind::ResourceSet,
        1 => Kind::HelmRelease,
        _ => Kind::Kustomization,
    };
    Reference::new(kind, if number.is_multiple_of(3) { "b" } else { "a" }, &format!("n{}", number * 37 % 101))
}

/// The needs that an edge stands for: often one, sometimes several of which one binds, sometimes none that does.
fn needs(flavour: u8, index: usize, target: Reference) -> Vec<Need> {
    let need = |reason, demand| {
        let output = matches!(reason, Reason::HealthCheck(_));
        let direction = if output { Direction::Output } else { Direction::Input };
        Need { target: target.clone(), reason, direction, demand }
    };
    let settled = need(Reason::DependsOn(index), Demand::Settled);
    match flavour {
        0 => vec![need(Reason::DependsOn(index), Demand::Exists)],
        1 => vec![need(Reason::DependsOn(index), Demand::Exists), need(Reason::HealthCheck(0), Demand::Settled)],
        2 => vec![settled.clone(), need(Reason::DependsOn(index + 1), Demand::Settled), settled],
        3 => vec![need(Reason::DependsOn(index), Demand::Expression("true".into()))],
        _ => vec![settled],
    }
}

fn objects(count: usize, edges: &[(usize, usize, u8)], there: impl Fn(usize) -> bool) -> Objects {
    let of = |from: usize| {
        let mine = edges.iter().filter(move |edge| edge.0 % count == from).enumerate();
        mine.flat_map(|(i, &(_, to, flavour))| needs(flavour, i * 2, reference(to % count))).collect()
    };
    (0..count).filter(|&number| there(number)).map(|number| (reference(number), of(number))).collect()
}

/// Any edges at all.
fn wild(largest: usize) -> impl Strategy<Value = Objects> {
    (1..=largest, 0..=3_usize).prop_flat_map(|(count, density)| {
        let edge = (0..count, 0..count, 0..12_u8);
        (prop::collection::vec(edge, 0..=count * density), prop::collection::btree_set(0..count, 0..=count / 6))
            .prop_map(move |(edges, gone)| objects(count, &edges, |number| !gone.contains(&number)))
    })
}

/// A ring with a few shortcuts: long loops, and needs that all of them pass through.
fn ringed(largest: usize) -> impl Strategy<Value = Objects> {
    (2..=largest).prop_flat_map(|count| {
        let around = (1..=count).prop_flat_map(move |ring| {
            let ring = (0..ring).map(|i| (i, (i + 1) % ring, 9_u8)).collect::<Vec<_>>();
            let shortcut = (0..count, 0..=count / 3, 9..10_u8).prop_map(move |(from, by, f)| (from, from + by, f));
            prop::collection::vec(shortcut, 0..6).prop_map(move |more| [ring.clone(), more].concat())
        });
        around.prop_map(move |edges| objects(count, &edges, |_| true))
    })
}

/// A ring of strands that split and meet: detours as long as what they go around, over any part of the ring.
fn braided(largest: usize) -> impl Strategy<Value = Objects> {
    let layers = (largest / 3).max(1);
    let second = (0..layers, 0..=layers);
    let crossings = prop::collection::vec((0..layers, 0..9_usize), 0..8);
    (1..=layers, second, crossings).prop_map(move |(layers, (start, length), crossings)| {
        let edge = |layer: usize, from: usize, to: usize| {
            (layer % layers + from * layers, (layer + 1) % layers + to * layers, 9_u8)
        };
        let first = (0..layers).map(|layer| edge(layer, 0, 0));
        let second = (start..start + length).map(|layer| edge(layer, 1, 1));
        let crossings = crossings.into_iter().map(|(layer, which)| edge(layer, which % 3, which / 3));
        objects(layers * 3, &first.chain(second).chain(crossings).collect::<Vec<_>>(), |_| true)
    })
}

fn any_graph(largest: usize) -> impl Strategy<Value = Objects> {
    prop_oneof![wild(largest), ringed(largest), braided(largest)]
}

fn shuffled(objects: impl Strategy<Value = Objects>) -> impl Strategy<Value = (Objects, Objects)> {
    objects.prop_flat_map(|objects| {
        let needs: Vec<_> = objects.iter().map(|(_, needs)| Just(needs.clone()).prop_shuffle()).collect();
        let other = (Just(objects.clone()), needs).prop_map(|(objects, needs)| {
            objects.into_iter().zip(needs).map(|((from, _), needs)| (from, needs)).collect()
        });
        (Just(objects), Strategy::prop_shuffle(other))
    })
}

/// Who needs whom bindingly.
type Edges = BTreeSet<(Reference, Reference)>;

fn edges(objects: &Objects) -> Edges {
    let all = objects.iter().flat_map(|(from, needs)| needs.iter().map(move |need| (from, need)));
    all.filter(|(_, need)| need.binds()).map(|(from, need)| (from.clone(), need.target.clone())).collect()
}

/// What kustomize-controller sorts by, whatever an entry asks for.
fn dependencies(objects: &Objects) -> Edges {
    let kustomizations = objects.iter().filter(|(from, _)| from.kind == Kind::Kustomization);
    let all = kustomizations.flat_map(|(from, needs)| needs.iter().map(move |need| (from, need)));
    let depends = all.filter(|(_, need)| matches!(need.reason, Reason::DependsOn(_)));
    depends.map(|(from, need)| (from.clone(), need.target.clone())).collect()
}

/// The steps from each to each, at least one, by Floyd and Warshall.
struct Distances {
    nodes: Vec<Reference>,
    steps: Vec<Vec<Option<usize>>>,
}

impl Distances {
    fn new(edges: &Edges) -> Self {
        let nodes: BTreeSet<_> = edges.iter().flat_map(|(from, to)| [from, to]).cloned().collect();
        let nodes: Vec<_> = nodes.into_iter().collect();
        let mut steps = vec![vec![None; nodes.len()]; nodes.len()];
        for (from, to) in edges {
            let at = |node| nodes.binary_search(node).unwrap();
            steps[at(from)][at(to)] = Some(1);
        }
        for via in 0..nodes.len() {
            for from in 0..nodes.len() {
                for to in 0..nodes.len() {
                    let Some(detour) = steps[from][via].zip(steps[via][to]).map(|(a, b)| a + b) else { continue };
                    steps[from][to] = Some(steps[from][to].map_or(detour, |direct: usize| direct.min(detour)));
                }
            }
        }
        Self { nodes, steps }
    }

    fn get(&self, from: &Reference, to: &Reference) -> Option<usize> {
        let at = |node| self.nodes.binary_search(node).ok();
        self.steps[at(from)?][at(to)?]
    }

    /// Every set of nodes that reach each other, in the order of their first nodes.
    fn components(&self) -> Vec<Vec<Reference>> {
        let with = |node: &Reference| -> Vec<Reference> {
            let both = |other: &&Reference| self.get(node, other).is_some() && self.get(other, node).is_some();
            self.nodes.iter().filter(both).cloned().collect()
        };
        let sets: BTreeSet<_> = self.nodes.iter().map(with).filter(|set| !set.is_empty()).collect();
        sets.into_iter().collect()
    }

    fn acyclic(&self) -> bool {
        self.nodes.iter().all(|node| self.get(node, node).is_none())
    }
}

fn among(edges: &Edges, members: &[Reference]) -> Edges {
    edges.iter().filter(|(from, to)| members.contains(from) && members.contains(to)).cloned().collect()
}

/// All closed paths without repetitions of one length, each from its first member on.
fn all_loops(edges: &Edges, members: &[Reference], length: usize) -> BTreeSet<Vec<Reference>> {
    let mut found = BTreeSet::new();
    let mut paths: Vec<Vec<Reference>> = members.iter().map(|start| vec![start.clone()]).collect();
    while let Some(path) = paths.pop() {
        let last = path.last().unwrap();
        if path.len() == length && edges.contains(&(last.clone(), path[0].clone())) {
            found.insert(path.clone());
        }
        if path.len() < length {
            let further = members.iter().filter(|next| **next > path[0] && !path.contains(next));
            let further = further.filter(|next| edges.contains(&(last.clone(), (*next).clone())));
            paths.extend(further.map(|next| [path.clone(), vec![next.clone()]].concat()));
        }
    }
    found
}

/// The same, for graphs too large for that: step by step to the first node from which there is a way back in time.
fn first_shortest(edges: &Edges, distances: &Distances, members: &[Reference]) -> Vec<Reference> {
    let around = |node: &Reference| distances.get(node, node);
    let length = members.iter().filter_map(around).min().unwrap();
    let start = members.iter().find(|node| around(node) == Some(length)).unwrap();
    let mut path = vec![start.clone()];
    while path.len() < length {
        let last = path.last().unwrap();
        let left = length - path.len();
        let next = members
            .iter()
            .find(|node| edges.contains(&(last.clone(), (*node).clone())) && distances.get(node, start) == Some(left));
        path.push(next.unwrap().clone());
    }
    path
}

fn path(report: &LoopReport) -> Vec<Reference> {
    report.shortest.members().cloned().collect()
}

fn build(objects: &Objects) -> Graph {
    objects.iter().cloned().collect()
}

/// Removing the edge leaves no loop among the members.
fn breaks(edges: &Edges, edge: &(Reference, Reference)) -> bool {
    let mut edges = edges.clone();
    edges.remove(edge);
    Distances::new(&edges).acyclic()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn every_loop_is_reported_once_with_the_shortest_and_who_waits(objects in any_graph(60)) {
        let graph = build(&objects);
        let all = edges(&objects);
        let distances = Distances::new(&all);
        let loops = graph.loops();
        let members: Vec<_> = loops.iter().map(|report| report.members.clone()).collect();
        prop_assert_eq!(members, distances.components());
        for report in &loops {
            prop_assert!(report.proven);
            prop_assert_eq!(path(report), first_shortest(&all, &distances, &report.members));
            for (step, next) in report.shortest.steps.iter().zip(report.shortest.steps.iter().cycle().skip(1)) {
                prop_assert_eq!(&step.need.target, &next.from);
                prop_assert!(report.members.contains(&step.from));
                let first = graph.needs_between(&step.from, &step.need.target).iter().find(|need| need.binds());
                prop_assert_eq!(first, Some(&step.need));
            }
            let leads_in = |node: &&Reference| {
                !report.members.contains(node) && distances.get(node, &report.members[0]).is_some()
            };
            let behind: Vec<_> = distances.nodes.iter().filter(leads_in).collect();
            prop_assert_eq!(graph.behind(&report.members), behind);
        }
    }

    #[test]
    fn no_shorter_loop_exists_and_none_of_this_length_comes_before(objects in any_graph(8)) {
        let all = edges(&objects);
        for report in build(&objects).loops() {
            let path = path(&report);
            for length in 1..path.len() {
                prop_assert_eq!(all_loops(&all, &report.members, length), BTreeSet::new());
            }
            prop_assert_eq!(all_loops(&all, &report.members, path.len()).into_iter().next(), Some(path));
        }
    }

    #[test]
    fn the_cut_leaves_no_loop_and_none_is_overlooked(
        objects in any_graph(24),
        chosen in subsequence((0..24_usize).collect::<Vec<_>>(), 0..=12),
    ) {
        let all = edges(&objects);
        let chosen: BTreeSet<_> = chosen.into_iter().map(reference).collect();
        let added = |from: &Reference, _: &Reference| chosen.contains(from);
        for report in build(&objects).loops_after(added) {
            let inside = among(&all, &report.members);
            let cuts: Vec<_> = inside.iter().filter(|edge| breaks(&inside, edge)).collect();
            let expected = cuts.iter().find(|(from, to)| added(from, to)).or(cuts.first());
            let cut = report.cut.as_ref().map(|cut| (cut.from.clone(), cut.target.clone()));
            prop_assert_eq!(cut.as_ref(), expected.copied());
            if let Some(cut) = report.cut {
                prop_assert_eq!(cut.added, added(&cut.from, &cut.target));
                let (_, needs) = objects.iter().find(|(from, _)| *from == cut.from).unwrap();
                let named: BTreeSet<_> = needs.iter().filter(|need| need.target == cut.target && need.binds()).collect();
                prop_assert_eq!(cut.needs.iter().collect::<Vec<_>>(), named.into_iter().collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn the_order_of_input_does_not_matter((objects, other) in shuffled(any_graph(60))) {
        let (graph, other) = (build(&objects), build(&other));
        prop_assert_eq!(graph.loops(), other.loops());
        same(&graph, &other)?;
    }

    #[test]
    fn changes_one_by_one_equal_a_new_graph(
        before in wild(20),
        after in wild(20),
        removed in subsequence((0..20_usize).collect::<Vec<_>>(), 0..=20),
    ) {
        let mut graph = build(&before);
        let mut now: BTreeMap<_, _> = before.into_iter().collect();
        let mut removed = removed.into_iter().map(reference);
        for (object, needs) in after {
            if let Some(gone) = removed.next() {
                prop_assert_eq!(graph.remove(&gone), now.remove(&gone).is_some());
            }
            let normal = |needs: &Vec<Need>| needs.iter().cloned().collect::<BTreeSet<_>>();
            let differs = now.get(&object).map(normal) != Some(normal(&needs));
            prop_assert_eq!(graph.replace(&object, needs.clone()), differs);
            now.insert(object, needs);
            let anew: Graph = now.clone().into_iter().collect();
            same(&graph, &anew)?;
        }
        for object in now.into_keys() {
            graph.remove(&object);
        }
        same(&graph, &Graph::new())?;
    }

    #[test]
    fn a_source_is_silent_only_for_a_loop_of_dependencies_within_it(
        objects in any_graph(24),
        sources in prop::collection::vec(0..3_usize, 101),
    ) {
        let source = |object: &Reference| {
            let number: usize = object.name[1..].parse().unwrap();
            Reference::new(Kind::GitRepository, "a", ["x", "y", "z"][sources[number]])
        };
        let with_source = |(object, mut needs): (Reference, Vec<Need>)| {
            let (reason, direction, demand) = (Reason::SourceRef, Direction::Input, Demand::Settled);
            needs.push(Need { target: source(&object), reason, direction, demand });
            (object, needs)
        };
        let objects: Objects = objects.into_iter().map(with_source).collect();
        let kustomizations = || objects.iter().filter(|(from, _)| from.kind == Kind::Kustomization);
        let graph = build(&objects);
        for report in graph.loops() {
            let mut expected = Vec::new();
            for name in ["x", "y", "z"] {
                let of = Reference::new(Kind::GitRepository, "a", name);
                let readers: BTreeSet<_> =
                    kustomizations().filter(|(object, _)| source(object) == of).map(|(object, _)| object.clone()).collect();
                let members: Vec<_> = readers.iter().filter(|object| report.members.contains(object)).cloned().collect();
                let bystanders: Vec<_> = readers.into_iter().filter(|object| !members.contains(object)).collect();
                let inside = among(&dependencies(&objects), &members);
                if !Distances::new(&inside).acyclic() && !bystanders.is_empty() {
                    expected.push((of, bystanders));
                }
            }
            let silenced = graph.silenced_by(&report.members).into_iter().map(|silenced| {
                (silenced.source.clone(), silenced.bystanders.into_iter().cloned().collect::<Vec<_>>())
            });
            prop_assert_eq!(silenced.collect::<Vec<_>>(), expected);
        }
    }
}

/// Everything that can be asked of a graph.
fn same(one: &Graph, other: &Graph) -> Result<(), TestCaseError> {
    prop_assert_eq!(one.len(), other.len());
    prop_assert_eq!(one.objects().collect::<Vec<_>>(), other.objects().collect::<Vec<_>>());
    prop_assert_eq!(one.absent().collect::<Vec<_>>(), other.absent().collect::<Vec<_>>());
    for object in one.objects().chain(one.absent()) {
        prop_assert_eq!(one.needs(object), other.needs(object));
        prop_assert_eq!(one.dependants(object), other.dependants(object));
        prop_assert_eq!(one.behind([object]), other.behind([object]));
        prop_assert_eq!(one.contains(object), other.contains(object));
    }
    prop_assert_eq!(one.loops(), other.loops());
    Ok(())
}
