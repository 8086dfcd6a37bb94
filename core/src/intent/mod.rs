//! What the companion wants to write, as data. Core makes intents, one place of the companion carries them out.
//!
//! An [`Intent`] is made from a [`Fresh`] read and begins with tests of that read's UID and resource version, so that a
//! write without a precondition cannot be expressed.

mod fresh;

pub use fresh::{Fresh, Identity};

use crate::object::{Condition, Reference};
use serde_json::{Value, json};

/// Which part of an object is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Metadata and spec.
    Main,
    /// The `status` subresource.
    Status,
}

/// What an intent is for; bounded, for logs and metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Purpose {
    /// Resumes a held object.
    Release,
    /// Says in the status of a held object that it is held, and by what.
    Publish,
    /// Takes that out again.
    Unpublish,
    /// Counts an attempt of recovery, before anything is done.
    Count,
    /// Makes a generator see drift.
    Lever,
    /// Wakes the controller.
    Request,
    /// Counts and wakes in one write.
    Refresh,
    /// Forgets the attempts after an honest verdict.
    Reset,
    /// Tells a PackageSource how its generator fares.
    Report,
}

impl Purpose {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Release,
        Self::Publish,
        Self::Unpublish,
        Self::Count,
        Self::Lever,
        Self::Request,
        Self::Refresh,
        Self::Reset,
        Self::Report,
    ];

    /// The name in logs and metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::Publish => "publish",
            Self::Unpublish => "unpublish",
            Self::Count => "count",
            Self::Lever => "lever",
            Self::Request => "request",
            Self::Refresh => "refresh",
            Self::Reset => "reset",
            Self::Report => "report",
        }
    }

    /// The part that such an intent writes.
    #[must_use]
    pub fn part(self) -> Part {
        match self {
            Self::Publish | Self::Unpublish | Self::Lever | Self::Report => Part::Status,
            _ => Part::Main,
        }
    }
}

/// One JSON patch of one object, with its preconditions.
#[derive(Clone, Debug, PartialEq)]
pub struct Intent {
    target: Reference,
    purpose: Purpose,
    operations: Vec<Value>,
}

impl Intent {
    /// Starts with the tests that every write carries.
    pub(crate) fn new(fresh: &Fresh, purpose: Purpose) -> Self {
        let mut intent = Self { target: fresh.object().reference.clone(), purpose, operations: Vec::new() };
        let identity = fresh.identity();
        intent.test("/metadata/uid", &*identity.uid);
        intent.test("/metadata/resourceVersion", &*identity.resource_version);
        intent
    }

    pub(crate) fn test(&mut self, path: &str, value: impl Into<Value>) {
        self.operations.push(json!({"op": "test", "path": path, "value": value.into()}));
    }

    /// Adds a field, or replaces it.
    pub(crate) fn set(&mut self, path: &str, value: impl Into<Value>) {
        self.operations.push(json!({"op": "add", "path": path, "value": value.into()}));
    }

    /// Removes a field, which must be there.
    pub(crate) fn remove(&mut self, path: &str) {
        self.operations.push(json!({"op": "remove", "path": path}));
    }

    /// Sets annotations, making the map where there is none.
    pub(crate) fn annotate(&mut self, fresh: &Fresh, annotations: &[(&str, &str)]) {
        if !fresh.has_annotations() {
            self.set("/metadata/annotations", json!({}));
        }
        for (key, value) in annotations {
            self.set(&annotation(key), *value);
        }
    }

    /// Sets a condition, leaving all others as they are.
    pub(crate) fn set_condition(&mut self, fresh: &Fresh, kind: &str, condition: Value) {
        match fresh.condition_index(kind) {
            Some(index) => {
                self.test(&format!("/status/conditions/{index}/type"), kind);
                self.set_at(index, condition);
            }
            None if fresh.object().status.conditions.is_some() => self.set("/status/conditions/-", condition),
            None if fresh.has_status() => self.set("/status/conditions", vec![condition]),
            None => self.set("/status", json!({"conditions": [condition]})),
        }
    }

