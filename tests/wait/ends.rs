//! How it ends.

use crate::process::{command, run, shown};
use crate::server::Server;
use crate::{failed, ks, kustomization, repo, repository, suspended, waiting};
use serde_json::json;
use sluicegate_core::object::Kind;
use sluicegate_core::testing::{sample, with};
use std::process::Stdio;
use std::time::{Duration, Instant};

#[test]
fn case_71_what_is_settled_ends_at_once_and_is_neither_listed_nor_written() {
    let server = Server::with([repository(), kustomization("a", &[])]);
    insta::assert_snapshot!(run(&server, &["wait", "ks/a"]));
    assert_eq!(server.calls("GET").len(), 2);
    assert_eq!((server.calls("LIST").len(), server.calls("PATCH").len()), (0, 0));
    server.is_fine();
}

#[test]
fn case_71_nothing_matched_is_told() {
    let server = Server::with([repository()]);
    insta::assert_snapshot!(run(&server, &["wait", "ks", "--all"]));
    assert_eq!(server.calls("").len(), 1, "one list, of that kind alone");
    insta::assert_snapshot!(run(&server, &["wait", "ks", "-l", "app=x"]));
    server.is_fine();
}

#[test]
fn a_wrong_command_line_is_two() {
    let server = Server::with([repository()]);
    insta::assert_snapshot!(run(&server, &["wait"]));
    insta::assert_snapshot!(run(&server, &["wait", "ks/A"]));
    assert_eq!(command(&server, &["wait", "ks/a", "--timeout", "soon"]).output().unwrap().status.code(), Some(2));
    assert_eq!(command(&server, &["wait", "ks/a", "--save", "x.txt"]).output().unwrap().status.code(), Some(2));
}

#[test]
fn all_and_selectors_list_once() {
    let labelled = with(kustomization("b", &[]), &[("/metadata/labels/app", json!("x"))]);
    let server = Server::with([repository(), kustomization("a", &[]), labelled]);
    insta::assert_snapshot!(run(&server, &["wait", "ks", "--all"]));
    assert_eq!(server.calls("LIST").len(), 1);
    insta::assert_snapshot!(run(&server, &["wait", "ks", "-l", "app=x"]));
    server.is_fine();
}

#[test]
fn case_13_a_failure_that_may_pass_is_waited_for_to_the_limit() {
    let message = "Widget/x/x dry-run failed: no matches for kind \"Widget\" in version \"acme.io/v1\"";
    let server = Server::with([
        repository(),
        waiting("apps", "infra"),
        waiting("infra", "controllers"),
        failed(sample::kustomization("ns", "controllers"), "ReconciliationFailed", message),
    ]);
    insta::assert_snapshot!(run(&server, &["wait", "ks/apps", "--timeout", "1s"]));
    server.is_fine();
}

#[test]
fn case_13_and_77_stalled_ends_at_once() {
    let stalled = with(
        failed(sample::kustomization("ns", "controllers"), "BuildFailed", "no such path"),
        &[
            ("/status/conditions/Stalled/status", json!("True")),
            ("/status/conditions/Stalled/message", json!("no such path")),
        ],
    );
    let server = Server::with([repository(), waiting("apps", "controllers"), stalled]);
    insta::assert_snapshot!(run(&server, &["wait", "ks/apps"]));
    server.is_fine();
}

#[test]
fn case_15_a_suspended_child_ends_it_at_once_with_its_name() {
    let parent = with(
        failed(
            sample::kustomization("ns", "pre"),
            "HealthCheckFailed",
            "Health check failed after 5m0s: timeout waiting for: [HelmRelease/ns/net status: 'InProgress']",
        ),
        &[
            ("/spec/wait", json!(true)),
            ("/status/inventory/entries", json!([{"id": "ns_net_helm.toolkit.fluxcd.io_HelmRelease", "v": "v2"}])),
        ],
    );
    let net = with(
        suspended(sample::helm_release("ns", "net")),
        &[
            ("/metadata/generation", json!(4)),
            ("/status/observedGeneration", json!(3)),
            ("/metadata/labels/kustomize.toolkit.fluxcd.io~1name", json!("pre")),
            ("/metadata/labels/kustomize.toolkit.fluxcd.io~1namespace", json!("ns")),
        ],
    );
    let server = Server::with([repository(), parent, net, sample::helm_chart("ns", "ns-net")]);
    insta::assert_snapshot!(run(&server, &["wait", "ks/pre"]));
    server.is_fine();
}

#[test]
fn case_49_a_request_on_a_suspended_object_is_no_success() {
    let a = with(
        suspended(kustomization("a", &[])),
        &[
            ("/metadata/annotations/reconcile.fluxcd.io~1requestedAt", json!("T9")),
            ("/status/lastHandledReconcileAt", json!("T9")),
        ],
    );
    let server = Server::with([repository(), a]);
    insta::assert_snapshot!(run(&server, &["wait", "ks/a"]));
    insta::assert_snapshot!(run(&server, &["wait", "ks/a", "--ignore-suspended"]));
}

