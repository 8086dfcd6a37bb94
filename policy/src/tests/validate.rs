use crate::{Host, validate, validate_settings};
use kubewarden_policy_sdk::host_capabilities::kubernetes::{CanIRequest, GetResourceRequest};
use rstest::rstest;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sluicegate_core::object::Kind;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

/// A host that gives prepared answers, and a second of time for each.
#[derive(Default)]
struct Scripted {
    answers: RefCell<VecDeque<Result<Value, &'static str>>>,
    calls: RefCell<Vec<(String, Value)>>,
    elapsed: Cell<Duration>,
}

impl Scripted {
    fn new(answers: impl IntoIterator<Item = Result<Value, &'static str>>) -> Self {
        Self { answers: RefCell::new(answers.into_iter().collect()), ..Self::default() }
    }
}

impl Host for Scripted {
    fn call(&self, operation: &str, payload: &[u8]) -> Result<Vec<u8>, String> {
        self.calls.borrow_mut().push((operation.into(), serde_json::from_slice(payload).unwrap()));
        self.elapsed.set(self.elapsed.get() + Duration::from_secs(1));
        let answer = self.answers.borrow_mut().pop_front().expect("one answer a call");
        answer.map(|json| json.to_string().into_bytes()).map_err(|text| format!("Host error: {text}"))
    }

    fn now(&self) -> Duration {
        Duration::from_secs(1_800_000_000)
    }

    fn elapsed(&self) -> Duration {
        self.elapsed.get()
    }
}

/// The payload of a call as the SDK, and with it the host, understands it.
fn as_sdk<T: Serialize + DeserializeOwned>(payload: &Value) -> Value {
    serde_json::to_value(serde_json::from_value::<T>(payload.clone()).unwrap()).unwrap()
}

fn answer(payload: &str, host: &Scripted) -> Value {
    serde_json::from_slice(&validate(payload.as_bytes(), host).unwrap()).unwrap()
}

fn said(payload: &Value) -> Value {
    answer(&payload.to_string(), &Scripted::default())
}

fn not_judged(path: &str, warnings: [&str; 1]) -> Value {
    json!({ "accepted": true, "audit_annotations": { "rule": "not-judged", "path": path }, "warnings": warnings })
}

fn kustomization(name: &str, needs: &[&str]) -> Value {
    let needs: Vec<_> = needs.iter().map(|need| json!({ "name": need })).collect();
    json!({
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
        "metadata": { "name": name, "namespace": "apps" },
        "spec": { "dependsOn": needs },
    })
}

fn create(object: &Value) -> Value {
    json!({
        "request": {
            "uid": "1",
            "kind": { "group": "kustomize.toolkit.fluxcd.io", "version": "v1", "kind": "Kustomization" },
            "operation": "CREATE", "name": object["metadata"]["name"], "namespace": "apps",
            "userInfo": { "username": "jane", "groups": ["team", null] },
            "object": object,
        },
        "settings": {},
    })
}

fn update(new: &Value, old: &Value) -> Value {
    let mut payload = create(new);
    payload["request"]["operation"] = json!("UPDATE");
    payload["request"]["oldObject"] = old.clone();
    payload
}

const ABSENT: &str = "Callback evaluation failure: Cannot find kustomize.toolkit.fluxcd.io/v1/Kustomization named 'b' \
                      inside of namespace 'Some(\"apps\")'";

#[test]
fn what_changes_nothing_is_admitted_without_a_call() {
    let mut new = kustomization("a", &["b"]);
    new["metadata"]["labels"] = json!({ "app": "x" });
    new["status"] = json!({ "conditions": 7 });
    let payload = update(&new, &kustomization("a", &["b"])).to_string();
    let admitted = br#"{"accepted":true,"audit_annotations":{"rule":"admitted","path":"Kustomization/apps/a"}}"#;
    assert_eq!(validate(payload.as_bytes(), &Scripted::default()).unwrap(), admitted);
}

#[rstest]
#[case::another_operation("operation", json!("DELETE"))]
#[case::connect("operation", json!("CONNECT"))]
#[case::no_operation("operation", json!(null))]
#[case::no_object("object", json!(null))]
#[case::a_subresource("subResource", json!("status"))]
fn what_the_gate_has_no_say_in_is_admitted(#[case] key: &str, #[case] value: Value) {
    let mut payload = create(&kustomization("a", &["a"]));
    payload["request"][key] = value;
    let audit = json!({ "rule": "admitted", "path": "Kustomization/apps/a" });
    assert_eq!(said(&payload), json!({ "accepted": true, "audit_annotations": audit }));
}

#[rstest]
#[case("")]
#[case("null")]
#[case("[]")]
#[case("{}")]
#[case(r#"{"request":null}"#)]
#[case(r#"{"request":"secret"}"#)]
#[case(r#"{"request":{"kind":"secret","operation":"CREATE","object":{}}}"#)]
#[case(r#"{"request":{"userInfo":{"username":["secret"]},"operation":"CREATE","object":{}}}"#)]
#[case(r#"{"request":{"operation":"CREATE","object":{"secret""#)]
#[case("\u{0}secret")]
fn what_cannot_be_read_is_admitted_with_a_warning_that_quotes_nothing(#[case] payload: &str) {
    let warnings = ["not judged: the admission request cannot be read"];
    assert_eq!(answer(payload, &Scripted::default()), not_judged("unknown", warnings));
}

