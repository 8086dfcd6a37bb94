//! The behaviours that cozystack tests, in its order. 18 to 23 stand beside the schedule and the reading of the
//! annotations; 24, about cloning a map, has no counterpart.

use super::{at, attempted, fresh, stalled, tracked, verdict, verdict_seen};
use chrono::TimeDelta;
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::recovery::{Case, FORCED, Memory, Report, Verdict};
use sluicegate_core::testing::{set, with};

const DIGEST: &str = "/status/observedSourcesDigest";
const INVENTORY: &str = "/status/inventory";
const READY: &str = "/status/conditions/Ready";

fn force(attempt: u32) -> Verdict {
    Verdict::Force { attempt, case: Case::Stalled }
}

fn wait(attempts: u32, until: i64) -> Verdict {
    Verdict::Wait { attempts, until: at(until) }
}

fn later(seconds: i64) -> Verdict {
    Verdict::Leave(Some(at(seconds) + TimeDelta::milliseconds(1)))
}

#[rstest]
#[case::b01_nothing_observed(&[(DIGEST, json!(null)), (INVENTORY, json!(null))])]
#[case::b02_no_digest(&[(DIGEST, json!(null))])]
#[case::b03_empty_inventory(&[(INVENTORY, json!([]))])]
#[case::b08_of_a_prior_generation(&[("/status/conditions/Ready/observedGeneration", json!(1))])]
#[case::b09_ready(&[("/status/conditions/Ready/status", json!("True")), ("/status/conditions/Reconciling", json!(null))])]
#[case::b10_failed(&[("/status/conditions/Ready/status", json!("False"))])]
fn what_is_not_stalled(#[case] fields: &[(&str, Value)]) {
    assert_eq!(verdict(&with(stalled(), fields), 3_600), Verdict::Leave(None));
}

/// 4 and 5. The design counts from the first sight, not from the creation: a restart begins the grace anew.
#[test]
fn b04_b05_an_absent_ready_has_its_grace_from_first_sight() {
    let json = with(stalled(), &[(READY, json!(null))]);
    let mut memory = Memory::default();
    assert_eq!(verdict_seen(&json, &mut memory, 1_000), later(1_030));
    assert_eq!(verdict_seen(&json, &mut memory, 1_030), later(1_030));
    assert_eq!(verdict_seen(&json, &mut memory, 1_031), force(1));
    assert_eq!(verdict(&json, 1_031), later(1_061));
}

#[rstest]
#[case::b06_within_grace(25, later(30))]
#[case::the_bound(30, later(30))]
#[case::b07_b11_past_grace_and_no_attempt(31, force(1))]
fn an_unknown_ready_has_its_grace_from_its_transition(#[case] second: i64, #[case] expected: Verdict) {
    assert_eq!(verdict(&stalled(), second), expected);
}

#[rstest]
#[case::b12_inside_the_window(1, 10, wait(1, 130))]
#[case::b13_b42_the_window_is_over(1, 30, force(2))]
#[case::b14_the_third(3, 30, wait(3, 220))]
#[case::b15_b37_b43_exhausted_and_over(5, 240, Verdict::GaveUp)]
#[case::b17_b44_exhausted_and_pending(5, 239, wait(5, 340))]
fn attempts_follow_the_schedule(#[case] attempts: u32, #[case] after: i64, #[case] expected: Verdict) {
    assert_eq!(verdict(&attempted(stalled(), attempts, 100), 100 + after), expected);
}

#[test]
fn b16_more_attempts_than_there_are() {
    assert_eq!(verdict(&tracked(stalled(), "900", "2026-03-01T00:00:00Z"), 3_600), Verdict::GaveUp);
}

/// 29. Nothing to clear, no request.
#[test]
fn b29_an_honest_verdict_without_attempts_asks_for_nothing() {
    let json = with(stalled(), &[("/status/conditions/Ready/status", json!("False"))]);
    assert_eq!(verdict(&json, 100), Verdict::Leave(None));
    assert_eq!(sluicegate_core::recovery::reset(&fresh(&json)), None);
}

