//! Held objects: released once all is settled, and visible until then.

use crate::server::{Fault, Server};
use crate::{Companion, at, depending, held, kustomization, pass, published, reconcile, repository, settle};
use http::Method;
use serde_json::json;
use sluicegate::control::Settings;
use sluicegate_core::object::{Kind, Reference};
use sluicegate_core::release::Marks;
use sluicegate_core::testing::{sample, with};
use std::time::Duration;

fn behind() -> serde_json::Value {
    with(sample::git_repository("ns", "repo"), &[("/metadata/generation", json!(3))])
}

/// The whole life of a hold, and that of its object: the change that settles the last input is what wakes it.
#[tokio::test(start_paused = true)]
async fn a_hold_is_seen_and_ends_with_the_change_that_settles_its_input() {
    let own = kustomization("a");
    let server = Server::with([behind(), held(sample::kustomization("ns", "a"), "premature", 0)]);
    let companion = Companion::start(&server, Settings::default()).await;
    settle().await;
    let said = "held: GitRepository/ns/repo: generation 3 not yet observed (2)";
    assert_eq!(published(&server, &own).as_deref(), Some(said));
    assert_eq!(server.writes(), ["publish Kustomization/ns/a"]);
    assert_eq!(server.reads(), 1, "one read before the one write");
    pass(1_800).await;
    assert_eq!((server.writes().len(), server.reads()), (1, 1), "nothing is polled");
    let before = tokio::time::Instant::now();
    server.put(sample::git_repository("ns", "repo"));
    settle().await;
    assert_eq!(server.writes(), ["publish Kustomization/ns/a", "release Kustomization/ns/a"]);
    let released = server.calls(&Method::PATCH)[1].at;
    assert!(released - before < Duration::from_millis(500), "{:?}", released - before);
    assert_eq!(server.reads(), 3, "the object and its source, once each");
    let object = server.get(&own);
    assert_eq!(object["spec"].get("suspend"), None);
    assert_eq!(object["metadata"]["annotations"].get("sluicegate.dev/held"), None);
    assert!(object["metadata"]["annotations"]["reconcile.fluxcd.io/requestedAt"].is_string());
    reconcile(&server, &own);
    pass(600).await;
    assert_eq!(server.writes().len(), 2, "released once");
    assert_eq!(server.events(), ["Held Kustomization/ns/a", "Released Kustomization/ns/a"]);
    server.is_fine();
    companion.kill().await;
}

/// Case 37, by the real shell.
#[tokio::test(start_paused = true)]
async fn case_37_a_chain_is_released_in_the_order_of_its_needs() {
    let chain = [("apps", vec!["monitoring"]), ("monitoring", vec!["storage"]), ("storage", vec![])];
    let objects =
        chain.iter().map(|(name, needs)| held(depending(sample::kustomization("ns", name), needs), "premature", 0));
    let server = Server::with(objects.chain([sample::git_repository("ns", "repo")]));
    let companion = Companion::start(&server, Settings::default()).await;
    let released =
        || -> Vec<String> { server.writes().into_iter().filter(|write| write.starts_with("release")).collect() };
    for (count, name) in [(1, "storage"), (2, "monitoring"), (3, "apps")] {
        settle().await;
        pass(60).await;
        assert_eq!(released().len(), count, "{:?}", released());
        assert_eq!(released().last(), Some(&format!("release Kustomization/ns/{name}")));
        reconcile(&server, &kustomization(name));
    }
    pass(60).await;
    assert_eq!(released().len(), 3);
    server.is_fine();
    companion.kill().await;
}

#[tokio::test(start_paused = true)]
async fn a_mark_of_cause_not_reached_waits_for_the_owner() {
    let labels = [
        ("/metadata/labels/kustomize.toolkit.fluxcd.io~1name", json!("parent")),
        ("/metadata/labels/kustomize.toolkit.fluxcd.io~1namespace", json!("ns")),
    ];
    let own = with(held(sample::kustomization("ns", "a"), "not-reached", 0), &labels);
    let running = with(sample::kustomization("ns", "parent"), &[("/status/conditions/Ready/status", json!("Unknown"))]);
    let server = Server::with([own, running, with(sample::git_repository("ns", "repo"), &labels)]);
    let companion = Companion::start(&server, Settings::default()).await;
    pass(120).await;
    assert_eq!(
        published(&server, &kustomization("a")).as_deref(),
        Some("held: Kustomization/ns/parent is still applying")
    );
    server.change(&kustomization("parent"), &[("/status/conditions/Ready/status", json!("True"))]);
    settle().await;
    assert_eq!(server.writes().last().map(String::as_str), Some("release Kustomization/ns/a"));
    let reads: Vec<String> = server.calls(&Method::GET).iter().map(|call| call.path.clone()).collect();
    let place = |part: &str| reads.iter().rposition(|path| path.contains(part)).unwrap();
    assert!(place("kustomizations/parent") < place("gitrepositories"), "the owner first: {reads:?}");
    server.is_fine();
    companion.kill().await;
}

