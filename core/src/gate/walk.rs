//! The search for a cycle through the object under review: breadth-first from the needs that the request adds, each
//! object read once, level by level in the stable order, so that the shortest loop is found and is always the same.

use super::Read;
use super::store::{Known, Store, Unread};
use crate::need::{Demand, Need, Reason};
use crate::object::{Kind, Object, Owners, Reference};
use crate::settled::Snapshot;
use std::collections::{BTreeMap, BTreeSet};

/// A step of a loop: an object and the field by which it needs the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The object that needs.
    pub from: Reference,
    /// The field that says so.
    pub reason: Reason,
    /// Whether the request adds this need.
    pub added: bool,
}

/// A loop through the object under review, which is the first link's; the last link's need is that object again.
pub type Loop = Vec<Link>;

/// What the walk found.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// The shortest loop.
    pub(crate) found: Option<Loop>,
    /// The first object that could not be looked at; without a loop, the answer is then open.
    pub(crate) unread: Option<(Reference, Unread)>,
}

/// The object under review, as the walk sees it.
pub(crate) struct Root<'a> {
    pub(crate) object: &'a Object,
    /// The needs that the request adds.
    pub(crate) added: &'a [Need],
    /// The needs that were there before.
    pub(crate) kept: &'a [Need],
    /// All owners that the labels name.
    pub(crate) owners: &'a Owners,
    /// Those that the request adds.
    pub(crate) new_owners: &'a [Reference],
}

struct Visit {
    reference: Reference,
    parent: Option<usize>,
    /// The field by which the parent (the object under review, if none) needs this one.
    reason: Reason,
    /// Whether the path began with a need that the request adds.
    added: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    Added,
    Kept,
    Over,
}

pub(crate) struct Walk {
    visits: Vec<Visit>,
    seen: BTreeSet<Reference>,
    level: Vec<usize>,
    pass: Pass,
    outcome: Outcome,
}

impl Walk {
    pub(crate) fn new(root: &Root<'_>) -> Self {
        let mut walk = Self {
            visits: Vec::new(),
            seen: BTreeSet::from([root.object.reference.clone()]),
            level: Vec::new(),
            pass: Pass::Added,
            outcome: Outcome::default(),
        };
        walk.enter(root.added, true);
        walk
    }

    fn enter(&mut self, needs: &[Need], added: bool) {
        let mut sorted: Vec<&Need> = needs.iter().filter(|need| need.demand != Demand::Exists).collect();
        sorted.sort();
        for need in sorted {
            if self.seen.insert(need.target.clone()) {
                self.level.push(self.visits.len());
                let (reference, reason) = (need.target.clone(), need.reason);
                self.visits.push(Visit { reference, parent: None, reason, added });
            }
        }
    }

    /// Goes on as far as the store allows; the reads that are wanted next, or `None` when the walk is over.
    pub(crate) fn advance(&mut self, root: &Root<'_>, store: &mut Store) -> Option<Vec<Read>> {
        loop {
            if self.level.is_empty() {
                match self.pass {
                    // A new owner that waits closes a loop with any need of the object, not only with new ones.
                    Pass::Added if new_waiting_owner(root, store) => {
                        self.pass = Pass::Kept;
                        self.enter(root.kept, false);
                        continue;
                    }
                    _ => {
                        self.pass = Pass::Over;
                        return None;
                    }
                }
            }
            let wanted = self.level.iter().filter_map(|index| self.visits.get(*index));
            let reads = store.want(wanted.map(|visit| (&visit.reference, false)));
            if !reads.is_empty() {
                return Some(reads);
            }
            self.expand(root, store);
            if self.outcome.found.is_some() {
                self.level.clear();
                self.pass = Pass::Over;
                return None;
            }
        }
    }

    fn expand(&mut self, root: &Root<'_>, store: &Store) {
        let mut next: BTreeMap<Reference, (usize, Reason)> = BTreeMap::new();
        for index in std::mem::take(&mut self.level) {
            let Some(visit) = self.visits.get(index) else { continue };
            let object = match store.get(&visit.reference) {
                Some(Known::Found(object, _)) => object,
                Some(Known::Unread(why)) => {
                    self.outcome.unread.get_or_insert_with(|| (visit.reference.clone(), why.clone()));
                    continue;
                }
                _ => continue,
            };
            for (target, reason) in self.edges(object, visit, root, store) {
                if target == root.object.reference {
                    if self.closes(object, visit, reason, root) {
                        self.outcome.found = Some(self.path(index, reason, root));
                        return;
                    }
                } else if !is_leaf(target.kind) && !self.seen.contains(&target) {
                    next.entry(target).or_insert((index, reason));
                }
            }
        }
        for (reference, (parent, reason)) in next {
            self.seen.insert(reference.clone());
            self.level.push(self.visits.len());
            let added = self.visits.get(parent).is_some_and(|visit| visit.added);
            self.visits.push(Visit { reference, parent: Some(parent), reason, added });
        }
    }

