//! A stand-in for source-watcher: ArtifactGenerators and their ExternalArtifacts.
//!
//! It builds nothing: what it offers is the artifact of the first source, under the name of the output. Deletions are left
//! to the API server.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::{Result, bail};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::status::{Condition, now, write};
use crate::actor::Actor;
use crate::cluster::{condition, text};
use crate::kind::{ARTIFACT_GENERATOR, EXTERNAL_ARTIFACT, Kind, Object};
use crate::manifest::Manifest;

/// What a generator is woken by: its generation, its request token, the revisions of its sources.
type Woken = (i64, String, Vec<String>);

const REQUESTED: &str = "/metadata/annotations/reconcile.fluxcd.io~1requestedAt";

/// Plays until it is dropped.
pub(super) async fn play(actor: Actor) {
    let actor = actor.managed_by("source-watcher");
    let mut seen: HashMap<Object, Woken> = HashMap::new();
    loop {
        for stored in actor.list_all(ARTIFACT_GENERATOR).await.unwrap_or_default() {
            let at = ARTIFACT_GENERATOR.at(text(&stored, "/metadata/namespace"), text(&stored, "/metadata/name"));
            let Ok(sources) = sources(&actor, &at, &stored).await else { continue };
            let revisions = sources.iter().map(|(_, artifact)| text(artifact, "/revision").to_owned()).collect();
            let woken = (generation(&stored), text(&stored, REQUESTED).to_owned(), revisions);
            if seen.get(&at) == Some(&woken) {
                continue;
            }
            match reconcile(&actor, &at, &stored, &sources).await {
                Ok(()) => drop(seen.insert(at, woken)),
                // Again, and no memory of it.
                Err(_) => drop(seen.remove(&at)),
            }
        }
        tokio::time::sleep(Duration::from_millis(150)).await;
    }
}

fn generation(stored: &Value) -> i64 {
    stored.pointer("/metadata/generation").and_then(Value::as_i64).unwrap_or_default()
}

/// Each source's alias with its artifact, null where there is none.
async fn sources(actor: &Actor, at: &Object, stored: &Value) -> Result<Vec<(String, Value)>> {
    let mut found = Vec::new();
    for source in stored.pointer("/spec/sources").and_then(Value::as_array).into_iter().flatten() {
        let Some(kind) = Kind::named(text(source, "/kind")) else { bail!("a source of no known kind") };
        let namespace = match text(source, "/namespace") {
            "" => at.namespace.as_str(),
            other => other,
        };
        let object = actor.get(&kind.at(namespace, text(source, "/name"))).await?.unwrap_or_default();
        let artifact = object.pointer("/status/artifact").cloned().unwrap_or_default();
        found.push((text(source, "/alias").to_owned(), artifact));
    }
    Ok(found)
}

/// One pass.
async fn reconcile(actor: &Actor, at: &Object, stored: &Value, sources: &[(String, Value)]) -> Result<()> {
    let handled = match stored.pointer(REQUESTED) {
        Some(token) => json!({"lastHandledReconcileAt": token}),
        None => json!({}),
    };
    let switch = text(stored, "/metadata/annotations/source.extensions.fluxcd.io~1reconcile");
    if stored.pointer("/metadata/deletionTimestamp").is_some() || switch.eq_ignore_ascii_case("disabled") {
        return write(actor, at, &[], &[], handled).await;
    }
    if let Some((alias, _)) = sources.iter().find(|(_, artifact)| artifact.is_null()) {
        let failed = ready("False", "SourceFetchFailed", format!("source '{alias}' has no artifact"));
        write(actor, at, &[failed], &["Reconciling"], handled).await?;
        bail!("it waits for a source");
    }
    let digest = digest(sources);
    let names: Vec<&str> = stored
        .pointer("/spec/artifacts")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|output| text(output, "/name"))
        .collect();
    if !drifted(actor, at, stored, &digest, names.len()).await? {
        // The conditions are left as they are: an Unknown stays one.
        let gone: &[&str] = if condition(stored, "Ready", "True") { &["Reconciling"] } else { &[] };
        return write(actor, at, &[], gone, handled).await;
    }
    let progress = "Reconciliation in progress".to_owned();
    let reconciling =
        Condition { kind: "Reconciling", status: "True", reason: "Progressing", message: progress.clone() };
    write(actor, at, &[reconciling, ready("Unknown", "Progressing", progress)], &["Stalled"], json!({})).await?;
    let mut inventory = Vec::new();
    for name in &names {
        let Some((_, artifact)) = sources.first() else { break };
        inventory.push(offer(actor, at, stored, name, artifact).await?);
    }
    let done = format!("reconciliation succeeded, generated {} artifact(s)", names.len());
    let mut rest = handled;
    crate::manifest::set(&mut rest, "/inventory", json!(inventory));
    crate::manifest::set(&mut rest, "/observedSourcesDigest", json!(digest));
    write(actor, at, &[ready("True", "Succeeded", done)], &["Reconciling"], rest).await
}

