//! The shape of a Flux object on the wire: only the fields that a decision reads, every one of them optional.
//!
//! The shapes are generic over the string, so that one definition serves two uses: borrowed from the request on the
//! hot path, where nothing is kept, and owned for objects that a decision holds on to. Null and absent are the same
//! everywhere; a field of the wrong type is an error, and fields that no decision reads are skipped whatever they hold.

use super::inventory::Inventory;
use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// A string that is borrowed from the input where it holds no escapes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text<'a>(pub Cow<'a, str>);

impl AsRef<str> for Text<'_> {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for TextVisitor<'a> {
            type Value = Text<'a>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(TextVisitor(PhantomData))
    }
}

/// A request's view of an object: borrowed, with its status left unread.
pub type Seen<'a> = Manifest<Text<'a>, &'a RawValue>;

/// An object that a decision keeps.
pub type Stored = Manifest<Box<str>, Status>;

/// An object, as far as any decision reads it. `S` is the string, `T` the status.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "S: Deserialize<'de>, T: Deserialize<'de>"))]
#[allow(missing_docs, reason = "the fields are those of the manifest")]
pub struct Manifest<S, T> {
    pub api_version: Option<S>,
    pub kind: Option<S>,
    pub metadata: Option<Metadata<S>>,
    pub spec: Option<Spec<S>>,
    pub status: Option<T>,
}

/// `metadata`. Labels and annotations hold only those that a decision knows.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "S: Deserialize<'de>"))]
#[allow(missing_docs, reason = "the fields are those of the manifest")]
pub struct Metadata<S> {
    pub name: Option<S>,
    pub generate_name: Option<S>,
    pub namespace: Option<S>,
    pub generation: Option<i64>,
    pub deletion_timestamp: Option<S>,
    pub labels: Option<Labels<S>>,
    pub annotations: Option<Annotations<S>>,
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

/// `spec`: the union of what the kinds hold. Only `chart` means two things, see [`Chart`].
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "S: Deserialize<'de>"))]
#[allow(missing_docs, reason = "the fields are those of the manifest")]
pub struct Spec<S> {
    pub suspend: Option<bool>,
    pub depends_on: Option<Vec<Dependency<S>>>,
    pub source_ref: Option<ObjectRef<S>>,
    pub chart_ref: Option<ObjectRef<S>>,
    pub chart: Option<Chart<S>>,
    pub version: Option<S>,
    pub reconcile_strategy: Option<S>,
    pub values_files: Option<Vec<S>>,
    pub ignore_missing_values_files: Option<bool>,
    pub verify: Option<Verify<S>>,
    pub sources: Option<Vec<ObjectRef<S>>>,
    pub artifacts: Option<Vec<GeneratedArtifact<S>>>,
    pub include: Option<Vec<Include<S>>>,
    pub wait: Option<bool>,
    pub health_checks: Option<Vec<ObjectRef<S>>>,
    pub wait_strategy: Option<WaitStrategy<S>>,
    pub install: Option<Action>,
    pub upgrade: Option<Action>,
    pub r#type: Option<S>,
    pub kube_config: Option<IgnoredAny>,
    pub variant: Option<S>,
    pub ignore_dependencies: Option<Vec<S>>,
    pub variants: Option<Vec<Variant<S>>>,
}

/// An entry of `dependsOn`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "S: Deserialize<'de>"))]
#[allow(missing_docs, reason = "the fields are those of the manifest")]
pub struct Dependency<S> {
    pub api_version: Option<S>,
    pub kind: Option<S>,
    pub name: Option<S>,
    pub namespace: Option<S>,
    pub ready: Option<bool>,
    pub ready_expr: Option<S>,
}

/// A reference to another object; `alias` only in the sources of an ArtifactGenerator.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "S: Deserialize<'de>"))]
#[allow(missing_docs, reason = "the fields are those of the manifest")]
pub struct ObjectRef<S> {
    pub alias: Option<S>,
    pub api_version: Option<S>,
    pub kind: Option<S>,
    pub name: Option<S>,
    pub namespace: Option<S>,
}

/// `spec.chart`: the template of a HelmRelease, or the chart name of a HelmChart.
#[derive(Clone, Debug, PartialEq)]
pub enum Chart<S> {
    /// A HelmChart's chart name or path.
    Name(S),
    /// What a HelmRelease writes into the HelmChart that it generates.
    Template(Option<ChartTemplate<S>>),
}

/// `spec.chart.spec` of a HelmRelease.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "S: Deserialize<'de>"))]
#[allow(missing_docs, reason = "the fields are those of the manifest")]
pub struct ChartTemplate<S> {
    pub chart: Option<S>,
    pub version: Option<S>,
    pub source_ref: Option<ObjectRef<S>>,
    pub reconcile_strategy: Option<S>,
    pub values_files: Option<Vec<S>>,
    pub ignore_missing_values_files: Option<bool>,
    pub verify: Option<Verify<S>>,
}

/// How the signature of a chart is verified.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "S: Deserialize<'de>"))]
#[allow(missing_docs, reason = "the fields are those of the manifest")]
pub struct Verify<S> {
    pub provider: Option<S>,
    pub secret_ref: Option<ObjectRef<S>>,
}

/// An output of an ArtifactGenerator.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "S: Deserialize<'de>"))]
#[allow(missing_docs, reason = "the fields are those of the manifest")]
pub struct GeneratedArtifact<S> {
    pub name: Option<S>,
}

/// An entry of a GitRepository's `include`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(bound(deserialize = "S: Deserialize<'de>"))]
#[allow(missing_docs, reason = "the fields are those of the manifest")]
pub struct Include<S> {
    pub repository: Option<ObjectRef<S>>,
}

/// `spec.waitStrategy` of a HelmRelease.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(bound(deserialize = "S: Deserialize<'de>"))]
#[allow(missing_docs, reason = "the fields are those of the manifest")]
pub struct WaitStrategy<S> {
    pub name: Option<S>,
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
#[serde(rename_all = "camelCase", bound(deserialize = "S: Deserialize<'de>"))]
#[allow(missing_docs, reason = "the fields are those of the manifest")]
pub struct Variant<S> {
    pub name: Option<S>,
    pub depends_on: Option<Vec<S>>,
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

impl<'de, S: Deserialize<'de>> Deserialize<'de> for Chart<S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ChartVisitor<S>(PhantomData<S>);
        #[derive(Deserialize)]
        #[serde(bound(deserialize = "S: Deserialize<'de>"))]
        struct Template<S> {
            spec: Option<ChartTemplate<S>>,
        }
        impl<'de, S: Deserialize<'de>> Visitor<'de> for ChartVisitor<S> {
            type Value = Chart<S>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a chart name or a chart template")
            }
            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
                S::deserialize(de::value::BorrowedStrDeserializer::new(text)).map(Chart::Name)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                S::deserialize(de::value::StrDeserializer::new(text)).map(Chart::Name)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                Template::deserialize(de::value::MapAccessDeserializer::new(map)).map(|t| Chart::Template(t.spec))
            }
        }
        deserializer.deserialize_any(ChartVisitor(PhantomData))
    }
}
