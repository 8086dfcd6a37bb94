//! Field cases that speak of the companion, by their numbers. 1, 37, 95 and 99 stand with what they are about, and so do,
//! with core's tests of releases, 31, 39, 67, 103 and 109.

use crate::server::Server;
use crate::{Companion, depending, held, kustomization, pass, published, reconcile, repository, settle};
use http::Method;
use serde_json::{Value, json};
use sluicegate::control::Settings;
use sluicegate_core::object::{Kind, Reference};
use sluicegate_core::testing::{sample, with};

fn owned(json: Value) -> Value {
    with(
        json,
        &[
            ("/metadata/labels/kustomize.toolkit.fluxcd.io~1name", json!("parent")),
            ("/metadata/labels/kustomize.toolkit.fluxcd.io~1namespace", json!("ns")),
        ],
    )
}

/// A release that may not read its source for ever is not resumed again and again: it is released once.
#[tokio::test(start_paused = true)]
async fn case_27_a_stalled_object_is_not_resumed_in_a_loop() {
    let own = held(sample::kustomization("ns", "app"), "premature", 0);
    let server = Server::with([own, sample::git_repository("ns", "repo")]);
    let companion = Companion::start(&server, Settings::default()).await;
    settle().await;
    for (kind, status) in [("Ready", "False"), ("Stalled", "True")] {
        let condition = json!({"type": kind, "status": status, "reason": "AccessDenied", "observedGeneration": 3});
        server.change(&kustomization("app"), &[(&format!("/status/conditions/{kind}"), condition)]);
    }
    pass(7_200).await;
    assert_eq!(server.writes(), ["release Kustomization/ns/app"]);
    companion.kill().await;
}

/// What an applier declares suspended carries no mark (the gate ends it), and is left alone.
#[tokio::test(start_paused = true)]
async fn case_47_what_is_declared_suspended_in_git_is_not_resumed() {
    let own = held(sample::kustomization("ns", "m"), "premature", 0);
    let behind = with(sample::git_repository("ns", "repo"), &[("/metadata/generation", json!(3))]);
    let server = Server::with([own, behind]);
    let companion = Companion::start(&server, Settings::default()).await;
    settle().await;
    let declared =
        json!([{"manager": "kustomize-controller", "operation": "Apply", "fieldsV1": {"f:spec": {"f:suspend": {}}}}]);
    server.change(
        &kustomization("m"),
        &[("/metadata/annotations/sluicegate.dev~1held", Value::Null), ("/metadata/managedFields", declared)],
    );
    server.put(sample::git_repository("ns", "repo"));
    pass(600).await;
    assert_eq!(server.get(&kustomization("m"))["spec"]["suspend"], json!(true));
    companion.kill().await;
}

/// One write resumes and asks for a pass; what works already gets no token.
#[tokio::test(start_paused = true)]
async fn case_51_case_55_a_switch_is_turned_once_and_nothing_else_is_touched() {
    let server = Server::with([
        held(sample::helm_release("ns", "x"), "premature", 0),
        sample::helm_chart("ns", "ns-x"),
        sample::git_repository("ns", "repo"),
        with(
            sample::helm_release("ns", "stuck"),
            &[(
                "/status/conditions/Stalled",
                json!({"type": "Stalled", "status": "True", "reason": "RetriesExceeded"}),
            )],
        ),
        with(
            depending(sample::helm_release("ns", "waiting"), &["stuck"]),
            &[
                ("/status/conditions/Ready/status", json!("False")),
                ("/status/conditions/Ready/reason", json!("DependencyNotReady")),
            ],
        ),
    ]);
    let companion = Companion::start(&server, Settings::default()).await;
    pass(7_200).await;
    assert_eq!(server.writes(), ["release HelmRelease/ns/x"]);
    let patch = server.calls(&Method::PATCH)[0].body.to_string();
    assert!(patch.contains("requestedAt") && patch.contains("/spec/suspend"), "{patch}");
    companion.kill().await;
}

/// A generator that has never had a Ready condition, after its grace from first sight.
#[tokio::test(start_paused = true)]
async fn case_81_a_generator_without_any_ready() {
    let silent = with(sample::artifact_generator("ns", "g"), &[("/status/conditions/Ready", Value::Null)]);
    let server = Server::with([sample::git_repository("ns", "repo"), silent]);
    let companion = Companion::start(&server, Settings::default()).await;
    pass(29).await;
    assert_eq!(server.writes(), [""; 0]);
    pass(3).await;
    assert_eq!(server.writes().len(), 3);
    companion.kill().await;
}

