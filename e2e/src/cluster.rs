//! A cluster of a test's own: etcd, the API server, and whoever the test brings in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use futures::future::try_join_all;
use serde_json::Value;

use crate::actor::{Account, Actor};
use crate::certificate::Authority;
use crate::child::{Child, Run};
use crate::definitions::definitions;
use crate::kind::{self, Kind, Object};
use crate::manifest::Manifest;
use crate::net::free_ports;
use crate::wait::until;
use crate::{parts, rights};

/// A running cluster. Dropped, all its processes end; the logs stay under `target/e2e/TEST/`.
pub struct Cluster {
    folder: PathBuf,
    url: String,
    authority: Arc<Authority>,
    actors: BTreeMap<&'static str, Actor>,
    // Dropped last to first would be nicer to read in the logs, and makes no difference otherwise.
    children: Vec<Child>,
}

/// How a cluster shall be.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Kinds whose CRD is not installed.
    pub without: Vec<Kind>,
    /// Whether Terraform and cozystack's kinds are there.
    pub third_party: bool,
}

impl Cluster {
    /// Starts etcd and an API server, with RBAC, everybody's account, and the CRDs of Flux.
    ///
    /// # Errors
    ///
    /// A part has not been built, or does not start: with the end of its log.
    pub async fn start(test: &str) -> Result<Self> {
        Self::start_as(test, Wanted::default()).await
    }

    /// As [`Self::start`], to taste.
    ///
    /// # Errors
    ///
    /// As [`Self::start`].
    pub async fn start_as(test: &str, wanted: Wanted) -> Result<Self> {
        let folder = folder(test)?;
        let authority = Arc::new(Authority::new(&folder)?);
        let mut attempts = 0;
        let (url, children) = loop {
            attempts += 1;
            // A port may have been taken since it was found free.
            match serve(&folder, &authority).await {
                Ok(running) => break running,
                Err(_) if attempts < 3 => {}
                Err(error) => return Err(error),
            }
        };
        let mut actors = BTreeMap::new();
        for account in rights::accounts() {
            let actor = Actor::new(&folder, account.clone(), &url, (&authority.ca, authority.ca_der()))?;
            actors.insert(account.short, actor);
        }
        let cluster = Self { folder, url, authority, actors, children };
        cluster.furnish(&wanted).await?;
        Ok(cluster)
    }

    async fn furnish(&self, wanted: &Wanted) -> Result<()> {
        let admin = self.admin();
        let namespaces: Vec<Manifest> =
            rights::NAMESPACES.iter().map(|name| Manifest::new(&kind::NAMESPACE.at("", name))).collect();
        let definitions = definitions(&wanted.without, wanted.third_party)?;
        let names: Vec<Object> = definitions.iter().filter_map(Manifest::object).collect();
        let rest: Vec<Manifest> = rights::rules()?.into_iter().chain(definitions).collect();
        for all in [namespaces, rest] {
            try_join_all(all.iter().map(async |manifest| admin.apply(manifest).await?.admitted())).await?;
        }
        try_join_all(names.iter().map(async |name| {
            self.until(name, "it is established", |stored| condition(stored, "Established", "True")).await
        }))
        .await?;
        Ok(())
    }

    /// The administrator, whom no webhook of ours spares, but RBAC does.
    #[must_use]
    pub fn admin(&self) -> &Actor {
        self.actor("admin")
    }

    /// A person who may write every Flux object.
    #[must_use]
    pub fn person(&self) -> &Actor {
        self.actor("person")
    }

    /// Anybody, by the short name of [`rights::accounts`].
    ///
    /// # Panics
    ///
    /// There is no such account.
    #[must_use]
    pub fn actor(&self, short: &str) -> &Actor {
        match self.actors.get(short) {
            Some(actor) => actor,
            None => panic!("there is no account {short}"),
        }
    }

    /// Somebody's client of another server: a fault proxy.
    ///
    /// # Errors
    ///
    /// The kubeconfig cannot be written.
    pub fn actor_at(&self, short: &str, url: &str, folder: &Path) -> Result<Actor> {
        let account: Account = rights::accounts()
            .into_iter()
            .find(|account| account.short == short)
            .ok_or_else(|| anyhow!("there is no account {short}"))?;
        Actor::new(folder, account, url, (&self.authority.ca, self.authority.ca_der()))
    }

    /// The API server's URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The certificates of this cluster.
    #[must_use]
    pub fn authority(&self) -> Arc<Authority> {
        Arc::clone(&self.authority)
    }

    /// Where this test's files and logs lie.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts a program that ends with the cluster, or when the test drops it.
    ///
    /// # Errors
    ///
    /// It cannot be started.
    pub fn run(&self, run: Run<'_>) -> Result<Child> {
        Child::start(&self.folder, run)
    }

    /// Leaves a program running until the cluster ends.
    pub fn keep(&mut self, child: Child) {
        self.children.push(child);
    }

    /// Reads an object that must be there.
    ///
    /// # Errors
    ///
    /// It is not, or cannot be read.
    pub async fn stored(&self, object: &Object) -> Result<Value> {
        self.admin().get(object).await?.with_context(|| format!("{object} does not exist"))
    }

