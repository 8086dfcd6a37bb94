//! A stand-in for helm-controller: HelmReleases with a generated HelmChart, or a chartRef.
//!
//! It installs nothing; a release is an entry in the history, with the chart version that was there at the time.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::status::{Condition, now, write};
use crate::actor::Actor;
use crate::cluster::{condition, text};
use crate::kind::{HELM_CHART, HELM_RELEASE, Kind, Object};
use crate::manifest::Manifest;

/// What a release is woken by: its generation, its request token, its chart's revision.
type Woken = (i64, String, String);

/// Plays until it is dropped.
pub(super) async fn play(actor: Actor) {
    let actor = actor.managed_by("helm-controller");
    let mut seen: HashMap<Object, Woken> = HashMap::new();
    loop {
        for stored in actor.list_all(HELM_RELEASE).await.unwrap_or_default() {
            let at = HELM_RELEASE.at(text(&stored, "/metadata/namespace"), text(&stored, "/metadata/name"));
            let Ok(woken) = woken(&actor, &stored).await else { continue };
            if seen.get(&at) == Some(&woken) {
                continue;
            }
            match reconcile(&actor, &at, &stored).await {
                // Done, until something wakes it.
                Ok(true) => drop(seen.insert(at, woken)),
                // A wait for something, or a lost request: again, and no memory of it.
                Ok(false) | Err(_) => drop(seen.remove(&at)),
            }
        }
        tokio::time::sleep(Duration::from_millis(150)).await;
    }
}

async fn woken(actor: &Actor, stored: &Value) -> Result<Woken> {
    let token = text(stored, "/metadata/annotations/reconcile.fluxcd.io~1requestedAt").to_owned();
    let revision = match chart_of(stored) {
        Some(chart) => actor.get(&chart).await?.map(|chart| text(&chart, "/status/artifact/revision").to_owned()),
        None => None,
    };
    Ok((generation(stored), token, revision.unwrap_or_default()))
}

fn generation(stored: &Value) -> i64 {
    stored.pointer("/metadata/generation").and_then(Value::as_i64).unwrap_or_default()
}

/// Where its chart comes from: what `chartRef` names, or the generated HelmChart.
fn chart_of(stored: &Value) -> Option<Object> {
    let own = text(stored, "/metadata/namespace");
    let namespace = |pointer: &str| match text(stored, pointer) {
        "" => own.to_owned(),
        other => other.to_owned(),
    };
    if stored.pointer("/spec/chartRef").is_some() {
        let kind = Kind::named(text(stored, "/spec/chartRef/kind"))?;
        return Some(kind.at(&namespace("/spec/chartRef/namespace"), text(stored, "/spec/chartRef/name")));
    }
    let name = format!("{own}-{}", text(stored, "/metadata/name"));
    Some(HELM_CHART.at(&namespace("/spec/chart/spec/sourceRef/namespace"), &name))
}

/// One pass; whether it has come to its end.
async fn reconcile(actor: &Actor, at: &Object, stored: &Value) -> Result<bool> {
    let token = stored.pointer("/metadata/annotations/reconcile.fluxcd.io~1requestedAt");
    let mut end = json!({"observedGeneration": generation(stored)});
    if let (Some(token), Some(map)) = (token, end.as_object_mut()) {
        map.insert("lastHandledReconcileAt".to_owned(), token.clone());
    }
    if stored.pointer("/metadata/deletionTimestamp").is_some() {
        return Ok(true);
    }
    // Suspended, it acknowledges requests and generations all the same.
    if stored.pointer("/spec/suspend") == Some(&json!(true)) {
        write(actor, at, &[], &[], end).await?;
        return Ok(true);
    }
    let Some(chart) = chart_of(stored) else { return Ok(true) };
    if let Some(template) = template(at, stored, &chart) {
        actor.apply(&template).await?.admitted()?;
        let name = format!("{}/{}", chart.namespace, chart.name);
        write(actor, at, &[], &[], json!({"helmChart": name})).await?;
    }
    if let Some(waiting) = dependency(actor, at, stored).await? {
        let not_ready = ready("False", "DependencyNotReady", waiting);
        write(actor, at, &[not_ready], &["Reconciling"], json!({})).await?;
        return Ok(false);
    }
    let source = actor.get(&chart).await?.unwrap_or_default();
    let observed = source.pointer("/status/observedGeneration").and_then(Value::as_i64);
    let fetched = source.pointer("/status/artifact/revision").is_some();
    if !fetched
        || observed.is_some_and(|observed| observed != generation(&source))
        || condition(&source, "Stalled", "True")
    {
        let message = format!("{} '{}/{}' is not ready", chart.kind.name, chart.namespace, chart.name);
        write(actor, at, &[ready("False", "SourceNotReady", message)], &[], json!({})).await?;
        return Ok(false);
    }
    release(actor, at, stored, &source, end).await?;
    Ok(true)
}

