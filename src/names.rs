//! How kinds are written on a command line: as in manifests, as resource names, and by the short names of their CRDs.

use sluicegate_core::object::{KINDS, Kind};

/// The short names, as the CRDs of Flux 2.9, flux-operator, tofu-controller and cozystack declare them; where one
/// declares none, what its users write.
#[must_use]
pub const fn short(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::ArtifactGenerator => &["ag"],
        Kind::Bucket => &[],
        Kind::ExternalArtifact => &["ea"],
        Kind::GitRepository => &["gitrepo"],
        Kind::HelmChart => &["hc"],
        Kind::HelmRelease => &["hr"],
        Kind::HelmRepository => &["helmrepo"],
        Kind::Kustomization => &["ks"],
        Kind::OCIRepository => &["ocirepo"],
        Kind::Package => &["pkg", "pkgs"],
        Kind::PackageSource => &["pks"],
        Kind::ResourceSet => &["rset"],
        Kind::Terraform => &["tf"],
    }
}

/// The kind that a word names, in any case: its name, its plural, its plural with the group, or a short name.
#[must_use]
pub fn kind(word: &str) -> Option<Kind> {
    let word = word.to_ascii_lowercase();
    let found = KINDS.iter().find(|row| {
        let full = word.strip_prefix(row.plural).and_then(|rest| rest.strip_prefix('.'));
        row.name.eq_ignore_ascii_case(&word)
            || row.plural == word
            || full == Some(row.group)
            || short(row.kind).contains(&word.as_str())
    });
    found.map(|row| row.kind)
}

/// The kind whose name a word is probably a misspelling of.
#[must_use]
pub fn near(word: &str) -> Option<&'static str> {
    let word = word.to_ascii_lowercase();
    let distance = |name: &str| strsim::damerau_levenshtein(&name.to_ascii_lowercase(), &word);
    let nearest = KINDS.iter().map(|row| (distance(row.name).min(distance(row.plural)), row.name)).min()?;
    (nearest.0 <= 2 && word.len() > 3).then_some(nearest.1)
}

/// All kinds with their short names, for a sentence.
#[must_use]
pub fn list() -> String {
    let name = |kind: Kind| match short(kind).first() {
        Some(short) => format!("{} ({short})", kind.name()),
        None => kind.name().to_owned(),
    };
    KINDS.iter().map(|row| name(row.kind)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_means_one_kind() {
        for row in &KINDS {
            for word in [row.name, row.plural, &format!("{}.{}", row.plural, row.group)]
                .into_iter()
                .chain(short(row.kind).iter().copied())
            {
                assert_eq!(kind(word), Some(row.kind), "{word}");
            }
        }
        assert_eq!(kind("pod"), None);
        assert_eq!(kind(""), None);
    }
}