#[rstest]
#[case(json!({ "group": "", "version": "v1", "kind": "Pod" }), "Pod")]
#[case(json!({ "group": "kustomize.config.k8s.io", "version": "v1", "kind": "Kustomization" }), "Kustomization")]
#[case(json!({ "group": null, "kind": "a\nb" }), "a\\u{a}b")]
#[case(json!(null), "")]
fn a_foreign_kind_is_admitted_with_a_warning(#[case] kind: Value, #[case] name: &str) {
    let mut payload = create(&json!({ "spec": 7 }));
    payload["request"]["kind"] = kind;
    let warning = format!("not judged: {name} is none of the kinds of this policy");
    let path = if name.is_empty() { "apps".to_owned() } else { format!("{name}/apps") };
    assert_eq!(said(&payload), not_judged(&path, [&*warning]));
}

#[rstest]
#[case(json!({ "role": "none" }))]
#[case(json!([]))]
#[case(json!({ "companion": 7 }))]
fn invalid_settings_refuse_nobody(#[case] settings: Value) {
    let mut payload = create(&kustomization("a", &["a"]));
    payload["settings"] = settings;
    let warnings = ["not judged: the settings of this policy are invalid"];
    assert_eq!(said(&payload), not_judged("Kustomization/apps/a", warnings));
}

#[rstest]
#[case(json!(null))]
#[case(json!({}))]
#[case(json!({ "companion": null }))]
fn absent_settings_are_the_defaults(#[case] settings: Value) {
    let mut payload = create(&kustomization("a", &["a"]));
    payload["settings"] = settings;
    let answer = said(&payload);
    assert_eq!((&answer["accepted"], &answer["code"]), (&json!(false), &json!(403)), "{answer}");
}

/// A wrong type in a field that is read is core's to judge, which names the field.
#[test]
fn an_unreadable_object_is_admitted_with_the_field_in_a_warning() {
    let mut object = kustomization("a", &[]);
    object["spec"]["dependsOn"] = json!("secret");
    let answer = said(&create(&object));
    assert_eq!(answer["accepted"], json!(true), "{answer}");
    let warning = answer["warnings"][0].as_str().unwrap();
    assert!(warning.contains("spec.dependsOn") && !warning.contains("secret"), "{warning}");
}

#[test]
fn null_is_absent_everywhere() {
    let mut payload = create(&kustomization("a", &[]));
    let request = payload["request"].as_object_mut().unwrap();
    for key in ["uid", "name", "namespace", "subResource", "userInfo", "oldObject", "dryRun", "options"] {
        request.insert(key.into(), Value::Null);
    }
    request["object"] = json!({ "apiVersion": null, "kind": null, "metadata": null, "spec": null, "status": null });
    let answer = said(&payload);
    assert_eq!((&answer["accepted"], answer.get("warnings")), (&json!(true), None), "{answer}");
}

#[test]
fn a_cycle_is_refused_after_a_fresh_and_masked_read() {
    let host = Scripted::new([Ok(kustomization("b", &["a"])), Ok(json!({ "allowed": false }))]);
    let answer = answer(&create(&kustomization("a", &["b"])).to_string(), &host);
    assert_eq!((&answer["accepted"], &answer["code"]), (&json!(false), &json!(403)), "{answer}");
    assert!(answer["message"].as_str().unwrap().starts_with("dependency cycle: "), "{answer}");
    assert!(answer.get("mutated_object").is_none());
    let calls = host.calls.borrow();
    assert_eq!(calls[0].0, "get_resource");
    let mask: BTreeSet<_> = Kind::Kustomization.row().field_mask.iter().collect();
    assert_eq!(
        as_sdk::<GetResourceRequest>(&calls[0].1),
        json!({
            "api_version": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "name": "b", "namespace": "apps",
            "disable_cache": true, "field_masks": mask,
        })
    );
}

#[test]
fn a_name_that_no_object_has_is_absent_without_a_call() {
    let host = Scripted::default();
    let answer = answer(&create(&kustomization("a", &["../../secrets/b?x=", "B"])).to_string(), &host);
    assert_eq!(answer["accepted"], json!(true), "{answer}");
    assert!(host.calls.borrow().is_empty());
    assert_eq!(answer["warnings"].as_array().unwrap().len(), 2, "{answer}");
}

#[test]
fn reading_ends_when_its_time_is_up() {
    // Two seconds leave half a second for reading: one read.
    let mut payload = create(&kustomization("a", &["b", "c", "d"]));
    payload["settings"] = json!({ "evaluationSeconds": 2 });
    let host = Scripted::new([Err(ABSENT)]);
    let answer = answer(&payload.to_string(), &host);
    assert_eq!(answer["accepted"], json!(true), "{answer}");
    assert_eq!(host.calls.borrow().len(), 1);
    assert!(!answer["warnings"].as_array().unwrap().is_empty(), "{answer}");
}

