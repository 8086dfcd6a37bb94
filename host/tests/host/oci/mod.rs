//! Policies in a registry: pushed, pulled, inspected and run, by the binary.

mod mock;
mod registry;

use std::{
    fs,
    path::PathBuf,
    process::{Command, Output},
};

use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_host::oci::{CONFIG_TYPE, LAYER_TYPE, digest};

use crate::support::{Guest, request};
use mock::{Answer, Mock, on};

const METADATA: &str = r#"{"protocolVersion":"v1","rules":[],"mutating":false,"annotations":{
    "io.kubewarden.policy.title":"guest","io.kubewarden.policy.usage":"one\ntwo","io.kubewarden.policy.source":"https://s"}}"#;
const CONFIG: &str = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const BASIC: &str = "Basic YWxpY2U6c2VjcmV0";

/// A folder with a policy, a request and Docker's configuration; gone with the value.
struct Bench {
    folder: PathBuf,
    module: Vec<u8>,
}

impl Bench {
    fn new(test: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("oci-{test}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let module = Guest::answering(r#"{"accepted":true}"#).with_sections(&[METADATA]).bytes();
        fs::write(folder.join("policy.wasm"), &module).unwrap();
        fs::write(folder.join("request.json"), request().to_string()).unwrap();
        Self { folder, module }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sluicegate-host"));
        command.current_dir(&self.folder).args(args).env("DOCKER_CONFIG", &self.folder).env_remove("HTTP_PROXY");
        for name in
            ["SLUICEGATE_REGISTRY_USERNAME", "SLUICEGATE_REGISTRY_PASSWORD", "http_proxy", "ALL_PROXY", "all_proxy"]
        {
            command.env_remove(name);
        }
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    fn manifest(&self) -> Value {
        json!({
            "schemaVersion": 2,
            "config": {"mediaType": CONFIG_TYPE, "digest": CONFIG, "size": 2},
            "layers": [{"mediaType": LAYER_TYPE, "digest": digest(&self.module), "size": self.module.len()}],
            "annotations": {
                "io.kubewarden.policy.source": "https://s",
                "io.kubewarden.policy.title": "guest",
                "org.opencontainers.image.source": "https://s",
            },
        })
    }

    /// What a registry with the policy at `a/b:v1` answers.
    fn pulled(&self) -> Vec<Answer> {
        self.pulled_as(&self.manifest(), self.module.clone())
    }

    fn pulled_as(&self, manifest: &Value, blob: Vec<u8>) -> Vec<Answer> {
        let path = format!("GET /v2/a/b/blobs/{}", manifest["layers"][0]["digest"].as_str().unwrap_or_default());
        vec![
            on("GET /v2/", 200),
            on("GET /v2/a/b/manifests/v1", 200).header("Content-Type", MANIFEST).body(manifest.to_string()),
            on(&path, 200).body(blob),
        ]
    }

    /// What a registry that takes the policy at `a/b:v1` answers.
    fn pushed(&self) -> Vec<Answer> {
        let layer = digest(&self.module);
        vec![
            on("GET /v2/", 200),
            on("POST /v2/a/b/blobs/uploads/", 202).header("Location", "http://HOST/up/1"),
            on("PATCH /up/1", 202).header("Location", "http://HOST/up/2").header("Range", "0-1"),
            on(&format!("PUT /up/2?digest={}", layer.replace(':', "%3A")), 201).header("Location", "http://HOST/blob"),
            on(&format!("PUT /up/2?digest={}", CONFIG.replace(':', "%3A")), 201).header("Location", "http://HOST/blob"),
            on("PUT /v2/a/b/manifests/v1", 201).header("Location", "http://HOST/manifest"),
        ]
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn all(output: &Output) -> (&str, &str, i32) {
    (str::from_utf8(&output.stdout).unwrap(), str::from_utf8(&output.stderr).unwrap(), output.status.code().unwrap())
}

fn basic(answers: Vec<Answer>) -> Vec<Answer> {
    let challenge = on("GET /v2/", 401).header("WWW-Authenticate", "Basic realm=\"r\"");
    std::iter::once(challenge).chain(answers.into_iter().skip(1).map(|answer| answer.to(BASIC))).collect()
}

#[test]
fn a_policy_is_pushed_as_kwctl_does() {
    let bench = Bench::new("push");
    let mock = Mock::start(bench.pushed());
    let place = format!("registry://{}/a/b:v1", mock.host());
    let output = bench.run(&["push", "policy.wasm", &place]);
    let seen = mock.seen();
    let manifest = seen.last().unwrap();
    let pushed = format!("pushed {}/a/b@{}\n", mock.host(), digest(&manifest.body));
    assert_eq!(all(&output), (&*pushed, "", 0));
    assert_eq!(manifest.content_type.as_deref(), Some(MANIFEST));
    assert_eq!(serde_json::from_slice::<Value>(&manifest.body).unwrap(), bench.manifest());
    let bodies: Vec<_> = seen.iter().filter(|seen| seen.request == "PATCH /up/1").map(|seen| &*seen.body).collect();
    assert_eq!(bodies, [&*bench.module, b"{}"]);

    // Once more: the same bytes.
    let again = bench.run(&["push", "policy.wasm", &place, "-o", "json"]);
    let immutable = json!({"immutable_ref": format!("{}/a/b@{}", mock.host(), digest(&manifest.body))});
    assert_eq!(all(&again), (&*format!("{immutable}\n"), "", 0));
}

#[test]
fn a_policy_is_pulled_inspected_and_run() {
    let bench = Bench::new("pull");
    let mock = Mock::start(bench.pulled());
    let place = format!("{}/a/b:v1", mock.host());
    let output = bench.run(&["pull", &place]);
    let manifest = digest(bench.manifest().to_string().as_bytes());
    let text = format!(
        "pulled {}/a/b@{manifest}\nb.wasm ({} bytes, {})\n",
        mock.host(),
        bench.module.len(),
        digest(&bench.module)
    );
    assert_eq!(all(&output), (&*text, "", 0));
    assert_eq!(fs::read(bench.folder.join("b.wasm")).unwrap(), bench.module);

    let registry = format!("registry://{place}");
    let there = bench.run(&["inspect", &registry]);
    assert_eq!(all(&there), all(&bench.run(&["inspect", "policy.wasm"])));
    let there = bench.run(&["run", &registry, "-r", "request.json"]);
    assert_eq!(all(&there), all(&bench.run(&["run", "policy.wasm", "-r", "request.json"])));
    assert!(mock.seen().iter().all(|seen| seen.account.is_none()));
}

#[test]
fn an_account_comes_from_the_environment_or_from_docker() {
    let bench = Bench::new("account");
    let mock = Mock::start(basic(bench.pulled()));
    let place = format!("{}/a/b:v1", mock.host());
    let given = bench
        .command(&["pull", &place, "--username", "alice"])
        .env("SLUICEGATE_REGISTRY_PASSWORD", "secret")
        .output()
        .unwrap();
    assert_eq!(all(&given).1, "");

    let auth = json!({"auths": {mock.host(): {"auth": "YWxpY2U6c2VjcmV0"}}});
    fs::write(bench.folder.join("config.json"), auth.to_string()).unwrap();
    assert_eq!(all(&bench.run(&["pull", &place])).1, "");
    let blob = format!("GET /v2/a/b/blobs/{} {BASIC}", digest(&bench.module));
    let once = ["GET /v2/", &format!("GET /v2/a/b/manifests/v1 {BASIC}"), &blob];
    assert_eq!(mock.lines(), [once, once].concat());
}

#[test]
fn a_token_is_fetched_where_the_registry_asks_for_one() {
    let bench = Bench::new("token");
    let challenge =
        on("GET /v2/", 401).header("WWW-Authenticate", "Bearer realm=\"http://HOST/token\",service=\"registry\"");
    let token = on("GET /token?scope=repository%3Aa%2Fb%3Apull%2Cpush&service=registry", 200)
        .body(r#"{"token":"T"}"#)
        .to(BASIC);
    let answers = [challenge, token].into_iter();
    let mock =
        Mock::start(answers.chain(bench.pushed().into_iter().skip(1).map(|answer| answer.to("Bearer T"))).collect());
    let output = bench
        .command(&["push", "policy.wasm", &format!("{}/a/b:v1", mock.host()), "--username", "alice"])
        .env("SLUICEGATE_REGISTRY_PASSWORD", "secret")
        .output()
        .unwrap();
    assert_eq!((all(&output).1, all(&output).2), ("", 0));
    assert_eq!(mock.lines().iter().filter(|line| line.starts_with("GET /token")).count(), 1, "{:#?}", mock.lines());
}

#[rstest]
#[case::unauthorised(401, "", "the registry HOST does not let nobody (no account for it is known) pull a/b")]
#[case::forbidden(403, "", "the registry HOST does not let nobody (no account for it is known) pull a/b")]
#[case::denied(
    403,
    r#"{"errors":[{"code":"DENIED"}]}"#,
    "the registry HOST does not let nobody (no account for it is known) pull a/b"
)]
#[case::no_tag(404, r#"{"errors":[{"code":"MANIFEST_UNKNOWN"}]}"#, "HOST/a/b:v1 does not exist")]
#[case::no_repository(404, r#"{"errors":[{"code":"NAME_UNKNOWN"}]}"#, "the registry HOST has no a/b")]
#[case::nothing(404, "<html>", "HOST/a/b:v1 does not exist")]
#[case::too_many(
    429,
    "{\"errors\":[{\"code\":\"TOOMANYREQUESTS\",\"message\":\"slow \\u001b[31mdown\\nplease\"}]}",
    "the registry HOST did not pull a/b: TOOMANYREQUESTS: slow \\u{1b}[31mdown"
)]
#[case::broken(500, "oops", "the registry HOST did not pull a/b: HTTP 500 oops")]
#[case::no_manifest(200, "{}", "cannot read the manifest of HOST/a/b:v1: missing field `schemaVersion`")]
#[case::no_object(200, "[1]", "cannot read the manifest of HOST/a/b:v1: not an object")]
#[case::index(
    200,
    r#"{"schemaVersion":2,"manifests":[]}"#,
    "HOST/a/b:v1 is no Kubewarden policy: it is an index of several images"
)]
#[case::empty(
    200,
    r#"{"schemaVersion":2,"config":{"mediaType":"x","digest":"y","size":2},"layers":[]}"#,
    "HOST/a/b:v1 is no Kubewarden policy: it has no layer"
)]
#[case::image(
    200,
    r#"{"schemaVersion":2,"config":{"mediaType":"x","digest":"y","size":2},"layers":[{"mediaType":"tar","digest":"y","size":2}]}"#,
    "HOST/a/b:v1 is no Kubewarden policy: it has a layer of type tar, not application/vnd.wasm.content.layer.v1+wasm"
)]
#[case::large(
    200,
    r#"{"schemaVersion":2,"config":{"mediaType":"x","digest":"y","size":2},"layers":[
        {"mediaType":"application/vnd.wasm.content.layer.v1+wasm","digest":"y","size":134217729}]}"#,
    "HOST/a/b:v1 is too large: it says 134217729 bytes, at most 134217728 are taken"
)]
#[case::negative(
    200,
    r#"{"schemaVersion":2,"config":{"mediaType":"x","digest":"y","size":2},"layers":[
        {"mediaType":"application/vnd.wasm.content.layer.v1+wasm","digest":"y","size":-1}]}"#,
    "HOST/a/b:v1 is too large: it says -1 bytes, at most 134217728 are taken"
)]
fn what_a_manifest_may_not_be(#[case] status: u16, #[case] body: &str, #[case] sentence: &str) {
    let bench = Bench::new(&format!("manifest-{status}-{}", digest(body.as_bytes())));
    let mock = Mock::start(vec![on("GET /v2/", 200), on("GET /v2/a/b/manifests/v1", status).body(body)]);
    let output = bench.run(&["pull", &format!("{}/a/b:v1", mock.host())]);
    let sentence = format!("Error: {}\n", sentence.replace("HOST", &mock.host()));
    assert_eq!(all(&output), ("", &*sentence, 1));
    mock.seen();
}

