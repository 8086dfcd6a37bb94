//! Host calls: what a guest may ask, and the record of what it asked.

use std::{collections::BTreeSet, fmt, time::Duration};

use serde::{Deserialize, Serialize};

/// A call to the Kubernetes capability, decoded.
///
/// Names, order and Debug form of variants and fields are upstream's: session files use them as tags, and the text of a
/// replay error quotes them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum HostRequest {
    /// `list_resources_by_namespace`
    KubernetesListResourceNamespace {
        /// `v1` for the core group, else `group/version`
        api_version: String,
        /// Singular, PascalCase
        kind: String,
        /// The namespace to list
        namespace: String,
        /// Selects by label
        label_selector: Option<String>,
        /// Selects by field
        field_selector: Option<String>,
        /// Dotted paths of what is wanted; none of them means everything
        field_masks: Option<BTreeSet<String>>,
    },
    /// `list_resources_all`
    KubernetesListResourceAll {
        /// `v1` for the core group, else `group/version`
        api_version: String,
        /// Singular, PascalCase
        kind: String,
        /// Selects by label
        label_selector: Option<String>,
        /// Selects by field
        field_selector: Option<String>,
        /// Dotted paths of what is wanted; none of them means everything
        field_masks: Option<BTreeSet<String>>,
    },
    /// `get_resource`
    KubernetesGetResource {
        /// `v1` for the core group, else `group/version`
        api_version: String,
        /// Singular, PascalCase
        kind: String,
        /// Name of the object
        name: String,
        /// Its namespace, if its kind has one
        namespace: Option<String>,
        /// Whether the host's cache of five seconds is passed by. This host has none.
        disable_cache: bool,
        /// Dotted paths of what is wanted; none of them means everything
        field_masks: Option<BTreeSet<String>>,
    },
    /// `can_i`
    KubernetesCanI {
        /// The question
        request: SubjectAccessReview,
        /// Whether the host's cache of five seconds is passed by. This host has none.
        disable_cache: bool,
    },
}

/// Whether somebody may do something.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubjectAccessReview {
    /// Groups of the user
    pub groups: Option<Vec<String>>,
    /// What they would do
    pub resource_attributes: ResourceAttributes,
    /// Name of the user
    pub user: String,
}

/// A verb on a resource.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceAttributes {
    /// API group
    pub group: Option<String>,
    /// Name of the object; absent or empty means all
    pub name: Option<String>,
    /// Namespace; absent or empty means all of them
    pub namespace: Option<String>,
    /// Plural, lower case
    pub resource: String,
    /// Subresource
    pub subresource: Option<String>,
    /// `get`, `list`, `bypass`, …
    pub verb: String,
    /// API version
    pub version: Option<String>,
}

#[derive(Deserialize)]
struct Get {
    api_version: String,
    kind: String,
    name: String,
    namespace: Option<String>,
    disable_cache: bool,
    field_masks: Option<BTreeSet<String>>,
}

#[derive(Deserialize)]
struct ListAll {
    api_version: String,
    kind: String,
    label_selector: Option<String>,
    field_selector: Option<String>,
    field_masks: Option<BTreeSet<String>>,
}

#[derive(Deserialize)]
struct ListNamespace {
    api_version: String,
    kind: String,
    namespace: String,
    label_selector: Option<String>,
    field_selector: Option<String>,
    field_masks: Option<BTreeSet<String>>,
}

#[derive(Deserialize)]
struct CanI {
    subject_access_review: SubjectAccessReview,
    disable_cache: bool,
}

impl HostRequest {
    /// Decodes the payload of an operation of the `kubernetes` namespace; `None` for an unknown operation.
    pub(crate) fn decode(operation: &str, payload: &[u8]) -> Option<Result<Self, serde_json::Error>> {
        Some(match operation {
            "get_resource" => serde_json::from_slice(payload).map(|get: Get| Self::KubernetesGetResource {
                api_version: get.api_version,
                kind: get.kind,
                name: get.name,
                namespace: get.namespace,
                disable_cache: get.disable_cache,
                field_masks: get.field_masks,
            }),
            "list_resources_all" => {
                serde_json::from_slice(payload).map(|list: ListAll| Self::KubernetesListResourceAll {
                    api_version: list.api_version,
                    kind: list.kind,
                    label_selector: list.label_selector,
                    field_selector: list.field_selector,
                    field_masks: list.field_masks,
                })
            }
            "list_resources_by_namespace" => {
                serde_json::from_slice(payload).map(|list: ListNamespace| Self::KubernetesListResourceNamespace {
                    api_version: list.api_version,
                    kind: list.kind,
                    namespace: list.namespace,
                    label_selector: list.label_selector,
                    field_selector: list.field_selector,
                    field_masks: list.field_masks,
                })
            }
            "can_i" => serde_json::from_slice(payload).map(|can: CanI| Self::KubernetesCanI {
                request: can.subject_access_review,
                disable_cache: can.disable_cache,
            }),
            _ => return None,
        })
    }

