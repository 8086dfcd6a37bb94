//! Where calls of a guest go, and what it is told.

use std::sync::{Arc, Mutex};

use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_host::{Cluster, ContextAwareResource, Host, HostRequest, MemoryCluster, NoCluster, Scripted};

use crate::support::{Guest, get, kustomization, request};

type Call<'a> = (&'a str, &'a str, &'a str, &'a str);

/// What the guest gets for one call: the answer, or the error text.
fn ask(cluster: impl Cluster + 'static, call: Call<'_>) -> Result<String, String> {
    ask_host(&Host::new(&Guest::calling(&[call]).policy(), cluster))
}

fn ask_host(host: &Host) -> Result<String, String> {
    let mut instance = host.instance().unwrap();
    match instance.call("validate", b"") {
        Ok(bytes) => Ok(String::from_utf8(bytes).unwrap()),
        Err(error) => Err(error.to_string().strip_prefix("Guest call failure: ").unwrap().to_owned()),
    }
}

#[rstest]
#[case::binding(("other", "kubernetes", "get_resource", "{}"), "unknown binding: other")]
#[case::namespace(("kubewarden", "clouds", "list", ""), "unknown namespace: clouds")]
#[case::operation(("kubewarden", "kubernetes", "delete", "{}"), "unknown operation: delete")]
#[case::log_operation(("kubewarden", "tracing", "span", ""), "unknown operation: span")]
#[case::oci_operation(("kubewarden", "oci", "v9/verify", ""), "unknown operation: v9/verify")]
#[case::net_operation(("kubewarden", "net", "v1/ping", ""), "unknown operation: v1/ping")]
#[case::crypto_operation(("kubewarden", "crypto", "v1/sign", ""), "unknown operation: v1/sign")]
#[case::not_offered(
    ("kubewarden", "net", "v1/dns_lookup_host", "\"example.org\""),
    "Callback evaluation failure: this host does not offer net/v1/dns_lookup_host"
)]
#[case::no_json(("kubewarden", "kubernetes", "get_resource", "{"), "EOF while parsing an object at line 1 column 1")]
#[case::disable_cache_is_mandatory(
    ("kubewarden", "kubernetes", "get_resource", r#"{"api_version":"v1","kind":"K","name":"n"}"#),
    "missing field `disable_cache` at line 1 column 42"
)]
#[case::not_readable(
    ("kubewarden", "kubernetes", "get_resource",
     r#"{"api_version":"v1","kind":"Secret","name":"n","namespace":"ns","disable_cache":true}"#),
    "Policy has not been granted access to Kubernetes v1/Secret resources. The violation has been reported."
)]
#[case::other_version(
    ("kubewarden", "kubernetes", "list_resources_all",
     r#"{"api_version":"helm.toolkit.fluxcd.io/v2beta2","kind":"HelmRelease"}"#),
    "Policy has not been granted access to Kubernetes helm.toolkit.fluxcd.io/v2beta2/HelmRelease resources. The violation has been reported."
)]
#[case::list_in_namespace(
    ("kubewarden", "kubernetes", "list_resources_by_namespace",
     r#"{"api_version":"v1","kind":"helmrelease","namespace":"ns"}"#),
    "Policy has not been granted access to Kubernetes v1/helmrelease resources. The violation has been reported."
)]
#[case::no_client(
    ("kubewarden", "kubernetes", "get_resource",
     r#"{"api_version":"helm.toolkit.fluxcd.io/v2","kind":"HelmRelease","name":"n","disable_cache":true}"#),
    "Callback evaluation failure: kube::Client was not initialized properly"
)]
fn refusals(#[case] call: Call<'_>, #[case] text: &str) {
    assert_eq!(ask(NoCluster, call).unwrap_err(), text);
}

