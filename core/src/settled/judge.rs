//! The tests that rows share.

use super::source::is_static;
use super::{Blocker, Readiness, Snapshot};
use crate::need::{Need, Reason};
use crate::object::{Condition, Object};

/// One object under judgement. The rows of the table of kinds call its methods in the order of their tests.
pub(crate) struct Judge<'a> {
    pub(super) object: &'a Object,
    pub(super) snapshot: &'a dyn Snapshot,
    pub(super) found: Vec<Blocker>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(object: &'a Object, snapshot: &'a dyn Snapshot) -> Self {
        Self { object, snapshot, found: Vec::new() }
    }

    pub(super) fn push(&mut self, blocker: Blocker) {
        self.found.push(blocker);
    }

    /// `metadata.generation`; every stored object has one.
    pub(super) fn generation(&self) -> i64 {
        self.object.metadata.generation.unwrap_or_default()
    }

    /// The object that an input is about, if the snapshot has it.
    pub(super) fn input(&self, is_meant: impl Fn(Reason) -> bool) -> Option<&'a Object> {
        super::inputs(self.object)
            .into_iter()
            .find(|need: &Need| is_meant(need.reason))
            .and_then(|need| self.snapshot.object(&need.target))
    }

    /// What holds for every kind: not being deleted, not suspended, its request handled, neither Reconciling nor
    /// Stalled.
    pub(super) fn any(&mut self) {
        self.deleting();
        self.suspended();
        self.request();
        self.in_progress();
    }

    /// As [`Judge::any`], for kinds that no controller handles requests of.
    pub(super) fn any_without_request(&mut self) {
        self.deleting();
        self.suspended();
        self.in_progress();
    }

    pub(super) fn deleting(&mut self) {
        if self.object.is_deleting() {
            self.push(Blocker::Deleting);
        }
    }

    pub(super) fn suspended(&mut self) {
        if !self.object.is_suspended() {
            return;
        }
        let handled = self.object.status.last_handled_reconcile_at.clone();
        self.push(Blocker::Suspended {
            switch: self.object.reference.kind.row().switch,
            never_reconciled: self.object.condition("Ready").is_none() && !is_static(self.object),
            acknowledged: handled.filter(|handled| requested(self.object) == Some(handled)),
        });
    }

    fn request(&mut self) {
        let Some(requested) = requested(self.object) else { return };
        let handled = self.object.status.last_handled_reconcile_at.as_deref();
        if requested != handled.unwrap_or_default() {
            let (requested, handled) = (requested.into(), handled.map(Into::into));
            self.push(Blocker::RequestNotHandled { requested, handled });
        }
    }

    fn in_progress(&mut self) {
        if let Some(reconciling) = self.object.condition("Reconciling").filter(|condition| condition.is_true()) {
            self.push(Blocker::Reconciling { message: reconciling.message.clone() });
        }
        if let Some(stalled) = self.object.condition("Stalled").filter(|condition| condition.is_true()) {
            self.push(Blocker::Stalled { reason: stalled.reason.clone(), message: stalled.message.clone() });
        }
    }

    /// `observedGeneration` = generation. It is −1 by default of the CRDs, which is no difference of two.
    pub(super) fn generation_observed(&mut self) {
        let generation = self.generation();
        match self.object.status.observed_generation {
            Some(observed) if observed > 0 => {
                if observed != generation {
                    self.push(Blocker::GenerationNotObserved { generation, observed });
                }
            }
            _ => {
                let begun = self.object.status.conditions.as_ref().is_some_and(|conditions| !conditions.is_empty());
                self.push(Blocker::NeverReconciled { begun });
            }
        }
    }

    /// Ready True; the condition, if it is.
    pub(super) fn ready(&mut self) -> Option<&'a Condition> {
        let object = self.object;
        let Some(ready) = object.condition("Ready") else {
            self.push(Blocker::NotReady { readiness: Readiness::Absent, reason: None, message: None, outdated: false });
            return None;
        };
        if ready.is_true() {
            return Some(ready);
        }
        let failed = ready.status.as_deref() == Some("False");
        self.push(Blocker::NotReady {
            readiness: if failed { Readiness::Failed } else { Readiness::Unknown },
            reason: ready.reason.clone(),
            message: ready.message.clone(),
            outdated: ready.observed_generation.is_some_and(|observed| observed < self.generation()),
        });
        None
    }

    /// Ready True at this generation, for kinds without `observedGeneration`; the condition, if it is.
    pub(super) fn ready_at_generation(&mut self) -> Option<&'a Condition> {
        let ready = self.ready()?;
        let generation = self.generation();
        if ready.observed_generation != Some(generation) {
            self.push(Blocker::ReadyOfOtherGeneration { generation, ready: ready.observed_generation });
            return None;
        }
        Some(ready)
    }

    /// The artifact is there; its revision, if it is.
    pub(super) fn artifact(&mut self) -> Option<&'a str> {
        let revision = self.object.revision();
        if revision.is_none() {
            self.push(Blocker::ArtifactMissing);
        }
        revision
    }
}

/// The token of `reconcile.fluxcd.io/requestedAt`. An empty one cannot be told from none in the status.
fn requested(object: &Object) -> Option<&str> {
    object.metadata.annotations.as_ref()?.requested_at.as_deref()
}
