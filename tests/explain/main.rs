//! `sluicegate explain` as a process, against an API server in memory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "helpers of tests")]
#![allow(missing_docs, dead_code, reason = "helpers of tests")]

#[path = "../wait/process.rs"]
mod process;
#[path = "../wait/server.rs"]
mod server;
#[path = "../wait/wire.rs"]
mod wire;

use process::run;
use serde_json::{Value, json};
use server::Server;
use sluicegate_core::object::Kind;
use sluicegate_core::testing::{sample, with};

fn named(json: Value, needs: &[&str]) -> Value {
    let entries: Vec<Value> = needs.iter().map(|name| json!({"name": name})).collect();
    with(json, &[("/spec/dependsOn", json!(entries))])
}

fn failed(json: Value, reason: &str, message: &str) -> Value {
    with(
        json,
        &[
            ("/status/conditions/Ready/status", json!("False")),
            ("/status/conditions/Ready/reason", json!(reason)),
            ("/status/conditions/Ready/message", json!(message)),
        ],
    )
}

fn waiting(name: &str, on: &str) -> Value {
    let message = format!("dependency 'ns/{on}' is not ready");
    failed(named(sample::kustomization("ns", name), &[on]), "DependencyNotReady", &message)
}

fn repository() -> Value {
    sample::git_repository("ns", "repo")
}

#[test]
fn what_is_settled_is_said_in_a_line() {
    let server = Server::with([repository(), sample::kustomization("ns", "a")]);
    insta::assert_snapshot!(run(&server, &["explain", "ks/a"]));
    assert_eq!(server.calls("GET").len(), 2, "each object of the cone once, and nothing else");
    assert_eq!(server.calls("").len(), 2);
    server.is_fine();
}

#[test]
fn case_13_the_operator_whose_crd_is_missing_is_the_root() {
    let message = "Widget/x/x dry-run failed: no matches for kind \"Widget\" in version \"acme.io/v1\"";
    let server = Server::with([
        repository(),
        waiting("apps", "infra"),
        waiting("infra", "controllers"),
        failed(sample::kustomization("ns", "controllers"), "ReconciliationFailed", message),
    ]);
    insta::assert_snapshot!(run(&server, &["explain", "ks/apps"]));
    server.is_fine();
}

#[test]
fn case_45_a_suspended_object_says_who_suspended_it_and_how_far_it_lags() {
    let managers = json!([
        {"manager": "kustomize-controller", "operation": "Apply", "time": "2026-01-01T00:00:00Z",
         "fieldsV1": {"f:spec": {"f:path": {}}}},
        {"manager": "flux", "operation": "Update", "time": "2026-01-02T03:04:05Z",
         "fieldsV1": {"f:spec": {"f:suspend": {}}}}
    ]);
    let root = with(
        sample::kustomization("ns", "root"),
        &[
            ("/spec/suspend", json!(true)),
            ("/status/lastAppliedRevision", json!("main@sha1:0000000000000000000000000000000000000000")),
            ("/metadata/managedFields", managers),
        ],
    );
    let server = Server::with([repository(), root]);
    insta::assert_snapshot!(run(&server, &["explain", "kustomization/ns/root"]));
}

#[test]
fn a_held_object_says_for_whom_it_is_held() {
    let mark = json!({"applier": {"user": "system:serviceaccount:flux-system:kustomize-controller",
        "manager": "kustomize-controller"}, "at": "2026-01-02T03:04:05Z", "cause": "premature"});
    let held = with(
        sample::kustomization("ns", "a"),
        &[
            ("/spec/suspend", json!(true)),
            ("/metadata/annotations/sluicegate.dev~1held", json!(mark.to_string())),
            ("/metadata/annotations/sluicegate.dev~1release", json!("never")),
        ],
    );
    let server = Server::with([repository(), held]);
    insta::assert_snapshot!(run(&server, &["explain", "ks/a"]));
}

#[test]
fn case_23_a_kustomization_that_names_a_release() {
    let books = named(sample::kustomization("ns", "books"), &["storage-cluster"]);
    let server = Server::with([repository(), books, sample::helm_release("ns", "storage-cluster")]);
    insta::assert_snapshot!(run(&server, &["explain", "ks/books"]));
    server.is_fine();
}

#[test]
fn case_61_a_message_that_is_out_of_date_is_called_so() {
    let message = "HelmChart 'ns/ns-r' is not ready: latest generation of object has not been reconciled";
    let release = failed(sample::helm_release("ns", "r"), "SourceNotReady", message);
    let server = Server::with([repository(), sample::helm_chart("ns", "ns-r"), release]);
    insta::assert_snapshot!(run(&server, &["explain", "hr/r"]));
}

