//! The judgement of a whole chain: which members are settled, what is wrong with the others, and what they wait for.

use super::Trouble;
use super::cone::Cone;
use super::world::{Known, World};
use crate::expression::{self, Failure, Scope};
use crate::graph::{Graph, Loop};
use crate::need::{Demand, Direction, Need, Reason};
use crate::object::{Kind, Object, Reference};
use crate::settled::{self, Blocker};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What a chain is judged by besides what is read.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The revision that the roll-out is about: the root sources of each target must show it.
    pub expected: Option<Box<str>>,
    /// Whether `readyExpr` adds to the built-in test instead of replacing it.
    pub additive: bool,
    /// What stands in the way of an object for reasons that do not stand in it: requests of our own.
    pub own: BTreeMap<Reference, Blocker>,
}

/// One member of the chain.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// What is wrong with the object itself; the first says most.
    pub troubles: Vec<Trouble>,
    /// What it needs that is not settled.
    pub waits: Vec<Need>,
    /// Whether a target is settled only if this is.
    pub required: bool,
}

impl State {
    /// Whether nothing is wrong with it and with all that it needs.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.troubles.is_empty() && self.waits.is_empty()
    }

    /// Whether it is not settled and waits for nothing unsettled.
    #[must_use]
    pub fn is_root(&self) -> bool {
        !self.troubles.is_empty() && self.waits.is_empty()
    }

    /// Whether all that it needs before it reconciles is settled.
    #[must_use]
    pub fn has_its_inputs(&self) -> bool {
        let unmet = |trouble: &Trouble| matches!(trouble, Trouble::Expression { .. });
        self.waits.iter().all(|need| need.direction == Direction::Output) && !self.troubles.iter().any(unmet)
    }
}

/// A root blocker, and the way to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Root {
    /// The object.
    pub at: Reference,
    /// Each object on the way from a target with the field by which it needs the next one.
    pub way: Vec<(Reference, Reason)>,
}

/// A judged chain.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    /// Every member that is known.
    pub states: BTreeMap<Reference, State>,
    /// The root blockers, nearest first and then in the stable order.
    pub roots: Vec<Root>,
    /// Loops among members that are not settled and that lead to no root: nothing in them will move.
    pub loops: Vec<Loop>,
    /// Members that are not known yet.
    pub unknown: usize,
}

impl Judgement {
    /// Whether the targets, and all they need, are settled.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.unknown == 0 && self.states.values().all(|state| !state.required || state.is_settled())
    }

    /// How many members wait for this one, over any number of steps.
    #[must_use]
    pub fn behind(&self, root: &Reference) -> usize {
        let mut waiting: BTreeMap<&Reference, Vec<&Reference>> = BTreeMap::new();
        for (member, state) in &self.states {
            for need in &state.waits {
                waiting.entry(&need.target).or_default().push(member);
            }
        }
        let (mut seen, mut open) = (BTreeSet::from([root]), vec![root]);
        while let Some(here) = open.pop() {
            let more = waiting.get(here).into_iter().flatten();
            open.extend(more.filter(|member| seen.insert(**member)));
        }
        seen.len() - 1
    }

    /// The root blockers that this member waits for, nearest first: itself, if it is one.
    #[must_use]
    pub fn roots_of(&self, member: &Reference) -> Vec<Root> {
        ways(&self.states, std::slice::from_ref(member))
    }

    /// The way from the nearest of these members to another one, over what they wait for.
    #[must_use]
    pub fn way_to(&self, from: &[Reference], at: &Reference) -> Option<Root> {
        search(&self.states, from, |member, _| member == at).into_iter().next()
    }

    /// The nearest root blocker of a member.
    #[must_use]
    pub fn root_of(&self, member: &Reference) -> Option<Root> {
        self.roots_of(member).into_iter().next()
    }
}

/// Judges the chain as far as it is known.
#[must_use]
pub fn judge(cone: &Cone, world: &World, asked: &Asked) -> Judgement {
    let mut judged = Judgement::default();
    let mut edges: BTreeMap<&Reference, Vec<Edge<'_>>> = BTreeMap::new();
    for (member, needs) in cone.members() {
        let Some(known) = world.get(member) else {
            judged.unknown += 1;
            continue;
        };
        let mut state = State::default();
        if let Known::Found(found) = known {
            let mut own = follow(&found.object, needs, world, asked, &mut state);
            own.retain(|edge| !is_void(&found.object, edge.need, world));
            edges.insert(member, own);
        }
        state.troubles.extend(troubles(member, known, cone, world, asked));
        state.troubles.sort_by_key(weight);
        judged.states.insert(member.clone(), state);
    }
    expectations(&mut judged, cone, world, asked);
    require(&mut judged, cone, &edges);
    let unsettled = unsettled(&judged, &edges);
    for (member, own) in &edges {
        let Some(state) = judged.states.get_mut(*member) else { continue };
        let waits = own.iter().filter(|edge| edge.leads() && unsettled.contains(&edge.need.target));
        state.waits.extend(waits.map(|edge| edge.need.clone()));
    }
    judged.roots = ways(&judged.states, cone.targets());
    judged.loops = loops(&judged.states);
    judged
}

