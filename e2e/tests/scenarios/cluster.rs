//! The cluster itself.

use anyhow::Result;
use sluicegate_e2e::cluster::Cluster;
use sluicegate_e2e::kind;
use sluicegate_e2e::manifest;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everybody_has_an_account_with_their_own_rights() -> Result<()> {
    let cluster = Cluster::start("everybody_has_an_account").await?;
    let app = manifest::kustomization("apps", "app", "infra/repo");
    cluster.person().apply(&app).await?.admitted()?;
    assert_eq!(cluster.actor("tenant").apply(&app).await?.code, 403);
    let own = manifest::kustomization("tenant", "own", "repo");
    cluster.actor("tenant").apply(&own).await?.admitted()?;
    let reader = cluster.actor("policy-server");
    assert!(reader.get(&kind::kustomization("apps", "app")).await?.is_some());
    assert_eq!(reader.apply(&app).await?.code, 403);
    let said = cluster.person().kubectl(&["get", "kustomizations", "-n", "apps", "-o", "name"]).await?;
    assert_eq!(said.stdout.trim(), "kustomization.kustomize.toolkit.fluxcd.io/app");
    Ok(())
}
