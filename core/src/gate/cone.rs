//! The input cone of an object that is about to be resumed: is everything that must be ready before it settled?
//!
//! Sources are followed to their roots, since a consumer is settled only where they are. `dependsOn` is followed
//! further only through what is not settled, in search of the root blocker.

use super::Read;
use super::store::{Known, Store, Unread};
use crate::expression::{self, Failure, Scope};
use crate::need::{Demand, Need, Reason};
use crate::object::{Kind, Object, Reference};
use crate::ordered::sort;
use crate::recovery;
use crate::settled::{self, Blocker, Snapshot, Unmet};
use chrono::{DateTime, Utc};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What stands in the way of an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Trouble {
    /// A test of *settled* fails.
    Blocked(Blocker),
    /// The object does not exist.
    Missing,
    /// Its kind does not exist.
    KindMissing,
    /// The expected revision is not there.
    Unexpected {
        /// What the annotation asks for.
        expected: Box<str>,
        /// What the source offers.
        actual: Option<Box<str>>,
        /// The object with the annotation.
        by: Reference,
    },
    /// The `readyExpr` of this need says no.
    ExpressionFalse(Reason),
    /// The `readyExpr` of this need could not be evaluated.
    ExpressionFailed(Reason, Failure),
    /// It could not be read.
    Unread(Unread),
}

/// The way from the object under review to what blocks it, and why that is a blocker.
#[derive(Clone, Debug, PartialEq)]
pub struct Blockage {
    /// Each object on the way with the field by which it needs the next one; the first is the object under review.
    pub way: Vec<(Reference, Reason)>,
    /// The blocker.
    pub at: Reference,
    /// What is wrong with it; the first of its failed tests.
    pub trouble: Trouble,
    /// It is a generator that has finished its work and will never say so.
    pub stalled: bool,
    /// Other objects that the sentence about the trouble quotes.
    pub quoted: Vec<Reference>,
}

impl Blockage {
    /// Whether nothing is known to be wrong, and something could not be read.
    #[must_use]
    pub fn is_unread(&self) -> bool {
        matches!(self.trouble, Trouble::Unread(_))
    }
}

struct Member {
    depth: usize,
    /// The object that led here first; `None` for the object under review.
    parent: Option<Reference>,
    reason: Reason,
    /// What this member waits for, as far as it was followed.
    children: Vec<Reference>,
    troubles: Vec<Trouble>,
}

pub(crate) struct Cone {
    members: BTreeMap<Reference, Member>,
    pending: Vec<Reference>,
    /// Members that are known and have not been judged.
    unjudged: BTreeSet<Reference>,
    /// `dependsOn` of the object under review by target, where an expression decides or existence is enough.
    demands: BTreeMap<Reference, Vec<(Reason, Demand)>>,
    /// Who waits for whom by a source: unsettledness goes up along these.
    consumers: BTreeMap<Reference, Vec<Reference>>,
    unsettled: BTreeSet<Reference>,
}

/// The object under review and what its resume is judged with.
pub(crate) struct Resumed<'a> {
    pub(crate) object: &'a Object,
    /// The object with all its fields, for expressions.
    pub(crate) whole: Option<&'a Value>,
    /// Whether expressions add to the built-in test.
    pub(crate) additive: bool,
}

impl Cone {
    pub(crate) fn new(resumed: &Resumed<'_>) -> Self {
        let mut cone = Self {
            members: BTreeMap::new(),
            pending: Vec::new(),
            unjudged: BTreeSet::new(),
            demands: BTreeMap::new(),
            consumers: BTreeMap::new(),
            unsettled: BTreeSet::new(),
        };
        let mut needs = first_needs(resumed.object);
        sort(&mut needs);
        for need in needs {
            if need.target != resumed.object.reference {
                cone.demands.entry(need.target.clone()).or_default().push((need.reason, need.demand));
                cone.add(need.target, need.reason, None, 1);
            }
        }
        cone
    }

    fn add(&mut self, target: Reference, reason: Reason, parent: Option<&Reference>, depth: usize) {
        let waiting = parent.and_then(|parent| self.members.get_mut(parent));
        if let Some(member) = waiting.filter(|member| !member.children.contains(&target)) {
            member.children.push(target.clone());
        }
        if !self.members.contains_key(&target) {
            self.pending.push(target.clone());
            let parent = parent.cloned();
            let member = Member { depth, parent, reason, children: Vec::new(), troubles: Vec::new() };
            self.unjudged.insert(target.clone());
            self.members.insert(target, member);
        }
    }

    /// Goes on as far as the store allows; the reads that are wanted next, or `None` when the cone is judged.
    pub(crate) fn advance(&mut self, resumed: &Resumed<'_>, store: &mut Store) -> Option<Vec<Read>> {
        loop {
            sort(&mut self.pending);
            let wanted = self.pending.iter().map(|reference| (reference, self.wants_whole(reference)));
            let reads = store.want(wanted);
            if !reads.is_empty() {
                return Some(reads);
            }
            for reference in std::mem::take(&mut self.pending) {
                self.follow_sources(&reference, resumed, store);
            }
            if !self.pending.is_empty() {
                continue;
            }
            let newly = self.judge(resumed, store);
            for reference in newly {
                self.follow_dependencies(&reference, resumed, store);
            }
            if self.pending.is_empty() {
                return None;
            }
        }
    }

