//! Whatever the API server answers: no hot loop, no second write, and said once.

use crate::server::{Fault, Server};
use crate::{Companion, held, kustomization, pass, published, repository, settle};
use http::Method;
use rstest::rstest;
use serde_json::json;
use sluicegate::control::Settings;
use sluicegate_core::object::{Kind, Reference};
use sluicegate_core::testing::{sample, with};

fn server() -> Server {
    Server::with([sample::git_repository("ns", "repo"), held(sample::kustomization("ns", "a"), "premature", 0)])
}

fn releases(server: &Server) -> usize {
    server.writes().iter().filter(|write| write.starts_with("release")).count()
}

const GATE: &str = "admission webhook \"gate.sluicegate.dev\" denied the request: premature unsuspend";

/// A webhook refuses: on the object, with back-off, and not a step faster when the blocker goes on changing.
#[tokio::test(start_paused = true)]
async fn a_refusal_is_reported_and_tried_again_with_back_off() {
    let server = server();
    server.fail(Method::PATCH, "kustomizations/a", "remove", Fault::Status(403, GATE), 6);
    let companion = Companion::start(&server, Settings::default()).await;
    tokio::time::sleep(std::time::Duration::from_millis(700)).await;
    assert_eq!(releases(&server), 1);
    let said = published(&server, &kustomization("a")).unwrap();
    assert!(said.starts_with("the release was refused: admission webhook"), "{said}");
    for number in 0..200 {
        server.change(
            &repository(),
            &[
                ("/metadata/annotations/reconcile.fluxcd.io~1requestedAt", json!(number.to_string())),
                ("/status/lastHandledReconcileAt", json!(number.to_string())),
            ],
        );
        pass(1).await;
    }
    assert!((5..=9).contains(&releases(&server)), "{}", releases(&server));
    pass(300).await;
    assert_eq!(server.get(&kustomization("a"))["spec"].get("suspend"), None, "released in the end");
    assert_eq!(server.events().iter().filter(|event| event.starts_with("ReleaseRefused")).count(), 1);
    server.is_fine();
    companion.kill().await;
}

#[rstest]
#[case::conflict(Fault::Status(409, "the object has been modified"))]
#[case::a_failed_test(Fault::Status(422, "testing value /x failed: test failed"))]
#[case::overload(Fault::Status(429, "slow down"))]
#[case::an_error(Fault::Status(500, "boom"))]
#[case::a_time_out(Fault::Status(504, "timeout"))]
#[case::a_cut(Fault::Cut)]
#[case::no_answer(Fault::Hang)]
#[case::a_lost_answer(Fault::Lost)]
#[tokio::test(start_paused = true)]
async fn a_write_that_fails_is_made_once_in_the_end(#[case] fault: Fault) {
    let server = server();
    server.fail(Method::PATCH, "kustomizations/a", "", fault, 1);
    let companion = Companion::start(&server, Settings::default()).await;
    pass(60).await;
    let object = server.get(&kustomization("a"));
    assert_eq!(object["spec"].get("suspend"), None);
    assert_eq!(object["metadata"]["generation"], 3, "resumed once");
    assert!(releases(&server) <= 2);
    server.is_fine();
    companion.kill().await;
}

#[rstest]
#[case(Fault::Status(403, "forbidden"))]
#[case(Fault::Status(410, "gone"))]
#[case(Fault::Status(429, "slow down"))]
#[case(Fault::Status(500, "boom"))]
#[case(Fault::Status(504, "timeout"))]
#[case(Fault::Cut)]
#[case(Fault::Hang)]
#[tokio::test(start_paused = true)]
async fn a_read_that_fails_is_no_reason_to_write(#[case] fault: Fault) {
    let server = server();
    server.fail(Method::GET, "gitrepositories/repo", "", fault, 2);
    let companion = Companion::start(&server, Settings::default()).await;
    settle().await;
    assert_eq!(releases(&server), 0);
    pass(120).await;
    assert_eq!(releases(&server), 1);
    server.is_fine();
    companion.kill().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_forbidden_is_said_and_not_hammered() {
    let server = server();
    let said = "kustomizations \"a\" is forbidden: User \"x\" cannot patch resource";
    server.fail(Method::PATCH, "kustomizations/a", "requestedAt", Fault::Status(403, said), usize::MAX);
    let companion = Companion::start(&server, Settings::default()).await;
    pass(3_600).await;
    assert!((8..=25).contains(&releases(&server)), "{}", releases(&server));
    let text = published(&server, &kustomization("a")).unwrap();
    assert_eq!(text, "held: Sluicegate may not patch kustomizations.kustomize.toolkit.fluxcd.io");
    companion.kill().await;
}

#[tokio::test(start_paused = true)]
async fn an_event_that_is_not_stored_is_told_again_and_not_twice() {
    let server = Server::with([held(sample::kustomization("ns", "a"), "premature", 0)]);
    server.fail(Method::POST, "/events", "", Fault::Lost, 1);
    let companion = Companion::start(&server, Settings::default()).await;
    settle().await;
    server.change(&kustomization("a"), &[("/status/conditions/Reconciling", json!(null))]);
    pass(30).await;
    assert_eq!(server.events(), ["Held Kustomization/ns/a"]);
    server.is_fine();
    companion.kill().await;
}

#[tokio::test(start_paused = true)]
async fn an_object_that_cannot_be_read_stops_nobody_else() {
    let broken = with(held(sample::kustomization("ns", "b"), "premature", 0), &[("/spec/dependsOn", json!("x"))]);
    let server = Server::with([
        broken,
        sample::git_repository("ns", "repo"),
        held(sample::kustomization("ns", "a"), "premature", 0),
    ]);
    let companion = Companion::start(&server, Settings::default()).await;
    pass(60).await;
    assert_eq!(server.writes(), ["release Kustomization/ns/a"]);
    companion.kill().await;
}

/// A kind that may not be listed holds up nobody but those that need it.
#[tokio::test(start_paused = true)]
async fn a_kind_that_may_not_be_listed_stops_nobody_else() {
    let of_chart = held(sample::helm_release("ns", "r"), "premature", 0);
    let server = Server::with([
        of_chart,
        sample::git_repository("ns", "repo"),
        held(sample::kustomization("ns", "a"), "premature", 0),
    ]);
    server.forbid(Kind::HelmChart);
    let companion = Companion::start(&server, Settings::default()).await;
    pass(60).await;
    assert!(server.writes().contains(&"release Kustomization/ns/a".to_owned()), "{:?}", server.writes());
    let said = published(&server, &Reference::new(Kind::HelmRelease, "ns", "r")).unwrap();
    assert_eq!(said, "held: Sluicegate may not get helmcharts.source.toolkit.fluxcd.io");
    companion.kill().await;
}
