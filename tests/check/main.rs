//! `sluicegate check` as a process: standard output, standard error and exit code, in full.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "helpers of tests")]

mod cluster;
#[path = "../graph/server.rs"]
mod server;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder that goes when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("sluicegate-check-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path.canonicalize().unwrap())
    }

    fn put(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let full = self.0.join(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(full, content).unwrap();
        self
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn sluicegate(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sluicegate"));
    command.current_dir(folder).env_remove("KUBECONFIG").env("HOME", folder).env_remove("KUBERNETES_SERVICE_HOST");
    command
}

/// What a run prints, and how it ends.
fn run(folder: &Folder, arguments: &[&str], input: &str) -> String {
    let mut command = sluicegate(&folder.0);
    command.arg("check").args(arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap().replace(folder.0.to_str().unwrap(), "FOLDER");
    format!("{}--- stderr\n{}--- exit {}", text(&output.stdout), text(&output.stderr), output.status.code().unwrap())
}

fn unit(name: &str, needs: &[&str]) -> String {
    let needs: String = needs.iter().map(|need| format!("    - name: {need}\n")).collect();
    let needs = if needs.is_empty() { needs } else { format!("  dependsOn:\n{needs}") };
    format!(
        "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: {name}\n  namespace: sylva-system\nspec:\n{needs}  path: ./{name}\n"
    )
}

/// The loop of the incident.
fn incident() -> Folder {
    let folder = Folder::new();
    folder
        .put("units/cluster.yaml", unit("cluster", &["kyverno-policies-ready", "capm3"]))
        .put("units/policies.yaml", unit("kyverno-policies-ready", &["cluster-machines-ready"]))
        .put("units/machines.yaml", unit("cluster-machines-ready", &["cluster"]) + &unit("monitoring", &["cluster"]))
        .put("units/capm3.yaml", unit("capm3", &[]));
    folder
}

#[test]
fn the_incident_for_a_person() {
    insta::assert_snapshot!(run(&incident(), &[], ""), @r#"
    units/cluster.yaml:9: error: dependency cycle: Kustomization/sylva-system/cluster needs itself [cycle]
      Kustomization/sylva-system/cluster
        needs Kustomization/sylva-system/kyverno-policies-ready   (spec.dependsOn[0], units/cluster.yaml:9)
        needs Kustomization/sylva-system/cluster-machines-ready   (spec.dependsOn[0], units/policies.yaml:9)
        needs Kustomization/sylva-system/cluster                  (spec.dependsOn[0], units/machines.yaml:9)
      no loop is left if Kustomization/sylva-system/cluster does not need Kustomization/sylva-system/kyverno-policies-ready (spec.dependsOn[0], units/cluster.yaml:9)
      waits behind this loop: Kustomization/sylva-system/monitoring
    --- stderr
    checked 5 objects in 4 files: 1 error
    --- exit 1
    "#);
}

#[test]
fn the_incident_for_machines() {
    let folder = incident();
    insta::assert_snapshot!("json", run(&folder, &["-o", "json", "units"], ""));
    insta::assert_snapshot!("sarif", run(&folder, &["-o", "sarif"], "").replace(env!("CARGO_PKG_VERSION"), "VERSION"));
    insta::assert_snapshot!(run(&folder, &["-o", "github"], ""), @r#"
    ::error file=units/cluster.yaml,line=9,title=cycle::dependency cycle: Kustomization/sylva-system/cluster needs itself%0A  Kustomization/sylva-system/cluster%0A    needs Kustomization/sylva-system/kyverno-policies-ready   (spec.dependsOn[0], units/cluster.yaml:9)%0A    needs Kustomization/sylva-system/cluster-machines-ready   (spec.dependsOn[0], units/policies.yaml:9)%0A    needs Kustomization/sylva-system/cluster                  (spec.dependsOn[0], units/machines.yaml:9)%0A  no loop is left if Kustomization/sylva-system/cluster does not need Kustomization/sylva-system/kyverno-policies-ready (spec.dependsOn[0], units/cluster.yaml:9)%0A  waits behind this loop: Kustomization/sylva-system/monitoring
    --- stderr
    checked 5 objects in 4 files: 1 error
    --- exit 1
    "#);
}

#[test]
fn nothing_to_say() {
    let folder = Folder::new();
    folder.put("a.yaml", unit("a", &[]));
    insta::assert_snapshot!(run(&folder, &[], ""), @r#"
    --- stderr
    checked 1 object in 1 file: nothing found
    --- exit 0
    "#);
    insta::assert_snapshot!(run(&folder, &["a.yaml", "-o", "json"], ""), @r#"
    {
      "clusters": [
        ""
      ],
      "findings": [],
      "schemaVersion": 1,
      "summary": {
        "errors": 0,
        "files": 1,
        "notes": 0,
        "objects": 1,
        "warnings": 0
      }
    }
    --- stderr
    checked 1 object in 1 file: nothing found
    --- exit 0
    "#);
}

#[test]
fn standard_input() {
    let folder = Folder::new();
    insta::assert_snapshot!(run(&folder, &["-"], &(unit("a", &["b"]) + &unit("b", &["a"]))), @r#"
    -:9: error: dependency cycle: Kustomization/sylva-system/a needs itself [cycle]
      Kustomization/sylva-system/a
        needs Kustomization/sylva-system/b   (spec.dependsOn[0], -:9)
        needs Kustomization/sylva-system/a   (spec.dependsOn[0], -:19)
      no loop is left if Kustomization/sylva-system/a does not need Kustomization/sylva-system/b (spec.dependsOn[0], -:9)
    --- stderr
    checked 2 objects in 1 file: 1 error
    --- exit 1
    "#);
}

#[test]
fn notes_and_a_part_of_the_objects() {
    let folder = Folder::new();
    folder.put("a.yaml", unit("a", &["b"]));
    insta::assert_snapshot!(run(&folder, &["--partial"], ""), @r#"
    --- stderr
    checked 1 object in 1 file: 1 note (--notes shows notes)
    --- exit 0
    "#);
    insta::assert_snapshot!(run(&folder, &["--partial", "--notes"], ""), @r#"
    a.yaml:9: note: Kustomization/sylva-system/a names Kustomization/sylva-system/b in spec.dependsOn[0], which does not exist [missing]
    --- stderr
    checked 1 object in 1 file: 1 note
    --- exit 0
    "#);
}

#[test]
fn what_cannot_be_read_does_not_keep_the_rest_from_being_checked() {
    let folder = Folder::new();
    folder
        .put("bad/broken.yaml", "apiVersion: v1\nkind: [\n")
        .put("bad/binary.yaml", [0xff, 0xfe, 0x00])
        .put("bad/template.yaml", "{{ if .x }}\na: {{ .y }}: z\n{{ end }}\n")
        .put("bad/crlf.yaml", format!("\u{feff}{}", unit("crlf", &["crlf"]).replace('\n', "\r\n")))
        .put("bad/double.yaml", unit("double", &[]) + "  path: ./again\n")
        .put("bad/chart/Chart.yaml", "name: c\nversion: 1.0.0\n")
        .put("bad/chart/templates/x.yaml", "{{ not yaml }}: [")
        .put("bad/.hidden/x.yaml", "apiVersion: [")
        .put("good.yaml", unit("good", &["gone"]));
    let arguments = ["bad", "good.yaml", "nowhere", "bad/template.yaml"];
    insta::assert_snapshot!(run(&folder, &arguments, ""), @r#"
    bad/broken.yaml:2: error: this is no YAML: unclosed bracket '[' [broken-yaml]
    bad/double.yaml:9: error: key path is given twice [broken-yaml]
    bad/template.yaml:1: error: a key is not text [broken-yaml]
    bad/template.yaml:2: error: this is no YAML: did not find expected <document start> [broken-yaml]
    nowhere: error: does not exist [unreadable-file]
    bad/crlf.yaml:9: error: self-dependency: Kustomization/sylva-system/crlf names itself in spec.dependsOn[0] [cycle]
      Kustomization/sylva-system/crlf
        needs Kustomization/sylva-system/crlf   (spec.dependsOn[0], bad/crlf.yaml:9)
    bad/good.yaml:9: error: Kustomization/sylva-system/good names Kustomization/sylva-system/gone in spec.dependsOn[0], which does not exist [missing]
    --- stderr
    checked 3 objects in 7 files: 7 errors, 1 note (--notes shows notes)
    --- exit 1
    "#);
}

#[cfg(unix)]
#[test]
fn links_in_circles_and_files_that_may_not_be_read() {
    let folder = Folder::new();
    folder.put("a/a.yaml", unit("a", &["a"]));
    std::os::unix::fs::symlink(&folder.0, folder.0.join("a/up")).unwrap();
    std::os::unix::fs::symlink("nothing", folder.0.join("a/dangling.yaml")).unwrap();
    insta::assert_snapshot!(run(&folder, &[], ""), @r#"
    a/dangling.yaml: error: does not exist [unreadable-file]
    a/a.yaml:9: error: self-dependency: Kustomization/sylva-system/a names itself in spec.dependsOn[0] [cycle]
      Kustomization/sylva-system/a
        needs Kustomization/sylva-system/a   (spec.dependsOn[0], a/a.yaml:9)
    --- stderr
    checked 1 object in 1 file: 2 errors
    --- exit 1
    "#);
}

#[test]
fn huge_files_are_told_of() {
    let folder = Folder::new();
    folder.put("a.yaml", unit("a", &[]));
    fs::File::create(folder.0.join("huge.yaml")).unwrap().set_len(100 * 1_024 * 1_024).unwrap();
    insta::assert_snapshot!(run(&folder, &[], ""), @r#"
    huge.yaml: error: larger than 32 MiB: not read [unreadable-file]
    --- stderr
    checked 1 object in 1 file: 1 error
    --- exit 1
    "#);
}

#[test]
fn several_clusters() {
    let folder = Folder::new();
    folder
        .put("clusters/one/a.yaml", unit("a", &["b"]))
        .put("clusters/two/a.yaml", unit("a", &[]))
        .put("common.yaml", unit("b", &["a"]));
    insta::assert_snapshot!(run(&folder, &[], ""), @r#"
    clusters/one/a.yaml:9: error: dependency cycle: Kustomization/sylva-system/a needs itself [cycle]
      Kustomization/sylva-system/a
        needs Kustomization/sylva-system/b   (spec.dependsOn[0], clusters/one/a.yaml:9)
        needs Kustomization/sylva-system/a   (spec.dependsOn[0], common.yaml:9)
      no loop is left if Kustomization/sylva-system/a does not need Kustomization/sylva-system/b (spec.dependsOn[0], clusters/one/a.yaml:9)
      in clusters/one
    --- stderr
    checked 4 objects in 3 files, 2 clusters: 1 error
    --- exit 1
    "#);
    insta::assert_snapshot!(run(&folder, &["--only", "clusters/two"], ""), @r#"
    --- stderr
    checked 2 objects in 3 files: nothing found
    --- exit 0
    "#);
    insta::assert_snapshot!(run(&folder, &["--only", "three"], ""), @r#"
    --- stderr
    error: there is no cluster three; there are: clusters/one, clusters/two
    --- exit 2
    "#);
}

#[test]
fn what_is_led_to_is_read_within_the_work_tree() {
    let folder = Folder::new();
    let cluster = "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: s}\nspec:\n  path: ./apps\n  wait: true\n  sourceRef: {kind: GitRepository, name: repo}\n  dependsOn: [{name: child, namespace: sylva-system}]\n";
    folder
        .put(".git/HEAD", "ref: refs/heads/main\n")
        .put("cluster/apps.yaml", cluster)
        .put("apps/child.yaml", unit("child", &[]))
        .put("other/unrelated.yaml", unit("x", &["x"]));
    insta::assert_snapshot!(run(&folder, &["cluster"], ""), @r#"
    --- stderr
    checked 2 objects in 2 files: nothing found
    --- exit 0
    "#);
}

#[test]
fn wrong_usage_ends_with_two() {
    let folder = Folder::new();
    let said = run(&folder, &["--output", "xml"], "");
    assert!(said.contains("invalid value 'xml'") && said.ends_with("exit 2"), "{said}");
}

#[test]
fn no_cluster_is_a_sentence() {
    let folder = Folder::new();
    insta::assert_snapshot!(run(&folder, &["--cluster", "--kubeconfig", "nowhere"], ""), @r#"
    --- stderr
    error: kubeconfig nowhere does not exist
    --- exit 1
    "#);
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = Folder::new();
    // More than a pipe holds.
    let many: String = (0..2_000).map(|n| unit(&format!("u{n}"), &[&format!("gone{n}")])).collect();
    folder.put("a.yaml", many);
    let mut child = sluicegate(&folder.0).arg("check").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "as if it had been read to the end");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
}

/// The README shows what the command prints.
#[test]
fn the_readme_shows_the_incident() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = sluicegate(&root.join("testdata/trees/incident")).args(["check"]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    let shown = |text: &str| {
        let (_, rest) = text.split_once("<!-- check: begin -->\n```text\n").unwrap();
        let (shown, _) = rest.split_once("```\n<!-- check: end -->").unwrap();
        shown.strip_prefix("$ sluicegate check\n").unwrap().to_owned()
    };
    // From within a git work tree paths are shown from its root on; elsewhere from the folder.
    let said = said.replace("testdata/trees/incident/", "");
    assert_eq!(shown(include_str!("../../README.md")), said);
    assert_eq!(output.status.code(), Some(1));
}
