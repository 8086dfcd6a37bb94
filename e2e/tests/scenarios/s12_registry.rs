//! The upgrade once more, over a registry and generated artifacts, with the companion itself.

use anyhow::Result;
use serde_json::{Value, json};
use sluicegate_e2e::cluster::{Cluster, ready, text};
use sluicegate_e2e::companion::held;
use sluicegate_e2e::gate::{Gate, Setting};
use sluicegate_e2e::kind::{self, ARTIFACT_GENERATOR, EXTERNAL_ARTIFACT, OCI_REPOSITORY};
use sluicegate_e2e::manifest::{self, Manifest};
use sluicegate_e2e::players::{helm_controller, source_watcher};
use sluicegate_e2e::proxy::Pick;
use sluicegate_e2e::registry::Registry;
use sluicegate_e2e::replica::Replica;
use sluicegate_e2e::stage::{Stage, settings};

fn repository(registry: &Registry, tag: &str) -> Manifest {
    Manifest::new(&OCI_REPOSITORY.at("apps", "content"))
        .with("/spec", json!({"interval": "1h", "insecure": true, "url": registry.url("content"), "ref": {"tag": tag}}))
}

/// Makes a chart, and what the Kustomization applies.
fn generator() -> Manifest {
    let copy = |name: &str, from: &str| json!({"name": name, "copy": [{"from": from, "to": "@artifact/"}]});
    Manifest::new(&ARTIFACT_GENERATOR.at("apps", "maker"))
        .with("/spec/sources", json!([{"alias": "content", "kind": "OCIRepository", "name": "content"}]))
        .with("/spec/artifacts", json!([copy("chart", "@content/unit/**"), copy("plain", "@content/**")]))
}

fn app() -> Manifest {
    manifest::kustomization("apps", "app", "-")
        .with("/spec/sourceRef", json!({"kind": "ExternalArtifact", "name": "plain"}))
}

fn release(wanted: &str) -> Manifest {
    manifest::helm_release("apps", "unit", "-")
        .without("/spec/chart")
        .with("/spec/chartRef", json!({"kind": "ExternalArtifact", "name": "chart"}))
        .with("/spec/values", json!({"wanted": wanted}))
}

async fn push(registry: &Registry, version: &str) -> Result<String> {
    let files = [
        ("unit/Chart.yaml", format!("apiVersion: v2\nname: unit\nversion: 0.{version}.0\n")),
        ("unit/templates/map.yaml", settings("unit", version)),
        ("app/settings.yaml", settings("app", version)),
    ];
    registry.push("content", version, &files).await
}

async fn revision_of(cluster: &Cluster, artifact: &str) -> Result<String> {
    let stored = cluster.stored(&EXTERNAL_ARTIFACT.at("apps", artifact)).await?;
    Ok(text(&stored, "/status/artifact/revision").to_owned())
}

fn charts(release: &Value) -> Vec<&str> {
    let entries = release.pointer("/status/history").and_then(Value::as_array);
    entries.into_iter().flatten().map(|entry| text(entry, "/ociDigest")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_12_over_a_registry_with_generated_artifacts_and_the_companion_itself() -> Result<()> {
    let cluster = Cluster::start("scenario_12_registry").await?;
    let registry = Registry::start(&cluster).await?;
    let companion = Replica::start(&cluster, cluster.actor("sluicegate"), "sluicegate", &[]).await?;
    companion.leads().await?;
    let _gate = Gate::open(&cluster, Setting::default()).await?;
    let _helm = helm_controller(&cluster)?;
    let _watcher = source_watcher(&cluster)?;
    let stage = Stage::set(&cluster, &[]).await?;
    let commit = async |manifests: &[&Manifest]| -> Result<Value> {
        let revision = stage.commit(manifests).await?;
        stage.applied(&cluster, &revision).await
    };
    let (unit, plain) = (kind::helm_release("apps", "unit"), kind::kustomization("apps", "app"));
    let source = OCI_REPOSITORY.at("apps", "content");

    push(&registry, "1").await?;
    commit(&[&repository(&registry, "1"), &generator(), &app(), &release("1")]).await?;
    cluster.until(&plain, "it is ready", ready).await?;
    let first = cluster.until(&unit, "it is ready", |unit| ready(unit) && charts(unit).len() == 1).await?;
    let (old_chart, old_plain) = (revision_of(&cluster, "chart").await?, revision_of(&cluster, "plain").await?);
    assert_eq!(charts(&first), [&*old_chart]);

    // All is suspended and asked for the next version; then git resumes the consumers, and the source last.
    let revision = push(&registry, "2").await?;
    commit(&[&repository(&registry, "2").suspended(), &app().suspended(), &release("2").suspended()]).await?;
    let late = stage.applier.on(Pick::patch("/configmaps/app?fieldManager").saying("\"version\":\"1\""));
    commit(&[&app(), &release("2")]).await?;
    for object in [&unit, &plain] {
        assert!(held(&cluster.stored(object).await?), "{object} is not held");
        let refused = cluster.person().patch(object, json!({"spec": {"suspend": null}})).await?.refused()?;
        assert!(refused.contains("OCIRepository/apps/content: suspended (spec.suspend)"), "{refused}");
    }
    let slow = stage.fetcher.on(Pick::patch("/ocirepositories/content/status")).hold();
    commit(&[&repository(&registry, "2")]).await?;
    slow.came(1).await?;
    for object in [&unit, &plain] {
        assert!(held(&cluster.stored(object).await?), "{object} was released too early:\n{}", companion.said());
    }
    slow.release();

    // The companion does the rest.
    cluster
        .until(&source, &format!("it shows {revision}"), |source| text(source, "/status/artifact/revision") == revision)
        .await?;
    let applied = cluster
        .until(&plain, "it is ready at the new revision", |app| {
            ready(app) && !held(app) && text(app, "/status/lastAppliedRevision") != old_plain
        })
        .await?;
    assert_eq!(text(&applied, "/status/lastAppliedRevision"), revision_of(&cluster, "plain").await?);
    let released = cluster.until(&unit, "it is at the new chart", |unit| ready(unit) && charts(unit).len() > 1).await?;
    assert_eq!(charts(&released), [revision_of(&cluster, "chart").await?, old_chart]);
    assert_eq!(late.count(), 0, "applied at the old revision after the resume: {:?}", late.seen());
    Ok(())
}
