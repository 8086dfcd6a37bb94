//! The writes of an attempt.

use super::{at, attempted, fresh, stalled};
use serde_json::{Value, json};
use sluicegate_core::intent::{Intent, Part};
use sluicegate_core::recovery::{FORCED, Signal, count, lever, refresh, request, reset};
use sluicegate_core::testing::{sample, with};

/// What comes after the tests of UID and resource version.
fn operations(intent: &Intent) -> Vec<Value> {
    intent.body().as_array().unwrap()[2..].to_vec()
}

#[test]
fn the_counter_comes_first_and_makes_the_map_where_there_is_none() {
    let intent = count(&fresh(&stalled()), 1, at(31));
    assert_eq!(intent.purpose().part(), Part::Main);
    assert_eq!(
        operations(&intent),
        [
            json!({"op": "add", "path": "/metadata/annotations", "value": {}}),
            json!({"op": "add", "path": "/metadata/annotations/sluicegate.dev~1recovery-attempts", "value": "1"}),
            json!({"op": "add", "path": "/metadata/annotations/sluicegate.dev~1recovery-last-at",
                   "value": "2026-03-01T00:00:31.000Z"}),
        ]
    );
    assert_eq!(operations(&count(&fresh(&attempted(stalled(), 1, 0)), 2, at(31))).len(), 2);
}

#[test]
fn the_digest_is_cleared_and_no_condition_touched() {
    let json = stalled();
    let intent = lever(&fresh(&json), Signal::SourcesDigest, at(31)).unwrap();
    assert_eq!(intent.purpose().part(), Part::Status);
    assert_eq!(
        operations(&intent),
        [
            json!({"op": "test", "path": "/status/observedSourcesDigest", "value": json["status"]["observedSourcesDigest"]}),
            json!({"op": "remove", "path": "/status/observedSourcesDigest"}),
        ]
    );
    let cleared = with(json, &[("/status/observedSourcesDigest", json!(null))]);
    assert_eq!(lever(&fresh(&cleared), Signal::SourcesDigest, at(31)), None);
}

#[test]
fn the_other_signal_writes_one_condition_and_keeps_the_rest() {
    let intent = lever(&fresh(&stalled()), Signal::ReadyCondition, at(31)).unwrap();
    let written = operations(&intent);
    assert_eq!(written[0], json!({"op": "test", "path": "/status/conditions/0/type", "value": "Ready"}));
    assert_eq!(written[1]["op"], "replace");
    assert_eq!(written[1]["path"], "/status/conditions/0");
    assert_eq!(written[1]["value"]["status"], "False");
    assert_eq!(written[1]["value"]["reason"], FORCED);
    assert_eq!(written[1]["value"]["observedGeneration"], 2);
    assert_eq!(written.len(), 2);
    let marked = with(stalled(), &[("/status/conditions/Ready/reason", json!(FORCED))]);
    assert_eq!(lever(&fresh(&marked), Signal::ReadyCondition, at(31)), None);
}

#[test]
fn a_request_is_a_token_and_nothing_else() {
    let intent = request(&fresh(&attempted(stalled(), 1, 0)), "T");
    let token = "/metadata/annotations/reconcile.fluxcd.io~1requestedAt";
    assert_eq!(operations(&intent), [json!({"op": "add", "path": token, "value": "T"})]);
}

#[test]
fn what_a_request_alone_cures_takes_one_write() {
    let intent = refresh(&fresh(&sample::helm_chart("ns", "c")), "T", at(1));
    assert_eq!(operations(&intent).len(), 4);
    assert_eq!(intent.purpose().part(), Part::Main);
}

#[test]
fn the_attempts_are_forgotten_as_they_were_read() {
    let intent = reset(&fresh(&attempted(stalled(), 3, 0))).unwrap();
    let written = operations(&intent);
    assert_eq!(
        written[0],
        json!({"op": "test", "path": "/metadata/annotations/sluicegate.dev~1recovery-attempts", "value": "3"})
    );
    assert_eq!(written[1]["op"], "remove");
    assert_eq!(written.len(), 4);
}
