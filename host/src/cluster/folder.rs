//! A cluster read from a folder of manifests.

use std::{
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use super::{MemoryCluster, review::Review};

/// Beside the manifests, at the top of the folder: answers to `can_i`, a list of [`Review`]s.
const REVIEWS: &str = "reviews.yaml";
/// The same: kinds that are not installed, a list of `kind`, `apiVersion`, or both.
const ABSENT: &str = "absent-kinds.yaml";

/// Why a folder cannot be read as a cluster.
#[derive(Debug, Error)]
pub enum FolderError {
    /// A file or folder cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file or folder
        path: PathBuf,
        /// What went wrong
        source: io::Error,
    },
    /// A document is no YAML, no JSON, or of the wrong shape.
    #[error("{}: document {document}: {reason}", path.display())]
    Document {
        /// The file
        path: PathBuf,
        /// Counted from 1
        document: usize,
        /// What is wrong with it
        reason: String,
    },
}

/// An entry of [`ABSENT`]: a kind in all versions or in one, or everything of a group and version.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Absent {
    api_version: Option<String>,
    kind: Option<String>,
}

impl MemoryCluster {
    /// Reads every `.yaml`, `.yml` and `.json` file of a folder and the folders in it; lists (`kind: List`) are taken apart,
    /// and the settings file of kustomize is passed over.
    ///
    /// Two files at the top are no manifests: `reviews.yaml`, a list of [`Review`]s for `can_i`, and `absent-kinds.yaml`,
    /// a list of `{kind}`, `{apiVersion, kind}` and `{apiVersion}` that are not installed.
    ///
    /// YAML is read as version 1.2 has it: `yes` and `on` are texts, and `<<` is a key like any other.
    ///
    /// # Errors
    /// See [`FolderError`]. An object without apiVersion, kind or name, or one that is there twice, is an error.
    pub fn from_folder(folder: impl AsRef<Path>) -> Result<Self, FolderError> {
        let folder = folder.as_ref();
        let mut cluster = Self::new();
        for path in manifests(folder)? {
            if path == folder.join(REVIEWS) {
                for review in documents::<Vec<Review>>(&path)?.into_iter().flatten().flatten() {
                    cluster = cluster.review(review);
                }
            } else if path == folder.join(ABSENT) {
                for absent in documents::<Vec<Absent>>(&path)?.into_iter().flatten().flatten() {
                    cluster = match (absent.api_version, absent.kind) {
                        (Some(api_version), Some(kind)) => cluster.absent_kind(&format!("{api_version}/{kind}")),
                        (None, Some(kind)) => cluster.absent_kind(&kind),
                        (Some(api_version), None) => cluster.absent_group(&api_version),
                        (None, None) => cluster,
                    };
                }
            } else {
                for (index, document) in documents::<Value>(&path)?.into_iter().enumerate() {
                    let added = document.map_or(Ok(()), |document| cluster.add_document(document));
                    added.map_err(|reason| FolderError::Document {
                        path: path.clone(),
                        document: index + 1,
                        reason,
                    })?;
                }
            }
        }
        Ok(cluster)
    }

    fn add_document(&mut self, mut document: Value) -> Result<(), String> {
        let text = |key: &str| document.get(key).and_then(Value::as_str).unwrap_or_default();
        if text("apiVersion").starts_with("kustomize.config.k8s.io/") {
            return Ok(());
        }
        let items = match document.get_mut("items") {
            Some(Value::Array(items)) => std::mem::take(items),
            _ => vec![document],
        };
        for item in items {
            if let Some(earlier) = self.insert(item)? {
                let text = |pointer: &str| earlier.pointer(pointer).and_then(Value::as_str).unwrap_or("-");
                let (namespace, name) = (text("/metadata/namespace"), text("/metadata/name"));
                return Err(format!("{}/{namespace}/{name} is there twice", text("/kind")));
            }
        }
        Ok(())
    }
}

/// The manifests below a folder, sorted, so that errors are the same each time.
fn manifests(folder: &Path) -> Result<Vec<PathBuf>, FolderError> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let failed = |source| FolderError::Read { path: folder.clone(), source };
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            // A link to a folder is not followed: it may lead in a circle.
            if entry.file_type().map_err(failed)?.is_dir() {
                folders.push(path);
            } else if matches!(path.extension().and_then(OsStr::to_str), Some("yaml" | "yml" | "json")) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The documents of a YAML or JSON file, `None` for an empty one.
fn documents<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Vec<Option<T>>, FolderError> {
    let text = fs::read_to_string(path).map_err(|source| FolderError::Read { path: path.to_owned(), source })?;
    let mut documents = Vec::new();
    let mut add = |decoded: Result<Option<T>, String>| match decoded {
        Ok(document) => {
            documents.push(document);
            Ok(())
        }
        Err(reason) => Err(FolderError::Document { path: path.to_owned(), document: documents.len() + 1, reason }),
    };
    if path.extension() == Some(OsStr::new("json")) {
        for document in serde_json::Deserializer::from_str(&text).into_iter() {
            add(document.map_err(|error| error.to_string()))?;
        }
    } else {
        for document in yaml_serde::Deserializer::from_str(&text) {
            add(Option::deserialize(document).map_err(|error| error.to_string()))?;
        }
    }
    Ok(documents)
}
