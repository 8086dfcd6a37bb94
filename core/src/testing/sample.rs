//! A settled object of every kind, as the API server would give it, and settled together: each one's source is the
//! sample of the kind that it names, called `repo`, in the same namespace.

use super::{object, snapshot};
use crate::object::Kind;
use crate::settled::sources_digest;
use serde_json::{Value, json};

/// The revision of [`git_repository`].
pub const GIT_REVISION: &str = "main@sha1:1111111111111111111111111111111111111111";
/// The revision of [`oci_repository`].
pub const OCI_REVISION: &str = "1.2.3@sha256:2222222222222222222222222222222222222222222222222222222222222222";
/// The revision of [`bucket`] and [`helm_repository`].
pub const DIGEST_REVISION: &str = "sha256:3333333333333333333333333333333333333333333333333333333333333333";
/// The revision of [`helm_chart`], a chart version.
pub const CHART_VERSION: &str = "1.2.3";
/// The revision of [`external_artifact`].
pub const ARTIFACT_REVISION: &str = "latest@sha256:4444444444444444444444444444444444444444444444444444444444444444";
/// The digest of the artifacts of all samples.
pub const DIGEST: &str = "sha256:5555555555555555555555555555555555555555555555555555555555555555";
/// The generation of all samples.
pub const GENERATION: i64 = 2;
/// The name of the ExternalArtifact that [`artifact_generator`] lists.
pub const ARTIFACT: &str = "artifact";
/// The name of the generator of [`external_artifact`].
pub const GENERATOR: &str = "generator";

fn condition(kind: &str, reason: &str, message: &str) -> Value {
    json!({
        "type": kind, "status": "True", "reason": reason, "message": message, "observedGeneration": GENERATION,
        "lastTransitionTime": "2026-01-01T00:00:00Z"
    })
}

fn manifest(kind: Kind, namespace: &str, name: &str, spec: Value, status: Value) -> Value {
    let row = kind.row();
    let mut metadata = json!({"name": name, "generation": GENERATION, "uid": "0", "resourceVersion": "1"});
    if let (true, Some(fields)) = (row.namespaced, metadata.as_object_mut()) {
        fields.insert("namespace".into(), namespace.into());
    }
    json!({"apiVersion": row.api_version, "kind": row.name, "metadata": metadata, "spec": spec, "status": status})
}

fn artifact(kind: Kind, namespace: &str, name: &str, revision: &str) -> Value {
    let kind = kind.name().to_lowercase();
    let url = format!("http://source-controller.flux-system.svc.cluster.local./{kind}/{namespace}/{name}/a.tar.gz");
    json!({"revision": revision, "digest": DIGEST, "url": url, "path": "a.tar.gz"})
}

fn source(kind: Kind, namespace: &str, name: &str, spec: Value, revision: &str, message: &str) -> Value {
    let status = json!({
        "observedGeneration": GENERATION,
        "conditions": [
            condition("Ready", "Succeeded", message),
            condition("ArtifactInStorage", "Succeeded", message)
        ],
        "artifact": artifact(kind, namespace, name, revision)
    });
    manifest(kind, namespace, name, spec, status)
}

/// A GitRepository at [`GIT_REVISION`].
#[must_use]
pub fn git_repository(namespace: &str, name: &str) -> Value {
    let spec = json!({"url": "https://example.com/repo", "interval": "1m", "ref": {"branch": "main"}});
    let message = format!("stored artifact for revision '{GIT_REVISION}'");
    source(Kind::GitRepository, namespace, name, spec, GIT_REVISION, &message)
}

/// An OCIRepository at [`OCI_REVISION`].
#[must_use]
pub fn oci_repository(namespace: &str, name: &str) -> Value {
    let spec = json!({"url": "oci://example.com/app", "interval": "1m", "ref": {"tag": "1.2.3"}});
    let message = format!("stored artifact for digest '{OCI_REVISION}'");
    source(Kind::OCIRepository, namespace, name, spec, OCI_REVISION, &message)
}

/// A Bucket at [`DIGEST_REVISION`].
#[must_use]
pub fn bucket(namespace: &str, name: &str) -> Value {
    let spec = json!({"bucketName": "b", "endpoint": "example.com", "interval": "1m"});
    let message = format!("stored artifact: revision '{DIGEST_REVISION}'");
    source(Kind::Bucket, namespace, name, spec, DIGEST_REVISION, &message)
}

