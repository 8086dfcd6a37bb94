//! The companion against an API server in memory, in time that the test makes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "helpers of tests")]
#![allow(missing_docs, reason = "helpers of tests")]

mod cases;
mod discovery;
mod freeing;
mod holds;
mod leading;
mod loops;
mod package_sources;
mod pages;
mod recovery;
mod server;
mod trouble;
mod wire;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use server::Server;
use sluicegate::clock::Clock;
use sluicegate::cluster::lease::Fence;
use sluicegate::control::{Control, Settings, run};
use sluicegate::metrics::Metrics;
use sluicegate_core::object::{KINDS, Kind, Reference, Switch};
use sluicegate_core::testing::{reference, set};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

pub fn start() -> DateTime<Utc> {
    DateTime::parse_from_rfc3339("2026-03-01T00:00:00Z").unwrap().with_timezone(&Utc)
}

pub fn at(seconds: i64) -> String {
    (start() + TimeDelta::seconds(seconds)).to_rfc3339()
}

/// A companion at work.
pub struct Companion {
    pub control: Arc<Control>,
    pub fence: watch::Sender<Option<Instant>>,
    pub driver: JoinHandle<()>,
}

impl Companion {
    /// Starts one that leads.
    pub async fn start(server: &Server, settings: Settings) -> Self {
        let companion = Self::start_at(server, settings, Clock::Since(start(), Instant::now())).await;
        companion.lead();
        companion
    }

    pub async fn start_at(server: &Server, settings: Settings, clock: Clock) -> Self {
        let (fence, receiver) = Fence::new();
        let control = Control::new(server.client(), clock, Some(receiver), settings, Arc::new(Metrics::new()));
        let (feed, events) = tokio::sync::mpsc::channel(4_096);
        let driver = tokio::spawn(run(control.clone(), events));
        let kinds: Vec<Kind> = KINDS.iter().map(|row| row.kind).collect();
        server.watch(feed, &kinds).await;
        Self { control, fence, driver }
    }

    pub fn lead(&self) {
        self.fence.send_replace(Some(Instant::now() + Duration::from_secs(1_000_000)));
    }

    pub fn follow(&self) {
        self.fence.send_replace(None);
    }

    /// As a process that dies.
    pub async fn kill(self) {
        self.driver.abort();
        let _ = self.driver.await;
    }
}

/// Lets so much time pass.
pub async fn pass(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

/// Lets everything happen that needs no time of its own.
pub async fn settle() {
    tokio::time::sleep(Duration::from_millis(900)).await;
}

/// The object, suspended and held since this second.
pub fn held(mut json: Value, cause: &str, second: i64) -> Value {
    let mark = json!({"applier": {"user": "u", "manager": "m"}, "at": at(second), "cause": cause});
    set(&mut json, "/metadata/annotations/sluicegate.dev~1held", json!(mark.to_string()));
    match reference(&json).kind.row().switch {
        Switch::Annotation(key) => {
            set(&mut json, &format!("/metadata/annotations/{}", key.replace('/', "~1")), json!("disabled"));
        }
        _ => set(&mut json, "/spec/suspend", json!(true)),
    }
    json
}

pub fn depending(mut json: Value, names: &[&str]) -> Value {
    let entries: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
    set(&mut json, "/spec/dependsOn", json!(entries));
    json
}

pub fn kustomization(name: &str) -> Reference {
    Reference::new(Kind::Kustomization, "ns", name)
}

pub fn repository() -> Reference {
    Reference::new(Kind::GitRepository, "ns", "repo")
}

/// The message of the condition that says that the object is held.
pub fn published(server: &Server, own: &Reference) -> Option<String> {
    let object = server.get(own);
    let conditions = object.pointer("/status/conditions")?.as_array()?.clone();
    let held = conditions.iter().find(|condition| condition["reason"] == "Held")?;
    Some(held["message"].as_str()?.to_owned())
}

/// The controller does what it does about a resumed Kustomization.
pub fn reconcile(server: &Server, own: &Reference) {
    let object = server.get(own);
    let generation = object["metadata"]["generation"].clone();
    let token = object["metadata"]["annotations"]["reconcile.fluxcd.io/requestedAt"].clone();
    server.change(
        own,
        &[
            ("/status/observedGeneration", generation.clone()),
            ("/status/conditions/Ready/status", json!("True")),
            ("/status/conditions/Ready/observedGeneration", generation),
            ("/status/conditions/Reconciling", Value::Null),
            ("/status/lastHandledReconcileAt", token),
        ],
    );
}
