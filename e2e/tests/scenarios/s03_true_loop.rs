//! One git commit brings a true loop.

use anyhow::Result;
use serde_json::json;
use sluicegate_e2e::cluster::{Cluster, condition, message};
use sluicegate_e2e::gate::{Gate, Setting};
use sluicegate_e2e::kind;
use sluicegate_e2e::manifest;
use sluicegate_e2e::stage::Stage;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_03_one_commit_brings_a_true_loop() -> Result<()> {
    let cluster = Cluster::start("scenario_03_true_loop").await?;
    let _gate = Gate::open(&cluster, Setting::default()).await?;
    let unit = |name: &str| manifest::kustomization("apps", name, "flux-system/repo");
    let stage = Stage::set(&cluster, &[&unit("a"), &unit("b")]).await?;
    let (a, b, c) =
        (kind::kustomization("apps", "a"), kind::kustomization("apps", "b"), kind::kustomization("apps", "c"));

    // Each half passes alone; `c`, in the same commit, sorts behind them.
    let looping = stage.commit(&[&unit("a").depends_on(&["b"]), &unit("b").depends_on(&["a"]), &unit("c")]).await?;
    stage.fetch(&cluster, &looping).await?;
    let root = cluster
        .until(&Stage::root(), "the loop is in its Ready condition", |root| {
            condition(root, "Ready", "False") && message(root, "Ready").contains("dependency cycle")
        })
        .await?;
    let said = message(&root, "Ready");
    assert!(said.contains("dependency cycle: Kustomization/apps/b needs itself"), "{said}");
    assert!(said.contains("needs Kustomization/apps/a   (spec.dependsOn[0], added by this change)"), "{said}");
    assert_eq!(cluster.stored(&b).await?.pointer("/spec/dependsOn"), None, "the whole loop is stored");
    assert_eq!(cluster.stored(&a).await?.pointer("/spec/dependsOn"), Some(&json!([{"name": "b"}])));

    let repaired = stage.commit(&[&unit("b")]).await?;
    stage.applied(&cluster, &repaired).await?;
    assert_eq!(cluster.stored(&a).await?.pointer("/spec/dependsOn"), Some(&json!([{"name": "b"}])));
    cluster.stored(&c).await?;
    Ok(())
}
