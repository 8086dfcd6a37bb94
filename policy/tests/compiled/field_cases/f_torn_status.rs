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
