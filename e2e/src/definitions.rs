//! The CRDs: those of Flux and of ResourceSet from the Go module cache, read at test time, and small ones of our own for
//! kinds whose CRD is not to be had.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::kind::Kind;
use crate::manifest::Manifest;
use crate::parts;
use crate::rights::documents;

const FLUX: &[&str] = &[
    "data/flux/v2.9.5/kustomize-controller.yaml",
    "data/flux/v2.9.5/source-controller.yaml",
    "data/flux/v2.9.5/helm-controller.yaml",
    "data/flux/v2.9.5/source-watcher.yaml",
    "crd/bases/fluxcd.controlplane.io_resourcesets.yaml",
];
const OWN: &[&str] = &["terraform.yaml", "cozystack.yaml"];

/// The CRDs of all Flux kinds but `without`; with those of our own where `own` says so.
///
/// # Errors
///
/// A file cannot be read, or Flux's manifests cannot be downloaded.
pub fn definitions(without: &[Kind], own: bool) -> Result<Vec<Manifest>> {
    let flux = parts::flux_manifests()?;
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("crds");
    let mut files: Vec<_> = FLUX.iter().map(|file| flux.join(file)).collect();
    if own {
        files.extend(OWN.iter().map(|file| ours.join(file)));
    }
    let mut all = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        for manifest in documents(&text)? {
            let at = |pointer: &str| manifest.0.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
            let left_out = without.iter().any(|kind| kind.name == at("/spec/names/kind"));
            if at("/kind") == "CustomResourceDefinition" && !left_out {
                all.push(manifest.without("/status"));
            }
        }
    }
    Ok(all)
}
