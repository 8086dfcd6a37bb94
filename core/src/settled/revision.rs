//! The parts of Flux revisions: `main@sha1:…`, `1.2.3@sha256:…`, `sha256:…`, and `main/…` of old.

/// The hash that a revision ends with (as fluxcd/pkg `git.ExtractHashFromRevision`).
pub(super) fn hash(revision: &str) -> &str {
    if let Some((_, hash)) = revision.rsplit_once(':') {
        return hash;
    }
    revision.rsplit_once('/').map_or(revision, |(_, hash)| hash)
}

/// `ALGORITHM:HASH` after the `@`.
pub(super) fn digest(revision: &str) -> Option<&str> {
    Some(revision.rsplit_once('@')?.1).filter(|digest| !digest.is_empty())
}

/// The algorithm of a plain digest, `ALGORITHM:HASH`.
pub(super) fn algorithm(digest: &str) -> Option<&str> {
    Some(digest.split_once(':')?.0)
}

/// Whether the build metadata of a chart version says that the chart was built from this revision: its first twelve
/// characters of the hash, alone, or with the generation after a dot where there are values files
/// (source-controller 1.9 `helmchart_controller.go`). `None` where the hash is too short to tell.
pub(super) fn is_built_from(version: &str, revision: &str) -> Option<bool> {
    let short = hash(revision).get(..12)?;
    let metadata = version.split_once('+').map_or("", |(_, metadata)| metadata);
    Some(metadata.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("main@sha1:5394cb7f4833", "5394cb7f4833")]
    #[case("feature/x@sha1:5394", "5394")]
    #[case("sha256:aabb", "aabb")]
    #[case("feature/branch/5394", "5394")]
    #[case("5394", "5394")]
    #[case("", "")]
    fn finds_the_hash(#[case] revision: &str, #[case] found: &str) {
        assert_eq!(hash(revision), found);
    }

    #[rstest]
    #[case("1.0.0+5394cb7f4833", Some(true))]
    #[case("1.0.0+5394cb7f4833.7", Some(true))]
    #[case("1.0.0+5394cb7f4833a", Some(false))]
    #[case("1.0.0+5394cb7f483", Some(false))]
    #[case("1.0.0-5394cb7f4833", Some(false))]
    #[case("1.0.0", Some(false))]
    fn finds_the_revision_in_build_metadata(#[case] version: &str, #[case] found: Option<bool>) {
        assert_eq!(is_built_from(version, "main@sha1:5394cb7f48332b2de7c17dd8b8384bbc84b7e738"), found);
    }

    #[test]
    fn a_short_or_odd_hash_is_no_evidence() {
        assert_eq!(is_built_from("1.0.0", "main@sha1:5394"), None);
        assert_eq!(is_built_from("1.0.0", "ééééééééééééé"), Some(false));
    }
}
