//! PackageSources of cozystack: where its operator is at work, the companion does nothing; where it is not, the companion
//! keeps the operator's contract.

use anyhow::Result;
use serde_json::{Value, json};
use sluicegate_e2e::cluster::{Cluster, Wanted, condition, ready, text};
use sluicegate_e2e::kind::{self, Object};
use sluicegate_e2e::manifest::Manifest;
use sluicegate_e2e::players::cozystack_operator_as;
use sluicegate_e2e::proxy::{Pick, Proxy};
use sluicegate_e2e::replica::{Replica, grant_as};

use crate::recovery::Works;

const FLAGS: [&str; 2] = ["--package-sources=status", "--signal=ready-condition"];
const ATTEMPTS: &str = "/metadata/annotations/cozystack.io~1source-watcher-recovery-attempts";

fn package_source() -> Object {
    kind::PACKAGE_SOURCE.at("", "net")
}

/// The operator gives its generator the same name.
fn generator() -> Object {
    kind::ARTIFACT_GENERATOR.at("cozy-system", "net")
}

fn manifest() -> Manifest {
    Manifest::new(&package_source()).with(
        "/spec",
        json!({
            "sourceRef": {"kind": "GitRepository", "name": "source", "namespace": "cozy-system"},
            "variants": [{"name": "default", "components": [{"name": "cni", "path": "a"}]}],
        }),
    )
}

async fn world(test: &str) -> Result<Cluster> {
    let cluster = Cluster::start_as(test, Wanted { third_party: true, ..Wanted::default() }).await?;
    grant_as(&cluster, &["--package-source-status"]).await?;
    Ok(cluster)
}

fn its_ready(stored: &Value) -> Value {
    let conditions = stored.pointer("/status/conditions").and_then(Value::as_array);
    let found = conditions.into_iter().flatten().find(|condition| text(condition, "/type") == "Ready");
    found.cloned().unwrap_or_default()
}

/// Waits until the PackageSource says what its generator says, word for word, at its own generation.
async fn copies(cluster: &Cluster) -> Result<()> {
    let told = its_ready(&cluster.stored(&generator()).await?);
    let same = |source: &Value| {
        let own = its_ready(source);
        ["/status", "/reason", "/message", "/lastTransitionTime"]
            .iter()
            .all(|field| text(&own, field) == text(&told, field))
            && own.get("observedGeneration") == source.pointer("/metadata/generation")
    };
    cluster.until(&package_source(), "it says what its generator says", same).await.map(drop)
}

/// The stall goes on beyond two attempts of the operator: there is time in which the companion would try, too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn controller_16_where_cozystacks_operator_recovers_the_companion_does_nothing() -> Result<()> {
    let cluster = world("controller_16_operator").await?;
    let works = Works::begin(&cluster, vec![generator()]).await?;
    let _operator = cozystack_operator_as(&cluster, cluster.actor("cozystack-operator"))?;
    cluster.admin().create(&manifest()).await?.admitted()?;
    works.ready().await?;
    copies(&cluster).await?;

    let endings = works.stall(3).await?;
    let tried = |stored: &Value| text(stored, ATTEMPTS) == "2" && condition(stored, "Ready", "Unknown");
    let says = "it is stalled after two attempts of the operator";
    cluster.until(&generator(), says, tried).await?;
    let between = Proxy::start(&cluster).await?;
    let writes = [between.on(Pick::patch("/")), between.on(Pick::post("/events"))];
    let replica = Replica::start(&cluster, &between.actor(&cluster, "sluicegate")?, "one", &FLAGS).await?;
    replica.leads().await?;

    let told = |source: &Value| text(&its_ready(source), "/reason") == "AwaitingSourceWatcherRecovery";
    cluster.until(&package_source(), "the operator says that it waits", told).await?;
    let cured = |stored: &Value| ready(stored) && stored.pointer(ATTEMPTS).is_none();
    cluster.until(&generator(), "the operator has cured it", cured).await?;
    copies(&cluster).await?;
    assert!(endings.iter().all(|rule| rule.count() == 4), "three were lost, and one was not");
    for handle in &writes {
        assert_eq!(handle.seen(), [""; 0], "the companion wrote");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn controller_17_without_cozystacks_operator_its_contract_is_kept() -> Result<()> {
    let cluster = world("controller_17_no_operator").await?;
    let works = Works::begin(&cluster, vec![generator()]).await?;
    let between = Proxy::start(&cluster).await?;
    let told = between.on(Pick::patch("/packagesources/net/status"));
    let replica = Replica::start(&cluster, &between.actor(&cluster, "sluicegate")?, "one", &FLAGS).await?;
    replica.leads().await?;

    // What the operator has left behind.
    cluster.admin().create(&manifest()).await?.admitted()?;
    let left = Manifest::new(&generator()).with("/metadata/labels/cozystack.io~1packagesource", json!("net")).with(
        "/spec",
        json!({
            "sources": [{"alias": "source", "kind": "GitRepository", "name": "source"}],
            "artifacts": [{"name": "net-default-cni", "copy": [{"from": "@source/a/**", "to": "@artifact/"}]}],
        }),
    );
    cluster.admin().create(&left).await?.admitted()?;
    works.ready().await?;
    copies(&cluster).await?;

    works.stall(1).await?;
    let waits = |source: &Value| {
        let own = its_ready(source);
        text(&own, "/status") == "Unknown" && text(&own, "/reason") == "AwaitingSourceWatcherRecovery"
    };
    cluster.until(&package_source(), "it says that it waits for source-watcher", waits).await?;
    works.cured().await?;
    copies(&cluster).await?;
    let told = told.seen();
    assert!(!told.iter().any(|write| write.contains("SourceWatcherRecoveryForced")), "the marker leaked: {told:#?}");
    assert!(told.iter().all(|write| write.contains("/metadata/resourceVersion")), "without a precondition: {told:#?}");
    Ok(())
}
