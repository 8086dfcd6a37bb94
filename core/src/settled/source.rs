//! GitRepository, OCIRepository, Bucket, HelmRepository: the kinds of source-controller that fetch. HelmChart, which
//! builds, shares their tests.

use super::{Blocker, Judge, message, revision};
use crate::need::Reason;
use crate::object::{Kind, Object};

/// The row of OCIRepository and Bucket, and the first half of those of GitRepository and HelmChart.
pub(crate) fn source(judge: &mut Judge<'_>) {
    judge.any();
    judge.generation_observed();
    judge.ready();
    let message = in_storage(judge);
    if let Some(outdated) = judge.object.condition("ArtifactOutdated").filter(|condition| condition.is_true()) {
        judge.push(Blocker::ArtifactOutdated { message: outdated.message.clone() });
    }
    let Some(artifact) = judge.artifact() else { return };
    let said = message.and_then(|message| message::stored_revision(judge.object.reference.kind, message));
    if let Some(said) = said.filter(|said| is_torn(judge.object.reference.kind, said, artifact)) {
        judge.push(Blocker::TornRevision { said: said.into(), artifact: artifact.into() });
    }
}

/// ArtifactInStorage True at this generation; its message, if it is True at all.
fn in_storage<'a>(judge: &mut Judge<'a>) -> Option<&'a str> {
    let object: &'a Object = judge.object;
    let condition = object.condition("ArtifactInStorage");
    let Some(condition) = condition.filter(|condition| condition.is_true()) else {
        let message = condition.and_then(|condition| condition.message.clone());
        judge.push(Blocker::NotInStorage { message });
        return None;
    };
    let generation = judge.generation();
    if condition.observed_generation != Some(generation) {
        judge.push(Blocker::StoredForOtherGeneration { generation, stored: condition.observed_generation });
    }
    condition.message.as_deref()
}

/// A Bucket quotes its revision with the canonical digest algorithm, whatever that of its artifact is
/// (source-controller 1.9 `bucket_controller.go`): two algorithms cannot be compared.
fn is_torn(kind: Kind, said: &str, artifact: &str) -> bool {
    let comparable = kind != Kind::Bucket || revision::algorithm(said) == revision::algorithm(artifact);
    comparable && said != artifact
}

/// The row of GitRepository. An included repository that moves neither wakes the including one nor changes its
/// revision.
pub(crate) fn git_repository(judge: &mut Judge<'_>) {
    source(judge);
    let included = judge.object.status.included_artifacts.as_deref().unwrap_or_default();
    for need in super::inputs(judge.object) {
        let Reason::Include(index) = need.reason else { continue };
        let Some(offered) = judge.snapshot.object(&need.target).and_then(Object::artifact) else { continue };
        let included = included.get(index);
        if included.is_none_or(|had| had.revision != offered.revision || had.digest != offered.digest) {
            judge.push(Blocker::IncludeDiffers {
                index,
                included: included.and_then(|had| had.revision.clone()),
                offered: offered.revision.clone().unwrap_or_default(),
            });
        }
    }
}

/// The row of HelmRepository. One of type `oci` is a static record: its status is emptied, and no controller touches
/// it again (source-controller 1.9 `helmrepository_controller.go`).
pub(crate) fn helm_repository(judge: &mut Judge<'_>) {
    if is_static(judge.object) {
        judge.deleting();
        judge.suspended();
    } else {
        source(judge);
    }
}

/// Whether the object is a HelmRepository of type `oci`.
pub(super) fn is_static(object: &Object) -> bool {
    object.reference.kind == Kind::HelmRepository && object.spec.r#type.as_deref() == Some("oci")
}
