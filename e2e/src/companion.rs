//! The companion as far as the gate knows it, played by the test: it is alive, and it releases.
//!
//! It asks core, as the real one does, whether an object may be resumed, and what to write.

use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use chrono::{SecondsFormat, Utc};
use serde_json::{Value, json};
use sluicegate_core::gate::Fetched;
use sluicegate_core::intent::Fresh;
use sluicegate_core::object::{Kind, Reference};
use sluicegate_core::release::{self, Activity, Marked, Marks, Outcome, Release, Standing, Step};

use crate::actor::Actor;
use crate::answer::Answer;
use crate::cluster::Cluster;
use crate::kind::{self, Object};
use crate::manifest::Manifest;
use crate::wait::until;

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

    /// Writes what releases a held object, without asking whether it is time; the gate asks.
    ///
    /// # Errors
    ///
    /// There is no such object, it is not held, or the API server does not answer; a refusal is in the answer.
    pub async fn release(&self, object: &Object) -> Result<Answer> {
        let (fresh, marked, _) = self.held(object).await?;
        let Some(intent) = release::resume(&fresh, &marked, &token()) else { bail!("{object} is not held") };
        self.actor.json_patch(object, intent.body()).await
    }

    /// Whether it is time to release a held object.
    ///
    /// # Errors
    ///
    /// There is no such object, it is not held, or something cannot be read at all.
    pub async fn judge(&self, object: &Object) -> Result<Outcome> {
        let (fresh, marked, json) = self.held(object).await?;
        let settings = release::Settings::default();
        let now = Utc::now();
        let object = fresh.object().clone();
        let mut judged = Release::new((object, &json), &marked, settings, &Activity::new(), now, now);
        loop {
            match judged.step() {
                Step::Done(outcome) => return Ok(outcome),
                Step::Read(reads) => {
                    let mut found = Vec::new();
                    for read in reads {
                        found.push(self.read(&read.reference).await?);
                    }
                    judged.answer(found);
                }
            }
        }
    }

    /// Waits until it is time, and releases.
    ///
    /// # Errors
    ///
    /// It does not come to that: with what it waits for.
    pub async fn release_when_due(&self, object: &Object) -> Result<Value> {
        until(&format!("the companion releases {object}"), async || match self.judge(object).await? {
            Outcome::Waits(wait) => Ok(Err(format!("it waits: {wait:?}"))),
            // Something may have moved since.
            Outcome::Now => Ok(self.release(object).await?.admitted().map_err(|error| format!("{error:#}"))),
        })
        .await
    }

    async fn held(&self, object: &Object) -> Result<(Fresh, Marked, Vec<u8>)> {
        let Some(stored) = self.actor.get(object).await? else { bail!("{object} does not exist") };
        let Some(kind) = Kind::named(object.kind.name) else { bail!("{object} is of a kind that is not judged") };
        let json = serde_json::to_vec(&stored)?;
        let fresh = Fresh::read(&Reference::new(kind, &object.namespace, &object.name), &json)
            .map_err(|error| anyhow!("{object} cannot be read: {error}"))?;
        match Standing::of(fresh.object(), Marks::Gate) {
            Standing::Held(marked) => Ok((fresh, marked, json)),
            other => bail!("{object} is not held: {other:?}"),
        }
    }

    async fn read(&self, reference: &Reference) -> Result<Fetched> {
        let Some(kind) = kind::Kind::named(reference.kind.name()) else { return Ok(Fetched::KindAbsent) };
        let found = self.actor.get(&kind.at(&reference.namespace, &reference.name)).await?;
        Ok(match found {
            Some(stored) => Fetched::Found(serde_json::to_vec(&stored)?),
            None => Fetched::Absent,
        })
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
