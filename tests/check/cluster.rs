//! The live state, and the live state as it would be after a change.

use crate::server::Server;
use crate::{Folder, sluicegate, unit};
use serde_json::{Value, json};
use sluicegate_core::testing::{sample, with};

fn run(folder: &Folder, server: &Server, arguments: &[&str]) -> String {
    let output =
        sluicegate(&folder.0).arg("check").args(arguments).env("KUBECONFIG", &server.kubeconfig).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    format!("{}--- stderr\n{}--- exit {}", text(&output.stdout), text(&output.stderr), output.status.code().unwrap())
}

fn live(name: &str, needs: &[&str]) -> Value {
    let needs: Vec<Value> = needs.iter().map(|need| json!({"name": need})).collect();
    with(sample::kustomization("sylva-system", name), &[("/spec/dependsOn", json!(needs))])
}

fn cluster() -> Server {
    Server::with(
        [sample::git_repository("sylva-system", "repo"), live("a", &[]), live("b", &["a"]), live("c", &["c"])],
        &[],
    )
}

#[test]
fn what_is_there() {
    let server = cluster();
    insta::assert_snapshot!(run(&Folder::new(), &server, &["--cluster"]), @r#"
    error: self-dependency: Kustomization/sylva-system/c names itself in spec.dependsOn[0] [cycle]
      Kustomization/sylva-system/c
        needs Kustomization/sylva-system/c   (spec.dependsOn[0])
      new revisions of GitRepository/sylva-system/repo no longer reach Kustomization/sylva-system/a, Kustomization/sylva-system/b (fluxcd/kustomize-controller#1712)
    --- stderr
    checked 4 objects in 0 files: 1 error
    --- exit 1
    "#);
    let asked = server.asked();
    assert_eq!(asked.len(), 13, "one list a kind, and no read: {asked:?}");
}

#[test]
fn what_would_be_there() {
    let folder = Folder::new();
    folder.put("a.yaml", unit("a", &["b"]));
    insta::assert_snapshot!(run(&folder, &cluster(), &["--cluster", "a.yaml"]), @r#"
    a.yaml:9: error: dependency cycle: Kustomization/sylva-system/a needs itself [cycle]
      Kustomization/sylva-system/a
        needs Kustomization/sylva-system/b   (spec.dependsOn[0], a.yaml:9)
        needs Kustomization/sylva-system/a   (spec.dependsOn[0])
      no loop is left if Kustomization/sylva-system/a does not need Kustomization/sylva-system/b (spec.dependsOn[0], a.yaml:9)
    error: self-dependency: Kustomization/sylva-system/c names itself in spec.dependsOn[0] [cycle]
      Kustomization/sylva-system/c
        needs Kustomization/sylva-system/c   (spec.dependsOn[0])
      new revisions of GitRepository/sylva-system/repo no longer reach Kustomization/sylva-system/b (fluxcd/kustomize-controller#1712)
    --- stderr
    checked 4 objects in 1 file: 2 errors
    --- exit 1
    "#);
}

#[test]
fn a_kind_that_may_not_be_listed_is_told_of() {
    let server = Server::with([live("a", &[])], &["kustomizations"]);
    insta::assert_snapshot!(run(&Folder::new(), &server, &["--cluster"]), @r#"
    --- stderr
    error: cannot list kustomizations.kustomize.toolkit.fluxcd.io: kustomizations is forbidden: User "me" cannot do that
    --- exit 1
    "#);
}
