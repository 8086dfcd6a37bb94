//! The row of HelmRelease.

use super::chains::{self, own_troubles};
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::object::Kind;
use sluicegate_core::testing::{sample, with};

/// What the newest entry of the history must say, by kind of source and form of its revision; recorded live.
#[rstest]
#[case(Kind::OCIRepository, "1.0.0@sha256:cada", "1.0.0+cada9a7b9e3e", Some("sha256:cada"), true)]
#[case(Kind::OCIRepository, "1.0.0_build.1@sha256:3dd4", "1.0.0+3dd462c3f592", Some("sha256:3dd4"), true)]
#[case(Kind::OCIRepository, "latest@sha256:8a9e", "1.0.0+8a9e8a4920e6", Some("latest@sha256:8a9e"), true)]
#[case(Kind::OCIRepository, "1.0.0@sha256:cada", "1.0.0+cada9a7b9e3e", Some("sha256:ffff"), false)]
#[case(Kind::OCIRepository, "1.0.0@sha256:cada", "1.0.0@sha256:cada", None, false)]
#[case(Kind::OCIRepository, "1.0.0@sha256:cada", "1.0.0", Some(""), false)]
#[case(Kind::OCIRepository, "latest", "1.0.0", None, false)]
#[case(Kind::ExternalArtifact, "latest@sha256:25db", "1.0.0+25db", Some("latest@sha256:25db"), true)]
#[case(Kind::ExternalArtifact, "main@sha1:365c", "1.0.4+365cfdc63165", Some("main@sha1:365c"), true)]
#[case(Kind::ExternalArtifact, "main@sha1:365c", "1.0.4+365cfdc63165", Some("main@sha1:ffff"), false)]
#[case(Kind::ExternalArtifact, "main@sha1:365c", "1.0.4", None, false)]
#[case(Kind::ExternalArtifact, "1.2.57985", "1.2.57985", None, true)]
#[case(Kind::ExternalArtifact, "1.2.57985", "1.2.57984", None, false)]
#[case(Kind::ExternalArtifact, "1.2.57985", "1.2.57985", Some("main@sha1:365c"), false)]
#[case(Kind::ExternalArtifact, "build-17", "1.0.0", None, true)]
#[case(Kind::ExternalArtifact, "build-17", "1.0.0", Some("main@sha1:365c"), false)]
#[case(Kind::HelmChart, "1.0.6+own.1", "1.0.6+own.1", None, true)]
#[case(Kind::HelmChart, "v1.0.7", "v1.0.7", None, true)]
#[case(Kind::HelmChart, "1.0.7", "1.0.6", None, false)]
fn what_a_release_was_made_from(
    #[case] kind: Kind,
    #[case] revision: &str,
    #[case] version: &str,
    #[case] digest: Option<&str>,
    #[case] accepted: bool,
) {
    let source = match kind {
        Kind::OCIRepository => sample::oci_repository("ns", "s"),
        Kind::HelmChart => sample::helm_chart("ns", "s"),
        _ => sample::external_artifact("ns", "s"),
    };
    let release = with(
        sample::helm_release_of(Kind::OCIRepository, "s", "ns", "app"),
        &[
            ("/spec/chartRef/kind", kind.name().into()),
            ("/status/history/0/chartVersion", version.into()),
            ("/status/history/0/ociDigest", digest.into()),
            ("/status/conditions/Ready/message", "Release reconciliation succeeded".into()),
        ],
    );
    let troubles = own_troubles(&[with(source, &[("/status/artifact/revision", revision.into())]), release]);
    if accepted {
        assert_eq!(troubles, Vec::<String>::new());
    } else {
        let released = digest.filter(|digest| !digest.is_empty()).unwrap_or(version);
        assert_eq!(troubles, [format!("release is of {released}, its source has {revision}")]);
    }
}

/// Ready messages that agree with the history, or say nothing of it.
#[rstest]
#[case("Helm install succeeded for release ns/app.v2 with chart app@1.2.3")]
#[case("Helm test succeeded for release ns/app.v2 with chart app@1.2.3: no test hooks")]
#[case("Release reconciliation succeeded")]
#[case("Helm upgrade succeeded")]
#[case("Helm upgrade succeeded for release ns/app.v1")]
#[case("")]
fn a_ready_message_that_is_no_contradiction(#[case] message: &str) {
    let chain = release_with("/status/conditions/Ready/message", message.into());
    assert_eq!(own_troubles(&chain), Vec::<String>::new());
}

#[test]
fn the_newest_entry_counts_whatever_the_order() {
    let mut release = sample::helm_release("ns", "app");
    release["status"]["history"].as_array_mut().unwrap().reverse();
    let mut chain = chains::release();
    chain[2] = release;
    assert_eq!(own_troubles(&chain), Vec::<String>::new());
}

#[test]
fn a_release_waits_for_the_chart_that_it_has_yet_to_write() {
    let mut chain = chains::release();
    chain[2] = with(chain[2].clone(), &[("/spec/chart/spec/version", json!(">=2"))]);
    assert_eq!(own_troubles(&chain), ["its HelmChart is not yet what spec.chart asks for"]);
    chain.remove(1);
    assert_eq!(own_troubles(&chain), ["its HelmChart does not exist yet"]);
}

fn release_with(field: &str, value: Value) -> chains::Chain {
    let mut chain = chains::release();
    chain[2] = with(chain[2].clone(), &[(field, value)]);
    chain
}

#[rstest]
#[case("/status/lastAttemptedGeneration", json!(1), "generation 2 not yet attempted (1)")]
#[case("/status/lastAttemptedGeneration", Value::Null, "generation 2 not yet attempted (none)")]
#[case("/status/observedGeneration", json!(1), "generation 2 not yet observed (1)")]
#[case("/status/history/0/status", json!("pending-upgrade"), "newest release v2 is not deployed (pending-upgrade)")]
#[case("/status/history/0/status", json!("failed"), "newest release v2 is not deployed (failed)")]
#[case("/status/history/0/status", Value::Null, "newest release v2 is not deployed (none)")]
#[case("/status/history", json!([]), "has no release in its history")]
#[case(
    "/status/conditions/Ready/message",
    json!("Helm upgrade succeeded for release ns/app.v3 with chart app@1.2.3"),
    "status is inconsistent: Ready says v3 app@1.2.3, the history v2 app@1.2.3"
)]
#[case(
    "/status/conditions/Ready/message",
    json!("Helm test succeeded for release ns/app.v2 with chart app@1.2.4: no test hooks"),
    "status is inconsistent: Ready says v2 app@1.2.4, the history v2 app@1.2.3"
)]
#[case(
    "/status/conditions/Ready/message",
    json!("Helm install succeeded for release ns/app.v2 with chart old@1.2.3"),
    "status is inconsistent: Ready says v2 old@1.2.3, the history v2 app@1.2.3"
)]
#[case("/status/conditions/Ready/status", json!("Unknown"), "not ready yet: Helm upgrade succeeded")]
fn each_test_refuses_alone(#[case] field: &str, #[case] value: Value, #[case] said: &str) {
    let [trouble] = <[String; 1]>::try_from(own_troubles(&release_with(field, value))).unwrap();
    assert!(trouble.starts_with(said), "{trouble}");
}
