//! Generators that never say that they are done: found, cured, given up; one write after the other, on time that the test
//! makes.
//!
//! The numbers are those of what cozystack tests of its own driver. 1 to 17, 29 and 38 to 44 are about decisions and stand
//! with core's tests. The design overrides three of them: 5 (the grace of an absent Ready counts from the first sight, not
//! from the creation), 24 and the second halves of 26 to 28 and 30 (nothing is kept in memory that would have to be rolled
//! back: each write is made from what was read), and 34 (a look is due when it is due, without a floor of a second).

use crate::server::{Fault, Server};
use crate::{Companion, at, pass, settle};
use http::Method;
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate::control::Settings;
use sluicegate_core::object::{Kind, Reference};
use sluicegate_core::recovery::Signal;
use sluicegate_core::testing::{sample, set, with};

fn own() -> Reference {
    Reference::new(Kind::ArtifactGenerator, "ns", "g")
}

/// A generator that became Unknown at second 0 with all its work done: its last write of conditions was lost.
pub fn stalled(namespace: &str, name: &str) -> Value {
    let mut json = sample::artifact_generator(namespace, name);
    set(&mut json, "/status/conditions/Ready/status", json!("Unknown"));
    set(&mut json, "/status/conditions/Ready/reason", json!("Progressing"));
    set(&mut json, "/status/conditions/Ready/lastTransitionTime", json!(at(0)));
    let others = [
        json!({"type": "Reconciling", "status": "True", "reason": "Progressing"}),
        json!({"type": "Somebody", "status": "True", "reason": "Else"}),
    ];
    for other in others {
        let path = format!("/status/conditions/{}", other["type"].as_str().unwrap());
        set(&mut json, &path, other);
    }
    json
}

fn server() -> Server {
    Server::with([sample::git_repository("ns", "repo"), stalled("ns", "g")])
}

/// What source-watcher does when it is asked: it sees drift, if a lever was pulled, and builds. `lost`: the write of its
/// conditions at the end gets lost.
fn source_watcher(server: &Server, lost: bool) {
    let json = server.get(&own());
    let token = json["metadata"]["annotations"]["reconcile.fluxcd.io/requestedAt"].clone();
    if token.is_null() || json["status"]["lastHandledReconcileAt"] == token {
        return;
    }
    let ready =
        &json["status"]["conditions"].as_array().unwrap().iter().find(|c| c["type"] == "Ready").unwrap()["status"];
    let drift = json["status"]["observedSourcesDigest"].is_null() || ready == "False";
    let done = sample::artifact_generator("ns", "g");
    let mut fields = vec![("/status/lastHandledReconcileAt", token)];
    if drift {
        fields.push(("/status/observedSourcesDigest", done["status"]["observedSourcesDigest"].clone()));
        if lost {
            fields.push(("/status/conditions/Ready/status", json!("Unknown")));
            fields.push(("/status/conditions/Ready/reason", json!("Progressing")));
        } else {
            fields.push(("/status/conditions/Ready/status", json!("True")));
            fields.push(("/status/conditions/Ready/reason", json!("Succeeded")));
            fields.push(("/status/conditions/Reconciling", Value::Null));
        }
    }
    server.change(&own(), &fields);
}

fn attempts(server: &Server) -> Option<String> {
    let json = server.get(&own());
    Some(json["metadata"]["annotations"]["sluicegate.dev/recovery-attempts"].as_str()?.to_owned())
}

const COUNT: &str = "count ArtifactGenerator/ns/g";
const LEVER: &str = "lever ArtifactGenerator/ns/g";
const REQUEST: &str = "request ArtifactGenerator/ns/g";
const RESET: &str = "reset ArtifactGenerator/ns/g";

/// 25 and 41.
#[rstest]
#[case(Signal::SourcesDigest)]
#[case(Signal::ReadyCondition)]
#[tokio::test(start_paused = true)]
async fn b25_b41_a_stall_is_cured_by_either_signal(#[case] signal: Signal) {
    let server = server();
    let companion = Companion::start(&server, Settings { signal, ..Settings::default() }).await;
    pass(29).await;
    assert_eq!(server.writes(), [""; 0], "the grace period");
    pass(3).await;
    assert_eq!(server.writes(), [COUNT, LEVER, REQUEST]);
    assert_eq!(attempts(&server).as_deref(), Some("1"));
    let others = server.get(&own())["status"]["conditions"].to_string();
    assert!(others.contains("Somebody") && others.contains("Reconciling"), "{others}");
    source_watcher(&server, false);
    settle().await;
    assert_eq!(server.writes(), [COUNT, LEVER, REQUEST, RESET]);
    assert_eq!(attempts(&server), None);
    pass(3_600).await;
    assert_eq!(server.writes().len(), 4);
    assert_eq!(server.events(), ["RecoveryForced ArtifactGenerator/ns/g", "Recovered ArtifactGenerator/ns/g"]);
    server.is_fine();
    companion.kill().await;
}

