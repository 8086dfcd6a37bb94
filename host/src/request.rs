//! The request as the guest sees it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use thiserror::Error;

/// Why a text is no admission request. The texts are those of `kwctl run`.
#[derive(Debug, Error)]
pub enum RequestError {
    /// Not a JSON object at all.
    #[error("Invalid request object")]
    NotAnObject,
    /// `kind` says AdmissionReview, but there is no `request` in it.
    #[error("invalid AdmissionReview object")]
    NoRequest,
    /// A mandatory key is missing (uid, kind, resource, operation, userInfo), or a key has the wrong type.
    #[error("cannot build AdmissionRequest object from given input: {0}")]
    Invalid(#[source] serde_json::Error),
}

/// An admission request, normalised: only the keys the host knows, none of them null.
///
/// The guest never sees the bytes of the API server: the host decodes the request into this type and writes it again, so
/// unknown keys are lost and optional ones that are null are left out.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AdmissionRequest {
    /// Identifies the request; repeated in the answer.
    pub uid: String,
    kind: GroupVersionKind,
    resource: GroupVersionResource,
    #[serde(skip_serializing_if = "Option::is_none")]
    sub_resource: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_kind: Option<GroupVersionKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_resource: Option<GroupVersionResource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_sub_resource: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    operation: String,
    user_info: UserInfo,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    old_object: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dry_run: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<Value>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct GroupVersionKind {
    group: String,
    version: String,
    kind: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct GroupVersionResource {
    group: String,
    version: String,
    resource: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct UserInfo {
    #[serde(skip_serializing_if = "Option::is_none")]
    extra: Option<BTreeMap<String, Vec<String>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    username: Option<String>,
}

impl AdmissionRequest {
    /// Reads an AdmissionReview, or the bare request of one.
    ///
    /// # Errors
    /// See [`RequestError`].
    pub fn from_value(input: &Value) -> Result<Self, RequestError> {
        let object = input.as_object().ok_or(RequestError::NotAnObject)?;
        let request = if object.get("kind").and_then(Value::as_str) == Some("AdmissionReview") {
            object.get("request").ok_or(RequestError::NoRequest)?
        } else {
            input
        };
        Self::deserialize(request).map_err(RequestError::Invalid)
    }

    /// The kind that the request is about, in the version the webhook asked for.
    pub fn kind(&self) -> &str {
        &self.kind.kind
    }

    /// `CREATE`, `UPDATE`, `DELETE` or `CONNECT`.
    pub fn operation(&self) -> &str {
        &self.operation
    }

    /// Whether nothing would be stored anyway.
    pub fn is_dry_run(&self) -> bool {
        self.dry_run == Some(true)
    }

    /// What the request is about as `Kind/namespace/name`, with a `-` where a part is absent or not known yet.
    pub fn target(&self) -> String {
        let (namespace, name) = (self.namespace.as_deref(), self.name.as_deref());
        let or_dash = |part: Option<&str>| part.filter(|part| !part.is_empty()).unwrap_or("-").to_owned();
        format!("{}/{}/{}", self.kind(), or_dash(namespace), or_dash(name))
    }

    /// Name of the user who asks, empty where there is none, as in a background audit.
    pub fn user(&self) -> &str {
        self.user_info.username.as_deref().unwrap_or_default()
    }

    /// The object of the request, which a mutation is compared with; absent for a deletion.
    pub fn object(&self) -> Option<&Value> {
        self.object.as_ref()
    }

    /// The bytes that the guest's `validate` gets.
    ///
    /// # Errors
    /// None that JSON read from text can cause.
    pub fn payload(&self, settings: &Map<String, Value>) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(&json!({ "request": self, "settings": settings }))
    }
}
