//! Which objects may still change another one, since they apply it.

use crate::chain::{Cone, Judgement, Known, State, World};
use crate::gate::is_past_apply;
use crate::need::{Direction, Reason};
use crate::object::{Kind, Object, Reference};
use crate::settled::{self, Blocker, Readiness};
use std::collections::{BTreeMap, BTreeSet};

/// Whether something may still change an object by applying it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Applied {
    /// Nobody will.
    Past,
    /// Somebody may.
    Ahead,
    /// These have to be read first.
    Unknown(Vec<Reference>),
}

fn applies(kind: Kind) -> bool {
    matches!(kind, Kind::Kustomization | Kind::HelmRelease | Kind::ResourceSet)
}

/// Whether an owner is not going to apply anything before something else changes, as far as its own status and its source
/// tell.
fn is_past(owner: &Object, world: &World) -> Result<bool, Reference> {
    if owner.is_suspended() || owner.is_deleting() {
        return Ok(true);
    }
    let checking = owner.condition("Reconciling").is_some_and(|condition| {
        condition.is_true()
            && condition.message.as_deref().is_some_and(|text| text.starts_with("Running health checks"))
    });
    // A token is acknowledged after the checks, which come after the apply.
    if !checking && is_asked(owner, world) {
        return Ok(false);
    }
    if owner.reference.kind == Kind::Kustomization {
        let source = settled::inputs(owner).into_iter().find(|need| need.reason == Reason::SourceRef);
        let Some(source) = source.map(|need| need.target) else { return Ok(is_past_apply(owner, None)) };
        let revision = match world.get(&source) {
            None => return Err(source),
            // What it fetches may be what is waited for.
            Some(Known::Found(found)) if is_asked(&found.object, world) => return Ok(found.object.is_suspended()),
            Some(Known::Found(found)) => found.object.revision(),
            Some(_) => None,
        };
        return Ok(is_past_apply(owner, revision));
    }
    // Their status does not tell how far they are: only that they have ended, or failed.
    let found = settled::blockers(owner, world);
    Ok(found.is_empty()
        || found.iter().any(|blocker| {
            matches!(
                blocker,
                Blocker::Suspended { .. }
                    | Blocker::Stalled { .. }
                    | Blocker::NotReady { readiness: Readiness::Failed, outdated: false, .. }
            )
        }))
}

/// Whether a pass is ahead that was asked for: by a request or by a new spec.
fn is_asked(object: &Object, world: &World) -> bool {
    settled::blockers(object, world).iter().any(|blocker| {
        matches!(blocker, Blocker::RequestNotHandled { .. } | Blocker::NeverReconciled { .. })
            || (object.reference.kind.is_source() && matches!(blocker, Blocker::GenerationNotObserved { .. }))
    })
}

/// Whether an owner of this object, which is there, may still change it. `pending` are those that we are going to ask.
pub(super) fn of_object(
    object: &Object,
    judgement: &Judgement,
    world: &World,
    pending: &BTreeSet<Reference>,
) -> Applied {
    let owners = object.owners().0.into_iter().map(|owner| owner.0).filter(|owner| *owner != object.reference);
    ahead(owners, &object.reference, judgement, world, pending)
}

/// Whether something in the chain, or an owner of what needs it, may still bring this object, which is not there.
pub(super) fn of_missing(
    missing: &Reference,
    cone: &Cone,
    judgement: &Judgement,
    world: &World,
    pending: &BTreeSet<Reference>,
) -> Applied {
    let mut appliers: BTreeSet<Reference> =
        cone.members().map(|(member, _)| member).filter(|member| applies(member.kind)).cloned().collect();
    for (member, state) in &judgement.states {
        if state.waits.iter().any(|need| need.target == *missing)
            && let Some(found) = world.found(member)
        {
            appliers.extend(found.object.owners().0.into_iter().map(|owner| owner.0));
        }
    }
    ahead(appliers.into_iter(), missing, judgement, world, pending)
}

fn ahead(
    owners: impl Iterator<Item = Reference>,
    object: &Reference,
    judgement: &Judgement,
    world: &World,
    pending: &BTreeSet<Reference>,
) -> Applied {
    let (mut at_work, mut unknown) = (Vec::new(), Vec::new());
    for owner in owners {
        let lacks_inputs = |state: &State| state.waits.iter().any(|need| need.direction == Direction::Input);
        let suspended = world.found(&owner).is_some_and(|found| found.object.is_suspended());
        if !suspended && (pending.contains(&owner) || judgement.states.get(&owner).is_some_and(lacks_inputs)) {
            at_work.push(owner);
            continue;
        }
        match world.get(&owner) {
            None => unknown.push((owner.clone(), owner)),
            Some(Known::Found(found)) => match is_past(&found.object, world) {
                Ok(true) => {}
                Ok(false) => at_work.push(owner),
                Err(source) => unknown.push((owner, source)),
            },
            // Whoever cannot be seen is not waited for.
            Some(_) => {}
        }
    }
    if at_work.is_empty() && unknown.is_empty() {
        return Applied::Past;
    }
    let waiting = waiting_before(object, judgement);
    if at_work.iter().any(|owner| !waiting.contains(owner)) {
        return Applied::Ahead;
    }
    unknown.retain(|(owner, _)| !waiting.contains(owner));
    if unknown.is_empty() {
        return Applied::Past;
    }
    Applied::Unknown(unknown.into_iter().map(|(_, wanted)| wanted).collect())
}

/// All that cannot reconcile before this object is settled: they apply nothing until then.
fn waiting_before(object: &Reference, judgement: &Judgement) -> BTreeSet<Reference> {
    let mut waiting: BTreeMap<&Reference, Vec<&Reference>> = BTreeMap::new();
    for (member, state) in &judgement.states {
        for need in state.waits.iter().filter(|need| need.direction == Direction::Input) {
            waiting.entry(&need.target).or_default().push(member);
        }
    }
    let (mut seen, mut open) = (BTreeSet::new(), vec![object]);
    while let Some(here) = open.pop() {
        for member in waiting.get(here).into_iter().flatten() {
            if seen.insert((*member).clone()) {
                open.push(member);
            }
        }
    }
    seen
}
