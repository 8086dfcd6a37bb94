//! The shape of a Flux object on the wire: only the fields that a decision reads, every one of them optional.
//!
//! Null and absent are the same everywhere; a field of the wrong type is an error, and fields that no decision reads are
//! skipped whatever they hold. The hot path has a shape of its own, made of the same lists of fields: [`super::Seen`].

use super::inventory::Inventory;
use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt;

/// An object that a decision keeps.
pub type Stored = Manifest<Status>;

/// An object, as far as any decision reads it. `T` is the status.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "T: Deserialize<'de>"))]
#[allow(missing_docs, reason = "the fields are those of the manifest")]
pub struct Manifest<T> {
    pub metadata: Option<Metadata>,
    pub spec: Option<Spec>,
    pub status: Option<T>,
}

/// `metadata`. Labels and annotations hold only those that a decision knows.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of the manifest")]
pub struct Metadata {
    pub name: Option<Box<str>>,
    pub generate_name: Option<Box<str>>,
    pub namespace: Option<Box<str>>,
    pub generation: Option<i64>,
    pub deletion_timestamp: Option<Box<str>>,
    pub labels: Option<Labels<Box<str>>>,
    pub annotations: Option<Annotations<Box<str>>>,
}

/// The labels that a decision reads: who applied the object, and the shard it belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(bound(deserialize = "S: Deserialize<'de>"))]
#[allow(missing_docs, reason = "the fields are named after the labels")]
pub struct Labels<S> {
    #[serde(rename = "kustomize.toolkit.fluxcd.io/name")]
    pub kustomize_name: Option<S>,
    #[serde(rename = "kustomize.toolkit.fluxcd.io/namespace")]
    pub kustomize_namespace: Option<S>,
    #[serde(rename = "helm.toolkit.fluxcd.io/name")]
    pub helm_name: Option<S>,
    #[serde(rename = "helm.toolkit.fluxcd.io/namespace")]
    pub helm_namespace: Option<S>,
    #[serde(rename = "resourceset.fluxcd.controlplane.io/name")]
    pub resourceset_name: Option<S>,
    #[serde(rename = "resourceset.fluxcd.controlplane.io/namespace")]
    pub resourceset_namespace: Option<S>,
    #[serde(rename = "sharding.fluxcd.io/key")]
    pub shard: Option<S>,
}

/// The annotations that a decision reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(bound(deserialize = "S: Deserialize<'de>"))]
#[allow(missing_docs, reason = "the fields are named after the annotations")]
pub struct Annotations<S> {
    #[serde(rename = "reconcile.fluxcd.io/requestedAt")]
    pub requested_at: Option<S>,
    #[serde(rename = "source.extensions.fluxcd.io/reconcile")]
    pub generator_reconcile: Option<S>,
    #[serde(rename = "fluxcd.controlplane.io/reconcile")]
    pub resourceset_reconcile: Option<S>,
    #[serde(rename = "sluicegate.dev/held")]
    pub held: Option<S>,
    #[serde(rename = "sluicegate.dev/resume")]
    pub resume: Option<S>,
    #[serde(rename = "sluicegate.dev/release")]
    pub release: Option<S>,
    #[serde(rename = "sluicegate.dev/bypass")]
    pub bypass: Option<S>,
    #[serde(rename = "sluicegate.dev/expected-revision")]
    pub expected_revision: Option<S>,
}

/// Defines the two shapes of `spec` from one list of fields: owned and typed, and borrowed for comparison only.
macro_rules! spec {
    ($($field:ident: $type:ty,)*) => {
        /// `spec`: the union of what the kinds hold. Only `chart` means two things, see [`Chart`].
        #[derive(Clone, Debug, Default, PartialEq, Deserialize)]
        #[serde(rename_all = "camelCase")]
        #[allow(missing_docs, reason = "the fields are those of the manifest")]
        pub struct Spec {
            $(pub $field: Option<$type>,)*
        }

        /// The same fields of `spec` as they stand in a request, unread.
        #[derive(Clone, Debug, Default, Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub struct SeenSpec<'a> {
            $(#[serde(borrow)] $field: Option<&'a RawValue>,)*
        }

        /// Equal where every field is written the same. Both objects of a request come from the same serializer.
        impl PartialEq for SeenSpec<'_> {
            fn eq(&self, other: &Self) -> bool {
                $(same(self.$field, other.$field))&&*
            }
        }
    };
}

fn same(a: Option<&RawValue>, b: Option<&RawValue>) -> bool {
    a.map(RawValue::get) == b.map(RawValue::get)
}

spec! {
    suspend: bool,
    depends_on: Vec<Dependency>,
    source_ref: ObjectRef,
    chart_ref: ObjectRef,
    chart: Chart,
    version: Box<str>,
    reconcile_strategy: Box<str>,
    values_files: Vec<Box<str>>,
    ignore_missing_values_files: bool,
    verify: Verify,
    sources: Vec<ObjectRef>,
    artifacts: Vec<GeneratedArtifact>,
    include: Vec<Include>,
    wait: bool,
    health_checks: Vec<ObjectRef>,
    wait_strategy: WaitStrategy,
    install: Action,
    upgrade: Action,
    r#type: Box<str>,
    kube_config: IgnoredAny,
    variant: Box<str>,
    ignore_dependencies: Vec<Box<str>>,
    variants: Vec<Variant>,
}

