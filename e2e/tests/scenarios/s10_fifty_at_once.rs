//! Fifty clients write at once needs that would close loops.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Result, ensure};
use futures::future::try_join_all;
use serde_json::{Value, json};
use sluicegate_e2e::answer::Answer;
use sluicegate_e2e::audit::audit;
use sluicegate_e2e::cluster::Cluster;
use sluicegate_e2e::gate::{Gate, Setting};
use sluicegate_e2e::kind::{self, KUSTOMIZATION};
use sluicegate_e2e::manifest;

const CLIENTS: usize = 50;

fn name(number: usize) -> String {
    format!("n{:02}", number % CLIENTS)
}

/// The objects of namespace `apps` with what they name in `dependsOn`.
async fn needs(cluster: &Cluster) -> Result<BTreeMap<String, Vec<String>>> {
    let text =
        |value: &Value, pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let all = cluster.admin().list(KUSTOMIZATION, "apps").await?;
    Ok(all
        .iter()
        .map(|object| {
            let entries = object.pointer("/spec/dependsOn").and_then(Value::as_array);
            let names = entries.into_iter().flatten().map(|entry| text(entry, "/name")).collect();
            (text(object, "/metadata/name"), names)
        })
        .collect())
}

/// Whether an object reaches itself.
fn in_a_loop(needs: &BTreeMap<String, Vec<String>>, start: &str) -> bool {
    let mut seen = Vec::new();
    let mut open: Vec<&str> = needs.get(start).into_iter().flatten().map(String::as_str).collect();
    while let Some(next) = open.pop() {
        if next == start {
            return true;
        }
        if !seen.contains(&next) {
            seen.push(next);
            open.extend(needs.get(next).into_iter().flatten().map(String::as_str));
        }
    }
    false
}

/// Every client's answer: admitted, or refused by us for a cycle, and nothing else.
fn sort(answers: Vec<Answer>) -> Result<(usize, usize)> {
    let (mut admitted, mut refused) = (0, 0);
    for answer in answers {
        if answer.code == 200 {
            admitted += 1;
        } else {
            let text = answer.refused()?;
            ensure!(text.starts_with("dependency cycle: Kustomization/apps/"), "another refusal: {text}");
            refused += 1;
        }
    }
    Ok((admitted, refused))
}

/// The background audit finds the members of loops, and nobody else.
async fn audit_finds(cluster: &Cluster, gate: &Gate) -> Result<usize> {
    let needs = needs(cluster).await?;
    let mut found = 0;
    for name in needs.keys() {
        let stored = cluster.stored(&kind::kustomization("apps", name)).await?;
        let response = audit(cluster, gate, &stored).await?;
        let allowed = response.get("allowed").and_then(Value::as_bool);
        let looped = in_a_loop(&needs, name);
        ensure!(allowed == Some(!looped), "{name} is {}in a loop: {response}", if looped { "" } else { "not " });
        found += usize::from(looped);
    }
    Ok(found)
}

async fn open(cluster: &Cluster) -> Result<Gate> {
    // Fifty at once wait for each other: two evaluations run at the same time.
    let settings = json!({"evaluationSeconds": 30});
    Gate::open(cluster, Setting { settings, timeout_seconds: 30, evaluation_seconds: 30, ..Setting::default() }).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_10_fifty_clients_close_one_ring() -> Result<()> {
    let cluster = Cluster::start("scenario_10_ring").await?;
    let gate = open(&cluster).await?;
    let person = cluster.person();
    let plain = |number| manifest::kustomization("apps", &name(number), "repo");
    try_join_all((0..CLIENTS).map(async |number| person.apply(&plain(number)).await?.admitted())).await?;

    // All but one of these may stand.
    let ring = (0..CLIENTS).map(async |number| {
        let patch = json!({"spec": {"dependsOn": [{"name": name(number + 1)}]}});
        person.patch(&kind::kustomization("apps", &name(number)), patch).await
    });
    let answers = tokio::time::timeout(Duration::from_secs(90), try_join_all(ring)).await??;
    let (admitted, refused) = sort(answers)?;
    println!("one ring: {admitted} admitted, {refused} refused");
    assert!(admitted >= CLIENTS - 1, "{refused} were refused, though only the last need closes the ring");

    // A loop is left over if several closed it at the same time: no gate that only reads can exclude that.
    let found = audit_finds(&cluster, &gate).await?;
    assert_eq!(found, if refused == 0 { CLIENTS } else { 0 });
    assert_eq!(gate.count("sluicegate_host_timeouts_total", "").await?, 0.0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_10_fifty_clients_close_twenty_five_pairs() -> Result<()> {
    let cluster = Cluster::start("scenario_10_pairs").await?;
    let gate = open(&cluster).await?;
    let person = cluster.person();
    let plain = |number| manifest::kustomization("apps", &name(number), "repo");
    try_join_all((0..CLIENTS).map(async |number| person.apply(&plain(number)).await?.admitted())).await?;

    let pairs = (0..CLIENTS).map(async |number| {
        let patch = json!({"spec": {"dependsOn": [{"name": name(number ^ 1)}]}});
        person.patch(&kind::kustomization("apps", &name(number)), patch).await
    });
    let answers = tokio::time::timeout(Duration::from_secs(90), try_join_all(pairs)).await??;
    let (admitted, refused) = sort(answers)?;
    println!("pairs: {admitted} admitted, {refused} refused");
    assert!(admitted >= CLIENTS / 2);
    assert_eq!(audit_finds(&cluster, &gate).await?, 2 * (admitted - CLIENTS / 2));

    // Whoever repairs what is left over is not in anybody's way.
    for (name, needs) in needs(&cluster).await? {
        if !needs.is_empty() {
            let repair = json!({"spec": {"dependsOn": null}});
            person.patch(&kind::kustomization("apps", &name), repair).await?.admitted()?;
        }
    }
    assert_eq!(audit_finds(&cluster, &gate).await?, 0);
    Ok(())
}
