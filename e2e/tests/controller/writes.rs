//! Killed, frozen and thawed in the writes about a hold: its condition, and its release. Whether the write got through or
//! not, the end is the same as without, and each intent is written once.

use anyhow::Result;
use serde_json::{Value, json};
use sluicegate_e2e::child::Child;
use sluicegate_e2e::cluster::{Cluster, condition, ready, text};
use sluicegate_e2e::companion::{held, mark};
use sluicegate_e2e::controllers::{kustomize_controller, source_controller};
use sluicegate_e2e::gate::{Gate, Setting};
use sluicegate_e2e::git::Git;
use sluicegate_e2e::kind::{self, Object};
use sluicegate_e2e::manifest::{self, Manifest};
use sluicegate_e2e::proxy::{Handle, Pick};
use sluicegate_e2e::replica::grant;
use sluicegate_e2e::stage::settings;

use crate::crew::{Blow, Crew, done, seen};
use crate::release::generation;

/// The write of the first does not get through, the answer to that of the second gets lost, and the third is spared.
const NAMES: [&str; 3] = ["a", "b", "c"];

fn unit(name: &str) -> Manifest {
    manifest::kustomization("apps", name, "source")
}

fn object(name: &str) -> Object {
    kind::kustomization("apps", name)
}

fn published(stored: &Value) -> bool {
    reasons(stored).contains(&"Reconciling True Held".to_owned())
}

fn reasons(stored: &Value) -> Vec<String> {
    let all = stored.pointer("/status/conditions").and_then(Value::as_array).into_iter().flatten();
    let mut all: Vec<String> =
        all.map(|one| ["/type", "/status", "/reason"].map(|field| text(one, field)).join(" ")).collect();
    all.sort();
    all
}

/// What must not differ between one that was struck and one that was spared.
fn end_state(stored: &Value) -> Value {
    let annotations = stored.pointer("/metadata/annotations").and_then(Value::as_object);
    let keys: Vec<&String> = annotations.into_iter().flat_map(serde_json::Map::keys).collect();
    let managers = stored.pointer("/metadata/managedFields").and_then(Value::as_array).into_iter().flatten();
    let mut managers: Vec<String> = managers
        .map(|entry| ["/manager", "/operation", "/subresource"].map(|field| text(entry, field)).join(" "))
        .collect();
    managers.sort();
    let spec = Manifest(stored.clone()).without("/spec/path").0.pointer("/spec").cloned();
    json!({"spec": spec, "annotations": keys, "managers": managers, "conditions": reasons(stored),
           "generation": generation(stored), "revision": stored.pointer("/status/lastAppliedRevision")})
}

/// Three units over a source that is suspended; the applier resumes them, and they are held.
struct Scene<'a> {
    cluster: &'a Cluster,
    _gate: Gate,
    _git: Git,
    _controllers: [Child; 2],
}

impl<'a> Scene<'a> {
    async fn new(cluster: &'a Cluster) -> Result<Self> {
        let gate = Gate::open(cluster, Setting::default()).await?;
        let git = Git::start(cluster.folder()).await?;
        let repository = git.repository("other").await?;
        for name in NAMES {
            repository.commit(&[(&format!("{name}/settings.yaml"), settings(name, "one"))]).await?;
        }
        let controllers = [source_controller(cluster)?, kustomize_controller(cluster)?];
        let source = manifest::git_repository("apps", "source", repository.url());
        cluster.admin().managed_by("flux").apply(&source).await?.admitted()?;
        let scene = Self { cluster, _gate: gate, _git: git, _controllers: controllers };
        cluster.until(&Self::source(), "it is ready", ready).await?;
        for name in NAMES {
            scene.applied(&unit(name)).await?;
            cluster.until(&object(name), "it is ready", ready).await?;
            scene.applied(&unit(name).suspended()).await?;
            let seen = |stored: &Value| stored.pointer("/status/observedGeneration") == Some(&json!(2));
            cluster.until(&object(name), "its controller has seen that it is suspended", seen).await?;
        }
        Ok(scene)
    }