#[test]
fn case_65_unknown_although_deployed_is_called_stuck() {
    let release = with(
        sample::helm_release("ns", "r"),
        &[
            ("/status/conditions/Ready/status", json!("Unknown")),
            ("/status/conditions/Ready/reason", json!("Progressing")),
            ("/status/conditions/Ready/message", json!("Running 'install' action with timeout of 5m0s")),
        ],
    );
    let server = Server::with([repository(), sample::helm_chart("ns", "ns-r"), release]);
    insta::assert_snapshot!(run(&server, &["explain", "hr/r"]));
}

#[test]
fn case_83_a_source_that_is_settled_and_cannot_be_fetched() {
    let message = "Source is not ready, artifact not found, retrying in 30s";
    let k = with(
        failed(sample::kustomization("ns", "k"), "ArtifactFailed", message),
        &[
            ("/spec/sourceRef", json!({"kind": "ExternalArtifact", "name": sample::ARTIFACT})),
            ("/status/lastAppliedRevision", json!(sample::ARTIFACT_REVISION)),
        ],
    );
    let server = Server::with([
        repository(),
        k,
        sample::external_artifact("ns", sample::ARTIFACT),
        sample::artifact_generator("ns", sample::GENERATOR),
    ]);
    insta::assert_snapshot!(run(&server, &["explain", "ks/k"]));
}

#[test]
fn case_01_a_loop_is_shown_with_its_members_alone() {
    let loops = |name: &str, on: &str| waiting(name, on);
    let server = Server::with([repository(), waiting("bystander", "one"), loops("one", "two"), loops("two", "one")]);
    insta::assert_snapshot!(run(&server, &["explain", "ks/bystander"]));
    insta::assert_snapshot!(run(&server, &["explain", "ks/two"]));
}

#[test]
fn case_19_many_wait_behind_one_and_are_counted() {
    let parent =
        with(
            sample::kustomization("ns", "parent"),
            &[
                ("/spec/wait", json!(true)),
                (
                    "/status/inventory/entries",
                    json!((0..12)
                    .map(|n| json!({"id": format!("ns_k{n}_kustomize.toolkit.fluxcd.io_Kustomization"), "v": "v1"}))
                    .collect::<Vec<_>>()),
                ),
            ],
        );
    let mut objects = vec![repository(), parent, failed(sample::kustomization("ns", "storage"), "BuildFailed", "x")];
    objects.extend((0..12).map(|n| waiting(&format!("k{n}"), "storage")));
    let server = Server::with(objects);
    insta::assert_snapshot!(run(&server, &["explain", "ks/parent"]));
    server.is_fine();
}

#[test]
fn a_right_that_is_missing_is_named_by_verb_and_resource() {
    let server = Server::with([repository(), sample::kustomization("ns", "a")]);
    server.forbid("get", Kind::GitRepository);
    insta::assert_snapshot!(run(&server, &["explain", "ks/a"]));
}

#[test]
fn what_does_not_exist_is_told_and_so_is_a_kind() {
    let server = Server::with([repository()]).without(Kind::Terraform);
    insta::assert_snapshot!(run(&server, &["explain", "ks/a"]));
    insta::assert_snapshot!(run(&server, &["explain", "tf/a"]));
    insta::assert_snapshot!(run(&server, &["explain", "pods/a"]));
}

#[test]
fn machines_get_the_chain_as_json() {
    let server = Server::with([
        repository(),
        waiting("apps", "infra"),
        failed(sample::kustomization("ns", "infra"), "BuildFailed", "kustomize build failed"),
    ]);
    insta::assert_snapshot!(run(&server, &["explain", "ks/apps", "-o", "json"]));
}

#[test]
fn case_35_a_need_on_a_kind_that_is_not_judged_is_named() {
    let entry = json!({"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "name": "w", "namespace": "c"});
    let set = with(sample::resource_set("ns", "net"), &[("/spec/dependsOn", json!([entry]))]);
    insta::assert_snapshot!(run(&Server::with([set]), &["explain", "rset/net"]));
}

/// Objects that somebody has exported, without a cluster.
#[test]
fn files() {
    let run = |arguments: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_sluicegate"))
            .args(arguments)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env("HOME", "/nonexistent")
            .env_remove("KUBECONFIG")
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        format!(
            "{}--- stderr\n{}--- exit {}",
            text(&output.stdout),
            text(&output.stderr),
            output.status.code().unwrap()
        )
    };
    insta::assert_snapshot!(run(&["explain", "-f", "testdata/clusters/upgrading", "ks/nothing"]), @r#"
    Kustomization/default/nothing does not exist

    Kustomization/default/nothing
        does not exist
    --- stderr
    --- exit 1
    "#);
    insta::assert_snapshot!(run(&["explain", "-f", "testdata/clusters/upgrading", "ks/a/b/c"]), @r#"
    --- stderr
    error: ks/a/b/c is not KIND/NAME or KIND/NAMESPACE/NAME
    --- exit 2
    "#);
    let settled = run(&["explain", "-f", "testdata/clusters/settled", "hr/sylva-units"]);
    assert!(settled.starts_with("HelmRelease/sylva-system/sylva-units"), "{settled}");
}