#[test]
fn the_bypass_is_asked_for_the_user_uncached() {
    let mut object = kustomization("a", &["a"]);
    object["metadata"]["annotations"] = json!({ "sluicegate.dev/bypass": "a drill" });
    let host = Scripted::new([Ok(json!({ "allowed": true, "reason": "" }))]);
    let answer = answer(&create(&object).to_string(), &host);
    assert_eq!(answer["accepted"], json!(true), "{answer}");
    let calls = host.calls.borrow();
    assert_eq!(calls[0].0, "can_i");
    assert_eq!(
        as_sdk::<CanIRequest>(&calls[0].1),
        json!({
            "subject_access_review": {
                "user": "jane", "groups": ["team"],
                "resource_attributes": {
                    "verb": "bypass", "group": "sluicegate.dev", "resource": "gates",
                    "namespace": "apps", "name": null, "subresource": null, "version": null,
                },
            },
            "disable_cache": true,
        })
    );
}

#[rstest]
#[case(Ok(json!({ "allowed": false, "denied": true })))]
#[case(Ok(json!({ "allowed": null })))]
#[case(Ok(json!("yes")))]
#[case(Err("no"))]
fn what_the_authorizer_does_not_grant_is_a_no(#[case] review: Result<Value, &'static str>) {
    let mut object = kustomization("a", &["a"]);
    object["metadata"]["annotations"] = json!({ "sluicegate.dev/bypass": "a drill" });
    let answer = answer(&create(&object).to_string(), &Scripted::new([review]));
    assert_eq!(answer["accepted"], json!(false), "{answer}");
}

const LEASE: &str = "2027-01-15T07:59:50.000000Z";

/// An applier's premature unsuspend, held: the switch goes back on, and the rest of the object is as it came.
#[test]
fn a_hold_reads_the_lease_and_changes_the_object() {
    let mut old = kustomization("a", &["b"]);
    old["spec"]["suspend"] = json!(true);
    old["spec"]["odd"] = json!(1.0);
    let mut new = old.clone();
    new["spec"]["suspend"] = json!(false);
    let mut payload = update(&new, &old);
    payload["request"]["userInfo"]["username"] = json!("system:serviceaccount:flux-system:kustomize-controller");
    payload["request"]["options"] = json!({ "fieldManager": "kustomize-controller" });
    let lease = json!({ "spec": { "renewTime": LEASE, "leaseDurationSeconds": 15, "holderIdentity": "x" } });
    let host = Scripted::new([Err(ABSENT), Ok(lease)]);
    let answer = answer(&payload.to_string(), &host);
    let object = &answer["mutated_object"];
    assert_eq!(object["spec"], old["spec"], "{answer}");
    assert!(object["metadata"]["annotations"]["sluicegate.dev/held"].is_string(), "{answer}");
    assert!(answer.get("code").is_none() && answer.get("message").is_none(), "{answer}");
    assert!(answer["audit_annotations"].as_object().is_some_and(|audit| !audit.is_empty()), "{answer}");
    assert_eq!(
        as_sdk::<GetResourceRequest>(&host.calls.borrow().last().unwrap().1),
        json!({
            "api_version": "coordination.k8s.io/v1", "kind": "Lease", "name": "sluicegate",
            "namespace": "sluicegate-system", "disable_cache": true,
            "field_masks": ["spec.holderIdentity", "spec.leaseDurationSeconds", "spec.renewTime"],
        })
    );
}

#[rstest]
#[case("{}", json!({ "valid": true, "message": null }))]
#[case(
    r#"{"role":"x","enforce":1}"#,
    json!({
        "valid": false,
        "message": "setting enforce must be true or false; setting role must be hold, refuse or both"
    })
)]
fn settings_are_validated_on_load(#[case] settings: &str, #[case] expected: Value) {
    let answer = validate_settings(settings.as_bytes()).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&answer).unwrap(), expected);
}

/// A label is a part of the name of the Lease, and a mutating webhook sees labels that nobody has checked.
#[test]
fn a_lease_that_cannot_exist_is_absent_without_a_call() {
    let mut old = kustomization("a", &["b"]);
    old["spec"]["suspend"] = json!(true);
    old["metadata"]["labels"] = json!({ "sharding.fluxcd.io/key": "../x?watch" });
    let mut new = old.clone();
    new["spec"]["suspend"] = json!(false);
    let mut payload = update(&new, &old);
    payload["request"]["userInfo"]["username"] = json!("system:serviceaccount:flux-system:kustomize-controller");
    payload["request"]["options"] = json!({ "fieldManager": "kustomize-controller" });
    let host = Scripted::new([Err(ABSENT)]);
    let answer = answer(&payload.to_string(), &host);
    assert_eq!((&answer["accepted"], answer.get("mutated_object")), (&json!(true), None), "{answer}");
    assert_eq!(host.calls.borrow().len(), 1);
}
