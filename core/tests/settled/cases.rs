//! Reports from the field, by their numbers in the collection of field cases; the shapes follow what was reported.

use super::chains::{self, own_troubles, troubles};
use serde_json::{Value, json};
use sluicegate_core::object::Kind;
use sluicegate_core::settled::{Blocker, blockers};
use sluicegate_core::testing::{object, sample, set, snapshot, with};

const REQUESTED: &str = "/metadata/annotations/reconcile.fluxcd.io~1requestedAt";

fn headline(json: &Value) -> String {
    let object = object(json);
    let blockers = blockers(&object, &snapshot([json]));
    Blocker::headline(&blockers).unwrap().sentence().to_string()
}

/// <https://gitlab.com/sylva-projects/sylva-core/-/issues/1904>
#[test]
fn case_39_race_free_suspended_upgrade() {
    let repo = with(
        sample::git_repository("s", "repo"),
        &[
            ("/status/observedGeneration", json!(1)),
            ("/status/conditions/ArtifactInStorage/observedGeneration", json!(1)),
            (REQUESTED, json!("T2")),
            ("/status/lastHandledReconcileAt", json!("T1")),
        ],
    );
    assert_eq!(headline(&repo), "generation 2 not yet observed (1)");
    assert_eq!(
        own_troubles(&[repo]),
        [
            "request T2 not yet handled (T1)",
            "generation 2 not yet observed (1)",
            "artifact in storage is of generation 1, not of 2"
        ]
    );
}

/// <https://github.com/fluxcd/kustomize-controller/issues/1604>
#[test]
fn case_43_created_suspended() {
    let never = json!({"observedGeneration": -1});
    let kustomization = with(sample::kustomization("n", "a"), &[("/spec/suspend", json!(true)), ("/status", never)]);
    let release = with(
        sample::helm_release("n", "b"),
        &[
            ("/spec/suspend", json!(true)),
            ("/metadata/generation", json!(1)),
            ("/status", json!({"observedGeneration": 1})),
        ],
    );
    for json in [kustomization, release] {
        assert_eq!(headline(&json), "is suspended (spec.suspend), never reconciled");
        assert!(!own_troubles(&[json]).iter().any(|said| said.contains("-1")));
    }
}

/// <https://github.com/fluxcd/flux2/issues/4282>
#[test]
fn case_45_suspended_and_green() {
    let mut chain = chains::kustomization();
    set(&mut chain[1], "/spec/suspend", json!(true));
    set(&mut chain[1], "/status/lastAppliedRevision", json!("main@sha1:0000"));
    assert_eq!(
        own_troubles(&chain),
        [
            "is suspended (spec.suspend)",
            "has not applied revision main@sha1:1111111111111111111111111111111111111111 of its source (main@sha1:0000)"
        ]
    );
}

/// <https://github.com/atilladeniz/Kubeli/pull/394>
#[test]
fn case_49_request_on_a_suspended_object() {
    let mut chain = chains::kustomization();
    for (field, value) in
        [("/spec/suspend", json!(true)), (REQUESTED, json!("T9")), ("/status/lastHandledReconcileAt", json!("T9"))]
    {
        set(&mut chain[1], field, value);
    }
    assert_eq!(own_troubles(&chain), ["is suspended (spec.suspend); request T9 was acknowledged all the same"]);
}

/// <https://gitlab.com/sylva-projects/sylva-core/-/issues/1570> and case 41,
/// <https://gitlab.com/sylva-projects/sylva-core/-/merge_requests/2374>: everything below is ready, for the old revision.
#[test]
fn case_59_finished_too_early() {
    let mut chain = chains::release();
    set(&mut chain[0], "/metadata/generation", json!(3));
    assert_eq!(
        troubles(&chain),
        [
            "GitRepository/ns/repo: generation 3 not yet observed (2)",
            "GitRepository/ns/repo: artifact in storage is of generation 2, not of 3"
        ]
    );
}

/// <https://github.com/fluxcd/helm-controller/issues/1252>
#[test]
fn case_63_version_that_does_not_exist() {
    let message = "invalid chart reference: no chart version found for app";
    let chart = with(
        sample::helm_chart("d", "d-t"),
        &[
            ("/status/artifact", Value::Null),
            ("/status/conditions/ArtifactInStorage", Value::Null),
            ("/status/conditions/Ready/status", json!("False")),
            ("/status/conditions/Ready/reason", json!("InvalidChartReference")),
            ("/status/conditions/Ready/message", json!(message)),
        ],
    );
    assert_eq!(headline(&chart), format!("not ready: {message}"));
    let release = with(
        sample::helm_release("d", "t"),
        &[
            ("/status", json!({"observedGeneration": -1})),
            (
                "/status/conditions/Ready",
                json!({"type": "Ready", "status": "False", "message": "HelmChart is not ready"}),
            ),
            ("/status/conditions/Reconciling", json!({"type": "Reconciling", "status": "True"})),
        ],
    );
    assert_eq!(headline(&release), "not ready: HelmChart is not ready");
}

