//! Requests and resumes: in the order of needs, each with its preconditions.

use crate::process::run;
use crate::server::Server;
use crate::{ks, kustomization, repo, repository, suspended};
use serde_json::{Value, json};
use sluicegate_core::object::{Kind, Reference};
use sluicegate_core::testing::{sample, with};

/// Which object each patch was of, in order.
fn patched(server: &Server) -> Vec<String> {
    let name = |call: String| call.split(' ').nth(1).unwrap().rsplit('/').next().unwrap().to_owned();
    server.calls("PATCH").into_iter().map(name).collect()
}

/// Whenever an object is patched, its controller reconciles it.
fn controlled(server: &Server, objects: &[Reference]) {
    for own in objects.iter().cloned() {
        let name = format!("/{}/{} ", own.kind.row().plural, own.name);
        server.when(&name, usize::MAX, move |inner| {
            if inner.calls.last().is_some_and(|call| call.starts_with("PATCH")) {
                inner.reconcile(&own);
            }
        });
    }
}

#[test]
fn requests_go_to_the_source_first() {
    let server = Server::with([repository(), kustomization("a", &["b"]), kustomization("b", &[])]);
    controlled(&server, &[repo(), ks("a")]);
    insta::assert_snapshot!(run(&server, &["wait", "ks/a", "--reconcile"]));
    assert_eq!(patched(&server), ["repo", "a"]);
    server.is_fine();
}

#[test]
fn case_37_and_51_each_is_resumed_once_in_the_order_of_needs() {
    let server = Server::with([
        repository(),
        suspended(kustomization("apps", &["monitoring"])),
        suspended(kustomization("monitoring", &["storage"])),
        suspended(kustomization("storage", &[])),
    ]);
    controlled(&server, &[ks("apps"), ks("monitoring"), ks("storage")]);
    insta::assert_snapshot!(run(&server, &["wait", "ks/apps", "--resume"]));
    assert_eq!(patched(&server), ["storage", "monitoring", "apps"]);
    for call in server.calls("PATCH") {
        let body: Value = serde_json::from_str(call.splitn(3, ' ').nth(2).unwrap()).unwrap();
        let operations: Vec<(&str, &str)> = body
            .as_array()
            .unwrap()
            .iter()
            .map(|operation| (operation["op"].as_str().unwrap(), operation["path"].as_str().unwrap()))
            .collect();
        assert_eq!(
            operations,
            [
                ("test", "/metadata/uid"),
                ("test", "/metadata/resourceVersion"),
                ("test", "/spec/suspend"),
                ("remove", "/spec/suspend"),
                ("add", "/metadata/annotations"),
                ("add", "/metadata/annotations/reconcile.fluxcd.io~1requestedAt"),
            ],
            "one write clears the switch and asks for a pass"
        );
    }
    server.is_fine();
}

#[test]
fn case_39_source_chart_and_release_follow_each_other() {
    let chart = Reference::new(Kind::HelmChart, "ns", "ns-units");
    let release = Reference::new(Kind::HelmRelease, "ns", "units");
    let server = Server::with([
        suspended(repository()),
        suspended(sample::helm_chart("ns", "ns-units")),
        suspended(sample::helm_release("ns", "units")),
    ]);
    controlled(&server, &[repo(), chart, release]);
    insta::assert_snapshot!(run(&server, &["wait", "hr/units", "--resume"]));
    assert_eq!(patched(&server), ["repo", "ns-units", "units"]);
    server.is_fine();
}

#[test]
fn case_101_the_repository_is_asked_before_the_release_is_resumed() {
    let source = json!({"kind": "HelmRepository", "name": "r"});
    let release = with(sample::helm_release("ns", "y"), &[("/spec/chart/spec/sourceRef", source.clone())]);
    let chart = with(
        sample::helm_chart("ns", "ns-y"),
        &[("/spec/sourceRef", source), ("/status/observedSourceArtifactRevision", json!(sample::DIGEST_REVISION))],
    );
    let server = Server::with([sample::helm_repository("ns", "r"), chart, suspended(release)]);
    controlled(
        &server,
        &[
            Reference::new(Kind::HelmRepository, "ns", "r"),
            Reference::new(Kind::HelmChart, "ns", "ns-y"),
            Reference::new(Kind::HelmRelease, "ns", "y"),
        ],
    );
    insta::assert_snapshot!(run(&server, &["wait", "hr/y", "--reconcile", "--resume"]));
    assert_eq!(patched(&server), ["r", "ns-y", "y"]);
    server.is_fine();
}

#[test]
fn what_is_never_to_be_released_is_not_touched() {
    let vetoed =
        with(suspended(kustomization("a", &[])), &[("/metadata/annotations/sluicegate.dev~1release", json!("never"))]);
    let server = Server::with([repository(), vetoed]);
    insta::assert_snapshot!(run(&server, &["wait", "ks/a", "--resume"]));
    assert_eq!(patched(&server), [""; 0]);
}

#[test]
fn a_held_object_is_resumed_with_its_mark() {
    let mark = json!({"applier": {"user": "u", "manager": "m"}, "at": "2026-01-01T00:00:00Z", "cause": "premature"});
    let held = with(
        suspended(kustomization("a", &[])),
        &[("/metadata/annotations/sluicegate.dev~1held", json!(mark.to_string()))],
    );
    let server = Server::with([repository(), held]);
    controlled(&server, &[ks("a")]);
    insta::assert_snapshot!(run(&server, &["wait", "ks/a", "--resume"]));
    assert_eq!(server.get(&ks("a"))["metadata"]["annotations"].get("sluicegate.dev/held"), None);
    server.is_fine();
}

#[test]
fn a_refusal_of_the_gate_is_told_and_the_resume_tried_again() {
    let server = Server::with([repository(), suspended(kustomization("a", &[]))]);
    server.deny("premature unsuspend: wait", 2);
    server.when("PATCH", usize::MAX, |inner| {
        if inner.objects[&ks("a")]["spec"].get("suspend").is_none() {
            inner.reconcile(&ks("a"));
        }
    });
    insta::assert_snapshot!(run(&server, &["wait", "ks/a", "--resume"]));
    assert_eq!(patched(&server), ["a", "a", "a"]);
    server.is_fine();
}