/// A HelmRepository of the default type at [`DIGEST_REVISION`].
#[must_use]
pub fn helm_repository(namespace: &str, name: &str) -> Value {
    let spec = json!({"url": "https://example.com/charts", "interval": "1h"});
    let message = format!("stored artifact: revision '{DIGEST_REVISION}'");
    source(Kind::HelmRepository, namespace, name, spec, DIGEST_REVISION, &message)
}

/// A HelmRepository of type `oci`, which never has a status.
#[must_use]
pub fn helm_repository_oci(namespace: &str, name: &str) -> Value {
    let spec = json!({"type": "oci", "url": "oci://example.com/charts", "interval": "1h"});
    manifest(Kind::HelmRepository, namespace, name, spec, json!({}))
}

/// A HelmChart at [`CHART_VERSION`], packaged from the GitRepository `repo`: what [`helm_release`] generates, if it is
/// called `NAMESPACE-NAME`.
#[must_use]
pub fn helm_chart(namespace: &str, name: &str) -> Value {
    let spec = json!({
        "chart": "./charts/app", "version": "*", "interval": "1m", "reconcileStrategy": "ChartVersion",
        "sourceRef": {"kind": "GitRepository", "name": "repo"}
    });
    let message = format!("packaged 'app' chart with version '{CHART_VERSION}'");
    let mut chart = source(Kind::HelmChart, namespace, name, spec, CHART_VERSION, &message);
    super::set(&mut chart, "/status/observedSourceArtifactRevision", GIT_REVISION.into());
    super::set(&mut chart, "/status/observedChartName", "app".into());
    chart
}

/// An ExternalArtifact at [`ARTIFACT_REVISION`], made by the ArtifactGenerator [`GENERATOR`].
#[must_use]
pub fn external_artifact(namespace: &str, name: &str) -> Value {
    let spec = json!({"sourceRef": {
        "apiVersion": Kind::ArtifactGenerator.row().api_version, "kind": "ArtifactGenerator",
        "name": GENERATOR, "namespace": namespace
    }});
    let status = json!({
        "artifact": artifact(Kind::ExternalArtifact, namespace, name, ARTIFACT_REVISION),
        "conditions": [condition("Ready", "Succeeded", "Artifact is ready")]
    });
    manifest(Kind::ExternalArtifact, namespace, name, spec, status)
}

/// An ArtifactGenerator that makes the ExternalArtifact [`ARTIFACT`] from the GitRepository `repo`.
#[must_use]
pub fn artifact_generator(namespace: &str, name: &str) -> Value {
    let spec = json!({
        "sources": [{"alias": "repo", "kind": "GitRepository", "name": "repo"}],
        "artifacts": [{"name": ARTIFACT, "copy": [{"from": "@repo/app", "to": "@artifact/"}]}]
    });
    let status = json!({
        "conditions": [condition("Ready", "Succeeded", "reconciliation succeeded, generated 1 artifact(s)")],
        "inventory": [{"name": ARTIFACT, "namespace": namespace, "digest": DIGEST, "filename": "a.tar.gz"}]
    });
    let mut generator = manifest(Kind::ArtifactGenerator, namespace, name, spec, status);
    let digest = sources_digest(&object(&generator), &snapshot([&git_repository(namespace, "repo")]));
    super::set(&mut generator, "/status/observedSourcesDigest", digest.as_deref().into());
    generator
}

/// A Kustomization that has applied the GitRepository `repo`.
#[must_use]
pub fn kustomization(namespace: &str, name: &str) -> Value {
    let spec = json!({
        "interval": "10m", "path": "./", "prune": true, "sourceRef": {"kind": "GitRepository", "name": "repo"}
    });
    let message = format!("Applied revision: {GIT_REVISION}");
    let status = json!({
        "observedGeneration": GENERATION,
        "conditions": [condition("Ready", "ReconciliationSucceeded", &message)],
        "lastAppliedRevision": GIT_REVISION, "lastAttemptedRevision": GIT_REVISION,
        "inventory": {"entries": []}
    });
    manifest(Kind::Kustomization, namespace, name, spec, status)
}

/// A HelmRelease that has installed the [`helm_chart`] `NAMESPACE-NAME`, which it generates over the GitRepository
/// `repo`.
#[must_use]
pub fn helm_release(namespace: &str, name: &str) -> Value {
    let spec = json!({"interval": "10m", "chart": {"spec": {
        "chart": "./charts/app", "version": "*", "reconcileStrategy": "ChartVersion",
        "sourceRef": {"kind": "GitRepository", "name": "repo"}
    }}});
    let mut release = installed(namespace, name, spec, CHART_VERSION, None);
    super::set(&mut release, "/status/helmChart", format!("{namespace}/{namespace}-{name}").into());
    release
}

