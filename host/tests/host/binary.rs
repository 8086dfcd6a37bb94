//! The binary: what it prints where, and how it exits.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use rstest::rstest;
use serde_json::Value;

use crate::support::{Guest, METADATA, get, kustomization, request};

const ALLOWED: &str = r#"{"uid":"uid-1","allowed":true,"auditAnnotations":null,"warnings":null}"#;

/// A folder with what a run needs, gone with the value.
struct Bench(PathBuf);

impl Bench {
    fn new(test: &str, guest: &Guest) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("binary-{test}"));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("cluster")).unwrap();
        let bench = Self(path);
        fs::write(bench.path("policy.wasm"), guest.bytes()).unwrap();
        bench.file("request.json", &request().to_string());
        bench.file("cluster/a.json", &kustomization("a").to_string());
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn file(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(&["run", "policy.wasm", "--request", "request.json"], args).output().unwrap()
    }

    fn command(&self, start: &[&str], args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sluicegate-host"));
        command.current_dir(&self.0).args(start).args(args);
        command
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn out(output: &Output) -> &str {
    str::from_utf8(&output.stdout).unwrap()
}

fn err(output: &Output) -> &str {
    str::from_utf8(&output.stderr).unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn reading() -> Guest {
    let payload = get("Kustomization", "apps", "a");
    Guest::calling_then(
        &[("kubewarden", "kubernetes", "get_resource", &payload), ("kubewarden", "tracing", "log", "hello")],
        r#"{"accepted":true}"#,
    )
}

#[test]
fn a_verdict_is_one_line_on_standard_output() {
    let output = Bench::new("line", &Guest::answering(r#"{"accepted":true}"#)).run(&[]);
    assert_eq!((out(&output), err(&output), code(&output)), (&*format!("{ALLOWED}\n"), "", 0));
}

#[test]
fn a_denial_is_a_verdict_too() {
    let output = Bench::new("denial", &Guest::answering(r#"{"accepted":false,"message":"no"}"#)).run(&[]);
    let verdict: Value = serde_json::from_str(out(&output)).unwrap();
    assert_eq!(verdict["status"]["message"], "no");
    assert_eq!(code(&output), 0);
}

#[test]
fn a_time_out_is_a_verdict_too() {
    let bench = Bench::new("timeout", &Guest::running("(loop $l (br $l)) (i32.const 1)"));
    let output = bench.run(&["--timeout", "1"]);
    let verdict: Value = serde_json::from_str(out(&output)).unwrap();
    assert_eq!(
        verdict["status"]["message"],
        "Policy execution interrupted because it exceeded the allowed execution time"
    );
    assert_eq!(code(&output), 0);
}

#[test]
fn what_the_guest_prints_does_not_spoil_the_verdict() {
    let output = Bench::new("print", &Guest::printing("oops\n", r#"{"accepted":true}"#)).run(&[]);
    assert_eq!((out(&output), err(&output)), (&*format!("{ALLOWED}\n"), "oops\n"));
}

#[test]
fn the_request_may_come_from_standard_input() {
    let bench = Bench::new("stdin", &Guest::answering(r#"{"accepted":true}"#));
    let mut child = bench
        .command(&["run", "policy.wasm", "-r", "-"], &[])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(request().to_string().as_bytes()).unwrap();
    assert_eq!(out(&child.wait_with_output().unwrap()), format!("{ALLOWED}\n"));
}

#[test]
fn invalid_settings_are_an_error() {
    let guest = Guest::answering(r#"{"accepted":true}"#)
        .with_settings_answer(r#"{"valid":false,"message":"unknown key `rolle`"}"#);
    let output = Bench::new("invalid", &guest).run(&["--settings-json", r#"{"rolle":1}"#]);
    assert_eq!(
        (out(&output), err(&output), code(&output)),
        ("", "Error: Provided settings are not valid: unknown key `rolle`\n", 1)
    );
}

#[rstest]
#[case::yaml("settings.yaml", "role: hold\n")]
#[case::json("settings.json", r#"{"role": "hold"}"#)]
fn settings_come_from_a_file(#[case] name: &str, #[case] text: &str) {
    // Finds its settings invalid, and quotes them.
    let guest = Guest::default().with_settings_body(
        "(call $guest_request (i32.const 0) (i32.const 65536))
         (call $guest_error (i32.const 65536) (local.get $len)) (i32.const 0)",
    );
    let bench = Bench::new(name, &guest);
    bench.file(name, text);
    let output = bench.run(&["--settings", name]);
    assert!(err(&output).contains(r#"{\"role\":\"hold\"}"#), "{}", err(&output));
    assert_eq!(code(&output), 1);
}

#[rstest]
#[case::no_request(&["run", "policy.wasm", "-r", "absent.json"], "Error: cannot read absent.json: ")]
#[case::no_policy(&["run", "absent.wasm", "-r", "request.json"], "Error: cannot read absent.wasm: ")]
#[case::no_module(&["run", "request.json", "-r", "request.json"], "Error: cannot parse the WebAssembly module: ")]
#[case::no_cluster(
    &["run", "policy.wasm", "-r", "request.json", "--cluster", "absent"],
    "Error: cannot read absent: "
)]
#[case::no_session(
    &["run", "policy.wasm", "-r", "request.json", "--session", "absent.yaml"],
    "Error: cannot access session file absent.yaml: "
)]
#[case::no_object(
    &["run", "policy.wasm", "-r", "request.json", "--settings-json", "[]"],
    "Error: Invalid settings in CRD, not an object"
)]
#[case::no_json(
    &["run", "policy.wasm", "-r", "request.json", "--settings-json", "{"],
    "Error: --settings-json: EOF while parsing"
)]
#[case::empty_request(
    &["run", "policy.wasm", "-r", "empty.json"],
    "Error: cannot build AdmissionRequest object from given input: missing field `uid`"
)]
#[case::inspect_nothing(&["inspect", "absent.wasm"], "Error: cannot read absent.wasm: ")]
fn errors_exit_with_one(#[case] args: &[&str], #[case] text: &str) {
    let bench = Bench::new(&format!("error-{}", text.len() + args.len()), &Guest::answering("{}"));
    bench.file("empty.json", "{}");
    let output = bench.command(args, &[]).output().unwrap();
    assert!(err(&output).starts_with(text), "{}", err(&output));
    assert_eq!((out(&output), code(&output)), ("", 1));
}

#[rstest]
#[case::nothing(&[])]
#[case::no_request(&["run", "policy.wasm"])]
#[case::both_sources(&["run", "p", "-r", "r", "--cluster", "c", "--session", "s"])]
#[case::both_settings(&["run", "p", "-r", "r", "--settings", "s", "--settings-json", "{}"])]
#[case::record_without_cluster(&["run", "p", "-r", "r", "--record", "x"])]
#[case::unknown(&["run", "p", "-r", "r", "--allow"])]
fn wrong_usage_exits_with_two(#[case] args: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_sluicegate-host")).args(args).output().unwrap();
    assert_eq!((out(&output), code(&output)), ("", 2));
    assert!(!err(&output).is_empty());
}

#[test]
fn help_and_version_are_results() {
    for flag in ["--help", "--version"] {
        let output = Command::new(env!("CARGO_BIN_EXE_sluicegate-host")).arg(flag).output().unwrap();
        assert!(out(&output).contains("sluicegate-host"));
        assert_eq!((err(&output), code(&output)), ("", 0));
    }
}

#[test]
fn reads_come_from_a_folder_are_recorded_and_replayed() {
    let bench = Bench::new("record", &reading());
    let recorded = bench.run(&["--cluster", "cluster", "--record", "session.yaml"]);
    assert_eq!((out(&recorded), err(&recorded), code(&recorded)), (&*format!("{ALLOWED}\n"), "", 0));
    let session = fs::read_to_string(bench.path("session.yaml")).unwrap();
    assert!(session.starts_with("- type: Exchange\n  request: |\n    !KubernetesGetResource\n"), "{session}");
    assert_eq!(session.matches("- type: Exchange").count(), 1, "logging is not recorded: {session}");

    let replayed = bench.run(&["--session", "session.yaml", "--trace"]);
    assert_eq!(out(&replayed), format!("{ALLOWED}\n"));
    assert!(err(&replayed).starts_with("kubernetes/get_resource Kustomization/apps/a: "), "{}", err(&replayed));
}

#[test]
fn leftovers_are_a_warning() {
    let bench = Bench::new("leftover", &reading());
    bench.run(&["--cluster", "cluster", "--record", "session.yaml"]);
    let session = fs::read_to_string(bench.path("session.yaml")).unwrap();
    bench.file("session.yaml", &session.repeat(3));
    let output = bench.run(&["--session", "session.yaml"]);
    assert_eq!(err(&output), "warning: 2 recorded exchanges have not been replayed\n");
    assert_eq!((out(&output), code(&output)), (&*format!("{ALLOWED}\n"), 0));
}

#[test]
fn each_call_is_traced() {
    let output = Bench::new("trace", &reading()).run(&["--cluster", "cluster", "--trace", "--verbose"]);
    let lines: Vec<_> = err(&output).lines().collect();
    let [get, call, log, sum] = lines.as_slice() else { panic!("{lines:?}") };
    assert!(get.starts_with("kubernetes/get_resource Kustomization/apps/a: ") && get.ends_with(" µs"), "{get}");
    assert!(call.starts_with("tracing/log: 0 bytes in "), "{call}");
    assert_eq!(*log, "log: hello");
    assert!(sum.starts_with("2 host calls, ") && sum.ends_with(" µs"), "{sum}");
    assert_eq!(out(&output), format!("{ALLOWED}\n"));
}

#[test]
fn without_a_cluster_reads_fail_as_without_a_kubeconfig() {
    let payload = get("Kustomization", "apps", "a");
    let guest = Guest::calling(&[("kubewarden", "kubernetes", "get_resource", &payload)]);
    let verdict: Value = serde_json::from_str(out(&Bench::new("none", &guest).run(&[]))).unwrap();
    assert_eq!(
        verdict["status"]["message"],
        "internal server error: Guest call failure: Callback evaluation failure: kube::Client was not initialized properly"
    );
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    let bench = Bench::new("pipe", &Guest::answering(r#"{"accepted":true}"#));
    let mut child = bench
        .command(&["run", "policy.wasm", "-r", "request.json"], &[])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((err(&output), code(&output)), ("", 0));
}

#[test]
fn inspect_shows_what_a_module_says() {
    let bench = Bench::new("inspect", &Guest::default().with_sections(&[METADATA, METADATA]));
    let size = fs::metadata(bench.path("policy.wasm")).unwrap().len();
    let text = bench.command(&["inspect", "policy.wasm"], &[]).output().unwrap();
    let start = format!("size: {size} bytes\nmetadata sections: 2\nimports:\n  wapc.__guest_error\n");
    assert!(out(&text).starts_with(&start), "{}", out(&text));
    assert!(out(&text).contains("\nmetadata:\n  protocolVersion: v1\n"), "{}", out(&text));

    let json = bench.command(&["inspect", "policy.wasm", "-o", "json"], &[]).output().unwrap();
    let info: Value = serde_json::from_str(out(&json)).unwrap();
    assert_eq!(info["size"], size);
    assert_eq!(info["metadataSections"], 2);
    assert_eq!(info["metadata"]["contextAwareResources"][0]["kind"], "Package");

    fs::write(bench.path("bare.wasm"), Guest::default().with_sections(&[]).bytes()).unwrap();
    let bare = bench.command(&["inspect", "bare.wasm"], &[]).output().unwrap();
    assert!(out(&bare).ends_with("metadata: none, the module is not annotated\n"), "{}", out(&bare));
    assert!(Path::new(&bench.path("bare.wasm")).exists());
}