#[tokio::test(start_paused = true)]
async fn where_the_owner_does_not_tell_silence_does() {
    let labels = [
        ("/metadata/labels/helm.toolkit.fluxcd.io~1name", json!("parent")),
        ("/metadata/labels/helm.toolkit.fluxcd.io~1namespace", json!("ns")),
    ];
    let own = with(held(sample::kustomization("ns", "a"), "not-reached", 0), &labels);
    let server = Server::with([own, sample::git_repository("ns", "repo")]);
    let companion = Companion::start(&server, Settings::default()).await;
    pass(6).await;
    // Helm goes on applying.
    server.put(with(sample::kustomization("ns", "sibling"), &labels));
    pass(8).await;
    assert!(!server.writes().iter().any(|write| write.starts_with("release")));
    pass(4).await;
    assert!(server.writes().contains(&"release Kustomization/ns/a".to_owned()));
    server.is_fine();
    companion.kill().await;
}

#[tokio::test(start_paused = true)]
async fn what_has_no_mark_is_nobodys_business() {
    let suspended = [("/spec/suspend", json!(true))];
    let wished =
        [("/spec/suspend", json!(true)), ("/metadata/annotations/sluicegate.dev~1resume", json!("when-settled"))];
    let server = Server::with([
        sample::git_repository("ns", "repo"),
        with(sample::kustomization("ns", "by-hand"), &suspended),
        with(sample::kustomization("ns", "wished"), &wished),
        with(sample::helm_chart("ns", "chart"), &suspended),
        with(
            held(sample::kustomization("ns", "deleting"), "premature", 0),
            &[("/metadata/deletionTimestamp", json!(at(0)))],
        ),
        sample::kustomization("ns", "working"),
    ]);
    let companion = Companion::start(&server, Settings::default()).await;
    pass(7_200).await;
    assert_eq!((server.writes(), server.reads(), server.events()), (vec![], 0, vec![]));
    server.is_fine();
    companion.kill().await;
}

#[tokio::test(start_paused = true)]
async fn without_a_gate_the_bare_annotation_is_obeyed() {
    let wished =
        [("/spec/suspend", json!(true)), ("/metadata/annotations/sluicegate.dev~1resume", json!("when-settled"))];
    let server = Server::with([sample::git_repository("ns", "repo"), with(sample::kustomization("ns", "a"), &wished)]);
    let mut settings = Settings::default();
    settings.release.marks = Marks::Annotations;
    let companion = Companion::start(&server, settings).await;
    settle().await;
    assert_eq!(server.writes(), ["release Kustomization/ns/a"]);
    assert_eq!(server.get(&kustomization("a"))["metadata"]["annotations"].get("sluicegate.dev/resume"), None);
    companion.kill().await;
}

#[tokio::test(start_paused = true)]
async fn never_is_respected_and_said_once() {
    let never = [("/metadata/annotations/sluicegate.dev~1release", json!("never"))];
    let own = with(held(sample::kustomization("ns", "a"), "premature", 0), &never);
    let server = Server::with([own, sample::git_repository("ns", "repo")]);
    let companion = Companion::start(&server, Settings::default()).await;
    pass(60).await;
    for generation in 3..9 {
        server.change(&repository(), &[("/metadata/generation", json!(generation))]);
        pass(10).await;
    }
    assert_eq!(server.writes(), ["publish Kustomization/ns/a"]);
    assert_eq!(server.events().iter().filter(|event| event.starts_with("ReleaseNever")).count(), 1);
    server.put(sample::git_repository("ns", "repo"));
    server.change(&kustomization("a"), &[("/metadata/annotations/sluicegate.dev~1release", json!(null))]);
    settle().await;
    assert_eq!(server.writes().last().map(String::as_str), Some("release Kustomization/ns/a"));
    server.is_fine();
    companion.kill().await;
}

