//! The expected revision, along chains of sources.

use super::chains::{self, Chain};
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::settled::{shows, unmet_expectation};
use sluicegate_core::testing::{object, reference, sample, set, snapshot, with};

const EXPECTED: &str = "/metadata/annotations/sluicegate.dev~1expected-revision";

/// What is still missing, asked on the object at this place of the chain.
fn unmet(mut chain: Chain, at: usize, expected: &str, resumed: bool) -> Option<Vec<String>> {
    set(&mut chain[at], EXPECTED, expected.into());
    let known = snapshot(&chain);
    let asker = reference(&chain[at]);
    let unmet = unmet_expectation(&known[&asker], &known, resumed)?;
    assert_eq!(&*unmet.expected, expected.trim());
    Some(unmet.roots.iter().map(ToString::to_string).collect())
}

#[rstest]
#[case::on_the_source(chains::git(), 0)]
#[case::on_a_consumer(chains::kustomization(), 1)]
#[case::on_a_chart(chains::release(), 1)]
#[case::on_a_release(chains::release(), 2)]
#[case::through_a_generator(chains::kustomization_of_artifact(), 3)]
#[case::on_a_generator(chains::generator(), 1)]
fn is_about_the_root_source(#[case] chain: Chain, #[case] at: usize) {
    for met in [sample::GIT_REVISION, "1111111", "sha1:1111111111111111111111111111111111111111", " 1111111 "] {
        assert_eq!(unmet(chain.clone(), at, met, false), None, "{met}");
    }
    let missing = unmet(chain, at, "main@sha1:2222222222222222222222222222222222222222", false);
    assert_eq!(missing, Some(vec!["GitRepository/ns/repo".to_owned()]));
}

#[test]
fn nothing_is_asked_without_the_annotation() {
    for expected in ["", "  "] {
        assert_eq!(unmet(chains::git(), 0, expected, false), None);
    }
    let known = snapshot(&chains::git());
    assert!(known.values().all(|object| unmet_expectation(object, &known, false).is_none()));
}

#[test]
fn a_chart_version_is_judged_after_the_resume_only() {
    assert_eq!(unmet(chains::release(), 2, "9.9.9", false), None);
    assert_eq!(unmet(chains::release(), 2, "9.9.9", true), Some(vec!["GitRepository/ns/repo".to_owned()]));
    assert_eq!(unmet(chains::release(), 2, "1.2.3", true), None);
}

/// A chart that the release is about to rewrite shows nothing.
#[test]
fn a_chart_that_does_not_follow_shows_no_version() {
    let mut chain = chains::release();
    set(&mut chain[2], "/spec/chart/spec/version", ">=1".into());
    assert!(unmet(chain, 2, "1.2.3", true).is_some());
}

#[test]
fn a_chart_version_on_an_image_is_judged_at_once() {
    assert_eq!(unmet(chains::release_of_image(), 1, "1.2.3", false), None);
    assert_eq!(unmet(chains::release_of_image(), 1, "1.2.4", false), Some(vec!["OCIRepository/ns/repo".to_owned()]));
}

#[test]
fn an_origin_revision_counts_for_an_external_artifact_alone() {
    let origin = json!({"org.opencontainers.image.revision": "main@sha1:7777777777"});
    let artifact = with(sample::external_artifact("ns", "e"), &[("/status/artifact/metadata", origin.clone())]);
    assert!(shows(&object(&artifact), "7777777"));
    let image = with(sample::oci_repository("ns", "e"), &[("/status/artifact/metadata", origin)]);
    assert!(!shows(&object(&image), "7777777"));
}

/// The root has moved on since, or is of a kind that knows no commits.
#[test]
fn an_artifact_on_the_way_may_show_it() {
    let mut chain = chains::kustomization_of_artifact();
    let origin = json!({"org.opencontainers.image.revision": "main@sha1:7777777777"});
    assert!(unmet(chain.clone(), 3, "7777777", false).is_some());
    set(&mut chain[2], "/status/artifact/metadata", origin);
    assert_eq!(unmet(chain, 3, "7777777", false), None);
}

#[test]
fn one_of_several_roots_is_enough() {
    let mut chain = chains::generator();
    let sources = json!([
        {"alias": "repo", "kind": "GitRepository", "name": "repo"},
        {"alias": "image", "kind": "OCIRepository", "name": "repo"}
    ]);
    set(&mut chain[1], "/spec/sources", sources);
    chain.push(sample::oci_repository("ns", "repo"));
    assert_eq!(unmet(chain.clone(), 1, sample::OCI_REVISION, false), None);
    assert_eq!(unmet(chain.clone(), 1, sample::GIT_REVISION, false), None);
    let roots = vec!["GitRepository/ns/repo".to_owned(), "OCIRepository/ns/repo".to_owned()];
    assert_eq!(unmet(chain, 1, "9999999", false), Some(roots));
}

#[test]
fn what_is_absent_shows_nothing() {
    let consumer = sample::kustomization("ns", "app");
    assert_eq!(unmet(vec![consumer], 0, sample::GIT_REVISION, false), Some(Vec::new()));
    let empty = with(sample::git_repository("ns", "repo"), &[("/status/artifact", Value::Null)]);
    assert_eq!(unmet(vec![empty], 0, sample::GIT_REVISION, false), Some(vec!["GitRepository/ns/repo".to_owned()]));
}

/// Nobody forbids generators that feed each other.
#[test]
fn a_loop_of_sources_ends() {
    let mut chain = chains::artifact();
    let own = json!([{"alias": "a", "kind": "ExternalArtifact", "name": sample::ARTIFACT}]);
    set(&mut chain[1], "/spec/sources", own);
    assert_eq!(unmet(chain, 2, "9999999", false), Some(Vec::new()));
}
