//! The gate against an oracle that knows nothing but the edges: whatever the cluster looks like, a refused change lies
//! on a loop that it makes, and an admitted one makes none.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "helpers of tests")]

#[path = "../support/mod.rs"]
mod support;

mod model;
mod quiet;

use model::{Case, Edges, called, case, distances, kind, own, shortest_through};
use proptest::prelude::*;
use proptest::test_runner::Config;
use sluicegate_core::gate::{Fetched, Operation};
use sluicegate_core::object::Kind;
use std::collections::BTreeSet;
use support::{AUDIT, By, FLUX, Judged, PERSON, World, reference};

fn judge(case: &Case, world: &World, by: By) -> Judged {
    let (old, new) = case.manifests();
    let operation = if case.is_create() { Operation::Create } else { Operation::Update };
    world.judge(by, operation, old.as_ref(), &new)
}

fn is_cycle(judged: &Judged) -> bool {
    let message = judged.verdict.refusal.as_deref().unwrap_or_default();
    message.starts_with("dependency cycle: ") || message.starts_with("self-dependency: ")
}

/// The objects of the loop in a refusal, from the object under review back to it.
fn path(case: &Case, judged: &Judged) -> Vec<String> {
    let steps = judged.steps();
    let names = steps.iter().map(|step| step.split(' ').next().unwrap().to_owned());
    std::iter::once(case.start()).chain(names).collect()
}

