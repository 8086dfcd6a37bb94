//! The search for a cycle through the object under review: breadth-first from the needs that the request adds, each
//! object read once, level by level in the stable order, so that the shortest loop is found and is always the same.

use super::Read;
use super::store::{Entry, Known, Store, Unread};
use crate::need::{Need, Reason};
use crate::object::{Kind, Object, Owners, Reference};
use crate::ordered::{set_of, sort, sort_by};
use crate::settled::Snapshot;

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
    /// As it is stored.
    pub(crate) old: Option<&'a Object>,
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
    object: Entry,
    parent: Option<usize>,
    /// The field by which the parent (the object under review, if none) needs this one.
    reason: Reason,
    /// Whether the path began with a need that the request adds.
    added: bool,
    /// Whether a loop may lead on from here.
    follow: bool,
}

/// A need as an edge of the graph.
struct Edge {
    target: Reference,
    reason: Reason,
    /// The labels of the object under review make it, and nothing else does.
    labelled: bool,
}

/// What was visited, by place in the store: a bit for the object, and one for it as the PackageSource of a Package, whose
/// needs it lists.
#[derive(Default)]
struct Seen(Vec<u8>);

impl Seen {
    fn contains(&self, object: &Entry, listing: bool) -> bool {
        self.0.get(object.place()).is_some_and(|seen| seen & bit(listing) != 0)
    }

    /// Whether it was not seen before.
    fn insert(&mut self, object: &Entry, listing: bool) -> bool {
        let fresh = !self.contains(object, listing);
        if self.0.len() <= object.place() {
            self.0.resize(object.place() + 1, 0);
        }
        if let Some(seen) = self.0.get_mut(object.place()) {
            *seen |= bit(listing);
        }
        fresh
    }
}

fn bit(listing: bool) -> u8 {
    1 << u8::from(listing)
}

/// Whether `target` is reached as the PackageSource of a Package.
fn is_listing(from: Kind, target: Kind) -> bool {
    from == Kind::Package && target == Kind::PackageSource
}

/// What the next level visits.
struct Next {
    object: Entry,
    listing: bool,
    parent: usize,
    reason: Reason,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    Added,
    Kept,
    Over,
}

pub(crate) struct Walk {
    visits: Vec<Visit>,
    seen: Seen,
    level: Vec<usize>,
    pass: Pass,
    outcome: Outcome,
    /// The loop of an earlier walk that may still be undone: now only one that cannot is looked for.
    undoable: Option<Loop>,
}

impl Walk {
    /// Starts with what [`Root::beforehand`] asks for in the store.
    pub(crate) fn new(root: &Root<'_>, store: &mut Store) -> Self {
        let own = &root.object.reference;
        let mut walk = Self {
            visits: Vec::new(),
            seen: Seen::default(),
            level: Vec::new(),
            pass: Pass::Added,
            outcome: Outcome::default(),
            undoable: None,
        };
        let unread = root.beforehand().into_iter().find_map(|reference| match store.get(&reference) {
            Some(Known::Unread(why)) => Some((reference, why.clone())),
            _ => None,
        });
        walk.outcome.unread = unread;
        let own = store.entry(own.clone());
        walk.seen.insert(&own, false);
        walk.seen.insert(&own, true);
        walk.enter(root, root.added, true, store);
        walk
    }

    /// The search for a loop that does not lead through an object that the same apply may still change.
    pub(crate) fn for_final(root: &Root<'_>, store: &mut Store, undoable: Loop) -> Self {
        Self { undoable: Some(undoable), ..Self::new(root, store) }
    }

    /// Needs that a loop cannot lead through are looked at too where they are new, to tell whether the target exists.
    fn enter(&mut self, root: &Root<'_>, needs: &[Need], added: bool, store: &mut Store) {
        let own = &root.object.reference;
        let package = store.object(&package_of(own));
        let waited = set_of(needs.iter().filter(|need| need.binds()).map(|need| &need.target));
        let mut sorted: Vec<&Need> = needs.iter().filter(|need| relays(root.object, need.reason, package)).collect();
        sorted.retain(|need| need.binds() || !waited.contains(&need.target));
        sort(&mut sorted);
        for need in sorted {
            let follow = need.may_lead_on() && root.object.is_named();
            let object = store.entry(need.target.clone());
            let listing = is_listing(own.kind, need.target.kind);
            // What is only looked at may still be reached in another way.
            let fresh = if follow {
                self.seen.insert(&object, listing)
            } else {
                added && !self.seen.contains(&object, listing)
            };
            if fresh {
                self.level.push(self.visits.len());
                self.visits.push(Visit { object, parent: None, reason: need.reason, added, follow });
            }
        }
    }

    /// Goes on as far as the store allows; the reads that are wanted next, or `None` when the walk is over.
    ///
    /// `may_undo` tells of a member of a loop whether the same apply may still change it.
    pub(crate) fn advance(
        &mut self,
        root: &Root<'_>,
        store: &mut Store,
        may_undo: &dyn Fn(&Object) -> bool,
    ) -> Option<Vec<Read>> {
        loop {
            if self.level.is_empty() {
                match self.pass {
                    // A new owner that waits closes a loop with any need of the object, not only with new ones.
                    Pass::Added if new_waiting_owner(root, store) => {
                        self.pass = Pass::Kept;
                        self.enter(root, root.kept, false, store);
                        continue;
                    }
                    _ => {
                        self.pass = Pass::Over;
                        return None;
                    }
                }
            }
            let wanted = self.level.iter().filter_map(|index| self.visits.get(*index));
            let reads = store.want_entries(wanted.map(|visit| &visit.object));
            if !reads.is_empty() {
                return Some(reads);
            }
            self.expand(root, store, may_undo);
            if self.outcome.found.is_some() {
                self.level.clear();
                self.pass = Pass::Over;
                return None;
            }
        }
    }