    fn source() -> Object {
        kind::git_repository("apps", "source")
    }

    async fn applied(&self, manifest: &Manifest) -> Result<()> {
        self.cluster.actor("kustomize-controller").apply(manifest).await?.admitted().map(drop)
    }

    async fn source_suspended(&self, suspended: bool) -> Result<()> {
        let patch = json!({"spec": {"suspend": if suspended { json!(true) } else { Value::Null }}});
        self.cluster.admin().managed_by("flux").patch(&Self::source(), patch).await?.admitted().map(drop)
    }
}

/// Strikes in the middle of one kind of write, and waits until that has happened to all three all the same.
async fn strike(
    cluster: &Cluster,
    crew: &mut Crew<'_>,
    write: impl Fn(&str) -> Pick,
    (says, happened): (&str, impl Fn(&Value) -> bool + Copy),
    begin: impl Future<Output = Result<()>>,
) -> Result<()> {
    let all: Vec<Vec<Handle>> = NAMES.iter().map(|name| crew.on_all(&write(name))).collect();
    let (before, after) = (crew.on(write("a")).nth(1).hold(), crew.on(write("b")).nth(1).hold_answer());
    begin.await?;
    before.came(1).await?;
    after.answered(1).await?;
    cluster.until(&object("c"), says, happened).await?;
    assert!(!happened(&cluster.stored(&object("a")).await?), "a: it got through");
    assert!(happened(&cluster.stored(&object("b")).await?), "b: it did not get through");
    crew.strike().await?;
    for name in NAMES {
        cluster.until(&object(name), says, happened).await?;
    }
    crew.recover(&[&before, &after]).await?;
    for (name, writes) in NAMES.iter().zip(&all) {
        assert_eq!(done(writes), 1, "{name}: {says}: {:#?}", seen(writes));
    }
    Ok(())
}

async fn struck(test: &str, blow: Blow) -> Result<()> {
    let cluster = Cluster::start(test).await?;
    grant(&cluster).await?;
    let scene = Scene::new(&cluster).await?;
    let mut crew = Crew::start(&cluster, blow).await?;
    scene.source_suspended(true).await?;

    let publish = |name: &str| Pick::patch(&format!("/kustomizations/{name}/status")).saying("\"Held\"");
    let resumed = async {
        for name in NAMES {
            scene.applied(&unit(name)).await?;
            cluster.until(&object(name), "it is held", held).await?;
        }
        Ok(())
    };
    strike(&cluster, &mut crew, publish, ("its condition says that it is held", published), resumed).await?;

    let release = |name: &str| Pick::patch(&format!("/kustomizations/{name}?")).saying("sluicegate.dev~1held");
    let before = generation(&cluster.stored(&object("a")).await?);
    let released = |stored: &Value| mark(stored).is_none();
    strike(&cluster, &mut crew, release, ("it is released", released), scene.source_suspended(false)).await?;

    let mut ends = Vec::new();
    for name in NAMES {
        let over = |stored: &Value| released(stored) && ready(stored) && !condition(stored, "Reconciling", "True");
        ends.push(end_state(&cluster.until(&object(name), "it is ready, and nothing says held", over).await?));
    }
    assert_eq!(ends[2].get("generation"), Some(&json!(before + 1)), "resumed once");
    assert_eq!(ends[0], ends[2], "what was struck before its writes, and what was not");
    assert_eq!(ends[1], ends[2], "what was struck after its writes, and what was not");
    if blow == Blow::Freeze {
        crew.is_silent();
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn controller_09_killed_in_its_writes_about_a_hold_and_restarted() -> Result<()> {
    struck("controller_09_restarted", Blow::Restart).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn controller_10_killed_in_its_writes_about_a_hold_while_another_stands_by() -> Result<()> {
    struck("controller_10_killed", Blow::Kill).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn controller_11_frozen_and_thawed_in_its_writes_about_a_hold() -> Result<()> {
    struck("controller_11_frozen", Blow::Freeze).await
}
