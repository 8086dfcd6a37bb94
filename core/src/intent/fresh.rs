//! An object as one read gave it, with what a write about it must test.

use crate::gate::switch_is_applied;
use crate::object::{Object, Reference, Unreadable};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;

/// Which object it was, and at which version: recreated under the same name, it has another UID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// `metadata.uid`
    pub uid: Box<str>,
    /// `metadata.resourceVersion`
    pub resource_version: Box<str>,
}

/// An object read from the API server, not from a watch, with all that an intent about it needs.
#[derive(Clone, Debug)]
pub struct Fresh {
    object: Object,
    identity: Identity,
    annotations: Option<BTreeMap<Box<str>, Box<str>>>,
    has_status: bool,
    /// Some Apply manager owns the suspend switch.
    applied_switch: bool,
    /// The managers that have written to the status.
    status_managers: Vec<Box<str>>,
    path_pattern: bool,
}

#[derive(Deserialize)]
struct Envelope {
    metadata: Option<Meta>,
    spec: Option<Outputs>,
    status: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta {
    uid: Option<Box<str>>,
    resource_version: Option<Box<str>>,
    annotations: Option<BTreeMap<Box<str>, Box<str>>>,
    managed_fields: Option<Vec<Managed>>,
}

#[derive(Deserialize)]
struct Managed {
    manager: Option<Box<str>>,
    subresource: Option<Box<str>>,
}

/// What an ArtifactGenerator says of its outputs, as far as it decides whether they can be counted.
#[derive(Deserialize)]
struct Outputs {
    artifacts: Option<serde_json::Value>,
}

impl Fresh {
    /// Reads what the API server answered to a read of `reference`.
    ///
    /// # Errors
    /// As [`Object::decode`], and where the object has no UID or resource version.
    pub fn read(reference: &Reference, json: &[u8]) -> Result<Self, Unreadable> {
        let object = Object::decode(reference.clone(), json)?;
        let envelope: Envelope = serde_json::from_slice(json).map_err(|error| Unreadable::locate(json, &error))?;
        let missing = |field: &str| Unreadable { field: field.into(), expected: "there".into() };
        let meta = envelope.metadata.ok_or_else(|| missing("metadata"))?;
        let identity = Identity {
            uid: meta.uid.ok_or_else(|| missing("metadata.uid"))?,
            resource_version: meta.resource_version.ok_or_else(|| missing("metadata.resourceVersion"))?,
        };
        let managed = meta.managed_fields.unwrap_or_default().into_iter();
        let status = managed.filter(|entry| entry.subresource.as_deref() == Some("status"));
        let outputs = envelope.spec.and_then(|spec| spec.artifacts);
        let mut listed = outputs.iter().filter_map(serde_json::Value::as_array).flatten();
        Ok(Self {
            applied_switch: switch_is_applied(object.reference.kind, json),
            identity,
            annotations: meta.annotations,
            has_status: envelope.status.is_some(),
            status_managers: status.filter_map(|entry| entry.manager).collect(),
            path_pattern: listed.any(|output| output.get("pathPattern").is_some()),
            object,
        })
    }

    /// The object.
    #[must_use]
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// What a write must test.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The value of an annotation.
    #[must_use]
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.annotations.as_ref()?.get(key).map(|value| &**value)
    }

    /// Whether some applier declares the suspend switch, so that it would write it again if it were removed.
    #[must_use]
    pub fn switch_is_applied(&self) -> bool {
        self.applied_switch
    }

    /// Whether a manager whose name satisfies this has written to the status.
    #[must_use]
    pub fn status_is_written_by(&self, is_meant: impl Fn(&str) -> bool) -> bool {
        self.status_managers.iter().any(|manager| is_meant(manager))
    }

    /// Whether an output of this generator is a pattern: then nobody knows beforehand how many artifacts it makes.
    #[must_use]
    pub fn has_path_pattern(&self) -> bool {
        self.path_pattern
    }

    pub(crate) fn has_annotations(&self) -> bool {
        self.annotations.is_some()
    }

    pub(crate) fn has_status(&self) -> bool {
        self.has_status
    }

    pub(crate) fn condition_index(&self, kind: &str) -> Option<usize> {
        self.object.status.conditions.as_ref()?.iter().position(|condition| condition.r#type.as_deref() == Some(kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{object, sample, set, with};
    use rstest::rstest;
    use serde_json::{Value, json};

    fn read(json: &Value) -> Result<Fresh, Unreadable> {
        Fresh::read(&object(json).reference, json.to_string().as_bytes())
    }

    #[rstest]
    #[case("/metadata/uid", "field metadata.uid is not there")]
    #[case("/metadata/resourceVersion", "field metadata.resourceVersion is not there")]
    fn an_object_without_identity_cannot_be_written(#[case] field: &str, #[case] said: &str) {
        let json = with(sample::kustomization("ns", "a"), &[(field, Value::Null)]);
        assert_eq!(read(&json).unwrap_err().to_string(), said);
    }

    #[test]
    fn another_object_is_none() {
        let json = sample::kustomization("ns", "a");
        let other = object(&sample::kustomization("ns", "b")).reference;
        assert!(Fresh::read(&other, json.to_string().as_bytes()).is_err());
    }

    #[rstest]
    #[case("Apply", "f:spec", "f:suspend", true)]
    #[case("Update", "f:spec", "f:suspend", false)]
    #[case("Apply", "f:spec", "f:wait", false)]
    fn tells_whether_an_applier_declares_the_switch(
        #[case] operation: &str,
        #[case] outer: &str,
        #[case] inner: &str,
        #[case] declared: bool,
    ) {
        let fields = json!({outer: {inner: {}}});
        let entry = json!({"manager": "x", "operation": operation, "fieldsType": "FieldsV1", "fieldsV1": fields});
        let mut json = sample::kustomization("ns", "a");
        set(&mut json, "/metadata/managedFields", json!([entry]));
        assert_eq!(read(&json).unwrap().switch_is_applied(), declared);
    }

    #[test]
    fn deep_values_elsewhere_do_no_harm() {
        let json = sample::helm_release("ns", "a").to_string();
        let deep = format!(r#""values":{}{},"interval""#, "[".repeat(9_000), "]".repeat(9_000));
        let json = json.replacen(r#""interval""#, &deep, 1);
        let reference = Reference::new(crate::object::Kind::HelmRelease, "ns", "a");
        assert!(Fresh::read(&reference, json.as_bytes()).is_ok());
    }
}
