//! The condition that says that an object is held.
//!
//! It is Reconciling, so that `flux get`, `kubectl get` and a parent that waits see an object at work: a suspended object
//! that was ready before looks done to them. kustomize-controller 1.9 takes it off itself when it reconciles the released
//! object, and drops it when a request token arrives at the suspended one: then it has to be written again.

use crate::intent::{Fresh, Intent, Purpose, condition};
use crate::object::Condition;
use chrono::{DateTime, SecondsFormat, Utc};

/// The reason of the condition.
pub const HELD_REASON: &str = "Held";

const RECONCILING: &str = "Reconciling";

fn published(fresh: &Fresh) -> Option<&Condition> {
    fresh.object().condition(RECONCILING).filter(|condition| condition.reason.as_deref() == Some(HELD_REASON))
}

/// Whether the condition stands on the object.
#[must_use]
pub fn is_published(fresh: &Fresh) -> bool {
    published(fresh).is_some()
}

/// Writes the condition with this message; `None` where it says so already.
#[must_use]
pub fn hold(fresh: &Fresh, message: &str, now: DateTime<Utc>) -> Option<Intent> {
    let before = fresh.object().condition(RECONCILING);
    let same = published(fresh).is_some_and(|held| held.is_true() && held.message.as_deref() == Some(message));
    if same {
        return None;
    }
    let now = now.to_rfc3339_opts(SecondsFormat::Secs, true);
    let text = ("True", HELD_REASON, message);
    let held = condition(before, RECONCILING, text, fresh.object().metadata.generation, &now);
    let mut intent = Intent::new(fresh, Purpose::Publish);
    intent.set_condition(fresh, RECONCILING, held);
    Some(intent)
}

/// Takes the condition off; `None` where it is not there.
#[must_use]
pub fn unhold(fresh: &Fresh) -> Option<Intent> {
    published(fresh)?;
    let mut intent = Intent::new(fresh, Purpose::Unpublish);
    intent.remove_condition(fresh, RECONCILING);
    Some(intent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{reference, sample, with};
    use serde_json::{Value, json};

    fn fresh(fields: &[(&str, Value)]) -> Fresh {
        let json = with(sample::kustomization("ns", "a"), fields);
        Fresh::read(&reference(&json), json.to_string().as_bytes()).unwrap()
    }

    fn now() -> DateTime<Utc> {
        DateTime::parse_from_rfc3339("2026-02-01T00:00:00Z").unwrap().with_timezone(&Utc)
    }

    fn held(message: &str) -> Value {
        json!({"type": "Reconciling", "status": "True", "reason": "Held", "message": message,
               "observedGeneration": 2, "lastTransitionTime": "2026-01-01T00:00:00Z"})
    }

    #[test]
    fn it_is_added_to_what_others_wrote() {
        let intent = hold(&fresh(&[]), "held: x", now()).unwrap();
        assert_eq!(
            intent.body()[2],
            json!({"op": "add", "path": "/status/conditions/-", "value": {
                "type": "Reconciling", "status": "True", "reason": "Held", "message": "held: x",
                "observedGeneration": 2, "lastTransitionTime": "2026-02-01T00:00:00Z"}})
        );
    }

    #[test]
    fn another_message_keeps_the_time_and_the_same_one_is_no_write() {
        let before = fresh(&[("/status/conditions/Reconciling", held("held: x"))]);
        assert_eq!(hold(&before, "held: x", now()), None);
        let intent = hold(&before, "held: y", now()).unwrap();
        assert_eq!(intent.body()[3]["value"], held("held: y"));
        assert_eq!(intent.body()[3]["op"], "replace");
    }

    #[test]
    fn what_the_controller_says_of_its_own_work_stays() {
        let own = json!({"type": "Reconciling", "status": "True", "reason": "Progressing"});
        assert_eq!(unhold(&fresh(&[("/status/conditions/Reconciling", own)])), None);
        assert_eq!(unhold(&fresh(&[])), None);
    }

    #[test]
    fn it_is_taken_off_by_its_place() {
        let intent = unhold(&fresh(&[("/status/conditions/Reconciling", held("held: x"))])).unwrap();
        assert_eq!(intent.body()[3], json!({"op": "remove", "path": "/status/conditions/1"}));
    }
}
