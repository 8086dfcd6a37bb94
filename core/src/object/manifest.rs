//! The shape of a Flux object on the wire: only the fields that a decision reads, every one of them optional.
//!
//! Null and absent are the same everywhere; a field of the wrong type is an error, and fields that no decision reads are
//! skipped whatever they hold. The hot path has a shape of its own, made of the same lists of fields: [`super::Seen`].

use super::fields::fields;
use super::inventory::Inventory;
use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;

/// An object that a decision keeps.
pub type Stored = Manifest<Status>;

fields! {
    /// An object, as far as any decision reads it. `T` is the status.
    #[derive(Clone, Debug)]
    #[allow(missing_docs, reason = "the fields are those of the manifest")]
    pub struct Manifest<T> {
        "metadata" => metadata: Metadata,
        "spec" => spec: Spec,
        "status" => status: T,
    }
}

fields! {
    /// `metadata`. Labels and annotations hold only those that a decision knows.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[allow(missing_docs, reason = "the fields are those of the manifest")]
    pub struct Metadata {
        "name" => name: Box<str>,
        "generateName" => generate_name: Box<str>,
        "namespace" => namespace: Box<str>,
        "generation" => generation: i64,
        "deletionTimestamp" => deletion_timestamp: Box<str>,
        "labels" => labels: Labels<Box<str>>,
        "annotations" => annotations: Annotations<Box<str>>,
    }
}

fields! {
    /// The labels that a decision reads: who applied the object, and the shard it belongs to.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[allow(missing_docs, reason = "the fields are named after the labels")]
    pub struct Labels<S> {
        "kustomize.toolkit.fluxcd.io/name" => kustomize_name: S,
        "kustomize.toolkit.fluxcd.io/namespace" => kustomize_namespace: S,
        "helm.toolkit.fluxcd.io/name" => helm_name: S,
        "helm.toolkit.fluxcd.io/namespace" => helm_namespace: S,
        "resourceset.fluxcd.controlplane.io/name" => resourceset_name: S,
        "resourceset.fluxcd.controlplane.io/namespace" => resourceset_namespace: S,
        "sharding.fluxcd.io/key" => shard: S,
    }
}

fields! {
    /// The annotations that a decision reads.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[allow(missing_docs, reason = "the fields are named after the annotations")]
    pub struct Annotations<S> {
        "reconcile.fluxcd.io/requestedAt" => requested_at: S,
        "source.extensions.fluxcd.io/reconcile" => generator_reconcile: S,
        "fluxcd.controlplane.io/reconcile" => resourceset_reconcile: S,
        "sluicegate.dev/held" => held: S,
        "sluicegate.dev/resume" => resume: S,
        "sluicegate.dev/release" => release: S,
        "sluicegate.dev/bypass" => bypass: S,
        "sluicegate.dev/expected-revision" => expected_revision: S,
    }
}

fields! {
    /// `spec`: the union of what the kinds hold. Only `chart` means two things, see [`Chart`].
    #[derive(Clone, Debug, Default, PartialEq)]
    #[allow(missing_docs, reason = "the fields are those of the manifest")]
    pub struct Spec {
        "suspend" => suspend: bool,
        "dependsOn" => depends_on: Vec<Dependency>,
        "sourceRef" => source_ref: ObjectRef,
        "chartRef" => chart_ref: ObjectRef,
        "chart" => chart: Chart,
        "version" => version: Box<str>,
        "reconcileStrategy" => reconcile_strategy: Box<str>,
        "valuesFiles" => values_files: Vec<Box<str>>,
        "ignoreMissingValuesFiles" => ignore_missing_values_files: bool,
        "verify" => verify: Verify,
        "sources" => sources: Vec<ObjectRef>,
        "artifacts" => artifacts: Vec<GeneratedArtifact>,
        "include" => include: Vec<Include>,
        "wait" => wait: bool,
        "healthChecks" => health_checks: Vec<ObjectRef>,
        "waitStrategy" => wait_strategy: WaitStrategy,
        "install" => install: Action,
        "upgrade" => upgrade: Action,
        "type" => r#type: Box<str>,
        "kubeConfig" => kube_config: IgnoredAny,
        "variant" => variant: Box<str>,
        "ignoreDependencies" => ignore_dependencies: Vec<Box<str>>,
        "variants" => variants: Vec<Variant>,
    }
}

fields! {
    /// An entry of `dependsOn`.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[allow(missing_docs, reason = "the fields are those of the manifest")]
    pub struct Dependency {
        "apiVersion" => api_version: Box<str>,
        "kind" => kind: Box<str>,
        "name" => name: Box<str>,
        "namespace" => namespace: Box<str>,
        "ready" => ready: bool,
        "readyExpr" => ready_expr: Box<str>,
    }
}

fields! {
    /// A reference to another object; `alias` only in the sources of an ArtifactGenerator.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[allow(missing_docs, reason = "the fields are those of the manifest")]
    pub struct ObjectRef {
        "alias" => alias: Box<str>,
        "apiVersion" => api_version: Box<str>,
        "kind" => kind: Box<str>,
        "name" => name: Box<str>,
        "namespace" => namespace: Box<str>,
    }
}

/// `spec.chart`: the template of a HelmRelease, or the chart name of a HelmChart.
#[derive(Clone, Debug, PartialEq)]
pub enum Chart {
    /// A HelmChart's chart name or path.
    Name(Box<str>),
    /// What a HelmRelease writes into the HelmChart that it generates.
    Template(Option<Box<ChartTemplate>>),
}