    fn wants_whole(&self, reference: &Reference) -> bool {
        let demands = self.demands.get(reference);
        demands.is_some_and(|demands| demands.iter().any(|(_, demand)| matches!(demand, Demand::Expression(_))))
    }

    /// Whether only its existence, or only an expression, is asked of this input of the object under review, and
    /// nothing else in the cone consumes it.
    fn is_lenient(&self, reference: &Reference, additive: bool) -> bool {
        let demanded = self.demands.get(reference).is_some_and(|demands| {
            demands.iter().all(|(_, demand)| match demand {
                Demand::Settled => false,
                Demand::Exists => true,
                Demand::Expression(_) => !additive,
            })
        });
        demanded && !self.consumers.contains_key(reference)
    }

    /// The HelmRelease that generates this chart, where that is why it is in the cone.
    fn release_of<'s>(&self, chart: &Reference, resumed: &Resumed<'s>, store: &'s Store) -> Option<&'s Object> {
        let member = self.members.get(chart).filter(|member| member.reason == Reason::Chart)?;
        member.parent.as_ref().map_or(Some(resumed.object), |parent| store.object(parent))
    }

    fn follow_sources(&mut self, reference: &Reference, resumed: &Resumed<'_>, store: &Store) {
        let Some(object) = store.object(reference) else { return };
        let Some(depth) = self.members.get(reference).map(|member| member.depth) else { return };
        if self.is_lenient(reference, resumed.additive) {
            return;
        }
        // What the release will write may have another source.
        if self.release_of(reference, resumed, store).is_some_and(|release| !settled::chart_follows(release, object)) {
            return;
        }
        for need in settled::inputs(object) {
            if need.target != resumed.object.reference {
                if self.is_lenient(&need.target, resumed.additive) {
                    // More is asked of it from now on, of its sources too.
                    self.pending.push(need.target.clone());
                    self.unjudged.insert(need.target.clone());
                }
                self.consumers.entry(need.target.clone()).or_default().push(reference.clone());
                self.add(need.target, need.reason, Some(reference), depth + 1);
            }
        }
    }

    /// Follows what an unsettled object waits for besides its sources. Its expressions are left alone: to evaluate
    /// them it would have to be read a second time, whole.
    fn follow_dependencies(&mut self, reference: &Reference, resumed: &Resumed<'_>, store: &Store) {
        let Some(object) = store.object(reference) else { return };
        let Some(depth) = self.members.get(reference).map(|member| member.depth) else { return };
        let mut needs = object.input_needs();
        needs.retain(|need| {
            matches!(need.reason, Reason::DependsOn(_)) && need.demand == Demand::Settled && {
                need.target != resumed.object.reference
            }
        });
        sort(&mut needs);
        for need in needs {
            self.add(need.target, need.reason, Some(reference), depth + 1);
        }
    }

    /// Judges every member that has not been judged; those that are found unsettled, newly.
    fn judge(&mut self, resumed: &Resumed<'_>, store: &Store) -> Vec<Reference> {
        let open = std::mem::take(&mut self.unjudged);
        let mut found = Vec::new();
        for reference in &open {
            let troubles = self.troubles(reference, resumed, store);
            if !troubles.is_empty() {
                found.push(reference.clone());
            }
            if let Some(member) = self.members.get_mut(reference) {
                member.troubles = troubles;
            }
        }
        for (by, unmet) in self.expectations(&open, resumed, store) {
            for root in unmet.roots {
                let actual = store.object(&root).and_then(Object::revision).map(Into::into);
                let lenient = self.is_lenient(&root, resumed.additive);
                let Some(member) = self.members.get_mut(&root).filter(|_| !lenient) else { continue };
                if !member.troubles.iter().any(|trouble| matches!(trouble, Trouble::Unexpected { .. })) {
                    let (expected, by) = (unmet.expected.clone(), by.clone());
                    member.troubles.push(Trouble::Unexpected { expected, actual, by });
                    found.push(root);
                }
            }
        }
        // Up along the consumers, without recursion: chains are as long as users make them.
        let mut newly = Vec::new();
        while let Some(reference) = found.pop() {
            if self.unsettled.insert(reference.clone()) {
                found.extend(self.consumers.get(&reference).into_iter().flatten().cloned());
                newly.push(reference);
            }
        }
        sort(&mut newly);
        newly
    }

