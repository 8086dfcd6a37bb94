//! What there is to say about the loops of a graph.

use super::dense::{Node, PerNode};
use super::shortest::BUDGET;
use super::store::Graph;
use super::{component, cut, shortest};
use crate::need::Need;
use crate::object::Reference;

/// One step of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The object that needs.
    pub from: Reference,
    /// What it needs, and the field that says so; the first one where several fields name the same target
    /// ([`Graph::needs_between`] has them all).
    pub need: Need,
}

/// A closed path without repetitions: the target of each step is where the next one starts, and the last step leads
/// back to the first. It starts with its first member in the stable order. An object that needs itself is a loop of one
/// step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// At least one.
    pub steps: Vec<Step>,
}

/// The one need that all loops pass through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The object to change.
    pub from: Reference,
    /// What it must not need any more.
    pub target: Reference,
    /// The fields that say so. All of them must go, or the object still waits for the target; never empty.
    pub needs: Vec<Need>,
    /// Whether the change under review adds it.
    pub added: bool,
}

/// A set of objects that all wait for each other, directly or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopReport {
    /// All of them, in order: every object that lies on a loop with the others. What only waits for them is not among
    /// them; [`Graph::behind`] finds it.
    pub members: Vec<Reference>,
    /// The shortest loop among the members. Of several, that whose members, from its first one on, come first in the
    /// stable order, compared one by one.
    pub shortest: Loop,
    /// Whether no shorter loop exists. The search is cut short, the same way on every machine, after some hundred
    /// million steps. Up to 2,000 members with 25,000 needs among them it always ends before, and larger sets nearly
    /// always do.
    pub proven: bool,
    /// The single need whose removal leaves no loop among the members, if there is one: one that the change under review
    /// adds if any is, else any; of several the first in the stable order of the object, then of its target.
    pub cut: Option<Cut>,
}

impl Loop {
    /// The objects on it, in the order of the steps.
    pub fn members(&self) -> impl ExactSizeIterator<Item = &Reference> {
        self.steps.iter().map(|step| &step.from)
    }
}

impl Graph {
    /// Every set of objects that wait for each other, each once, in the order of their first members.
    #[must_use]
    pub fn loops(&self) -> Vec<LoopReport> {
        self.loops_after(|_, _| false)
    }

    /// As [`Graph::loops`], for a graph that a change has been made to: `added` tells, of an object and its target,
    /// whether the change makes the one need the other.
    #[must_use]
    pub fn loops_after(&self, added: impl Fn(&Reference, &Reference) -> bool) -> Vec<LoopReport> {
        self.loops_within(BUDGET, added)
    }

    pub(super) fn loops_within(&self, budget: u64, added: impl Fn(&Reference, &Reference) -> bool) -> Vec<LoopReport> {
        let (objects, graph) = self.dense();
        let objects: PerNode<&Reference> = objects.into_iter().collect();
        let mut numbers: PerNode<Option<Node>> = PerNode::new(graph.count(), None);
        let report = |members: Vec<Node>| {
            let part = graph.narrowed(&members, &mut numbers);
            let members: PerNode<&Reference> = members.into_iter().map(|node| objects[node]).collect();
            let found = shortest::shortest(&part, budget)?;
            let edges = closed(&found.nodes).map(|(from, to)| (members[from], members[to]));
            let edges: Vec<(&Reference, &Reference)> = edges.collect();
            let cuts = cut::cuts(&part, &found.nodes).into_iter().filter_map(|place| edges.get(place).copied());
            let cut = cuts.map(|(from, to)| (!added(from, to), from, to)).min();
            Some(LoopReport {
                members: part.nodes().map(|node| members[node].clone()).collect(),
                shortest: Loop { steps: edges.iter().filter_map(|(from, to)| self.step(from, to)).collect() },
                proven: found.proven,
                cut: cut.map(|(kept, from, to)| Cut {
                    from: from.clone(),
                    target: to.clone(),
                    needs: self.binding(from, to).cloned().collect(),
                    added: !kept,
                }),
            })
        };
        component::looping(&graph).into_iter().filter_map(report).collect()
    }

    fn binding(&self, from: &Reference, to: &Reference) -> impl Iterator<Item = &Need> {
        self.needs_between(from, to).iter().filter(|need| need.binds())
    }

    fn step(&self, from: &Reference, to: &Reference) -> Option<Step> {
        self.binding(from, to).next().map(|need| Step { from: from.clone(), need: need.clone() })
    }
}

/// Each node with the next, and the last with the first.
fn closed(nodes: &[Node]) -> impl Iterator<Item = (Node, Node)> {
    nodes.iter().copied().zip(nodes.iter().copied().cycle().skip(1))
}
