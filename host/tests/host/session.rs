//! Recorded sessions.

use std::sync::Arc;

use rstest::rstest;
use sluicegate_host::{
    Cluster, Exchange, Failure, Host, HostRequest, MemoryCluster, Recorder, ResourceAttributes, Scripted, Session,
    SubjectAccessReview,
};

use crate::support::{Guest, get, kustomization, request};

/// As kwctl writes it, with and without nulls, masks in any order.
const SESSION: &str = r#"- type: Exchange
  request: |
    !KubernetesGetResource
    api_version: kustomize.toolkit.fluxcd.io/v1
    kind: Kustomization
    name: a
    namespace: apps
    disable_cache: true
    field_masks:
    - status
    - spec.suspend
  response:
    type: Success
    payload: '{"spec":{"suspend":true}}'
- type: Exchange
  request: |
    !KubernetesCanI
    request:
      groups: null
      resource_attributes:
        group: sluicegate.dev
        resource: gates
        verb: bypass
      user: alice
    disable_cache: true
  response:
    type: Error
    message: nobody knows
"#;

fn first() -> HostRequest {
    HostRequest::KubernetesGetResource {
        api_version: "kustomize.toolkit.fluxcd.io/v1".to_owned(),
        kind: "Kustomization".to_owned(),
        name: "a".to_owned(),
        namespace: Some("apps".to_owned()),
        disable_cache: true,
        field_masks: Some(["spec.suspend", "status"].map(str::to_owned).into()),
    }
}

fn second() -> HostRequest {
    HostRequest::KubernetesCanI {
        request: SubjectAccessReview {
            user: "alice".to_owned(),
            groups: None,
            resource_attributes: ResourceAttributes {
                verb: "bypass".to_owned(),
                resource: "gates".to_owned(),
                group: Some("sluicegate.dev".to_owned()),
                ..ResourceAttributes::default()
            },
        },
        disable_cache: true,
    }
}

