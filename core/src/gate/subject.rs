//! The object under review, and what the request changes of it.

use super::finding::Finding;
use super::mark::MarkOutcome;
use super::walk::Root;
use crate::need::{Demand, Need, Needs, Reason, Unjudged};
use crate::object::{Kind, Object, Owners, Reference};
use std::collections::BTreeSet;

pub(super) struct Subject {
    pub(super) new: Object,
    pub(super) old: Option<Object>,
    pub(super) marks: MarkOutcome,
    /// The switch goes from on to off.
    pub(super) up: bool,
    /// The needs that the request adds, by target.
    pub(super) added: Vec<Need>,
    /// Those that were there before.
    kept: Vec<Need>,
    pub(super) owners: Owners,
    pub(super) new_owners: Vec<Reference>,
    /// All targets of the needs, for the texts.
    pub(super) named: BTreeSet<Reference>,
    unjudged: Vec<Unjudged>,
    duplicates: Vec<Finding>,
}

impl Subject {
    /// `live` where the object is a stored one (in the audit): then its status is its own. Else the API server drops
    /// what a request says of the status, and the stored status counts.
    pub(super) fn new(mut new: Object, old: Option<Object>, marks: MarkOutcome, live: bool) -> Self {
        match (&old, live) {
            (_, true) => {}
            (Some(old), _) => new.status = old.status.clone(),
            (None, _) => new.status = crate::object::Status::default(),
        }
        let before = old.as_ref().map(Object::needs).unwrap_or_default();
        let needs = new.needs();
        let edge = |need: &Need| need.demand != Demand::Exists;
        let targets = |edges: bool| -> BTreeSet<&Reference> {
            before.judged.iter().filter(|need| !edges || edge(need)).map(|need| &need.target).collect()
        };
        let (known, waited) = (targets(false), targets(true));
        let relay = relay_changed(&new, old.as_ref());
        // A need that asked for existence only and now waits is a new one.
        let is_new = |need: &Need| {
            !known.contains(&need.target)
                || (edge(need) && !waited.contains(&need.target))
                || (relay && need.reason == Reason::SameName)
        };
        let (added, kept) = needs.judged.iter().cloned().partition(is_new);
        let owners = new.owners();
        let former = old.as_ref().map(Object::owners).unwrap_or_default();
        // Flux's bootstrap Kustomization carries its own labels; nothing waits for itself.
        let fresh = owners.0.iter().filter(|owner| !former.0.contains(owner) && owner.0 != new.reference);
        let new_owners = fresh.map(|owner| owner.0.clone()).collect();
        let up = old.as_ref().is_some_and(Object::is_suspended) && !new.is_suspended();
        let unjudged = needs.unjudged.iter().filter(|other| !is_known(&before, other)).cloned().collect();
        let mut named: BTreeSet<Reference> = needs.judged.iter().map(|need| need.target.clone()).collect();
        named.extend(owners.0.iter().map(|owner| owner.0.clone()));
        named.extend(new.generated_chart());
        let duplicates = duplicates(&needs, &before);
        Self { new, old, marks, up, added, kept, owners, new_owners, named, unjudged, duplicates }
    }

    pub(super) fn root(&self) -> Root<'_> {
        Root {
            object: &self.new,
            added: &self.added,
            kept: &self.kept,
            owners: &self.owners,
            new_owners: &self.new_owners,
        }
    }

    pub(super) fn has_needs(&self) -> bool {
        !self.added.is_empty() || !self.kept.is_empty()
    }

    pub(super) fn new_unjudged(&self) -> impl Iterator<Item = Finding> {
        self.unjudged.iter().cloned().map(Finding::Unjudged)
    }

    pub(super) fn new_duplicates(&self) -> Vec<Finding> {
        self.duplicates.clone()
    }

    /// Whether an expression has to be evaluated to judge a resume.
    pub(super) fn has_expressions(&self) -> bool {
        self.added.iter().chain(&self.kept).any(|need| matches!(need.demand, Demand::Expression(_)))
    }
}

/// A Package that changes its variant, or what it ignores, changes what its PackageSource makes it wait for.
fn relay_changed(new: &Object, old: Option<&Object>) -> bool {
    new.reference.kind == Kind::Package
        && old.is_some_and(|old| {
            old.spec.variant != new.spec.variant || old.spec.ignore_dependencies != new.spec.ignore_dependencies
        })
}

fn is_known(before: &Needs, unjudged: &Unjudged) -> bool {
    before.unjudged.iter().any(|other| other.kind == unjudged.kind && other.name == unjudged.name)
}

/// Entries of `dependsOn` that say the same twice, and did not before. Two entries with different expressions are no
/// duplicates: the controller evaluates both.
fn duplicates(needs: &Needs, before: &Needs) -> Vec<Finding> {
    let (new, old) = (repeated(needs), repeated(before));
    let fresh = new
        .into_iter()
        .filter(|(need, _)| !old.iter().any(|(other, _)| other.target == need.target && other.demand == need.demand));
    fresh.map(|(need, again)| Finding::Duplicate { target: need.target.clone(), first: need.reason, again }).collect()
}

fn repeated(needs: &Needs) -> Vec<(&Need, Reason)> {
    let mut entries: Vec<&Need> =
        needs.judged.iter().filter(|need| matches!(need.reason, Reason::DependsOn(_))).collect();
    entries.sort_by(|a, b| (&a.target, &a.demand, a.reason).cmp(&(&b.target, &b.demand, b.reason)));
    let mut found: Vec<(&Need, Reason)> = Vec::new();
    for pair in entries.windows(2) {
        let [first, again] = pair else { continue };
        let same = first.target == again.target && first.demand == again.demand;
        let known = found.iter().any(|(need, _)| need.target == first.target && need.demand == first.demand);
        if same && !known {
            found.push((first, again.reason));
        }
    }
    found
}