/// 38. A transition time resets nothing.
#[test]
fn b38_a_newer_transition_keeps_the_count() {
    let json = attempted(stalled(), 2, 0);
    let json = with(json, &[("/status/conditions/Ready/lastTransitionTime", json!(at(50).to_rfc3339()))]);
    assert_eq!(verdict(&json, 55), wait(2, 60));
    assert_eq!(verdict(&json, 61), force(3));
}

fn marked(attempts: u32, last: i64) -> Value {
    let mut json = attempted(stalled(), attempts, last);
    set(&mut json, "/status/conditions/Ready/status", json!("False"));
    set(&mut json, "/status/conditions/Ready/reason", json!(FORCED));
    json
}

/// 39, 42, 43, 44: our own marker coming back is no verdict.
#[rstest]
#[case::b39(1, 10, wait(1, 30))]
#[case::b42(1, 31, force(2))]
#[case::b43(5, 241, Verdict::GaveUp)]
#[case::b44(5, 100, wait(5, 240))]
fn our_own_marker_is_no_verdict(#[case] attempts: u32, #[case] second: i64, #[case] expected: Verdict) {
    assert_eq!(verdict(&marked(attempts, 0), second), expected);
}

#[test]
fn our_marker_of_a_prior_generation_is_ours_still() {
    let json = with(marked(1, 0), &[("/status/conditions/Ready/observedGeneration", json!(1))]);
    assert_eq!(verdict(&json, 31), force(2));
}

/// 40. Progressing after an attempt, with the digest that the lever cleared.
#[rstest]
#[case(json!(null))]
#[case(json!(""))]
fn b40_at_work_after_an_attempt_is_the_same_stall(#[case] digest: Value) {
    let json = with(attempted(stalled(), 1, 0), &[(DIGEST, digest)]);
    assert_eq!(verdict(&json, 10), wait(1, 30));
    assert_eq!(verdict(&json, 31), force(2));
}

/// 41.
#[test]
fn b41_an_honest_verdict_resets() {
    for status in ["True", "False"] {
        let fields =
            [("/status/conditions/Ready/status", json!(status)), ("/status/conditions/Reconciling", json!(null))];
        assert_eq!(verdict(&with(attempted(stalled(), 3, 0), &fields), 100), Verdict::Reset);
    }
}

/// 31 to 37, as far as a verdict decides them.
#[test]
fn b32_b33_b35_b37_what_a_package_source_is_told() {
    let told = |json: &Value, second: i64| Report::of(&fresh(json), verdict(json, second));
    let brief = |report: Report| (report.status.to_string(), report.reason.to_string());
    let pair = |status: &str, reason: &str| (status.to_owned(), reason.to_owned());
    assert_eq!(brief(told(&stalled(), 10)), pair("Unknown", "Progressing"));
    let absent = with(stalled(), &[(READY, json!(null))]);
    assert_eq!(brief(told(&absent, 10)), pair("Unknown", "ArtifactGeneratorNotReady"));
    assert_eq!(brief(told(&stalled(), 31)), pair("Unknown", "AwaitingSourceWatcherRecovery"));
    assert_eq!(brief(told(&attempted(stalled(), 1, 0), 10)), pair("Unknown", "AwaitingSourceWatcherRecovery"));
    assert_eq!(brief(told(&attempted(stalled(), 5, 0), 999)), pair("False", "SourceWatcherStalled"));
}

// What cozystack does not test.

#[rstest]
#[case("/metadata/annotations/source.extensions.fluxcd.io~1reconcile", json!("disabled"))]
#[case("/metadata/deletionTimestamp", json!("2026-03-01T00:00:00Z"))]
#[case("/status/conditions/Stalled", json!({"type": "Stalled", "status": "True"}))]
#[case("/spec/sources/0/name", json!("gone"))]
#[case(DIGEST, json!("sha256:old"))]
fn hands_off(#[case] field: &str, #[case] value: Value) {
    for json in [stalled(), attempted(stalled(), 2, 0), attempted(stalled(), 5, 0)] {
        let json = with(json, &[(field, value.clone())]);
        assert_eq!(verdict(&json, 3_600), Verdict::Leave(None), "{json}");
    }
}

