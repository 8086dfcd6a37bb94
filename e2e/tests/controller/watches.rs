//! A watch that is told that what it has seen is too old: everything is listed anew, and nothing that happened meanwhile is
//! missed.

use anyhow::Result;
use serde_json::json;
use sluicegate_e2e::cluster::Cluster;
use sluicegate_e2e::companion::mark;
use sluicegate_e2e::kind;
use sluicegate_e2e::manifest;
use sluicegate_e2e::proxy::{Handle, Pick, Proxy};
use sluicegate_e2e::replica::{Replica, grant};

async fn begins_anew(test: &str, told: impl Fn(Handle) -> Handle) -> Result<()> {
    let cluster = Cluster::start(test).await?;
    grant(&cluster).await?;
    let between = Proxy::start(&cluster).await?;
    let replica = Replica::start(&cluster, &between.actor(&cluster, "sluicegate")?, "one", &[]).await?;
    replica.leads().await?;

    let kustomizations = || Pick::get("/kustomizations?");
    let lists = between.on(kustomizations().asking("limit="));
    let watches = told(between.on(kustomizations().asking("watch=true")).nth(1));
    between.hang_up();
    watches.came(2).await?;
    assert!(lists.count() >= 1, "it was not listed anew");

    let held = json!({"applier": {"user": "u", "manager": "m"}, "at": "2026-01-01T00:00:00Z", "cause": "premature"});
    let unit = manifest::kustomization("apps", "unit", "source").suspended();
    let released = kind::kustomization("apps", "unit");
    cluster.admin().create(&unit.annotated("sluicegate.dev/held", &held.to_string())).await?.admitted()?;
    let says = "its condition says that it is held";
    let published = |stored: &serde_json::Value| mark(stored).is_some() && stored.to_string().contains("\"Held\"");
    cluster.until(&released, says, published).await.map(drop)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn controller_15_a_watch_that_is_told_that_its_version_is_too_old() -> Result<()> {
    begins_anew("controller_15_told", Handle::expire).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn controller_15_a_watch_that_does_not_begin_since_its_version_is_too_old() -> Result<()> {
    begins_anew("controller_15_refused", |rule| rule.answer(410)).await
}
