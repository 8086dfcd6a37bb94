//! `sluicegate release`: in the name of a person.

use crate::server::{Fault, Server};
use crate::{Companion, held, kustomization, settle};
use http::Method;
use serde_json::json;
use sluicegate::control::{Freed, Settings};
use sluicegate_core::testing::{sample, with};

/// A companion without anything to do, by whose hands it is done.
async fn hands(server: &Server) -> Companion {
    // It never leads before it is asked: nothing is released by itself.
    let companion = Companion::start_at(
        server,
        Settings::default(),
        sluicegate::clock::Clock::Since(crate::start(), tokio::time::Instant::now()),
    )
    .await;
    settle().await;
    companion.driver.abort();
    companion.lead();
    companion
}

fn never(json: serde_json::Value) -> serde_json::Value {
    with(json, &[("/metadata/annotations/sluicegate.dev~1release", json!("never"))])
}

#[tokio::test(start_paused = true)]
async fn what_is_settled_is_freed_and_the_rest_only_for_a_reason() {
    let behind = with(sample::git_repository("ns", "repo"), &[("/metadata/generation", json!(3))]);
    let server = Server::with([
        behind,
        held(sample::kustomization("ns", "a"), "premature", 0),
        held(never(sample::kustomization("ns", "b")), "premature", 0),
        sample::kustomization("ns", "c"),
    ]);
    let companion = hands(&server).await;
    let free = async |name: &str, reason: Option<&str>| companion.control.free(&kustomization(name), reason).await;
    let why = "held: GitRepository/ns/repo: generation 3 not yet observed (2)";
    assert_eq!(free("a", None).await, Freed::Waits(why.to_owned()));
    assert_eq!(free("b", Some("x")).await, Freed::Vetoed);
    assert_eq!(free("c", Some("x")).await, Freed::NotHeld);
    assert!(matches!(free("d", None).await, Freed::Failed(_)));
    assert_eq!(server.writes(), [""; 0]);
    assert_eq!(free("a", Some("maintenance is over")).await, Freed::Resumed);
    let patches = server.calls(&Method::PATCH);
    assert!(patches[0].body.to_string().contains("maintenance is over"), "by the bypass");
    let annotations = server.get(&kustomization("a"))["metadata"]["annotations"].clone();
    assert_eq!(annotations.get("sluicegate.dev/bypass"), None, "which is taken off again");
    assert_eq!(server.get(&kustomization("a"))["spec"].get("suspend"), None);
    server.is_fine();
}

#[tokio::test(start_paused = true)]
async fn what_is_settled_needs_no_bypass_and_conflicts_are_tried_again() {
    let server =
        Server::with([sample::git_repository("ns", "repo"), held(sample::kustomization("ns", "a"), "premature", 0)]);
    server.fail(Method::PATCH, "kustomizations/a", "", Fault::Status(409, "conflict"), 2);
    let companion = hands(&server).await;
    assert_eq!(companion.control.free(&kustomization("a"), Some("x")).await, Freed::Resumed);
    let patches = server.calls(&Method::PATCH);
    assert_eq!(patches.len(), 3);
    assert!(!patches[2].body.to_string().contains("bypass"));
}
