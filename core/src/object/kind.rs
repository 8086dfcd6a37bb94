//! The one table of kinds: a kind that Sluicegate judges is a row here.

use crate::need::Reader;
use crate::settled::{self, Judge};
use std::fmt;

/// A kind of object that Sluicegate judges.
///
/// The variants stand in the alphabetical order of their names, so that the derived order is the stable order of
/// the design (kind, namespace, name).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "each variant is the Kubernetes kind of that name")]
pub enum Kind {
    ArtifactGenerator,
    Bucket,
    ExternalArtifact,
    GitRepository,
    HelmChart,
    HelmRelease,
    HelmRepository,
    Kustomization,
    OCIRepository,
    Package,
    PackageSource,
    ResourceSet,
    Terraform,
}

/// Where a kind keeps its suspend switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// `spec.suspend`; absent, null and false are the same.
    Spec,
    /// An annotation that suspends when its value, lower-cased, is `disabled`.
    Annotation(&'static str),
    /// The kind cannot be suspended.
    None,
}

type ReadNeeds = fn(&mut Reader<'_>);
type JudgeSettled = fn(&mut Judge<'_>);

/// One row of the table.
pub struct KindRow {
    /// The kind this row is about.
    pub kind: Kind,
    /// `kind` as manifests spell it.
    pub name: &'static str,
    /// The resource name in URLs and rules.
    pub plural: &'static str,
    /// The API group.
    pub group: &'static str,
    /// The served versions that can be read, the one that Sluicegate reads with first.
    pub versions: &'static [&'static str],
    /// `group/version` that Sluicegate reads with.
    pub api_version: &'static str,
    /// Whether objects of the kind live in namespaces.
    pub namespaced: bool,
    /// The suspend switch.
    pub switch: Switch,
    /// How needs are read off an object of this kind.
    pub(crate) needs: ReadNeeds,
    /// The tests of *settled*.
    pub(crate) settled: JudgeSettled,
    /// What a read asks the host for. `metadata` always comes whole. One constant set a kind, or the host would keep
    /// one cache for each (policy-evaluator 1.36).
    pub field_mask: &'static [&'static str],
}

const CONDITIONS: &str = "status.conditions";
const GENERATION: &str = "status.observedGeneration";
const HANDLED: &str = "status.lastHandledReconcileAt";
const SUSPEND: &str = "spec.suspend";
const ARTIFACT: &str = "status.artifact";

macro_rules! api {
    ($group:literal, $first:literal $(, $more:literal)*) => {
        ($group, &[$first $(, $more)*] as &[&str], concat!($group, "/", $first))
    };
}

const fn row(
    kind: Kind,
    name: &'static str,
    plural: &'static str,
    (group, versions, api_version): (&'static str, &'static [&'static str], &'static str),
    switch: Switch,
    (needs, settled): (ReadNeeds, JudgeSettled),
    field_mask: &'static [&'static str],
) -> KindRow {
    KindRow { kind, name, plural, group, versions, api_version, namespaced: true, switch, needs, settled, field_mask }
}

