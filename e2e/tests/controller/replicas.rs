//! Replicas that are killed, frozen and thawed in the middle of a chain: each object is resumed once, whoever does it.

use anyhow::Result;
use serde_json::Value;
use sluicegate_e2e::cluster::{Cluster, ready};
use sluicegate_e2e::companion::mark;
use sluicegate_e2e::gate::{Gate, Setting};
use sluicegate_e2e::kind::{self, Object};
use sluicegate_e2e::manifest::{self, Manifest};
use sluicegate_e2e::proxy::{Pick, Proxy};
use sluicegate_e2e::replica::{Replica, grant};

use crate::release::{Units, generation};

const NAMES: [&str; 5] = ["u0", "u1", "u2", "u3", "u4"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn controller_02_one_is_killed_and_one_is_frozen() -> Result<()> {
    let cluster = Cluster::start("controller_02_replicas").await?;
    grant(&cluster).await?;
    let _gate = Gate::open(&cluster, Setting::default()).await?;
    let proxies = [Proxy::start(&cluster).await?, Proxy::start(&cluster).await?, Proxy::start(&cluster).await?];
    let mut releases = Vec::new();
    let mut actors = Vec::new();
    for proxy in &proxies {
        releases.push(proxy.on(Pick::patch("/kustomizations/").saying("sluicegate.dev~1held")));
        actors.push(proxy.actor(&cluster, "sluicegate")?);
    }
    let one = Replica::start(&cluster, &actors[0], "one", &[]).await?;
    one.leads().await?;
    let two = Replica::start(&cluster, &actors[1], "two", &[]).await?;

    let chain = NAMES.windows(2).map(|pair| manifest::kustomization("apps", pair[1], "source").depends_on(&[pair[0]]));
    let manifests: Vec<Manifest> =
        [manifest::kustomization("apps", NAMES[0], "source")].into_iter().chain(chain).collect();
    let objects: Vec<Object> = NAMES.iter().map(|name| kind::kustomization("apps", name)).collect();
    let units = Units::new(&cluster, &manifests).await?;
    units.held(&manifests).await?;
    let mut before = Vec::new();
    for object in &objects {
        before.push(generation(&cluster.stored(object).await?));
    }
    let released = async |index: usize| -> Result<Value> {
        let free = |stored: &Value| mark(stored).is_none() && ready(stored);
        cluster.until(&objects[index], "it is released and ready", free).await
    };

    // Killed after the first release.
    units.source_settled(true).await?;
    released(0).await?;
    drop(one);
    released(1).await?;
    two.leads().await?;
    let three = Replica::start(&cluster, &actors[2], "three", &[]).await?;
    released(2).await?;
    // Frozen beyond its Lease, with whatever it had in hand.
    two.freeze()?;
    released(3).await?;
    three.leads().await?;
    let frozen = releases[1].count();
    two.thaw()?;
    released(4).await?;
    assert!(three.said().contains("leading"));
    // What was in hand fails on its precondition, or on the fence before it is sent.
    for (object, before) in objects.iter().zip(before) {
        let stored = cluster.stored(object).await?;
        assert_eq!(generation(&stored), before + 1, "{object} was not resumed exactly once");
    }
    assert!(releases[1].count() <= frozen + 1, "the thawed replica went on: {:?}", releases[1].seen());
    let all: usize = releases.iter().map(sluicegate_e2e::proxy::Handle::count).sum();
    assert!((NAMES.len()..=NAMES.len() + 3).contains(&all), "{all} writes for {} intents", NAMES.len());
    Ok(())
}
