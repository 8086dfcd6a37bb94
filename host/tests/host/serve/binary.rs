//! `serve` as a process.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Output, Stdio},
};

use rstest::rstest;
use serde_json::json;

use super::{
    api_server::{A, ApiServer, DISCOVERY, Reply},
    client::{Webhook, certificate, review, trusting},
};
use crate::support::{Guest, get, kustomization, request};

/// A folder with what `serve` needs, gone with the value.
struct Bench {
    folder: PathBuf,
    certificate: String,
}

impl Bench {
    fn new(test: &str, guest: &Guest, api_server: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("serve-{test}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let (certificate, key) = certificate();
        let bench = Self { folder, certificate };
        fs::write(bench.path("policy.wasm"), guest.bytes()).unwrap();
        fs::write(bench.path("tls.crt"), &bench.certificate).unwrap();
        fs::write(bench.path("tls.key"), key).unwrap();
        let kubeconfig = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": api_server}}],
            "users": [{"name": "u", "user": {"token": "reader"}}]
        });
        fs::write(bench.path("kubeconfig"), kubeconfig.to_string()).unwrap();
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sluicegate-host"));
        let usual =
            ["--kubeconfig", "kubeconfig", "--listen", "127.0.0.1:0", "--tls-cert", "tls.crt", "--tls-key", "tls.key"];
        command.current_dir(&self.folder).args(["serve", "policy.wasm"]).args(usual).args(args);
        command
    }

    fn refused(&self, args: &[&str]) -> (i32, String) {
        let output: Output = self.command(args).output().unwrap();
        assert!(output.stdout.is_empty());
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    }

    fn start(&self, args: &[&str]) -> Served {
        let mut child = self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let url = line.trim_end().strip_prefix("listening on ").unwrap().to_owned();
        Served { child, out, url }
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A process that serves.
struct Served {
    child: Child,
    out: BufReader<std::process::ChildStdout>,
    url: String,
}

impl Served {
    /// Asks it to end; gives how it did, and what else it printed.
    fn end(mut self, signal: &str) -> (ExitStatus, String, String) {
        let kill = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        let (mut out, mut err) = (String::new(), String::new());
        self.out.read_to_string(&mut out).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        (self.child.wait().unwrap(), out, err)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[rstest]
#[case::terminate("-TERM")]
#[case::interrupt("-INT")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serves_until_it_is_asked_to_end(#[case] signal: &str) {
    let api_server = ApiServer::with_a(&[Reply::Json(200, kustomization("a"))]).await;
    let payload = get("Kustomization", "apps", "a");
    let guest = Guest::calling_then(
        &[("kubewarden", "kubernetes", "get_resource", &payload)],
        r#"{"accepted":false,"message":"no\nnever"}"#,
    );
    let bench = Bench::new(&format!("until{signal}"), &guest, &api_server.url());
    let served = bench.start(&["--trace", "--name", "gate", "--instances", "1"]);
    let (server, path) = served.url.split_once("/validate/").unwrap();
    assert_eq!(path, "gate");

    let client = kube::Client::try_from(trusting(server, &bench.certificate)).unwrap();
    let body = review(request()).to_string();
    let (status, answer) = Webhook::send(client, "POST", "/validate/gate", Some("application/json"), body).await;
    assert_eq!(status, 200);
    assert!(answer.contains(r#""status":{"message":"no\nnever"}"#), "{answer}");
    assert_eq!(api_server.seen(), [DISCOVERY, A]);

    let (exit, out, err) = served.end(signal);
    assert_eq!((exit.code(), &*out), (Some(0), ""));
    let mut lines = err.lines();
    let call = lines.next().unwrap();
    assert!(call.starts_with("kubernetes/get_resource Kustomization/apps/a: "), "{err}");
    assert_eq!(lines.collect::<Vec<_>>(), ["UPDATE K/-/- by alice: denied", "  no", "  never"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_that_hangs_does_not_keep_it() {
    let api_server = ApiServer::with_a(&[Reply::Hang]).await;
    let payload = get("Kustomization", "apps", "a");
    let guest = Guest::calling_then(&[("kubewarden", "kubernetes", "get_resource", &payload)], r#"{"accepted":true}"#);
    let bench = Bench::new("hangs", &guest, &api_server.url());
    let served = bench.start(&[]);
    let (server, _) = served.url.split_once("/validate/").unwrap();
    let client = kube::Client::try_from(trusting(server, &bench.certificate)).unwrap();
    let body = review(request()).to_string();
    let stuck = tokio::spawn(Webhook::send(client, "POST", "/validate/sluicegate", Some("application/json"), body));
    api_server.until_seen(A).await;
    stuck.abort();
    let (exit, _, _) = tokio::task::spawn_blocking(|| served.end("-TERM")).await.unwrap();
    assert_eq!(exit.code(), Some(0));
}

#[test]
fn settings_that_the_policy_refuses_end_it() {
    let guest = Guest::default().with_settings_answer(r#"{"valid":false,"message":"rol: unknown setting"}"#);
    let bench = Bench::new("settings", &guest, "http://127.0.0.1:1");
    fs::write(bench.path("settings.yaml"), "rol: hold\n").unwrap();
    let (code, err) = bench.refused(&["--settings", "settings.yaml"]);
    assert_eq!((code, &*err), (1, "Error: Provided settings are not valid: rol: unknown setting\n"));
}

#[test]
fn settings_that_are_no_object_end_it() {
    let bench = Bench::new("list", &Guest::default(), "http://127.0.0.1:1");
    fs::write(bench.path("settings.yaml"), "- hold\n").unwrap();
    let (code, err) = bench.refused(&["--settings", "settings.yaml"]);
    assert_eq!((code, &*err), (1, "Error: Invalid settings in CRD, not an object\n"));
}

#[test]
fn a_module_that_upstream_would_not_load_ends_it() {
    let bench = Bench::new("bare", &Guest::default().with_sections(&[]), "http://127.0.0.1:1");
    let (code, err) = bench.refused(&[]);
    let text = "Error: Policy is missing protocol version, which is required for KubewardenWapc execution mode\n";
    assert_eq!((code, &*err), (1, text));
}

#[rstest]
#[case::kubeconfig("kubeconfig", "", "Error: cannot use the kubeconfig kubeconfig: ")]
#[case::certificate("tls.crt", "", "Error: cannot use the certificate and its key: ")]
#[case::key("tls.key", "", "Error: cannot use the certificate and its key: ")]
fn a_file_that_is_no_good_ends_it(#[case] file: &str, #[case] content: &str, #[case] text: &str) {
    let bench = Bench::new(&format!("bad-{file}"), &Guest::default(), "http://127.0.0.1:1");
    fs::write(bench.path(file), content).unwrap();
    let (code, err) = bench.refused(&[]);
    assert_eq!(code, 1);
    assert!(err.starts_with(text), "{err}");
}

#[test]
fn a_file_that_is_missing_is_named() {
    let bench = Bench::new("missing", &Guest::default(), "http://127.0.0.1:1");
    fs::remove_file(bench.path("tls.key")).unwrap();
    let (code, err) = bench.refused(&[]);
    assert_eq!(code, 1);
    assert!(err.starts_with("Error: cannot read tls.key: "), "{err}");
    assert!(!Path::new("tls.key").exists());
}

#[test]
fn a_port_that_is_taken_ends_it() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let bench = Bench::new("taken", &Guest::default(), "http://127.0.0.1:1");
    let mut command = Command::new(env!("CARGO_BIN_EXE_sluicegate-host"));
    let args = ["serve", "policy.wasm", "--kubeconfig", "kubeconfig", "--tls-cert", "tls.crt", "--tls-key", "tls.key"];
    let output = command.current_dir(&bench.folder).args(args).args(["--listen", &address]).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(err.starts_with(&format!("Error: cannot listen on {address}: ")), "{err}");
}

#[rstest]
#[case::name(&["--name", "a/b"], "only letters, digits, '-', '_' and '.'")]
#[case::instances(&["--instances", "0"], "0 is not in 1..=65535")]
fn wrong_usage(#[case] args: &[&str], #[case] text: &str) {
    let bench = Bench::new(&format!("usage{}", args[0]), &Guest::default(), "http://127.0.0.1:1");
    let (code, err) = bench.refused(args);
    assert_eq!(code, 2);
    assert!(err.contains(text), "{err}");
}
