//! How objects stand, by the tests of *settled*.

use super::model::{Look, State};
use super::words::{SENTENCE, shortened};
use sluicegate_core::object::{Object, Reference};
use sluicegate_core::release::{Marks, Standing};
use sluicegate_core::settled::{Blocker, Readiness, Snapshot, blockers};
use std::collections::BTreeMap;

/// What the objects are evidence of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// They were read from a cluster: one without a status has not been reconciled yet.
    Cluster,
    /// They stand in files: one without a status says nothing of how it stands.
    Files,
}

/// How each object stands. An object is judged by its own tests; what it waits for is for the picture to show.
#[must_use]
pub fn looks(objects: &BTreeMap<Reference, Object>, evidence: Evidence) -> BTreeMap<Reference, Look> {
    objects.iter().map(|(own, object)| (own.clone(), look(object, objects, evidence))).collect()
}

/// How one object stands.
#[must_use]
pub fn look(object: &Object, snapshot: &dyn Snapshot, evidence: Evidence) -> Look {
    let status = &object.status;
    let has_status = status.conditions.is_some() || status.observed_generation.is_some() || status.artifact.is_some();
    let found = blockers(object, snapshot);
    let Some(headline) = Blocker::headline(&found) else {
        // Kinds without a status are settled by being there; in a file that would say too much.
        let is_told = evidence == Evidence::Cluster || has_status;
        return Look::plain(if is_told { State::Settled } else { State::Unknown });
    };
    let is_marked = Standing::of(object, Marks::Gate) != Standing::None;
    let state = match headline {
        Blocker::Suspended { .. } if is_marked => return Look::plain(State::Held),
        Blocker::Suspended { .. } => return Look::plain(State::Suspended),
        _ if evidence == Evidence::Files && !has_status => return Look::plain(State::Unknown),
        // It says so while it waits, as others say False for good.
        Blocker::NotReady { reason, .. } if reason.as_deref() == Some("DependencyNotReady") => State::Waiting,
        Blocker::Stalled { .. } | Blocker::NotReady { readiness: Readiness::Failed, outdated: false, .. } => {
            State::Failed
        }
        _ => State::Waiting,
    };
    Look { state, why: Some(shortened(&headline.sentence().to_string(), SENTENCE)) }
}