/// A need as it stands now.
struct Edge<'a> {
    need: &'a Need,
    /// The answer of its expression, where that decides.
    answer: Option<bool>,
    additive: bool,
    /// The target is not there, as far as is known.
    missing: bool,
}

impl Edge<'_> {
    /// Whether the target must be settled, or must come to exist.
    fn binds(&self) -> bool {
        match self.need.demand {
            Demand::Settled => true,
            Demand::Exists => self.missing,
            Demand::Expression(_) => self.additive,
        }
    }

    /// Whether it is waited for if it is not settled: also to explain why an expression says no.
    fn leads(&self) -> bool {
        self.binds() || self.answer == Some(false)
    }
}

fn follow<'a>(object: &Object, needs: &'a [Need], world: &World, asked: &Asked, state: &mut State) -> Vec<Edge<'a>> {
    let mut edges = Vec::new();
    for need in needs {
        let mut answer = None;
        if let Demand::Expression(text) = &need.demand {
            let result = evaluate(object, text, &need.target, world);
            answer = Some(result == Some(Ok(true)));
            let failure = match result {
                Some(Ok(false)) => Some(None),
                Some(Err(failure)) => Some(Some(failure)),
                // What is not there, or not read, speaks for itself.
                Some(Ok(true)) | None => None,
            };
            if let Some(failure) = failure {
                state.troubles.push(Trouble::Expression { reason: need.reason, target: need.target.clone(), failure });
            }
        }
        let missing = world.found(&need.target).is_none();
        edges.push(Edge { need, answer, additive: asked.additive, missing });
    }
    edges
}

fn evaluate(object: &Object, text: &str, target: &Reference, world: &World) -> Option<Result<bool, Failure>> {
    world.found(target)?;
    let Some(dep) = world.whole(target) else { return Some(Err(Failure::TooDeep)) };
    Some(if object.reference.kind == Kind::ResourceSet {
        expression::evaluate(text, Scope::Fields(&dep))
    } else {
        match world.whole(&object.reference) {
            Some(this) => expression::evaluate(text, Scope::SelfAndDep { this: &this, dep: &dep }),
            None => Err(Failure::TooDeep),
        }
    })
}

/// A generated HelmChart that its release is about to write anew, or has not written, says nothing: the release does.
/// One that is suspended will not follow.
fn is_void(object: &Object, need: &Need, world: &World) -> bool {
    if need.reason != Reason::Chart {
        return false;
    }
    match world.found(&need.target).map(|found| &found.object) {
        Some(chart) => !settled::chart_follows(object, chart) && !chart.is_suspended(),
        None => matches!(world.get(&need.target), Some(Known::Absent)),
    }
}

fn troubles(member: &Reference, known: &Known, cone: &Cone, world: &World, asked: &Asked) -> Vec<Trouble> {
    let object = match known {
        Known::Found(found) => &found.object,
        Known::Absent => return vec![Trouble::Missing],
        Known::KindAbsent => return vec![Trouble::KindMissing],
        Known::Unread(why) => return vec![Trouble::Unread(why.clone())],
    };
    if cone.is_leaf(member) || (cone.ignores_suspended() && object.is_suspended()) {
        return Vec::new();
    }
    let mut found = settled::blockers(object, world);
    if let Some(own) = asked.own.get(member).filter(|own| !found.contains(own)) {
        found.push(own.clone());
    }
    let first = Blocker::headline(&found).cloned();
    found.retain(|blocker| Some(blocker) != first.as_ref());
    first.into_iter().chain(found).map(Trouble::Blocked).collect()
}

/// What somebody did says more than what an expression says, and that more than what follows.
fn weight(trouble: &Trouble) -> u8 {
    match trouble {
        Trouble::Blocked(Blocker::Deleting | Blocker::Suspended { .. }) => 0,
        Trouble::Expression { .. } => 1,
        _ => 2,
    }
}

/// Puts the expected revisions that are not shown on the root sources that must come to show them.
fn expectations(judged: &mut Judgement, cone: &Cone, world: &World, asked: &Asked) {
    let members: Vec<Reference> = judged.states.keys().filter(|member| !cone.is_leaf(member)).cloned().collect();
    for member in members {
        let Some(found) = world.found(&member) else { continue };
        if cone.ignores_suspended() && found.object.is_suspended() {
            continue;
        }
        let mut unmet: Vec<settled::Unmet> = Vec::new();
        let at_work = !found.object.is_suspended();
        unmet.extend(settled::unmet_expectation(&found.object, world, at_work));
        if let Some(expected) = asked.expected.as_ref().filter(|_| cone.targets().contains(&member)) {
            let mut object = found.object.clone();
            object.metadata.annotations.get_or_insert_default().expected_revision = Some(expected.clone());
            unmet.extend(settled::unmet_expectation(&object, world, at_work));
        }
        for unmet in unmet {
            // Without a source to show it, the object itself does not.
            let roots = if unmet.roots.is_empty() { vec![member.clone()] } else { unmet.roots };
            for root in roots {
                let actual = world.found(&root).and_then(|found| found.object.revision()).map(Into::into);
                let trouble = Trouble::Unexpected { expected: unmet.expected.clone(), actual, by: member.clone() };
                let Some(state) = judged.states.get_mut(&root) else { continue };
                if !state.troubles.iter().any(|trouble| matches!(trouble, Trouble::Unexpected { .. })) {
                    state.troubles.push(trouble);
                }
            }
        }
    }
}