    fn expand(&mut self, root: &Root<'_>, store: &mut Store, may_undo: &dyn Fn(&Object) -> bool) {
        let mut next: Vec<Next> = Vec::new();
        for index in std::mem::take(&mut self.level) {
            let Some(visit) = self.visits.get(index).filter(|visit| visit.follow) else { continue };
            let object = match store.known(&visit.object) {
                Some(Known::Found(object, _)) => object,
                Some(Known::Unread(why)) => {
                    let unread = || (Reference::clone(&visit.object.reference), why.clone());
                    self.outcome.unread.get_or_insert_with(unread);
                    continue;
                }
                _ => continue,
            };
            if self.undoable.is_some() && may_undo(object) {
                continue;
            }
            let edges = self.edges(object, visit, root, store);
            let back = edges.iter().find(|edge| edge.target == root.object.reference);
            if let Some(edge) = back.filter(|edge| self.closes(object, visit, edge, root)) {
                self.outcome.found = Some(self.path(index, edge.reason, root));
                return;
            }
            let from = object.reference.kind;
            for Edge { target, reason, .. } in edges {
                if is_leaf(target.kind) {
                    continue;
                }
                let listing = is_listing(from, target.kind);
                let object = store.entry(target);
                if self.seen.insert(&object, listing) {
                    next.push(Next { object, listing, parent: index, reason });
                }
            }
        }
        sort_by(&mut next, |a, b| (&a.object.reference, a.listing) < (&b.object.reference, b.listing));
        for Next { object, parent, reason, .. } in next {
            self.level.push(self.visits.len());
            let added = self.visits.get(parent).is_some_and(|visit| visit.added);
            self.visits.push(Visit { object, parent: Some(parent), reason, added, follow: true });
        }
    }

    /// What `object` needs, in the stable order, its wait for the object under review included.
    fn edges(&self, object: &Object, visit: &Visit, root: &Root<'_>, store: &Store) -> Vec<Edge> {
        let parent = visit.parent.and_then(|parent| self.visits.get(parent));
        let arrived = parent.map_or(Some(root.object), |parent| store.found(&parent.object));
        let mut needs = object.needs().judged;
        needs.retain(|need| need.binds() && relays(object, need.reason, arrived));
        if let (None, true, Some(old)) = (parent, visit.added, root.old) {
            // A Package that changes its variant adds what the new one lists and the old one did not.
            let before = object.needs().judged.into_iter().filter(|need| matches!(need.reason, Reason::Variant(..)));
            let before = before.filter(|need| relays(object, need.reason, Some(old)));
            let before = set_of(before.map(|need| need.target));
            needs.retain(|need| !matches!(need.reason, Reason::Variant(..)) || !before.contains(&need.target));
        }
        sort(&mut needs);
        let edge = |need: Need| Edge { target: need.target, reason: need.reason, labelled: false };
        let mut edges: Vec<Edge> = needs.into_iter().map(edge).collect();
        let own = &root.object.reference;
        // A need that is written down is there whatever the labels say.
        if let Some(reason) = waits_for_root(object, root).filter(|_| edges.iter().all(|edge| edge.target != *own)) {
            edges.push(Edge { target: own.clone(), reason, labelled: true });
        }
        edges
    }

    /// Whether the need of `object` for the object under review closes a loop that this request makes.
    fn closes(&self, object: &Object, visit: &Visit, edge: &Edge, root: &Root<'_>) -> bool {
        // A Package reaches the packages of its own variant only.
        let first = self.first(visit);
        if !relays(root.object, first, Some(object)) {
            return false;
        }
        visit.added || (edge.labelled && root.new_owners.contains(&object.reference))
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
            links.push(Link { from: Reference::clone(&visit.object.reference), reason, added });
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

    /// The loop that an earlier walk found, and that may still be undone.
    pub(crate) fn undoable(&self) -> Option<&Loop> {
        self.undoable.as_ref()
    }
}

impl Root<'_> {
    /// What has to be read before the walk, in the order in which it is to be read.
    pub(crate) fn beforehand(&self) -> Vec<Reference> {
        let own = &self.object.reference;
        // What a PackageSource lists are needs of the Package of its name, if there is one.
        let lists = self.added.iter().any(|need| matches!(need.reason, Reason::Variant(..)));
        let package = lists.then(|| package_of(own));
        // Where all needs are new, an owner that is on a loop is met on the way.
        let owners = self.new_owners.iter().filter(|_| !self.kept.is_empty());
        owners.cloned().chain(package).collect()
    }
}

fn package_of(source: &Reference) -> Reference {
    Reference::new(Kind::Package, "", &source.name)
}

fn last_added(visits: &[Visit], index: usize) -> bool {
    visits.get(index).is_some_and(|visit| visit.added)
}

impl Need {
    /// Whether a loop may lead through this need.
    pub(super) fn may_lead_on(&self) -> bool {
        self.binds() && !is_leaf(self.target.kind)
    }
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
    let variants = object.spec.variants.as_ref();
    let name = variants.and_then(|variants| variants.get(v)?.depends_on.as_ref()?.get(i));
    let ignored = package.spec.ignore_dependencies.as_ref();
    object.variant_of(reason) == Some(package.variant())
        && !ignored.zip(name).is_some_and(|(ignored, name)| ignored.contains(name))
}
