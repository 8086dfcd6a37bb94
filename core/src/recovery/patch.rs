//! The writes of recovery, in their order: the counter with its time, the status lever, the request token.
//!
//! Each is made from a read of its own, or from what the API server answered to the write before: a Ready True that its
//! controller writes meanwhile makes the next one fail, and is never overwritten.

use super::tracking::{ATTEMPTS_KEY, LAST_AT_KEY, time};
use super::{FORCED, Signal};
use crate::intent::{Fresh, Intent, Purpose, annotation, condition};
use chrono::{DateTime, Utc};

const REQUESTED: &str = "reconcile.fluxcd.io/requestedAt";

/// Counts an attempt, before anything is done: a lost write is an attempt too, or a cluster that loses every write would
/// be tried for ever.
#[must_use]
pub fn count(fresh: &Fresh, attempt: u32, now: DateTime<Utc>) -> Intent {
    let mut intent = Intent::new(fresh, Purpose::Count);
    intent.annotate(fresh, &[(ATTEMPTS_KEY, &attempt.to_string()), (LAST_AT_KEY, &time(now))]);
    intent
}

/// Makes the generator see drift at its next pass; `None` where that is so already.
#[must_use]
pub fn lever(fresh: &Fresh, signal: Signal, now: DateTime<Utc>) -> Option<Intent> {
    let object = fresh.object();
    let mut intent = Intent::new(fresh, Purpose::Lever);
    match signal {
        Signal::SourcesDigest => {
            let digest = object.status.observed_sources_digest.as_deref()?;
            intent.test("/status/observedSourcesDigest", digest);
            intent.remove("/status/observedSourcesDigest");
        }
        Signal::ReadyCondition => {
            let before = object.condition("Ready");
            if before.is_some_and(|ready| ready.reason.as_deref() == Some(FORCED)) {
                return None;
            }
            let text = ("False", FORCED, crate::text::FORCED_MESSAGE);
            let ready = condition(before, "Ready", text, object.metadata.generation, &time(now));
            intent.set_condition(fresh, "Ready", ready);
        }
    }
    Some(intent)
}

/// Wakes the controller. It does nothing by itself.
#[must_use]
pub fn request(fresh: &Fresh, token: &str) -> Intent {
    let mut intent = Intent::new(fresh, Purpose::Request);
    intent.annotate(fresh, &[(REQUESTED, token)]);
    intent
}

/// Counts the one attempt there is for an object that a request alone cures, and makes it.
#[must_use]
pub fn refresh(fresh: &Fresh, token: &str, now: DateTime<Utc>) -> Intent {
    let mut intent = Intent::new(fresh, Purpose::Refresh);
    intent.annotate(fresh, &[(ATTEMPTS_KEY, "1"), (LAST_AT_KEY, &time(now)), (REQUESTED, token)]);
    intent
}

/// Forgets the attempts; `None` where there is nothing to forget.
#[must_use]
pub fn reset(fresh: &Fresh) -> Option<Intent> {
    let mut intent = Intent::new(fresh, Purpose::Reset);
    let mut any = false;
    for key in [ATTEMPTS_KEY, LAST_AT_KEY] {
        if let Some(value) = fresh.annotation(key) {
            intent.test(&annotation(key), value);
            intent.remove(&annotation(key));
            any = true;
        }
    }
    any.then_some(intent)
}