#[test]
fn other_bytes_than_announced_are_refused() {
    let bench = Bench::new("bytes");
    let pull = |module: Vec<u8>, manifest: &Value| {
        let mock = Mock::start(bench.pulled_as(manifest, module));
        let output = bench.run(&["pull", &format!("{}/a/b:v1", mock.host())]);
        let text = all(&output).1.replace(&mock.host(), "HOST");
        assert_eq!((all(&output).0, all(&output).2), ("", 1));
        mock.seen();
        text
    };
    let mut other = bench.module.clone();
    *other.last_mut().unwrap() ^= 1;
    let (announced, sent) = (digest(&bench.module), digest(&other));
    assert_eq!(
        pull(other.clone(), &bench.manifest()),
        format!("Error: HOST/a/b:v1 is damaged: the registry announced {announced} and sent {sent}\n")
    );
    other.push(0);
    assert_eq!(
        pull(other, &bench.manifest()),
        "Error: HOST/a/b:v1 is damaged: the registry sent more bytes than the manifest says\n"
    );
    let mut manifest = bench.manifest();
    manifest["layers"][0]["digest"] = json!(digest(b"text"));
    assert_eq!(
        pull(b"text".to_vec(), &manifest),
        "Error: HOST/a/b:v1 is no Kubewarden policy: its layer is no WebAssembly module\n"
    );
    assert!(!bench.folder.join("b.wasm").exists());
}

