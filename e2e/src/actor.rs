//! Somebody with an account of the cluster, and what they can ask for.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use http::{Method, Request};
use http_body_util::BodyExt;
use kube::client::Body;
use serde_json::{Value, json};

use crate::answer::{Answer, unquote};
use crate::kind::{Kind, Object};
use crate::manifest::Manifest;
use crate::parts;

/// How somebody says who they are.
#[derive(Clone, Debug)]
pub struct Account {
    /// The short name that a test uses.
    pub short: &'static str,
    /// The user as the API server sees it.
    pub user: String,
    /// Their groups.
    pub groups: Vec<String>,
}

impl Account {
    /// A service account, in the groups that the API server gives one.
    #[must_use]
    pub fn service(short: &'static str, namespace: &str, name: &str) -> Self {
        Self {
            short,
            user: format!("system:serviceaccount:{namespace}:{name}"),
            groups: vec!["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")],
        }
    }

    /// The bearer token: the short name says it all.
    #[must_use]
    pub fn token(&self) -> String {
        format!("token-of-{}", self.short)
    }
}

/// An account's client. Field manager and dry-run are set with [`Actor::managed_by`] and [`Actor::dry_run`].
#[derive(Clone)]
pub struct Actor {
    account: Account,
    client: kube::Client,
    kubeconfig: PathBuf,
    manager: String,
    dry: bool,
}

impl Actor {
    /// A client of the API server at `url`, with a kubeconfig in `folder` for those who take one.
    ///
    /// # Errors
    ///
    /// The kubeconfig cannot be written, or the URL is none.
    pub fn new(folder: &Path, account: Account, url: &str, ca: (&Path, &[u8])) -> Result<Self> {
        let kubeconfig = kubeconfig(folder, &account, url, ca.0)?;
        let mut config = kube::Config::new(url.parse()?);
        config.root_cert = Some(vec![ca.1.to_vec()]);
        config.auth_info.token = Some(account.token().into());
        config.read_timeout = Some(Duration::from_secs(90));
        // What a fault loses is lost, and a test sees each answer.
        config.default_retry = false;
        let client = kube::Client::try_from(config)?;
        let manager = if account.short == "person" { "kubectl-edit".to_owned() } else { account.short.to_owned() };
        Ok(Self { account, client, kubeconfig, manager, dry: false })
    }

    /// The user, as requests show it.
    #[must_use]
    pub fn user(&self) -> &str {
        &self.account.user
    }

    /// Its kubeconfig, for programs.
    #[must_use]
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// The kube client, for what this type does not do.
    #[must_use]
    pub fn client(&self) -> kube::Client {
        self.client.clone()
    }

    /// The same under another field manager.
    #[must_use]
    pub fn managed_by(&self, manager: &str) -> Self {
        Self { manager: manager.to_owned(), ..self.clone() }
    }

    /// The same, changing nothing.
    #[must_use]
    pub fn dry_run(&self) -> Self {
        Self { dry: true, ..self.clone() }
    }

    /// Creates an object.
    ///
    /// # Errors
    ///
    /// The API server does not answer; what it answers is in the [`Answer`]. So with all that follow.
    pub async fn create(&self, manifest: &Manifest) -> Result<Answer> {
        let object = object(manifest)?;
        self.ask(Method::POST, &object.kind.path(&object.namespace), "application/json", Some(&manifest.0), "").await
    }

    /// Server-side apply, by force, as Flux does it.
    ///
    /// # Errors
    ///
    /// As [`Self::create`].
    pub async fn apply(&self, manifest: &Manifest) -> Result<Answer> {
        let path = object(manifest)?.path();
        self.ask(Method::PATCH, &path, "application/apply-patch+yaml", Some(&manifest.0), "force=true").await
    }

    /// Reads the stored object, changes it, and puts it back whole.
    ///
    /// # Errors
    ///
    /// As [`Self::create`]; and there is no such object.
    pub async fn update(&self, at: &Object, change: impl FnOnce(Manifest) -> Manifest) -> Result<Answer> {
        let stored = Manifest(self.get(at).await?.with_context(|| format!("{at} does not exist"))?);
        self.put(at, &change(stored)).await
    }

    /// Puts an object as it is.
    ///
    /// # Errors
    ///
    /// As [`Self::create`].
    pub async fn put(&self, at: &Object, manifest: &Manifest) -> Result<Answer> {
        self.ask(Method::PUT, &at.path(), "application/json", Some(&manifest.0), "").await
    }

    /// A merge patch.
    ///
    /// # Errors
    ///
    /// As [`Self::create`].
    pub async fn patch(&self, at: &Object, patch: Value) -> Result<Answer> {
        self.ask(Method::PATCH, &at.path(), "application/merge-patch+json", Some(&patch), "").await
    }

    /// A JSON patch.
    ///
    /// # Errors
    ///
    /// As [`Self::create`].
    pub async fn json_patch(&self, at: &Object, patch: Value) -> Result<Answer> {
        self.ask(Method::PATCH, &at.path(), "application/json-patch+json", Some(&patch), "").await
    }

