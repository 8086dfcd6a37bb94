//! What the scenarios about holds start from.

use anyhow::Result;
use serde_json::Value;
use sluicegate_e2e::cluster::{Cluster, ready};
use sluicegate_e2e::kind::{self, Kind, Object};
use sluicegate_e2e::manifest::{self, Manifest};
use sluicegate_e2e::proxy::{Handle, Pick};
use sluicegate_e2e::stage::{Stage, settings, settle};

/// A child that git declares suspended, and its source, which is not of the same apply.
pub struct Child<'a> {
    pub cluster: &'a Cluster,
    pub stage: Stage,
    pub object: Object,
    pub manifest: Manifest,
    source: Object,
    pub dry: Handle,
    pub real: Handle,
}

impl<'a> Child<'a> {
    pub async fn new(cluster: &'a Cluster, kind: Kind) -> Result<Self> {
        let manifest = match kind {
            kind::HELM_RELEASE => manifest::helm_release("apps", "child", "source"),
            _ => manifest::kustomization("apps", "child", "source"),
        };
        let stage = Stage::set(cluster, &[&manifest.clone().suspended()]).await?;
        let other = stage.repository("other").await?;
        other.commit(&[("child/settings.yaml", settings("child", "one"))]).await?;
        let source = manifest::git_repository("apps", "source", other.url());
        cluster.admin().managed_by("flux").apply(&source).await?.admitted()?;
        let source = kind::git_repository("apps", "source");
        cluster.until(&source, "it is ready", ready).await?;
        let object = kind.at("apps", "child");
        let path = format!("/{}/child?", kind.plural);
        let dry = stage.applier.on(Pick::patch(&format!("{path}dryRun=All")));
        let real = stage.applier.on(Pick::patch(&format!("{path}fieldManager")));
        Ok(Self { cluster, stage, object, manifest, source, dry, real })
    }

    /// Lets the source ask for a branch that is not there, or for the one that is.
    pub async fn source_settled(&self, settled: bool) -> Result<()> {
        settle(self.cluster, &self.source, settled).await
    }

    pub async fn stored(&self) -> Result<Value> {
        self.cluster.stored(&self.object).await
    }

    /// Commits this form of the child, and waits for the root; how many dry-runs and real requests it took.
    pub async fn git_says(&self, manifest: &Manifest) -> Result<(usize, usize)> {
        let before = (self.dry.count(), self.real.count());
        let revision = self.stage.commit(&[manifest]).await?;
        self.stage.applied(self.cluster, &revision).await?;
        Ok((self.dry.count() - before.0, self.real.count() - before.1))
    }
}