#[test]
fn a_manifest_must_have_the_digest_that_was_asked_for() {
    let bench = Bench::new("pinned");
    let body = bench.manifest().to_string();
    let (asked, sent) = (digest(b"other"), digest(body.as_bytes()));
    let mock = Mock::start(vec![on("GET /v2/", 200), on(&format!("GET /v2/a/b/manifests/{asked}"), 200).body(body)]);
    let place = format!("{}/a/b@{asked}", mock.host());
    let output = bench.run(&["pull", &place]);
    let sentence = format!("Error: {place} is damaged: the registry announced {asked} and sent {sent}\n");
    assert_eq!(all(&output), ("", &*sentence, 1));
    mock.seen();
}

#[test]
fn who_is_refused_is_named() {
    let bench = Bench::new("refused");
    let mock = Mock::start(vec![
        on("GET /v2/", 401).header("WWW-Authenticate", "Basic realm=\"r\""),
        on("GET /v2/a/b/manifests/v1", 401),
    ]);
    let place = format!("{}/a/b:v1", mock.host());
    let named = bench
        .command(&["pull", &place, "--username", "alice"])
        .env("SLUICEGATE_REGISTRY_PASSWORD", "secret")
        .output()
        .unwrap();
    let host = mock.host();
    assert_eq!(all(&named), ("", &*format!("Error: the registry {host} does not let alice pull a/b\n"), 1));

    let token = json!({"auths": {mock.host(): {"identitytoken": "t"}}});
    fs::write(bench.folder.join("config.json"), token.to_string()).unwrap();
    let sentence = format!(
        "Error: the registry {host} does not let nobody (Docker's configuration has an identity token for it, which cannot \
         be used here) pull a/b\n"
    );
    assert_eq!(all(&bench.run(&["pull", &place])), ("", &*sentence, 1));
    mock.seen();
}