/// A HelmRelease that has installed the artifact of [`oci_repository`] or [`external_artifact`].
///
/// # Panics
/// If the source is of another kind.
#[must_use]
pub fn helm_release_of(source: Kind, source_name: &str, namespace: &str, name: &str) -> Value {
    let (version, digest) = match source {
        Kind::OCIRepository => ("1.2.3+222222222222", OCI_REVISION.rsplit('@').next()),
        Kind::ExternalArtifact => ("1.2.3+444444444444", Some(ARTIFACT_REVISION)),
        _ => panic!("no sample of a release of a {source}"),
    };
    let spec = json!({"interval": "10m", "chartRef": {"kind": source.name(), "name": source_name}});
    installed(namespace, name, spec, version, digest)
}

fn installed(namespace: &str, name: &str, spec: Value, version: &str, digest: Option<&str>) -> Value {
    let message = format!("Helm upgrade succeeded for release {namespace}/{name}.v2 with chart app@{version}");
    let mut history = json!([
        {"name": name, "namespace": namespace, "version": 2, "status": "deployed", "chartName": "app",
         "chartVersion": version, "configDigest": DIGEST, "digest": DIGEST},
        {"name": name, "namespace": namespace, "version": 1, "status": "superseded", "chartName": "app",
         "chartVersion": "1.2.2", "configDigest": DIGEST, "digest": DIGEST}
    ]);
    if let Some(digest) = digest {
        super::set(&mut history, "/0/ociDigest", digest.into());
    }
    let status = json!({
        "observedGeneration": GENERATION, "lastAttemptedGeneration": GENERATION,
        "conditions": [
            condition("Ready", "UpgradeSucceeded", &message), condition("Released", "UpgradeSucceeded", &message)
        ],
        "history": history, "lastAttemptedRevision": version, "storageNamespace": namespace
    });
    manifest(Kind::HelmRelease, namespace, name, spec, status)
}

/// A ResourceSet that has applied something.
#[must_use]
pub fn resource_set(namespace: &str, name: &str) -> Value {
    let status = json!({
        "conditions": [condition("Ready", "ReconciliationSucceeded", "Reconciliation finished in 52ms")],
        "inventory": {"entries": []}, "lastAppliedRevision": DIGEST
    });
    manifest(Kind::ResourceSet, namespace, name, json!({"resources": []}), status)
}

/// A Terraform object that has applied the GitRepository `repo`.
#[must_use]
pub fn terraform(namespace: &str, name: &str) -> Value {
    let spec = json!({
        "interval": "10m", "approvePlan": "auto", "path": "./",
        "sourceRef": {"kind": "GitRepository", "name": "repo"}
    });
    let message = format!("Outputs written: {GIT_REVISION}");
    let status = json!({
        "observedGeneration": GENERATION,
        "conditions": [condition("Ready", "TerraformOutputsWritten", &message)],
        "lastAppliedRevision": GIT_REVISION, "lastAttemptedRevision": GIT_REVISION,
        "lastPlannedRevision": GIT_REVISION, "plan": {"lastApplied": "plan-main-1111111111", "pending": ""}
    });
    manifest(Kind::Terraform, namespace, name, spec, status)
}

/// A Package of the default variant of the [`package_source`] of its name.
#[must_use]
pub fn package(name: &str) -> Value {
    let mut ready =
        condition("Ready", "ReconciliationSucceeded", "reconciliation succeeded, generated 1 helmrelease(s)");
    super::set(&mut ready, "/observedGeneration", Value::Null);
    let status = json!({"conditions": [ready], "dependencies": {"base": {"ready": true}}});
    manifest(Kind::Package, "", name, json!({"variant": "default"}), status)
}

/// A PackageSource over the GitRepository `repo` in `cozy-system`. Its generator has its name and stands there too.
#[must_use]
pub fn package_source(name: &str) -> Value {
    let spec = json!({
        "sourceRef": {"kind": "GitRepository", "name": "repo", "namespace": "cozy-system", "path": "/"},
        "variants": [{"name": "default", "dependsOn": ["base"], "components": [{"name": "app", "path": "app"}]}]
    });
    let message = "reconciliation succeeded, generated 1 artifact(s)";
    let status = json!({"conditions": [condition("Ready", "Succeeded", message)], "variants": "default"});
    manifest(Kind::PackageSource, "", name, spec, status)
}