#[test]
fn a_build_for_a_new_revision_is_left_alone_however_long_it_takes() {
    let mut memory = Memory::default();
    let json = with(stalled(), &[(DIGEST, json!("sha256:of the revision before"))]);
    for second in [0, 31, 600, 86_400] {
        assert_eq!(verdict_seen(&json, &mut memory, second), Verdict::Leave(None));
    }
}

#[test]
fn a_controller_that_never_answers_leads_to_the_give_up() {
    let (mut json, mut made, mut second) = (stalled(), Vec::new(), 0);
    let mut memory = Memory::default();
    let end = loop {
        match verdict_seen(&json, &mut memory, second) {
            Verdict::Force { attempt, .. } => {
                made.push(second);
                json = with(attempted(json, attempt, second), &[(DIGEST, json!(null))]);
            }
            Verdict::GaveUp => break second,
            _ => second += 1,
        }
    };
    assert_eq!(made, [31, 61, 121, 241, 481]);
    assert_eq!(end, 721);
    assert_eq!(verdict_seen(&json, &mut memory, 86_400), Verdict::GaveUp);
}

#[rstest]
#[case::garbage("many", "whenever", force(1))]
#[case::a_time_of_the_future("2", "2999-01-01T00:00:00Z", force(3))]
#[case::no_time("2", "", force(3))]
fn odd_annotations(#[case] attempts: &str, #[case] last: &str, #[case] expected: Verdict) {
    assert_eq!(verdict(&tracked(stalled(), attempts, last), 100), expected);
}

#[test]
fn a_transition_of_the_future_has_its_grace_from_first_sight() {
    let json = with(stalled(), &[("/status/conditions/Ready/lastTransitionTime", json!("2999-01-01T00:00:00Z"))]);
    let mut memory = Memory::default();
    assert_eq!(verdict_seen(&json, &mut memory, 100), later(130));
    assert_eq!(verdict_seen(&json, &mut memory, 131), force(1));
}

#[test]
fn a_pattern_makes_as_many_artifacts_as_it_likes() {
    let outputs = json!([{"name": "a", "pathPattern": "apps/*"}, {"name": "b"}]);
    assert_eq!(verdict(&with(stalled(), &[("/spec/artifacts", outputs)]), 31), force(1));
    assert_eq!(
        verdict(&with(stalled(), &[("/spec/artifacts", json!([{"name": "a"}, {"name": "b"}]))]), 31),
        Verdict::Leave(None)
    );
}

const OPERATOR_LAST: &str = "/metadata/annotations/cozystack.io~1source-watcher-last-recovery-at";
const OPERATOR_COUNT: &str = "/metadata/annotations/cozystack.io~1source-watcher-recovery-attempts";

#[test]
fn where_the_operator_is_at_work_ours_does_nothing() {
    let theirs = [(OPERATOR_LAST, json!("2026-03-01T00:01:00.5Z")), (OPERATOR_COUNT, json!("1"))];
    let json = with(stalled(), &theirs);
    assert!(matches!(verdict(&json, 62), Verdict::Leave(Some(_))));
    assert!(matches!(verdict(&json, 420), Verdict::Leave(Some(_))));
    assert_eq!(verdict(&json, 421), force(1));
    let marker = with(
        stalled(),
        &[
            ("/status/conditions/Ready/status", json!("False")),
            ("/status/conditions/Ready/reason", json!("SourceWatcherRecoveryForced")),
        ],
    );
    assert!(matches!(verdict(&marker, 62), Verdict::Leave(Some(_))));
    // An old counter without a time is nobody at work.
    assert_eq!(verdict(&with(stalled(), &[(OPERATOR_COUNT, json!("5"))]), 31), force(1));
}
