//! The incident, waited for: `sluicegate wait --resume --expect` does not end where other tools did.

use std::path::PathBuf;
use std::process::Output;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use sluicegate_e2e::cluster::{Cluster, ready, text};
use sluicegate_e2e::git::Repository;
use sluicegate_e2e::kind::{self, Object};
use sluicegate_e2e::manifest;
use sluicegate_e2e::proxy::Pick;
use sluicegate_e2e::stage::{Stage, poke, settings};

/// A source and a Kustomization over it that no other object applies.
struct Pair<'a> {
    cluster: &'a Cluster,
    stage: Stage,
    content: Repository,
}

impl<'a> Pair<'a> {
    async fn new(cluster: &'a Cluster) -> Result<Self> {
        let stage = Stage::set(cluster, &[]).await?;
        let content = stage.repository("content").await?;
        content.commit(&[("app/settings.yaml", settings("app", "zero"))]).await?;
        let flux = cluster.admin().managed_by("flux");
        flux.apply(&manifest::git_repository("apps", "content", content.url())).await?.admitted()?;
        flux.apply(&manifest::kustomization("apps", "app", "content")).await?.admitted()?;
        cluster.until(&Self::app(), "it is ready", ready).await?;
        Ok(Self { cluster, stage, content })
    }

    fn app() -> Object {
        kind::kustomization("apps", "app")
    }

    fn source() -> Object {
        kind::git_repository("apps", "content")
    }

    async fn suspend(&self, object: &Object, suspended: bool) -> Result<()> {
        let flux = self.cluster.admin().managed_by("flux");
        let suspend = if suspended { json!(true) } else { Value::Null };
        flux.patch(object, json!({"spec": {"suspend": suspend}})).await?.admitted().map(drop)
    }

    /// Both suspended, a commit pushed, a reconcile asked for, and the request acknowledged: to whoever looks at
    /// readiness, generations and tokens all is done. The revision to come.
    async fn incident(&self, version: &str) -> Result<String> {
        for object in [Self::app(), Self::source()] {
            self.suspend(&object, true).await?;
        }
        let revision = self.content.commit(&[("app/settings.yaml", settings("app", version))]).await?;
        for object in [Self::app(), Self::source()] {
            let token = poke(&self.cluster.admin().managed_by("flux"), &object).await?;
            self.cluster
                .until(&object, "it looks done although it is suspended", |stored| {
                    looks_done(stored) && text(stored, "/status/lastHandledReconcileAt") == token
                })
                .await?;
        }
        Ok(revision)
    }

    async fn version(&self) -> Result<String> {
        let applied = self.cluster.stored(&kind::CONFIG_MAP.at("apps", "app")).await?;
        Ok(text(&applied, "/data/version").to_owned())
    }

    async fn wait(&self, arguments: &[&str]) -> Result<Said> {
        let output = tokio::process::Command::new(binary()?)
            .args(["wait", "ks/apps/app"])
            .args(arguments)
            .arg("--kubeconfig")
            .arg(self.cluster.person().kubeconfig())
            .output()
            .await?;
        Ok(Said(output))
    }
}

/// Beside the folder of the test's own binary, or where the environment says.
fn binary() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os("SLUICEGATE") {
        return Ok(path.into());
    }
    let own = std::env::current_exe()?;
    let folder = own.parent().and_then(std::path::Path::parent).context("no folder of binaries")?;
    Ok(folder.join("sluicegate"))
}

struct Said(Output);

impl Said {
    fn out(&self) -> String {
        String::from_utf8_lossy(&self.0.stdout).into_owned()
    }

    fn progress(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).into_owned()
    }

    fn ended(self, code: i32) -> Result<Self> {
        if self.0.status.code() == Some(code) {
            return Ok(self);
        }
        bail!("it ended with {:?}, not {code}:\n{}{}", self.0.status.code(), self.out(), self.progress())
    }
}

/// What other tools look at.
fn looks_done(stored: &Value) -> bool {
    let generation = stored.pointer("/metadata/generation");
    ready(stored) && generation == stored.pointer("/status/observedGeneration")
}

