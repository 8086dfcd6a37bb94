//! The stall of fluxcd/pkg#934, produced by losing exactly the conditions request of source-watcher's final status write.

use anyhow::Result;
use serde_json::{Value, json};
use sluicegate_e2e::cluster::{Cluster, condition, ready, text};
use sluicegate_e2e::git::Git;
use sluicegate_e2e::kind::{self, Object};
use sluicegate_e2e::manifest::{self, Manifest};
use sluicegate_e2e::players::source_watcher_as;
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

/// The generator is stalled by one lost request, and so is the first attempt to recover it, in each of these ways.
async fn recovers(test: &str, signal: &str, lost: &[&str], again: bool) -> Result<()> {
    let cluster = Cluster::start(test).await?;
    grant(&cluster).await?;
    let git = Git::start(cluster.folder()).await?;
    let repository = git.repository("repo").await?;
    repository.commit(&[("a/settings.yaml", settings("a", "one"))]).await?;
    let _fetching = controllers::source_controller(&cluster)?;
    let watched = Proxy::start(&cluster).await?;
    let _watching = source_watcher_as(&cluster, &watched.actor(&cluster, "source-watcher")?)?;
    let between = Proxy::start(&cluster).await?;
    let actor = between.actor(&cluster, "sluicegate")?;
    let replica = Replica::start(&cluster, &actor, "one", &[&format!("--signal={signal}")]).await?;
    replica.leads().await?;

    let flux = cluster.admin().managed_by("flux");
    flux.apply(&manifest::git_repository("apps", "source", repository.url())).await?.admitted()?;
    flux.apply(&manifest()).await?.admitted()?;
    cluster.until(&generator(), "it is ready", ready).await?;

    let times = if again { 2 } else { 1 };
    let ending = || Pick::patch("/artifactgenerators/generator/status").saying("\"reason\":\"Succeeded\"");
    // A rule counts the requests that no earlier one has answered.
    let endings: Vec<Handle> = (0..times).map(|_| watched.on(ending()).nth(1).answer(504)).collect();
    let writes = |part: &&str| between.on(Pick::patch("/artifactgenerators/generator").saying(part)).nth(1).answer(504);
    let writes: Vec<Handle> = lost.iter().map(writes).collect();
    let revision = repository.commit(&[("a/settings.yaml", settings("a", "two"))]).await?;
    let source = kind::git_repository("apps", "source");
    poke(&flux, &source).await?;
    cluster
        .until(&source, "it shows the commit", |source| text(source, "/status/artifact/revision") == revision)
        .await?;
    cluster.until(&generator(), "it says nothing any more", |stored| condition(stored, "Ready", "Unknown")).await?;

    // It finds out, tries, and forgets that it had to.
    until("an attempt was counted", async || {
        let stored = cluster.stored(&generator()).await?;
        Ok(if stored.pointer(ATTEMPTS).is_some() { Ok(()) } else { Err(stored.to_string()) })
    })
    .await?;
    let cured = |stored: &Value| ready(stored) && stored.pointer(ATTEMPTS).is_none();
    // An attempt that was lost costs half a minute, and so does one whose outcome was.
    let stored = match cluster.until(&generator(), "it is ready, and its attempts are forgotten", cured).await {
        Ok(stored) => stored,
        Err(_) => cluster.until(&generator(), "it is ready, and its attempts are forgotten", cured).await?,
    };
    assert!(condition(&stored, "Ready", "True"));
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