/// Marks what the targets bindingly need.
fn require(judged: &mut Judgement, cone: &Cone, edges: &BTreeMap<&Reference, Vec<Edge<'_>>>) {
    let mut open: Vec<&Reference> = cone.targets().iter().collect();
    while let Some(here) = open.pop() {
        let Some(state) = judged.states.get_mut(here).filter(|state| !state.required) else { continue };
        state.required = true;
        let own = edges.get(here).into_iter().flatten();
        open.extend(own.filter(|edge| edge.binds()).map(|edge| &edge.need.target));
    }
}

/// Everything that is not settled: up from what is wrong, without recursion, since chains are as long as users make them.
fn unsettled(judged: &Judgement, edges: &BTreeMap<&Reference, Vec<Edge<'_>>>) -> BTreeSet<Reference> {
    let mut needed_by: BTreeMap<&Reference, Vec<&Reference>> = BTreeMap::new();
    for (member, own) in edges {
        for edge in own.iter().filter(|edge| edge.leads()) {
            needed_by.entry(&edge.need.target).or_default().push(member);
        }
    }
    let troubled = judged.states.iter().filter(|(_, state)| !state.troubles.is_empty());
    let mut open: Vec<&Reference> = troubled.map(|(member, _)| member).collect();
    let mut seen: BTreeSet<Reference> = open.iter().map(|member| (*member).clone()).collect();
    while let Some(here) = open.pop() {
        for member in needed_by.get(here).into_iter().flatten() {
            if seen.insert((*member).clone()) {
                open.push(member);
            }
        }
    }
    seen
}

/// The roots that these members wait for, with the shortest way to each.
fn ways(states: &BTreeMap<Reference, State>, from: &[Reference]) -> Vec<Root> {
    search(states, from, |_, state| state.is_root())
}

/// What these members wait for and is meant, with the shortest way to each.
fn search(
    states: &BTreeMap<Reference, State>,
    from: &[Reference],
    is_meant: impl Fn(&Reference, &State) -> bool,
) -> Vec<Root> {
    let mut came: BTreeMap<&Reference, Option<(&Reference, Reason)>> = BTreeMap::new();
    let mut level: Vec<&Reference> = from.iter().filter_map(|target| Some(states.get_key_value(target)?.0)).collect();
    level.sort_unstable();
    level.dedup();
    came.extend(level.iter().map(|target| (*target, None)));
    let mut open: VecDeque<&Reference> = level.into();
    let mut roots = Vec::new();
    while let Some(here) = open.pop_front() {
        let Some(state) = states.get(here) else { continue };
        if is_meant(here, state) {
            let mut way = Vec::new();
            let mut at = here;
            while let Some(Some((parent, reason))) = came.get(at) {
                way.push(((*parent).clone(), *reason));
                at = parent;
            }
            way.reverse();
            roots.push(Root { at: here.clone(), way });
        }
        let mut waits: Vec<&Need> = state.waits.iter().collect();
        waits.sort_unstable();
        for need in waits {
            let Some((next, _)) = states.get_key_value(&need.target) else { continue };
            if !came.contains_key(next) {
                came.insert(next, Some((here, need.reason)));
                open.push_back(next);
            }
        }
    }
    roots.sort_by(|a, b| (a.way.len(), &a.at).cmp(&(b.way.len(), &b.at)));
    roots
}

/// The loops that lead to no root.
fn loops(states: &BTreeMap<Reference, State>) -> Vec<Loop> {
    let mut needed_by: BTreeMap<&Reference, Vec<&Reference>> = BTreeMap::new();
    for (member, state) in states {
        for need in &state.waits {
            needed_by.entry(&need.target).or_default().push(member);
        }
    }
    let mut open: Vec<&Reference> =
        states.iter().filter(|(_, state)| state.waits.is_empty()).map(|(member, _)| member).collect();
    let mut ends: BTreeSet<&Reference> = open.iter().copied().collect();
    while let Some(here) = open.pop() {
        let more = needed_by.get(here).into_iter().flatten();
        open.extend(more.filter(|member| ends.insert(**member)));
    }
    let stuck = states.iter().filter(|(member, _)| !ends.contains(member));
    let graph: Graph = stuck.map(|(member, state)| (member.clone(), state.waits.clone())).collect();
    graph.loops().into_iter().map(|report| report.shortest).collect()
}