    /// What `object` needs, in the stable order, its wait for the object under review included.
    fn edges(&self, object: &Object, visit: &Visit, root: &Root<'_>, store: &Store) -> Vec<(Reference, Reason)> {
        let arrived = visit
            .parent
            .and_then(|parent| self.visits.get(parent))
            .map_or(Some(root.object), |parent| store.object(&parent.reference));
        let mut needs = object.needs().judged;
        needs.retain(|need| need.demand != Demand::Exists && relays(object, need.reason, arrived));
        needs.sort();
        let mut edges: Vec<_> = needs.into_iter().map(|need| (need.target, need.reason)).collect();
        if let Some(reason) = waits_for_root(object, root) {
            edges.push((root.object.reference.clone(), reason));
        }
        edges
    }

    /// Whether the need of `object` for the object under review closes a loop that this request makes.
    fn closes(&self, object: &Object, visit: &Visit, reason: Reason, root: &Root<'_>) -> bool {
        // A Package reaches the packages of its own variant only.
        let first = self.first(visit);
        if !relays(root.object, first, Some(object)) {
            return false;
        }
        let by_new_owner =
            root.new_owners.contains(&object.reference) && matches!(reason, Reason::Wait | Reason::WaitStrategy);
        visit.added || by_new_owner
    }

    fn first(&self, visit: &Visit) -> Reason {
        let mut at = visit;
        while let Some(parent) = at.parent.and_then(|parent| self.visits.get(parent)) {
            at = parent;
        }
        at.reason
    }

    fn path(&self, last: usize, closing: Reason, root: &Root<'_>) -> Loop {
        let mut links = Vec::new();
        let (mut at, mut reason) = (Some(last), closing);
        let mut added = self.visits.get(last).is_some_and(|visit| !visit.added);
        while let Some(visit) = at.and_then(|at| self.visits.get(at)) {
            links.push(Link { from: visit.reference.clone(), reason, added });
            (at, reason, added) = (visit.parent, visit.reason, false);
        }
        let added = last_added(&self.visits, last);
        links.push(Link { from: root.object.reference.clone(), reason, added });
        links.reverse();
        links
    }

    pub(crate) fn outcome(&self) -> &Outcome {
        &self.outcome
    }
}

fn last_added(visits: &[Visit], index: usize) -> bool {
    visits.get(index).is_some_and(|visit| visit.added)
}

/// These kinds need nothing: a loop cannot lead through them, so they are not read further up.
fn is_leaf(kind: Kind) -> bool {
    matches!(kind, Kind::Bucket | Kind::HelmRepository | Kind::OCIRepository)
}

fn waits_for_root(object: &Object, root: &Root<'_>) -> Option<Reason> {
    let owns = root.owners.0.iter().any(|owner| owner.0 == object.reference);
    if owns { object.waits_for_children() } else { None }
}

fn new_waiting_owner(root: &Root<'_>, store: &Store) -> bool {
    let mut owners = root.new_owners.iter().filter_map(|owner| store.object(owner));
    owners.any(|owner| owner.waits_for_children().is_some())
}

/// Whether a need of `object` counts where it was reached from `arrived`: the Packages that a PackageSource lists are
/// needs of the Package of its name, for the variant that this Package uses, less what it ignores.
pub(crate) fn relays(object: &Object, reason: Reason, arrived: Option<&Object>) -> bool {
    let Reason::Variant(v, i) = reason else { return true };
    let Some(package) = arrived.filter(|package| package.reference.kind == Kind::Package) else { return false };
    let Some(variant) = object.spec.variants.as_ref().and_then(|variants| variants.get(v)) else { return false };
    let used = package.spec.variant.as_deref().filter(|name| !name.is_empty()).unwrap_or("default");
    let name = variant.depends_on.as_ref().and_then(|names| names.get(i));
    let ignored = package.spec.ignore_dependencies.as_ref();
    variant.name.as_deref() == Some(used) && !ignored.zip(name).is_some_and(|(ignored, name)| ignored.contains(name))
}
