//! What is no request, or one about something else: straight into the guest, past the host's own decoder.

use super::*;
use sluicegate_host::NoCluster;

/// What the guest answers to these bytes.
#[track_caller]
fn call(payload: &[u8]) -> Value {
    let mut instance = Gate::over([]).host(NoCluster).instance().unwrap();
    let answer = instance.call("validate", payload).unwrap_or_else(|error| panic!("{error}"));
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    let texts = answer["warnings"].as_array().into_iter().flatten().chain([&answer["message"]]);
    for text in texts.filter_map(Value::as_str).flat_map(str::lines) {
        assert!(!text.contains(char::is_control) && text.len() < 2_000, "{text:?}");
    }
    assert!(answer["accepted"].is_boolean(), "{answer}");
    answer
}

fn not_judged(path: &str, why: &str) -> Value {
    let audit = json!({"rule": "not-judged", "path": path});
    json!({"accepted": true, "audit_annotations": audit, "warnings": [format!("not judged: {why}")]})
}

fn unreadable() -> Value {
    not_judged("unknown", "the admission request cannot be read")
}

#[rstest]
#[case::nothing(b"".to_vec())]
#[case::blank(b" \n ".to_vec())]
#[case::null(b"null".to_vec())]
#[case::a_number(b"7".to_vec())]
#[case::a_text(b"\"secret\"".to_vec())]
#[case::a_list(b"[]".to_vec())]
#[case::no_request(b"{}".to_vec())]
#[case::cut_off(b"{\"request\":{\"kind\":{\"group\":\"secret".to_vec())]
#[case::more_behind_it(b"{\"request\":{}}secret".to_vec())]
#[case::no_text(b"{\"request\":{\"operation\":\"\xff\xfe\"}}".to_vec())]
#[case::half_a_surrogate(br#"{"request":{"operation":"\ud800"}}"#.to_vec())]
#[case::deep(deep(100_000).into_bytes())]
#[case::deep_request(format!(r#"{{"request":{}}}"#, deep(100_000)).into_bytes())]
#[case::deep_and_open("[".repeat(1_000_000).into_bytes())]
#[case::zeros(vec![0; 100_000])]
fn what_is_no_request_is_admitted_with_a_warning_that_quotes_nothing(#[case] payload: Vec<u8>) {
    assert_eq!(call(&payload), unreadable());
}

/// Each field of the request itself, wrong.
#[test]
fn wrong_types_in_the_request() {
    let old = kustomization("n", "a", &["b"]);
    let whole = json!({"request": update(FLUX, &old, &kustomization("n", "a", &["a"])), "settings": {}});
    let mut found = Vec::new();
    fields::pointers(&whole["request"], "", "", &mut found);
    let mine = |pointer: &str| !pointer.starts_with("/object/") && !pointer.starts_with("/oldObject/");
    let mut unread = 0;
    for (pointer, _) in found.into_iter().filter(|(pointer, _)| mine(pointer)) {
        for wrong in fields::wrong_values().into_iter().chain([Value::Null]) {
            let mut bad = whole.clone();
            *bad["request"].pointer_mut(&pointer).unwrap() = wrong;
            unread += usize::from(call(bad.to_string().as_bytes()) == unreadable());
        }
    }
    assert!(unread > 50, "{unread}");
}

#[rstest]
#[case(json!([]))]
#[case(json!("secret"))]
#[case(json!({"role": 7}))]
#[case(json!({"secret": true}))]
#[case(json!({"companion": {"secret": []}}))]
fn garbage_settings_refuse_nobody(#[case] settings: Value) {
    let request = create(PERSON, &kustomization("n", "a", &["a"]));
    let answer = call(json!({"request": request, "settings": settings}).to_string().as_bytes());
    assert_eq!(answer, not_judged("Kustomization/n/a", "the settings of this policy are invalid"));
}

