//! The states that must be seen over time: a lost edit, and sources that moved on.

use super::{at, attempted, verdict, verdict_seen};
use chrono::TimeDelta;
use serde_json::{Value, json};
use sluicegate_core::recovery::{Case, Memory, Verdict};
use sluicegate_core::testing::{sample, with};

fn working(generation: i64, of: i64) -> Value {
    with(
        sample::artifact_generator("ns", "g"),
        &[
            ("/metadata/generation", json!(generation)),
            ("/status/conditions/Ready/observedGeneration", json!(of)),
            ("/status/conditions/Ready/status", json!("Unknown")),
            ("/status/conditions/Ready/lastTransitionTime", json!("2026-03-01T00:00:00Z")),
            ("/status/conditions/Reconciling", json!({"type": "Reconciling", "status": "True"})),
        ],
    )
}

fn ready(generation: i64) -> Value {
    with(
        sample::artifact_generator("ns", "g"),
        &[
            ("/metadata/generation", json!(generation)),
            ("/status/conditions/Ready/observedGeneration", json!(generation)),
        ],
    )
}

#[test]
fn an_edit_during_a_build_is_lost_and_found() {
    let mut memory = Memory::default();
    assert!(matches!(verdict_seen(&working(2, 2), &mut memory, 0), Verdict::Leave(_)));
    assert!(matches!(verdict_seen(&working(3, 2), &mut memory, 1), Verdict::Leave(_)));
    assert_eq!(verdict_seen(&ready(3), &mut memory, 2), Verdict::Force { attempt: 1, case: Case::LostEdit });
    memory.attempted();
    assert_eq!(verdict_seen(&attempted(ready(3), 1, 2), &mut memory, 3), Verdict::Reset);
    assert_eq!(verdict_seen(&ready(3), &mut memory, 4), Verdict::Leave(None));
}

#[test]
fn an_edit_of_a_generator_at_rest_is_its_controllers() {
    let mut memory = Memory::default();
    assert_eq!(verdict_seen(&ready(2), &mut memory, 0), Verdict::Leave(None));
    let edited = with(ready(2), &[("/metadata/generation", json!(3))]);
    assert_eq!(verdict_seen(&edited, &mut memory, 1), Verdict::Leave(None));
    assert!(matches!(verdict_seen(&working(3, 3), &mut memory, 2), Verdict::Leave(_)));
    assert_eq!(verdict_seen(&ready(3), &mut memory, 3), Verdict::Leave(None));
}

#[test]
fn a_failed_build_sees_the_edit_by_itself() {
    let mut memory = Memory::default();
    verdict_seen(&working(2, 2), &mut memory, 0);
    verdict_seen(&working(3, 2), &mut memory, 1);
    let failed = with(ready(3), &[("/status/conditions/Ready/status", json!("False"))]);
    assert_eq!(verdict_seen(&failed, &mut memory, 2), Verdict::Leave(None));
    assert_eq!(verdict_seen(&ready(3), &mut memory, 3), Verdict::Leave(None));
}

#[test]
fn another_object_of_the_same_name_begins_anew() {
    let mut memory = Memory::default();
    verdict_seen(&working(2, 2), &mut memory, 0);
    verdict_seen(&working(3, 2), &mut memory, 1);
    let other = with(ready(3), &[("/metadata/uid", json!("another"))]);
    assert_eq!(verdict_seen(&other, &mut memory, 2), Verdict::Leave(None));
}

#[test]
fn sources_that_moved_on_have_a_grace_of_their_own() {
    let json = with(ready(2), &[("/status/observedSourcesDigest", json!("sha256:old"))]);
    let mut memory = Memory::default();
    let later = Verdict::Leave(Some(at(130) + TimeDelta::milliseconds(1)));
    assert_eq!(verdict_seen(&json, &mut memory, 100), later);
    assert_eq!(verdict_seen(&json, &mut memory, 130), later);
    assert_eq!(verdict_seen(&json, &mut memory, 131), Verdict::Force { attempt: 1, case: Case::DigestBehind });
    // The lever was pulled and the request was lost: the same trouble, on the schedule, not at once and not for ever.
    let pulled = with(attempted(json, 1, 131), &[("/status/observedSourcesDigest", json!(null))]);
    assert_eq!(verdict_seen(&pulled, &mut memory, 140), Verdict::Wait { attempts: 1, until: at(161) });
    assert_eq!(verdict_seen(&pulled, &mut memory, 162), Verdict::Force { attempt: 2, case: Case::DigestBehind });
    // Only when it has caught up is it honest.
    assert_eq!(verdict_seen(&attempted(ready(2), 2, 162), &mut memory, 170), Verdict::Reset);
}

#[test]
fn a_generator_that_was_created_disabled_is_woken() {
    let json = with(
        ready(2),
        &[
            ("/status/conditions/Ready/reason", json!("ReconciliationDisabled")),
            ("/status/observedSourcesDigest", json!(null)),
            ("/status/inventory", json!(null)),
        ],
    );
    let mut memory = Memory::default();
    verdict_seen(&json, &mut memory, 0);
    assert_eq!(verdict_seen(&json, &mut memory, 31), Verdict::Force { attempt: 1, case: Case::DigestBehind });
}

#[test]
fn a_clock_that_jumps_back_begins_the_grace_anew() {
    let json = with(ready(2), &[("/status/observedSourcesDigest", json!("sha256:old"))]);
    let mut memory = Memory::default();
    verdict_seen(&json, &mut memory, 10_000);
    assert!(matches!(verdict_seen(&json, &mut memory, 100), Verdict::Leave(Some(_))));
    assert!(matches!(verdict_seen(&json, &mut memory, 131), Verdict::Force { attempt: 1, .. }));
}

#[test]
fn what_is_settled_needs_nothing() {
    assert_eq!(verdict(&ready(2), 86_400), Verdict::Leave(None));
}