#[tokio::test(start_paused = true)]
async fn a_recovered_write_that_is_lost_again_takes_the_next_attempt() {
    let server = server();
    let companion = Companion::start(&server, Settings::default()).await;
    pass(32).await;
    source_watcher(&server, true);
    pass(25).await;
    assert_eq!(server.writes().len(), 3, "the schedule: not before half a minute");
    pass(7).await;
    assert_eq!(attempts(&server).as_deref(), Some("2"));
    source_watcher(&server, false);
    settle().await;
    assert_eq!(attempts(&server), None);
    assert_eq!(server.writes(), [COUNT, LEVER, REQUEST, COUNT, LEVER, REQUEST, RESET]);
    companion.kill().await;
}

/// A controller that never answers: five attempts on the schedule, and then nothing more, however long it lasts.
#[tokio::test(start_paused = true)]
async fn a_controller_that_never_answers_is_given_up() {
    let owner = [
        ("/metadata/labels/kustomize.toolkit.fluxcd.io~1name", json!("parent")),
        ("/metadata/labels/kustomize.toolkit.fluxcd.io~1namespace", json!("ns")),
    ];
    let server = Server::with([
        sample::git_repository("ns", "repo"),
        sample::kustomization("ns", "parent"),
        with(stalled("ns", "g"), &owner),
    ]);
    let companion = Companion::start(&server, Settings::default()).await;
    let start = tokio::time::Instant::now();
    pass(900).await;
    let counts =
        server.calls(&Method::PATCH).into_iter().filter(|call| call.body.to_string().contains("recovery-attempts"));
    let times: Vec<u64> = counts.map(|call| (call.at - start).as_secs()).collect();
    assert_eq!(times, [30, 60, 120, 240, 480]);
    let writes = server.writes().len();
    pass(86_400).await;
    assert_eq!(server.writes().len(), writes, "no loop");
    let gave_up: Vec<String> =
        server.events().into_iter().filter(|event| event.starts_with("RecoveryGaveUp")).collect();
    assert_eq!(gave_up, ["RecoveryGaveUp ArtifactGenerator/ns/g", "RecoveryGaveUp Kustomization/ns/parent"]);
    assert!(
        companion.control.metrics.text().contains(r#"sluicegate_recovery_given_up_total{kind="ArtifactGenerator"}"#)
    );
    // An honest verdict, whichever, ends it.
    server.change(
        &own(),
        &[
            ("/status/conditions/Ready/status", json!("False")),
            ("/status/conditions/Ready/reason", json!("BuildFailed")),
        ],
    );
    settle().await;
    assert_eq!(attempts(&server), None);
    server.is_fine();
    companion.kill().await;
}

/// 26 and 27, and what they leave open: whatever is lost, the attempt counts.
#[rstest]
#[case::the_counter("recovery-attempts", &[COUNT])]
#[case::the_lever("observedSourcesDigest", &[COUNT, LEVER])]
#[case::the_request("requestedAt", &[COUNT, LEVER, REQUEST])]
#[tokio::test(start_paused = true)]
async fn b26_b27_a_write_that_fails_ends_the_attempt(#[case] part: &str, #[case] sent: &[&str]) {
    let server = server();
    server.fail(Method::PATCH, "artifactgenerators/g", part, Fault::Status(504, "etcdserver: request timed out"), 1);
    let companion = Companion::start(&server, Settings::default()).await;
    pass(32).await;
    assert_eq!(server.writes(), sent);
    pass(60).await;
    source_watcher(&server, false);
    settle().await;
    assert_eq!(server.get(&own())["status"]["conditions"][0]["status"], "True", "cured in the end");
    assert_eq!(attempts(&server), None);
    server.is_fine();
    companion.kill().await;
}

/// If only metadata writes fail, cozystack's driver forces for ever. Here the counter is one of them.
#[tokio::test(start_paused = true)]
async fn a_cluster_that_loses_every_metadata_write_is_not_forced() {
    let server = server();
    server.fail(Method::PATCH, "artifactgenerators/g", "recovery-attempts", Fault::Status(500, "no"), usize::MAX);
    let companion = Companion::start(&server, Settings::default()).await;
    pass(600).await;
    assert!(server.writes().iter().all(|write| write == COUNT));
    assert!(server.writes().len() < 70, "{}", server.writes().len());
    companion.kill().await;
}

/// A Ready True that comes between any two of the writes is never overwritten.
#[rstest]
#[case("recovery-attempts")]
#[case("RecoveryForced")]
#[tokio::test(start_paused = true)]
async fn a_fresh_verdict_is_never_overwritten(#[case] before: &str) {
    let server = server();
    let meanwhile = Fault::Meanwhile("/status/conditions/Ready/status", json!("True"));
    server.fail(Method::PATCH, "artifactgenerators/g", before, meanwhile, 1);
    let companion = Companion::start(&server, Settings { signal: Signal::ReadyCondition, ..Settings::default() }).await;
    pass(120).await;
    let json = server.get(&own());
    assert_eq!(json["status"]["conditions"][0]["status"], "True", "{json}");
    companion.kill().await;
}

/// Its controller writes while we ask: the request is made again, on what it is by then.
#[tokio::test(start_paused = true)]
async fn a_request_that_others_were_faster_than_is_made_again() {
    let server = server();
    let meanwhile = Fault::Meanwhile("/status/conditions/Somebody/reason", json!("Other"));
    server.fail(Method::PATCH, "artifactgenerators/g", "requestedAt", meanwhile, 1);
    let companion = Companion::start(&server, Settings::default()).await;
    pass(32).await;
    assert_eq!(server.writes(), [COUNT, LEVER, REQUEST, REQUEST]);
    companion.kill().await;
}

/// Its controller has taken it up by itself meanwhile: there is nothing more to ask for.
#[tokio::test(start_paused = true)]
async fn a_request_that_nobody_needs_any_more_is_not_made_again() {
    let server = server();
    let digest = sample::artifact_generator("ns", "g")["status"]["observedSourcesDigest"].clone();
    let meanwhile = Fault::Meanwhile("/status/observedSourcesDigest", digest);
    server.fail(Method::PATCH, "artifactgenerators/g", "requestedAt", meanwhile, 1);
    let companion = Companion::start(&server, Settings::default()).await;
    pass(40).await;
    assert_eq!(server.writes(), [COUNT, LEVER, REQUEST]);
    assert_eq!(server.get(&own())["metadata"]["annotations"].get("reconcile.fluxcd.io/requestedAt"), None);
    companion.kill().await;
}

/// Killed after each of its writes and started anew, the end is the same, and no attempt is made twice.
#[rstest]
#[case(1)]
#[case(2)]
#[case(3)]
#[tokio::test(start_paused = true)]
async fn killed_between_its_writes_it_ends_the_same(#[case] writes: usize) {
    let server = server();
    let hang = ["recovery-attempts", "observedSourcesDigest", "requestedAt"];
    if let Some(next) = hang.get(writes) {
        server.fail(Method::PATCH, "artifactgenerators/g", next, Fault::Hang, 1);
    }
    let clock = sluicegate::clock::Clock::Since(crate::start(), tokio::time::Instant::now());
    let companion = Companion::start_at(&server, Settings::default(), clock).await;
    companion.lead();
    pass(32).await;
    companion.kill().await;
    assert_eq!(attempts(&server).as_deref(), Some("1"));
    let again = Companion::start_at(&server, Settings::default(), clock).await;
    again.lead();
    pass(10).await;
    assert_eq!(attempts(&server).as_deref(), Some("1"), "the schedule goes on");
    if writes == 3 {
        source_watcher(&server, false);
    }
    pass(30).await;
    source_watcher(&server, false);
    settle().await;
    assert_eq!(attempts(&server), None);
    assert_eq!(server.get(&own())["status"]["conditions"][0]["status"], "True");
    server.is_fine();
    again.kill().await;
}

#[rstest]
#[case("/metadata/annotations/source.extensions.fluxcd.io~1reconcile", json!("disabled"))]
#[case("/metadata/deletionTimestamp", json!("2026-03-01T00:00:00Z"))]
#[case("/status/conditions/Stalled", json!({"type": "Stalled", "status": "True"}))]
#[case("/status/observedSourcesDigest", json!("sha256:of the revision before"))]
#[tokio::test(start_paused = true)]
async fn hands_off(#[case] field: &'static str, #[case] value: Value) {
    let server = Server::with([sample::git_repository("ns", "repo"), with(stalled("ns", "g"), &[(field, value)])]);
    let companion = Companion::start(&server, Settings::default()).await;
    pass(7_200).await;
    assert_eq!((server.writes(), server.events()), (vec![], vec![]));
    companion.kill().await;
}

#[tokio::test(start_paused = true)]
async fn sources_that_moved_on_are_noticed() {
    let behind = with(sample::artifact_generator("ns", "g"), &[("/status/observedSourcesDigest", json!("sha256:old"))]);
    let server = Server::with([sample::git_repository("ns", "repo"), behind]);
    let companion = Companion::start(&server, Settings::default()).await;
    pass(32).await;
    assert_eq!(server.writes(), [COUNT, LEVER, REQUEST]);
    source_watcher(&server, false);
    settle().await;
    assert_eq!(server.writes().last().map(String::as_str), Some(RESET));
    companion.kill().await;
}

#[tokio::test(start_paused = true)]
async fn an_edit_that_was_lost_in_a_build_is_built() {
    let server = Server::with([sample::git_repository("ns", "repo"), sample::artifact_generator("ns", "g")]);
    let companion = Companion::start(&server, Settings::default()).await;
    settle().await;
    let running = json!({"type": "Reconciling", "status": "True", "reason": "Progressing"});
    server.change(
        &own(),
        &[("/status/conditions/Ready/status", json!("Unknown")), ("/status/conditions/Reconciling", running)],
    );
    server.change(&own(), &[("/metadata/generation", json!(3))]);
    settle().await;
    assert_eq!(server.writes(), [""; 0], "it may still be building");
    server.change(
        &own(),
        &[
            ("/status/conditions/Ready/status", json!("True")),
            ("/status/conditions/Ready/observedGeneration", json!(3)),
            ("/status/conditions/Reconciling", Value::Null),
        ],
    );
    settle().await;
    assert_eq!(server.writes(), [COUNT, LEVER, REQUEST]);
    source_watcher(&server, false);
    settle().await;
    pass(600).await;
    assert_eq!(server.writes(), [COUNT, LEVER, REQUEST, RESET]);
    companion.kill().await;
}

#[tokio::test(start_paused = true)]
async fn a_condition_that_was_left_over_takes_one_request() {
    let outdated = json!({"type": "ArtifactOutdated", "status": "True", "reason": "NewChart"});
    let chart = with(sample::helm_chart("ns", "c"), &[("/status/conditions/ArtifactOutdated", outdated)]);
    let server = Server::with([sample::git_repository("ns", "repo"), chart]);
    let companion = Companion::start(&server, Settings::default()).await;
    pass(32).await;
    assert_eq!(server.writes(), ["refresh HelmChart/ns/c"]);
    pass(3_600).await;
    assert_eq!(server.writes().len(), 1);
    assert!(server.events().contains(&"RecoveryGaveUp HelmChart/ns/c".to_owned()), "{:?}", server.events());
    server.change(&Reference::new(Kind::HelmChart, "ns", "c"), &[("/status/conditions/ArtifactOutdated", Value::Null)]);
    settle().await;
    assert_eq!(server.writes(), ["refresh HelmChart/ns/c", "reset HelmChart/ns/c"]);
    server.is_fine();
    companion.kill().await;
}

/// 28 and 30: what cannot be forgotten is forgotten later, and nothing else happens meanwhile.
#[tokio::test(start_paused = true)]
async fn b28_b30_forgetting_is_tried_again() {
    let server = server();
    let companion = Companion::start(&server, Settings::default()).await;
    pass(32).await;
    server.fail(Method::PATCH, "artifactgenerators/g", "recovery-attempts", Fault::Status(500, "no"), 2);
    source_watcher(&server, false);
    pass(60).await;
    assert_eq!(server.writes(), [COUNT, LEVER, REQUEST, RESET, RESET, RESET]);
    assert_eq!(attempts(&server), None);
    companion.kill().await;
}
