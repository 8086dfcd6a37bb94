//! What the webhook answers, to what it can judge and to what it cannot.

use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_host::{AdmissionResponse, Host, NoCluster, TIMEOUT_MESSAGE};

use super::client::{Webhook, review};
use crate::support::{Guest, request};

async fn webhook(guest: &Guest) -> Webhook {
    Webhook::start(Host::new(&guest.policy(), NoCluster)).await
}

#[tokio::test]
async fn a_verdict_is_a_whole_review() {
    let webhook = webhook(&Guest::answering(
        r#"{"accepted":false,"message":"no","code":403,"warnings":["w1","w2"],"audit_annotations":{"rule":"cycle"}}"#,
    ))
    .await;
    let (status, answer) = webhook.post("/validate/sluicegate", &review(request()).to_string()).await;
    assert_eq!(status, 200);
    assert_eq!(
        answer,
        concat!(
            r#"{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"uid-1","allowed":false,"#,
            r#""status":{"message":"no","code":403},"auditAnnotations":{"rule":"cycle"},"warnings":["w1","w2"]}}"#
        )
    );
}

#[tokio::test]
async fn a_mutation_is_a_patch() {
    let guest = Guest::answering(r#"{"accepted":true,"mutated_object":{"spec":{"suspend":true}}}"#);
    let response = webhook(&guest).await.judge(request()).await;
    assert_eq!(response["patchType"], "JSONPatch");
    let response: AdmissionResponse = serde_json::from_value(response).unwrap();
    assert_eq!(response.patch(), Some(json!([{"op": "replace", "path": "/spec/suspend", "value": true}])));
}

const MUTATING: &str = r#"{"accepted":true,"mutated_object":{"spec":{"suspend":true}},"warnings":["w"]}"#;
const PLAIN: &str = r#"{"protocolVersion":"v1","rules":[],"mutating":false}"#;

#[tokio::test]
async fn a_policy_that_may_not_mutate_is_denied_its_patch() {
    let webhook = webhook(&Guest::answering(MUTATING).with_sections(&[PLAIN])).await;
    let response = webhook.judge(request()).await;
    assert_eq!(
        response,
        json!({
            "uid": "uid-1", "allowed": false,
            "status": {"message": "Request rejected by policy sluicegate. The policy attempted to mutate the request, but it is currently configured to not allow mutations."},
            "auditAnnotations": null, "warnings": ["w"]
        })
    );
    assert_eq!(webhook.metric(&evaluations("denied")).await, 1);
}

#[tokio::test]
async fn an_audit_has_no_constraint() {
    let webhook = webhook(&Guest::answering(MUTATING).with_sections(&[PLAIN])).await;
    let (status, answer) = webhook.post("/audit/sluicegate", &review(request()).to_string()).await;
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!((status, &answer["response"]["allowed"]), (200, &json!(true)));
}

#[tokio::test]
async fn a_trap_is_a_denial() {
    let webhook = webhook(&Guest::running("unreachable")).await;
    let response = webhook.judge(request()).await;
    let message = response["status"]["message"].as_str().unwrap();
    let expected = "internal server error: Guest call failure: error while executing at wasm backtrace:\n";
    assert!(message.starts_with(expected), "{message}");
    assert_eq!((&response["allowed"], &response["status"]["code"]), (&json!(false), &json!(500)));
    assert_eq!(webhook.metric("sluicegate_host_traps_total").await, 1);
    assert_eq!(webhook.metric(&evaluations("trap")).await, 1);
    // The next one has an instance of its own.
    assert_eq!(webhook.judge(request()).await["status"]["code"], 500);
}

#[tokio::test]
async fn a_guest_out_of_time_is_a_denial() {
    let policy = Guest::running("(loop $l (br $l)) (i32.const 1)").policy_with_short_ticks();
    let webhook = Webhook::start(Host::new(&policy, NoCluster)).await;
    let response = webhook.judge(request()).await;
    assert_eq!(response["status"], json!({"message": TIMEOUT_MESSAGE, "code": 500}));
    assert_eq!(response["allowed"], false);
    assert_eq!(webhook.metric("sluicegate_host_timeouts_total").await, 1);
    assert_eq!(webhook.metric(&evaluations("timeout")).await, 1);
}

#[tokio::test]
async fn a_guest_that_says_it_failed_is_a_denial() {
    let webhook = webhook(&Guest::failing("no idea")).await;
    let response = webhook.judge(request()).await;
    assert_eq!(
        response["status"],
        json!({"message": "internal server error: Guest call failure: no idea", "code": 500})
    );
    assert_eq!(webhook.metric(&evaluations("error")).await, 1);
    assert_eq!(webhook.metric("sluicegate_host_traps_total").await, 0);
}

#[tokio::test]
async fn a_guest_that_cannot_start_is_an_error() {
    let webhook = webhook(&Guest::default().with_init("unreachable")).await;
    let answer = webhook.post("/validate/sluicegate", &review(request()).to_string()).await;
    assert_eq!(answer, (500, r#"{"message":"Something went wrong","status":500}"#.to_owned()));
}

#[rstest]
#[case::no_json("{", 400, "Failed to parse the request body as JSON: EOF while parsing an object at line 1 column 1")]
#[case::no_review(
    "[]",
    422,
    "Failed to deserialize the JSON body into the target type: invalid length 0, expected struct AdmissionReviewRequest with 3 elements at line 1 column 2"
)]
#[case::no_request(
    r#"{"kind":"AdmissionReview"}"#,
    422,
    "Failed to deserialize the JSON body into the target type: missing field `request` at line 1 column 26"
)]
#[case::no_uid(
    r#"{"request":{}}"#,
    422,
    "Failed to deserialize the JSON body into the target type: request: missing field `uid` at line 1 column 13"
)]
#[tokio::test]
async fn a_body_that_cannot_be_read_is_an_error(#[case] body: &str, #[case] status: u16, #[case] message: &str) {
    let webhook = webhook(&Guest::answering(r#"{"accepted":true}"#)).await;
    let (code, answer) = webhook.post("/validate/sluicegate", body).await;
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!((code, answer), (status, json!({"message": message, "status": status})));
}

#[tokio::test]
async fn a_body_of_another_type_is_an_error() {
    let webhook = webhook(&Guest::answering(r#"{"accepted":true}"#)).await;
    let body = review(request()).to_string();
    let answer = Webhook::send(webhook.client(), "POST", "/validate/sluicegate", Some("text/plain"), body).await;
    let message = r#"{"message":"Expected request with `Content-Type: application/json`","status":415}"#;
    assert_eq!(answer, (415, message.to_owned()));
}

#[rstest]
#[case::just_fits(2 * 1024 * 1024, 200)]
#[case::one_more(2 * 1024 * 1024 + 1, 413)]
#[tokio::test]
async fn a_body_has_two_mebibytes_at_most(#[case] bytes: usize, #[case] status: u16) {
    let webhook = webhook(&Guest::answering(r#"{"accepted":true}"#)).await;
    let body = review(request()).to_string();
    let padded = body.clone() + &" ".repeat(bytes - body.len());
    let (code, answer) = webhook.post("/validate/sluicegate", &padded).await;
    assert_eq!(code, status, "{answer}");
    if status == 413 {
        let expected = r#"{"message":"Failed to buffer the request body: length limit exceeded","status":413}"#;
        assert_eq!(answer, expected);
    }
}

#[rstest]
#[case::another_policy("POST", "/validate/other", 404, r#"{"message":"unknown policy: other","status":404}"#)]
#[case::no_policy("POST", "/validate", 404, "")]
#[case::elsewhere("POST", "/", 404, "")]
#[case::wrong_method("GET", "/validate/sluicegate", 405, "")]
#[case::readiness("GET", "/readiness", 200, "")]
#[tokio::test]
async fn paths(#[case] method: &str, #[case] path: &str, #[case] status: u16, #[case] body: &str) {
    let webhook = webhook(&Guest::answering(r#"{"accepted":true}"#)).await;
    let sent = review(request()).to_string();
    let answer = Webhook::send(webhook.client(), method, path, Some("application/json"), sent).await;
    assert_eq!(answer, (status, body.to_owned()));
}

#[tokio::test]
async fn verdicts_are_counted() {
    let webhook = webhook(&Guest::answering(r#"{"accepted":true}"#)).await;
    let mut dry = request();
    dry["dryRun"] = json!(true);
    for request in [request(), dry.clone(), dry] {
        webhook.judge(request).await;
    }
    assert_eq!(webhook.metric(&evaluations("admitted")).await, 1);
    let dry_runs = evaluations("admitted").replace(r#"dry_run="false""#, r#"dry_run="true""#);
    assert_eq!(webhook.metric(&dry_runs).await, 2);
    assert_eq!(webhook.metric("sluicegate_host_evaluations_running").await, 0);
    assert_eq!(webhook.metric("sluicegate_host_abandoned_total").await, 0);
}

fn evaluations(verdict: &str) -> String {
    format!(r#"sluicegate_host_evaluations_total{{kind="K",operation="UPDATE",dry_run="false",verdict="{verdict}"}}"#)
}
