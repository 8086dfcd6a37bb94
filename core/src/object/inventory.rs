//! What an object says it has applied or generated.

use super::fields::fields;
use super::seen::Text;
use super::{Kind, Reference};
use crate::ordered::sort;
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// `status.inventory`, which is an object of entries for appliers and a list of artifacts for an ArtifactGenerator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inventory {
    /// The objects of judged kinds that a Kustomization, HelmRelease or ResourceSet has applied; entries of other
    /// kinds are counted and dropped while reading, since an inventory may hold ten thousand of them.
    Applied(Vec<Reference>),
    /// The ExternalArtifacts that an ArtifactGenerator lists.
    Generated(Vec<GeneratedEntry>),
}

fields! {
    /// An artifact in the inventory of an ArtifactGenerator.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[allow(missing_docs, reason = "the fields are those of the manifest")]
    pub struct GeneratedEntry {
        "name" => name: Box<str>,
        "namespace" => namespace: Box<str>,
        "digest" => digest: Box<str>,
    }
}

/// Reads an inventory id, `namespace_name_group_kind` (cli-utils `object.ObjMetadata`, fluxcd/cli-utils v1.2.1).
/// `None` where the kind is not a judged one. Names of Flux objects hold no underscore.
#[must_use]
pub fn parse_id(id: &str) -> Option<Reference> {
    let mut parts = id.split('_');
    let (namespace, name, group, kind) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || name.is_empty() {
        return None;
    }
    Some(Reference::new(Kind::find(group, kind)?, namespace, name))
}

struct Applied(Vec<Reference>);

impl<'de> Deserialize<'de> for Applied {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AppliedVisitor;
        fields! {
            /// An entry.
            pub struct Entry<S> {
                "id" => id: S,
            }
        }
        impl<'de> Visitor<'de> for AppliedVisitor {
            type Value = Applied;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of inventory entries")
            }
            fn visit_unit<E: de::Error>(self) -> Result<Applied, E> {
                Ok(Applied(Vec::new()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Applied, A::Error> {
                let mut found = Vec::new();
                while let Some(entry) = seq.next_element::<Entry<Text<'de>>>()? {
                    found.extend(entry.id.as_ref().and_then(|id| parse_id(id.as_ref())));
                }
                sort(&mut found);
                found.dedup();
                Ok(Applied(found))
            }
        }
        deserializer.deserialize_any(AppliedVisitor)
    }
}

impl<'de> Deserialize<'de> for Inventory {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InventoryVisitor;
        fields! {
            /// The object of entries.
            pub struct Entries {
                "entries" => entries: Applied,
            }
        }
        impl<'de> Visitor<'de> for InventoryVisitor {
            type Value = Inventory;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an inventory")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Inventory, A::Error> {
                let body = Entries::deserialize(de::value::MapAccessDeserializer::new(map))?;
                Ok(Inventory::Applied(body.entries.map(|applied| applied.0).unwrap_or_default()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Inventory, A::Error> {
                let mut found = Vec::new();
                while let Some(entry) = seq.next_element()? {
                    found.push(entry);
                }
                Ok(Inventory::Generated(found))
            }
        }
        deserializer.deserialize_any(InventoryVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("s_units_helm.toolkit.fluxcd.io_HelmRelease", Some("HelmRelease/s/units"))]
    #[case("s_units_kustomize.toolkit.fluxcd.io_Kustomization", Some("Kustomization/s/units"))]
    #[case("_pkg_cozystack.io_Package", Some("Package/pkg"))]
    #[case("s_cm__ConfigMap", None)]
    #[case("_a__b_rbac.authorization.k8s.io_ClusterRole", None)]
    #[case("", None)]
    #[case("a_b", None)]
    #[case("s__helm.toolkit.fluxcd.io_HelmRelease", None)]
    fn reads_ids(#[case] id: &str, #[case] shown: Option<&str>) {
        assert_eq!(parse_id(id).map(|r| r.to_string()).as_deref(), shown);
    }

    #[rstest]
    #[case(r#"{"entries":null}"#, Inventory::Applied(vec![]))]
    #[case(r#"{}"#, Inventory::Applied(vec![]))]
    #[case(r#"[]"#, Inventory::Generated(vec![]))]
    fn reads_empty_ones(#[case] json: &str, #[case] inventory: Inventory) {
        assert_eq!(serde_json::from_str::<Inventory>(json).unwrap(), inventory);
    }

    #[test]
    fn the_wrong_type_is_an_error() {
        for json in [r#""x""#, "3", r#"{"entries":3}"#, r#"{"entries":["x"]}"#, r#"[3]"#] {
            assert!(serde_json::from_str::<Inventory>(json).is_err(), "{json}");
        }
    }
}
