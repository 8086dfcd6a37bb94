//! What stands in a file: the objects that are judged, what Kustomize and Flux need to lead on from them, and of
//! everything else its name.

mod document;
mod kustomize;
mod lines;
mod misspelt;

pub use document::{Body, Data, Document, Header, Source, WrittenLead};
pub use kustomize::{Config, PatchEntry, Target};
pub use lines::Lines;
pub use misspelt::Misspelt;

use crate::yaml::{self, Broken};

/// A file that has been read.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// Its path, from the root of the tree, with slashes.
    pub path: String,
    /// Its path as findings show it.
    pub shown: String,
    /// What stands in it.
    pub documents: Vec<Document>,
    /// What could not be read.
    pub broken: Vec<Broken>,
    /// Whether it is something else than manifests: text that is no YAML and names no `apiVersion`, or a template.
    pub foreign: Option<Foreign>,
    /// Whether it was read only for what leads to it: it applies nothing by itself.
    pub extra: bool,
}

/// Why a file is not taken for manifests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// It holds template marks (`{{`) and is no YAML because of them.
    Template,
    /// It is not text.
    Binary,
    /// It is no YAML, and does not look like a manifest.
    Other,
}

/// Reads a file. What is broken in it does not keep the rest from being read.
#[must_use]
pub fn read(path: &str, bytes: &[u8]) -> File {
    let mut file = File { path: path.to_owned(), shown: path.to_owned(), ..File::default() };
    let Ok(text) = std::str::from_utf8(bytes) else {
        file.foreign = Some(Foreign::Binary);
        file.broken.push(Broken { line: 1, why: "this is no text (UTF-8)".to_owned() });
        return file;
    };
    let (nodes, broken) = yaml::documents(text);
    if !broken.is_empty() {
        file.foreign = match () {
            () if text.contains("{{") => Some(Foreign::Template),
            () if text.contains('\0') => Some(Foreign::Binary),
            () if !text.contains("apiVersion") => Some(Foreign::Other),
            () => None,
        };
    }
    file.broken = broken;
    let name = path.rsplit('/').next().unwrap_or(path);
    for node in &nodes {
        document::read(node, name, &mut file.documents);
    }
    file
}

/// Whether a file of this name may hold manifests.
#[must_use]
pub fn is_manifest(name: &str) -> bool {
    name == "Kustomization"
        || [".yaml", ".yml", ".json"].iter().any(|end| name.len() > end.len() && name.ends_with(end))
}

/// Whether a file of this name says how its folder is built (kustomize 5.8).
#[must_use]
pub fn is_kustomization(name: &str) -> bool {
    matches!(name, "kustomization.yaml" | "kustomization.yml" | "Kustomization")
}

#[cfg(test)]
mod tests;
