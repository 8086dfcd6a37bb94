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

fn generator(name: &str) -> Object {
    kind::ARTIFACT_GENERATOR.at("apps", name)
}

fn manifest(name: &str) -> Manifest {
    Manifest::new(&generator(name)).with(
        "/spec",
        json!({
            "sources": [{"alias": "repo", "kind": "GitRepository", "name": "source"}],
            "artifacts": [{"name": format!("of-{name}"), "copy": [{"from": "@repo/**", "to": "@artifact/"}]}],
        }),
    )
}

/// Generators over a git repository, with source-controller, and source-watcher behind a proxy.
pub struct Works<'a> {
    cluster: &'a Cluster,
    generators: Vec<Object>,
    repository: Repository,
    watched: Proxy,
    _git: Git,
    _fetching: Child,
    _watching: Player,
}

impl<'a> Works<'a> {
    /// Makes generators of these names, and waits until they are ready.
    pub async fn new(cluster: &'a Cluster, names: &[&str]) -> Result<Self> {
        let works = Self::begin(cluster, names.iter().map(|name| generator(name)).collect()).await?;
        for name in names {
            cluster.admin().managed_by("flux").apply(&manifest(name)).await?.admitted()?;
        }
        works.ready().await?;
        Ok(works)
    }

    /// Everything but the generators, which stand in one namespace; their source is called `source`.
    pub async fn begin(cluster: &'a Cluster, generators: Vec<Object>) -> Result<Self> {
        let git = Git::start(cluster.folder()).await?;
        let repository = git.repository("repo").await?;
        repository.commit(&[("a/settings.yaml", settings("a", "one"))]).await?;
        let fetching = controllers::source_controller(cluster)?;
        let watched = Proxy::start(cluster).await?;
        let watching = source_watcher_as(cluster, &watched.actor(cluster, "source-watcher")?)?;
        let works =
            Self { cluster, generators, repository, watched, _git: git, _fetching: fetching, _watching: watching };
        let source = works.source();
        let manifest = manifest::git_repository(&source.namespace, &source.name, works.repository.url());
        cluster.admin().managed_by("flux").apply(&manifest).await?.admitted()?;
        cluster.until(&source, "it is ready", ready).await?;
        Ok(works)
    }

    fn source(&self) -> Object {
        let namespace = self.generators.first().map_or("apps", |generator| &generator.namespace);
        kind::git_repository(namespace, "source")
    }

    /// Waits until each generator is ready.
    pub async fn ready(&self) -> Result<()> {
        for generator in &self.generators {
            self.cluster.until(generator, "it is ready", ready).await?;
        }
        Ok(())
    }

    /// Loses the last conditions of so many passes of each, and moves the source.
    pub async fn stall(&self, times: usize) -> Result<Vec<Handle>> {
        let mut endings = Vec::new();
        for generator in &self.generators {
            let ending = Pick::patch(&format!("{}/status", generator.path())).saying("\"reason\":\"Succeeded\"");
            endings.extend((1..=times).map(|nth| self.watched.on(ending.clone()).nth(nth).answer(504)));
        }
        let revision = self.repository.commit(&[("a/settings.yaml", settings("a", "two"))]).await?;
        let source = self.source();
        poke(&self.cluster.admin().managed_by("flux"), &source).await?;
        let shows = |source: &Value| text(source, "/status/artifact/revision") == revision;
        self.cluster.until(&source, "it shows the commit", shows).await?;
        for generator in &self.generators {
            let silent = |stored: &Value| condition(stored, "Ready", "Unknown");
            self.cluster.until(generator, "it says nothing any more", silent).await?;
        }
        Ok(endings)
    }

    /// Waits until each is ready, and nobody counts attempts any more. One that was lost costs half a minute or a whole one.
    pub async fn cured(&self) -> Result<()> {
        let cured = |stored: &Value| ready(stored) && stored.pointer(ATTEMPTS).is_none();
        let says = "it is ready, and its attempts are forgotten";
        for generator in &self.generators {
            if self.cluster.until(generator, says, cured).await.is_err() {
                self.cluster.until(generator, says, cured).await?;
            }
        }
        Ok(())
    }
}

/// The generator is stalled by one lost request, and so is the first attempt to recover it, in each of these ways.
async fn recovers(test: &str, signal: &str, lost: &[&str], again: bool) -> Result<()> {
    let cluster = Cluster::start(test).await?;
    grant(&cluster).await?;
    let works = Works::new(&cluster, &["generator"]).await?;
    let between = Proxy::start(&cluster).await?;
    let actor = between.actor(&cluster, "sluicegate")?;
    let replica = Replica::start(&cluster, &actor, "one", &[&format!("--signal={signal}")]).await?;
    replica.leads().await?;

    let writes = |part: &&str| between.on(Pick::patch("/artifactgenerators/generator").saying(part)).nth(1).answer(504);
    let writes: Vec<Handle> = lost.iter().map(writes).collect();
    let endings = works.stall(if again { 2 } else { 1 }).await?;

    // It finds out, tries, and forgets that it had to.
    until("an attempt was counted", async || {
        let stored = cluster.stored(&generator("generator")).await?;
        Ok(if stored.pointer(ATTEMPTS).is_some() { Ok(()) } else { Err(stored.to_string()) })
    })
    .await?;
    works.cured().await?;
    for rule in endings.iter().chain(&writes) {
        // Those that were lost, and one more.
        let lost = if again { 2 } else { 1 };
        assert!(rule.count() >= lost, "a request was to be lost, and never came: {:?}", rule.seen());
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn controller_03_a_stall_is_cured_by_clearing_the_digest() -> Result<()> {
    recovers("controller_03_digest", "sources-digest", &[], false).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn controller_04_a_stall_is_cured_by_a_condition() -> Result<()> {
    recovers("controller_04_condition", "ready-condition", &[], false).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn controller_05_with_the_counter_lost() -> Result<()> {
    recovers("controller_05_counter", "sources-digest", &["recovery-attempts"], false).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn controller_06_with_the_request_lost_and_the_outcome_lost_again() -> Result<()> {
    recovers("controller_06_again", "sources-digest", &["requestedAt"], true).await
}

/// A kind whose definition comes later is watched from then on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn controller_08_a_kind_that_comes_later() -> Result<()> {
    let wanted = Wanted { without: vec![kind::ARTIFACT_GENERATOR], third_party: false };
    let cluster = Cluster::start_as("controller_08_later", wanted).await?;
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
