//! A person resumes too early.

use anyhow::Result;
use serde_json::{Value, json};
use sluicegate_e2e::actor::Actor;
use sluicegate_e2e::answer::Answer;
use sluicegate_e2e::cluster::{Cluster, ready, text};
use sluicegate_e2e::gate::{Gate, Setting};
use sluicegate_e2e::kind;
use sluicegate_e2e::manifest::{self, Manifest};
use sluicegate_e2e::proxy::Pick;
use sluicegate_e2e::stage::{Stage, poke, settings};

/// Every way to write it.
const WAYS: &[&str] = &["false", "null", "removed", "replaced", "applied"];

fn app() -> Manifest {
    manifest::kustomization("apps", "app", "flux-system/repo")
}

async fn resume(actor: &Actor, way: &str) -> Result<Answer> {
    let app_object = kind::kustomization("apps", "app");
    match way {
        "false" => actor.patch(&app_object, json!({"spec": {"suspend": false}})).await,
        "null" => actor.patch(&app_object, json!({"spec": {"suspend": null}})).await,
        "removed" => actor.json_patch(&app_object, json!([{"op": "remove", "path": "/spec/suspend"}])).await,
        "replaced" => actor.update(&app_object, |stored| stored.without("/spec/suspend")).await,
        _ => actor.apply(&app()).await,
    }
}

/// Gives the source a new revision to fetch, and another generation.
async fn move_source(cluster: &Cluster, stage: &Stage, round: usize) -> Result<(String, String)> {
    let flux = cluster.admin().managed_by("flux");
    let revision =
        stage.repository.commit(&[("app/settings.yaml", settings("app", &format!("round {round}")))]).await?;
    let timeout = json!({"spec": {"timeout": format!("{}s", 21 + round)}});
    flux.patch(&Stage::source(), timeout).await?.admitted()?;
    Ok((revision, poke(&flux, &Stage::source()).await?))
}

async fn moved(cluster: &Cluster, (revision, token): &(String, String)) -> Result<Value> {
    cluster
        .until(&Stage::source(), &format!("it is settled at {revision}"), |source| {
            ready(source)
                && text(source, "/status/artifact/revision") == revision
                && text(source, "/status/lastHandledReconcileAt") == token
        })
        .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_04_early_resume_is_refused_at_each_request_of_the_source() -> Result<()> {
    let cluster = Cluster::start("scenario_04_early_resume").await?;
    let _gate = Gate::open(&cluster, Setting::default()).await?;
    let stage = Stage::set(&cluster, &[]).await?;
    let person = cluster.person();
    person.apply(&app().suspended()).await?.admitted()?;

    // How many requests a pass has, undisturbed.
    let all = stage.fetcher.on(Pick::patch("/gitrepositories/repo/status"));
    let target = move_source(&cluster, &stage, 0).await?;
    moved(&cluster, &target).await?;
    let requests = all.count();
    assert!(requests >= 2, "source-controller writes in several requests: {:?}", all.seen());

    for nth in 1..=requests {
        let held = stage.fetcher.on(Pick::patch("/gitrepositories/repo/status")).nth(nth).hold();
        let target = move_source(&cluster, &stage, nth).await?;
        held.came(nth).await?;
        for way in WAYS {
            let text = resume(person, way).await?.refused()?;
            let expected = "premature unsuspend: Kustomization/apps/app waits for GitRepository/flux-system/repo: ";
            assert!(text.starts_with(expected), "{way}, request {nth} of {requests} held back: {text}");
        }
        held.release();
        moved(&cluster, &target).await?;
        for way in WAYS {
            resume(&person.dry_run(), way).await?.admitted()?;
        }
    }

    // Settled: each way is open.
    for way in WAYS {
        person.apply(&app().suspended()).await?.admitted()?;
        let stored = resume(person, way).await?.admitted()?;
        assert_ne!(stored.pointer("/spec/suspend"), Some(&json!(true)), "{way}");
    }
    Ok(())
}
