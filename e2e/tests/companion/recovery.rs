//! The stall of fluxcd/pkg#934, produced by losing exactly the conditions request of source-watcher's final status write.

use anyhow::Result;
use serde_json::{Value, json};
use sluicegate_e2e::child::Child;
use sluicegate_e2e::cluster::{Cluster, Wanted, condition, ready, text};
use sluicegate_e2e::definitions::definitions;
use sluicegate_e2e::git::{Git, Repository};
use sluicegate_e2e::kind::{self, Object};
use sluicegate_e2e::manifest::{self, Manifest};
use sluicegate_e2e::players::{Player, source_watcher_as};
use sluicegate_e2e::proxy::{Handle, Pick, Proxy};
use sluicegate_e2e::replica::{Replica, grant};
use sluicegate_e2e::stage::{poke, settings};
use sluicegate_e2e::{controllers, wait::until};

const ATTEMPTS: &str = "/metadata/annotations/sluicegate.dev~1recovery-attempts";

fn generator() -> Object {
    kind::ARTIFACT_GENERATOR.at("apps", "generator")
}

fn manifest() -> Manifest {
    Manifest::new(&generator()).with(
        "/spec",
        json!({
            "sources": [{"alias": "repo", "kind": "GitRepository", "name": "source"}],
            "artifacts": [{"name": "artifact", "copy": [{"from": "@repo/**", "to": "@artifact/"}]}],
        }),
    )
}

/// A generator over a git repository, with source-controller, and source-watcher behind a proxy.
struct Works<'a> {
    cluster: &'a Cluster,
    repository: Repository,
    watched: Proxy,
    _git: Git,
    _fetching: Child,
    _watching: Player,
}

impl<'a> Works<'a> {
    async fn new(cluster: &'a Cluster) -> Result<Self> {
        let git = Git::start(cluster.folder()).await?;
        let repository = git.repository("repo").await?;
        repository.commit(&[("a/settings.yaml", settings("a", "one"))]).await?;
        let fetching = controllers::source_controller(cluster)?;
        let watched = Proxy::start(cluster).await?;
        let watching = source_watcher_as(cluster, &watched.actor(cluster, "source-watcher")?)?;
        let flux = cluster.admin().managed_by("flux");
        flux.apply(&manifest::git_repository("apps", "source", repository.url())).await?.admitted()?;
        flux.apply(&manifest()).await?.admitted()?;
        cluster.until(&generator(), "it is ready", ready).await?;
        Ok(Self { cluster, repository, watched, _git: git, _fetching: fetching, _watching: watching })
    }

    /// Loses the last conditions of so many passes, and moves the source.
    async fn stall(&self, times: usize) -> Result<Vec<Handle>> {
        // A rule counts the requests that no earlier one has answered.
        let ending = || Pick::patch("/artifactgenerators/generator/status").saying("\"reason\":\"Succeeded\"");
        let endings = (0..times).map(|_| self.watched.on(ending()).nth(1).answer(504)).collect();
        let revision = self.repository.commit(&[("a/settings.yaml", settings("a", "two"))]).await?;
        let source = kind::git_repository("apps", "source");
        poke(&self.cluster.admin().managed_by("flux"), &source).await?;
        let shows = |source: &Value| text(source, "/status/artifact/revision") == revision;
        self.cluster.until(&source, "it shows the commit", shows).await?;
        self.cluster
            .until(&generator(), "it says nothing any more", |stored| condition(stored, "Ready", "Unknown"))
            .await?;
        Ok(endings)
    }

    /// Waits until the generator is ready, and nobody counts attempts any more. One that was lost costs half a minute or
    /// a whole one.
    async fn cured(&self) -> Result<()> {
        let cured = |stored: &Value| ready(stored) && stored.pointer(ATTEMPTS).is_none();
        let says = "it is ready, and its attempts are forgotten";
        if self.cluster.until(&generator(), says, cured).await.is_err() {
            self.cluster.until(&generator(), says, cured).await?;
        }
        Ok(())
    }
}