#[rstest]
#[case::text("\"secret".into())]
#[case::deep(deep(100_000))]
fn settings_that_are_no_json_are_no_request(#[case] settings: String) {
    let request = create(PERSON, &kustomization("n", "a", &["a"]));
    let answer = call(format!(r#"{{"request":{request},"settings":{settings}}}"#).as_bytes());
    assert_eq!(answer["accepted"], json!(true), "{answer}");
    assert!(answer["warnings"][0].as_str().unwrap().starts_with("not judged: "), "{answer}");
}

#[rstest]
#[case::no_object("object", json!(null))]
#[case::deletion("operation", json!("DELETE"))]
#[case::connect("operation", json!("CONNECT"))]
#[case::unknown_operation("operation", json!(NASTY))]
#[case::subresource("subResource", json!("status"))]
fn what_the_gate_has_no_say_in_is_admitted(#[case] key: &str, #[case] value: Value) {
    let mut request = create(PERSON, &kustomization("n", "a", &["a"]));
    request[key] = value;
    Gate::over([]).judge(&request).is_untouched();
}

#[rstest]
#[case::kind("kind", json!(NASTY.repeat(1_000)))]
#[case::group("group", json!(NASTY.repeat(1_000)))]
#[case::another_group("group", json!("kustomize.config.k8s.io"))]
fn an_unknown_kind_is_admitted_with_a_warning(#[case] key: &str, #[case] value: Value) {
    let mut request = create(PERSON, &kustomization("n", "a", &["a"]));
    request["kind"][key] = value;
    let answer = Gate::over([]).judge(&request);
    assert!(answer.said().starts_with("admitted: not judged: "), "{}", answer.said());
    assert!(answer.reads().is_empty());
}

#[rstest]
#[case("v1beta2", "v1beta2")]
#[case("v999", "v999")]
#[case("a\nb", "a\\u{a}b")]
fn an_unknown_version_is_admitted_with_a_warning(#[case] version: &str, #[case] shown: &str) {
    let mut request = create(PERSON, &kustomization("n", "a", &["a"]));
    request["kind"]["version"] = json!(version);
    let answer = Gate::over([]).judge(&request);
    answer.warns(&[&format!("Kustomization/n/a is not judged: version {shown} is not known")]).reads_only(&[]);
}

/// Names, users and field managers that nobody has.
#[test]
fn a_request_whose_strings_are_nasty() {
    let nasty = nasty();
    for object in [json!({}), json!({"spec": {"dependsOn": [{"name": nasty}]}}), json!({"spec": 3})] {
        for (operation, dry_run) in [("CREATE", false), ("UPDATE", true)] {
            let mut request = request(PERSON, operation, &kustomization("n", "a", &[]));
            for key in ["uid", "name", "namespace"] {
                request[key] = json!(nasty);
            }
            request["userInfo"] = json!({"username": nasty, "groups": [nasty]});
            request["options"] = json!({"fieldManager": nasty});
            request["dryRun"] = json!(dry_run);
            request["object"] = object.clone();
            request["oldObject"] = json!({"spec": {"suspend": true}});
            let answer = Gate::over([]).judge(&request);
            assert!(answer.texts().len() < 5_000, "{}", answer.texts().len());
        }
    }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn any_bytes(payload in prop::collection::vec(any::<u8>(), 0..200)) {
        assert_eq!(call(&payload), unreadable());
    }

    /// A request in which bytes are overwritten.
    #[test]
    fn a_damaged_request(damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), cut in any::<bool>()) {
        let old = annotated(suspended(sample::helm_release("n", "x")), crate::resume::HELD, Some("{}"));
        let request = update(FLUX, &old, &resumed(old.clone()));
        let mut payload = json!({"request": request, "settings": {}}).to_string().into_bytes();
        for (index, byte) in &damage {
            let at = index.index(payload.len());
            payload[at] = *byte;
        }
        if cut {
            payload.truncate(damage[0].0.index(payload.len()));
        }
        call(&payload);
    }
}