fields! {
    /// `spec.chart.spec` of a HelmRelease.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[allow(missing_docs, reason = "the fields are those of the manifest")]
    pub struct ChartTemplate {
        "chart" => chart: Box<str>,
        "version" => version: Box<str>,
        "sourceRef" => source_ref: ObjectRef,
        "reconcileStrategy" => reconcile_strategy: Box<str>,
        "valuesFiles" => values_files: Vec<Box<str>>,
        "ignoreMissingValuesFiles" => ignore_missing_values_files: bool,
        "verify" => verify: Verify,
    }
}

fields! {
    /// How the signature of a chart is verified.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[allow(missing_docs, reason = "the fields are those of the manifest")]
    pub struct Verify {
        "provider" => provider: Box<str>,
        "secretRef" => secret_ref: ObjectRef,
    }
}

fields! {
    /// An output of an ArtifactGenerator.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[allow(missing_docs, reason = "the fields are those of the manifest")]
    pub struct GeneratedArtifact {
        "name" => name: Box<str>,
    }
}

fields! {
    /// An entry of a GitRepository's `include`.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[allow(missing_docs, reason = "the fields are those of the manifest")]
    pub struct Include {
        "repository" => repository: ObjectRef,
    }
}

fields! {
    /// `spec.waitStrategy` of a HelmRelease.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[allow(missing_docs, reason = "the fields are those of the manifest")]
    pub struct WaitStrategy {
        "name" => name: Box<str>,
    }
}

fields! {
    /// `spec.install` or `spec.upgrade` of a HelmRelease.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[allow(missing_docs, reason = "the fields are those of the manifest")]
    pub struct Action {
        "disableWait" => disable_wait: bool,
    }
}

fields! {
    /// A variant of a PackageSource.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[allow(missing_docs, reason = "the fields are those of the manifest")]
    pub struct Variant {
        "name" => name: Box<str>,
        "dependsOn" => depends_on: Vec<Box<str>>,
    }
}

fields! {
    /// `status`: the union of what the kinds hold.
    #[derive(Clone, Debug, Default)]
    #[allow(missing_docs, reason = "the fields are those of the manifest")]
    pub struct Status {
        "observedGeneration" => observed_generation: i64,
        "conditions" => conditions: Vec<Condition>,
        "lastHandledReconcileAt" => last_handled_reconcile_at: Box<str>,
        "artifact" => artifact: Artifact,
        "includedArtifacts" => included_artifacts: Vec<Artifact>,
        "observedSourceArtifactRevision" => observed_source_artifact_revision: Box<str>,
        "observedSourcesDigest" => observed_sources_digest: Box<str>,
        "lastAppliedRevision" => last_applied_revision: Box<str>,
        "lastAttemptedRevision" => last_attempted_revision: Box<str>,
        "lastPlannedRevision" => last_planned_revision: Box<str>,
        "lastAttemptedGeneration" => last_attempted_generation: i64,
        "helmChart" => helm_chart: Box<str>,
        "history" => history: Vec<HistoryEntry>,
        "inventory" => inventory: Inventory,
        "plan" => plan: Plan,
        "dependencies" => dependencies: BTreeMap<Box<str>, PackageDependency>,
    }
}

fields! {
    /// A status condition.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[allow(missing_docs, reason = "the fields are those of the manifest")]
    pub struct Condition {
        "type" => r#type: Box<str>,
        "status" => status: Box<str>,
        "reason" => reason: Box<str>,
        "message" => message: Box<str>,
        "observedGeneration" => observed_generation: i64,
        "lastTransitionTime" => last_transition_time: Box<str>,
    }
}

fields! {
    /// `status.artifact`.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[allow(missing_docs, reason = "the fields are those of the manifest")]
    pub struct Artifact {
        "revision" => revision: Box<str>,
        "digest" => digest: Box<str>,
        "url" => url: Box<str>,
        "metadata" => metadata: ArtifactMetadata,
    }
}

fields! {
    /// `status.artifact.metadata`.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ArtifactMetadata {
        /// Where the content came from before it went through a generator.
        "org.opencontainers.image.revision" => origin_revision: Box<str>,
    }
}

fields! {
    /// An entry of a HelmRelease's `status.history`, newest first.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[allow(missing_docs, reason = "the fields are those of the manifest")]
    pub struct HistoryEntry {
        "version" => version: i64,
        "status" => status: Box<str>,
        "chartName" => chart_name: Box<str>,
        "chartVersion" => chart_version: Box<str>,
        "ociDigest" => oci_digest: Box<str>,
    }
}

fields! {
    /// `status.plan` of a Terraform object.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[allow(missing_docs, reason = "the fields are those of the manifest")]
    pub struct Plan {
        "pending" => pending: Box<str>,
    }
}

fields! {
    /// An entry of a Package's `status.dependencies`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[allow(missing_docs, reason = "the fields are those of the manifest")]
    pub struct PackageDependency {
        "ready" => ready: bool,
    }
}

impl<'de> Deserialize<'de> for Chart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ChartVisitor;
        fields! {
            /// What stands around the template.
            pub struct Template {
                "spec" => spec: Box<ChartTemplate>,
            }
        }
        impl<'de> Visitor<'de> for ChartVisitor {
            type Value = Chart;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a chart name or a chart template")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Chart::Name(text.into()))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                Template::deserialize(de::value::MapAccessDeserializer::new(map)).map(|t| Chart::Template(t.spec))
            }
        }
        deserializer.deserialize_any(ChartVisitor)
    }
}