/// At each point at which other tools stopped early it goes on, and it names what it waits for: with each status request
/// of the source late in turn.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_13_waits_for_the_incident_to_its_end() -> Result<()> {
    let cluster = Cluster::start("scenario_13_wait").await?;
    let pair = Pair::new(&cluster).await?;
    // The first time nothing is late, and it is counted how many such requests there are.
    let (mut late, mut requests) = (0, 0);
    while late <= requests {
        let version = format!("version-{late}");
        let revision = pair.incident(&version).await?;
        let rule = pair.stage.fetcher.on(Pick::patch("/gitrepositories/content/status"));
        let rule = if late == 0 { rule } else { rule.nth(late).delay(Duration::from_secs(2)) };
        let said = pair.wait(&["--resume", "--expect", &revision, "--timeout", "90s"]).await?.ended(0)?;
        let app = cluster.stored(&Pair::app()).await?;
        assert_eq!(text(&app, "/status/lastAppliedRevision"), revision, "{}", said.progress());
        assert_eq!(pair.version().await?, version, "{}", said.progress());
        assert!(looks_done(&app) && app.pointer("/spec/suspend").is_none());
        let progress = said.progress();
        let place = |part: &str| progress.find(part).unwrap_or(usize::MAX);
        assert!(progress.contains("GitRepository/apps/content: "), "{progress}");
        assert!(place("GitRepository/apps/content: resumed") < place("Kustomization/apps/app: resumed"), "{progress}");
        assert!(said.out().starts_with("settled after "), "{}", said.out());
        if late == 0 {
            requests = rule.count();
            assert!(requests > 1, "the conditions and the rest are written apart: {:?}", rule.seen());
        }
        assert!(rule.count() >= late, "{late} of {:?}", rule.seen());
        rule.release();
        late += 1;
    }
    Ok(())
}

/// What can never become ready ends it early, with the object that is to blame.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_13_ends_early_where_nothing_can_change() -> Result<()> {
    let cluster = Cluster::start("scenario_13_early").await?;
    let pair = Pair::new(&cluster).await?;
    let revision = pair.incident("one").await?;
    // The order of the incident: the consumer first. It looks done at once, at the old revision.
    pair.suspend(&Pair::app(), false).await?;
    cluster.until(&Pair::app(), "it looks done", looks_done).await?;
    let said = pair.wait(&["--expect", &revision]).await?.ended(4)?;
    let expected = "blocked for good: GitRepository/apps/content is suspended (spec.suspend)";
    assert!(said.out().starts_with(expected), "{}", said.out());
    pair.suspend(&Pair::source(), false).await?;
    pair.wait(&["--expect", &revision, "--timeout", "90s"]).await?.ended(0)?;
    assert_eq!(pair.version().await?, "one");

    let flux = cluster.admin().managed_by("flux");
    flux.patch(&Pair::app(), json!({"spec": {"dependsOn": [{"name": "gone"}]}})).await?.admitted()?;
    let said = pair.wait(&[]).await?.ended(4)?;
    let expected = "blocked for good: Kustomization/apps/gone does not exist";
    assert!(said.out().starts_with(expected), "{}", said.out());
    Ok(())
}

/// A request of its own on the source, then on the consumer, each acknowledged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_13_asks_the_source_first() -> Result<()> {
    let cluster = Cluster::start("scenario_13_reconcile").await?;
    let pair = Pair::new(&cluster).await?;
    let revision = pair.content.commit(&[("app/settings.yaml", settings("app", "two"))]).await?;
    let said = pair.wait(&["--reconcile", "--timeout", "90s"]).await?.ended(0)?;
    assert_eq!(pair.version().await?, "two", "{}", said.progress());
    let (source, app) = (cluster.stored(&Pair::source()).await?, cluster.stored(&Pair::app()).await?);
    assert_eq!(text(&source, "/status/artifact/revision"), revision);
    let token = |stored: &Value| text(stored, "/metadata/annotations/reconcile.fluxcd.io~1requestedAt").to_owned();
    for stored in [&source, &app] {
        assert_eq!(text(stored, "/status/lastHandledReconcileAt"), token(stored));
    }
    assert!(token(&source) < token(&app), "{} {}", token(&source), token(&app));
    Ok(())
}