#[rstest]
#[case::all(&["*"], "get_resource", true)]
#[case::namespace(&["kubernetes/*"], "get_resource", true)]
#[case::exact(&["oci/*", "kubernetes/get_resource"], "get_resource", true)]
#[case::other(&["kubernetes/get_resource"], "list_resources_all", false)]
#[case::none(&[], "get_resource", false)]
#[case::other_namespace(&["oci/*"], "get_resource", false)]
#[case::a_prefix_is_no_pattern(&["kubernetes/get*"], "get_resource", false)]
fn capabilities(#[case] patterns: &[&str], #[case] operation: &str, #[case] granted: bool) {
    let payload = get("Kustomization", "apps", "a");
    let policy = Guest::calling(&[("kubewarden", "kubernetes", operation, &payload)]).policy();
    let host = Host::new(&policy, NoCluster).with_capabilities(patterns.iter().copied());
    let expected = if granted {
        "Callback evaluation failure: kube::Client was not initialized properly".to_owned()
    } else {
        format!(
            "Policy has not been granted access to the 'kubernetes/{operation}' host capability. The violation has been reported."
        )
    };
    assert_eq!(ask_host(&host).unwrap_err(), expected);
}

#[test]
fn logging_is_never_gated_nor_judged() {
    let policy = Guest::calling(&[("kubewarden", "tracing", "log", "not json")]).policy();
    let host = Host::new(&policy, NoCluster).with_capabilities(Vec::<String>::new());
    assert_eq!(ask_host(&host).unwrap(), "");
}

#[test]
fn an_annotation_is_needed_to_read() {
    let payload = get("Kustomization", "apps", "a");
    let policy = Guest::calling(&[("kubewarden", "kubernetes", "get_resource", &payload)]).with_sections(&[]).policy();
    let host = Host::new(&policy, MemoryCluster::new().with(kustomization("a")));
    assert_eq!(
        ask_host(&host).unwrap_err(),
        "Policy has not been granted access to Kubernetes kustomize.toolkit.fluxcd.io/v1/Kustomization resources. The violation has been reported."
    );
    let granted = ContextAwareResource {
        api_version: "kustomize.toolkit.fluxcd.io/v1".to_owned(),
        kind: "Kustomization".to_owned(),
    };
    assert!(ask_host(&host.with_readable([granted])).is_ok());
}