#[tokio::test(start_paused = true)]
async fn a_condition_that_its_controller_drops_is_written_again() {
    let server = Server::with([behind(), held(sample::kustomization("ns", "a"), "premature", 0)]);
    let companion = Companion::start(&server, Settings::default()).await;
    settle().await;
    server.change(&kustomization("a"), &[("/status/conditions/Reconciling", json!(null))]);
    settle().await;
    assert_eq!(server.writes(), ["publish Kustomization/ns/a"; 2]);
    assert!(published(&server, &kustomization("a")).is_some());
    companion.kill().await;
}

#[tokio::test(start_paused = true)]
async fn a_message_that_changes_all_the_time_is_not_written_all_the_time() {
    let server = Server::with([behind(), held(sample::kustomization("ns", "a"), "premature", 0)]);
    let companion = Companion::start(&server, Settings::default()).await;
    for generation in 4..64 {
        server.change(&repository(), &[("/metadata/generation", json!(generation))]);
        pass(1).await;
    }
    let writes = server.writes().len();
    assert!((2..=8).contains(&writes), "{writes}");
    pass(20).await;
    let said = "held: GitRepository/ns/repo: generation 63 not yet observed (2)";
    assert_eq!(published(&server, &kustomization("a")).as_deref(), Some(said));
    companion.kill().await;
}

#[tokio::test(start_paused = true)]
async fn a_mark_that_is_taken_off_takes_the_condition_along() {
    let server = Server::with([behind(), held(sample::kustomization("ns", "a"), "premature", 0)]);
    let companion = Companion::start(&server, Settings::default()).await;
    settle().await;
    server.change(&kustomization("a"), &[("/metadata/annotations/sluicegate.dev~1held", json!(null))]);
    settle().await;
    assert_eq!(published(&server, &kustomization("a")), None);
    assert_eq!(server.writes().last().map(String::as_str), Some("unpublish Kustomization/ns/a"));
    assert!(server.events().contains(&"MarkLost Kustomization/ns/a".to_owned()));
    server.put(sample::git_repository("ns", "repo"));
    pass(60).await;
    assert_eq!(server.get(&kustomization("a"))["spec"]["suspend"], json!(true), "it stays as somebody left it");
    server.is_fine();
    companion.kill().await;
}

/// After a restart the condition alone tells that there was a mark.
#[tokio::test(start_paused = true)]
async fn a_mark_that_was_lost_while_nobody_looked_is_told() {
    let left = json!({"type": "Reconciling", "status": "True", "reason": "Held", "message": "held: x"});
    let fields = [("/spec/suspend", json!(true)), ("/status/conditions/Reconciling", left)];
    let server = Server::with([with(sample::kustomization("ns", "a"), &fields), sample::git_repository("ns", "repo")]);
    let companion = Companion::start(&server, Settings::default()).await;
    settle().await;
    assert_eq!(server.writes(), ["unpublish Kustomization/ns/a"]);
    assert_eq!(server.events(), ["MarkLost Kustomization/ns/a"]);
    companion.kill().await;
}

#[tokio::test(start_paused = true)]
async fn held_for_too_long_is_said_once_with_the_root() {
    let server = Server::with([behind(), held(sample::kustomization("ns", "a"), "premature", -1_800)]);
    let companion = Companion::start(&server, Settings::default()).await;
    pass(1_700).await;
    assert!(!server.events().iter().any(|event| event.starts_with("HeldTooLong")));
    pass(200).await;
    pass(7_200).await;
    assert_eq!(server.events().iter().filter(|event| event.starts_with("HeldTooLong")).count(), 1);
    assert!(server.notes().iter().any(|note| note.contains("more than 1 h") && note.contains("GitRepository/ns/repo")));
    assert!(companion.control.metrics.text().contains("sluicegate_held_too_long 1"));
    companion.kill().await;
}

