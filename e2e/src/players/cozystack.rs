//! A stand-in for cozystack's operator, as far as PackageSources go: it applies the generator of each, copies what that
//! says, and has a driver of its own for a generator that is stalled (`packagesource_reconciler.go`).

use anyhow::Result;
use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use serde_json::{Value, json};
use std::time::Duration;

use super::status::now;
use crate::actor::Actor;
use crate::cluster::text;
use crate::kind::{ARTIFACT_GENERATOR, Object, PACKAGE_SOURCE};
use crate::manifest::{Manifest, set};

/// Where the generators stand.
const NAMESPACE: &str = "cozy-system";
const MANAGER: &str = "cozystack-packagesource-controller";
const GRACE: TimeDelta = TimeDelta::seconds(30);
const MOST: u32 = 5;
const FORCED: &str = "SourceWatcherRecoveryForced";
const COUNT: &str = "cozystack.io/source-watcher-recovery-attempts";
const LAST: &str = "cozystack.io/source-watcher-last-recovery-at";
const REQUESTED: &str = "reconcile.fluxcd.io/requestedAt";

/// Plays until it is dropped.
pub(super) async fn play(actor: Actor) {
    let actor = actor.managed_by(MANAGER);
    loop {
        for stored in actor.list_all(PACKAGE_SOURCE).await.unwrap_or_default() {
            // Again at the next look, whatever it was.
            let _ = reconcile(&actor, &stored).await;
        }
        tokio::time::sleep(Duration::from_millis(150)).await;
    }
}

async fn reconcile(actor: &Actor, source: &Value) -> Result<()> {
    if source.pointer("/metadata/deletionTimestamp").is_some() {
        return Ok(());
    }
    let name = text(source, "/metadata/name");
    let at = ARTIFACT_GENERATOR.at(NAMESPACE, name);
    if source.pointer("/spec/sourceRef").is_none() {
        return tell(actor, source, unknown("SourceRefNotSet", "spec.sourceRef is not set")).await;
    }
    if let Some(generator) = generator(source, &at)
        && differs(actor.get(&at).await?.as_ref(), &generator)
    {
        // Not by force: a conflict is an error, again and again.
        let kind = "application/apply-patch+yaml";
        actor.ask(http::Method::PATCH, &at.path(), kind, Some(&generator.0), "").await?.admitted()?;
    }
    let Some(stored) = actor.get(&at).await? else {
        return tell(actor, source, unknown("ArtifactGeneratorNotFound", "there is no ArtifactGenerator")).await;
    };
    let ready = ready(&stored);
    let reason = ready.map_or("", |ready| text(ready, "/reason"));
    let attempts = attempts(&stored);
    let going_on = attempts > 0 && is_unknown_now(&stored);
    if reason == FORCED || going_on || is_stuck(&stored, Utc::now()) {
        return drive(actor, source, &at, &stored, attempts).await;
    }
    if annotation(&stored, COUNT).is_some() || annotation(&stored, LAST).is_some() {
        actor.patch(&at, json!({"metadata": {"annotations": {COUNT: null, LAST: null}}})).await?.admitted()?;
    }
    let told = ready.cloned().unwrap_or_else(|| unknown("ArtifactGeneratorNotReady", "it has no Ready condition yet"));
    tell(actor, source, told).await
}

/// Its state machine: force, wait, or give up.
async fn drive(actor: &Actor, source: &Value, at: &Object, stored: &Value, attempts: u32) -> Result<()> {
    let awaiting = || unknown("AwaitingSourceWatcherRecovery", "waiting for source-watcher");
    let elapsed = annotation(stored, LAST).and_then(time).map(|last| Utc::now() - last);
    let over = elapsed.is_none_or(|elapsed| elapsed >= delay(attempts));
    if attempts > 0 && !over {
        return tell(actor, source, awaiting()).await;
    }
    if attempts >= MOST {
        let mut told = unknown("SourceWatcherStalled", "source-watcher does not recover");
        set(&mut told, "/status", json!("False"));
        return tell(actor, source, told).await;
    }
    // As it does it: all conditions replaced, without a precondition; then the annotations.
    let mut conditions = stored.pointer("/status/conditions").and_then(Value::as_array).cloned().unwrap_or_default();
    conditions.retain(|condition| text(condition, "/type") != "Ready");
    conditions.push(json!({"type": "Ready", "status": "False", "reason": FORCED, "message": "recovery forced",
        "lastTransitionTime": now(), "observedGeneration": stored.pointer("/metadata/generation")}));
    actor.status(at, json!({"conditions": conditions})).await?.admitted()?;
    let at_once = Utc::now().to_rfc3339_opts(SecondsFormat::Nanos, true);
    let tracking = json!({REQUESTED: at_once, LAST: at_once, COUNT: (attempts + 1).to_string()});
    actor.patch(at, json!({"metadata": {"annotations": tracking}})).await?.admitted()?;
    tell(actor, source, awaiting()).await
}

