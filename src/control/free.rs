//! Freeing a held object in the name of a person: for removal, or when the companion is gone.

use super::{Control, Done, NotDone};
use crate::cluster::Trouble;
use sluicegate_core::intent::Fresh;
use sluicegate_core::object::Reference;
use sluicegate_core::release::{Outcome, Standing, end_bypass, free};
use sluicegate_core::text;

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Freed {
    /// It was resumed.
    Resumed,
    /// It would have been resumed: this is a dry run.
    Pretended,
    /// It is not held.
    NotHeld,
    /// `sluicegate.dev/release: never` is on it.
    Vetoed,
    /// It waits for something, and no reason was given not to.
    Waits(String),
    /// It could not be done.
    Failed(String),
}

/// How often a write is tried that others were faster than.
const TRIES: usize = 5;

impl Control {
    /// Resumes a held object if it may be resumed by now, or for this reason although it may not: then by the bypass, whose
    /// annotation is taken off again.
    pub async fn free(&self, own: &Reference, unsettled: Option<&str>) -> Freed {
        for _ in 0..TRIES {
            match self.try_to_free(own, unsettled).await {
                Err(NotDone::Trouble(Trouble::Conflict)) => {}
                Err(NotDone::Trouble(trouble)) => return Freed::Failed(trouble.to_string()),
                Err(NotDone::NotLeading) => return Freed::Failed("not the leader".to_owned()),
                Ok(freed) => return freed,
            }
        }
        Freed::Failed(Trouble::Conflict.to_string())
    }

    async fn try_to_free(&self, own: &Reference, unsettled: Option<&str>) -> Result<Freed, NotDone> {
        let (fresh, json) = self.fresh(own).await.map_err(NotDone::Trouble)?;
        let marked = match Standing::of(fresh.object(), self.settings.release.marks) {
            Standing::None => return Ok(Freed::NotHeld),
            Standing::Vetoed => return Ok(Freed::Vetoed),
            Standing::Held(marked) => marked,
        };
        let outcome = self.judge_fresh(fresh.object(), &json, &marked).await;
        let reason = match outcome {
            Outcome::Now => None,
            Outcome::Waits(wait) => match unsettled {
                Some(reason) => Some(reason),
                None => return Ok(Freed::Waits(text::held(&wait, own, &self.names(fresh.object())))),
            },
        };
        let Some(intent) = free(&fresh, &marked, &self.token(), reason) else { return Ok(Freed::NotHeld) };
        let written = match self.execute(&intent).await? {
            Done::Pretended => return Ok(Freed::Pretended),
            Done::Written(json) => json,
        };
        if reason.is_some() {
            self.take_bypass_off(own, &written).await?;
        }
        Ok(Freed::Resumed)
    }

    /// The bypass has done what it should: what stays would be there for the next one to find.
    async fn take_bypass_off(&self, own: &Reference, written: &[u8]) -> Result<(), NotDone> {
        let mut fresh = Fresh::read(own, written).ok();
        for _ in 0..TRIES {
            let now = match fresh.take() {
                Some(fresh) => fresh,
                None => self.fresh(own).await.map_err(NotDone::Trouble)?.0,
            };
            let Some(intent) = end_bypass(&now) else { return Ok(()) };
            match self.execute(&intent).await {
                Err(NotDone::Trouble(Trouble::Conflict)) => {}
                Ok(_) => return Ok(()),
                Err(why) => return Err(why),
            }
        }
        Err(NotDone::Trouble(Trouble::Conflict))
    }
}