    /// Waits until an object is as `test` wants it, and gives it.
    ///
    /// # Errors
    ///
    /// The limit has passed: with what was waited for (`says` ends the sentence "OBJECT: ...") and the object as it
    /// was last seen.
    pub async fn until(&self, object: &Object, says: &str, test: impl Fn(&Value) -> bool) -> Result<Value> {
        let admin = self.admin();
        until(&format!("{object}: {says}"), async || {
            Ok(match admin.get(object).await? {
                Some(stored) if test(&stored) => Ok(stored),
                Some(stored) => Err(brief(&stored)),
                None => Err("it does not exist".to_owned()),
            })
        })
        .await
    }
}

/// The status of a condition is `status`, whatever its generation.
#[must_use]
pub fn condition(object: &Value, kind: &str, status: &str) -> bool {
    self::find(object, kind).is_some_and(|found| found.get("status").and_then(Value::as_str) == Some(status))
}

/// The message of a condition; nothing where there is none.
#[must_use]
pub fn message(object: &Value, kind: &str) -> String {
    let message = find(object, kind).and_then(|found| found.get("message")).and_then(Value::as_str);
    message.unwrap_or_default().to_owned()
}

/// A text field, by JSON pointer; nothing where there is none.
#[must_use]
pub fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Ready at the current generation, and not about to change that.
#[must_use]
pub fn ready(object: &Value) -> bool {
    let generation = object.pointer("/metadata/generation");
    let observed = object.pointer("/status/observedGeneration");
    condition(object, "Ready", "True")
        && (observed.is_none() || observed == generation)
        && !condition(object, "Reconciling", "True")
}

fn find<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    let conditions = object.pointer("/status/conditions")?.as_array()?;
    conditions.iter().find(|condition| condition.get("type").and_then(Value::as_str) == Some(kind))
}

/// What a report shows of an object.
fn brief(object: &Value) -> String {
    let mut shown = serde_json::Map::new();
    for pointer in ["/metadata/generation", "/metadata/resourceVersion", "/metadata/annotations", "/spec", "/status"] {
        if let Some(value) = object.pointer(pointer) {
            shown.insert(pointer.to_owned(), value.clone());
        }
    }
    Value::Object(shown).to_string()
}

/// An empty folder for the test, `target/e2e/TEST`.
fn folder(test: &str) -> Result<PathBuf> {
    let binary = std::env::current_exe()?;
    let target = binary.ancestors().nth(3).context("the test binary lies outside of a target folder")?;
    let folder = target.join("e2e").join(test);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// etcd and the API server, ready.
async fn serve(folder: &Path, authority: &Authority) -> Result<(String, Vec<Child>)> {
    let [client, peer, port] = free_ports()?;
    let etcd_url = format!("http://127.0.0.1:{client}");
    let data = folder.join("etcd");
    let arguments = [
        format!("--data-dir={}", data.display()),
        format!("--listen-client-urls={etcd_url}"),
        format!("--advertise-client-urls={etcd_url}"),
        format!("--listen-peer-urls=http://127.0.0.1:{peer}"),
        "--unsafe-no-fsync".to_owned(),
        "--logger=zap".to_owned(),
        "--log-level=warn".to_owned(),
    ];
    let mut etcd = Child::start(
        folder,
        Run {
            name: "etcd",
            program: &parts::ETCD.path()?,
            arguments: arguments.into(),
            environment: Vec::new(),
            remove: Some(data),
        },
    )?;
    let tokens: Vec<String> = rights::accounts()
        .iter()
        .map(|account| {
            format!("{},{},{},\"{}\"", account.token(), account.user, account.short, account.groups.join(","))
        })
        .collect();
    let token_file = folder.join("tokens.csv");
    std::fs::write(&token_file, tokens.join("\n"))?;
    let arguments = [
        format!("--etcd-servers={etcd_url}"),
        format!("--cert-dir={}", folder.join("apiserver").display()),
        format!("--secure-port={port}"),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--tls-cert-file={}", authority.certificate.display()),
        format!("--tls-private-key-file={}", authority.key.display()),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        format!("--service-account-key-file={}", authority.accounts.1.display()),
        format!("--service-account-signing-key-file={}", authority.accounts.0.display()),
        format!("--token-auth-file={}", token_file.display()),
        "--authorization-mode=RBAC".to_owned(),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
        // Tokens come from the file: there are no ServiceAccount objects.
        "--disable-admission-plugins=ServiceAccount".to_owned(),
    ];
    let mut server = Child::start(
        folder,
        Run {
            name: "kube-apiserver",
            program: &parts::KUBE_APISERVER.path()?,
            arguments: arguments.into(),
            environment: Vec::new(),
            remove: None,
        },
    )?;
    let url = format!("https://127.0.0.1:{port}");
    let admin = rights::accounts().into_iter().find(|account| account.short == "admin").context("no administrator")?;
    let admin = Actor::new(folder, admin, &url, (&authority.ca, authority.ca_der()))?;
    let body = |answer: &crate::answer::Answer| answer.message();
    until("the API server is ready", async || {
        etcd.alive()?;
        server.alive()?;
        Ok(match admin.ask(http::Method::GET, "/readyz", "text/plain", None, "").await {
            Ok(answer) if answer.code == 200 => Ok(()),
            Ok(answer) if answer.code == 401 => bail!("the API server does not know the administrator's token"),
            Ok(answer) => Err(body(&answer)),
            Err(error) => Err(format!("{error:#}")),
        })
    })
    .await?;
    // The API server first: it complains at length about an etcd that is gone.
    Ok((url, vec![server, etcd]))
}
