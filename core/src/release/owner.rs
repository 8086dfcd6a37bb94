//! Is the apply that was held past the objects it applies?
//!
//! A mark of cause `not-reached` says that the same apply may still be about to change an input. So before the inputs
//! are looked at, the owner must be seen past its apply.

use crate::gate::store::Known;
use crate::object::{Condition, Kind, Object, Reference};
use crate::settled::{Blocker, Readiness};
use chrono::{DateTime, TimeDelta, Utc};
use std::collections::BTreeMap;

/// When an object with the labels of an owner was last seen to change, by the companion's own clock.
pub type Activity = BTreeMap<Reference, DateTime<Utc>>;

/// Where the apply of an owner stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnerState {
    /// It is over.
    Past,
    /// It is under way, or has not begun.
    Applying,
    /// It failed before it had applied everything.
    Failed(Blocker),
    /// Its status does not tell: a while of silence must do.
    Unknown,
}

impl OwnerState {
    /// Judges an owner as it was read.
    #[must_use]
    pub(crate) fn of(reference: &Reference, known: Option<&Known>) -> Self {
        match known {
            Some(Known::Found(owner, _)) if reference.kind == Kind::Kustomization => Self::of_kustomization(owner),
            _ => Self::Unknown,
        }
    }

    /// Each run of kustomize-controller (1.9) first writes Ready Unknown, so any verdict is later than the request that
    /// was held. Health checks come after the apply: that they fail, or are given up, is no concern here.
    #[must_use]
    pub fn of_kustomization(owner: &Object) -> Self {
        let checking = owner.condition("Reconciling").is_some_and(|condition| {
            condition.is_true() && condition.message.as_deref().unwrap_or_default().starts_with("Running health checks")
        });
        let Some(ready) = owner.condition("Ready").filter(|_| !checking) else {
            return if checking { Self::Past } else { Self::Applying };
        };
        match ready.status.as_deref() {
            Some("True") => Self::Past,
            Some("False") => Self::of_failure(ready),
            _ => Self::Applying,
        }
    }

    fn of_failure(ready: &Condition) -> Self {
        if matches!(ready.reason.as_deref(), Some("HealthCheckFailed" | "HealthCheckCanceled")) {
            return Self::Past;
        }
        Self::Failed(Blocker::NotReady {
            readiness: Readiness::Failed,
            reason: ready.reason.clone(),
            message: ready.message.clone(),
            outdated: false,
        })
    }
}

/// When it has been silent long enough around an owner: after the mark, and after the last change of anything with its
/// labels. A time in the future counts as the first sight of the mark.
#[must_use]
pub(crate) fn silent_at(
    made: Option<DateTime<Utc>>,
    first_seen: DateTime<Utc>,
    last_change: Option<DateTime<Utc>>,
    settle: TimeDelta,
    now: DateTime<Utc>,
) -> DateTime<Utc> {
    let past = |time: DateTime<Utc>| if time > now { first_seen.min(now) } else { time };
    let start = past(made.unwrap_or(first_seen)).max(last_change.map_or(DateTime::<Utc>::MIN_UTC, past));
    start.checked_add_signed(settle).unwrap_or(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{object, sample, with};
    use rstest::rstest;
    use serde_json::{Value, json};

    fn state(fields: &[(&str, Value)]) -> OwnerState {
        OwnerState::of_kustomization(&object(&with(sample::kustomization("ns", "owner"), fields)))
    }

    const STATUS: &str = "/status/conditions/Ready/status";
    const REASON: &str = "/status/conditions/Ready/reason";
    const RUNNING: &str = "/status/conditions/Reconciling";

    #[rstest]
    #[case(&[], OwnerState::Past)]
    #[case(&[("/spec/suspend", json!(true))], OwnerState::Past)]
    #[case(&[(STATUS, json!("False")), (REASON, json!("HealthCheckFailed"))], OwnerState::Past)]
    #[case(&[(STATUS, json!("False")), (REASON, json!("HealthCheckCanceled"))], OwnerState::Past)]
    #[case(&[(STATUS, json!("Unknown"))], OwnerState::Applying)]
    #[case(&[(STATUS, json!("maybe"))], OwnerState::Applying)]
    #[case(&[("/status", json!(null))], OwnerState::Applying)]
    #[case(
        &[(STATUS, json!("Unknown")), (RUNNING, json!({"type": "Reconciling", "status": "True",
          "message": "Running health checks for revision main@sha1:1 with a timeout of 5m0s"}))],
        OwnerState::Past
    )]
    #[case(
        &[(STATUS, json!("Unknown")), (RUNNING, json!({"type": "Reconciling", "status": "True",
          "message": "Detecting drift for revision main@sha1:1 with a timeout of 5m0s"}))],
        OwnerState::Applying
    )]
    fn tells_where_an_apply_stands(#[case] fields: &[(&str, Value)], #[case] expected: OwnerState) {
        assert_eq!(state(fields), expected);
    }

    #[rstest]
    #[case("ReconciliationFailed")]
    #[case("DependencyNotReady")]
    #[case("ArtifactFailed")]
    fn another_failure_is_the_blocker(#[case] reason: &str) {
        let state = state(&[(STATUS, json!("False")), (REASON, json!(reason))]);
        assert!(
            matches!(state, OwnerState::Failed(Blocker::NotReady { readiness: Readiness::Failed, .. })),
            "{state:?}"
        );
    }

    #[rstest]
    #[case::after_the_mark(Some(-5), -5, None, 5)]
    #[case::after_the_last_change(Some(-60), -60, Some(-2), 8)]
    #[case::a_mark_of_the_future_counts_from_first_sight(Some(3_600), -4, None, 6)]
    #[case::a_change_of_the_future_too(Some(-60), -4, Some(3_600), 6)]
    #[case::no_time_at_all(None, -3, None, 7)]
    fn silence_has_a_beginning(
        #[case] made: Option<i64>,
        #[case] seen: i64,
        #[case] changed: Option<i64>,
        #[case] expected: i64,
    ) {
        let now = DateTime::parse_from_rfc3339("2026-01-01T00:00:00Z").unwrap().with_timezone(&Utc);
        let at = |seconds: i64| now + TimeDelta::seconds(seconds);
        let silent = silent_at(made.map(at), at(seen), changed.map(at), TimeDelta::seconds(10), now);
        assert_eq!(silent, at(expected));
    }
}
