//! The companion as far as the gate knows it, played by the test: it is alive, and it releases.

use std::time::Duration;

use anyhow::{Result, bail};
use chrono::{SecondsFormat, Utc};
use serde_json::{Value, json};

use crate::actor::Actor;
use crate::answer::Answer;
use crate::cluster::Cluster;
use crate::kind::{self, Object};
use crate::manifest::Manifest;

/// The mark of a hold.
pub const MARK: &str = "sluicegate.dev/held";

/// A companion that lives as long as this value: then its Lease is no longer renewed, though still current for a while.
pub struct Companion {
    actor: Actor,
    task: tokio::task::JoinHandle<()>,
}

impl Companion {
    /// Brings one to life: its Lease is current before this returns.
    ///
    /// # Errors
    ///
    /// The Lease cannot be written.
    pub async fn start(cluster: &Cluster) -> Result<Self> {
        let actor = cluster.actor("sluicegate").clone();
        renew(&actor, Utc::now()).await?;
        let renewing = actor.clone();
        let task = tokio::spawn(async move {
            let mut pace = tokio::time::interval(Duration::from_secs(2));
            loop {
                pace.tick().await;
                // The next renewal is soon.
                let _ = renew(&renewing, Utc::now()).await;
            }
        });
        Ok(Self { actor, task })
    }

    /// Releases a held object by the one write of a release.
    ///
    /// # Errors
    ///
    /// There is no such object, or the API server does not answer; a refusal is in the answer.
    pub async fn release(&self, object: &Object) -> Result<Answer> {
        let Some(stored) = self.actor.get(object).await? else { bail!("{object} does not exist") };
        self.actor.json_patch(object, release(&stored)).await
    }

    /// Its account.
    #[must_use]
    pub fn actor(&self) -> &Actor {
        &self.actor
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Writes the companion's Lease with a renewal at that time: a long past one is that of a dead companion.
///
/// # Errors
///
/// It cannot be written.
pub async fn renew(actor: &Actor, at: chrono::DateTime<Utc>) -> Result<()> {
    let lease = Manifest::new(&kind::LEASE.at("sluicegate-system", "sluicegate")).with(
        "/spec",
        json!({
            "holderIdentity": "e2e",
            "leaseDurationSeconds": 15,
            "renewTime": at.to_rfc3339_opts(SecondsFormat::Micros, true),
        }),
    );
    actor.apply(&lease).await?.admitted().map(|_| ())
}

/// The patch that clears the switch and the mark, and asks for a reconcile, unless anything has changed meanwhile.
#[must_use]
pub fn release(stored: &Value) -> Value {
    let version = stored.pointer("/metadata/resourceVersion").cloned().unwrap_or_default();
    // An applier that declares `false` would write it again at its next apply.
    let switch = if declares_switch(stored) {
        json!({"op": "replace", "path": "/spec/suspend", "value": false})
    } else {
        json!({"op": "remove", "path": "/spec/suspend"})
    };
    json!([
        {"op": "test", "path": "/metadata/resourceVersion", "value": version},
        {"op": "test", "path": "/spec/suspend", "value": true},
        switch,
        {"op": "remove", "path": "/metadata/annotations/sluicegate.dev~1held"},
        {"op": "add", "path": "/metadata/annotations/reconcile.fluxcd.io~1requestedAt", "value": token()},
    ])
}

/// A fresh value for `requestedAt`.
#[must_use]
pub fn token() -> String {
    Utc::now().to_rfc3339_opts(SecondsFormat::Nanos, true)
}

/// Whether an Apply entry of managedFields owns `spec.suspend`.
#[must_use]
pub fn declares_switch(stored: &Value) -> bool {
    owners(stored, "f:spec", "f:suspend").iter().any(|(_, operation)| operation == "Apply")
}

/// The managers of a field, with their operation.
#[must_use]
pub fn owners(stored: &Value, parent: &str, field: &str) -> Vec<(String, String)> {
    let entries = stored.pointer("/metadata/managedFields").and_then(Value::as_array);
    let text = |entry: &Value, key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    entries
        .into_iter()
        .flatten()
        .filter(|entry| entry.pointer(&format!("/fieldsV1/{parent}/{field}")).is_some())
        .map(|entry| (text(entry, "manager"), text(entry, "operation")))
        .collect()
}

/// The mark of an object, nothing where there is none.
#[must_use]
pub fn mark(stored: &Value) -> Option<&str> {
    stored.pointer("/metadata/annotations/sluicegate.dev~1held").and_then(Value::as_str)
}

/// Whether it is suspended and marked.
#[must_use]
pub fn held(stored: &Value) -> bool {
    mark(stored).is_some() && stored.pointer("/spec/suspend") == Some(&json!(true))
}
