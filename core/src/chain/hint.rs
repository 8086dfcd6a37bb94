//! What can be told of an object beyond what is wrong with it: who suspended it, that its message is out of date, that it
//! is stuck.

use super::duration::duration;
use super::world::{Found, Suspender, World, time};
use super::{State, Trouble};
use crate::gate::{Mark, carried, is_vetoed};
use crate::need::Reason;
use crate::object::{Kind, Object, Reference};
use crate::recovery;
use crate::settled::{self, Blocker, Readiness};
use chrono::{DateTime, TimeDelta, Utc};

/// A remark on an object of a chain.
#[derive(Clone, Debug, PartialEq)]
pub enum Hint {
    /// The manager that suspended it.
    SuspendedBy(Suspender),
    /// The gate holds it, and the companion will resume it.
    Held(Mark),
    /// `sluicegate.dev/release: never` is on it.
    Vetoed,
    /// Its message complains of something that is settled by now.
    OutOfDate,
    /// It cannot fetch what this settled source offers.
    CannotFetch(Reference),
    /// It has been at work for longer than its own timeout although its newest release is deployed.
    BeyondTimeout(TimeDelta),
    /// Its request is not acknowledged; with the shard that it belongs to.
    Unacknowledged(Option<Box<str>>),
    /// A generator whose work is done and that will never say so.
    StalledGenerator,
}

/// The remarks on a member of a chain that is not settled, in the order of what they are worth.
#[must_use]
pub fn hints(found: &Found, state: &State, world: &World, now: DateTime<Utc>) -> Vec<Hint> {
    let object = &found.object;
    let mut hints = Vec::new();
    for trouble in &state.troubles {
        let Trouble::Blocked(blocker) = trouble else { continue };
        match blocker {
            Blocker::Suspended { .. } => {
                match carried(object) {
                    Some(mark) => hints.push(Hint::Held(mark)),
                    None => hints.extend(found.suspender().map(Hint::SuspendedBy)),
                }
                if is_vetoed(object) {
                    hints.push(Hint::Vetoed);
                }
                // Nothing else tells anything of an object that nobody works on.
                return hints;
            }
            Blocker::RequestNotHandled { .. } if state.waits.is_empty() => {
                let shard = object.metadata.labels.as_ref().and_then(|labels| labels.shard.clone());
                hints.push(Hint::Unacknowledged(shard));
            }
            Blocker::NotReady { readiness: Readiness::Failed, reason, outdated: false, .. }
                if state.waits.is_empty() =>
            {
                match reason.as_deref() {
                    Some("DependencyNotReady" | "SourceNotReady") => hints.push(Hint::OutOfDate),
                    Some("ArtifactFailed") => hints.extend(source(object).map(Hint::CannotFetch)),
                    _ => {}
                }
            }
            Blocker::NotReady { readiness: Readiness::Unknown, .. } => {
                hints.extend(beyond_timeout(object, now).map(Hint::BeyondTimeout));
            }
            _ => {}
        }
    }
    if object.reference.kind == Kind::ArtifactGenerator && recovery::is_provably_stalled(object, world, now) {
        hints.push(Hint::StalledGenerator);
    }
    hints
}

fn source(object: &Object) -> Option<Reference> {
    let is_source = |reason| matches!(reason, Reason::SourceRef | Reason::ChartRef);
    settled::inputs(object).into_iter().find(|need| is_source(need.reason)).map(|need| need.target)
}

/// The timeout of the action that a HelmRelease says it is running, if it has been over for some time and the history
/// says that the release is deployed (fluxcd/helm-controller#1409).
fn beyond_timeout(object: &Object, now: DateTime<Utc>) -> Option<TimeDelta> {
    let ready = object.condition("Ready")?;
    let (_, limit) = ready.message.as_deref()?.split_once("action with timeout of ")?;
    let limit = duration(limit.split_whitespace().next()?)?;
    let since = time(ready.last_transition_time.as_deref()?)?;
    let newest = object.status.history.iter().flatten().max_by_key(|entry| entry.version)?;
    let over = now.signed_duration_since(since) > limit + TimeDelta::seconds(30);
    (over && newest.status.as_deref() == Some("deployed")).then_some(limit)
}
