//! Premature unsuspends: what blocks one, who is refused and who is held, and what it takes to know.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "helpers of tests")]

#[path = "../support/resume.rs"]
mod resume;
#[path = "../support/mod.rs"]
mod support;

mod blockers;
mod expected;
mod expressions;
mod kinds;
mod roots;
mod unread;

use resume::{
    EXPECTED, HELD, annotated, assert_silent, depending, is_suspended, mark, put, refusal, resumed, stored, suspended,
    unsettled,
};
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::gate::{Fetched, Role, Severity};
use sluicegate_core::object::Kind;
use sluicegate_core::testing::{reference, sample, with};
use support::{COMPANION, FLUX, Judged, PERSON, World};

const AT: &str = "2026-11-30T12:00:00Z";

/// The mark that [`FLUX`] gets.
fn flux_mark(cause: &str) -> String {
    mark(FLUX.user, FLUX.manager, AT, cause)
}

fn git() -> Value {
    sample::git_repository("n", "repo")
}

fn kustomization(name: &str, depends_on: &[&str]) -> Value {
    depending(sample::kustomization("n", name), depends_on)
}

/// A release whose chart comes from a HelmRepository of type `oci`, and that chart.
fn over_oci_helm_repository() -> (Value, Value) {
    let source = json!({"kind": "HelmRepository", "name": "repo"});
    let release = with(sample::helm_release("n", "x"), &[("/spec/chart/spec/sourceRef", source.clone())]);
    let fields = [("/spec/sourceRef", source), ("/status/observedSourceArtifactRevision", Value::Null)];
    (release, with(sample::helm_chart("n", "n-x"), &fields))
}

fn including() -> Value {
    let included = git()["status"]["artifact"].clone();
    with(
        sample::git_repository("n", "x"),
        &[
            ("/spec/include", json!([{"repository": {"name": "repo"}}])),
            ("/status/includedArtifacts", json!([included])),
        ],
    )
}

fn depending_set() -> Value {
    let dependency = json!({
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "name": "k", "namespace": "n",
        "ready": true
    });
    with(sample::resource_set("n", "x"), &[("/spec/dependsOn", json!([dependency]))])
}

fn of_external_artifact() -> Value {
    let source = json!({"kind": "ExternalArtifact", "name": "artifact"});
    let fields = [
        ("/spec/sourceRef", source),
        ("/status/lastAppliedRevision", sample::ARTIFACT_REVISION.into()),
        ("/status/lastAttemptedRevision", sample::ARTIFACT_REVISION.into()),
    ];
    with(sample::kustomization("n", "x"), &fields)
}

fn generated() -> [Value; 3] {
    [sample::external_artifact("n", "artifact"), sample::artifact_generator("n", "generator"), git()]
}

/// An object that can be resumed, all that it needs, and the same with the root source unsettled.
struct Chain {
    object: Value,
    inputs: Vec<Value>,
    broken: Value,
    reads: &'static [&'static str],
    way: &'static str,
}

fn chain(name: &str) -> Chain {
    let over_git = |object: Value, more: Vec<Value>, reads, way| {
        let inputs = [git()].into_iter().chain(more).collect();
        Chain { object, inputs, broken: unsettled(git()), reads, way }
    };
    match name {
        "Kustomization" => {
            let way = "  Kustomization/n/x\n    needs GitRepository/n/repo (spec.sourceRef)";
            over_git(kustomization("x", &[]), vec![], &["GitRepository/n/repo"], way)
        }
        "HelmRelease" => over_git(
            sample::helm_release("n", "x"),
            vec![sample::helm_chart("n", "n-x")],
            &["GitRepository/n/repo", "HelmChart/n/n-x"],
            "  HelmRelease/n/x\n    needs GitRepository/n/repo (spec.chart.spec.sourceRef)",
        ),
        "HelmRelease of an OCIRepository" => Chain {
            object: sample::helm_release_of(Kind::OCIRepository, "repo", "n", "x"),
            inputs: vec![sample::oci_repository("n", "repo")],
            broken: unsettled(sample::oci_repository("n", "repo")),
            reads: &["OCIRepository/n/repo"],
            way: "  HelmRelease/n/x\n    needs OCIRepository/n/repo (spec.chartRef)",
        },
        "HelmRelease of an ExternalArtifact" => Chain {
            object: sample::helm_release_of(Kind::ExternalArtifact, "artifact", "n", "x"),
            inputs: generated().to_vec(),
            broken: unsettled(git()),
            reads: &["ExternalArtifact/n/artifact", "ArtifactGenerator/n/generator", "GitRepository/n/repo"],
            way: "  HelmRelease/n/x\n    needs ExternalArtifact/n/artifact (spec.chartRef)\n    \
                  needs ArtifactGenerator/n/generator (spec.sourceRef)\n    \
                  needs GitRepository/n/repo (spec.sources[0])",
        },
        // Case 103.
        "HelmRelease of an OCI HelmRepository" => {
            let (object, chart) = over_oci_helm_repository();
            Chain {
                object,
                inputs: vec![sample::helm_repository_oci("n", "repo"), chart],
                broken: suspended(sample::helm_repository_oci("n", "repo")),
                reads: &["HelmChart/n/n-x", "HelmRepository/n/repo"],
                way: "  HelmRelease/n/x\n    needs HelmRepository/n/repo (spec.chart.spec.sourceRef)",
            }
        }
        "Kustomization of an ExternalArtifact" => Chain {
            object: of_external_artifact(),
            inputs: generated().to_vec(),
            broken: unsettled(git()),
            reads: &["ExternalArtifact/n/artifact", "ArtifactGenerator/n/generator", "GitRepository/n/repo"],
            way: "  Kustomization/n/x\n    needs ExternalArtifact/n/artifact (spec.sourceRef)\n    \
                  needs ArtifactGenerator/n/generator (spec.sourceRef)\n    \
                  needs GitRepository/n/repo (spec.sources[0])",
        },
        "GitRepository" => over_git(
            including(),
            vec![],
            &["GitRepository/n/repo"],
            "  GitRepository/n/x\n    needs GitRepository/n/repo (spec.include[0].repository)",
        ),
        "HelmChart" => over_git(
            sample::helm_chart("n", "x"),
            vec![],
            &["GitRepository/n/repo"],
            "  HelmChart/n/x\n    needs GitRepository/n/repo (spec.sourceRef)",
        ),
        "Terraform" => over_git(
            sample::terraform("n", "x"),
            vec![],
            &["GitRepository/n/repo"],
            "  Terraform/n/x\n    needs GitRepository/n/repo (spec.sourceRef)",
        ),
        "ArtifactGenerator" => over_git(
            sample::artifact_generator("n", "x"),
            vec![],
            &["GitRepository/n/repo"],
            "  ArtifactGenerator/n/x\n    needs GitRepository/n/repo (spec.sources[0])",
        ),
        "ResourceSet" => over_git(
            depending_set(),
            vec![kustomization("k", &[])],
            &["Kustomization/n/k", "GitRepository/n/repo"],
            "  ResourceSet/n/x\n    needs Kustomization/n/k (spec.dependsOn[0])\n    \
             needs GitRepository/n/repo (spec.sourceRef)",
        ),
        other => panic!("no chain {other}"),
    }
}

fn resume(world: &World, by: support::By, object: &Value) -> Judged {
    world.update(by, &suspended(object.clone()), &resumed(object.clone()))
}

fn refused(inputs: impl IntoIterator<Item = Value>, object: &Value) -> String {
    let judged = resume(&World::with(inputs), PERSON, object);
    refusal(&judged).to_owned()
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
