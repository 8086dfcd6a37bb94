//! The object under review, and what the request changes of it.

use super::finding::Finding;
use super::mark::MarkOutcome;
use super::walk::Root;
use crate::need::{Demand, Direction, Need, Needs, Reason, Unjudged};
use crate::object::{Kind, Object, Owners, Reference};
use crate::ordered::{set_of, sort_by};
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
        // What a PackageSource lists for one variant is new to another.
        let variant = |object: &Object, need: &Need| object.variant_of(need.reason).map(<Box<str>>::from);
        let targets = |edges: bool| -> BTreeSet<(Option<Box<str>>, &Reference)> {
            let before = old.iter().flat_map(|old| before.judged.iter().map(move |need| (old, need)));
            let kept = before.filter(|(_, need)| !edges || need.binds());
            set_of(kept.map(|(old, need)| (variant(old, need), &need.target)))
        };
        let (known, waited) = (targets(false), targets(true));
        let relay = relay_changed(&new, old.as_ref());
        // A need that asked for existence only and now waits is a new one.
        let is_new = |need: &Need| {
            let target = (variant(&new, need), &need.target);
            !known.contains(&target)
                || (need.binds() && !waited.contains(&target))
                || (relay && need.reason == Reason::SameName)
        };
        let (added, kept) = needs.judged.iter().cloned().partition(is_new);
        let owners = new.owners();
        let former = old.as_ref().map(Object::owners).unwrap_or_default();
        // Flux's bootstrap Kustomization carries its own labels; nothing waits for itself.
        let fresh = owners.0.iter().filter(|owner| !former.0.contains(owner) && owner.0 != new.reference);
        let new_owners = fresh.map(|owner| owner.0.clone()).collect();
        let up = old.as_ref().is_some_and(Object::is_suspended) && !new.is_suspended();
        let mut names = set_of(before.unjudged.iter().map(|other| (&other.kind, &other.name)));
        let unjudged =
            needs.unjudged.iter().filter(|other| names.insert((&other.kind, &other.name))).cloned().collect();
        let mut named = set_of(needs.judged.iter().map(|need| need.target.clone()));
        named.extend(owners.0.iter().map(|owner| owner.0.clone()));
        named.extend(new.generated_chart());
        let duplicates = duplicates(&needs, &before);
        Self { new, old, marks, up, added, kept, owners, new_owners, named, unjudged, duplicates }
    }

    pub(super) fn root(&self) -> Root<'_> {
        Root {
            object: &self.new,
            old: self.old.as_ref(),
            added: &self.added,
            kept: &self.kept,
            owners: &self.owners,
            new_owners: &self.new_owners,
        }
    }

    /// The new needs that are dependencies: what must be there before the object reconciles. What it applies itself, or
    /// what is generated from it, is missing at first as a matter of course.
    pub(super) fn dependencies(&self) -> impl Iterator<Item = &Need> {
        let generated = self.new.reference.kind == Kind::PackageSource;
        let inputs = self.added.iter().filter(|need| need.direction == Direction::Input);
        inputs.filter(move |need| !(generated && need.reason == Reason::SameName))
    }

    pub(super) fn new_unjudged(&self) -> impl Iterator<Item = Finding> {
        self.unjudged.iter().cloned().map(Finding::Unjudged)
    }

    pub(super) fn new_duplicates(&self) -> Vec<Finding> {
        self.duplicates.clone()
    }

    /// What has to be read whole to judge a resume: each target of a need that an expression decides.
    pub(super) fn expression_targets(&self) -> impl Iterator<Item = Reference> {
        let needs = self.added.iter().chain(&self.kept);
        needs.filter(|need| matches!(need.demand, Demand::Expression(_))).map(|need| need.target.clone())
    }
}

/// A Package that changes its variant, or ignores less, may wait for more of what its PackageSource lists.
fn relay_changed(new: &Object, old: Option<&Object>) -> bool {
    let Some(old) = old.filter(|_| new.reference.kind == Kind::Package) else { return false };
    let ignored = new.spec.ignore_dependencies.as_deref().unwrap_or_default();
    let mut before = old.spec.ignore_dependencies.iter().flatten();
    new.variant() != old.variant() || before.any(|name| !ignored.contains(name))
}

/// Entries of `dependsOn` that say the same twice, and did not before. Two entries with different expressions are no
/// duplicates: the controller evaluates both.
fn duplicates(needs: &Needs, before: &Needs) -> Vec<Finding> {
    let old = set_of(repeated(before).into_iter().map(|(need, _)| (&need.target, &need.demand)));
    let fresh = repeated(needs).into_iter().filter(|(need, _)| !old.contains(&(&need.target, &need.demand)));
    fresh.map(|(need, again)| Finding::Duplicate { target: need.target.clone(), first: need.reason, again }).collect()
}

fn repeated(needs: &Needs) -> Vec<(&Need, Reason)> {
    let mut entries: Vec<&Need> =
        needs.judged.iter().filter(|need| matches!(need.reason, Reason::DependsOn(_))).collect();
    sort_by(&mut entries, |a, b| (&a.target, &a.demand, a.reason) < (&b.target, &b.demand, b.reason));
    let same = |a: &Need, b: &Need| a.target == b.target && a.demand == b.demand;
    entries
        .chunk_by(|a, b| same(a, b))
        .filter_map(|group| match group {
            [first, again, ..] => Some((*first, again.reason)),
            _ => None,
        })
        .collect()
}