    /// A merge patch of the status.
    ///
    /// # Errors
    ///
    /// As [`Self::create`].
    pub async fn status(&self, at: &Object, status: Value) -> Result<Answer> {
        let path = format!("{}/status", at.path());
        self.ask(Method::PATCH, &path, "application/merge-patch+json", Some(&json!({"status": status})), "").await
    }

    /// Deletes an object.
    ///
    /// # Errors
    ///
    /// As [`Self::create`].
    pub async fn delete(&self, at: &Object) -> Result<Answer> {
        self.ask(Method::DELETE, &at.path(), "application/json", None, "").await
    }

    /// Reads an object; `None` if there is none.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub async fn get(&self, at: &Object) -> Result<Option<Value>> {
        let answer = self.ask(Method::GET, &at.path(), "application/json", None, "").await?;
        if answer.code == 404 { Ok(None) } else { answer.admitted().map(Some) }
    }

    /// All objects of a kind in a namespace.
    ///
    /// # Errors
    ///
    /// They cannot be read.
    pub async fn list(&self, kind: Kind, namespace: &str) -> Result<Vec<Value>> {
        let list = self.ask(Method::GET, &kind.path(namespace), "application/json", None, "").await?.admitted()?;
        Ok(list.get("items").and_then(Value::as_array).cloned().unwrap_or_default())
    }

    /// All objects of a kind.
    ///
    /// # Errors
    ///
    /// They cannot be read.
    pub async fn list_all(&self, kind: Kind) -> Result<Vec<Value>> {
        let list = self.ask(Method::GET, &kind.path_everywhere(), "application/json", None, "").await?.admitted()?;
        Ok(list.get("items").and_then(Value::as_array).cloned().unwrap_or_default())
    }

    /// Sets or, with `None`, removes an annotation by merge patch.
    ///
    /// # Errors
    ///
    /// As [`Self::create`].
    pub async fn annotate(&self, at: &Object, key: &str, value: Option<&str>) -> Result<Answer> {
        self.patch(at, json!({"metadata": {"annotations": {key: value}}})).await
    }

    /// Runs kubectl under this account.
    ///
    /// # Errors
    ///
    /// It cannot be started.
    pub async fn kubectl(&self, arguments: &[&str]) -> Result<Said> {
        let output = tokio::process::Command::new(parts::KUBECTL.path()?)
            .arg("--kubeconfig")
            .arg(&self.kubeconfig)
            .args(arguments)
            .kill_on_drop(true)
            .output()
            .await?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(Said { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) })
    }

    /// Any request; field manager and dry-run are added to those that write.
    ///
    /// # Errors
    ///
    /// As [`Self::create`].
    pub async fn ask(
        &self,
        method: Method,
        path: &str,
        content: &str,
        body: Option<&Value>,
        query: &str,
    ) -> Result<Answer> {
        let mut query: Vec<String> = if query.is_empty() { Vec::new() } else { vec![query.to_owned()] };
        if method != Method::GET && method != Method::DELETE {
            query.push(format!("fieldManager={}", self.manager));
        }
        if method != Method::GET && self.dry {
            query.push("dryRun=All".to_owned());
        }
        let uri = if query.is_empty() { path.to_owned() } else { format!("{path}?{}", query.join("&")) };
        let request = format!("{method} {uri} as {}", self.account.user);
        let bytes = body.map(serde_json::to_vec).transpose()?.unwrap_or_default();
        let asked = Request::builder()
            .method(method)
            .uri(uri)
            .header("Content-Type", content)
            .header("Accept", "application/json")
            .body(Body::from(bytes))?;
        let response = self.client.send(asked).await.with_context(|| request.clone())?;
        let code = response.status().as_u16();
        let warnings = response.headers().get_all("Warning");
        let warnings = warnings.iter().map(|header| unquote(&String::from_utf8_lossy(header.as_bytes()))).collect();
        let bytes = response.into_body().collect().await.with_context(|| request.clone())?.to_bytes();
        let body =
            serde_json::from_slice(&bytes).unwrap_or_else(|_| json!({"message": String::from_utf8_lossy(&bytes)}));
        Ok(Answer { code, body, warnings, request })
    }
}

/// What a command said.
#[derive(Clone, Debug)]
pub struct Said {
    /// Its exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

fn object(manifest: &Manifest) -> Result<Object> {
    manifest.object().ok_or_else(|| anyhow!("a manifest of a kind that the tests do not know: {}", manifest.0))
}

fn kubeconfig(folder: &Path, account: &Account, url: &str, ca: &Path) -> Result<PathBuf> {
    let path = folder.join(format!("{}.kubeconfig", account.short));
    let text = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "e2e", "cluster": {"server": url, "certificate-authority": ca}}],
        "users": [{"name": "e2e", "user": {"token": account.token()}}],
        "contexts": [{"name": "e2e", "context": {"cluster": "e2e", "user": "e2e"}}],
        "current-context": "e2e",
    });
    std::fs::write(&path, serde_json::to_vec_pretty(&text)?)
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}
