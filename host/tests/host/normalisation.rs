//! What the guest sees of a request.

use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_host::{AdmissionRequest, Host, NoCluster};

use crate::support::{Guest, request};

/// What `validate` is given, through a real guest.
fn seen_by_guest(input: &Value, settings: Value) -> Value {
    let host = Host::new(&Guest::echoing().policy(), NoCluster).with_settings(settings.clone()).unwrap();
    let request = AdmissionRequest::from_value(input).unwrap();
    let payload = request.payload(settings.as_object().unwrap_or(&serde_json::Map::new())).unwrap();
    let echoed = host.instance().unwrap().call("validate", &payload).unwrap();
    serde_json::from_slice(&echoed).unwrap()
}

#[test]
fn known_keys_pass_others_and_nulls_do_not() {
    let mut input = request();
    let full = json!({
        "subResource": "scale", "requestSubResource": "scale", "name": "n", "namespace": "ns", "dryRun": true,
        "requestKind": {"group": "g", "version": "v1", "kind": "K"},
        "requestResource": {"group": "g", "version": "v1", "resource": "ks"},
        "oldObject": {"spec": {}}, "options": {"fieldManager": "f"},
        "userInfo": {"username": "alice", "uid": "7", "groups": ["g"], "extra": {"k": ["v"]}}
    });
    for (key, value) in full.as_object().unwrap() {
        input[key] = value.clone();
    }
    let expected = input.clone();
    input["unknown"] = json!(1);
    input["kind"]["unknown"] = json!(1);
    input["userInfo"]["unknown"] = json!(1);
    assert_eq!(seen_by_guest(&input, Value::Null), json!({"request": expected, "settings": {}}));
}

#[rstest]
#[case("subResource")]
#[case("requestKind")]
#[case("requestResource")]
#[case("requestSubResource")]
#[case("name")]
#[case("namespace")]
#[case("object")]
#[case("oldObject")]
#[case("dryRun")]
#[case("options")]
fn an_optional_null_is_left_out(#[case] key: &str) {
    let mut input = request();
    input[key] = Value::Null;
    let seen = seen_by_guest(&input, Value::Null);
    assert!(seen["request"].as_object().unwrap().get(key).is_none(), "{seen}");
    assert_eq!(seen["request"]["uid"], "uid-1");
}

#[test]
fn nulls_in_the_user_are_left_out() {
    let mut input = request();
    input["userInfo"] = json!({"username": "alice", "uid": null, "groups": null, "extra": null});
    assert_eq!(seen_by_guest(&input, Value::Null)["request"]["userInfo"], json!({"username": "alice"}));
}

#[test]
fn nulls_inside_objects_stay() {
    let mut input = request();
    input["object"] = json!({"spec": {"suspend": null}});
    assert_eq!(seen_by_guest(&input, Value::Null)["request"]["object"], json!({"spec": {"suspend": null}}));
}

#[test]
fn a_review_is_unwrapped() {
    let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request()});
    assert_eq!(seen_by_guest(&review, json!({"a": 1})), json!({"request": request(), "settings": {"a": 1}}));
}

#[rstest]
#[case::not_an_object(json!([1]), "Invalid request object")]
#[case::review_without_request(json!({"kind": "AdmissionReview"}), "invalid AdmissionReview object")]
#[case::review_with_null(
    json!({"kind": "AdmissionReview", "request": null}),
    "cannot build AdmissionRequest object from given input: invalid type: null, expected struct AdmissionRequest"
)]
fn what_is_no_request(#[case] input: Value, #[case] text: &str) {
    assert_eq!(AdmissionRequest::from_value(&input).unwrap_err().to_string(), text);
}

#[rstest]
#[case("uid")]
#[case("kind")]
#[case("resource")]
#[case("operation")]
#[case("userInfo")]
fn mandatory_keys(#[case] key: &str) {
    let mut input = request();
    input.as_object_mut().unwrap().remove(key);
    assert_eq!(
        AdmissionRequest::from_value(&input).unwrap_err().to_string(),
        format!("cannot build AdmissionRequest object from given input: missing field `{key}`")
    );
}

#[rstest]
#[case::text(json!("x"))]
#[case::list(json!([]))]
#[case::number(json!(1))]
fn settings_must_be_an_object(#[case] settings: Value) {
    let host = Host::new(&Guest::echoing().policy(), NoCluster);
    assert_eq!(host.with_settings(settings).unwrap_err().to_string(), "Invalid settings in CRD, not an object");
}
