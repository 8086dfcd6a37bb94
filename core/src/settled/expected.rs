//! The expected revision: the last race is a source that has not been touched yet, and is perfectly settled at the old
//! revision.

use super::{Snapshot, chart_follows, inputs, revision};
use crate::need::Reason;
use crate::object::{Kind, Object, Reference};
use crate::ordered::sort;
use semver::{BuildMetadata, Version};
use std::collections::BTreeSet;

/// An expected revision that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmet {
    /// What the annotation asks for; hostile until cleaned.
    pub expected: Box<str>,
    /// The root sources of the object, in the stable order: one of them must come to show it. Empty where the snapshot
    /// has none.
    pub roots: Vec<Reference>,
}

/// Whether the artifact of a source is of the expected revision: a full Flux revision, its digest part, a commit prefix
/// of at least seven hex digits, or a chart version. Build metadata of the chart counts only where it is asked for.
/// For an ExternalArtifact the origin revision counts too.
#[must_use]
pub fn shows(object: &Object, expected: &str) -> bool {
    let Some(artifact) = object.artifact() else { return false };
    let origin = artifact.metadata.as_ref().and_then(|metadata| metadata.origin_revision.as_deref());
    let origin = origin.filter(|_| object.reference.kind == Kind::ExternalArtifact);
    artifact.revision.as_deref().into_iter().chain(origin).any(|revision| is_shown_by(revision, expected))
}

fn is_shown_by(revision: &str, expected: &str) -> bool {
    if expected.is_empty() {
        return false;
    }
    revision == expected
        || revision::digest(revision) == Some(expected)
        || is_prefix(revision::hash(revision), expected)
        || is_version(revision, expected)
}

fn is_prefix(hash: &str, expected: &str) -> bool {
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let start = hash.get(..expected.len()).filter(|_| expected.len() >= 7);
    is_hex(expected) && is_hex(hash) && start.is_some_and(|start| start.eq_ignore_ascii_case(expected))
}

fn is_version(revision: &str, expected: &str) -> bool {
    let Some(expected) = version(expected) else { return false };
    let (name, _digest) = revision.split_once('@').unwrap_or((revision, ""));
    // Helm writes "+" as "_" in OCI tags.
    let Some(mut shown) = version(&name.replace('_', "+")) else { return false };
    if expected.build.is_empty() {
        shown.build = BuildMetadata::EMPTY;
    }
    shown == expected
}

/// A chart version, with or without a leading `v`.
fn version(text: &str) -> Option<Version> {
    Version::parse(text.strip_prefix('v').unwrap_or(text)).ok()
}

/// The revision that the annotation `sluicegate.dev/expected-revision` of this object asks for, on a source or on an
/// object for the source it consumes, if it is not there yet.
///
/// Over a chain of sources it is about the root sources: one of them must show it. An ExternalArtifact on the way may
/// show it as well, and a HelmChart the chart version.
///
/// `resumed`: whether the object is at work already. A chart version on a HelmChart, or on a HelmRelease with
/// `spec.chart`, is judged only then: suspended, neither gets to another chart.
#[must_use]
pub fn unmet_expectation(object: &Object, snapshot: &dyn Snapshot, resumed: bool) -> Option<Unmet> {
    let expected = object.metadata.annotations.as_ref()?.expected_revision.as_deref()?.trim();
    let is_version = version(expected).is_some();
    let generates = object.chart_template().is_some() && object.spec.chart_ref.is_none();
    let follows = generates || object.reference.kind == Kind::HelmChart;
    if expected.is_empty() || (is_version && follows && !resumed) {
        return None;
    }
    let (mut seen, mut open, mut roots) = (BTreeSet::new(), vec![object], Vec::new());
    while let Some(here) = open.pop() {
        let kind = here.reference.kind;
        let needs = inputs(here);
        // What a GitRepository includes is a root beside itself.
        let is_root = kind.is_source() && (needs.is_empty() || kind == Kind::GitRepository);
        let counts = is_root || matches!(kind, Kind::ExternalArtifact | Kind::HelmChart);
        if counts && shows(here, expected) {
            return None;
        }
        if is_root {
            roots.push(here.reference.clone());
        }
        for need in needs {
            let Some(next) = snapshot.object(&need.target) else { continue };
            if need.reason == Reason::Chart && !chart_follows(here, next) {
                continue;
            }
            if seen.insert(&next.reference) {
                open.push(next);
            }
        }
    }
    sort(&mut roots);
    roots.dedup();
    Some(Unmet { expected: expected.into(), roots })
}

#[cfg(test)]
mod tests {
    use super::is_shown_by;
    use rstest::rstest;

    const GIT: &str = "main@sha1:5394cb7f48332b2de7c17dd8b8384bbc84b7e738";

    #[rstest]
    #[case(GIT, GIT, true)]
    #[case(GIT, "sha1:5394cb7f48332b2de7c17dd8b8384bbc84b7e738", true)]
    #[case(GIT, "5394cb7f48332b2de7c17dd8b8384bbc84b7e738", true)]
    #[case(GIT, "5394CB7", true)]
    #[case(GIT, "5394cb", false)]
    #[case(GIT, "5394cb8", false)]
    #[case(GIT, "394cb7f", false)]
    #[case(GIT, "main", false)]
    #[case(GIT, "sha1:5394cb7", false)]
    #[case(GIT, "", false)]
    #[case(GIT, "5394cb7f48332b2de7c17dd8b8384bbc84b7e7380", false)]
    #[case("v1.2.3@sha256:aabbccdd", "v1.2.3@sha256:aabbccdd", true)]
    #[case("v1.2.3@sha256:aabbccdd", "v1.2.3", true)]
    #[case("v1.2.3@sha256:aabbccdd", "1.2.3", true)]
    #[case("v1.2.3@sha256:aabbccdd", "1.2.4", false)]
    #[case("1.2.3_build.1@sha256:aabbccdd", "1.2.3+build.1", true)]
    #[case("1.2.3+aabbccddeeff", "1.2.3", true)]
    #[case("1.2.3+aabbccddeeff", "1.2.3+aabbccddeeff", true)]
    #[case("1.2.3+aabbccddeeff", "1.2.3+other", false)]
    #[case("1.2.3", "1.2.3+aabbccddeeff", false)]
    #[case("1.2.3", "1.2.3-rc.1", false)]
    #[case("1.2.3-rc.1", "1.2.3", false)]
    #[case("sha256:aabbccddee", "aabbccd", true)]
    #[case("latest@sha256:aabbccddee", "latest", false)]
    #[case("release/1234567", "1234567", true)]
    #[case("release/1234567-rc", "1234567", false)]
    fn recognises_every_form(#[case] revision: &str, #[case] expected: &str, #[case] shown: bool) {
        assert_eq!(is_shown_by(revision, expected), shown);
    }
}
