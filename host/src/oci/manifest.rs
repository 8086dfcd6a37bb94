//! The manifest of a policy.

use std::collections::BTreeMap;

use oci_client::manifest::{OciDescriptor, OciImageManifest};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{OciError, Place, error::plain};
use crate::ModuleInfo;

/// Media type of the layer: the module as it is.
pub const LAYER_TYPE: &str = "application/vnd.wasm.content.layer.v1+wasm";
/// Media type of the configuration, which is empty.
pub const CONFIG_TYPE: &str = "application/vnd.wasm.config.v1+json";
/// The empty configuration.
pub(super) const CONFIG: &[u8] = b"{}";

/// Where the source is, for policies and for OCI.
const SOURCE: (&str, &str) = ("io.kubewarden.policy.source", "org.opencontainers.image.source");

/// `sha256:…` of some bytes.
pub fn digest(bytes: &[u8]) -> String {
    let mut text = String::from("sha256:");
    for byte in Sha256::digest(bytes) {
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

/// A manifest that is about to be pushed, or was pulled.
#[derive(Debug)]
pub(super) struct Manifest(OciImageManifest);

impl Manifest {
    /// The manifest of a module, as `kwctl push` makes it.
    pub fn of(module: &[u8]) -> Result<Self, OciError> {
        let info = ModuleInfo::parse(module)?;
        if let Some(refusal) = info.server_refusal() {
            return Err(OciError::Refused(refusal));
        }
        let descriptor = |media_type: &str, bytes: &[u8]| OciDescriptor {
            media_type: media_type.to_owned(),
            digest: digest(bytes),
            size: i64::try_from(bytes.len()).unwrap_or(i64::MAX),
            ..OciDescriptor::default()
        };
        let annotations = annotations(info.metadata.and_then(|metadata| metadata.annotations).unwrap_or_default());
        Ok(Self(OciImageManifest {
            config: descriptor(CONFIG_TYPE, CONFIG),
            layers: vec![descriptor(LAYER_TYPE, module)],
            annotations: (!annotations.is_empty()).then_some(annotations),
            ..OciImageManifest::default()
        }))
    }

    /// Reads what a registry has sent.
    pub fn parse(bytes: &[u8], place: &Place) -> Result<Self, OciError> {
        let unreadable = |error: serde_json::Error| OciError::NoManifest(place.to_string(), error.to_string());
        let value: Value = serde_json::from_slice(bytes).map_err(unreadable)?;
        if !value.is_object() {
            return Err(OciError::NoManifest(place.to_string(), "not an object".to_owned()));
        }
        if value.get("manifests").is_some() {
            return Err(OciError::Index(place.to_string()));
        }
        serde_json::from_value(value).map(Self).map_err(unreadable)
    }

    /// The layer with the module: the first, when all of them are modules, as in Kubewarden.
    pub fn module_layer(&self, place: &Place, limit: u64) -> Result<OciDescriptor, OciError> {
        if let Some(other) = self.0.layers.iter().find(|layer| layer.media_type != LAYER_TYPE) {
            return Err(OciError::MediaType { place: place.to_string(), found: plain(&other.media_type) });
        }
        let layer = self.0.layers.first().ok_or_else(|| OciError::Empty(place.to_string()))?;
        match u64::try_from(layer.size) {
            Ok(size) if size <= limit => Ok(layer.clone()),
            _ => Err(OciError::TooLarge { place: place.to_string(), size: layer.size, limit }),
        }
    }

    pub fn layer_digest(&self) -> &str {
        self.0.layers.first().map_or("", |layer| &layer.digest)
    }

    pub fn config_digest(&self) -> &str {
        &self.0.config.digest
    }

    /// The bytes to push.
    pub fn to_bytes(&self) -> Result<Vec<u8>, OciError> {
        serde_json::to_vec(&self.0).map_err(|error| OciError::Refused(error.to_string()))
    }

    pub fn into_annotations(self) -> Vec<(String, String)> {
        self.0.annotations.unwrap_or_default().into_iter().collect()
    }
}

/// What `kwctl push` keeps of a policy's annotations: no text of several lines, no space around; and the source for OCI, too.
fn annotations(all: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut kept: BTreeMap<_, _> = all
        .into_iter()
        .map(|(key, value)| (key, value.trim().to_owned()))
        .filter(|(_, value)| value.lines().count() <= 1)
        .collect();
    if let Some(source) = kept.get(SOURCE.0).cloned() {
        kept.entry(SOURCE.1.to_owned()).or_insert(source);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn long_texts_stay_out_and_the_source_is_named_for_oci() {
        let all = map(&[("usage", "# A\n\nB"), ("title", " a \n"), ("io.kubewarden.policy.source", "https://s")]);
        let expected = map(&[
            ("io.kubewarden.policy.source", "https://s"),
            ("org.opencontainers.image.source", "https://s"),
            ("title", "a"),
        ]);
        assert_eq!(annotations(all), expected);
    }

    #[test]
    fn a_source_for_oci_that_is_there_stays() {
        let all = map(&[("io.kubewarden.policy.source", "a"), ("org.opencontainers.image.source", "b")]);
        assert_eq!(annotations(all.clone()), all);
    }

    #[test]
    fn the_empty_configuration_has_the_digest_that_everybody_knows() {
        assert_eq!(digest(CONFIG), "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
    }
}
