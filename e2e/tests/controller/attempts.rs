//! Killed, frozen and thawed in each of the three writes of a recovery. Whether the write got through or not, the generator
//! is cured, and no attempt is made twice.

use anyhow::Result;
use sluicegate_e2e::cluster::Cluster;
use sluicegate_e2e::proxy::{Handle, Pick};
use sluicegate_e2e::replica::grant;

use crate::crew::{Blow, Crew, done, seen};
use crate::recovery::Works;

/// A generator for each write that does not get through (`unsent`), or whose answer gets lost (`unheard`).
const NAMES: [&str; 6] =
    ["count-unsent", "count-unheard", "lever-unsent", "lever-unheard", "request-unsent", "request-unheard"];

/// The writes of each kind that the API server has carried out in the end: counters, levers, requests. Where the counter got
/// through, whoever goes on cannot know what came of the attempt, and makes the next one; a lever that is pulled is not
/// pulled again.
const CARRIED_OUT: [[usize; 3]; 6] = [[1, 1, 1], [2, 1, 1], [2, 1, 1], [2, 1, 1], [2, 1, 1], [1, 1, 1]];

fn write(name: &str, kind: &str) -> Pick {
    let own = format!("/artifactgenerators/{name}");
    match kind {
        "count" => Pick::patch(&own).saying("recovery-attempts").not_saying("\"remove\""),
        "lever" => Pick::patch(&format!("{own}/status")).saying("observedSourcesDigest"),
        _ => Pick::patch(&own).saying("requestedAt"),
    }
}

async fn struck(test: &str, blow: Blow) -> Result<()> {
    let cluster = Cluster::start(test).await?;
    grant(&cluster).await?;
    let works = Works::new(&cluster, &NAMES).await?;
    let mut crew = Crew::start(&cluster, blow).await?;
    let all: Vec<[Vec<Handle>; 3]> =
        NAMES.iter().map(|name| ["count", "lever", "request"].map(|kind| crew.on_all(&write(name, kind)))).collect();
    let mut struck = Vec::new();
    for name in NAMES {
        let (kind, unsent) = name.split_once('-').unwrap_or_default();
        let rule = crew.on(write(name, kind)).nth(1);
        struck.push(if unsent == "unsent" { rule.hold() } else { rule.hold_answer() });
    }
    let endings = works.stall(1).await?;
    for rule in &struck {
        rule.came(1).await?;
    }
    crew.strike().await?;
    works.cured().await?;
    crew.recover(&struck.iter().collect::<Vec<_>>()).await?;
    for ((name, writes), expected) in NAMES.iter().zip(&all).zip(CARRIED_OUT) {
        let carried_out: Vec<usize> = writes.iter().map(|handles| done(handles)).collect();
        let sent: Vec<Vec<String>> = writes.iter().map(|handles| seen(handles)).collect();
        assert_eq!(carried_out, expected, "{name}: {sent:#?}");
    }
    assert!(endings.iter().all(|rule| rule.count() == 2), "each stalled once, and was cured once");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn controller_12_killed_in_each_write_of_a_recovery_and_restarted() -> Result<()> {
    struck("controller_12_restarted", Blow::Restart).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn controller_13_killed_in_each_write_of_a_recovery_while_another_stands_by() -> Result<()> {
    struck("controller_13_killed", Blow::Kill).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn controller_14_frozen_and_thawed_in_each_write_of_a_recovery() -> Result<()> {
    struck("controller_14_frozen", Blow::Freeze).await
}