    /// apiVersion and kind of what is read; `None` for `can_i`.
    pub fn resource(&self) -> Option<(&str, &str)> {
        match self {
            Self::KubernetesListResourceNamespace { api_version, kind, .. }
            | Self::KubernetesListResourceAll { api_version, kind, .. }
            | Self::KubernetesGetResource { api_version, kind, .. } => Some((api_version, kind)),
            Self::KubernetesCanI { .. } => None,
        }
    }

    /// Namespace of what is read, or asked about.
    pub fn namespace(&self) -> Option<&str> {
        match self {
            Self::KubernetesListResourceNamespace { namespace, .. } => Some(namespace),
            Self::KubernetesListResourceAll { .. } => None,
            Self::KubernetesGetResource { namespace, .. } => namespace.as_deref(),
            Self::KubernetesCanI { request, .. } => request.resource_attributes.namespace.as_deref(),
        }
    }

    /// Name of what is read, or asked about.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::KubernetesGetResource { name, .. } => Some(name),
            Self::KubernetesCanI { request, .. } => request.resource_attributes.name.as_deref(),
            _ => None,
        }
    }

    /// The field masks, if any were sent.
    pub fn field_masks(&self) -> Option<&BTreeSet<String>> {
        match self {
            Self::KubernetesListResourceNamespace { field_masks, .. }
            | Self::KubernetesListResourceAll { field_masks, .. }
            | Self::KubernetesGetResource { field_masks, .. } => field_masks.as_ref(),
            Self::KubernetesCanI { .. } => None,
        }
    }
}

/// Why a call could not be answered.
///
/// Displayed, it is the first line alone, which is what a recorded session keeps; the guest gets the causes too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    message: String,
    cause: Option<String>,
}

impl Failure {
    /// A failure with a text.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), cause: None }
    }

    /// A failure with a text and what caused it.
    pub fn caused_by(message: impl Into<String>, cause: impl Into<String>) -> Self {
        Self { message: message.into(), cause: Some(cause.into()) }
    }

    /// The text as the guest gets it, less the prefix "Callback evaluation failure: ".
    ///
    /// Upstream sends the Debug form of an `anyhow::Error`, so a cause follows on a paragraph of its own.
    pub fn full_text(&self) -> String {
        match &self.cause {
            None => self.message.clone(),
            Some(cause) => {
                format!("{}\n\nCaused by:\n    {}", self.message, cause.trim_end().replace('\n', "\n    "))
            }
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// One call that the guest made, answered or not.
#[derive(Debug, Clone)]
pub struct HostCall {
    /// `kubewarden`, if the guest is right
    pub binding: String,
    /// `kubernetes`, `tracing`, …
    pub namespace: String,
    /// `get_resource`, `log`, …
    pub operation: String,
    /// The payload as the guest sent it
    pub payload: Vec<u8>,
    /// The payload decoded; `None` for other namespaces, and where it could not be decoded
    pub request: Option<HostRequest>,
    /// Length of the answer in bytes, or the error text as it was given to the guest
    pub answer: Result<usize, String>,
    /// How long the host took
    pub duration: Duration,
}

impl HostCall {
    /// Whether it read objects, one or a list of them.
    pub fn is_read(&self) -> bool {
        self.resource().is_some()
    }

    /// Whether it asked what somebody may do.
    pub fn is_can_i(&self) -> bool {
        matches!(self.request, Some(HostRequest::KubernetesCanI { .. }))
    }

    /// apiVersion and kind of what was read.
    pub fn resource(&self) -> Option<(&str, &str)> {
        self.request.as_ref().and_then(HostRequest::resource)
    }

    /// What was asked about as `Kind/namespace/name`, with a `-` where a part is absent; for `can_i`
    /// `user verb resource.group`.
    pub fn target(&self) -> String {
        match &self.request {
            Some(HostRequest::KubernetesCanI { request, .. }) => {
                let what = &request.resource_attributes;
                let group = what.group.as_deref().unwrap_or_default();
                let dot = if group.is_empty() { "" } else { "." };
                format!("{} {} {}{dot}{group}", request.user, what.verb, what.resource)
            }
            Some(request) => {
                let kind = request.resource().map_or("-", |(_, kind)| kind);
                format!("{kind}/{}/{}", request.namespace().unwrap_or("-"), request.name().unwrap_or("-"))
            }
            None => String::new(),
        }
    }
}

/// As one line: what, of whom, how long, and what came of it.
impl fmt::Display for HostCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", one_line(&self.namespace), one_line(&self.operation))?;
        let target = self.target();
        if !target.is_empty() {
            write!(f, " {}", one_line(&target))?;
        }
        let micros = self.duration.as_micros();
        match &self.answer {
            Ok(bytes) => write!(f, ": {bytes} bytes in {micros} µs"),
            Err(text) => write!(f, ": {} in {micros} µs", one_line(text)),
        }
    }
}

/// The text with its control characters escaped: it comes from a guest.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}
