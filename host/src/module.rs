//! What a module says about itself: its metadata, and what it imports.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use thiserror::Error;
use wasmparser::{Parser, Payload};

/// Name of the custom section with the metadata.
const METADATA_SECTION: &str = "io.kubewarden.metadata";

/// Why a module cannot be looked into.
#[derive(Debug, Error)]
pub enum ModuleError {
    /// The bytes are no WebAssembly, or damaged.
    #[error("cannot parse the WebAssembly module: {0}")]
    Malformed(#[from] wasmparser::BinaryReaderError),
    /// The first metadata section is not the JSON it should be.
    #[error("cannot read the custom section {METADATA_SECTION}: {0}")]
    Metadata(#[source] serde_json::Error),
}

/// What can be read from the bytes of a module without compiling it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModuleInfo {
    /// Size of the whole file in bytes.
    pub size: usize,
    /// How many metadata sections there are: a second one is never read by anybody.
    pub metadata_sections: usize,
    /// The imports as `module.name`, sorted.
    pub imports: BTreeSet<String>,
    /// The first metadata section, decoded.
    pub metadata: Option<Metadata>,
}

impl ModuleInfo {
    /// Looks into the bytes of a module.
    ///
    /// # Errors
    /// See [`ModuleError`].
    pub fn parse(bytes: &[u8]) -> Result<Self, ModuleError> {
        let mut info = Self { size: bytes.len(), metadata_sections: 0, imports: BTreeSet::new(), metadata: None };
        for payload in Parser::new(0).parse_all(bytes) {
            match payload? {
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        let import = import?;
                        info.imports.insert(format!("{}.{}", import.module, import.name));
                    }
                }
                Payload::CustomSection(section) if section.name() == METADATA_SECTION => {
                    if info.metadata_sections == 0 {
                        let metadata = serde_json::from_slice(section.data()).map_err(ModuleError::Metadata)?;
                        info.metadata = Some(metadata);
                    }
                    info.metadata_sections += 1;
                }
                _ => {}
            }
        }
        Ok(info)
    }

    /// The modules that something is imported from, sorted.
    pub fn import_modules(&self) -> BTreeSet<&str> {
        self.imports.iter().map(|import| import.split_once('.').map_or(import.as_str(), |(module, _)| module)).collect()
    }

    /// Why policy-server would not load this module, in its words. `kwctl run` would.
    pub fn server_refusal(&self) -> Option<String> {
        let metadata = self.metadata.as_ref();
        match metadata.and_then(|metadata| metadata.protocol_version.as_deref()) {
            Some("v1") => None,
            Some(_) => Some("Policy uses protocol version Unknown but only V1 is supported".to_owned()),
            None => Some(
                "Policy is missing protocol version, which is required for KubewardenWapc execution mode".to_owned(),
            ),
        }
    }
}

/// A policy's metadata. Unknown keys are ignored, as upstream does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// `v1`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<String>,
    /// Which requests it wants to see
    pub rules: Vec<Rule>,
    /// For catalogues
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<BTreeMap<String, String>>,
    /// Whether it may change objects
    pub mutating: bool,
    /// Whether the background audit may run it
    #[serde(default = "yes")]
    pub background_audit: bool,
    /// `kubewarden-wapc` for what this host can run
    #[serde(default = "wapc")]
    pub execution_mode: String,
    /// `kubernetes` or `raw`
    #[serde(default = "kubernetes")]
    pub policy_type: String,
    /// What it may read
    #[serde(default)]
    pub context_aware_resources: BTreeSet<ContextAwareResource>,
    /// Which host capabilities it uses; informational
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_capabilities: Option<BTreeSet<String>>,
    /// The oldest Kubewarden it runs on
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum_kubewarden_version: Option<String>,
}

/// Requests that a policy wants to see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// API groups, `""` for the core one
    pub api_groups: Vec<String>,
    /// API versions
    pub api_versions: Vec<String>,
    /// Plural resources, with subresource where one is meant
    pub resources: Vec<String>,
    /// `CREATE`, `UPDATE`, `DELETE`, `CONNECT` or `*`
    pub operations: Vec<String>,
}

/// A kind that a policy may read, matched exactly, version and case included.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextAwareResource {
    /// `v1`, or `group/version`
    pub api_version: String,
    /// Singular, PascalCase
    pub kind: String,
}

fn yes() -> bool {
    true
}

fn wapc() -> String {
    "kubewarden-wapc".to_owned()
}

fn kubernetes() -> String {
    "kubernetes".to_owned()
}
