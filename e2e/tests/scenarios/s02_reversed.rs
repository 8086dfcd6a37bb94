//! One git commit reverses a need.

use anyhow::Result;
use serde_json::json;
use sluicegate_e2e::cluster::Cluster;
use sluicegate_e2e::companion::Companion;
use sluicegate_e2e::gate::{Gate, Setting};
use sluicegate_e2e::kind;
use sluicegate_e2e::manifest;
use sluicegate_e2e::proxy::Pick;
use sluicegate_e2e::stage::Stage;

async fn reversed(test: &str, first: &str, second: &str, times: usize) -> Result<()> {
    let cluster = Cluster::start(test).await?;
    let _companion = Companion::start(&cluster).await?;
    let _gate = Gate::open(&cluster, Setting::default()).await?;
    let unit = |name: &str| manifest::kustomization("apps", name, "flux-system/repo");
    let stage = Stage::set(&cluster, &[&unit(first).depends_on(&[second]), &unit(second)]).await?;

    // What the first commit says of it may still be on its way.
    let tried = stage.applier.on(Pick::patch(&format!("/kustomizations/{second}?dryRun=All")).saying("dependsOn"));
    stage.applier.forget_warnings();
    let revision = stage.commit(&[&unit(first), &unit(second).depends_on(&[first])]).await?;
    stage.applied(&cluster, &revision).await?;

    assert_eq!(tried.count(), 1, "it took more than one reconcile: {:?}", tried.seen());
    let warning = format!("dependency cycle: Kustomization/apps/{second} needs itself");
    assert_eq!(stage.applier.warnings(), vec![warning; times]);
    let stored = cluster.stored(&kind::kustomization("apps", first)).await?;
    assert_eq!(stored.pointer("/spec/dependsOn"), None, "the old need is still there");
    let stored = cluster.stored(&kind::kustomization("apps", second)).await?;
    assert_eq!(stored.pointer("/spec/dependsOn"), Some(&json!([{"name": first}])));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_02_one_commit_reverses_a_need() -> Result<()> {
    // In the dry-run `a` still has its need; in the real apply it comes first.
    reversed("scenario_02_reversed", "a", "b", 1).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_02_one_commit_reverses_a_need_against_the_order_of_the_apply() -> Result<()> {
    // `a` gets its need before `b` loses its own: a second warning, in the real apply.
    reversed("scenario_02_mirror", "b", "a", 2).await
}
