//! The guest's verdict, and the admission response it becomes.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a request is denied with, as code 500, when the deadline struck.
pub const TIMEOUT_MESSAGE: &str = "Policy execution interrupted because it exceeded the allowed execution time";

/// What a denial starts with that the guest did not speak.
const INTERNAL: &str = "internal server error: ";

/// What the provider makes of a trap, behind [`INTERNAL`].
const TRAPPED: &str = "Guest call failure: error while executing at wasm backtrace:";

const MUTATES_NOTHING: &str = "Incoming object is null, which happens only with DELETE operations, but the policy is attempting a mutation. This is not allowed";

/// The response of one evaluation: what policy-server puts into the AdmissionReview, and `kwctl run` prints.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AdmissionResponse {
    /// The uid of the request.
    pub uid: String,
    /// Whether the request is admitted.
    pub allowed: bool,
    /// `JSONPatch` where there is a patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch_type: Option<String>,
    /// The base64 form of a JSON patch; never an empty one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    /// Message and code, where the policy gave one of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Annotations for the audit log; serialised as null when unset.
    pub audit_annotations: Option<BTreeMap<String, String>>,
    /// Warnings for the user; serialised as null when unset.
    pub warnings: Option<Vec<String>>,
}

/// Message and code of an [`AdmissionResponse`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// What the user reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// An HTTP status code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<u16>,
}

/// How a guest can fail to give a verdict: each is a denial with code 500.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GuestFailure {
    /// It broke off: a panic, an access out of bounds, no stack left
    Trap,
    /// Its time was up
    TimeOut,
    /// It said that it failed, or its answer cannot be read
    Error,
}

/// What the guest's `validate` returns. Only `accepted` is mandatory; unknown keys are ignored.
#[derive(Debug, Deserialize)]
struct ValidationResponse {
    accepted: bool,
    message: Option<String>,
    code: Option<u16>,
    mutated_object: Option<Value>,
    audit_annotations: Option<BTreeMap<String, String>>,
    warnings: Option<Vec<String>>,
}

impl AdmissionResponse {
    /// The message of the status, or an empty text.
    pub fn message(&self) -> &str {
        self.status.as_ref().and_then(|status| status.message.as_deref()).unwrap_or_default()
    }

    /// The code of the status.
    pub fn code(&self) -> Option<u16> {
        self.status.as_ref().and_then(|status| status.code)
    }

    /// How the guest failed, if this denial is no verdict of its own. Told by the text, which is all there is.
    pub fn guest_failure(&self) -> Option<GuestFailure> {
        if self.allowed || self.code() != Some(500) {
            return None;
        }
        if self.message() == TIMEOUT_MESSAGE {
            return Some(GuestFailure::TimeOut);
        }
        let text = self.message().strip_prefix(INTERNAL)?;
        Some(if text.starts_with(TRAPPED) { GuestFailure::Trap } else { GuestFailure::Error })
    }

    /// The warnings, none of them if unset.
    pub fn warnings(&self) -> &[String] {
        self.warnings.as_deref().unwrap_or_default()
    }

    /// The value of one audit annotation.
    pub fn audit_annotation(&self, key: &str) -> Option<&str> {
        self.audit_annotations.as_ref()?.get(key).map(String::as_str)
    }

    /// The patch as JSON: an array of operations. `None` if there is none, or if it is not readable, which this host
    /// never makes.
    pub fn patch(&self) -> Option<Value> {
        let bytes = STANDARD.decode(self.patch.as_ref()?).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// `object` with the patch applied: what would be stored. `None` if the patch does not fit the object.
    pub fn patched(&self, object: &Value) -> Option<Value> {
        let mut object = object.clone();
        if let Some(patch) = self.patch() {
            let patch: json_patch::Patch = serde_json::from_value(patch).ok()?;
            json_patch::patch(&mut object, &patch).ok()?;
        }
        Some(object)
    }

    pub(crate) fn reject(uid: &str, message: String, code: Option<u16>) -> Self {
        Self { uid: uid.to_owned(), status: Some(Status { message: Some(message), code }), ..Self::default() }
    }

    /// Upstream answers a trap, an error of the guest and an unreadable answer all alike: a denial, whatever the
    /// webhook's failurePolicy says.
    pub(crate) fn internal_error(uid: &str, text: &str) -> Self {
        Self::reject(uid, format!("{INTERNAL}{text}"), Some(500))
    }

    pub(crate) fn timed_out(uid: &str) -> Self {
        Self::reject(uid, TIMEOUT_MESSAGE.to_owned(), Some(500))
    }

    /// Maps the guest's answer, given the object of the request.
    pub(crate) fn from_guest(uid: &str, object: Option<&Value>, answer: &[u8]) -> Self {
        match serde_json::from_slice::<ValidationResponse>(answer) {
            Ok(verdict) => Self::from_verdict(uid, object, verdict),
            Err(error) => Self::internal_error(uid, &format!("invalid response from policy: {error}")),
        }
    }

    fn from_verdict(uid: &str, object: Option<&Value>, verdict: ValidationResponse) -> Self {
        let patch = match (verdict.mutated_object, object) {
            // Upstream drops code, warnings and annotations here too.
            (Some(_), None) => return Self::reject(uid, MUTATES_NOTHING.to_owned(), None),
            (Some(mutated), Some(object)) => match encode_patch(object, &mutated) {
                Ok(patch) => patch,
                Err(error) => return Self::internal_error(uid, &format!("invalid response format: {error}")),
            },
            (None, _) => None,
        };
        let status = (verdict.message.is_some() || verdict.code.is_some())
            .then_some(Status { message: verdict.message, code: verdict.code });
        Self {
            uid: uid.to_owned(),
            allowed: verdict.accepted,
            patch_type: patch.is_some().then(|| "JSONPatch".to_owned()),
            patch,
            status,
            audit_annotations: verdict.audit_annotations,
            warnings: verdict.warnings,
        }
    }

    /// Denies a mutation that the policy was not allowed to make; warnings and annotations stay.
    pub(crate) fn constrain_mutation(self, policy_id: &str, allowed_to_mutate: bool) -> Self {
        if allowed_to_mutate || self.patch.is_none() {
            return self;
        }
        let message = format!(
            "Request rejected by policy {policy_id}. The policy attempted to mutate the request, but it is currently configured to not allow mutations."
        );
        Self {
            allowed: false,
            patch: None,
            patch_type: None,
            status: Some(Status { message: Some(message), code: None }),
            ..self
        }
    }
}

fn encode_patch(object: &Value, mutated: &Value) -> Result<Option<String>, serde_json::Error> {
    let patch = json_patch::diff(object, mutated);
    if patch.0.is_empty() {
        return Ok(None);
    }
    Ok(Some(STANDARD.encode(serde_json::to_vec(&patch)?)))
}
