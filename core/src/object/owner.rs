//! Who applied an object, as far as its labels tell. Labels survive hand-over and can be forged: they are a hint of
//! where a wait may come from, never a proof.

use super::{Kind, Labels, Reference};

/// How the objects of an owner reach the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// One by one in a known order: kustomize-controller, and flux-operator for a ResourceSet.
    Sorted,
    /// In an order that only the chart knows: helm-controller.
    Helm,
}

/// An object that applied another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner(pub Reference);

impl Owner {
    /// How this owner applies.
    #[must_use]
    pub fn applied(&self) -> Applied {
        if self.0.kind == Kind::HelmRelease { Applied::Helm } else { Applied::Sorted }
    }
}

/// The owners that the labels of an object name: at most one of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owners(pub Vec<Owner>);

impl Owners {
    /// Reads the owner labels. A pair of which one half is missing names nobody.
    #[must_use]
    pub fn of<S: AsRef<str>>(labels: &Labels<S>) -> Self {
        let pairs = [
            (Kind::Kustomization, &labels.kustomize_namespace, &labels.kustomize_name),
            (Kind::HelmRelease, &labels.helm_namespace, &labels.helm_name),
            (Kind::ResourceSet, &labels.resourceset_namespace, &labels.resourceset_name),
        ];
        let named = pairs.into_iter().filter_map(|(kind, namespace, name)| {
            let (namespace, name) = (namespace.as_ref()?.as_ref(), name.as_ref()?.as_ref());
            (!name.is_empty()).then(|| Owner(Reference::new(kind, namespace, name)))
        });
        Self(named.collect())
    }

    /// The owners that are in both.
    pub fn shared<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = &'a Owner> {
        self.0.iter().filter(|owner| other.0.contains(owner))
    }

    /// The owner of this kind.
    #[must_use]
    pub fn of_kind(&self, kind: Kind) -> Option<&Reference> {
        self.0.iter().map(|owner| &owner.0).find(|owner| owner.kind == kind)
    }
}