/// An entry of `dependsOn`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of the manifest")]
pub struct Dependency {
    pub api_version: Option<Box<str>>,
    pub kind: Option<Box<str>>,
    pub name: Option<Box<str>>,
    pub namespace: Option<Box<str>>,
    pub ready: Option<bool>,
    pub ready_expr: Option<Box<str>>,
}

/// A reference to another object; `alias` only in the sources of an ArtifactGenerator.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of the manifest")]
pub struct ObjectRef {
    pub alias: Option<Box<str>>,
    pub api_version: Option<Box<str>>,
    pub kind: Option<Box<str>>,
    pub name: Option<Box<str>>,
    pub namespace: Option<Box<str>>,
}

/// `spec.chart`: the template of a HelmRelease, or the chart name of a HelmChart.
#[derive(Clone, Debug, PartialEq)]
pub enum Chart {
    /// A HelmChart's chart name or path.
    Name(Box<str>),
    /// What a HelmRelease writes into the HelmChart that it generates.
    Template(Option<ChartTemplate>),
}

/// `spec.chart.spec` of a HelmRelease.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of the manifest")]
pub struct ChartTemplate {
    pub chart: Option<Box<str>>,
    pub version: Option<Box<str>>,
    pub source_ref: Option<ObjectRef>,
    pub reconcile_strategy: Option<Box<str>>,
    pub values_files: Option<Vec<Box<str>>>,
    pub ignore_missing_values_files: Option<bool>,
    pub verify: Option<Verify>,
}

/// How the signature of a chart is verified.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of the manifest")]
pub struct Verify {
    pub provider: Option<Box<str>>,
    pub secret_ref: Option<ObjectRef>,
}

/// An output of an ArtifactGenerator.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of the manifest")]
pub struct GeneratedArtifact {
    pub name: Option<Box<str>>,
}

/// An entry of a GitRepository's `include`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[allow(missing_docs, reason = "the fields are those of the manifest")]
pub struct Include {
    pub repository: Option<ObjectRef>,
}

/// `spec.waitStrategy` of a HelmRelease.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[allow(missing_docs, reason = "the fields are those of the manifest")]
pub struct WaitStrategy {
    pub name: Option<Box<str>>,
}

/// `spec.install` or `spec.upgrade` of a HelmRelease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of the manifest")]
pub struct Action {
    pub disable_wait: Option<bool>,
}

/// A variant of a PackageSource.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of the manifest")]
pub struct Variant {
    pub name: Option<Box<str>>,
    pub depends_on: Option<Vec<Box<str>>>,
}

/// `status`: the union of what the kinds hold.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of the manifest")]
pub struct Status {
    pub observed_generation: Option<i64>,
    pub conditions: Option<Vec<Condition>>,
    pub last_handled_reconcile_at: Option<Box<str>>,
    pub artifact: Option<Artifact>,
    pub included_artifacts: Option<Vec<Artifact>>,
    pub observed_source_artifact_revision: Option<Box<str>>,
    pub observed_sources_digest: Option<Box<str>>,
    pub last_applied_revision: Option<Box<str>>,
    pub last_attempted_revision: Option<Box<str>>,
    pub last_planned_revision: Option<Box<str>>,
    pub last_attempted_generation: Option<i64>,
    pub helm_chart: Option<Box<str>>,
    pub history: Option<Vec<HistoryEntry>>,
    pub inventory: Option<Inventory>,
    pub plan: Option<Plan>,
    pub dependencies: Option<BTreeMap<Box<str>, PackageDependency>>,
}

/// A status condition.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of the manifest")]
pub struct Condition {
    pub r#type: Option<Box<str>>,
    pub status: Option<Box<str>>,
    pub reason: Option<Box<str>>,
    pub message: Option<Box<str>>,
    pub observed_generation: Option<i64>,
    pub last_transition_time: Option<Box<str>>,
}

/// `status.artifact`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[allow(missing_docs, reason = "the fields are those of the manifest")]
pub struct Artifact {
    pub revision: Option<Box<str>>,
    pub digest: Option<Box<str>>,
    pub url: Option<Box<str>>,
    pub metadata: Option<ArtifactMetadata>,
}

/// `status.artifact.metadata`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ArtifactMetadata {
    /// Where the content came from before it went through a generator.
    #[serde(rename = "org.opencontainers.image.revision")]
    pub origin_revision: Option<Box<str>>,
}

/// An entry of a HelmRelease's `status.history`, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of the manifest")]
pub struct HistoryEntry {
    pub version: Option<i64>,
    pub status: Option<Box<str>>,
    pub chart_name: Option<Box<str>>,
    pub chart_version: Option<Box<str>>,
    pub oci_digest: Option<Box<str>>,
}

/// `status.plan` of a Terraform object.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[allow(missing_docs, reason = "the fields are those of the manifest")]
pub struct Plan {
    pub pending: Option<Box<str>>,
}

/// An entry of a Package's `status.dependencies`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[allow(missing_docs, reason = "the fields are those of the manifest")]
pub struct PackageDependency {
    pub ready: Option<bool>,
}

impl<'de> Deserialize<'de> for Chart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ChartVisitor;
        #[derive(Deserialize)]
        struct Template {
            spec: Option<ChartTemplate>,
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