    fn troubles(&self, reference: &Reference, resumed: &Resumed<'_>, store: &Store) -> Vec<Trouble> {
        let Some(member) = self.members.get(reference) else { return Vec::new() };
        let object = match store.get(reference) {
            Some(Known::Found(object, _)) => object,
            Some(Known::Unread(why)) => return vec![Trouble::Unread(why.clone())],
            // The release will write its chart when it is resumed, and Flux checks it then.
            _ if member.reason == Reason::Chart => return Vec::new(),
            Some(Known::KindAbsent) => return vec![Trouble::KindMissing],
            _ => return vec![Trouble::Missing],
        };
        if !object.is_suspended() {
            let release = self.release_of(reference, resumed, store);
            if release.is_some_and(|release| !settled::chart_follows(release, object)) {
                return Vec::new();
            }
        }
        let mut troubles = self.expressions(reference, resumed, store);
        if !self.is_lenient(reference, resumed.additive) {
            troubles.extend(Blocker::headline(&settled::blockers(object, store)).cloned().map(Trouble::Blocked));
        }
        troubles
    }

    fn expressions(&self, reference: &Reference, resumed: &Resumed<'_>, store: &Store) -> Vec<Trouble> {
        let mut troubles = Vec::new();
        for (reason, demand) in self.demands.get(reference).into_iter().flatten() {
            let Demand::Expression(text) = demand else { continue };
            let too_deep = || Trouble::ExpressionFailed(*reason, Failure::TooDeep);
            let Some(dep) = store.whole(reference) else {
                troubles.push(too_deep());
                continue;
            };
            let result = if resumed.object.reference.kind == Kind::ResourceSet {
                expression::evaluate(text, Scope::Fields(dep))
            } else {
                match resumed.whole {
                    Some(this) => expression::evaluate(text, Scope::SelfAndDep { this, dep }),
                    None => Err(Failure::TooDeep),
                }
            };
            match result {
                Ok(true) => {}
                Ok(false) => troubles.push(Trouble::ExpressionFalse(*reason)),
                Err(failure) => troubles.push(Trouble::ExpressionFailed(*reason, failure)),
            }
        }
        troubles
    }

    /// The expected revisions that no source shows, asked for by one of these members or by the object under review.
    fn expectations(
        &self,
        open: &BTreeSet<Reference>,
        resumed: &Resumed<'_>,
        store: &Store,
    ) -> Vec<(Reference, Unmet)> {
        let members = open.iter().filter_map(|reference| store.object(reference));
        let members = members.map(|member| (member, !member.is_suspended()));
        // A suspended source cannot show anything new: what is expected of it is judged after the resume.
        let fetches =
            |kind| matches!(kind, Kind::Bucket | Kind::GitRepository | Kind::HelmRepository | Kind::OCIRepository);
        let own = Some((resumed.object, false)).filter(|(object, _)| !fetches(object.reference.kind));
        let asked = own.into_iter().chain(members);
        asked
            .filter_map(|(object, resumed)| {
                Some((object.reference.clone(), settled::unmet_expectation(object, store, resumed)?))
            })
            .collect()
    }

    /// The way to the root blocker: the first unsettled object, nearest first and then in the stable order, that
    /// itself waits for nothing unsettled.
    pub(crate) fn blockage(&self, resumed: &Object, store: &Store, now: DateTime<Utc>) -> Option<Blockage> {
        let waits = |member: &Member| member.children.iter().any(|child| self.unsettled.contains(child));
        // What is known to be wrong tells more than what could not be read.
        let troubled = self.members.iter().filter(|(_, member)| !member.troubles.is_empty());
        let (at, member) =
            troubled.min_by_key(|(reference, member)| (is_unread(member), waits(member), member.depth, *reference))?;
        let trouble = member.troubles.first()?.clone();
        let generator = store.object(at).filter(|object| object.reference.kind == Kind::ArtifactGenerator);
        let stalled = generator.is_some_and(|generator| recovery::is_provably_stalled(generator, store, now));
        let quoted = match &trouble {
            Trouble::Blocked(blocker) if blocker.quotes_input() => member.children.clone(),
            Trouble::Unexpected { by, .. } => vec![by.clone()],
            _ => Vec::new(),
        };
        Some(Blockage { way: self.way(at, resumed), at: at.clone(), trouble, stalled, quoted })
    }

    fn way(&self, at: &Reference, resumed: &Object) -> Vec<(Reference, Reason)> {
        let mut way = Vec::new();
        let mut member = self.members.get(at);
        while let Some(here) = member {
            let parent = here.parent.as_ref();
            way.push((parent.unwrap_or(&resumed.reference).clone(), here.reason));
            member = parent.and_then(|parent| self.members.get(parent));
        }
        way.reverse();
        way
    }

    /// All objects of the cone that were looked at.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Reference> {
        self.members.keys()
    }
}

fn is_unread(member: &Member) -> bool {
    matches!(member.troubles.first(), Some(Trouble::Unread(_)))
}

/// What the object under review waits for before it reconciles.
fn first_needs(object: &Object) -> Vec<Need> {
    let mut needs = object.input_needs();
    needs.retain(|need| !matches!(need.reason, Reason::Variant(..)));
    for need in settled::inputs(object) {
        if !needs.contains(&need) {
            needs.push(need);
        }
    }
    needs
}