#[tokio::test(start_paused = true)]
async fn an_object_of_every_kind_with_a_switch_is_released() {
    let objects = [
        sample::kustomization("ns", "a"),
        sample::helm_release("ns", "a"),
        sample::helm_chart("ns", "a"),
        sample::git_repository("ns", "a"),
        sample::oci_repository("ns", "a"),
        sample::bucket("ns", "a"),
        sample::helm_repository("ns", "a"),
        sample::artifact_generator("ns", "a"),
        sample::resource_set("ns", "a"),
        sample::terraform("ns", "a"),
    ];
    let needed = [sample::git_repository("ns", "repo"), sample::helm_chart("ns", "ns-a")];
    let server = Server::with(objects.iter().map(|json| held(json.clone(), "premature", 0)).chain(needed));
    let companion = Companion::start(&server, Settings::default()).await;
    settle().await;
    assert_eq!(server.writes().len(), objects.len(), "{:?}", server.writes());
    assert!(server.writes().iter().all(|write| write.starts_with("release ")));
    server.is_fine();
    companion.kill().await;
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_says_and_does_not() {
    let server =
        Server::with([sample::git_repository("ns", "repo"), held(sample::kustomization("ns", "a"), "premature", 0)]);
    let companion = Companion::start(&server, Settings { dry_run: true, ..Settings::default() }).await;
    pass(600).await;
    assert_eq!((server.writes(), server.events()), (vec![], vec![]));
    assert!(companion.control.metrics.text().contains(r#"purpose="release",result="pretended"} 1"#));
    companion.kill().await;
}

/// A watch that lags behind is no reason to resume: what is read for the write decides.
#[tokio::test(start_paused = true)]
async fn what_the_cluster_says_counts_and_not_what_the_watch_says() {
    let server = Server::with([behind(), held(sample::kustomization("ns", "a"), "premature", 0)]);
    let companion = Companion::start(&server, Settings::default()).await;
    settle().await;
    // The watch sees it settled; by the time of the read it is not any more.
    server.fail(
        Method::GET,
        "kustomizations/a",
        "",
        Fault::Meanwhile("/metadata/annotations/sluicegate.dev~1held", json!(null)),
        1,
    );
    server.put(sample::git_repository("ns", "repo"));
    pass(60).await;
    assert!(!server.writes().iter().any(|write| write.starts_with("release")), "{:?}", server.writes());
    companion.kill().await;
}

#[tokio::test(start_paused = true)]
async fn an_input_outside_what_is_watched_is_read_one_by_one() {
    let server = Server::with([held(sample::kustomization("ns", "a"), "premature", 0)]);
    let companion = Companion::start(&server, Settings { partial: true, ..Settings::default() }).await;
    settle().await;
    assert_eq!(published(&server, &kustomization("a")).as_deref(), Some("held: GitRepository/ns/repo: does not exist"));
    server.silence(true);
    server.put(sample::git_repository("ns", "repo"));
    server.silence(false);
    pass(40).await;
    assert!(server.writes().contains(&"release Kustomization/ns/a".to_owned()), "{:?}", server.writes());
    companion.kill().await;
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_deleted_and_made_anew_is_another_one() {
    let own = kustomization("a");
    let server =
        Server::with([sample::git_repository("ns", "repo"), held(sample::kustomization("ns", "a"), "premature", 0)]);
    server.fail(Method::PATCH, "kustomizations/a", "", Fault::Meanwhile("/metadata/uid", json!("another")), 1);
    let companion = Companion::start(&server, Settings::default()).await;
    settle().await;
    let releases = server.calls(&Method::PATCH);
    assert_eq!(releases.len(), 2, "the first one failed on its test");
    assert_eq!(releases[0].body[0]["value"], "0");
    assert_eq!(releases[1].body[0]["value"], "another");
    assert_eq!(server.get(&own)["spec"].get("suspend"), None);
    companion.kill().await;
}

/// A controller that forgets the condition, and an object that has no controller.
#[tokio::test(start_paused = true)]
async fn a_condition_that_nobody_takes_off_is_taken_off() {
    let held_condition = json!({"type": "Reconciling", "status": "True", "reason": "Held", "message": "held: x"});
    let left = |json: serde_json::Value| with(json, &[("/status/conditions", json!([held_condition]))]);
    let handled = with(
        left(sample::resource_set("ns", "done")),
        &[
            ("/metadata/annotations/reconcile.fluxcd.io~1requestedAt", json!("T")),
            ("/status/lastHandledReconcileAt", json!("T")),
        ],
    );
    let asked = with(
        left(sample::resource_set("ns", "asked")),
        &[("/metadata/annotations/reconcile.fluxcd.io~1requestedAt", json!("T"))],
    );
    let server = Server::with([handled, asked, left(sample::helm_repository_oci("ns", "static"))]);
    let companion = Companion::start(&server, Settings::default()).await;
    pass(55).await;
    assert_eq!(server.writes(), [""; 0], "its controller has a minute");
    pass(3_600).await;
    let mut writes = server.writes();
    writes.sort();
    assert_eq!(writes, ["unpublish HelmRepository/ns/static", "unpublish ResourceSet/ns/done"]);
    assert_eq!(server.reads(), 2, "the third is not due");
    server.change(&Reference::new(Kind::ResourceSet, "ns", "asked"), &[("/status/lastHandledReconcileAt", json!("T"))]);
    settle().await;
    assert_eq!(server.writes().len(), 3);
    assert_eq!(server.events(), [""; 0]);
    companion.kill().await;
}
