//! Terraform, as tofu-controller 0.16 defines ready.

use super::{Blocker, Judge, message};
use crate::need::Reason;

/// The row of Terraform. The controller works again on an object exactly while its source has another revision than
/// the one attempted last, so that is what is compared; an object that only plans never applies one.
pub(crate) fn terraform(judge: &mut Judge<'_>) {
    judge.any();
    judge.generation_observed();
    let ready = judge.ready();
    let status = &judge.object.status;
    let plan = status.plan.as_ref().and_then(|plan| plan.pending.as_deref()).filter(|plan| !plan.is_empty());
    if let Some(plan) = plan {
        judge.push(Blocker::PlanPending { plan: plan.into() });
    }
    let attempted = status.last_attempted_revision.as_deref().filter(|revision| !revision.is_empty());
    let said = ready.and_then(|ready| message::terraform_revision(ready.reason.as_deref()?, ready.message.as_deref()?));
    if let (Some(said), Some(attempted)) = (said, attempted)
        && said != attempted
    {
        judge.push(Blocker::TornAttempt { said: said.into(), attempted: attempted.into() });
    }
    let source = judge.input(|reason| reason == Reason::SourceRef);
    let Some(offered) = source.and_then(|source| source.revision()) else { return };
    if attempted != Some(offered) {
        judge.push(Blocker::NotAttempted { attempted: attempted.map(Into::into), source: offered.into() });
    }
}