/// <https://github.com/fluxcd/helm-controller/issues/1409>: success is never inferred from the history alone.
#[test]
fn case_65_unknown_though_deployed() {
    let mut chain = chains::release();
    set(&mut chain[2], "/status/conditions/Ready/status", json!("Unknown"));
    set(&mut chain[2], "/status/conditions/Ready/message", json!("Running 'install' action with timeout of 5m0s"));
    assert_eq!(own_troubles(&chain), ["not ready yet: Running 'install' action with timeout of 5m0s"]);
}

/// <https://github.com/fluxcd/kustomize-controller/issues/387>
#[test]
fn case_69_no_status_yet() {
    let release = with(sample::helm_release("n", "x"), &[("/status", Value::Null)]);
    assert_eq!(headline(&release), "not yet seen by its controller");
}

/// <https://github.com/fluxcd/pkg/issues/934>
#[test]
fn case_79_new_generation_old_artifact() {
    let torn = with(
        sample::git_repository("n", "r"),
        &[
            ("/status/artifact/revision", json!("v1@sha1:11")),
            ("/status/conditions/ArtifactInStorage/message", json!("stored artifact for revision 'v2@sha1:22'")),
        ],
    );
    assert_eq!(
        headline(&torn),
        "status is inconsistent: ArtifactInStorage says v2@sha1:22, the artifact is v1@sha1:11"
    );
    // Suspended meanwhile, and resumed: everything moved along but this.
    let lagging = with(
        sample::git_repository("n", "r"),
        &[("/status/conditions/ArtifactInStorage/observedGeneration", json!(1))],
    );
    assert_eq!(headline(&lagging), "artifact in storage is of generation 1, not of 2");
}

/// <https://github.com/cozystack/cozystack/pull/3182>
#[test]
fn case_81_no_ready_condition_at_all() {
    let mut chain = chains::generator();
    set(&mut chain[1], "/status/conditions", json!([]));
    assert_eq!(own_troubles(&chain), ["not ready: no Ready condition yet"]);
}

/// <https://github.com/fluxcd/flux2/issues/5573>: by its fields the artifact is settled; its consumer is not.
#[test]
fn case_83_artifact_not_found() {
    let mut chain = chains::kustomization_of_artifact();
    let message = "Source is not ready, artifact not found, retrying in 30s";
    set(&mut chain[3], "/status/conditions/Ready/status", json!("False"));
    set(&mut chain[3], "/status/conditions/Ready/message", json!(message));
    assert_eq!(troubles(&chain), [format!("Kustomization/ns/app: not ready: {message}")]);
}

/// A HelmRepository of type `oci` counts as soon as it exists and is not suspended; one of the default type with an
/// empty status does not.
#[test]
fn case_103_oci_helm_repository_has_no_status() {
    let oci = sample::helm_repository_oci("n", "r");
    assert_eq!(own_troubles(std::slice::from_ref(&oci)), Vec::<String>::new());
    let default = with(oci, &[("/spec/type", json!("default"))]);
    assert_eq!(headline(&default), "not yet seen by its controller");
}

#[test]
fn case_105_chain_through_an_external_artifact() {
    assert_eq!(troubles(&chains::kustomization_of_artifact()), Vec::<String>::new());
    let mut chain = chains::kustomization_of_artifact();
    set(&mut chain[0], "/metadata/generation", json!(4));
    assert_eq!(troubles(&chain).len(), 2, "{:?}", troubles(&chain));
    let mut chain = chains::kustomization_of_artifact();
    set(&mut chain[1], "/metadata/annotations/source.extensions.fluxcd.io~1reconcile", json!("disabled"));
    assert_eq!(
        troubles(&chain),
        ["ArtifactGenerator/ns/generator: is suspended (disabled by annotation source.extensions.fluxcd.io/reconcile)"]
    );
}

/// Suspended objects go on moving their status; nothing but the generation of the attempt tells
/// (helm-controller 1.6, seen live).
#[test]
fn a_release_resumed_by_an_unfinished_pass_was_not_attempted() {
    let mut chain = chains::release();
    set(&mut chain[2], "/status/lastAttemptedGeneration", json!(1));
    set(&mut chain[2], "/status/conditions/Ready/observedGeneration", json!(1));
    assert_eq!(own_troubles(&chain), ["generation 2 not yet attempted (1)"]);
    assert_eq!(object(&chain[2]).reference.kind, Kind::HelmRelease);
}