fn no_needs(_: &mut Reader<'_>) {}

fn kustomization(reader: &mut Reader<'_>) {
    reader.depends_on();
    reader.source_ref();
    reader.children();
    reader.health_checks();
}

fn helm_release(reader: &mut Reader<'_>) {
    reader.depends_on();
    reader.chart();
    reader.children();
}

fn resource_set(reader: &mut Reader<'_>) {
    reader.depends_on_any();
    reader.children();
}

fn terraform(reader: &mut Reader<'_>) {
    reader.depends_on();
    reader.source_ref();
}

/// The table, in the order of [`Kind`].
pub static KINDS: [KindRow; 13] = [
    row(
        Kind::ArtifactGenerator,
        "ArtifactGenerator",
        "artifactgenerators",
        api!("source.extensions.fluxcd.io", "v1beta1"),
        Switch::Annotation("source.extensions.fluxcd.io/reconcile"),
        (|reader| reader.sources(), settled::artifact_generator),
        &["spec.sources", "spec.artifacts", CONDITIONS, HANDLED, "status.inventory", "status.observedSourcesDigest"],
    ),
    row(
        Kind::Bucket,
        "Bucket",
        "buckets",
        api!("source.toolkit.fluxcd.io", "v1"),
        Switch::Spec,
        (no_needs, settled::source),
        &[SUSPEND, CONDITIONS, GENERATION, HANDLED, ARTIFACT],
    ),
    row(
        Kind::ExternalArtifact,
        "ExternalArtifact",
        "externalartifacts",
        api!("source.toolkit.fluxcd.io", "v1"),
        Switch::None,
        (|reader| reader.producer(), settled::external_artifact),
        &["spec.sourceRef", CONDITIONS, ARTIFACT],
    ),
    row(
        Kind::GitRepository,
        "GitRepository",
        "gitrepositories",
        api!("source.toolkit.fluxcd.io", "v1"),
        Switch::Spec,
        (|reader| reader.include(), settled::git_repository),
        &[SUSPEND, "spec.include", CONDITIONS, GENERATION, HANDLED, ARTIFACT, "status.includedArtifacts"],
    ),
    row(
        Kind::HelmChart,
        "HelmChart",
        "helmcharts",
        api!("source.toolkit.fluxcd.io", "v1"),
        Switch::Spec,
        (|reader| reader.source_ref(), settled::helm_chart),
        // The whole spec: it is compared with what the release would write.
        &["spec", CONDITIONS, GENERATION, HANDLED, ARTIFACT, "status.observedSourceArtifactRevision"],
    ),
    row(
        Kind::HelmRelease,
        "HelmRelease",
        "helmreleases",
        api!("helm.toolkit.fluxcd.io", "v2"),
        Switch::Spec,
        (helm_release, settled::helm_release),
        &[
            SUSPEND,
            "spec.dependsOn",
            "spec.chart",
            "spec.chartRef",
            "spec.kubeConfig",
            "spec.waitStrategy",
            "spec.install.disableWait",
            "spec.upgrade.disableWait",
            CONDITIONS,
            GENERATION,
            HANDLED,
            "status.helmChart",
            "status.history",
            "status.inventory",
            "status.lastAttemptedGeneration",
        ],
    ),
    row(
        Kind::HelmRepository,
        "HelmRepository",
        "helmrepositories",
        api!("source.toolkit.fluxcd.io", "v1"),
        Switch::Spec,
        (no_needs, settled::helm_repository),
        &[SUSPEND, "spec.type", CONDITIONS, GENERATION, HANDLED, ARTIFACT],
    ),
    row(
        Kind::Kustomization,
        "Kustomization",
        "kustomizations",
        api!("kustomize.toolkit.fluxcd.io", "v1"),
        Switch::Spec,
        (kustomization, settled::kustomization),
        &[
            SUSPEND,
            "spec.dependsOn",
            "spec.sourceRef",
            "spec.kubeConfig",
            "spec.wait",
            "spec.healthChecks",
            CONDITIONS,
            GENERATION,
            HANDLED,
            "status.inventory",
            "status.lastAppliedRevision",
            "status.lastAttemptedRevision",
        ],
    ),
    row(
        Kind::OCIRepository,
        "OCIRepository",
        "ocirepositories",
        api!("source.toolkit.fluxcd.io", "v1"),
        Switch::Spec,
        (no_needs, settled::source),
        &[SUSPEND, CONDITIONS, GENERATION, HANDLED, ARTIFACT],
    ),
    KindRow {
        kind: Kind::Package,
        name: "Package",
        plural: "packages",
        group: "cozystack.io",
        versions: &["v1alpha1"],
        api_version: "cozystack.io/v1alpha1",
        namespaced: false,
        switch: Switch::None,
        needs: |reader| reader.package(),
        settled: settled::package,
        field_mask: &["spec.variant", "spec.ignoreDependencies", CONDITIONS, "status.dependencies"],
    },
    KindRow {
        kind: Kind::PackageSource,
        name: "PackageSource",
        plural: "packagesources",
        group: "cozystack.io",
        versions: &["v1alpha1"],
        api_version: "cozystack.io/v1alpha1",
        namespaced: false,
        switch: Switch::None,
        needs: |reader| reader.package_source(),
        settled: settled::package_source,
        field_mask: &["spec.sourceRef", "spec.variants", CONDITIONS],
    },
    row(
        Kind::ResourceSet,
        "ResourceSet",
        "resourcesets",
        api!("fluxcd.controlplane.io", "v1"),
        Switch::Annotation("fluxcd.controlplane.io/reconcile"),
        (resource_set, settled::resource_set),
        &["spec.dependsOn", "spec.wait", CONDITIONS, HANDLED, "status.inventory", "status.lastAppliedRevision"],
    ),
    row(
        Kind::Terraform,
        "Terraform",
        "terraforms",
        api!("infra.contrib.fluxcd.io", "v1alpha2", "v1alpha1"),
        Switch::Spec,
        (terraform, settled::terraform),
        &[
            SUSPEND,
            "spec.dependsOn",
            "spec.sourceRef",
            CONDITIONS,
            GENERATION,
            HANDLED,
            "status.lastAppliedRevision",
            "status.lastAttemptedRevision",
            "status.lastPlannedRevision",
            "status.plan.pending",
        ],
    ),
];

impl Kind {
    /// The row of this kind.
    #[must_use]
    pub fn row(self) -> &'static KindRow {
        #[allow(clippy::indexing_slicing, reason = "a test proves that the table stands in the order of the enum")]
        &KINDS[self as usize]
    }

    /// `kind` as manifests spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// `plural.group`, as RBAC messages name a resource.
    #[must_use]
    pub fn resource(self) -> String {
        let row = self.row();
        format!("{}.{}", row.plural, row.group)
    }

    /// The kind with this group and name, whatever the version; `None` if it is not one that Sluicegate judges.
    #[must_use]
    pub fn find(group: &str, name: &str) -> Option<Self> {
        KINDS.iter().find(|row| row.name == name && row.group == group).map(|row| row.kind)
    }

    /// As [`Kind::find`], by `apiVersion` (`group/version`).
    #[must_use]
    pub fn of(api_version: &str, name: &str) -> Option<Self> {
        let (group, _version) = api_version.split_once('/')?;
        Self::find(group, name)
    }

    /// The kind with this name among those that a reference may leave the group out for: all names are distinct.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        KINDS.iter().find(|row| row.name == name).map(|row| row.kind)
    }

    /// Whether objects of the kind offer an artifact to others.
    #[must_use]
    pub fn is_source(self) -> bool {
        matches!(
            self,
            Self::Bucket
                | Self::ExternalArtifact
                | Self::GitRepository
                | Self::HelmChart
                | Self::HelmRepository
                | Self::OCIRepository
        )
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_stands_in_the_order_of_the_enum_and_of_the_names() {
        for (index, row) in KINDS.iter().enumerate() {
            assert_eq!(row.kind as usize, index);
            assert_eq!(row.kind.row().name, row.name);
            assert_eq!(row.api_version, format!("{}/{}", row.group, row.versions[0]));
        }
        let names: Vec<_> = KINDS.iter().map(|row| row.name).collect();
        let mut sorted = names.clone();
        sorted.sort_unstable();
        assert_eq!(names, sorted);
    }

    #[test]
    fn no_mask_narrows_another() {
        for row in &KINDS {
            for mask in row.field_mask {
                for other in row.field_mask {
                    assert!(
                        !other.strip_prefix(mask).is_some_and(|rest| rest.starts_with('.')),
                        "{}: {mask} is narrowed by {other}",
                        row.name
                    );
                }
            }
        }
    }
}
