//! *Settled*: everything an object is going to do for its current spec and its current inputs, it has done,
//! successfully.
//!
//! Judged from one snapshot of each object of the chain. Flux writes a status in up to three requests, conditions
//! first, so a snapshot can be torn in either direction (fluxcd/pkg#934), and suspended objects keep moving their
//! status: no single field is proof. Each test that fails is a [`Blocker`] with a sentence of its own.
//!
//! A message in a format that we do not know is *no evidence*: neither proof nor contradiction. So are comparisons with
//! an input that is not in the snapshot or has no artifact: that input is unsettled itself, and whoever follows the
//! chain says so.
//!
//! # Whose business is what
//! Each function here judges *one* object and never goes on to its inputs. A chain is settled if every object of it is:
//! callers follow [`inputs`] (and `dependsOn`, where they must), report what is absent, and skip a generated HelmChart
//! that is absent or that [`chart_follows`] says no to.

mod blocker;
mod chart;
mod expected;
mod generator;
mod judge;
mod kustomization;
mod message;
mod package;
mod release;
mod resource_set;
mod revision;
mod source;
mod terraform;

pub use blocker::{Blocker, Readiness};
pub use chart::chart_follows;
pub use expected::{Unmet, shows, unmet_expectation};
pub use generator::sources_digest;
pub(crate) use judge::Judge;
pub(crate) use {
    chart::helm_chart, generator::artifact_generator, generator::external_artifact, kustomization::kustomization,
    package::package, package::package_source, release::helm_release, resource_set::resource_set,
    source::git_repository, source::helm_repository, source::source, terraform::terraform,
};

use crate::need::{Demand, Direction, Need, Reason};
use crate::object::{Object, Reference};
use std::collections::BTreeMap;

/// Whether the ArtifactInStorage message of a source quotes the revision of its artifact: proof that both are of the same
/// pass. A message in a format that we do not know proves nothing.
#[must_use]
pub fn quotes_artifact(object: &Object) -> bool {
    let message = object.condition("ArtifactInStorage").and_then(|condition| condition.message.as_deref());
    let said = message.and_then(|message| message::stored_revision(object.reference.kind, message));
    said.is_some() && said == object.revision()
}

/// What the caller knows: one snapshot of each object.
pub trait Snapshot {
    /// The object, if it was read and is there.
    fn object(&self, reference: &Reference) -> Option<&Object>;
}

impl Snapshot for BTreeMap<Reference, Object> {
    fn object(&self, reference: &Reference) -> Option<&Object> {
        self.get(reference)
    }
}

/// The inputs whose being settled is part of this object's being settled: sources, chart, includes, generator, and
/// last the HelmChart that a HelmRelease generates ([`Reason::Chart`]). `dependsOn` is not among them: a dependency
/// that moves on later does not undo what was done.
#[must_use]
pub fn inputs(object: &Object) -> Vec<Need> {
    let mut needs = object.input_needs();
    needs.retain(|need| !matches!(need.reason, Reason::DependsOn(_) | Reason::Variant(..)));
    if let Some(target) = object.generated_chart().filter(|_| object.spec.chart_ref.is_none()) {
        needs.push(Need { target, reason: Reason::Chart, direction: Direction::Input, demand: Demand::Settled });
    }
    needs
}

/// Whether a controller ever handles a reconcile request of this object, as its row has it.
#[must_use]
pub fn handles_requests(object: &Object) -> bool {
    let mut probe = object.clone();
    probe.metadata.annotations.get_or_insert_default().requested_at = Some("?".into());
    probe.status.last_handled_reconcile_at = None;
    let nothing: BTreeMap<Reference, Object> = BTreeMap::new();
    blockers(&probe, &nothing).iter().any(|blocker| matches!(blocker, Blocker::RequestNotHandled { .. }))
}

/// The tests of the object's row that fail, in the order of the table; none means that the object itself is settled.
///
/// Inputs are read from the snapshot for comparisons only: whether they are settled is another question, and an input
/// that is not there is not reported. An expected revision is not judged here either, see [`unmet_expectation`].
#[must_use]
pub fn blockers(object: &Object, snapshot: &dyn Snapshot) -> Vec<Blocker> {
    let mut judge = Judge::new(object, snapshot);
    (object.reference.kind.row().settled)(&mut judge);
    judge.found
}