#[test]
fn a_session_answers_in_order() {
    let session = Session::from_text(SESSION).unwrap();
    assert_eq!(session.leftovers(), [first(), second()]);
    assert_eq!(session.answer(&first()).unwrap(), br#"{"spec":{"suspend":true}}"#);
    assert_eq!(session.leftovers(), [second()]);
    assert_eq!(session.answer(&second()).unwrap_err().to_string(), "nobody knows");
    assert_eq!(session.leftovers(), []);
    assert_eq!(session.answer(&first()).unwrap_err().to_string(), "the list of recorded responses is empty");
}

#[test]
fn a_call_that_differs_fails_and_uses_its_exchange_up() {
    let session = Session::from_text(SESSION).unwrap();
    let HostRequest::KubernetesGetResource { api_version, kind, name, namespace, field_masks, .. } = first() else {
        panic!("a get")
    };
    let cached =
        HostRequest::KubernetesGetResource { api_version, kind, name, namespace, disable_cache: false, field_masks };
    assert_eq!(
        session.answer(&cached).unwrap_err().to_string(),
        "Replay error: unexpected request. Was expecting KubernetesGetResource { api_version: \"kustomize.toolkit.fluxcd.io/v1\", kind: \"Kustomization\", name: \"a\", namespace: Some(\"apps\"), disable_cache: true, field_masks: Some({\"spec.suspend\", \"status\"}) }, got KubernetesGetResource { api_version: \"kustomize.toolkit.fluxcd.io/v1\", kind: \"Kustomization\", name: \"a\", namespace: Some(\"apps\"), disable_cache: false, field_masks: Some({\"spec.suspend\", \"status\"}) } instead"
    );
    assert_eq!(session.leftovers(), [second()]);
}

#[test]
fn out_of_order_is_a_difference() {
    let session = Session::from_text(SESSION).unwrap();
    let text = session.answer(&second()).unwrap_err().to_string();
    assert!(text.contains("got KubernetesCanI { request: SubjectAccessReview { groups: None, resource_attributes: ResourceAttributes { group: Some(\"sluicegate.dev\"), name: None, namespace: None, resource: \"gates\", subresource: None, verb: \"bypass\", version: None }, user: \"alice\" }, disable_cache: true } instead"), "{text}");
}

#[test]
fn the_guest_sees_a_mismatch_as_an_error() {
    let payload = get("Kustomization", "apps", "other");
    let policy = Guest::calling(&[("kubewarden", "kubernetes", "get_resource", &payload)]).policy();
    let session = Arc::new(Session::from_text(SESSION).unwrap());
    let evaluation = Host::new(&policy, Arc::clone(&session)).validate(&request()).unwrap();
    assert!(!evaluation.response.allowed);
    let expected =
        "internal server error: Guest call failure: Callback evaluation failure: Replay error: unexpected request. ";
    assert!(evaluation.response.message().starts_with(expected), "{}", evaluation.response.message());
    assert_eq!(session.leftovers().len(), 1);
}

#[rstest]
#[case::no_list("type: Exchange", "cannot read the session: ")]
#[case::no_response("- type: Exchange\n  request: x", "cannot read the session: ")]
#[case::unknown_request(
    "- type: Exchange\n  request: |\n    !OciManifest\n    image: x\n  response: {type: Error, message: m}\n",
    "cannot read the request of exchange 1: "
)]
fn sessions_that_cannot_be_read(#[case] text: &str, #[case] expected: &str) {
    let error = Session::from_text(text).unwrap_err().to_string();
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn a_missing_session_is_named() {
    let error = Session::load("/nowhere/session.yaml").unwrap_err().to_string();
    assert!(error.starts_with("cannot access session file /nowhere/session.yaml: "), "{error}");
}

#[test]
fn what_is_recorded_is_replayed() {
    let recorder = Recorder::new(MemoryCluster::new().with(kustomization("a")).forbid("HelmRelease"));
    let calls = [get("Kustomization", "apps", "a"), get("HelmRelease", "apps", "x"), get("Kustomization", "apps", "b")];
    let calls = calls.each_ref().map(|payload| ("kubewarden", "kubernetes", "get_resource", payload.as_str()));
    let policy = Guest::calling_then(&calls, r#"{"accepted":true}"#).policy();
    let live = Host::new(&policy, recorder.clone()).validate(&request()).unwrap();

    let session = Arc::new(Session::from_text(&recorder.to_text().unwrap()).unwrap());
    let replayed = Host::new(&policy, Arc::clone(&session)).validate(&request()).unwrap();
    assert_eq!(session.leftovers(), []);
    let answers = |evaluation: &sluicegate_host::Evaluation| -> Vec<_> {
        evaluation.calls.iter().map(|call| call.answer.clone()).collect()
    };
    let (live, replayed) = (answers(&live), answers(&replayed));
    assert_eq!(live[0], replayed[0]);
    assert_eq!(live[2], replayed[2]);
    // A recorded error has lost its causes.
    let (live, replayed) = (live[1].clone().unwrap_err(), replayed[1].clone().unwrap_err());
    assert!(live.starts_with(&replayed) && live.len() > replayed.len());
}

#[test]
fn the_text_of_a_recording() {
    let recorder = Recorder::new(Scripted::new(|request: &HostRequest| match request {
        HostRequest::KubernetesCanI { .. } => Err(Failure::caused_by("nobody knows", "really")),
        _ => Ok(br#"{"spec":{"suspend":true}}"#.to_vec()),
    }));
    recorder.answer(&first()).unwrap();
    recorder.answer(&second()).unwrap_err();
    assert_eq!(
        recorder.to_text().unwrap(),
        r#"- type: Exchange
  request: |
    !KubernetesGetResource
    api_version: kustomize.toolkit.fluxcd.io/v1
    kind: Kustomization
    name: a
    namespace: apps
    disable_cache: true
    field_masks:
    - spec.suspend
    - status
  response:
    type: Success
    payload: '{"spec":{"suspend":true}}'
- type: Exchange
  request: |
    !KubernetesCanI
    request:
      groups: null
      resource_attributes:
        group: sluicegate.dev
        name: null
        namespace: null
        resource: gates
        subresource: null
        verb: bypass
        version: null
      user: alice
    disable_cache: true
  response:
    type: Error
    message: nobody knows
"#
    );
    let exchanges = recorder.take();
    assert_eq!(exchanges[0], Exchange { request: first(), answer: Ok(br#"{"spec":{"suspend":true}}"#.to_vec()) });
    assert_eq!(recorder.to_text().unwrap(), "[]\n");
}

#[test]
fn an_answer_that_is_no_text_cannot_be_recorded() {
    let recorder = Recorder::new(Scripted::new(|_: &HostRequest| Ok(vec![0xff])));
    recorder.answer(&first()).unwrap();
    assert_eq!(recorder.to_text().unwrap_err().to_string(), "the answer of exchange 1 is not UTF-8");
}
