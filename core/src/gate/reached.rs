//! Has the apply that resumes an object already reached everything in its input cone?
//!
//! kustomize-controller applies releases before sources. So a release may be settled, quite truly, at the old revision,
//! while the same commit is about to change its source.

use super::Read;
use super::cone::Cone;
use super::store::{Known, Store};
use crate::need::Reason;
use crate::object::{Applied, Kind, Object, Owners, Reference};
use crate::ordered::{set_of, sort};
use crate::settled::Snapshot;
use std::collections::BTreeSet;

/// Something in the input cone that the apply may still change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreached {
    /// The object that may still be changed.
    pub object: Reference,
    /// The other Kustomization that would change it; `None` where it is the same apply.
    pub by: Option<Reference>,
}

/// Whether `other` is of the same apply as the object under review and that apply has not reached it yet.
///
/// In a dry-run nothing is reached. Else the order of kustomize-controller and flux-operator decides (group, kind,
/// namespace, name: Flux kinds have no rank of their own, fluxcd/pkg `ssa/sort.go`); Helm's order is not known.
#[must_use]
pub fn may_still_change(under_review: &Reference, owners: &Owners, other: &Object, dry_run: bool) -> bool {
    let theirs = other.owners();
    owners.shared(&theirs).any(|owner| match owner.applied() {
        Applied::Helm => true,
        Applied::Sorted => dry_run || apply_key(&other.reference) > apply_key(under_review),
    })
}

fn apply_key(reference: &Reference) -> (&str, &str, &str, &str) {
    (reference.kind.row().group, reference.kind.name(), &reference.namespace, &reference.name)
}

enum Stage {
    Owners,
    Sources,
    /// The input cone of a Kustomization that is not past its apply, in search of the asker's owner.
    Cone {
        at: usize,
        seen: BTreeSet<Reference>,
        level: Vec<Reference>,
    },
    Done,
}

pub(crate) struct Reached {
    stage: Stage,
    /// The object under review.
    own: Reference,
    mine: Vec<Reference>,
    /// Objects of the cone with the Kustomization that owns them, where that is not an owner of ours.
    others: Vec<(Reference, Reference)>,
    /// The index of those of `others` whose owner reads one of our sources and is not past its apply.
    open: Vec<usize>,
    unreached: Option<Unreached>,
}

impl Reached {
    pub(crate) fn new(object: &Object, dry_run: bool, cone: &Cone, store: &Store) -> Self {
        let owners = object.owners();
        let mut found = cone.members().filter_map(|reference| store.object(reference));
        let same = found.find(|other| may_still_change(&object.reference, &owners, other, dry_run));
        let unreached = same.map(|other| Unreached { object: other.reference.clone(), by: None });
        Self { unreached, ..Self::of_others(object, cone, store) }.begun()
    }

    /// Other Kustomizations alone: whether the same apply has reached everything is known otherwise.
    pub(crate) fn of_others(object: &Object, cone: &Cone, store: &Store) -> Self {
        let owners = object.owners();
        let found = || cone.members().filter_map(|reference| store.object(reference));
        let mine: Vec<Reference> = owners.0.iter().map(|owner| owner.0.clone()).collect();
        let others: Vec<_> = found()
            .filter_map(|other| {
                let owner = other.owners().of_kind(Kind::Kustomization)?.clone();
                (!mine.contains(&owner) && owner != object.reference).then(|| (other.reference.clone(), owner))
            })
            .collect();
        let own = object.reference.clone();
        Self { stage: Stage::Owners, own, mine, others, open: Vec::new(), unreached: None }.begun()
    }

    fn begun(self) -> Self {
        let over = self.unreached.is_some() || self.mine.is_empty() || self.others.is_empty();
        Self { stage: if over { Stage::Done } else { Stage::Owners }, ..self }
    }

    /// Goes on as far as the store allows; the reads that are wanted next, or `None` when the answer is known.
    pub(crate) fn advance(&mut self, store: &mut Store) -> Option<Vec<Read>> {
        loop {
            let wanted: BTreeSet<Reference> = match &self.stage {
                Stage::Owners => set_of(self.mine.iter().chain(self.others.iter().map(|(_, owner)| owner)).cloned()),
                Stage::Sources => set_of(self.shared_sources(store).into_iter().map(|(_, source)| source)),
                Stage::Cone { level, .. } => set_of(level.iter().cloned()),
                Stage::Done => return None,
            };
            let reads = store.want(wanted.iter().map(|reference| (reference, false)));
            if !reads.is_empty() {
                return Some(reads);
            }
            self.stage = match std::mem::replace(&mut self.stage, Stage::Done) {
                Stage::Owners => Stage::Sources,
                Stage::Sources => {
                    self.open = self.not_past(store);
                    self.open_next(0)
                }
                Stage::Cone { at, seen, level } => self.search(at, seen, &level, store),
                Stage::Done => Stage::Done,
            };
        }
    }

