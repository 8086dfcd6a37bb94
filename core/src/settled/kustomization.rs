//! Kustomization.

use super::{Blocker, Judge};
use crate::need::Reason;

/// The row of Kustomization. The same revision with other content leaves no trace here: whoever resumes or waits puts
/// a fresh request on the consumer after its source is settled.
pub(crate) fn kustomization(judge: &mut Judge<'_>) {
    judge.any();
    judge.generation_observed();
    judge.ready();
    let source = judge.input(|reason| reason == Reason::SourceRef);
    let Some(offered) = source.and_then(|source| source.revision()) else { return };
    let applied = judge.object.status.last_applied_revision.as_deref();
    if applied != Some(offered) {
        judge.push(Blocker::NotApplied { applied: applied.map(Into::into), source: offered.into() });
    }
}
