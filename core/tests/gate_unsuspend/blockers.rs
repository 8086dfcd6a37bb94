//! What blocks, and which of several blockers is named.

use super::*;

#[rstest]
#[case::suspended(suspended(git()), "suspended (spec.suspend)")]
#[case::deleting(with(git(), &[("/metadata/deletionTimestamp", AT.into())]), "being deleted")]
#[case::not_ready(
    with(git(), &[("/status/conditions/Ready/status", "False".into()), ("/status/conditions/Ready/message", "boom".into())]),
    "not ready: boom"
)]
#[case::torn(
    with(git(), &[("/status/artifact/revision", "main@sha1:3".into())]),
    "status is inconsistent: ArtifactInStorage says main@sha1:1111111111111111111111111111111111111111, the artifact \
     is main@sha1:3"
)]
#[case::token(annotated(git(), "reconcile.fluxcd.io/requestedAt", Some("t2")), "request t2 not yet handled (none)")]
fn the_trouble_of_a_source_is_told(#[case] source: Value, #[case] why: &str) {
    let text = refused([source], &kustomization("x", &[]));
    assert_eq!(
        first_line(&text),
        format!("premature unsuspend: Kustomization/n/x waits for GitRepository/n/repo: {why}")
    );
}

#[test]
fn a_missing_input_and_a_missing_kind_are_two_sentences() {
    let mut world = World::default();
    let object = kustomization("x", &[]);
    let text = refusal(&resume(&world, PERSON, &object)).to_owned();
    assert!(
        text.starts_with("premature unsuspend: Kustomization/n/x waits for GitRepository/n/repo: does not exist\n")
    );
    world.absent_kinds.insert(Kind::GitRepository);
    let text = refusal(&resume(&world, PERSON, &object)).to_owned();
    let line = "premature unsuspend: Kustomization/n/x waits for GitRepository/n/repo: does not exist: the cluster has \
                no GitRepository\n";
    assert!(text.starts_with(line), "{text}");
}

// Case 39: source, then chart, then release.
#[test]
fn case_39_each_stage_blocks_in_its_turn() {
    let release = sample::helm_release("n", "x");
    let chart = sample::helm_chart("n", "n-x");
    let stage = |git: Value, chart: Value| first_line(&refused([git, chart], &release)).to_owned();
    assert_eq!(
        stage(unsettled(git()), suspended(chart.clone())),
        "premature unsuspend: HelmRelease/n/x waits for GitRepository/n/repo: generation 3 not yet observed (2)"
    );
    assert_eq!(
        stage(git(), suspended(chart)),
        "premature unsuspend: HelmRelease/n/x waits for HelmChart/n/n-x: suspended (spec.suspend)"
    );
}

#[test]
fn the_generated_chart_is_waited_for_while_it_is_what_the_release_would_write() {
    let release = sample::helm_release("n", "x");
    let chart = sample::helm_chart("n", "n-x");
    let text = refused([git(), unsettled(chart.clone())], &release);
    assert_eq!(
        text,
        "premature unsuspend: HelmRelease/n/x waits for HelmChart/n/n-x: generation 3 not yet observed (2)\n  \
         HelmRelease/n/x\n    needs HelmChart/n/n-x (spec.chart)"
    );
    // Its spec will change on resume, and helm-controller waits for that itself.
    let other = with(unsettled(chart), &[("/spec/version", "9.9.9".into())]);
    assert_silent(&resume(&World::with([git(), other.clone()]), PERSON, &release));
    // But suspended it would never follow.
    let text = refused([git(), suspended(other)], &release);
    assert!(text.contains("waits for HelmChart/n/n-x: suspended"), "{text}");
    // It is missing: the release makes it.
    assert_silent(&resume(&World::with([git()]), PERSON, &release));
}

#[test]
fn the_old_source_of_a_chart_that_will_change_is_not_waited_for() {
    let old = json!({"kind": "GitRepository", "name": "old"});
    let chart = with(sample::helm_chart("n", "n-x"), &[("/spec/sourceRef", old)]);
    let release = sample::helm_release("n", "x");
    for gone in [vec![], vec![unsettled(sample::git_repository("n", "old"))]] {
        let world = World::with([git(), chart.clone()].into_iter().chain(gone));
        let judged = resume(&world, PERSON, &release);
        assert_silent(&judged);
        assert_eq!(judged.reads, ["GitRepository/n/repo", "HelmChart/n/n-x"]);
    }
    let text = refused([git(), suspended(chart)], &release);
    assert_eq!(
        text,
        "premature unsuspend: HelmRelease/n/x waits for HelmChart/n/n-x: suspended (spec.suspend)\n  \
         HelmRelease/n/x\n    needs HelmChart/n/n-x (spec.chart)"
    );
}

#[test]
fn the_chart_of_a_dependency_is_part_of_its_being_settled() {
    let object = depending(sample::helm_release_of(Kind::OCIRepository, "repo", "n", "x"), &["b"]);
    let inputs = [sample::oci_repository("n", "repo"), git(), sample::helm_release("n", "b")];
    let text = refused(inputs.clone(), &object);
    let line = first_line(&text);
    assert!(line.starts_with("premature unsuspend: HelmRelease/n/x waits for HelmRelease/n/b: "), "{line}");
    let text = refused(inputs.clone().into_iter().chain([suspended(sample::helm_chart("n", "n-b"))]), &object);
    let line = first_line(&text);
    assert_eq!(line, "premature unsuspend: HelmRelease/n/x waits for HelmChart/n/n-b: suspended (spec.suspend)");
    let settled = World::with(inputs.into_iter().chain([sample::helm_chart("n", "n-b")]));
    assert_silent(&resume(&settled, PERSON, &object));
}

// Case 105.
#[test]
fn case_105_every_link_of_the_chain_blocks() {
    let object = of_external_artifact();
    let with_one = |other: Value| {
        let mut world = World::with(generated());
        put(&mut world, other);
        refusal(&resume(&world, PERSON, &object)).to_owned()
    };
    let text = with_one(suspended(sample::artifact_generator("n", "generator")));
    assert_eq!(
        text,
        "premature unsuspend: Kustomization/n/x waits for ArtifactGenerator/n/generator: suspended (disabled by \
         annotation source.extensions.fluxcd.io/reconcile)\n  Kustomization/n/x\n    \
         needs ExternalArtifact/n/artifact (spec.sourceRef)\n    \
         needs ArtifactGenerator/n/generator (spec.sourceRef)"
    );
    let digest = [("/status/observedSourcesDigest", "sha256:0".into())];
    let text = with_one(with(sample::artifact_generator("n", "generator"), &digest));
    assert!(first_line(&text).contains("waits for ArtifactGenerator/n/generator: "), "{text}");
    let text = with_one(with(sample::external_artifact("n", "artifact"), &[("/status/artifact/digest", "x:1".into())]));
    assert!(first_line(&text).contains("waits for ExternalArtifact/n/artifact: "), "{text}");
    // Another producer: the chain ends there.
    let foreign = with(sample::external_artifact("n", "artifact"), &[("/spec/sourceRef", Value::Null)]);
    let judged = resume(&World::with([foreign]), PERSON, &object);
    assert_silent(&judged);
    assert_eq!(judged.reads, ["ExternalArtifact/n/artifact"]);
}