/// The first dependency that is not ready: its generation observed, and Ready True.
async fn dependency(actor: &Actor, at: &Object, stored: &Value) -> Result<Option<String>> {
    let entries = stored.pointer("/spec/dependsOn").and_then(Value::as_array).cloned().unwrap_or_default();
    for entry in entries {
        let namespace = match text(&entry, "/namespace") {
            "" => at.namespace.as_str(),
            other => other,
        };
        let name = text(&entry, "/name");
        let found = actor.get(&HELM_RELEASE.at(namespace, name)).await?.unwrap_or_default();
        let observed = found.pointer("/status/observedGeneration").and_then(Value::as_i64);
        if observed != Some(generation(&found)) || !condition(&found, "Ready", "True") {
            return Ok(Some(format!("dependency '{namespace}/{name}' is not ready")));
        }
    }
    Ok(None)
}

/// Installs or upgrades, where chart or values differ from the newest release.
async fn release(actor: &Actor, at: &Object, stored: &Value, source: &Value, mut end: Value) -> Result<()> {
    let revision = text(source, "/status/artifact/revision");
    let (version, oci) = chart_version(source, revision);
    let values = stored.pointer("/spec/values").cloned().unwrap_or_default();
    let config = digest(&values.to_string());
    let history = stored.pointer("/status/history").and_then(Value::as_array).cloned().unwrap_or_default();
    let newest = history.first();
    let same = newest
        .is_some_and(|newest| text(newest, "/chartVersion") == version && text(newest, "/configDigest") == config);
    let number = newest.and_then(|newest| newest.get("version")).and_then(Value::as_i64).unwrap_or_default();
    let attempted = json!({
        "lastAttemptedGeneration": generation(stored),
        "lastAttemptedRevision": version,
        "lastAttemptedConfigDigest": config,
    });
    let name = match text(source, "/status/observedChartName") {
        "" => at.name.as_str(),
        name => name,
    };
    let (action, reason) =
        if newest.is_none() { ("install", "InstallSucceeded") } else { ("upgrade", "UpgradeSucceeded") };
    let history = if same {
        write(actor, at, &[], &[], attempted).await?;
        history
    } else {
        let running = format!("Running '{action}' action with timeout of 5m0s");
        let reconciling =
            Condition { kind: "Reconciling", status: "True", reason: "Progressing", message: running.clone() };
        write(actor, at, &[reconciling, ready("Unknown", "Progressing", running)], &[], attempted).await?;
        let mut entry = json!({
            "name": at.name, "namespace": at.namespace, "version": number + 1, "status": "deployed",
            "chartName": name, "chartVersion": version, "configDigest": config,
            "digest": digest(&format!("{version}{config}")), "firstDeployed": now(), "lastDeployed": now(),
        });
        if let (Some(oci), Some(map)) = (oci, entry.as_object_mut()) {
            map.insert("ociDigest".to_owned(), json!(oci));
        }
        let mut history = history;
        for old in &mut history {
            crate::manifest::set(old, "/status", json!("superseded"));
        }
        history.insert(0, entry);
        history.truncate(5);
        history
    };
    let number = history.first().and_then(|newest| newest.get("version")).and_then(Value::as_i64).unwrap_or_default();
    let done = format!(
        "Helm {action} succeeded for release {}/{}.v{number} with chart {name}@{version}",
        at.namespace, at.name
    );
    let released = Condition { kind: "Released", status: "True", reason, message: done.clone() };
    let conditions =
        if same && condition(stored, "Ready", "True") { vec![] } else { vec![released, ready("True", reason, done)] };
    crate::manifest::set(&mut end, "/history", json!(history));
    write(actor, at, &conditions, &["Reconciling", "Stalled"], end).await
}

/// The chart version that a revision becomes, and the digest that goes with it.
fn chart_version(source: &Value, revision: &str) -> (String, Option<String>) {
    if text(source, "/kind") == "HelmChart" {
        return (revision.to_owned(), None);
    }
    let Some((tag, digest)) = revision.split_once('@') else { return (revision.to_owned(), None) };
    let short: String = digest.rsplit(':').next().unwrap_or_default().chars().take(12).collect();
    let semver = tag.trim_start_matches('v').split('.').count() == 3;
    let base = if semver { tag.split('_').next().unwrap_or_default() } else { "1.0.0" };
    (format!("{base}+{short}"), Some(if semver { digest.to_owned() } else { revision.to_owned() }))
}

/// The HelmChart of a release that has a chart template.
fn template(at: &Object, stored: &Value, chart: &Object) -> Option<Manifest> {
    let spec = stored.pointer("/spec/chart/spec")?;
    let mut manifest = Manifest::new(chart)
        .with("/metadata/labels/helm.toolkit.fluxcd.io~1name", json!(at.name))
        .with("/metadata/labels/helm.toolkit.fluxcd.io~1namespace", json!(at.namespace));
    for field in ["chart", "version", "reconcileStrategy", "valuesFiles"] {
        if let Some(value) = spec.get(field) {
            manifest = manifest.with(&format!("/spec/{field}"), value.clone());
        }
    }
    let source = json!({"kind": spec.pointer("/sourceRef/kind"), "name": spec.pointer("/sourceRef/name")});
    let interval = spec.get("interval").or_else(|| stored.pointer("/spec/interval")).cloned();
    Some(manifest.with("/spec/sourceRef", source).with("/spec/interval", interval.unwrap_or_default()))
}

fn ready(status: &'static str, reason: &'static str, message: String) -> Condition {
    Condition { kind: "Ready", status, reason, message }
}

fn digest(text: &str) -> String {
    let hex: String = Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}
