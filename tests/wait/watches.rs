//! What happens while it watches.

use crate::process::{command, run};
use crate::server::Server;
use crate::{ks, kustomization, repo, repository};
use serde_json::{Value, json};
use sluicegate_core::object::Kind;
use sluicegate_core::testing::{sample, with};

const NEW: &str = "main@sha1:2222222222222222222222222222222222222222";

fn behind() -> Value {
    with(repository(), &[("/metadata/generation", json!(3))])
}

/// Runs it, and gives its exit code with what it said.
fn ended(server: &Server, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = command(server, arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn case_59_and_41_the_source_is_waited_for_and_then_the_consumer() {
    let server = Server::with([behind(), kustomization("a", &[])]);
    server.when("WATCH /apis/source.toolkit.fluxcd.io/v1/namespaces/ns/gitrepositories/repo", 1, |inner| {
        let message = format!("stored artifact for revision '{NEW}'");
        let fields = [
            ("/status/artifact/revision", json!(NEW)),
            ("/status/conditions/ArtifactInStorage/message", json!(message)),
        ];
        inner.change(&repo(), &fields);
        inner.reconcile(&repo());
        inner.change(&ks("a"), &[("/status/lastAppliedRevision", json!(NEW))]);
    });
    let (code, out, _) = ended(&server, &["wait", "ks/a", "--expect", NEW]);
    assert_eq!(code, Some(0), "{out}");
    assert!(out.starts_with("settled after "), "{out}");
    server.is_fine();
}

#[test]
fn case_73_an_event_that_was_missed_is_no_failure() {
    let server = Server::with([behind(), kustomization("a", &[])]);
    server.when("WATCH /apis/source.toolkit.fluxcd.io/v1/namespaces/ns/gitrepositories/repo", 1, |inner| {
        // Nobody tells.
        let watched = inner.objects[&repo()].clone();
        inner.cut_silently();
        inner.store(watched);
        inner.reconcile(&repo());
    });
    let (code, out, _) = ended(&server, &["wait", "ks/a", "--timeout", "1s"]);
    assert_eq!(code, Some(0), "{out}");
    server.is_fine();
}

#[test]
fn a_watch_that_is_too_old_or_cut_begins_anew() {
    let server = Server::with([behind(), kustomization("a", &[])]);
    server.gone(2);
    server.when("WATCH /apis/source.toolkit.fluxcd.io/v1/namespaces/ns/gitrepositories/repo", 3, |inner| inner.cut());
    server.when("GET /apis/source.toolkit.fluxcd.io/v1/namespaces/ns/gitrepositories/repo", 3, |inner| {
        let reads = inner.calls.iter().filter(|call| call.starts_with("GET") && call.ends_with("/repo")).count();
        if reads == 3 {
            inner.reconcile(&repo());
        }
    });
    let (code, out, _) = ended(&server, &["wait", "ks/a", "--timeout", "30s"]);
    assert_eq!(code, Some(0), "{out}");
    server.is_fine();
}

#[test]
fn an_object_that_is_deleted_and_made_anew_is_followed_and_told() {
    let server = Server::with([behind(), kustomization("a", &[])]);
    server.when("WATCH /apis/source.toolkit.fluxcd.io/v1/namespaces/ns/gitrepositories/repo", 1, |inner| {
        inner.delete(&repo());
        inner.store(with(repository(), &[("/metadata/uid", json!("another"))]));
    });
    let (code, out, said) = ended(&server, &["wait", "ks/a", "--timeout", "30s"]);
    assert_eq!(code, Some(0), "{out}");
    assert!(said.contains("GitRepository/ns/repo: was deleted and made anew"), "{said}");
    server.is_fine();
}

#[test]
fn without_the_right_to_watch_it_reads_and_says_so() {
    let server = Server::with([behind(), kustomization("a", &[])]);
    server.forbid("watch", Kind::GitRepository);
    server.when("GET /apis/source.toolkit.fluxcd.io/v1/namespaces/ns/gitrepositories/repo", 2, |inner| {
        let reads = inner.calls.iter().filter(|call| call.starts_with("GET") && call.ends_with("/repo")).count();
        if reads == 2 {
            inner.reconcile(&repo());
        }
    });
    insta::assert_snapshot!(run(&server, &["wait", "ks/a", "--timeout", "30s"]));
    server.is_fine();
}

#[test]
fn what_comes_to_be_needed_is_followed_and_what_is_not_any_more_is_not_waited_for() {
    let late = crate::failed(sample::kustomization("ns", "late"), "BuildFailed", "x");
    let server = Server::with([
        repository(),
        kustomization("a", &["b"]),
        crate::failed(kustomization("b", &[]), "BuildFailed", "x"),
        late,
    ]);
    server.when("WATCH /apis/kustomize.toolkit.fluxcd.io/v1/namespaces/ns/kustomizations/b", 1, |inner| {
        inner.change(&ks("a"), &[("/spec/dependsOn", json!([{"name": "late"}]))]);
    });
    server.when("WATCH /apis/kustomize.toolkit.fluxcd.io/v1/namespaces/ns/kustomizations/late", 1, |inner| {
        inner.reconcile(&ks("late"));
    });
    let (code, out, _) = ended(&server, &["wait", "ks/a", "--timeout", "30s"]);
    assert_eq!(code, Some(0), "{out}");
    server.is_fine();
}
