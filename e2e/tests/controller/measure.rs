//! Ten thousand Kustomizations: the companion's memory and time beside kustomize-controller's own, in the same run.
//! Not a test of anything: `make bench` runs it and shows what it prints.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use futures::{StreamExt, TryStreamExt};
use serde_json::{Value, json};
use sluicegate_e2e::child::Child;
use sluicegate_e2e::cluster::Cluster;
use sluicegate_e2e::companion::mark;
use sluicegate_e2e::controllers::kustomize_controller_as;
use sluicegate_e2e::kind::{self, Object};
use sluicegate_e2e::manifest;
use sluicegate_e2e::proxy::{Pick, Proxy};
use sluicegate_e2e::replica::{Replica, grant};
use sluicegate_e2e::wait::until;

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

/// What a process uses.
struct Used {
    /// Resident, in MiB.
    memory: f64,
    /// The most that was ever resident, in MiB.
    most: f64,
    /// CPU time so far.
    time: Duration,
}

fn used(child: &Child) -> Result<Used> {
    let id = child.id().context("it does not run")?;
    let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
    let field = |name: &str| -> Result<f64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).with_context(|| format!("no {name}"))?;
        Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
    };
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat"))?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks: u64 = [11, 12].iter().filter_map(|index| fields.get(*index)?.parse::<u64>().ok()).sum();
    Ok(Used { memory: field("VmRSS:")?, most: field("VmHWM:")?, time: Duration::from_millis(ticks * 10) })
}

/// Which part of a core it uses over so many seconds.
async fn busy(child: &Child, seconds: u32) -> Result<f64> {
    let before = used(child)?.time;
    tokio::time::sleep(Duration::from_secs(seconds.into())).await;
    Ok((used(child)?.time.saturating_sub(before)).as_secs_f64() / f64::from(seconds))
}

/// Waits until it has done what there was to do.
async fn rests(child: &Child) -> Result<()> {
    for _ in 0..60 {
        if busy(child, 5).await? < 0.05 {
            return Ok(());
        }
    }
    bail!("it is still at work after five minutes")
}

/// Has all Kustomizations listed anew, as after a watch whose version is too old, and waits until that is over.
async fn relist(between: &Proxy, child: &Child) -> Result<()> {
    let watches = between.on(Pick::get("/kustomizations?").asking("watch=true")).nth(1).expire();
    between.hang_up();
    watches.came(2).await?;
    rests(child).await
}

/// A row of what is shown.
#[expect(clippy::print_stdout, reason = "what it is for")]
fn row(what: &str, is: &str, bar: &str) {
    println!("{what:<58} {is:>12}   {bar}");
}

/// Its memory before and after it was forced to list everything anew, three times.
async fn memory(who: &str, between: &Proxy, child: &Child, bar: &str) -> Result<()> {
    rests(child).await?;
    row(&format!("{who}: resident"), &format!("{:.0} MiB", used(child)?.memory), "");
    let mut after = Vec::new();
    for _ in 0..3 {
        relist(between, child).await?;
        after.push(format!("{:.0}", used(child)?.memory));
    }
    row(&format!("{who}: resident after each of three relists"), &format!("{} MiB", after.join(" ")), bar);
    row(&format!("{who}: most that was ever resident"), &format!("{:.0} MiB", used(child)?.most), "");
    Ok(())
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

    println!("{OBJECTS} Kustomizations, all suspended, {HELD} of them held");
    let between = Proxy::start(&cluster).await?;
    let replica =
        Replica::start(&cluster, &between.actor(&cluster, "sluicegate")?, "measured", &["--log=warn"]).await?;
    replica.leads().await?;
    memory("companion", &between, replica.child(), "at most 64 MiB").await?;
    drop((replica, between));
    let between = Proxy::start(&cluster).await?;
    let begun = between.on(Pick::get("/kustomizations?"));
    let peer = kustomize_controller_as(&cluster, &between.actor(&cluster, "kustomize-controller")?)?;
    begun.came(1).await?;
    memory("kustomize-controller", &between, &peer, "").await?;
    drop((peer, between));

    let started = Instant::now();
    let replica = Replica::start(&cluster, cluster.actor("sluicegate"), "timed", &["--log=warn"]).await?;
    row("companion: from start to ready", &format!("{:.1?}", started.elapsed()), "under 10 s");
    replica.leads().await?;
    rests(replica.child()).await?;
    row("companion: idle, of a core", &format!("{:.2} %", busy(replica.child(), 60).await? * 100.0), "under 1 %");

    // One input settles among a thousand that do not.
    let one = name(0);
    let over = json!({"spec": {"sourceRef": {"name": "one"}}});
    cluster.admin().patch(&one, over).await?.admitted()?;
    rests(replica.child()).await?;
    settle(&cluster, "one").await?;
    let settled = Instant::now();
    while mark(&cluster.stored(&one).await?).is_some() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    row("companion: one of them released after its input settled", &format!("{:.0?}", settled.elapsed()), "within 1 s");
    settle(&cluster, "later").await?;
    let settled = Instant::now();
    until("all are released", async || {
        let released = replica.count("sluicegate_writes_total", "purpose=\"release\",result=\"written\"").await?;
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let all = HELD as f64;
        Ok(if released >= all { Ok(()) } else { Err(format!("{released} of them")) })
    })
    .await?;
    row(&format!("companion: the other {} at once", HELD - 1), &format!("{:.1?}", settled.elapsed()), "");
    let left = cluster.admin().list(kind::KUSTOMIZATION, "apps").await?;
    assert!(left.iter().all(|stored| mark(stored).is_none()), "one is still held");
    row("companion: resident then", &format!("{:.0} MiB", used(replica.child())?.memory), "at most 64 MiB");
    Ok(())
}
