//! The webhook configuration.

use std::{fs, path::PathBuf, process::Command};

use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::expression::{Expression, Scope, Variables};
use sluicegate_host::{
    Metadata,
    webhook::{FailurePolicy, Phase, Webhook, WebhookError, match_conditions},
};

use crate::support::Guest;

const CA: &[u8] = b"-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----\n";
const METADATA: &str = r#"{"protocolVersion":"v1","mutating":true,"rules":[
    {"apiGroups":["kustomize.toolkit.fluxcd.io"],"apiVersions":["v1"],"resources":["kustomizations"],"operations":["CREATE","UPDATE"]},
    {"apiGroups":["source.toolkit.fluxcd.io"],"apiVersions":["v1"],"resources":["buckets","helmcharts"],"operations":["CREATE","UPDATE"]}]}"#;

fn metadata() -> Metadata {
    serde_json::from_str(METADATA).unwrap()
}

fn webhook() -> Webhook<'static> {
    Webhook {
        name: "sluicegate-hold",
        url: "https://127.0.0.1:8443/validate/sluicegate",
        ca: CA,
        phase: Phase::Mutating,
        failure_policy: FailurePolicy::Ignore,
        timeout_seconds: 10,
    }
}

#[test]
fn the_configuration() {
    insta::assert_snapshot!(webhook().manifest(&metadata()).unwrap(), @r"
    apiVersion: admissionregistration.k8s.io/v1
    kind: MutatingWebhookConfiguration
    metadata:
      name: sluicegate-hold
    webhooks:
    - name: sluicegate-hold.sluicegate.dev
      admissionReviewVersions:
      - v1
      clientConfig:
        caBundle: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JST0KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=
        url: https://127.0.0.1:8443/validate/sluicegate
      failurePolicy: Ignore
      matchConditions:
      - name: not-being-deleted
        expression: object == null || !has(object.metadata.deletionTimestamp)
      - name: changes-what-is-judged
        expression: object == null || oldObject == null || 'sluicegate.dev/held' in oldObject.metadata.?annotations.orValue({}) || object.?spec.orValue({}) != oldObject.?spec.orValue({}) || object.metadata.?labels.orValue({}) != oldObject.metadata.?labels.orValue({}) || object.metadata.?annotations.orValue({}) != oldObject.metadata.?annotations.orValue({})
      matchPolicy: Equivalent
      rules:
      - apiGroups:
        - kustomize.toolkit.fluxcd.io
        apiVersions:
        - v1
        resources:
        - kustomizations
        operations:
        - CREATE
        - UPDATE
      - apiGroups:
        - source.toolkit.fluxcd.io
        apiVersions:
        - v1
        resources:
        - buckets
        - helmcharts
        operations:
        - CREATE
        - UPDATE
      sideEffects: None
      timeoutSeconds: 10
    ");
}

#[test]
fn validating_and_failing() {
    let webhook =
        Webhook { phase: Phase::Validating, failure_policy: FailurePolicy::Fail, timeout_seconds: 30, ..webhook() };
    let manifest = webhook.manifest(&metadata()).unwrap();
    for line in ["kind: ValidatingWebhookConfiguration\n", "  failurePolicy: Fail\n", "  timeoutSeconds: 30\n"] {
        assert!(manifest.contains(line), "{manifest}");
    }
}

#[rstest]
#[case::slow(Webhook { timeout_seconds: 31, ..webhook() }, "a webhook's time-out is 1 to 30 seconds, not 31")]
#[case::no_time(Webhook { timeout_seconds: 0, ..webhook() }, "a webhook's time-out is 1 to 30 seconds, not 0")]
#[case::plain(Webhook { url: "http://a/", ..webhook() }, "a webhook's URL begins with https://, unlike http://a/")]
#[case::name(
    Webhook { name: "My Gate", ..webhook() },
    "a webhook's name is lower-case letters, digits, '-' and '.', unlike My Gate"
)]
#[case::no_name(
    Webhook { name: "", ..webhook() },
    "a webhook's name is lower-case letters, digits, '-' and '.', unlike "
)]
#[case::no_ca(Webhook { ca: b"hello", ..webhook() }, "the CA is no PEM certificate")]
fn what_the_api_server_would_refuse(#[case] webhook: Webhook<'_>, #[case] text: &str) {
    assert_eq!(webhook.manifest(&metadata()).unwrap_err().to_string(), text);
}

#[test]
fn what_the_metadata_does_not_allow() {
    let without_rules = Metadata { rules: Vec::new(), ..metadata() };
    assert!(matches!(webhook().manifest(&without_rules), Err(WebhookError::NoRules)));
    let plain = Metadata { mutating: false, ..metadata() };
    assert!(matches!(webhook().manifest(&plain), Err(WebhookError::NotMutating)));
    let validating = Webhook { phase: Phase::Validating, ..webhook() };
    assert!(validating.manifest(&plain).is_ok());
}

/// Whether the API server would ask the policy.
fn asked(old: &Value, new: &Value) -> bool {
    let objects = json!({"object": new, "oldObject": old});
    match_conditions().iter().all(|(_, expression)| {
        let expression = Expression::parse(expression, Variables::Fields).unwrap();
        expression.evaluate(Scope::Fields(&objects)).unwrap()
    })
}

fn object(change: impl FnOnce(&mut Value)) -> Value {
    let mut object = json!({
        "metadata": {"name": "a", "labels": {"team": "x"}, "annotations": {"a": "1"}, "generation": 1, "finalizers": ["f"]},
        "spec": {"suspend": true, "dependsOn": [{"name": "b"}]}, "status": {"observedGeneration": 1}
    });
    change(&mut object);
    object
}

