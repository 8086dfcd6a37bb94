//! ResourceSet, as flux-operator 0.58 defines ready.

use super::{Blocker, Judge};

/// The row of ResourceSet. It names no revision of anything: besides its conditions there is only the digest of what
/// it has applied, and whether one is there.
pub(crate) fn resource_set(judge: &mut Judge<'_>) {
    judge.any();
    let Some(ready) = judge.ready_at_generation() else { return };
    // A ResourceSet that is created disabled gets Ready True at once (flux-operator 0.58 `common.go`), and keeps it
    // until its first real pass.
    if ready.reason.as_deref() == Some("ReconciliationDisabled") {
        judge.push(Blocker::CreatedDisabled);
    } else if judge.object.status.last_applied_revision.as_deref().is_none_or(str::is_empty) {
        judge.push(Blocker::NothingApplied);
    }
}