/// A consumer that cannot fetch what its generator offers is not the generator's trouble.
#[tokio::test(start_paused = true)]
async fn case_83_an_artifact_that_is_not_found_recovers_nobody() {
    let consumer = with(
        sample::kustomization("ns", "k"),
        &[
            ("/spec/sourceRef", json!({"kind": "ExternalArtifact", "name": sample::ARTIFACT})),
            ("/status/conditions/Ready/status", json!("False")),
            ("/status/conditions/Ready/reason", json!("ArtifactFailed")),
        ],
    );
    let server = Server::with([
        sample::git_repository("ns", "repo"),
        sample::artifact_generator("ns", sample::GENERATOR),
        sample::external_artifact("ns", sample::ARTIFACT),
        consumer,
    ]);
    let companion = Companion::start(&server, Settings::default()).await;
    pass(7_200).await;
    assert_eq!((server.writes(), server.events()), (vec![], vec![]));
    companion.kill().await;
}

/// Down the whole chain: artifact, generator, source.
#[tokio::test(start_paused = true)]
async fn case_105_a_chain_through_a_generator() {
    let own = with(
        sample::kustomization("ns", "k"),
        &[("/spec/sourceRef", json!({"kind": "ExternalArtifact", "name": sample::ARTIFACT}))],
    );
    let behind = with(
        sample::git_repository("ns", "repo"),
        &[("/metadata/generation", json!(4)), ("/status/observedGeneration", json!(3))],
    );
    let server = Server::with([
        held(own, "premature", 0),
        behind,
        sample::artifact_generator("ns", sample::GENERATOR),
        sample::external_artifact("ns", sample::ARTIFACT),
    ]);
    let companion = Companion::start(&server, Settings::default()).await;
    settle().await;
    let said = published(&server, &kustomization("k")).unwrap();
    assert_eq!(said, "held: GitRepository/ns/repo: generation 4 not yet observed (3)");
    let generator = Reference::new(Kind::ArtifactGenerator, "ns", sample::GENERATOR);
    let switch = "/metadata/annotations/source.extensions.fluxcd.io~1reconcile";
    server.change(&generator, &[(switch, json!("disabled"))]);
    server.put(sample::git_repository("ns", "repo"));
    pass(15).await;
    let said = published(&server, &kustomization("k")).unwrap();
    assert_eq!(
        said,
        "held: ArtifactGenerator/ns/generator: suspended (disabled by annotation source.extensions.fluxcd.io/reconcile)"
    );
    server.change(&generator, &[(switch, Value::Null)]);
    settle().await;
    assert_eq!(server.writes().last().map(String::as_str), Some("release Kustomization/ns/k"));
    server.is_fine();
    companion.kill().await;
}

/// One commit resumes a release and repairs its source: released when the parent is past its apply and the repair is there.
#[tokio::test(start_paused = true)]
async fn case_107_the_repair_comes_before_the_release() {
    let failing = with(
        sample::git_repository("ns", "repo"),
        &[
            ("/status/conditions/Ready/status", json!("False")),
            ("/status/conditions/Ready/reason", json!("GitOperationFailed")),
            ("/status/conditions/Ready/message", json!("couldn't find remote ref")),
        ],
    );
    let parent = with(sample::kustomization("ns", "parent"), &[("/status/conditions/Ready/status", json!("Unknown"))]);
    let server =
        Server::with([held(owned(sample::kustomization("ns", "x")), "not-reached", 0), owned(failing), parent]);
    let companion = Companion::start(&server, Settings::default()).await;
    settle().await;
    // The apply goes on to the source, and ends.
    server.change(&repository(), &[("/metadata/generation", json!(3))]);
    server.change(&kustomization("parent"), &[("/status/conditions/Ready/status", json!("True"))]);
    pass(15).await;
    let said = published(&server, &kustomization("x")).unwrap();
    assert_eq!(said, "held: GitRepository/ns/repo: generation 3 not yet observed (2)");
    assert!(server.writes().iter().all(|write| write.starts_with("publish")));
    server.put(owned(sample::git_repository("ns", "repo")));
    settle().await;
    assert_eq!(server.writes().last().map(String::as_str), Some("release Kustomization/ns/x"));
    reconcile(&server, &kustomization("x"));
    pass(60).await;
    server.is_fine();
    companion.kill().await;
}