    fn set_at(&mut self, index: usize, condition: Value) {
        // "add" would insert into the list.
        self.operations
            .push(json!({"op": "replace", "path": format!("/status/conditions/{index}"), "value": condition}));
    }

    /// Takes a condition out, if it is there.
    pub(crate) fn remove_condition(&mut self, fresh: &Fresh, kind: &str) {
        if let Some(index) = fresh.condition_index(kind) {
            self.test(&format!("/status/conditions/{index}/type"), kind);
            self.remove(&format!("/status/conditions/{index}"));
        }
    }

    /// The object to patch.
    #[must_use]
    pub fn target(&self) -> &Reference {
        &self.target
    }

    /// What for.
    #[must_use]
    pub fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// The body of the request, `application/json-patch+json`.
    #[must_use]
    pub fn body(&self) -> Value {
        Value::Array(self.operations.clone())
    }
}

/// The path of an annotation in a JSON patch.
pub(crate) fn annotation(key: &str) -> String {
    format!("/metadata/annotations/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// A status condition as JSON. `since` stays what it was where the status of the condition does not change.
pub(crate) fn condition(
    before: Option<&Condition>,
    kind: &str,
    (status, reason, message): (&str, &str, &str),
    generation: Option<i64>,
    now: &str,
) -> Value {
    let same = before.filter(|before| before.status.as_deref() == Some(status));
    let since = same.and_then(|before| before.last_transition_time.as_deref()).unwrap_or(now);
    let mut condition =
        json!({"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": since});
    if let (Some(generation), Some(fields)) = (generation, condition.as_object_mut()) {
        fields.insert("observedGeneration".to_owned(), generation.into());
    }
    condition
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sample;
    use rstest::rstest;

    #[test]
    fn every_intent_begins_with_its_preconditions() {
        let json = sample::kustomization("ns", "a");
        let fresh = Fresh::read(&crate::testing::reference(&json), json.to_string().as_bytes()).unwrap();
        for purpose in Purpose::ALL {
            let body = Intent::new(&fresh, purpose).body();
            assert_eq!(body[0], json!({"op": "test", "path": "/metadata/uid", "value": "0"}));
            assert_eq!(body[1], json!({"op": "test", "path": "/metadata/resourceVersion", "value": "1"}));
        }
    }

    #[rstest]
    #[case(json!({"conditions": [{"type": "A"}, {"type": "Ready"}]}), json!([
        {"op": "test", "path": "/status/conditions/1/type", "value": "Ready"},
        {"op": "replace", "path": "/status/conditions/1", "value": {"type": "Ready"}}
    ]))]
    #[case(json!({"conditions": [{"type": "A"}]}), json!([
        {"op": "add", "path": "/status/conditions/-", "value": {"type": "Ready"}}
    ]))]
    #[case(json!({"conditions": null}), json!([
        {"op": "add", "path": "/status/conditions", "value": [{"type": "Ready"}]}
    ]))]
    #[case(json!({}), json!([{"op": "add", "path": "/status/conditions", "value": [{"type": "Ready"}]}]))]
    #[case(json!(null), json!([{"op": "add", "path": "/status", "value": {"conditions": [{"type": "Ready"}]}}]))]
    fn a_condition_is_set_wherever_it_stands(#[case] status: Value, #[case] operations: Value) {
        let mut json = sample::kustomization("ns", "a");
        json["status"] = status;
        let fresh = Fresh::read(&crate::testing::reference(&json), json.to_string().as_bytes()).unwrap();
        let mut intent = Intent::new(&fresh, Purpose::Publish);
        intent.set_condition(&fresh, "Ready", json!({"type": "Ready"}));
        assert_eq!(intent.body().as_array().unwrap()[2..], *operations.as_array().unwrap());
    }

    #[test]
    fn keys_of_annotations_are_escaped() {
        assert_eq!(annotation("a.b/c~d"), "/metadata/annotations/a.b~1c~0d");
    }
}
