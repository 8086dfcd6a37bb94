//! From bytes to an object, or to a sentence that says which field cannot be read.

use super::locate::path_at;
use super::manifest::{Condition, Manifest, Metadata, Spec, Status, Stored};
use super::{Artifact, Kind, Owners, Reference, Switch};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::borrow::Borrow;
use std::fmt;

/// An object of a judged kind, with the fields that decisions read.
#[derive(Clone, Debug)]
pub struct Object {
    /// Which object it is.
    pub reference: Reference,
    /// `metadata`
    pub metadata: Metadata,
    /// `spec`
    pub spec: Spec,
    /// `status`
    pub status: Status,
}

/// Why an object cannot be read: the field, and what stands there instead of what is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The path of the field; empty where the object as a whole is meant.
    pub field: Box<str>,
    /// What was expected there, in our own words; never a piece of the object.
    pub expected: Box<str>,
}

impl Unreadable {
    fn new(field: &str, expected: &str) -> Self {
        Self { field: field.into(), expected: expected.into() }
    }

    /// Finds the field that an error of `serde_json` is about.
    #[must_use]
    pub fn locate(json: &[u8], error: &serde_json::Error) -> Self {
        if !error.is_data() {
            return Self::new("", "valid JSON");
        }
        let path = path_at(json, error.line(), error.column());
        // Serde says "invalid type: string \"…\", expected a boolean at line 1 column 7". The part after the last
        // "expected" is our own word for the type; what stands before it may quote the object.
        let text = error.to_string();
        if text.starts_with("duplicate field") {
            return Self::new(&path, "given only once");
        }
        let expected = text.rsplit_once("expected ").map_or("another type", |(_, tail)| tail);
        let expected = match expected.split(" at line ").next().unwrap_or(expected) {
            "i64" => "a whole number",
            "a sequence" => "a list",
            "a map" => "an object",
            text if text.starts_with("struct ") => "an object",
            text => text,
        };
        Self::new(&path, expected)
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let expected = crate::text::clean(&self.expected, 60);
        if self.field.is_empty() {
            write!(f, "it is not {expected}")
        } else {
            write!(f, "field {} is not {expected}", crate::text::clean(&self.field, 80))
        }
    }
}

fn decode<'de, T: Deserialize<'de>>(json: &'de [u8]) -> Result<Manifest<T>, Unreadable> {
    serde_json::from_slice(json).map_err(|error| Unreadable::locate(json, &error))
}

impl Object {
    /// Reads the object that `reference` asked for.
    ///
    /// # Errors
    /// Where a field that decisions read has a wrong type, where the bytes are no JSON object, and where the object is
    /// not the one that was asked for.
    pub fn decode(reference: impl Borrow<Reference>, json: &[u8]) -> Result<Self, Unreadable> {
        let reference = reference.borrow();
        let object = Self::from_stored(reference.kind, decode(json)?);
        if object.reference != *reference {
            return Err(Unreadable::new("metadata.name", "the name that was asked for"));
        }
        Ok(object)
    }

    /// Reads the object of a request, which may have no name yet (`generateName`).
    ///
    /// `namespace` and `name` are those of the request, and serve where the object leaves its own out.
    ///
    /// # Errors
    /// Where a field that decisions read has a wrong type, and where the bytes are no JSON object.
    pub fn of_request(
        kind: Kind,
        namespace: Option<&str>,
        name: Option<&str>,
        json: &[u8],
    ) -> Result<Self, Unreadable> {
        Ok(Self::filled(kind, namespace, name, decode(json)?))
    }

    /// As [`Object::of_request`], with the status left out: the API server drops what a request says of it, so one that
    /// cannot be read must not keep the rest from being judged.
    ///
    /// # Errors
    /// As [`Object::of_request`].
    pub fn proposed(kind: Kind, namespace: Option<&str>, name: Option<&str>, json: &[u8]) -> Result<Self, Unreadable> {
        let Manifest { metadata, spec, status: _ } = decode::<IgnoredAny>(json)?;
        Ok(Self::filled(kind, namespace, name, Stored { metadata, spec, status: None }))
    }

    fn filled(kind: Kind, namespace: Option<&str>, name: Option<&str>, mut stored: Stored) -> Self {
        let metadata = stored.metadata.get_or_insert_default();
        let fill = |own: &mut Option<Box<str>>, other: Option<&str>| {
            if own.as_deref().is_none_or(str::is_empty) {
                *own = other.filter(|text| !text.is_empty()).map(Into::into);
            }
        };
        fill(&mut metadata.namespace, namespace);
        fill(&mut metadata.name, name);
        Self::from_stored(kind, stored)
    }

    fn from_stored(kind: Kind, stored: Stored) -> Self {
        let mut metadata = stored.metadata.unwrap_or_default();
        // Moved, not copied: every object that is read comes through here.
        let namespace = metadata.namespace.take().filter(|_| kind.row().namespaced);
        let name = metadata.name.take().unwrap_or_default();
        let reference = Reference { kind, namespace: namespace.unwrap_or_default(), name };
        Self { reference, metadata, spec: stored.spec.unwrap_or_default(), status: stored.status.unwrap_or_default() }
    }

    /// Whether the object has a name by which others could need it.
    #[must_use]
    pub fn is_named(&self) -> bool {
        !self.reference.name.is_empty()
    }

    /// Whether the object is being deleted.
    #[must_use]
    pub fn is_deleting(&self) -> bool {
        self.metadata.deletion_timestamp.is_some()
    }