/// The generator is stalled by one lost request, and so is the first attempt to recover it, in each of these ways.
async fn recovers(test: &str, signal: &str, lost: &[&str], again: bool) -> Result<()> {
    let cluster = Cluster::start(test).await?;
    grant(&cluster).await?;
    let works = Works::new(&cluster).await?;
    let between = Proxy::start(&cluster).await?;
    let actor = between.actor(&cluster, "sluicegate")?;
    let replica = Replica::start(&cluster, &actor, "one", &[&format!("--signal={signal}")]).await?;
    replica.leads().await?;

    let writes = |part: &&str| between.on(Pick::patch("/artifactgenerators/generator").saying(part)).nth(1).answer(504);
    let writes: Vec<Handle> = lost.iter().map(writes).collect();
    let endings = works.stall(if again { 2 } else { 1 }).await?;

    // It finds out, tries, and forgets that it had to.
    until("an attempt was counted", async || {
        let stored = cluster.stored(&generator()).await?;
        Ok(if stored.pointer(ATTEMPTS).is_some() { Ok(()) } else { Err(stored.to_string()) })
    })
    .await?;
    works.cured().await?;
    for rule in endings.iter().chain(&writes) {
        assert!(rule.count() > 0, "a request was to be lost, and never came");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn companion_03_a_stall_is_cured_by_clearing_the_digest() -> Result<()> {
    recovers("companion_03_digest", "sources-digest", &[], false).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn companion_04_a_stall_is_cured_by_a_condition() -> Result<()> {
    recovers("companion_04_condition", "ready-condition", &[], false).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn companion_05_with_the_counter_lost() -> Result<()> {
    recovers("companion_05_counter", "sources-digest", &["recovery-attempts"], false).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn companion_06_with_the_request_lost_and_the_outcome_lost_again() -> Result<()> {
    recovers("companion_06_again", "sources-digest", &["requestedAt"], true).await
}

/// Killed in each of its writes, and started anew: the end is the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn companion_07_killed_in_each_of_its_writes() -> Result<()> {
    let cluster = Cluster::start("companion_07_killed").await?;
    grant(&cluster).await?;
    let works = Works::new(&cluster).await?;
    let stall = works.stall(1).await?;
    for (number, part) in ["recovery-attempts", "observedSourcesDigest", "requestedAt"].into_iter().enumerate() {
        let between = Proxy::start(&cluster).await?;
        let caught = between.on(Pick::patch("/artifactgenerators/generator").saying(part)).nth(1).hold();
        let name = ["first", "second", "third"].get(number).copied().unwrap_or("more");
        let replica = Replica::start(&cluster, &between.actor(&cluster, "sluicegate")?, name, &[]).await?;
        caught.came(1).await?;
        drop(replica);
    }
    assert!(stall.iter().all(|rule| rule.count() == 1));
    let _last = Replica::start(&cluster, cluster.actor("sluicegate"), "last", &[]).await?;
    works.cured().await
}

/// A kind whose definition comes later is watched from then on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn companion_08_a_kind_that_comes_later() -> Result<()> {
    let wanted = Wanted { without: vec![kind::ARTIFACT_GENERATOR], third_party: false };
    let cluster = Cluster::start_as("companion_08_later", wanted).await?;
    grant(&cluster).await?;
    let replica = Replica::start(&cluster, cluster.actor("sluicegate"), "one", &[]).await?;
    replica.leads().await?;
    assert!(!replica.said().contains("ArtifactGenerator"), "it watches what is not there");
    for definition in definitions(&[], false)? {
        cluster.admin().apply(&definition).await?.admitted()?;
    }
    until("it watches the new kind", async || {
        let said = replica.said();
        Ok(if said.contains("ArtifactGenerator") { Ok(()) } else { Err(said) })
    })
    .await
}
