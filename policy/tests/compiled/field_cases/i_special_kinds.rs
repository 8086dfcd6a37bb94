//! Chapter I: kinds whose status is not like the others.

use super::*;

fn release_over_repository() -> Value {
    with(
        sample::helm_release("n", "x"),
        &[
            ("/spec/chart/spec/sourceRef", json!({"kind": "HelmRepository", "name": "r"})),
            ("/status", json!({"observedGeneration": 1})),
        ],
    )
}

/// source-controller `helmrepository_controller.go`, flux2 `reconcile.go`
#[test]
fn case_103_oci_helm_repository_never_has_a_status() {
    let oci = sample::helm_repository_oci("n", "r");
    let reads = ["HelmChart/n/n-x", "HelmRepository/n/r"];
    for by in [PERSON, FLUX, COMPANION] {
        Gate::over([oci.clone()]).resume(by, &release_over_repository()).is_silent().reads_only(&reads);
    }
    // A request on it is never handled, and counts for nothing.
    let asked = annotated(oci.clone(), "reconcile.fluxcd.io/requestedAt", Some("T1"));
    Gate::over([asked]).resume(PERSON, &release_over_repository()).is_silent();

    let refuses = |repository: Value, why: &str| {
        Gate::over([repository]).resume(PERSON, &release_over_repository()).refuses(&[
            &format!("premature unsuspend: HelmRelease/n/x waits for HelmRepository/n/r: {why}"),
            "  HelmRelease/n/x",
            "    needs HelmRepository/n/r (spec.chart.spec.sourceRef)",
        ]);
    };
    refuses(suspended(oci), "suspended (spec.suspend)");
    // The default type with an empty status is not ready.
    let empty = with(sample::helm_repository("n", "r"), &[("/status", json!({}))]);
    refuses(empty, "not yet seen by its controller");
}

fn k() -> Value {
    let source = json!({"kind": "ExternalArtifact", "name": sample::ARTIFACT});
    with(sample::kustomization("n", "k"), &[("/spec/sourceRef", source)])
}

const CHAIN: [&str; 3] = ["ExternalArtifact/n/artifact", "ArtifactGenerator/n/generator", "GitRepository/n/repo"];

fn refused_over(objects: impl IntoIterator<Item = Value>, steps: usize, why: &str) {
    let gate = Gate::over(objects);
    let path = [
        "    needs ExternalArtifact/n/artifact (spec.sourceRef)",
        "    needs ArtifactGenerator/n/generator (spec.sourceRef)",
        "    needs GitRepository/n/repo (spec.sources[0])",
    ];
    let root = CHAIN[steps - 1];
    let first = format!("premature unsuspend: Kustomization/n/k waits for {root}: {why}");
    let lines = [&first, "  Kustomization/n/k"].into_iter().chain(path.into_iter().take(steps)).collect::<Vec<_>>();
    gate.resume(PERSON, &k()).refuses(&lines).reads_only(&CHAIN);
    gate.resume(FLUX, &k()).holds(FLUX, "premature", &format!("{root}: {why}"));
}

/// source-controller `externalartifact_types.go`, source-watcher `artifactgenerator_types.go`
#[test]
fn case_105_chain_through_external_artifact() {
    let (artifact, generator) =
        (sample::external_artifact("n", sample::ARTIFACT), sample::artifact_generator("n", "generator"));
    let git = sample::git_repository("n", "repo");
    let chain = [artifact.clone(), generator.clone(), git.clone()];
    Gate::over(chain).resume(PERSON, &k()).is_silent().reads_only(&CHAIN);

    let behind = with(git.clone(), &[("/metadata/generation", json!(4)), ("/status/observedGeneration", json!(3))]);
    refused_over([artifact.clone(), generator.clone(), behind], 3, "generation 4 not yet observed (3)");

    let digest = format!("sha256:{}", "6".repeat(64));
    let other = with(generator.clone(), &[("/status/observedSourcesDigest", json!(digest))]);
    refused_over([artifact.clone(), other, git.clone()], 2, "has not generated from its current sources yet");

    let unlisted = with(generator.clone(), &[("/status/inventory", json!([]))]);
    refused_over([artifact.clone(), unlisted, git.clone()], 1, "not in the inventory of its ArtifactGenerator");
    let listed = with(generator.clone(), &[("/status/inventory/0/digest", json!(digest))]);
    let why = format!("has digest {}, its ArtifactGenerator lists {digest}", sample::DIGEST);
    refused_over([artifact.clone(), listed, git.clone()], 1, &why);

    let disabled = suspended(generator);
    let why = "suspended (disabled by annotation source.extensions.fluxcd.io/reconcile)";
    refused_over([artifact.clone(), disabled, git], 2, why);

    // Another producer: the chain ends there.
    let foreign = with(artifact.clone(), &[("/spec/sourceRef", Value::Null)]);
    Gate::over([foreign]).resume(PERSON, &k()).is_silent().reads_only(&CHAIN[..1]);
    let of_another = with(artifact, &[("/spec/sourceRef/kind", json!("Builder"))]);
    Gate::over([of_another]).resume(PERSON, &k()).is_silent().reads_only(&CHAIN[..1]);
}