    /// The effective suspend switch of the kind.
    #[must_use]
    pub fn is_suspended(&self) -> bool {
        match self.reference.kind.row().switch {
            Switch::Spec => self.spec.suspend.unwrap_or(false),
            Switch::Annotation(_) => self.switch_annotation().is_some_and(is_disabled),
            Switch::None => false,
        }
    }

    /// The value of the annotation by which the kind is suspended; `None` for kinds that use none.
    #[must_use]
    pub fn switch_annotation(&self) -> Option<&str> {
        let annotations = self.metadata.annotations.as_ref()?;
        match self.reference.kind {
            Kind::ArtifactGenerator => annotations.generator_reconcile.as_deref(),
            Kind::ResourceSet => annotations.resourceset_reconcile.as_deref(),
            _ => None,
        }
    }

    /// The owners that the labels name.
    #[must_use]
    pub fn owners(&self) -> Owners {
        self.metadata.labels.as_ref().map(Owners::of).unwrap_or_default()
    }

    /// The condition of this type.
    #[must_use]
    pub fn condition(&self, name: &str) -> Option<&Condition> {
        self.status.conditions.as_ref()?.iter().find(|condition| condition.r#type.as_deref() == Some(name))
    }

    /// The artifact, if it has a revision.
    #[must_use]
    pub fn artifact(&self) -> Option<&Artifact> {
        self.status.artifact.as_ref().filter(|artifact| artifact.revision.is_some())
    }

    /// The revision of the artifact.
    #[must_use]
    pub fn revision(&self) -> Option<&str> {
        self.artifact()?.revision.as_deref()
    }
}

/// Whether the value of a switch annotation suspends: lower-cased it is `disabled`
/// (source-watcher 2.2.1, flux-operator 0.58.1).
#[must_use]
pub fn is_disabled(value: &str) -> bool {
    value.eq_ignore_ascii_case("disabled")
}

impl Condition {
    /// Whether the status is `True`.
    #[must_use]
    pub fn is_true(&self) -> bool {
        self.status.as_deref() == Some("True")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn read(json: &str) -> Result<Object, Unreadable> {
        Object::of_request(Kind::Kustomization, Some("ns"), Some("a"), json.as_bytes())
    }

    #[rstest]
    #[case(r#"{"spec":{"suspend":"yes"}}"#, "field spec.suspend is not a boolean")]
    #[case(r#"{"spec":{"dependsOn":{}}}"#, "field spec.dependsOn is not a list")]
    #[case(r#"{"spec":{"dependsOn":[{"name":"b"},{"name":3}]}}"#, "field spec.dependsOn[1].name is not a string")]
    #[case(r#"{"spec":{"sourceRef":"x"}}"#, "field spec.sourceRef is not an object")]
    #[case(r#"{"metadata":{"generation":1e40}}"#, "field metadata.generation is not a whole number")]
    #[case(
        r#"{"status":{"conditions":[{"type":"Ready","observedGeneration":"4"}]}}"#,
        "field status.conditions[0].observedGeneration is not a whole number"
    )]
    #[case(r#"{"status":{"inventory":7}}"#, "field status.inventory is not an inventory")]
    #[case(
        r#"{"metadata":{"annotations":{"sluicegate.dev/held":1}}}"#,
        "field metadata.annotations.sluicegate.dev/held is not a string"
    )]
    #[case(r#"{"spec":{"suspend":true,"suspend":false}}"#, "field spec.suspend is not given only once")]
    #[case(r#"{"spec":"#, "it is not valid JSON")]
    #[case("[]", "it is not an object")]
    #[case("garbage", "it is not valid JSON")]
    fn names_the_field_and_never_quotes_the_object(#[case] json: &str, #[case] said: &str) {
        assert_eq!(read(json).unwrap_err().to_string(), said);
    }

    #[rstest]
    #[case(r#"{"spec":null,"status":null,"metadata":null}"#)]
    #[case(r#"{}"#)]
    #[case(r#"{"spec":{"suspend":null,"dependsOn":null,"chart":null,"kubeConfig":null},"metadata":{"labels":null}}"#)]
    #[case(r#"{"spec":{"unknown":[[[{"a":1e400}]]]},"metadata":{"labels":{"x":3}}}"#)]
    fn null_absent_and_unknown_are_no_error(#[case] json: &str) {
        let object = read(json).unwrap();
        assert_eq!(object.reference.to_string(), "Kustomization/ns/a");
        assert!(!object.is_suspended());
    }

    #[test]
    fn nesting_in_a_field_that_is_not_read_is_no_error_however_deep() {
        let deep = format!(r#"{{"spec":{{"values":{}{},"suspend":true}}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert!(read(&deep).unwrap().is_suspended());
    }

    #[rstest]
    #[case(Kind::ArtifactGenerator, "source.extensions.fluxcd.io/reconcile", "Disabled", true)]
    #[case(Kind::ArtifactGenerator, "source.extensions.fluxcd.io/reconcile", "enabled", false)]
    #[case(Kind::ArtifactGenerator, "fluxcd.controlplane.io/reconcile", "disabled", false)]
    #[case(Kind::ResourceSet, "fluxcd.controlplane.io/reconcile", "disabled", true)]
    #[case(Kind::Kustomization, "fluxcd.controlplane.io/reconcile", "disabled", false)]
    fn annotations_suspend_the_kinds_that_use_them(
        #[case] kind: Kind,
        #[case] key: &str,
        #[case] value: &str,
        #[case] suspended: bool,
    ) {
        let json = format!(r#"{{"metadata":{{"annotations":{{"{key}":"{value}"}}}}}}"#);
        assert_eq!(Object::of_request(kind, None, None, json.as_bytes()).unwrap().is_suspended(), suspended);
    }
}
