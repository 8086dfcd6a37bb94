//! How a roll-out ends.

use super::apply::{Applied, of_missing, of_object};
use super::machine::{Options, is_behind};
use crate::chain::{Cone, Judgement, Root, State, Trouble, World};
use crate::gate::{Unread, carried, is_vetoed};
use crate::graph::Loop;
use crate::object::Reference;
use crate::settled::Blocker;
use chrono::TimeDelta;
use std::collections::BTreeSet;

/// A state that time alone does not change.
#[derive(Clone, Debug, PartialEq)]
pub enum Dead {
    /// This object is missing, suspended by somebody, or stalled.
    Root(Root),
    /// Objects that wait for each other.
    Loop(Loop),
}

/// What a look at the roll-out finds.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It is not over.
    Waiting,
    /// All that was asked for, and all it needs, is settled.
    Done,
    /// The exit condition is met.
    Met,
    /// It will not come to a good end, however long one waits.
    Blocked(Dead),
    /// Something may not be read: it can never be proved that it is over.
    Unreadable(Root),
    /// The time is over: of the whole, or of this object alone, with its limit.
    TimedOut(Option<(Reference, TimeDelta)>),
}

/// The first state of the roll-out that time alone does not change, nearest to the targets. `wants` are objects that must
/// be known before that can be told.
pub(super) fn dead(
    options: &Options,
    cone: &Cone,
    judgement: &Judgement,
    world: &World,
    pending: &BTreeSet<Reference>,
    wants: &mut BTreeSet<Reference>,
) -> Option<Dead> {
    let unexpected = judgement
        .states
        .values()
        .any(|state| state.troubles.iter().any(|trouble| matches!(trouble, Trouble::Unexpected { .. })));
    let mut found: Vec<Root> = Vec::new();
    for (member, state) in judgement.states.iter().filter(|(_, state)| state.required) {
        let applied = match kind_of_end(member, state, options, world, pending) {
            None => continue,
            Some(End::Missing) => of_missing(member, cone, judgement, world, pending),
            Some(End::Standing) => match world.found(member) {
                // The revision that is expected may bring another one.
                Some(found) if unexpected && !found.object.owners().0.is_empty() => Applied::Ahead,
                Some(found) => of_object(&found.object, judgement, world, pending),
                None => continue,
            },
        };
        match applied {
            Applied::Ahead => {}
            Applied::Unknown(unknown) => wants.extend(unknown),
            Applied::Past => found.extend(judgement.way_to(cone.targets(), member)),
        }
    }
    let nearest = found.into_iter().min_by(|a, b| (a.way.len(), &a.at).cmp(&(b.way.len(), &b.at)));
    nearest.map(Dead::Root).or_else(|| {
        let found = judgement.loops.first()?;
        let mut past = true;
        for object in found.members().filter_map(|member| world.found(member)) {
            match of_object(&object.object, judgement, world, pending) {
                Applied::Past => {}
                Applied::Ahead => past = false,
                Applied::Unknown(unknown) => {
                    past = false;
                    wants.extend(unknown);
                }
            }
        }
        (past && !unexpected).then(|| Dead::Loop(found.clone()))
    })
}

enum End {
    Missing,
    /// It is there, and nothing moves it.
    Standing,
}

fn kind_of_end(
    member: &Reference,
    state: &State,
    options: &Options,
    world: &World,
    pending: &BTreeSet<Reference>,
) -> Option<End> {
    let blocked =
        |is: fn(&Blocker) -> bool| state.troubles.iter().any(|trouble| matches!(trouble, Trouble::Blocked(b) if is(b)));
    if state.troubles.iter().any(|trouble| matches!(trouble, Trouble::Missing | Trouble::KindMissing)) {
        return Some(End::Missing);
    }
    let object = &world.found(member)?.object;
    if object.is_deleting() {
        return None;
    }
    if blocked(|blocker| matches!(blocker, Blocker::Suspended { .. })) {
        let somebody_will = !is_vetoed(object) && (options.resume || carried(object).is_some());
        return (!somebody_will).then_some(End::Standing);
    }
    let stalled = blocked(|blocker| matches!(blocker, Blocker::Stalled { .. }));
    // Of an earlier spec or request: the next pass may end otherwise.
    let earlier = blocked(|blocker| {
        matches!(
            blocker,
            Blocker::RequestNotHandled { .. } | Blocker::GenerationNotObserved { .. } | Blocker::Reconciling { .. }
        )
    });
    let ahead = pending.contains(member) || is_behind(object, pending, world);
    (stalled && !earlier && state.waits.is_empty() && !ahead).then_some(End::Standing)
}

/// The nearest member that may not be read.
pub(super) fn unreadable(cone: &Cone, judgement: &Judgement) -> Option<Root> {
    let forbidden = judgement
        .states
        .iter()
        .filter(|(_, state)| state.required && state.troubles.contains(&Trouble::Unread(Unread::Forbidden)));
    forbidden
        .filter_map(|(member, _)| judgement.way_to(cone.targets(), member))
        .min_by(|a, b| (a.way.len(), &a.at).cmp(&(b.way.len(), &b.at)))
}
