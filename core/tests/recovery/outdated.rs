//! The condition ArtifactOutdated that was left over.

use super::{at, attempted, fresh};
use chrono::TimeDelta;
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::recovery::{Memory, Staleness, decide_outdated};
use sluicegate_core::testing::{sample, snapshot, with};

fn left_over(json: Value) -> Value {
    let outdated = json!({"type": "ArtifactOutdated", "status": "True", "reason": "NewRevision"});
    with(json, &[("/status/conditions/ArtifactOutdated", outdated)])
}

fn decide(json: &Value, memory: &mut Memory, second: i64) -> Staleness {
    let fresh = fresh(json);
    memory.see(&fresh, &snapshot([]), at(second));
    decide_outdated(&fresh, memory, at(second))
}

#[rstest]
#[case(sample::helm_chart("ns", "c"))]
#[case(sample::oci_repository("ns", "o"))]
fn one_request_after_the_grace_and_then_no_more(#[case] json: Value) {
    let (json, mut memory) = (left_over(json), Memory::default());
    assert_eq!(decide(&json, &mut memory, 0), Staleness::Leave(Some(at(30) + TimeDelta::milliseconds(1))));
    assert_eq!(decide(&json, &mut memory, 31), Staleness::Refresh);
    let asked = attempted(json.clone(), 1, 31);
    assert_eq!(decide(&asked, &mut memory, 32), Staleness::Leave(Some(at(271))));
    assert_eq!(decide(&asked, &mut memory, 272), Staleness::GaveUp);
    let cured = with(asked, &[("/status/conditions/ArtifactOutdated", json!(null))]);
    assert_eq!(decide(&cured, &mut memory, 273), Staleness::Reset);
}

#[rstest]
#[case::another_kind(left_over(sample::git_repository("ns", "a")))]
#[case::not_ready(with(left_over(sample::helm_chart("ns", "a")), &[("/status/conditions/Ready/status", json!("False"))]))]
#[case::the_message_is_of_another_artifact(
    with(left_over(sample::helm_chart("ns", "a")), &[("/status/artifact/revision", json!("9.9.9"))])
)]
#[case::a_message_that_we_do_not_know(
    with(left_over(sample::helm_chart("ns", "a")), &[("/status/conditions/ArtifactInStorage/message", json!("stored"))])
)]
#[case::suspended(with(left_over(sample::helm_chart("ns", "a")), &[("/spec/suspend", json!(true))]))]
#[case::deleting(with(left_over(sample::helm_chart("ns", "a")), &[("/metadata/deletionTimestamp", json!("x"))]))]
#[case::a_newer_spec(with(left_over(sample::helm_chart("ns", "a")), &[("/metadata/generation", json!(3))]))]
fn it_must_be_left_over(#[case] json: Value) {
    let mut memory = Memory::default();
    decide(&json, &mut memory, 0);
    assert_eq!(decide(&json, &mut memory, 3_600), Staleness::Leave(None));
}
