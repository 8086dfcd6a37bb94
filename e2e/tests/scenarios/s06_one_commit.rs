//! The incident in one commit: the source's revision and the resume of its consumer come together.

use anyhow::Result;
use serde_json::{Value, json};
use sluicegate_e2e::cluster::{Cluster, condition, message, ready, text};
use sluicegate_e2e::companion::{Companion, held, mark};
use sluicegate_e2e::gate::{Gate, Setting};
use sluicegate_e2e::git::Repository;
use sluicegate_e2e::kind::{self, Object};
use sluicegate_e2e::manifest::{self, Manifest};
use sluicegate_e2e::players::helm_controller;
use sluicegate_e2e::proxy::Pick;
use sluicegate_e2e::stage::{Stage, settings};

/// A source at branch `main`, and a Kustomization over it, both applied by the root.
struct Pair {
    stage: Stage,
    content: Repository,
    source: Manifest,
    app: Manifest,
}

impl Pair {
    async fn new(cluster: &Cluster) -> Result<Self> {
        let stage = Stage::set(cluster, &[]).await?;
        let content = stage.repository("content").await?;
        content.commit(&[("app/settings.yaml", settings("app", "one"))]).await?;
        let source = manifest::git_repository("apps", "content", content.url());
        let app = manifest::kustomization("apps", "app", "content");
        let pair = Self { stage, content, source, app };
        pair.is_applied(cluster, &pair.app.clone()).await?;
        cluster.until(&Self::app(), "it is ready", ready).await?;
        pair.is_applied(cluster, &pair.app.clone().suspended()).await?;
        Ok(pair)
    }

    async fn is_applied(&self, cluster: &Cluster, app: &Manifest) -> Result<()> {
        let revision = self.stage.commit(&[&self.source, app]).await?;
        self.stage.applied(cluster, &revision).await.map(|_| ())
    }

    fn app() -> Object {
        kind::kustomization("apps", "app")
    }

    fn source() -> Object {
        kind::git_repository("apps", "content")
    }

    /// The source at another branch, whose content says `version`; and the revision to come.
    async fn next(&self, version: &str) -> Result<(Manifest, String)> {
        self.content.commit(&[("app/settings.yaml", settings("app", version))]).await?;
        let id = self.content.branch(version).await?;
        Ok((self.source.clone().with("/spec/ref", json!({"branch": version})), id))
    }
}

fn cause(object: &Value) -> String {
    let mark: Value = mark(object).and_then(|mark| serde_json::from_str(mark).ok()).unwrap_or_default();
    text(&mark, "/cause").to_owned()
}

fn chart(release: &Value) -> &str {
    text(release, "/status/history/0/chartVersion")
}

