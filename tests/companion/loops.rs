//! Loops that slipped in, of needs and of holds.

use crate::server::Server;
use crate::{Companion, depending, held, kustomization, pass, settle};
use serde_json::json;
use sluicegate::control::Settings;
use sluicegate_core::testing::{sample, with};

/// Cases 1 and 95: both changes are stored; it is found, told once to each member, and gone when it is mended.
#[tokio::test(start_paused = true)]
async fn case_1_case_95_a_loop_is_told_to_its_members_and_to_nobody_else() {
    let server = Server::with([
        sample::git_repository("ns", "repo"),
        sample::kustomization("ns", "one"),
        depending(sample::kustomization("ns", "two"), &["one"]),
        depending(sample::kustomization("ns", "bystander"), &["two"]),
    ]);
    let companion = Companion::start(&server, Settings::default()).await;
    settle().await;
    assert_eq!(server.events(), [""; 0]);
    server.put(depending(sample::kustomization("ns", "one"), &["two"]));
    settle().await;
    assert_eq!(server.events(), ["DependencyCycle Kustomization/ns/one", "DependencyCycle Kustomization/ns/two"]);
    assert!(server.notes()[0].starts_with("dependency cycle: Kustomization/ns/one needs itself\n"));
    assert!(companion.control.metrics.text().contains("sluicegate_dependency_cycles 1"));
    assert_eq!(companion.control.lock().loops.len(), 1);
    for number in 0..5 {
        server.change(&kustomization("one"), &[("/metadata/generation", json!(10 + number))]);
        pass(60).await;
    }
    assert_eq!(server.events().len(), 2, "once");
    server.put(sample::kustomization("ns", "one"));
    settle().await;
    assert!(companion.control.metrics.text().contains("sluicegate_dependency_cycles 0"));
    assert_eq!(server.writes(), [""; 0], "a loop is told, not broken");
    server.is_fine();
    companion.kill().await;
}

/// The owner is told where its inventory lists a member: its labels alone could be forged.
#[tokio::test(start_paused = true)]
async fn an_owner_is_told_by_its_own_inventory() {
    let owned = |json, owner: &str| {
        with(
            json,
            &[
                ("/metadata/labels/kustomize.toolkit.fluxcd.io~1name", json!(owner)),
                ("/metadata/labels/kustomize.toolkit.fluxcd.io~1namespace", json!("ns")),
            ],
        )
    };
    let listing =
        [("/status/inventory/entries", json!([{"id": "ns_one_kustomize.toolkit.fluxcd.io_Kustomization", "v": "v1"}]))];
    let server = Server::with([
        sample::git_repository("ns", "repo"),
        owned(depending(sample::kustomization("ns", "one"), &["two"]), "lists"),
        owned(depending(sample::kustomization("ns", "two"), &["one"]), "lists-not"),
        with(sample::kustomization("ns", "lists"), &listing),
        sample::kustomization("ns", "lists-not"),
    ]);
    let companion = Companion::start(&server, Settings::default()).await;
    settle().await;
    let mut told = server.events();
    told.sort();
    assert_eq!(
        told,
        [
            "DependencyCycle Kustomization/ns/lists",
            "DependencyCycle Kustomization/ns/one",
            "DependencyCycle Kustomization/ns/two"
        ]
    );
    companion.kill().await;
}

#[tokio::test(start_paused = true)]
async fn held_objects_that_wait_for_each_other_are_told() {
    let server = Server::with([
        sample::git_repository("ns", "repo"),
        held(depending(sample::kustomization("ns", "a"), &["b"]), "premature", 0),
        held(depending(sample::kustomization("ns", "b"), &["a"]), "premature", 0),
    ]);
    let companion = Companion::start(&server, Settings::default()).await;
    pass(30).await;
    let told = server.events();
    for name in ["a", "b"] {
        assert!(told.contains(&format!("HeldLoop Kustomization/ns/{name}")), "{told:?}");
    }
    assert!(server.writes().iter().all(|write| write.starts_with("publish")));
    assert!(companion.control.metrics.text().contains("sluicegate_held_loops 1"));
    server.is_fine();
    companion.kill().await;
}