fn bare() -> Value {
    json!({"metadata": {"name": "a"}, "spec": {}})
}

fn marked() -> Value {
    object(|object| object["metadata"]["annotations"]["sluicegate.dev/held"] = json!("{}"))
}

#[rstest]
#[case::created(Value::Null, bare(), true)]
#[case::deleted(bare(), Value::Null, true)]
#[case::nothing(object(|_| ()), object(|_| ()), false)]
#[case::nothing_of_a_bare_one(bare(), bare(), false)]
#[case::without_a_spec(json!({"metadata": {}}), json!({"metadata": {}}), false)]
#[case::a_spec_where_none_was(json!({"metadata": {}}), json!({"metadata": {}, "spec": {"suspend": true}}), true)]
#[case::status(object(|_| ()), object(|o| o["status"]["observedGeneration"] = json!(2)), false)]
#[case::finalizers(object(|_| ()), object(|o| o["metadata"]["finalizers"] = json!([])), false)]
#[case::managed_fields(object(|_| ()), object(|o| o["metadata"]["managedFields"] = json!([{"manager": "m"}])), false)]
#[case::switch(object(|_| ()), object(|o| o["spec"]["suspend"] = json!(false)), true)]
#[case::switch_removed(object(|_| ()), object(|o| drop(o["spec"].as_object_mut().unwrap().remove("suspend"))), true)]
#[case::need(object(|_| ()), object(|o| o["spec"]["dependsOn"][0]["name"] = json!("c")), true)]
#[case::label(object(|_| ()), object(|o| o["metadata"]["labels"]["team"] = json!("y")), true)]
#[case::labels_where_none_were(bare(), object(|o| o["spec"] = json!({})), true)]
#[case::annotation(object(|_| ()), object(|o| o["metadata"]["annotations"]["b"] = json!("2")), true)]
#[case::annotations_gone(object(|_| ()), object(|o| drop(o["metadata"].as_object_mut().unwrap().remove("annotations"))), true)]
#[case::empty_and_absent_are_the_same(bare(), json!({"metadata": {"labels": {}, "annotations": {}}, "spec": {}}), false)]
#[case::marked_and_unchanged(marked(), marked(), true)]
#[case::mark_brought_in(object(|_| ()), marked(), true)]
#[case::being_deleted(object(|_| ()), object(|o| {
    o["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    o["spec"]["suspend"] = json!(false);
}), false)]
#[case::marked_and_being_deleted(marked(), {
    let mut object = marked();
    object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    object
}, false)]
fn which_requests_are_sent(#[case] old: Value, #[case] new: Value, #[case] sent: bool) {
    assert_eq!(asked(&old, &new), sent);
}

#[test]
fn the_readme_shows_these_conditions() {
    let readme = include_str!("../../../README.md");
    let policy = readme
        .split("```yaml\n")
        .filter_map(|rest| Some(rest.split_once("```")?.0))
        .find(|block| block.contains("kind: ClusterAdmissionPolicy\n"))
        .unwrap();
    let policy: Value = yaml_serde::from_str(policy).unwrap();
    let expected = match_conditions().map(|(name, expression)| json!({"name": name, "expression": expression}));
    assert_eq!(policy["spec"]["matchConditions"], json!(expected));
}

/// Runs `webhook` on a module with the metadata above; gives exit code and both outputs.
fn run(test: &str, args: &[&str]) -> (i32, String, String) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("webhook-{test}"));
    fs::create_dir_all(&folder).unwrap();
    let guest = Guest::default().with_sections(&[METADATA]);
    fs::write(folder.join("policy.wasm"), guest.bytes()).unwrap();
    fs::write(folder.join("ca.crt"), CA).unwrap();
    let usual = ["--name", "sluicegate-hold", "--url", "https://127.0.0.1:8443/validate/sluicegate", "--ca", "ca.crt"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_sluicegate-host"));
    let output = command.current_dir(&folder).args(["webhook", "policy.wasm"]).args(usual).args(args).output().unwrap();
    fs::remove_dir_all(&folder).unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn it_is_printed() {
    assert_eq!(run("printed", &["--mutating"]), (0, webhook().manifest(&metadata()).unwrap(), String::new()));
    let validating =
        Webhook { phase: Phase::Validating, failure_policy: FailurePolicy::Fail, timeout_seconds: 30, ..webhook() };
    let args = ["--validating", "--failure-policy", "Fail", "--timeout-seconds", "30"];
    assert_eq!(run("validating", &args), (0, validating.manifest(&metadata()).unwrap(), String::new()));
}

#[rstest]
#[case::no_phase(&[], 2, "error: the following required arguments were not provided:\n  <--mutating|--validating>")]
#[case::two_phases(
    &["--mutating", "--validating"],
    2,
    "error: the argument '--mutating' cannot be used with '--validating'"
)]
#[case::failure_policy(
    &["--mutating", "--failure-policy", "Maybe"],
    2,
    "error: invalid value 'Maybe' for '--failure-policy <Ignore|Fail>'"
)]
#[case::too_slow(
    &["--mutating", "--timeout-seconds", "31"],
    1,
    "Error: a webhook's time-out is 1 to 30 seconds, not 31\n"
)]
fn it_is_refused(#[case] args: &[&str], #[case] code: i32, #[case] text: &str) {
    let (exit, out, err) = run(&format!("refused{}", args.concat()), args);
    assert_eq!((exit, &*out), (code, ""));
    assert!(err.starts_with(text), "{err}");
}
