//! What most scenarios start from: a repository that a root Kustomization applies, with the real controllers at work.

use anyhow::Result;
use serde_json::{Value, json};

use crate::actor::Actor;
use crate::child::Child;
use crate::cluster::{Cluster, condition, ready, text};
use crate::companion::token;
use crate::controllers;
use crate::git::{Git, Repository};
use crate::kind::{self, Object};
use crate::manifest::{self, Manifest};
use crate::proxy::Proxy;

/// Flux over one git repository, `flux-system/repo`, whose folder `root/` the Kustomization `flux-system/root` applies.
/// kustomize-controller speaks to the API server through [`Stage::applier`], source-controller through
/// [`Stage::fetcher`].
pub struct Stage {
    /// The repository.
    pub repository: Repository,
    /// Between kustomize-controller and the API server.
    pub applier: Proxy,
    /// Between source-controller and the API server.
    pub fetcher: Proxy,
    git: Git,
    controllers: Vec<Child>,
}

impl Stage {
    /// Starts both controllers and makes the first commit: these manifests under `root/`, and an empty folder for each
    /// Kustomization among them to apply.
    ///
    /// # Errors
    ///
    /// Anything on the way; at the end the root is ready at the commit.
    pub async fn set(cluster: &Cluster, manifests: &[&Manifest]) -> Result<Self> {
        let git = Git::start(cluster.folder()).await?;
        let repository = git.repository("repo").await?;
        let applier = Proxy::start(cluster).await?;
        let fetcher = Proxy::start(cluster).await?;
        let fetching = fetcher.actor(cluster, "source-controller")?;
        let applying = applier.actor(cluster, "kustomize-controller")?;
        let controllers = vec![
            controllers::source_controller_as(cluster, &fetching)?,
            controllers::kustomize_controller_as(cluster, &applying)?,
        ];
        for name in ["a", "b", "c", "app"] {
            repository.commit(&[(&format!("{name}/settings.yaml"), settings(name, "one"))]).await?;
        }
        repository.commit(&[("root/kept.yaml", settings("kept", "one"))]).await?;
        let stage = Self { repository, applier, fetcher, git, controllers };
        let revision = if manifests.is_empty() { None } else { Some(stage.commit(manifests).await?) };
        let flux = cluster.admin().managed_by("flux");
        let source = manifest::git_repository("flux-system", "repo", stage.repository.url());
        flux.apply(&source).await?.admitted()?;
        // Else the root looks for it in vain, and once more later, when the test may be counting.
        cluster.until(&Self::source(), "it is ready", ready).await?;
        flux.apply(&manifest::kustomization("flux-system", "root", "repo")).await?.admitted()?;
        match revision {
            Some(revision) => drop(stage.applied(cluster, &revision).await?),
            None => drop(cluster.until(&Self::root(), "it is ready", ready).await?),
        }
        Ok(stage)
    }

    /// The root Kustomization.
    #[must_use]
    pub fn root() -> Object {
        kind::kustomization("flux-system", "root")
    }

    /// The source of everything.
    #[must_use]
    pub fn source() -> Object {
        kind::git_repository("flux-system", "repo")
    }

    /// Commits manifests under `root/`; says the revision.
    ///
    /// # Errors
    ///
    /// git fails.
    pub async fn commit(&self, manifests: &[&Manifest]) -> Result<String> {
        self.repository.commit_manifests("root", manifests).await
    }

    /// Has the source fetched, and waits until the root is ready at this revision.
    ///
    /// # Errors
    ///
    /// It does not come to that.
    pub async fn applied(&self, cluster: &Cluster, revision: &str) -> Result<Value> {
        self.fetch(cluster, revision).await?;
        cluster
            .until(&Self::root(), &format!("it is ready at {revision}"), |root| {
                ready(root) && text(root, "/status/lastAppliedRevision") == revision
            })
            .await
    }

    /// Has the source fetched, and waits until it shows this revision.
    ///
    /// # Errors
    ///
    /// It does not come to that.
    pub async fn fetch(&self, cluster: &Cluster, revision: &str) -> Result<()> {
        poke(&cluster.admin().managed_by("flux"), &Self::source()).await?;
        cluster
            .until(&Self::source(), &format!("it shows {revision}"), |source| {
                text(source, "/status/artifact/revision") == revision
            })
            .await
            .map(|_| ())
    }

    /// Has the root applied once more, at the revision that is there, and waits until that has ended well.
    ///
    /// # Errors
    ///
    /// It does not.
    pub async fn again(&self, cluster: &Cluster) -> Result<Value> {
        let token = poke(&cluster.admin().managed_by("flux"), &Self::root()).await?;
        cluster
            .until(&Self::root(), "it has applied once more", |root| {
                ready(root) && text(root, "/status/lastHandledReconcileAt") == token
            })
            .await
    }

    /// Kills source-controller and kustomize-controller.
    pub fn end_controllers(&mut self) {
        self.controllers.clear();
    }

    /// Another repository on the same server.
    ///
    /// # Errors
    ///
    /// git fails.
    pub async fn repository(&self, name: &str) -> Result<Repository> {
        self.git.repository(name).await
    }
}

/// Asks for a reconcile as the flux command does; says the token.
///
/// # Errors
///
/// It is refused.
pub async fn poke(actor: &Actor, object: &Object) -> Result<String> {
    let token = token();
    actor.annotate(object, "reconcile.fluxcd.io/requestedAt", Some(&token)).await?.admitted()?;
    Ok(token)
}

/// Lets a source ask for a branch that is not there, or for `main`, and waits until it says what came of it.
///
/// # Errors
///
/// Anything on the way.
pub async fn settle(cluster: &Cluster, source: &Object, settled: bool) -> Result<()> {
    let flux = cluster.admin().managed_by("flux");
    let branch = if settled { "main" } else { "missing" };
    flux.patch(source, json!({"spec": {"ref": {"branch": branch}}})).await?.admitted()?;
    let token = poke(&flux, source).await?;
    let seen = |source: &Value| {
        let handled = text(source, "/status/lastHandledReconcileAt") == token;
        handled && if settled { ready(source) } else { condition(source, "Ready", "False") }
    };
    cluster.until(source, &format!("its Ready condition follows branch {branch}"), seen).await.map(drop)
}

/// A ConfigMap `apps/NAME` that says which version was applied.
#[must_use]
pub fn settings(name: &str, version: &str) -> String {
    Manifest::new(&kind::CONFIG_MAP.at("apps", name)).with("/data", json!({"version": version})).file()
}
