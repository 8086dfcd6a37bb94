//! A person resumes too early.

use anyhow::Result;
use serde_json::{Value, json};
use sluicegate_e2e::actor::Actor;
use sluicegate_e2e::answer::Answer;
use sluicegate_e2e::cluster::{Cluster, ready, text};
use sluicegate_e2e::companion::token;
use sluicegate_e2e::gate::{Gate, Setting};
use sluicegate_e2e::kind;
use sluicegate_e2e::manifest::{self, Manifest};
use sluicegate_e2e::proxy::{Handle, Pick};
use sluicegate_e2e::stage::{Stage, settings};
use sluicegate_e2e::wait::until;

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

/// Gives the source a new revision to fetch, another generation, and a request to look, in one write.
async fn move_source(cluster: &Cluster, stage: &Stage, round: usize) -> Result<(String, String)> {
    let flux = cluster.admin().managed_by("flux");
    let revision =
        stage.repository.commit(&[("app/settings.yaml", settings("app", &format!("round {round}")))]).await?;
    let token = token();
    let patch = json!({
        "metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": token}},
        "spec": {"timeout": format!("{}s", 21 + round)},
    });
    flux.patch(&Stage::source(), patch).await?.admitted()?;
    Ok((revision, token))
}

fn settled(source: &Value, (revision, token): &(String, String)) -> bool {
    ready(source)
        && text(source, "/status/artifact/revision") == revision
        && text(source, "/status/lastHandledReconcileAt") == token
}

/// Waits until the source writes its `nth` status request, or is settled without it: then `false`.
async fn writes(cluster: &Cluster, held: &Handle, nth: usize, target: &(String, String)) -> Result<bool> {
    until(&format!("the source writes its status request {nth}, or has settled"), async || {
        let source = cluster.stored(&Stage::source()).await?;
        Ok(match held.count() {
            count if count >= nth => Ok(true),
            _ if settled(&source, target) => Ok(false),
            count => Err(format!("{count} requests, {source}")),
        })
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

    // How many requests a pass has is source-controller's business.
    let mut rounds = 0;
    for nth in 1.. {
        let held = stage.fetcher.on(Pick::patch("/gitrepositories/repo/status")).nth(nth).hold();
        let target = move_source(&cluster, &stage, nth).await?;
        if !writes(&cluster, &held, nth, &target).await? {
            break;
        }
        rounds = nth;
        for way in WAYS {
            let text = resume(person, way).await?.refused()?;
            let expected = "premature unsuspend: Kustomization/apps/app waits for GitRepository/flux-system/repo: ";
            assert!(text.starts_with(expected), "{way}, request {nth} held back: {text}");
        }
        held.release();
        let says = format!("it is settled at {}", target.0);
        cluster.until(&Stage::source(), &says, |source| settled(source, &target)).await?;
        for way in WAYS {
            resume(&person.dry_run(), way).await?.admitted()?;
        }
    }
    assert!(rounds >= 3, "source-controller writes its status in {rounds} requests only");

    // Settled: each way is open.
    for way in WAYS {
        person.apply(&app().suspended()).await?.admitted()?;
        let stored = resume(person, way).await?.admitted()?;
        assert_ne!(stored.pointer("/spec/suspend"), Some(&json!(true)), "{way}");
    }
    Ok(())
}