#[test]
fn case_57_a_request_that_nobody_handles_is_called_that() {
    let server = Server::with([with(repository(), &[("/metadata/labels/sharding.fluxcd.io~1key", json!("s1"))])]);
    insta::assert_snapshot!(run(&server, &["wait", "gitrepo/repo", "--reconcile", "--timeout", "1s"]));
    assert_eq!(server.calls("PATCH").len(), 1);
    server.is_fine();
}

#[test]
fn case_01_a_loop_ends_it() {
    let server = Server::with([repository(), waiting("one", "two"), waiting("two", "one")]);
    insta::assert_snapshot!(run(&server, &["wait", "ks/one"]));
}

#[test]
fn case_23_a_missing_object_ends_it() {
    let server = Server::with([repository(), waiting("a", "gone")]);
    insta::assert_snapshot!(run(&server, &["wait", "ks/a"]));
    let server = Server::with([repository()]).without(Kind::Terraform);
    insta::assert_snapshot!(run(&server, &["wait", "tf/a"]));
}

#[test]
fn more_than_can_be_watched_are_read_once_more() {
    let names: Vec<String> = (0..250).map(|n| format!("k{n}")).collect();
    let needs: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut objects = vec![repository(), kustomization("all", &needs)];
    objects.extend(names.iter().map(|name| kustomization(name, &[])));
    let server = Server::with(objects);
    let output = command(&server, &["wait", "ks/all"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(server.calls("GET").len(), 2 * 252);
    assert!(server.calls("WATCH").len() <= 200, "{}", server.calls("WATCH").len());
    assert_eq!(server.calls("LIST").len(), 0);
    server.is_fine();
}

#[test]
fn an_expected_revision_that_never_comes_is_the_last_word() {
    let server = Server::with([repository(), kustomization("a", &[])]);
    insta::assert_snapshot!(run(&server, &["wait", "ks/a", "--expect", "2222222", "--timeout", "1s"]));
}

#[test]
fn one_object_may_have_a_limit_of_its_own() {
    let slow = with(
        failed(kustomization("b", &[]), "BuildFailed", "x"),
        &[("/metadata/annotations/sluicegate.dev~1timeout", json!("1s"))],
    );
    let server = Server::with([repository(), waiting("a", "b"), slow]);
    insta::assert_snapshot!(run(&server, &["wait", "ks/a"]));
}

#[test]
fn a_right_that_is_missing_ends_it_by_verb_and_resource() {
    let server = Server::with([repository(), kustomization("a", &[])]);
    server.forbid("get", Kind::GitRepository);
    insta::assert_snapshot!(run(&server, &["wait", "ks/a"]));
    let server = Server::with([repository()]);
    server.forbid("patch", Kind::GitRepository);
    insta::assert_snapshot!(run(&server, &["wait", "gitrepo/repo", "--reconcile"]));
    let server = Server::with([repository()]);
    server.forbid("list", Kind::Kustomization);
    insta::assert_snapshot!(run(&server, &["wait", "ks", "--all"]));
}

#[test]
fn no_cluster_is_told() {
    let server = Server::with([]);
    std::fs::remove_file(&server.kubeconfig).unwrap();
    let output = command(&server, &["wait", "ks/a"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.starts_with("error: kubeconfig "), "{said}");
}

#[test]
fn an_interrupt_says_where_things_stand() {
    let source = with(repository(), &[("/metadata/generation", json!(3))]);
    let server = Server::with([source, kustomization("a", &[])]);
    let child = command(&server, &["wait", "ks/a"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let limit = Instant::now() + Duration::from_secs(30);
    while server.calls("WATCH").len() < 2 {
        assert!(Instant::now() < limit, "it watches both");
        std::thread::sleep(Duration::from_millis(10));
    }
    let id = rustix::process::Pid::from_child(&child);
    // The handler is in place before the first request.
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    insta::assert_snapshot!(shown(&child.wait_with_output().unwrap()));
    assert_eq!(server.calls("PATCH").len(), 0);
}

#[test]
fn machines_get_an_event_a_line() {
    let server = Server::with([repository(), waiting("a", "gone")]);
    insta::assert_snapshot!(run(&server, &["wait", "ks/a", "-o", "json"]));
}

#[test]
fn the_time_line_can_be_kept() {
    let server = Server::with([repository(), waiting("a", "gone")]);
    for name in ["line.yaml", "line.html"] {
        let file = server.file(name);
        assert_eq!(
            command(&server, &["wait", "ks/a", "--save", file.to_str().unwrap()]).output().unwrap().status.code(),
            Some(4)
        );
        let text = crate::process::without_times(&std::fs::read_to_string(&file).unwrap());
        if name.ends_with("yaml") {
            insta::assert_snapshot!(text);
        } else {
            assert!(text.starts_with("<!DOCTYPE html>"), "{text}");
            assert!(text.contains("blocked for good: Kustomization/ns/gone does not exist"), "{text}");
            for own in [ks("a"), ks("gone"), repo()] {
                assert!(text.contains(&format!("{own}</text>")), "{text}");
            }
            assert!(!text.contains("src=") && !text.contains("href="), "it needs nothing else");
        }
    }
}