#[test]
fn can_i_is_not_gated_by_what_may_be_read() {
    let payload = json!({
        "subject_access_review": {"user": "u", "groups": ["system:masters"],
            "resource_attributes": {"verb": "bypass", "resource": "gates", "group": "sluicegate.dev"}},
        "disable_cache": true
    })
    .to_string();
    let policy = Guest::calling(&[("kubewarden", "kubernetes", "can_i", &payload)]).with_sections(&[]).policy();
    assert_eq!(ask_host(&Host::new(&policy, MemoryCluster::new())).unwrap(), r#"{"allowed":true}"#);
}

#[test]
fn the_guest_gets_the_object() {
    let payload = get("Kustomization", "apps", "a");
    let answer =
        ask(MemoryCluster::new().with(kustomization("a")), ("kubewarden", "kubernetes", "get_resource", &payload));
    let object: Value = serde_json::from_str(&answer.unwrap()).unwrap();
    assert_eq!(object, kustomization("a"));
}

#[test]
fn a_closure_may_answer_anything() {
    let payload = get("Kustomization", "apps", "a");
    let answer =
        ask(Scripted::new(|_| Ok(b"\x00garbage".to_vec())), ("kubewarden", "kubernetes", "get_resource", &payload));
    assert_eq!(answer.unwrap(), "\0garbage");
}

#[test]
fn a_closure_may_ask_another_cluster() {
    let rest = MemoryCluster::new().with(kustomization("a"));
    let scripted = Scripted::new(move |request: &HostRequest| match request.name() {
        Some("b") => Ok(b"b".to_vec()),
        _ => rest.answer(request),
    });
    let cluster = Arc::new(scripted);
    for (name, starts) in [("a", "{"), ("b", "b")] {
        let payload = get("Kustomization", "apps", name);
        let answer = ask(Arc::clone(&cluster), ("kubewarden", "kubernetes", "get_resource", &payload)).unwrap();
        assert!(answer.starts_with(starts), "{answer}");
    }
}

#[test]
fn every_call_is_recorded() {
    let masked = json!({
        "api_version": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "name": "a", "namespace": "apps",
        "disable_cache": true, "field_masks": ["spec"]
    })
    .to_string();
    let missing = get("HelmRelease", "apps", "x");
    let review = json!({
        "subject_access_review": {"user": "alice",
            "resource_attributes": {"verb": "bypass", "resource": "gates", "group": "sluicegate.dev"}},
        "disable_cache": true
    })
    .to_string();
    let guest = Guest::calling_then(
        &[
            ("kubewarden", "kubernetes", "get_resource", &masked),
            ("kubewarden", "tracing", "log", "hello"),
            ("kubewarden", "kubernetes", "get_resource", &missing),
            ("kubewarden", "kubernetes", "can_i", &review),
            ("kubewarden", "kubernetes", "get_resource", "{"),
        ],
        r#"{"accepted":true}"#,
    );
    let seen = Arc::new(Mutex::new(Vec::new()));
    let observed = Arc::clone(&seen);
    let host = Host::new(&guest.policy(), MemoryCluster::new().with(kustomization("a")))
        .with_observer(move |call| observed.lock().unwrap().push(call.operation.clone()));
    let evaluation = host.validate(&request()).unwrap();
    assert!(evaluation.host_time() <= evaluation.duration);

    assert!(evaluation.response.allowed);
    let operations: Vec<_> = evaluation.calls.iter().map(|call| call.operation.as_str()).collect();
    assert_eq!(operations, ["get_resource", "log", "get_resource", "can_i", "get_resource"]);
    assert_eq!(*seen.lock().unwrap(), operations);
    assert_eq!(evaluation.read_targets(), ["Kustomization/apps/a", "HelmRelease/apps/x"]);
    assert_eq!(evaluation.reads().count(), 2);
    assert_eq!(evaluation.cluster_calls().count(), 3);

    let [first, log, failed, can_i, unreadable] = evaluation.calls.as_slice() else { panic!("five calls") };
    assert_eq!(first.payload, masked.as_bytes());
    assert_eq!(first.resource(), Some(("kustomize.toolkit.fluxcd.io/v1", "Kustomization")));
    assert!(first.request.as_ref().unwrap().field_masks().unwrap().contains("spec"));
    assert_eq!(log.payload, b"hello");
    assert_eq!(log.answer, Ok(0));
    assert!(!log.is_read());
    assert_eq!(
        failed.answer.as_ref().unwrap_err(),
        "Callback evaluation failure: Cannot find helm.toolkit.fluxcd.io/v2/HelmRelease named 'x' inside of namespace 'Some(\"apps\")'"
    );
    assert!(can_i.is_can_i());
    assert_eq!(can_i.target(), "alice bypass gates.sluicegate.dev");
    assert_eq!(can_i.answer, Ok(r#"{"allowed":false}"#.len()));
    assert!(unreadable.request.is_none());
}

#[test]
fn a_guest_that_calls_nothing_has_no_calls() {
    let evaluation = Host::new(&Guest::answering(r#"{"accepted":true}"#).policy(), MemoryCluster::new())
        .validate(&request())
        .unwrap();
    assert!(evaluation.calls.is_empty());
}

#[test]
fn a_call_is_a_line() {
    let payload = get("Kustomization", "apps", "a\nb");
    let guest = Guest::calling_then(&[("kubewarden", "kubernetes", "get_resource", &payload)], "{}");
    let evaluation = Host::new(&guest.policy(), MemoryCluster::new()).validate(&request()).unwrap();
    let line = evaluation.calls[0].to_string();
    assert!(
        line.starts_with(r"kubernetes/get_resource Kustomization/apps/a\nb: Callback evaluation failure: "),
        "{line}"
    );
    assert!(line.ends_with(" µs"), "{line}");
    assert!(!line.contains('\n'), "{line}");
}