/// Is there anything to do? Ready *Unknown* is no reason.
async fn drifted(actor: &Actor, at: &Object, stored: &Value, digest: &str, outputs: usize) -> Result<bool> {
    let conditions = stored.pointer("/status/conditions").and_then(Value::as_array);
    let ready = conditions.into_iter().flatten().find(|condition| text(condition, "/type") == "Ready");
    let observed = ready.and_then(|ready| ready.get("observedGeneration")).and_then(Value::as_i64).unwrap_or_default();
    let inventory = stored.pointer("/status/inventory").and_then(Value::as_array).cloned().unwrap_or_default();
    if condition(stored, "Ready", "False")
        || observed != generation(stored)
        || text(stored, "/status/observedSourcesDigest") != digest
        || inventory.len() != outputs
    {
        return Ok(true);
    }
    for entry in inventory {
        let artifact = actor.get(&EXTERNAL_ARTIFACT.at(&at.namespace, text(&entry, "/name"))).await?;
        if artifact.is_none_or(|artifact| text(&artifact, "/status/artifact/digest") != text(&entry, "/digest")) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Applies an ExternalArtifact and its status; gives its entry of the inventory.
async fn offer(actor: &Actor, at: &Object, generator: &Value, name: &str, source: &Value) -> Result<Value> {
    let object = EXTERNAL_ARTIFACT.at(&at.namespace, name);
    let digest = text(source, "/digest");
    let reference = json!({"apiVersion": ARTIFACT_GENERATOR.api_version(), "kind": "ArtifactGenerator",
                           "name": at.name, "namespace": at.namespace});
    let manifest = Manifest::new(&object)
        .with("/metadata/labels/app.kubernetes.io~1managed-by", json!("source-watcher"))
        .with("/metadata/labels/source.extensions.fluxcd.io~1generator", json!(text(generator, "/metadata/uid")))
        .with("/spec/sourceRef", reference);
    actor.apply(&manifest).await?.admitted()?;
    let mut artifact = source.clone();
    crate::manifest::set(&mut artifact, "/revision", json!(format!("latest@{digest}")));
    let origin = json!({"org.opencontainers.image.revision": text(source, "/revision")});
    crate::manifest::set(&mut artifact, "/metadata", origin);
    let stored = actor.get(&object).await?.unwrap_or_default();
    let condition = json!({"type": "Ready", "status": "True", "reason": "Succeeded", "message": "Artifact is ready",
                           "lastTransitionTime": now(), "observedGeneration": generation(&stored)});
    let status = Manifest::new(&object).with("/status", json!({"artifact": artifact, "conditions": [condition]}));
    let (path, kind) = (format!("{}/status", object.path()), "application/apply-patch+yaml");
    actor.ask(http::Method::PATCH, &path, kind, Some(&status.0), "force=true").await?.admitted()?;
    Ok(json!({"name": name, "namespace": at.namespace, "digest": digest, "filename": format!("{name}.tar.gz")}))
}

/// SHA-256 over what is offered under each alias.
fn digest(sources: &[(String, Value)]) -> String {
    let mut entries: Vec<String> = sources
        .iter()
        .map(|(alias, artifact)| {
            let of = |field: &str| text(artifact, field).to_owned();
            format!("{alias}=[digest={},revision={},url={}]", of("/digest"), of("/revision"), of("/url"))
        })
        .collect();
    entries.sort();
    let hex: String = Sha256::digest(entries.join("|")).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

fn ready(status: &'static str, reason: &'static str, message: String) -> Condition {
    Condition { kind: "Ready", status, reason, message }
}