fn config(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn a_change_is_refused_if_it_makes_a_loop_and_only_then(case in case(16)) {
        let judged = judge(&case, &case.world(), PERSON);
        let (edges, added) = (case.edges(Some(&case.new)), case.added());
        let shortest = shortest_through(&edges, &added);
        prop_assert_eq!(is_cycle(&judged), shortest.is_some(), "{}", judged.said());
        prop_assert!(judged.verdict.is_admitted() || is_cycle(&judged), "{}", judged.said());
        if is_cycle(&judged) {
            let path = path(&case, &judged);
            // Members only, each once, and back to where it began.
            prop_assert_eq!(path.first(), path.last());
            let members: BTreeSet<_> = path.iter().skip(1).collect();
            prop_assert_eq!(members.len(), path.len() - 1);
            // Along edges of the graph, of which one is new, and no longer than it must be.
            let steps: Vec<_> = path.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
            prop_assert!(steps.iter().all(|step| edges.contains(step)), "{:?} in {:?}", steps, edges);
            prop_assert!(steps.iter().any(|step| added.contains(step)));
            let own = added.iter().filter(|(from, _)| *from == case.start());
            let first = shortest_through(&edges, own);
            prop_assert_eq!(steps.len(), first.or(shortest).unwrap());
        }
    }

    #[test]
    fn the_audit_fails_what_lies_on_a_loop(case in case(16)) {
        let Some(old) = &case.old else { return Ok(()) };
        let judged = case.world().create(AUDIT, &case.manifests().0.unwrap());
        let edges = case.edges(Some(old));
        let on_a_loop = edges.iter().filter(|(from, _)| *from == case.start());
        prop_assert_eq!(is_cycle(&judged), shortest_through(&edges, on_a_loop).is_some(), "{}", judged.said());
    }

    #[test]
    fn an_applier_is_warned_only_where_every_loop_may_be_undone(case in case(12), dry_run in any::<bool>()) {
        let judged = judge(&case, &case.world(), By { dry_run, ..FLUX });
        let (edges, added) = (case.edges(Some(&case.new)), case.added());
        let cyclic = shortest_through(&edges, &added).is_some();
        let final_edges: Edges = edges.into_iter().filter(|(from, _)| !may_change(&case, from, dry_run)).collect();
        let last = shortest_through(&final_edges, added.iter().filter(|edge| final_edges.contains(edge)));
        prop_assert_eq!(is_cycle(&judged), last.is_some(), "{}", judged.said());
        let warned = judged.verdict.warnings.iter().any(|text| text.starts_with("dependency cycle: "));
        prop_assert_eq!(warned, cyclic && last.is_none(), "{}", judged.said());
    }

    #[test]
    fn nothing_depends_on_the_order_of_anything(case in case(16), seed in any::<u64>()) {
        let mut other = case.clone();
        for (index, spec) in &mut other.specs {
            // Kinds with one source take the last entry that names one.
            if !matches!(kind(*index), Kind::ExternalArtifact | Kind::HelmChart) && !spec.entries.is_empty() {
                let by = usize::try_from(seed % 7).unwrap() % spec.entries.len();
                spec.entries.rotate_left(by);
                if seed.is_multiple_of(2) {
                    spec.entries.reverse();
                }
            }
        }
        let (a, b) = (judge(&case, &case.world(), PERSON), judge(&other, &other.world(), PERSON));
        prop_assert_eq!(&a.reads, &b.reads);
        prop_assert_eq!(&a.verdict.audit, &b.verdict.audit);
        prop_assert_eq!(a.said(), b.said());
    }

    #[test]
    fn every_walk_ends_within_its_budget(
        case in case(30),
        max_reads in 0..12_usize,
        broken in prop::collection::vec((0..30_usize, 0..4_u8), 0..4),
        by in prop::sample::select(vec![PERSON, FLUX, AUDIT]),
    ) {
        let mut world = case.world();
        world.settings.max_reads = max_reads;
        for (index, how) in broken {
            let failure = match how {
                0 => Fetched::Forbidden,
                1 => Fetched::OutOfTime,
                2 => Fetched::Failed("x".into()),
                _ => Fetched::Found(b"{\"spec\":3}".to_vec()),
            };
            let index = *case.specs.keys().cycle().nth(index).unwrap();
            world.failing.insert(reference(&own(index)), failure);
        }
        let judged = judge(&case, &world, by);
        prop_assert!(judged.reads.len() <= max_reads);
        let cyclic = shortest_through(&case.edges(Some(&case.new)), &case.added()).is_some();
        let not_judged = judged.verdict.warnings.iter().any(|text| text.contains("not judged: "));
        if is_cycle(&judged) {
            prop_assert!(cyclic, "{}", judged.said());
        } else if judged.verdict.is_admitted() && !not_judged {
            let undo = judged.verdict.warnings.iter().any(|text| text.starts_with("dependency cycle: "));
            prop_assert_eq!(undo, cyclic, "{}", judged.said());
        }
    }

    /// The reads are the objects that the new needs lead to, all of them and no other.
    #[test]
    fn the_reads_are_the_cone(case in case(16)) {
        let judged = judge(&case, &case.world(), PERSON);
        let (edges, added) = (case.edges(Some(&case.new)), case.added());
        let new_owner = case.new.owner.filter(|owner| {
            *owner != case.root && case.old.as_ref().is_none_or(|old| old.owner != Some(*owner))
        });
        // An old need is followed only where a new owner may wait for it.
        let mine = [case.start(), called(case.root)];
        let old = edges.iter().filter(|edge| new_owner.is_some() && mine.contains(&edge.0));
        let starts = added.iter().chain(old).map(|(_, to)| to);
        let onward: Edges = edges.iter().filter(|(from, _)| !mine.contains(from)).cloned().collect();
        let starts: BTreeSet<&String> = starts.collect();
        let names = case.specs.keys().copied().map(called).chain(edges.iter().map(|(_, to)| to.clone()));
        let reached = names.filter(|name| {
            let from = distances(&onward, name);
            !mine.contains(name) && starts.iter().any(|start| from.contains_key(*start))
        });
        let plain = |name: String| name.trim_end_matches(" itself").to_owned();
        let cone: BTreeSet<String> = reached.map(plain).collect();
        let mut may: BTreeSet<String> = cone.clone();
        may.extend(case.exists_only().into_iter().map(plain));
        may.extend(new_owner.map(called));
        match kind(case.root) {
            // Who waits for what a source lists, and what a Package waits for, stand in the other one.
            Kind::PackageSource => drop(may.insert(format!("Package/{}", reference(&own(case.root)).name))),
            Kind::Package => drop(may.insert(format!("PackageSource/{}", reference(&own(case.root)).name))),
            _ => {}
        }
        let reads: BTreeSet<String> = judged.reads.iter().cloned().collect();
        prop_assert!(reads.is_subset(&may), "{:?} beyond {:?}", reads, may);
        if judged.verdict.is_admitted() && new_owner.is_none() {
            prop_assert!(cone.is_subset(&reads), "{:?} of {:?}", reads, cone);
        }
    }
}

/// Whether the apply that this request is part of may still change the object.
fn may_change(case: &Case, name: &str, dry_run: bool) -> bool {
    let mut others = case.specs.keys().copied().filter(|index| *index != case.root);
    let Some(index) = others.find(|index| reference(&own(*index)).to_string() == name.trim_end_matches(" itself"))
    else {
        return false;
    };
    let shared = case.new.owner.filter(|owner| case.specs[&index].owner == Some(*owner));
    let key = |index: usize| {
        let own = reference(&own(index));
        (own.kind.row().group, own.kind.name(), own.namespace, own.name)
    };
    shared.is_some_and(|owner| dry_run || kind(owner) == Kind::HelmRelease || key(index) > key(case.root))
}
