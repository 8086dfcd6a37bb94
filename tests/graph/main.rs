//! `sluicegate graph` and its kin as processes, against an API server.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "helpers of tests")]

mod kin;
mod server;

use serde_json::{Value, json};
use server::Server;
use sluicegate_core::testing::{sample, with};
use std::process::{Command, Output};

/// What a process did.
fn shown(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let code = output.status.code().map_or("none".to_owned(), |code| code.to_string());
    format!("{}--- stderr\n{}--- exit {code}\n", text(&output.stdout), text(&output.stderr))
}

fn command(server: Option<&Server>, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sluicegate"));
    command.args(arguments).env_clear().env("HOME", "/nonexistent").env("LANG", "C.UTF-8");
    if let Some(server) = server {
        command.env("KUBECONFIG", &server.kubeconfig);
    }
    command
}

fn run(server: &Server, arguments: &[&str]) -> String {
    shown(&command(Some(server), arguments).output().unwrap())
}

fn kustomization(namespace: &str, name: &str, needs: &[&str]) -> Value {
    let needs: Vec<Value> = needs
        .iter()
        .map(|need| match need.split_once('/') {
            Some((namespace, name)) => json!({"name": name, "namespace": namespace}),
            None => json!({"name": need}),
        })
        .collect();
    with(
        sample::kustomization(namespace, name),
        &[("/spec/dependsOn", json!(needs)), ("/spec/sourceRef/namespace", json!("flux-system"))],
    )
}

/// A loop of three, something suspended that waits for it and for something absent, and needs in other namespaces.
fn objects() -> Vec<Value> {
    vec![
        sample::git_repository("flux-system", "repo"),
        kustomization("flux-system", "infra", &[]),
        kustomization("apps", "a", &["b"]),
        kustomization("apps", "b", &["c"]),
        kustomization("apps", "c", &["a", "flux-system/infra"]),
        with(kustomization("apps", "d", &["a", "gone"]), &[("/spec/suspend", json!(true))]),
        kustomization("other", "behind", &["apps/b"]),
    ]
}

#[test]
fn a_namespace_and_what_it_needs_elsewhere() {
    let server = Server::with(objects(), &[]);
    insta::assert_snapshot!("namespace", run(&server, &["graph"]));
    let asked = server.asked();
    let lists: Vec<&str> = asked.iter().filter_map(|path| path.strip_suffix(" in apps")).collect();
    assert_eq!(lists.len(), 11, "one list for each kind that has namespaces: {asked:?}");
    let reads: Vec<&String> = asked.iter().filter(|path| !path.ends_with(" in apps")).collect();
    assert_eq!(reads, ["gitrepositories repo in flux-system", "kustomizations infra in flux-system"]);
}

#[test]
fn the_whole_cluster_by_lists_alone() {
    let server = Server::with(objects(), &[]);
    insta::assert_snapshot!("whole_cluster", run(&server, &["graph", "-A", "--ascii"]));
    let asked = server.asked();
    assert_eq!(asked.len(), 13, "{asked:?}");
    assert!(asked.iter().all(|path| !path.contains(' ')), "{asked:?}");
}

#[test]
fn cones() {
    let server = Server::with(objects(), &[]);
    insta::assert_snapshot!("needs", run(&server, &["graph", "ks/a"]));
    assert_eq!(
        run(&server, &["graph", "--for", "Kustomization/apps/a", "-n", "nowhere"]),
        run(&server, &["graph", "ks/a"])
    );
    insta::assert_snapshot!("dependants", run(&server, &["graph", "--reverse", "ks/flux-system/infra", "-A"]));
}

#[test]
fn every_form() {
    let server = Server::with(objects(), &[]);
    for form in ["mermaid", "dot", "json", "svg"] {
        insta::assert_snapshot!(form, run(&server, &["graph", "-A", "-o", form]));
    }
    assert_eq!(run(&server, &["graph", "-o", "text"]), run(&server, &["graph"]));
}

#[test]
fn the_locale_decides_on_the_characters() {
    let server = Server::with(objects(), &[]);
    let with = |name: &str, value: &str| shown(&command(Some(&server), &["graph"]).env(name, value).output().unwrap());
    assert!(with("LC_ALL", "C").contains("|-- "));
    assert!(with("LC_ALL", "en_US.utf8").contains("├── "));
    assert!(with("LANG", "").contains("├── "));
}

#[test]
fn what_may_not_be_read_is_unknown() {
    let server = Server::with(objects(), &["/namespaces/flux-system/"]);
    let text = run(&server, &["graph", "ks/c"]);
    assert!(text.contains("GitRepository/flux-system/repo (spec.sourceRef)  unknown: you may not read it\n"), "{text}");
    assert!(text.ends_with("--- exit 0\n"), "{text}");
}

#[test]
fn objects_that_cannot_be_read_are_unknown() {
    let broken = with(sample::kustomization("apps", "broken"), &[("/spec/dependsOn", json!("all"))]);
    let server = Server::with([broken, kustomization("apps", "a", &["broken"])], &[]);
    insta::assert_snapshot!("unreadable", run(&server, &["graph"]));
    insta::assert_snapshot!("unreadable_named", run(&server, &["graph", "ks/broken"]));
}

#[test]
fn what_goes_wrong() {
    let server = Server::with(objects(), &[]);
    insta::assert_snapshot!("not_there", run(&server, &["graph", "ks/nothing"]));
    insta::assert_snapshot!("no_kind", run(&server, &["graph", "pod/x"]));
    insta::assert_snapshot!("no_form", run(&server, &["graph", "a/b/c/d"]));
    insta::assert_snapshot!("reverse_of_nothing", run(&server, &["graph", "--reverse"]));
    insta::assert_snapshot!("empty_namespace", run(&server, &["graph", "-n", "empty"]));
    insta::assert_snapshot!("no_context", run(&server, &["graph", "--context", "nowhere"]));
    let server = Server::with(objects(), &["kustomizations"]);
    insta::assert_snapshot!("list_forbidden", run(&server, &["graph"]));
    let nothing = shown(&command(None, &["graph"]).output().unwrap());
    assert!(nothing.starts_with("--- stderr\nerror: no cluster: "), "{nothing}");
    assert!(nothing.ends_with("--- exit 1\n"), "{nothing}");
}

#[test]
fn an_empty_cluster() {
    let server = Server::with([], &[]);
    insta::assert_snapshot!("empty_cluster", run(&server, &["graph", "-A"]));
}

/// `sluicegate graph | head -1`.
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let many = (0..2_000).map(|number| kustomization("apps", &format!("unit-{number}"), &["unit-0"]));
    let server = Server::with(many, &[]);
    let mut process = command(Some(&server), &["graph", "-o", "json"]);
    let mut process =
        process.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    drop(process.stdout.take());
    let output = process.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
}

/// The repository of the incident, without a cluster.
#[test]
fn files() {
    let run =
        |arguments: &[&str]| shown(&command(None, arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap());
    insta::assert_snapshot!("files", run(&["graph", "-f", "testdata/trees/incident", "ks/cluster"]));
    insta::assert_snapshot!(run(&["graph", "-f", "testdata/trees/incident", "ks/nothing"]), @r#"
    --- stderr
    error: Kustomization/default/nothing: not found
    --- exit 1
    "#);
    insta::assert_snapshot!(run(&["graph", "-f", "testdata/nowhere"]), @r#"
    --- stderr
    testdata/nowhere: does not exist
    error: the files hold no objects of the judged kinds
    --- exit 1
    "#);
}
