//! Who asks for what.

use super::Settings;
use crate::object::Kind;

/// The operations that are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A new object.
    Create,
    /// A change.
    Update,
}

impl Operation {
    /// The operation that an admission request calls so, if it is judged.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "CREATE" => Some(Self::Create),
            "UPDATE" => Some(Self::Update),
            _ => None,
        }
    }
}

/// An admission request for an object of a judged kind, as far as any decision reads it.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// Create or update.
    pub operation: Operation,
    /// The kind of the object.
    pub kind: Kind,
    /// The version it is written in.
    pub version: &'a str,
    /// The namespace of the request.
    pub namespace: Option<&'a str>,
    /// The name of the request; absent for `generateName`.
    pub name: Option<&'a str>,
    /// Who asks; empty in a background audit.
    pub user: &'a str,
    /// The groups of the user.
    pub groups: Vec<&'a str>,
    /// `options.fieldManager`
    pub manager: Option<&'a str>,
    /// Whether nothing will be stored.
    pub dry_run: bool,
    /// The object as JSON.
    pub object: &'a [u8],
    /// The stored object as JSON, on an update.
    pub old: Option<&'a [u8]>,
}

impl Request<'_> {
    /// The background audit sends stored objects as CREATE without a user (kubewarden audit-scanner 1.36).
    #[must_use]
    pub fn is_audit(&self) -> bool {
        self.operation == Operation::Create && self.old.is_none() && self.user.is_empty()
    }
}

/// Who asks, as far as the answer depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asker {
    /// Our own companion.
    Companion,
    /// Automation that applies a whole set and cannot heed a refusal.
    Applier,
    /// Everybody else: whoever sent the request reads the answer.
    Person,
}

impl Asker {
    /// Tells who asks by user, field manager and dry-run.
    #[must_use]
    pub fn of(request: &Request<'_>, settings: &Settings) -> Self {
        Self::by(request.user, request.manager, request.dry_run, settings)
    }

    /// As [`Asker::of`], from the parts.
    ///
    /// A dry-run under an applier's field manager counts as the applier's, whoever sends it: it is how people preview
    /// what the applier will meet (`flux diff`).
    #[must_use]
    pub fn by(user: &str, manager: Option<&str>, dry_run: bool, settings: &Settings) -> Self {
        if user == &*settings.companion {
            return Self::Companion;
        }
        let managed = manager.is_some_and(|manager| settings.appliers.iter().any(|applier| **applier == *manager));
        let account = user.starts_with("system:serviceaccount:");
        if settings.applier_users.iter().any(|applier| **applier == *user) || (managed && (account || dry_run)) {
            Self::Applier
        } else {
            Self::Person
        }
    }
}
