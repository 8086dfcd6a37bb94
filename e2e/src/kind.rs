//! The kinds that the tests speak of, and how to name one object.

use std::fmt;

/// A kind as the API server serves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// Its group; empty for the core.
    pub group: &'static str,
    /// Its version.
    pub version: &'static str,
    /// Its name in paths.
    pub plural: &'static str,
    /// Whether its objects stand in namespaces.
    pub namespaced: bool,
}

macro_rules! kinds {
    ($($constant:ident $name:literal $group:literal $version:literal $plural:literal $namespaced:literal)*) => {
        $(
            #[doc = $name]
            pub const $constant: Kind = Kind {
                name: $name,
                group: $group,
                version: $version,
                plural: $plural,
                namespaced: $namespaced,
            };
        )*
        /// All of them.
        pub const ALL: &[Kind] = &[$($constant),*];
    };
}

kinds! {
    NAMESPACE "Namespace" "" "v1" "namespaces" false
    CONFIG_MAP "ConfigMap" "" "v1" "configmaps" true
    EVENT "Event" "" "v1" "events" true
    LEASE "Lease" "coordination.k8s.io" "v1" "leases" true
    ROLE "Role" "rbac.authorization.k8s.io" "v1" "roles" true
    ROLE_BINDING "RoleBinding" "rbac.authorization.k8s.io" "v1" "rolebindings" true
    CLUSTER_ROLE "ClusterRole" "rbac.authorization.k8s.io" "v1" "clusterroles" false
    CLUSTER_ROLE_BINDING "ClusterRoleBinding" "rbac.authorization.k8s.io" "v1" "clusterrolebindings" false
    CUSTOM_RESOURCE_DEFINITION "CustomResourceDefinition" "apiextensions.k8s.io" "v1" "customresourcedefinitions" false
    MUTATING_WEBHOOK "MutatingWebhookConfiguration" "admissionregistration.k8s.io" "v1" "mutatingwebhookconfigurations" false
    VALIDATING_WEBHOOK "ValidatingWebhookConfiguration" "admissionregistration.k8s.io" "v1" "validatingwebhookconfigurations" false
    KUSTOMIZATION "Kustomization" "kustomize.toolkit.fluxcd.io" "v1" "kustomizations" true
    HELM_RELEASE "HelmRelease" "helm.toolkit.fluxcd.io" "v2" "helmreleases" true
    HELM_CHART "HelmChart" "source.toolkit.fluxcd.io" "v1" "helmcharts" true
    GIT_REPOSITORY "GitRepository" "source.toolkit.fluxcd.io" "v1" "gitrepositories" true
    OCI_REPOSITORY "OCIRepository" "source.toolkit.fluxcd.io" "v1" "ocirepositories" true
    BUCKET "Bucket" "source.toolkit.fluxcd.io" "v1" "buckets" true
    HELM_REPOSITORY "HelmRepository" "source.toolkit.fluxcd.io" "v1" "helmrepositories" true
    EXTERNAL_ARTIFACT "ExternalArtifact" "source.toolkit.fluxcd.io" "v1" "externalartifacts" true
    ARTIFACT_GENERATOR "ArtifactGenerator" "source.extensions.fluxcd.io" "v1beta1" "artifactgenerators" true
    RESOURCE_SET "ResourceSet" "fluxcd.controlplane.io" "v1" "resourcesets" true
    TERRAFORM "Terraform" "infra.contrib.fluxcd.io" "v1alpha2" "terraforms" true
    PACKAGE "Package" "cozystack.io" "v1alpha1" "packages" false
    PACKAGE_SOURCE "PackageSource" "cozystack.io" "v1alpha1" "packagesources" false
}

impl Kind {
    /// `GROUP/VERSION`, as manifests write it.
    #[must_use]
    pub fn api_version(self) -> String {
        if self.group.is_empty() { self.version.to_owned() } else { format!("{}/{}", self.group, self.version) }
    }

    /// The kind of a manifest.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        ALL.iter().copied().find(|kind| kind.name == name)
    }

    /// The path of all its objects, in `namespace` where it has one.
    #[must_use]
    pub fn path(self, namespace: &str) -> String {
        let base = if self.group.is_empty() { "/api".to_owned() } else { format!("/apis/{}", self.group) };
        if self.namespaced {
            format!("{base}/{}/namespaces/{namespace}/{}", self.version, self.plural)
        } else {
            format!("{base}/{}/{}", self.version, self.plural)
        }
    }

    /// The path of all its objects, in all namespaces.
    #[must_use]
    pub fn path_everywhere(self) -> String {
        Self { namespaced: false, ..self }.path("")
    }

    /// One object of this kind.
    #[must_use]
    pub fn at(self, namespace: &str, name: &str) -> Object {
        Object { kind: self, namespace: namespace.to_owned(), name: name.to_owned() }
    }
}

/// Which object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Object {
    /// Its kind.
    pub kind: Kind,
    /// Its namespace; empty where the kind has none.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl Object {
    /// Its path.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{}/{}", self.kind.path(&self.namespace), self.name)
    }
}

impl fmt::Display for Object {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kind.namespaced {
            write!(formatter, "{}/{}/{}", self.kind.name, self.namespace, self.name)
        } else {
            write!(formatter, "{}/{}", self.kind.name, self.name)
        }
    }
}

/// Kustomization `NAMESPACE/NAME`.
#[must_use]
pub fn kustomization(namespace: &str, name: &str) -> Object {
    KUSTOMIZATION.at(namespace, name)
}

/// HelmRelease `NAMESPACE/NAME`.
#[must_use]
pub fn helm_release(namespace: &str, name: &str) -> Object {
    HELM_RELEASE.at(namespace, name)
}

/// GitRepository `NAMESPACE/NAME`.
#[must_use]
pub fn git_repository(namespace: &str, name: &str) -> Object {
    GIT_REPOSITORY.at(namespace, name)
}
