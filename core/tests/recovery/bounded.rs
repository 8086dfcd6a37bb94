//! Whatever happens to a generator, recovery is bounded: a simulation of controllers that answer or do not, of writes that
//! are lost, of restarts, and of a clock that jumps.

use super::{at, attempted, stalled};
use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Value, json};
use sluicegate_core::recovery::{ATTEMPTS, Memory, Tracking, Verdict, delay};
use sluicegate_core::testing::with;

#[derive(Clone, Copy, Debug)]
enum Happens {
    /// Time passes.
    Pass(i64),
    /// The companion starts anew.
    Restart,
    /// The clock is set back.
    Back(i64),
    /// The controller says something honest.
    Honest(bool),
    /// The controller takes it up, and its result is lost again.
    Stalls,
    /// The spec is edited.
    Edit,
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        8 => (1..200_i64).prop_map(Happens::Pass),
        1 => Just(Happens::Restart),
        1 => (1..600_i64).prop_map(Happens::Back),
        1 => any::<bool>().prop_map(Happens::Honest),
        3 => Just(Happens::Stalls),
        1 => Just(Happens::Edit),
    ]
}

fn ready(json: Value, status: &str) -> Value {
    let reason = if status == "Unknown" { "Progressing" } else { "Done" };
    with(
        json,
        &[
            ("/status/conditions/Ready/status", json!(status)),
            ("/status/conditions/Ready/reason", json!(reason)),
            ("/status/observedSourcesDigest", stalled()["status"]["observedSourcesDigest"].clone()),
        ],
    )
}

proptest! {
    #![proptest_config(Config { cases: 100, failure_persistence: None, ..Config::default() })]

    #[test]
    fn no_more_than_five_attempts_between_two_honest_verdicts(steps in prop::collection::vec(happens(), 1..80)) {
        let (mut json, mut memory, mut now) = (stalled(), Memory::default(), 0);
        let (mut made, mut last) = (0, None::<i64>);
        for step in steps {
            match step {
                Happens::Pass(seconds) => now += seconds,
                Happens::Restart => memory = Memory::default(),
                Happens::Back(seconds) => {
                    now -= seconds;
                    last = None;
                }
                Happens::Honest(good) => json = ready(json, if good { "True" } else { "False" }),
                Happens::Stalls => json = ready(json, "Unknown"),
                Happens::Edit => {
                    let generation = json["metadata"]["generation"].as_i64().unwrap() + 1;
                    let fields = [
                        ("/metadata/generation", json!(generation)),
                        ("/status/conditions/Ready/observedGeneration", json!(generation)),
                    ];
                    json = with(json, &fields);
                }
            }
            match super::verdict_seen(&json, &mut memory, now) {
                Verdict::Force { attempt, .. } => {
                    made += 1;
                    prop_assert_eq!(attempt, made, "each attempt is counted");
                    prop_assert!(made <= ATTEMPTS);
                    if let Some(last) = last.filter(|_| made > 1) {
                        prop_assert!(now - last >= delay(made - 1).num_seconds(), "attempt {} came too early", made);
                    }
                    last = Some(now);
                    json = with(attempted(json, attempt, now), &[("/status/observedSourcesDigest", Value::Null)]);
                    memory.attempted();
                }
                Verdict::Reset => {
                    prop_assert!(made > 0);
                    (made, last) = (0, None);
                    let gone = [
                        ("/metadata/annotations/sluicegate.dev~1recovery-attempts", Value::Null),
                        ("/metadata/annotations/sluicegate.dev~1recovery-last-at", Value::Null),
                    ];
                    json = with(json, &gone);
                }
                Verdict::GaveUp => prop_assert_eq!(made, ATTEMPTS),
                Verdict::Wait { attempts, until } => {
                    prop_assert_eq!(attempts, made);
                    prop_assert!(until > at(now), "it would look again at once, for ever");
                }
                Verdict::Leave(next) => prop_assert!(next.is_none_or(|next| next > at(now))),
            }
        }
    }

    #[test]
    fn whatever_the_annotations_hold_there_is_a_number_of_attempts(attempts in ".{0,30}", last in ".{0,40}") {
        let tracking = Tracking::parse(Some(&attempts), Some(&last), at(0));
        prop_assert!(tracking.attempts <= ATTEMPTS);
        prop_assert!(tracking.last_at.is_none_or(|last| last <= at(0)));
    }
}
