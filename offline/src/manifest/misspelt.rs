//! Fields that look like one that is read.

use crate::yaml::Node;
use sluicegate_core::object::Kind;

/// What is read of `spec`, by the kinds that have it.
const READ: [(&str, &[Kind]); 12] = [
    ("suspend", &[]),
    ("dependsOn", &[Kind::Kustomization, Kind::HelmRelease, Kind::Terraform, Kind::ResourceSet]),
    (
        "sourceRef",
        &[Kind::Kustomization, Kind::HelmChart, Kind::Terraform, Kind::ExternalArtifact, Kind::PackageSource],
    ),
    ("chartRef", &[Kind::HelmRelease]),
    ("chart", &[Kind::HelmRelease, Kind::HelmChart]),
    ("sources", &[Kind::ArtifactGenerator]),
    ("artifacts", &[Kind::ArtifactGenerator]),
    ("include", &[Kind::GitRepository]),
    ("wait", &[Kind::Kustomization, Kind::ResourceSet]),
    ("healthChecks", &[Kind::Kustomization]),
    ("waitStrategy", &[Kind::HelmRelease]),
    ("variants", &[Kind::PackageSource]),
];

/// A field that is probably meant to be another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misspelt {
    /// As it is written; hostile until cleaned.
    pub written: String,
    /// What is probably meant.
    pub meant: &'static str,
    /// The line, from 1.
    pub line: u32,
}

/// The fields of a `spec` that are written otherwise than one that is read only by case, hyphens and underscores, or by
/// one letter.
#[must_use]
pub fn find(kind: Kind, spec: &Node<'_>) -> Vec<Misspelt> {
    let mut found = Vec::new();
    for entry in spec.entries() {
        let is_read = |name: &str| READ.iter().any(|(known, _)| *known == name);
        if is_read(&entry.key) || entry.key.len() > 40 {
            continue;
        }
        let bare = bare(&entry.key);
        let near = READ.iter().filter(|(_, kinds)| kinds.is_empty() || kinds.contains(&kind)).find(|(name, _)| {
            let name = name.to_ascii_lowercase();
            bare == name || (name.len() > 5 && strsim::damerau_levenshtein(&bare, &name) == 1)
        });
        if let Some((meant, _)) = near.filter(|(meant, _)| spec.get(meant).is_none()) {
            found.push(Misspelt { written: entry.key.clone().into_owned(), meant, line: entry.line });
        }
    }
    found
}

fn bare(key: &str) -> String {
    key.chars().filter(|letter| !matches!(letter, '_' | '-')).map(|letter| letter.to_ascii_lowercase()).collect()
}
