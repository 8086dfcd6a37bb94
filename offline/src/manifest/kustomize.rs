//! `kustomization.yaml`, as far as it says which objects there are and what they are called.

use crate::yaml::{Node, to_json};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::collections::BTreeMap;

/// What a folder is built from (kustomize 5.8).
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Config {
    /// `Kustomization`, or `Component`.
    #[serde(deserialize_with = "tolerant")]
    pub kind: String,
    /// Files and folders, and what stands elsewhere.
    #[serde(deserialize_with = "tolerant")]
    pub resources: Vec<String>,
    /// The old name of `resources` for folders.
    #[serde(deserialize_with = "tolerant")]
    pub bases: Vec<String>,
    /// Folders whose changes are made to what came before them.
    #[serde(deserialize_with = "tolerant")]
    pub components: Vec<String>,
    /// The namespace of everything.
    #[serde(deserialize_with = "tolerant")]
    pub namespace: Option<String>,
    /// What stands before every name.
    #[serde(deserialize_with = "tolerant")]
    pub name_prefix: Option<String>,
    /// What stands behind every name.
    #[serde(deserialize_with = "tolerant")]
    pub name_suffix: Option<String>,
    /// Changes.
    #[serde(deserialize_with = "tolerant")]
    pub patches: Vec<PatchEntry>,
    /// Changes in the old form: files, or the text itself.
    #[serde(deserialize_with = "tolerant")]
    pub patches_strategic_merge: Vec<String>,
    /// JSON patches in the old form.
    #[serde(rename = "patchesJson6902", deserialize_with = "tolerant")]
    pub patches_json6902: Vec<PatchEntry>,
    /// Labels that objects get.
    #[serde(deserialize_with = "tolerant")]
    pub common_labels: BTreeMap<String, Value>,
    /// Parts that are not evaluated here.
    #[serde(skip)]
    pub not_evaluated: Vec<&'static str>,
    /// The line where it starts, from 1.
    #[serde(skip)]
    pub line: u32,
}

/// An entry of `patches`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PatchEntry {
    /// The file of the patch.
    pub path: Option<String>,
    /// The patch itself.
    pub patch: Option<String>,
    /// What it is about; an own name where it is absent.
    pub target: Option<Target>,
}

/// Which objects a patch is about: every field that is there must fit. Names, namespaces, kinds, groups and versions are
/// regular expressions that match as a whole.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of kustomize")]
pub struct Target {
    pub group: Option<String>,
    pub version: Option<String>,
    pub kind: Option<String>,
    pub name: Option<String>,
    pub namespace: Option<String>,
    pub label_selector: Option<String>,
    pub annotation_selector: Option<String>,
}

impl Config {
    /// Whether it only changes what others build.
    #[must_use]
    pub fn is_component(&self) -> bool {
        self.kind == "Component"
    }

    /// The files and folders that it names, as they are written. Not those of `patchesStrategicMerge`, which may be text.
    pub fn entries(&self) -> impl Iterator<Item = &str> {
        let patches = self.patches.iter().chain(&self.patches_json6902).filter_map(|patch| patch.path.as_ref());
        let folders = self.resources.iter().chain(&self.bases).chain(&self.components);
        folders.chain(patches).map(String::as_str)
    }

    pub(super) fn read(node: &Node<'_>) -> Self {
        let mut config: Self = serde_json::from_slice(&to_json(node, |_| true)).unwrap_or_default();
        let parts = ["generators", "transformers", "replacements", "vars", "helmCharts", "helmChartInflationGenerator"];
        config.not_evaluated = parts.into_iter().filter(|part| node.get(part).is_some()).collect();
        config.line = node.entries().first().map_or(node.line, |entry| entry.line);
        config
    }
}

/// What has another type is as good as absent: kustomize itself says what is wrong with it.
fn tolerant<'de, D: Deserializer<'de>, T: Default + serde::de::DeserializeOwned>(
    deserializer: D,
) -> Result<T, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}