#[test]
fn nothing_is_asked_where_the_mistake_is_here() {
    let bench = Bench::new("here");
    let mock = Mock::start(Vec::new());
    let host = mock.host();
    fs::write(bench.folder.join("bare.wasm"), Guest::default().with_sections(&[]).bytes()).unwrap();
    let place = format!("{host}/a/b:v1");
    let fails =
        |args: &[&str], sentence: &str| assert_eq!(all(&bench.run(args)), ("", &*format!("Error: {sentence}\n"), 1));
    fails(&["push", "request.json", &place], "not pushed, as it is no WebAssembly module");
    fails(
        &["push", "bare.wasm", &place],
        "not pushed, as policy-server would not load it: Policy is missing protocol version, which is required for \
         KubewardenWapc execution mode",
    );
    let pinned = format!("{host}/a/b@{CONFIG}");
    fails(&["push", "policy.wasm", &pinned], &format!("cannot push to {pinned}: a tag is needed, and no digest"));
    fails(&["pull", "policy"], "policy names no registry: HOST/NAME:TAG is needed");
    fails(
        &["pull", &place, "--username", "alice"],
        "--username needs a password: --password-stdin, or SLUICEGATE_REGISTRY_PASSWORD",
    );
    fs::write(bench.folder.join("config.json"), "{").unwrap();
    let config = bench.folder.join("config.json");
    fails(
        &["pull", &place],
        &format!("cannot read the credentials for {host}: {}: Unable to read config", config.display()),
    );
    assert_eq!(mock.lines(), [""; 0]);
}

#[test]
fn a_registry_that_is_not_there_is_named() {
    let bench = Bench::new("away");
    let host = Mock::start(Vec::new()).host();
    let output = bench.run(&["pull", &format!("{host}/a/b:v1")]);
    let sentence = format!("Error: cannot reach the registry {host}: Connection refused (os error 111)\n");
    assert_eq!(all(&output), ("", &*sentence, 1));
}
