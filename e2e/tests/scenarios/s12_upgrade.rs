//! The upgrade of the incident, end to end: all is suspended, the specs move to a new revision, the source is refreshed
//! late. At no moment does anything reconcile at the old revision after the resume.

use anyhow::Result;
use serde_json::{Value, json};
use sluicegate_e2e::cluster::{Cluster, ready, text};
use sluicegate_e2e::companion::{Companion, held};
use sluicegate_e2e::gate::{Gate, Setting};
use sluicegate_e2e::git::Repository;
use sluicegate_e2e::kind::{self, Object};
use sluicegate_e2e::manifest::{self, Manifest};
use sluicegate_e2e::players::helm_controller;
use sluicegate_e2e::proxy::Pick;
use sluicegate_e2e::stage::{Stage, settings};

/// A chart with a ConfigMap alone installs without nodes.
async fn chart(repository: &Repository, version: &str) -> Result<()> {
    let chart = format!("apiVersion: v2\nname: unit\nversion: 0.{version}.0\n");
    let template = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: unit}\ndata: {wanted: '{{ .Values.wanted }}'}\n";
    let app = settings("app", version);
    let files =
        [("unit/Chart.yaml", chart), ("unit/templates/map.yaml", template.to_owned()), ("app/settings.yaml", app)];
    repository.commit(&files).await.map(|_| ())
}

fn source_object() -> Object {
    kind::git_repository("apps", "content")
}

fn history(release: &Value) -> Vec<(&str, &str)> {
    let entries = release.pointer("/status/history").and_then(Value::as_array);
    entries.into_iter().flatten().map(|entry| (text(entry, "/chartVersion"), text(entry, "/configDigest"))).collect()
}

fn digest_of(revision: &str) -> &str {
    revision.rsplit(':').next().unwrap_or_default().get(..12).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_12_nothing_reconciles_at_the_old_revision_after_the_resume() -> Result<()> {
    let cluster = Cluster::start("scenario_12_upgrade").await?;
    let companion = Companion::start(&cluster).await?;
    let _gate = Gate::open(&cluster, Setting::default()).await?;
    let _helm = helm_controller(&cluster)?;
    let stage = Stage::set(&cluster, &[]).await?;
    let content = stage.repository("content").await?;
    chart(&content, "1").await?;
    let one = content.branch("one").await?;

    let (release, app) = (kind::helm_release("apps", "unit"), kind::kustomization("apps", "app"));
    let at = |branch: &str| {
        let reference = json!({"branch": branch});
        manifest::git_repository("apps", "content", content.url()).with("/spec/ref", reference)
    };
    let wanting = |values: &str| {
        manifest::helm_release("apps", "unit", "content").with("/spec/values", json!({"wanted": values}))
    };
    let plain = manifest::kustomization("apps", "app", "content");
    let commit = async |manifests: &[&Manifest]| -> Result<Value> {
        let revision = stage.commit(manifests).await?;
        stage.applied(&cluster, &revision).await
    };
    commit(&[&at("one"), &wanting("one"), &plain]).await?;
    let first =
        cluster.until(&release, "it is ready at one", |release| ready(release) && !history(release).is_empty()).await?;
    cluster.until(&app, "it is ready at one", |app| text(app, "/status/lastAppliedRevision") == one).await?;
    let old = history(&first).iter().map(|(version, _)| (*version).to_owned()).collect::<Vec<_>>();
    assert!(old.iter().all(|version| version.ends_with(digest_of(&one))), "{old:?}");

    // All is suspended, and asked for the next version; the source has not looked yet.
    chart(&content, "2").await?;
    let two = content.branch("two").await?;
    commit(&[&at("two").suspended(), &wanting("two").suspended(), &plain.clone().suspended()]).await?;
    let late = stage.applier.on(Pick::patch("/configmaps/app?fieldManager").saying("\"version\":\"1\""));

    // Git resumes the consumers first.
    commit(&[&wanting("two"), &plain]).await?;
    for object in [&release, &app] {
        assert!(held(&cluster.stored(object).await?), "{object} is not held");
        let refused = cluster.person().patch(object, json!({"spec": {"suspend": null}})).await?.refused()?;
        let expected =
            format!("premature unsuspend: {object} waits for GitRepository/apps/content: suspended (spec.suspend)");
        assert!(refused.starts_with(&expected), "{refused}");
        assert!(companion.release(object).await?.refused()?.starts_with("premature unsuspend: "));
    }

    // The source is resumed, and each of its status requests is held back in turn.
    let slow = stage.fetcher.on(Pick::patch("/gitrepositories/content/status")).hold();
    commit(&[&at("two")]).await?;
    slow.came(1).await?;
    for object in [&release, &app] {
        assert!(companion.release(object).await?.refused()?.starts_with("premature unsuspend: "), "{object}");
    }
    slow.release();

    companion.release_when_due(&app).await?;
    assert_eq!(text(&cluster.stored(&source_object()).await?, "/status/artifact/revision"), two);
    companion.release_when_due(&release).await?;
    let chart_object = kind::HELM_CHART.at("apps", "apps-unit");
    let built = cluster.stored(&chart_object).await?;
    assert!(text(&built, "/status/artifact/revision").ends_with(digest_of(&two)), "{built}");

    cluster.until(&app, "it is at two", |app| ready(app) && text(app, "/status/lastAppliedRevision") == two).await?;
    let done = cluster
        .until(&release, "it is at two", |release| {
            ready(release) && history(release).first().is_some_and(|(version, _)| version.ends_with(digest_of(&two)))
        })
        .await?;
    // One release of each version, and none with the new values on the old chart.
    let releases = history(&done);
    assert_eq!(releases.len(), 2, "{releases:?}");
    let (new, before) = (releases[0], releases[1]);
    assert!(before.0.ends_with(digest_of(&one)) && before.1 != new.1, "{releases:?}");
    assert_eq!(late.count(), 0, "applied at the old revision after the resume: {:?}", late.seen());
    Ok(())
}