    /// Those of `others` whose owner reads a source that an owner of ours reads, with that source. Where an owner
    /// cannot be read nothing is known, and the careful answer is that it shares one.
    fn shared_sources(&self, store: &Store) -> Vec<(usize, Reference)> {
        let ours = set_of(self.mine.iter().filter_map(|owner| store.object(owner)).filter_map(source));
        let theirs = self.others.iter().enumerate().filter_map(|(index, (_, owner))| {
            let source = source(store.object(owner)?)?;
            ours.contains(&source).then_some((index, source))
        });
        theirs.collect()
    }

    fn not_past(&self, store: &Store) -> Vec<usize> {
        let unknown = |owner: &Reference| matches!(store.get(owner), Some(Known::Unread(_)));
        let blind = self.mine.iter().any(unknown);
        let mut open: Vec<usize> = self
            .shared_sources(store)
            .into_iter()
            .filter(|(index, source)| {
                let owner = self.others.get(*index).and_then(|(_, owner)| store.object(owner));
                let revision = store.object(source).and_then(Object::revision);
                owner.is_some_and(|owner| !is_past_apply(owner, revision))
            })
            .map(|(index, _)| index)
            .collect();
        let hidden = self.others.iter().enumerate().filter(|(_, (_, owner))| {
            let readable = store.object(owner).is_some_and(|owner| !owner.is_suspended());
            unknown(owner) || (blind && readable)
        });
        open.extend(hidden.map(|(index, _)| index));
        sort(&mut open);
        open.dedup();
        open
    }

    fn open_next(&self, from: usize) -> Stage {
        let Some((_, owner)) = self.open.get(from).and_then(|index| self.others.get(*index)) else {
            return Stage::Done;
        };
        Stage::Cone { at: from, seen: set_of([owner.clone()]), level: vec![owner.clone()] }
    }

    /// One level of the input cone of an owner that is not past its apply. One that waits for our owner, or for the
    /// object that would be held, cannot be waited for.
    fn search(&mut self, at: usize, mut seen: BTreeSet<Reference>, level: &[Reference], store: &Store) -> Stage {
        let mut next = BTreeSet::new();
        for object in level.iter().filter_map(|reference| store.object(reference)) {
            for need in object.input_needs() {
                if self.mine.contains(&need.target) || need.target == self.own {
                    return self.open_next(at + 1);
                }
                if seen.insert(need.target.clone()) {
                    next.insert(need.target);
                }
            }
        }
        if !next.is_empty() {
            return Stage::Cone { at, seen, level: next.into_iter().collect() };
        }
        let other = self.open.get(at).and_then(|index| self.others.get(*index));
        self.unreached = other.map(|(object, owner)| Unreached { object: object.clone(), by: Some(owner.clone()) });
        Stage::Done
    }

    pub(crate) fn unreached(&self) -> Option<&Unreached> {
        self.unreached.as_ref()
    }
}

/// The source that an owner applies from.
fn source(owner: &Object) -> Option<Reference> {
    let from = |reason| matches!(reason, Reason::SourceRef | Reason::ChartRef | Reason::ChartSource);
    owner.input_needs().into_iter().find(|need| from(need.reason)).map(|need| need.target)
}

/// Whether a Kustomization is past its apply of this revision, or will not apply it: it is suspended, is being
/// deleted, or has failed at something else than its health checks.
#[must_use]
pub fn is_past_apply(kustomization: &Object, revision: Option<&str>) -> bool {
    if kustomization.is_suspended() || kustomization.is_deleting() {
        return true;
    }
    let ready = kustomization.condition("Ready");
    let reason = ready.and_then(|ready| ready.reason.as_deref());
    let checked = matches!(reason, Some("HealthCheckFailed" | "HealthCheckCanceled"));
    // Waiting is no failure: it will apply as soon as it may.
    let waiting = matches!(reason, Some("DependencyNotReady"));
    if ready.is_some_and(|ready| ready.status.as_deref() == Some("False")) && !checked && !waiting {
        return true;
    }
    let Some(revision) = revision else { return false };
    let status = &kustomization.status;
    let observed = status.observed_generation == kustomization.metadata.generation;
    let applied = status.last_applied_revision.as_deref() == Some(revision);
    let attempted = status.last_attempted_revision.as_deref() == Some(revision);
    let checking = kustomization.condition("Reconciling").is_some_and(|condition| {
        let message = condition.message.as_deref().unwrap_or_default();
        let rest = message.strip_prefix("Running health checks for revision ");
        let rest = rest.and_then(|rest| rest.strip_prefix(revision));
        condition.is_true() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    });
    checking
        || (attempted && checked)
        || (applied && observed && ready.is_some_and(super::super::object::Condition::is_true))
}
