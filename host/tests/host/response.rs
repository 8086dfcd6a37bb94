//! From the guest's verdict to the admission response.

use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_host::{Evaluation, Host, NoCluster};

use crate::support::{Guest, request};

fn evaluate(answer: &str, request: &Value) -> Evaluation {
    Host::new(&Guest::answering(answer).policy(), NoCluster).validate(request).unwrap()
}

fn as_json(evaluation: &Evaluation) -> Value {
    serde_json::to_value(&evaluation.response).unwrap()
}

#[rstest]
#[case::accepted(r#"{"accepted":true}"#, r#"{"uid":"uid-1","allowed":true,"auditAnnotations":null,"warnings":null}"#)]
#[case::denied(
    r#"{"accepted":false,"message":"no","code":422}"#,
    r#"{"uid":"uid-1","allowed":false,"status":{"message":"no","code":422},"auditAnnotations":null,"warnings":null}"#
)]
#[case::message_alone(
    r#"{"accepted":false,"message":"no","code":null}"#,
    r#"{"uid":"uid-1","allowed":false,"status":{"message":"no"},"auditAnnotations":null,"warnings":null}"#
)]
#[case::code_alone(
    r#"{"accepted":false,"code":400}"#,
    r#"{"uid":"uid-1","allowed":false,"status":{"code":400},"auditAnnotations":null,"warnings":null}"#
)]
#[case::warned(
    r#"{"accepted":true,"warnings":["w"],"audit_annotations":{"b":"2","a":"1"},"unknown":1}"#,
    r#"{"uid":"uid-1","allowed":true,"auditAnnotations":{"a":"1","b":"2"},"warnings":["w"]}"#
)]
#[case::no_mutation(
    r#"{"accepted":true,"mutated_object":null}"#,
    r#"{"uid":"uid-1","allowed":true,"auditAnnotations":null,"warnings":null}"#
)]
#[case::empty_patch(
    r#"{"accepted":true,"mutated_object":{"spec":{"suspend":false}}}"#,
    r#"{"uid":"uid-1","allowed":true,"auditAnnotations":null,"warnings":null}"#
)]
fn the_line_that_is_printed(#[case] answer: &str, #[case] line: &str) {
    assert_eq!(serde_json::to_string(&evaluate(answer, &request()).response).unwrap(), line);
}

#[test]
fn a_mutation_becomes_a_patch() {
    let evaluation = evaluate(r#"{"accepted":true,"mutated_object":{"spec":{"suspend":true}}}"#, &request());
    let response = as_json(&evaluation);
    assert_eq!(response["patchType"], "JSONPatch");
    // [{"op":"replace","path":"/spec/suspend","value":true}]
    assert_eq!(response["patch"], "W3sib3AiOiJyZXBsYWNlIiwicGF0aCI6Ii9zcGVjL3N1c3BlbmQiLCJ2YWx1ZSI6dHJ1ZX1d");
    assert_eq!(
        evaluation.response.patch().unwrap(),
        json!([{"op": "replace", "path": "/spec/suspend", "value": true}])
    );
    assert_eq!(evaluation.response.patched(&request()["object"]).unwrap(), json!({"spec": {"suspend": true}}));
}

#[test]
fn without_a_patch_the_object_is_stored_as_it_is() {
    let evaluation = evaluate(r#"{"accepted":true}"#, &request());
    assert_eq!(evaluation.response.patch(), None);
    assert_eq!(evaluation.response.patched(&request()["object"]).unwrap(), request()["object"]);
}

#[test]
fn a_deletion_cannot_be_mutated() {
    let mut deletion = request();
    deletion["operation"] = json!("DELETE");
    deletion["oldObject"] = deletion["object"].take();
    let answer = r#"{"accepted":true,"code":422,"warnings":["w"],"mutated_object":{"a":1}}"#;
    assert_eq!(
        as_json(&evaluate(answer, &deletion)),
        json!({
            "uid": "uid-1", "allowed": false, "auditAnnotations": null, "warnings": null,
            "status": {"message": "Incoming object is null, which happens only with DELETE operations, but the policy is attempting a mutation. This is not allowed"}
        })
    );
}

const NOT_MUTATING: &str = r#"{"protocolVersion":"v1","rules":[],"mutating":false}"#;

#[rstest]
#[case::says_so(&[NOT_MUTATING], None, false)]
#[case::says_the_opposite(&[crate::support::METADATA], None, true)]
#[case::not_annotated(&[], None, true)]
#[case::overruled(&[NOT_MUTATING], Some(true), true)]
#[case::overruled_too(&[crate::support::METADATA], Some(false), false)]
fn who_may_mutate(#[case] sections: &[&str], #[case] overruled: Option<bool>, #[case] allowed: bool) {
    let answer =
        r#"{"accepted":true,"code":200,"warnings":["w"],"audit_annotations":{"a":"1"},"mutated_object":{"a":1}}"#;
    let policy = Guest::answering(answer).with_sections(sections).policy();
    let mut host = Host::new(&policy, NoCluster).with_id("clusterwide-gate");
    if let Some(overruled) = overruled {
        host = host.with_mutation(overruled);
    }
    let evaluation = host.validate(&request()).unwrap();
    if allowed {
        assert!(evaluation.response.allowed);
        assert!(evaluation.response.patch.is_some());
    } else {
        assert_eq!(
            as_json(&evaluation),
            json!({
                "uid": "uid-1", "allowed": false, "auditAnnotations": {"a": "1"}, "warnings": ["w"],
                "status": {"message": "Request rejected by policy clusterwide-gate. The policy attempted to mutate the request, but it is currently configured to not allow mutations."}
            })
        );
    }
}

#[test]
fn an_equal_object_is_no_mutation() {
    let policy = Guest::answering(r#"{"accepted":true,"mutated_object":{"spec":{"suspend":false}}}"#)
        .with_sections(&[NOT_MUTATING])
        .policy();
    assert!(Host::new(&policy, NoCluster).validate(&request()).unwrap().response.allowed);
}
