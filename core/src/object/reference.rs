//! `Kind/namespace/name`: how an object is referred to everywhere.

use super::Kind;
use crate::text::clean;
use std::fmt;

/// The identity of an object that Sluicegate judges.
///
/// Its [`Display`](fmt::Display) is `Kind/namespace/name` (`Kind/name` for kinds without namespaces), escaped and
/// bounded: safe in any message. The order is the stable order of the design: kind, namespace, name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reference {
    /// The kind.
    pub kind: Kind,
    /// The namespace; empty for kinds that have none, or where a reference leaves out what it must say.
    pub namespace: Box<str>,
    /// The name.
    pub name: Box<str>,
}

impl Reference {
    /// A reference; the namespace is dropped for kinds without namespaces.
    #[must_use]
    pub fn new(kind: Kind, namespace: &str, name: &str) -> Self {
        let namespace = if kind.row().namespaced { namespace } else { "" };
        Self { kind, namespace: namespace.into(), name: name.into() }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/", self.kind)?;
        if self.kind.row().namespaced {
            write!(f, "{}/", clean(&self.namespace, 63))?;
        }
        // 253 is the longest name Kubernetes stores.
        write!(f, "{}", clean(&self.name, 253))
    }
}