/// Writes the Ready condition of a PackageSource, with the PackageSource's generation, where it says something else.
async fn tell(actor: &Actor, source: &Value, mut told: Value) -> Result<()> {
    let before = ready(source);
    set(&mut told, "/observedGeneration", source.pointer("/metadata/generation").cloned().unwrap_or_default());
    if told.get("lastTransitionTime").is_none() {
        let since = before.filter(|before| text(before, "/status") == text(&told, "/status"));
        let since = since.map_or_else(|| json!(now()), |before| json!(text(before, "/lastTransitionTime")));
        set(&mut told, "/lastTransitionTime", since);
    }
    if before == Some(&told) {
        return Ok(());
    }
    let at = PACKAGE_SOURCE.at("", text(source, "/metadata/name"));
    let mut written = source.clone();
    set(&mut written, "/status/conditions", json!([told]));
    let path = format!("{}/status", at.path());
    actor.ask(http::Method::PUT, &path, "application/json", Some(&written), "").await?.admitted().map(drop)
}

/// The generator of a PackageSource: an output a component. None where there is nothing to put out.
fn generator(source: &Value, at: &Object) -> Option<Manifest> {
    let list = |value: &Value, field: &str| value.get(field).and_then(Value::as_array).cloned().unwrap_or_default();
    let mut outputs = Vec::new();
    for variant in list(source.get("spec")?, "variants") {
        for component in list(&variant, "components") {
            let name =
                [at.name.as_str(), text(&variant, "/name"), text(&component, "/name")].join("-").replace('.', "-");
            let from = format!("@source/{}/**", text(&component, "/path"));
            outputs.push(json!({"name": name, "copy": [{"from": from, "to": "@artifact/"}]}));
        }
    }
    let reference = |field: &str| source.pointer(&format!("/spec/sourceRef/{field}")).cloned().unwrap_or_default();
    let from = json!({"alias": "source", "kind": reference("kind"), "name": reference("name"),
                      "namespace": reference("namespace")});
    let owner = json!({"apiVersion": PACKAGE_SOURCE.api_version(), "kind": PACKAGE_SOURCE.name, "name": at.name,
                       "uid": text(source, "/metadata/uid"), "controller": true, "blockOwnerDeletion": true});
    (!outputs.is_empty()).then(|| {
        Manifest::new(at)
            .with("/metadata/labels/cozystack.io~1packagesource", json!(at.name))
            .with("/metadata/ownerReferences", json!([owner]))
            .with("/spec", json!({"sources": [from], "artifacts": outputs}))
    })
}

fn differs(stored: Option<&Value>, wanted: &Manifest) -> bool {
    let field = |value: &Value, pointer: &str| value.pointer(pointer).cloned();
    let wanted = &wanted.0;
    stored.is_none_or(|stored| {
        let spec = ["/spec/sources", "/spec/artifacts"];
        spec.iter().any(|pointer| field(stored, pointer) != field(wanted, pointer))
    })
}

/// Produced, and Ready Unknown, or absent, for longer than the grace period.
fn is_stuck(stored: &Value, now: DateTime<Utc>) -> bool {
    let listed = stored.pointer("/status/inventory").and_then(Value::as_array).is_some_and(|all| !all.is_empty());
    let produced = listed && !text(stored, "/status/observedSourcesDigest").is_empty();
    let since = match ready(stored) {
        None => text(stored, "/metadata/creationTimestamp"),
        Some(ready) if is_unknown_now(stored) => text(ready, "/lastTransitionTime"),
        Some(_) => return false,
    };
    produced && time(since).is_some_and(|since| now - since > GRACE)
}

fn is_unknown_now(stored: &Value) -> bool {
    let generation = stored.pointer("/metadata/generation");
    ready(stored)
        .is_some_and(|ready| text(ready, "/status") == "Unknown" && ready.get("observedGeneration") == generation)
}

fn delay(attempts: u32) -> TimeDelta {
    TimeDelta::seconds(match attempts {
        0 | 1 => 30,
        2 => 60,
        3 => 120,
        _ => 240,
    })
}

fn attempts(stored: &Value) -> u32 {
    annotation(stored, COUNT).and_then(|count| count.parse().ok()).unwrap_or_default()
}

fn annotation<'v>(stored: &'v Value, key: &str) -> Option<&'v str> {
    stored.pointer("/metadata/annotations")?.get(key)?.as_str()
}

fn time(text: &str) -> Option<DateTime<Utc>> {
    Some(DateTime::parse_from_rfc3339(text).ok()?.with_timezone(&Utc))
}

fn ready(stored: &Value) -> Option<&Value> {
    let conditions = stored.pointer("/status/conditions")?.as_array()?;
    conditions.iter().find(|condition| text(condition, "/type") == "Ready")
}

fn unknown(reason: &str, message: &str) -> Value {
    json!({"type": "Ready", "status": "Unknown", "reason": reason, "message": message})
}
