//! Chapter F: torn status, artifacts, generators.

use super::*;

fn resumed_over(source: Value) -> crate::harness::Answer {
    Gate::over([source]).resume(PERSON, &sample::kustomization("n", "x"))
}

/// <https://github.com/fluxcd/pkg/issues/934>
#[rstest]
#[case::message_of_another_revision(
    &[("/status/conditions/ArtifactInStorage/message", json!("stored artifact for revision 'v2@sha1:2222222'"))],
    "status is inconsistent: ArtifactInStorage says v2@sha1:2222222, the artifact is \
     main@sha1:1111111111111111111111111111111111111111"
)]
#[case::condition_of_an_earlier_generation(
    &[("/status/conditions/ArtifactInStorage/observedGeneration", json!(1))],
    "artifact in storage is of generation 1, not of 2"
)]
fn case_79_new_generation_observed_old_artifact(#[case] torn: &[(&str, Value)], #[case] why: &str) {
    resumed_over(with(sample::git_repository("n", "repo"), torn)).refuses(&[
        &format!("premature unsuspend: Kustomization/n/x waits for GitRepository/n/repo: {why}"),
        "  Kustomization/n/x",
        "    needs GitRepository/n/repo (spec.sourceRef)",
    ]);
}

/// A message of no known format proves nothing. The expected revision closes the gap.
#[test]
fn case_79_a_message_that_nobody_knows() {
    let message = [("/status/conditions/ArtifactInStorage/message", json!("kept v2@sha1:2222222"))];
    let source = with(sample::git_repository("n", "repo"), &message);
    resumed_over(source.clone()).is_silent();
    let expected = "v2@sha1:2222222222222222222222222222222222222222";
    resumed_over(annotated(source, EXPECTED, Some(expected))).refuses(&[
        "premature unsuspend: Kustomization/n/x waits for GitRepository/n/repo: does not show the expected revision \
         v2@sha1:2222222222222222222222222222222222222222 (main@sha1:1111111111111111111111111111111111111111)",
        "  Kustomization/n/x",
        "    needs GitRepository/n/repo (spec.sourceRef)",
    ]);
}

fn over_artifact(name: &str) -> Value {
    let source = json!({"kind": "ExternalArtifact", "name": sample::ARTIFACT});
    let applied = json!(sample::ARTIFACT_REVISION);
    with(sample::kustomization("n", name), &[("/spec/sourceRef", source), ("/status/lastAppliedRevision", applied)])
}

/// <https://github.com/cozystack/cozystack/pull/3182>: one look cannot tell how long it has been so.
#[test]
fn case_81_generator_with_no_ready_condition_at_all() {
    let generator = with(sample::artifact_generator("n", "generator"), &[("/status/conditions", json!([]))]);
    let artifact = sample::external_artifact("n", sample::ARTIFACT);
    let gate = Gate::over([generator, artifact, sample::git_repository("n", "repo")]);
    gate.resume(PERSON, &over_artifact("x")).refuses(&[
        "premature unsuspend: Kustomization/n/x waits for ArtifactGenerator/n/generator: not ready: no Ready condition \
         yet",
        "  Kustomization/n/x",
        "    needs ExternalArtifact/n/artifact (spec.sourceRef)",
        "    needs ArtifactGenerator/n/generator (spec.sourceRef)",
    ]);
}

/// <https://github.com/fluxcd/flux2/issues/5573>: by its fields the artifact is settled; who cannot fetch it is not.
#[test]
fn case_83_artifact_not_found() {
    let message = "Source is not ready, artifact not found, retrying in 30s";
    let chain = [sample::artifact_generator("n", "generator"), sample::external_artifact("n", sample::ARTIFACT)];
    let stored = [sample::git_repository("n", "repo"), failed(over_artifact("k"), "ArtifactFailed", message)];
    let gate = Gate::over(chain.into_iter().chain(stored));
    let x = crate::resume::depending(over_artifact("x"), &["k"]);
    gate.resume(PERSON, &x).refuses(&[
        &format!("premature unsuspend: Kustomization/n/x waits for Kustomization/n/k: not ready: {message}"),
        "  Kustomization/n/x",
        "    needs Kustomization/n/k (spec.dependsOn[0])",
    ]);
}
