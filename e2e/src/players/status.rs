//! How Flux writes a status: conditions first, under an optimistic lock; then the rest, without one.

use anyhow::Result;
use chrono::{SecondsFormat, Utc};
use serde_json::{Value, json};

use crate::actor::Actor;
use crate::kind::Object;

/// One condition, as the next write shall have it.
pub(super) struct Condition {
    pub(super) kind: &'static str,
    pub(super) status: &'static str,
    pub(super) reason: &'static str,
    pub(super) message: String,
}

/// Now, as Kubernetes writes it.
pub(super) fn now() -> String {
    Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Writes the conditions and then the rest, each where it changes something. Both are tried, whatever becomes of the first:
/// so a status can be torn either way. What is in `gone` is taken away.
pub(super) async fn write(
    actor: &Actor,
    at: &Object,
    conditions: &[Condition],
    gone: &[&str],
    rest: Value,
) -> Result<()> {
    let Some(stored) = actor.get(at).await? else { return Ok(()) };
    let first = match merged(&stored, conditions, gone) {
        None => Ok(()),
        Some(conditions) => {
            let patch = json!({
                "metadata": {"resourceVersion": stored.pointer("/metadata/resourceVersion")},
                "status": {"conditions": conditions},
            });
            let path = format!("{}/status", at.path());
            let kind = "application/merge-patch+json";
            let answer = actor.ask(http::Method::PATCH, &path, kind, Some(&patch), "").await;
            answer.and_then(|answer| answer.admitted().map(|_| ()))
        }
    };
    let same = rest.as_object().is_some_and(|fields| {
        fields.iter().all(|(key, value)| stored.pointer(&format!("/status/{key}")) == Some(value))
    });
    if !same {
        actor.status(at, rest).await?.admitted()?;
    }
    first
}

/// All conditions with these in place; nothing where that changes nothing.
fn merged(stored: &Value, conditions: &[Condition], gone: &[&str]) -> Option<Vec<Value>> {
    let old: Vec<Value> = stored.pointer("/status/conditions").and_then(Value::as_array).cloned().unwrap_or_default();
    let kind_of = |value: &Value| value.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    // The generation is the stored object's, not that of the pass.
    let generation = stored.pointer("/metadata/generation");
    let mut all: Vec<Value> = old.iter().filter(|value| !gone.contains(&kind_of(value).as_str())).cloned().collect();
    for condition in conditions {
        let before = all.iter().position(|value| kind_of(value) == condition.kind);
        let before = before.map(|index| all.swap_remove(index));
        let unchanged =
            before.as_ref().and_then(|value| value.get("status")).and_then(Value::as_str) == Some(condition.status);
        let since = before.as_ref().and_then(|value| value.get("lastTransitionTime")).filter(|_| unchanged);
        all.push(json!({
            "type": condition.kind,
            "status": condition.status,
            "reason": condition.reason,
            "message": condition.message,
            "observedGeneration": generation,
            "lastTransitionTime": since.cloned().unwrap_or_else(|| json!(now())),
        }));
    }
    all.sort_by_key(kind_of);
    let mut sorted = old;
    sorted.sort_by_key(kind_of);
    (all != sorted).then_some(all)
}
