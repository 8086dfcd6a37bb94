//! The webhook configuration of a policy.

use std::ops::RangeInclusive;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Serialize;
use thiserror::Error;

use crate::module::{Metadata, Rule};

/// The API server refuses other time-outs.
const TIMEOUT_SECONDS: RangeInclusive<u8> = 1..=30;

/// Conditions under which a request is sent. An object that is being deleted is in nobody's way.
const NOT_BEING_DELETED: &str = "object == null || !has(object.metadata.deletionTimestamp)";

/// Something changes that the policy judges, or the old object has a mark, which the policy minds. A creation has no old
/// object, a deletion no new one.
const CHANGES: &str = "object == null || oldObject == null \
|| 'sluicegate.dev/held' in oldObject.metadata.?annotations.orValue({}) \
|| object.?spec.orValue({}) != oldObject.?spec.orValue({}) \
|| object.metadata.?labels.orValue({}) != oldObject.metadata.?labels.orValue({}) \
|| object.metadata.?annotations.orValue({}) != oldObject.metadata.?annotations.orValue({})";

/// Which phase of admission asks the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// It may change the object
    Mutating,
    /// It sees the final object
    Validating,
}

/// What becomes of a request when the webhook does not answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub enum FailurePolicy {
    /// It is admitted
    #[default]
    Ignore,
    /// It is refused
    Fail,
}

/// Why a configuration cannot be made.
#[derive(Debug, Error)]
pub enum WebhookError {
    /// Without rules it would never be asked.
    #[error("the policy's metadata has no rules")]
    NoRules,
    /// Its changes would not be accepted.
    #[error("the policy's metadata says that it does not mutate")]
    NotMutating,
    /// The API server's bounds.
    #[error("a webhook's time-out is 1 to 30 seconds, not {0}")]
    Timeout(u8),
    /// The API server wants `https`.
    #[error("a webhook's URL begins with https://, unlike {0}")]
    Url(String),
    /// The API server wants a DNS name.
    #[error("a webhook's name is lower-case letters, digits, '-' and '.', unlike {0}")]
    Name(String),
    /// No certificate in it.
    #[error("the CA is no PEM certificate")]
    Ca,
    /// It cannot be written.
    #[error("cannot write the configuration: {0}")]
    Yaml(#[from] yaml_serde::Error),
}

/// A webhook to be configured.
#[derive(Debug, Clone)]
pub struct Webhook<'a> {
    /// Name of the configuration, and first part of the name of the webhook in it
    pub name: &'a str,
    /// Where the policy is served: what `serve` prints
    pub url: &'a str,
    /// PEM certificates that the server's is checked with
    pub ca: &'a [u8],
    /// Which phase of admission asks
    pub phase: Phase,
    /// What becomes of a request without an answer
    pub failure_policy: FailurePolicy,
    /// How long the API server waits
    pub timeout_seconds: u8,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Configuration<'a> {
    api_version: &'static str,
    kind: &'static str,
    metadata: Named<'a>,
    webhooks: [Entry<'a>; 1],
}

#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    name: String,
    admission_review_versions: [&'static str; 1],
    client_config: ClientConfig<'a>,
    failure_policy: FailurePolicy,
    match_conditions: [Condition; 2],
    match_policy: &'static str,
    rules: &'a [Rule],
    side_effects: &'static str,
    timeout_seconds: u8,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ClientConfig<'a> {
    ca_bundle: String,
    url: &'a str,
}

#[derive(Serialize)]
struct Condition {
    name: &'static str,
    expression: &'static str,
}

impl Webhook<'_> {
    /// The configuration as YAML: the rules are those of the metadata, and match conditions keep away what can be judged
    /// without the policy. Needs Kubernetes 1.30.
    ///
    /// # Errors
    /// See [`WebhookError`].
    pub fn manifest(&self, metadata: &Metadata) -> Result<String, WebhookError> {
        self.check(metadata)?;
        let configuration = Configuration {
            api_version: "admissionregistration.k8s.io/v1",
            kind: self.phase.kind(),
            metadata: Named { name: self.name },
            webhooks: [Entry {
                name: format!("{}.sluicegate.dev", self.name),
                admission_review_versions: ["v1"],
                client_config: ClientConfig { ca_bundle: STANDARD.encode(self.ca), url: self.url },
                failure_policy: self.failure_policy,
                match_conditions: match_conditions().map(|(name, expression)| Condition { name, expression }),
                match_policy: "Equivalent",
                rules: &metadata.rules,
                side_effects: "None",
                timeout_seconds: self.timeout_seconds,
            }],
        };
        Ok(yaml_serde::to_string(&configuration)?)
    }

    fn check(&self, metadata: &Metadata) -> Result<(), WebhookError> {
        let name_character =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'.';
        if metadata.rules.is_empty() {
            Err(WebhookError::NoRules)
        } else if self.phase == Phase::Mutating && !metadata.mutating {
            Err(WebhookError::NotMutating)
        } else if !TIMEOUT_SECONDS.contains(&self.timeout_seconds) {
            Err(WebhookError::Timeout(self.timeout_seconds))
        } else if !self.url.starts_with("https://") {
            Err(WebhookError::Url(self.url.to_owned()))
        } else if self.name.is_empty() || !self.name.bytes().all(name_character) {
            Err(WebhookError::Name(self.name.to_owned()))
        } else if !self.ca.windows(PEM_CERTIFICATE.len()).any(|window| window == PEM_CERTIFICATE) {
            Err(WebhookError::Ca)
        } else {
            Ok(())
        }
    }
}

const PEM_CERTIFICATE: &[u8] = b"-----BEGIN CERTIFICATE-----";

impl Phase {
    fn kind(self) -> &'static str {
        match self {
            Self::Mutating => "MutatingWebhookConfiguration",
            Self::Validating => "ValidatingWebhookConfiguration",
        }
    }
}

/// What is sent to the policy: each condition's name, and its expression in the CEL of Kubernetes 1.30.
pub fn match_conditions() -> [(&'static str, &'static str); 2] {
    [("not-being-deleted", NOT_BEING_DELETED), ("changes-what-is-judged", CHANGES)]
}
