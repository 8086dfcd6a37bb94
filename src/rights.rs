//! The rights that the companion and the policy need: one table, which `sluicegate rbac` prints and the companion checks
//! when it starts.

use sluicegate_core::object::{KINDS, Kind, Switch};

/// A right on a resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Right {
    /// The API group; empty for the core group.
    pub group: &'static str,
    /// The resource, plural, with the subresource after a slash.
    pub resource: String,
    /// The verbs.
    pub verbs: &'static [&'static str],
}

impl Right {
    fn new(group: &'static str, resource: impl Into<String>, verbs: &'static [&'static str]) -> Self {
        Self { group, resource: resource.into(), verbs }
    }
}

/// What the companion does to objects of a kind.
#[must_use]
pub fn of_kind(kind: Kind, package_sources: bool) -> Vec<Right> {
    let row = kind.row();
    let mut rights = Vec::new();
    if row.switch == Switch::None {
        rights.push(Right::new(row.group, row.plural, &["get", "list", "watch"]));
    } else {
        rights.push(Right::new(row.group, row.plural, &["get", "list", "patch", "watch"]));
        rights.push(Right::new(row.group, format!("{}/status", row.plural), &["patch"]));
    }
    if kind == Kind::PackageSource && package_sources {
        rights.push(Right::new(row.group, format!("{}/status", row.plural), &["patch"]));
    }
    rights
}

/// What the companion needs on the objects that it watches: all, or those in one namespace.
#[must_use]
pub fn companion(package_sources: bool, one_namespace: bool) -> Vec<Right> {
    let watched = KINDS.iter().filter(|row| row.namespaced || !one_namespace);
    let mut rights: Vec<Right> = watched.flat_map(|row| of_kind(row.kind, package_sources)).collect();
    rights.push(Right::new("events.k8s.io", "events", &["create"]));
    rights.sort();
    rights
}

/// What the companion needs in its own namespace.
#[must_use]
pub fn own() -> Vec<Right> {
    vec![Right::new("coordination.k8s.io", "leases", &["create", "get", "update"])]
}

/// What the policy server needs for the policy.
#[must_use]
pub fn policy() -> Vec<Right> {
    let mut rights: Vec<Right> = KINDS.iter().map(|row| Right::new(row.group, row.plural, &["get"])).collect();
    rights.push(Right::new("coordination.k8s.io", "leases", &["get"]));
    rights.push(Right::new("authorization.k8s.io", "subjectaccessreviews", &["create"]));
    rights.sort();
    rights
}