async fn version_applied(cluster: &Cluster) -> Result<String> {
    Ok(text(&cluster.stored(&kind::CONFIG_MAP.at("apps", "app")).await?, "/data/version").to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_06_one_commit_moves_the_source_and_resumes() -> Result<()> {
    let cluster = Cluster::start("scenario_06_one_commit").await?;
    let companion = Companion::start(&cluster).await?;
    let _gate = Gate::open(&cluster, Setting::default()).await?;
    let pair = Pair::new(&cluster).await?;

    let (source, revision) = pair.next("two").await?;
    let commit = pair.stage.commit(&[&source, &pair.app]).await?;
    pair.stage.applied(&cluster, &commit).await?;
    let stored = cluster.stored(&Pair::app()).await?;
    assert!(held(&stored), "{stored}");
    assert_eq!(cause(&stored), "not-reached");

    companion.release_when_due(&Pair::app()).await?;
    let source = cluster.stored(&Pair::source()).await?;
    assert_eq!(text(&source, "/status/artifact/revision"), revision, "released before the source has moved");
    cluster
        .until(&Pair::app(), "it is ready at two", |app| text(app, "/status/lastAppliedRevision") == revision)
        .await?;
    assert_eq!(version_applied(&cluster).await?, "two");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_06_one_commit_moves_the_source_and_resumes_a_release() -> Result<()> {
    let cluster = Cluster::start("scenario_06_release").await?;
    let companion = Companion::start(&cluster).await?;
    let _gate = Gate::open(&cluster, Setting::default()).await?;
    let _helm = helm_controller(&cluster)?;
    let pair = Pair::new(&cluster).await?;
    let unit = kind::helm_release("apps", "unit");
    let release = manifest::helm_release("apps", "unit", "content");
    pair.content.commit(&[("unit/Chart.yaml", "apiVersion: v2\nname: unit\nversion: 0.1.0\n".to_owned())]).await?;
    let branch = pair.content.branch("one").await?;
    let one = pair.source.clone().with("/spec/ref", json!({"branch": "one"}));
    let commit = pair.stage.commit(&[&one, &release]).await?;
    pair.stage.applied(&cluster, &commit).await?;
    let first = cluster.until(&unit, "it is ready at one", |unit| ready(unit) && !chart(unit).is_empty()).await?;
    assert!(chart(&first).ends_with(&branch[branch.len() - 40..][..12]), "{first}");
    let commit = pair.stage.commit(&[&release.clone().suspended()]).await?;
    pair.stage.applied(&cluster, &commit).await?;

    let (source, revision) = pair.next("two").await?;
    let commit = pair.stage.commit(&[&source, &release]).await?;
    pair.stage.applied(&cluster, &commit).await?;
    let stored = cluster.stored(&unit).await?;
    assert!(held(&stored), "{stored}");
    assert_eq!(cause(&stored), "not-reached");
    companion.release_when_due(&unit).await?;
    // The chart in between has followed, too.
    let built = cluster.stored(&kind::HELM_CHART.at("apps", "apps-unit")).await?;
    let short = &revision[revision.len() - 40..][..12];
    assert!(text(&built, "/status/artifact/revision").ends_with(short), "released before its chart was built");
    let done = cluster.until(&unit, "it is at two", |unit| ready(unit) && chart(unit).ends_with(short)).await?;
    let history = done.pointer("/status/history").and_then(Value::as_array).map_or(0, Vec::len);
    assert_eq!(history, 2, "it was released at the old chart in between: {done}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_06_the_apply_pauses_between_the_two() -> Result<()> {
    let cluster = Cluster::start("scenario_06_pause").await?;
    let companion = Companion::start(&cluster).await?;
    let _gate = Gate::open(&cluster, Setting::default()).await?;
    let pair = Pair::new(&cluster).await?;

    let (source, revision) = pair.next("two").await?;
    let paused = pair.stage.applier.on(Pick::patch("/gitrepositories/content?fieldManager")).hold();
    let commit = pair.stage.commit(&[&source, &pair.app]).await?;
    pair.stage.fetch(&cluster, &commit).await?;
    paused.came(1).await?;
    // The release has been applied, and is held; the source stands, quite truly, settled at the old revision.
    let stored = cluster.until(&Pair::app(), "it is held", held).await?;
    assert_eq!(cause(&stored), "not-reached");
    assert!(ready(&cluster.stored(&Pair::source()).await?));
    for _ in 0..3 {
        let outcome = format!("{:?}", companion.judge(&Pair::app()).await?);
        assert!(outcome.contains("Owner"), "it must wait for its owner: {outcome}");
    }
    paused.release();
    companion.release_when_due(&Pair::app()).await?;
    let source = cluster.stored(&Pair::source()).await?;
    assert_eq!(text(&source, "/status/artifact/revision"), revision);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_06_the_apply_fails_between_the_two() -> Result<()> {
    let cluster = Cluster::start("scenario_06_failure").await?;
    let companion = Companion::start(&cluster).await?;
    let _gate = Gate::open(&cluster, Setting::default()).await?;
    let pair = Pair::new(&cluster).await?;

    let (source, revision) = pair.next("two").await?;
    let failing = pair.stage.applier.on(Pick::patch("/gitrepositories/content?fieldManager")).answer(500);
    let commit = pair.stage.commit(&[&source, &pair.app]).await?;
    pair.stage.fetch(&cluster, &commit).await?;
    cluster.until(&Stage::root(), "its apply has failed", |root| condition(root, "Ready", "False")).await?;
    let stored = cluster.stored(&Pair::app()).await?;
    assert!(held(&stored), "{stored}");
    let outcome = format!("{:?}", companion.judge(&Pair::app()).await?);
    assert!(outcome.contains("Owner"), "it must wait for its owner: {outcome}");
    failing.release();
    companion.release_when_due(&Pair::app()).await?;
    let source = cluster.stored(&Pair::source()).await?;
    assert_eq!(text(&source, "/status/artifact/revision"), revision);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_06_one_commit_resumes_and_repairs_the_source() -> Result<()> {
    let cluster = Cluster::start("scenario_06_repair").await?;
    let companion = Companion::start(&cluster).await?;
    let _gate = Gate::open(&cluster, Setting::default()).await?;
    let pair = Pair::new(&cluster).await?;

    broken(&cluster, &pair).await?;
    let commit = pair.stage.commit(&[&pair.source, &pair.app]).await?;
    // At once: the root is ready at the commit, with the release held.
    pair.stage.applied(&cluster, &commit).await?;
    assert!(held(&cluster.stored(&Pair::app()).await?));
    companion.release_when_due(&Pair::app()).await?;
    assert!(ready(&cluster.stored(&Pair::source()).await?));
    cluster.until(&Pair::app(), "it is ready", ready).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_06_refusing_appliers_too_is_a_deadlock() -> Result<()> {
    let cluster = Cluster::start("scenario_06_deadlock").await?;
    let pair = Pair::new(&cluster).await?;
    let settings = json!({"role": "refuse", "unheld": "refuse"});
    let _gate = Gate::open(&cluster, Setting { settings, ..Setting::refuse() }).await?;

    broken(&cluster, &pair).await?;
    let commit = pair.stage.commit(&[&pair.source, &pair.app]).await?;
    pair.stage.fetch(&cluster, &commit).await?;
    let tried = pair.stage.applier.on(Pick::patch("/kustomizations/app?dryRun=All"));
    cluster
        .until(&Stage::root(), "it says why it cannot apply", |root| {
            message(root, "Ready").contains("premature unsuspend: Kustomization/apps/app waits for")
        })
        .await?;
    // It tries again, and the repair of the source is in none of its applies.
    tried.came(tried.count() + 2).await?;
    let source = cluster.stored(&Pair::source()).await?;
    assert_eq!(text(&source, "/spec/ref/branch"), "missing", "the repair got through");
    Ok(())
}

/// A commit brings a source that cannot be fetched.
async fn broken(cluster: &Cluster, pair: &Pair) -> Result<()> {
    let missing = pair.source.clone().with("/spec/ref", json!({"branch": "missing"}));
    let commit = pair.stage.commit(&[&missing]).await?;
    pair.stage.applied(cluster, &commit).await?;
    cluster.until(&Pair::source(), "it cannot be fetched", |source| condition(source, "Ready", "False")).await?;
    Ok(())
}
