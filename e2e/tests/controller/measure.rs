//! Ten thousand Kustomizations: the companion's memory and time beside kustomize-controller's own, in the same run.
//! Not a test of anything: `make bench` runs it and shows what it prints.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use futures::{StreamExt, TryStreamExt};
use serde_json::{Value, json};
use sluicegate_e2e::child::Child;
use sluicegate_e2e::cluster::Cluster;
use sluicegate_e2e::companion::mark;
use sluicegate_e2e::controllers::kustomize_controller;
use sluicegate_e2e::kind::{self, Object};
use sluicegate_e2e::manifest;
use sluicegate_e2e::replica::{Replica, grant};

const OBJECTS: usize = 10_000;
const HELD: usize = 1_000;
const REVISION: &str = "main@sha1:1111111111111111111111111111111111111111";

fn condition(kind: &str, message: &str) -> Value {
    json!({"type": kind, "status": "True", "reason": "Succeeded", "message": message, "observedGeneration": 1,
           "lastTransitionTime": "2026-01-01T00:00:00Z"})
}

fn name(number: usize) -> Object {
    kind::kustomization("apps", &format!("k{number:05}"))
}

/// A Kustomization of about 2.8 KB, suspended; some of them held, over a source that is not settled.
async fn put(cluster: &Cluster, number: usize) -> Result<()> {
    let source = if number < HELD { "later" } else { "now" };
    let variables: serde_json::Map<String, Value> = (0..18).map(|i| (format!("v{i}"), json!("x".repeat(60)))).collect();
    let at = name(number);
    let mut manifest = manifest::kustomization("apps", &at.name, source)
        .suspended()
        .with("/spec/postBuild", json!({"substitute": variables}));
    if number < HELD {
        let held =
            json!({"applier": {"user": "u", "manager": "m"}, "at": "2026-01-01T00:00:00Z", "cause": "premature"});
        manifest = manifest.annotated("sluicegate.dev/held", &held.to_string());
    } else if !number.is_multiple_of(10) {
        manifest = manifest.depends_on(&[&name(number - 1).name]);
    }
    cluster.admin().create(&manifest).await?.admitted()?;
    let inventory: Vec<Value> = (0..10).map(|i| json!({"id": format!("apps_m{i}__ConfigMap"), "v": "v1"})).collect();
    let status = json!({"observedGeneration": 1, "lastAppliedRevision": REVISION, "lastAttemptedRevision": REVISION,
        "conditions": [condition("Ready", &format!("Applied revision: {REVISION}"))], "inventory": {"entries": inventory}});
    cluster.admin().status(&at, status).await?.admitted().map(|_| ())
}

/// Resident memory in MiB, and CPU time so far.
fn used(child: &Child) -> Result<(f64, Duration)> {
    let id = child.id().context("it does not run")?;
    let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    let kilobytes: f64 = line.trim().trim_end_matches(" kB").parse()?;
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat"))?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks: u64 = [11, 12].iter().filter_map(|index| fields.get(*index)?.parse::<u64>().ok()).sum();
    Ok((kilobytes / 1024.0, Duration::from_millis(ticks * 10)))
}

async fn settle(cluster: &Cluster, source: &str) -> Result<()> {
    let stored = format!("stored artifact for revision '{REVISION}'");
    let status = json!({"observedGeneration": 1, "conditions": [condition("Ready", &stored), condition("ArtifactInStorage", &stored)],
        "artifact": {"revision": REVISION, "digest": format!("sha256:{}", "1".repeat(64)), "url": "http://x/y", "path": "p",
                     "lastUpdateTime": "2026-01-01T00:00:00Z"}});
    cluster.admin().status(&kind::git_repository("apps", source), status).await?.admitted().map(|_| ())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement: make bench"]
async fn measure_ten_thousand() -> Result<()> {
    let cluster = Cluster::start("controller_measure").await?;
    grant(&cluster).await?;
    for source in ["now", "later", "one"] {
        let source = manifest::git_repository("apps", source, "https://example.invalid/x");
        cluster.admin().apply(&source).await?.admitted()?;
    }
    settle(&cluster, "now").await?;
    futures::stream::iter(0..OBJECTS)
        .map(|number| put(&cluster, number))
        .buffer_unordered(16)
        .try_collect::<Vec<()>>()
        .await?;

    let started = Instant::now();
    let replica = Replica::start(&cluster, cluster.actor("sluicegate"), "measured", &["--log=warn"]).await?;
    let ready = started.elapsed();
    replica.leads().await?;
    tokio::time::sleep(Duration::from_secs(20)).await;
    let (memory, before) = used(replica.child())?;
    tokio::time::sleep(Duration::from_secs(30)).await;
    let (_, after) = used(replica.child())?;
    println!("companion, {OBJECTS} objects, {HELD} held: ready after {ready:.1?}, {memory:.0} MiB");
    println!("  idle: {:.2} % of a core", (after - before).as_secs_f64() / 0.3);

    // One input settles among a thousand that do not.
    let one = name(0);
    let over = json!({"spec": {"sourceRef": {"name": "one"}}});
    cluster.admin().patch(&one, over).await?.admitted()?;
    tokio::time::sleep(Duration::from_secs(3)).await;
    settle(&cluster, "one").await?;
    let settled = Instant::now();
    cluster.until(&one, "it is released", |stored| mark(stored).is_none()).await?;
    println!("  one released after {:.0?}, looked for every 100 ms", settled.elapsed());
    settle(&cluster, "later").await?;
    let settled = Instant::now();
    cluster.until(&name(HELD - 1), "it is released", |stored| mark(stored).is_none()).await?;
    loop {
        let all = cluster.admin().list(kind::KUSTOMIZATION, "apps").await?;
        if all.iter().all(|stored| mark(stored).is_none()) {
            break;
        }
    }
    println!("  all {HELD} released after {:.1?}", settled.elapsed());
    println!("  then: {:.0} MiB", used(replica.child())?.0);

    let peer = kustomize_controller(&cluster)?;
    tokio::time::sleep(Duration::from_secs(45)).await;
    println!("kustomize-controller on the same objects: {:.0} MiB", used(&peer)?.0);
    Ok(())
}
