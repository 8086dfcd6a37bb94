//! What a PackageSource is told of its generator.

use super::{at, fresh, stalled};
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::intent::Fresh;
use sluicegate_core::recovery::{FORCED, Report, Verdict, is_left_to_the_operator, report};
use sluicegate_core::testing::{sample, with};

fn source(fields: &[(&str, Value)]) -> Fresh {
    fresh(&with(sample::package_source("p"), fields))
}

#[test]
fn our_marker_never_leaks() {
    let marked = with(
        stalled(),
        &[("/status/conditions/Ready/status", json!("False")), ("/status/conditions/Ready/reason", json!(FORCED))],
    );
    for verdict in [Verdict::Leave(None), Verdict::Reset, Verdict::Wait { attempts: 1, until: at(9) }] {
        let told = Report::of(&fresh(&marked), verdict);
        assert_eq!((&*told.status, &*told.reason), ("Unknown", "AwaitingSourceWatcherRecovery"));
    }
}

#[test]
fn an_honest_verdict_is_copied_word_for_word_with_its_time() {
    let generator = fresh(&with(stalled(), &[("/status/conditions/Ready/status", json!("True"))]));
    let told = Report::of(&generator, Verdict::Leave(None));
    let intent = report(&source(&[]), &told, at(500)).unwrap();
    let body = intent.body();
    let written = &body.as_array().unwrap().last().unwrap()["value"];
    assert_eq!(written["status"], "True");
    assert_eq!(written["reason"], "Progressing");
    assert_eq!(written["lastTransitionTime"], "2026-03-01T00:00:00Z");
    assert_eq!(written["observedGeneration"], 2);
}

#[test]
fn what_is_there_already_is_not_written() {
    let generator = fresh(&stalled());
    let told = Report::of(&generator, Verdict::GaveUp);
    let ready = json!({"type": "Ready", "status": "False", "reason": "SourceWatcherStalled", "message": *told.message,
                       "observedGeneration": 2, "lastTransitionTime": "2026-03-01T00:00:00Z"});
    assert_eq!(report(&source(&[("/status/conditions/Ready", ready)]), &told, at(500)), None);
    assert!(report(&source(&[]), &told, at(500)).is_some());
    assert_eq!(report(&source(&[("/metadata/deletionTimestamp", json!("x"))]), &told, at(500)), None);
}

#[rstest]
#[case("sluicegate", "status", false)]
#[case("cozystack-operator", "status", true)]
#[case("kubectl", "", false)]
fn the_operator_is_whoever_writes_the_status(#[case] manager: &str, #[case] part: &str, #[case] theirs: bool) {
    let entry = json!({"manager": manager, "operation": "Update", "subresource": part});
    let source = source(&[("/metadata/managedFields", json!([entry]))]);
    assert_eq!(is_left_to_the_operator(&source, "sluicegate"), theirs);
}
