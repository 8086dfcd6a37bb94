//! Held by the gate, released by the companion, which the gate judges too.

use anyhow::Result;
use serde_json::{Value, json};
use sluicegate_e2e::cluster::{Cluster, condition, message, ready, text};
use sluicegate_e2e::companion::{held, mark};
use sluicegate_e2e::gate::{Gate, Setting};
use sluicegate_e2e::kind::{self, Object};
use sluicegate_e2e::manifest::{self, Manifest};
use sluicegate_e2e::proxy::{Pick, Proxy};
use sluicegate_e2e::replica::{Replica, grant};
use sluicegate_e2e::stage::{Stage, settings, settle};

/// Kustomizations of namespace `apps` over a source that is not of their apply.
pub struct Units<'a> {
    pub cluster: &'a Cluster,
    pub stage: Stage,
    pub source: Object,
}

impl<'a> Units<'a> {
    /// The units that these manifests are, suspended in git, and their source, settled.
    pub async fn new(cluster: &'a Cluster, manifests: &[Manifest]) -> Result<Self> {
        let suspended: Vec<Manifest> = manifests.iter().map(|manifest| manifest.clone().suspended()).collect();
        let stage = Stage::set(cluster, &suspended.iter().collect::<Vec<_>>()).await?;
        let other = stage.repository("other").await?;
        for manifest in manifests.iter().filter_map(Manifest::object) {
            let file = format!("{}/settings.yaml", manifest.name);
            other.commit(&[(&file, settings(&manifest.name, "one"))]).await?;
        }
        let source = manifest::git_repository("apps", "source", other.url());
        cluster.admin().managed_by("flux").apply(&source).await?.admitted()?;
        let source = kind::git_repository("apps", "source");
        cluster.until(&source, "it is ready", ready).await?;
        Ok(Self { cluster, stage, source })
    }

    /// Lets the source ask for a branch that is not there, or for the one that is.
    pub async fn source_settled(&self, settled: bool) -> Result<()> {
        settle(self.cluster, &self.source, settled).await
    }

    /// Git resumes them, while their source is not settled: all are held.
    pub async fn held(&self, manifests: &[Manifest]) -> Result<()> {
        self.source_settled(false).await?;
        let revision = self.stage.commit(&manifests.iter().collect::<Vec<_>>()).await?;
        self.stage.fetch(self.cluster, &revision).await?;
        for object in manifests.iter().filter_map(Manifest::object) {
            self.cluster.until(&object, "it is held", held).await?;
        }
        Ok(())
    }
}

pub fn generation(object: &Value) -> i64 {
    object.pointer("/metadata/generation").and_then(Value::as_i64).unwrap_or_default()
}

/// When a condition became what it is.
fn since<'v>(object: &'v Value, kind: &str) -> &'v str {
    let conditions = object.pointer("/status/conditions").and_then(Value::as_array);
    let found = conditions.into_iter().flatten().find(|condition| text(condition, "/type") == kind);
    found.map_or("", |condition| text(condition, "/lastTransitionTime"))
}

/// What git resumes too early is held, waits visibly, and is released in the order of needs; a parent that waits for it
/// turns green only after it has really reconciled. By the rights that `sluicegate rbac` prints.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn controller_01_releases_in_order_through_the_gate() -> Result<()> {
    let cluster = Cluster::start("controller_01_release").await?;
    grant(&cluster).await?;
    let _gate = Gate::open(&cluster, Setting::default()).await?;
    let between = Proxy::start(&cluster).await?;
    let replica = Replica::start(&cluster, &between.actor(&cluster, "sluicegate")?, "one", &[]).await?;
    replica.leads().await?;

    let unit = |name: &str| manifest::kustomization("apps", name, "source");
    let manifests = [unit("app").depends_on(&["base"]), unit("base")];
    let (app, base) = (kind::kustomization("apps", "app"), kind::kustomization("apps", "base"));
    let units = Units::new(&cluster, &manifests).await?;
    let waiting = json!({"spec": {"wait": true, "timeout": "20s"}});
    cluster.admin().managed_by("flux").patch(&Stage::root(), waiting).await?.admitted()?;
    units.held(&manifests).await?;
    let before = [cluster.stored(&app).await?, cluster.stored(&base).await?];

    // It is seen, and the parent waits.
    for object in [&app, &base] {
        // While the parent still applies, that is the reason.
        let seen = |stored: &Value| {
            let said = message(stored, "Reconciling");
            condition(stored, "Reconciling", "True") && said.starts_with("held: GitRepository/apps/source: ")
        };
        cluster.until(object, "its condition says why it is held", seen).await?;
    }
    cluster.until(&Stage::root(), "it waits for its children", |root| condition(root, "Ready", "Unknown")).await?;
    let releases = between.on(Pick::patch("/kustomizations/").saying("sluicegate.dev~1held"));
    assert_eq!(releases.count(), 0);

    units.source_settled(true).await?;
    let released = |stored: &Value| mark(stored).is_none() && ready(stored);
    let base_now = cluster.until(&base, "it is released and ready", released).await?;
    let app_now = cluster.until(&app, "it is released and ready", released).await?;
    assert_eq!(releases.count(), 2, "{:?}", releases.seen());
    assert!(releases.seen()[0].contains("/base"), "{:?}", releases.seen());
    for (before, now) in before.iter().zip([&app_now, &base_now]) {
        assert_eq!(generation(now), generation(before) + 1, "resumed once");
        assert_eq!(now.pointer("/spec/suspend"), None);
        assert!(!condition(now, "Reconciling", "True"), "its controller takes the condition off");
    }
    let root = cluster.until(&Stage::root(), "it is ready", ready).await?;
    assert!(since(&root, "Ready") >= since(&app_now, "Ready"), "the parent was green before its child");
    Ok(())
}
