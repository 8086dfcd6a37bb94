//! Leader election by a Lease, with a fence.
//!
//! The crates there are renew without a precondition and tell a boolean. Here each write of the Lease carries the resource
//! version of what was read before it, and what a replica is told is not *that* it leads but *until when*: counted from
//! before the request was sent, less a margin, by the monotonic clock. [`Fence::holds`] is asked before every write. A
//! replica that was frozen in between finds its time over; what is frozen between that question and the socket is caught
//! by the precondition of the object that it writes.

use super::Trouble;
use crate::clock::Clock;
use http::{Method, Request};
use kube::Client;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// What a Lease is asked for.
#[derive(Clone, Debug)]
pub struct Config {
    /// The namespace of the Lease.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Who we are; another one after each start.
    pub identity: String,
    /// How long a Lease lasts that is not renewed; whole seconds.
    pub duration: Duration,
    /// How often it is renewed.
    pub renew: Duration,
    /// How much earlier than the Lease itself our own time ends.
    pub margin: Duration,
}

impl Config {
    /// The usual times: 15 s, renewed every 5 s, given up 3 s before its end.
    #[must_use]
    pub fn new(namespace: &str, name: &str, identity: &str) -> Self {
        Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            identity: identity.to_owned(),
            duration: Duration::from_secs(15),
            renew: Duration::from_secs(5),
            margin: Duration::from_secs(3),
        }
    }

    fn path(&self) -> String {
        format!("/apis/coordination.k8s.io/v1/namespaces/{}/leases", self.namespace)
    }
}

/// Whether writing is allowed now.
#[derive(Clone, Debug)]
pub struct Fence(watch::Receiver<Option<Instant>>);

impl Fence {
    /// A fence, and what sets it: the end of the time for which we lead.
    #[must_use]
    pub fn new() -> (watch::Sender<Option<Instant>>, Self) {
        let (sender, receiver) = watch::channel(None);
        (sender, Self(receiver))
    }

    /// Whether we lead at this instant.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.0.borrow().is_some_and(|until| Instant::now() < until)
    }

    /// Waits until something about it changes; the end of its time is no change.
    pub async fn changed(&mut self) {
        // Nobody renews any more: that changes nothing more.
        if self.0.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// A candidate for the Lease.
pub struct Candidate {
    client: Client,
    config: Config,
    clock: Clock,
    fence: watch::Sender<Option<Instant>>,
    /// The Lease as it was read or written last.
    lease: Option<Value>,
    /// The version of a Lease that another one holds, and when we saw it first.
    observed: Option<(String, Instant)>,
}

impl Candidate {
    /// A candidate that has not tried yet.
    #[must_use]
    pub fn new(client: Client, config: Config, clock: Clock, fence: watch::Sender<Option<Instant>>) -> Self {
        Self { client, config, clock, fence, lease: None, observed: None }
    }

    /// Tries for ever to hold the Lease, and keeps it; ends, and gives the Lease back, when `stop` completes.
    pub async fn run(mut self, stop: impl Future<Output = ()>) {
        tokio::pin!(stop);
        loop {
            let pause = match self.step().await {
                Ok(true) => self.config.renew,
                // Look again often enough to take over soon after its end.
                Ok(false) => self.config.renew.min(Duration::from_secs(2)),
                Err(trouble) => {
                    tracing::warn!(error = %trouble, "the Lease could not be read or renewed");
                    Duration::from_secs(1)
                }
            };
            let pause = pause.mul_f64(0.9 + 0.2 * fastrand::f64());
            tokio::select! {
                () = &mut stop => break,
                () = tokio::time::sleep(pause) => {}
            }
        }
        let held = self.fence.borrow().is_some();
        self.fence.send_replace(None);
        if held {
            self.give_back().await;
        }
    }

    /// One try; whether we lead by now.
    ///
    /// # Errors
    /// Where the API server did not answer, or answered something else. Our time goes on to its end.
    pub async fn step(&mut self) -> Result<bool, Trouble> {
        let before = Instant::now();
        let lease = match self.lease.take() {
            Some(lease) if holder(&lease) == Some(self.config.identity.as_str()) => lease,
            _ => match self.read().await? {
                Some(lease) => lease,
                None => return self.write(before, None).await,
            },
        };
        if !self.may_take(&lease) {
            self.fence.send_if_modified(|until| until.take().is_some());
            return Ok(false);
        }
        self.write(before, Some(lease)).await
    }

    /// Whether the Lease is ours, nobody's, or has run out. It has run out when it has not changed for its duration *by
    /// our own clock*: the times in it are of another one.
    fn may_take(&mut self, lease: &Value) -> bool {
        match holder(lease) {
            Some(other) if other != self.config.identity && !other.is_empty() => {}
            _ => return true,
        }
        let version = lease.pointer("/metadata/resourceVersion").and_then(Value::as_str).unwrap_or_default();
        let now = Instant::now();
        let since = match &self.observed {
            Some((seen, since)) if seen == version => *since,
            _ => {
                self.observed = Some((version.to_owned(), now));
                now
            }
        };
        let lasts = lease.pointer("/spec/leaseDurationSeconds").and_then(Value::as_u64).unwrap_or(15).min(3_600);
        now.duration_since(since) >= Duration::from_secs(lasts)
    }

    async fn read(&self) -> Result<Option<Value>, Trouble> {
        let path = format!("{}/{}", self.config.path(), self.config.name);
        match self.send(Method::GET, &path, None).await {
            Ok(lease) => Ok(Some(lease)),
            Err(Trouble::Absent) => Ok(None),
            Err(trouble) => Err(trouble),
        }
    }

    async fn write(&mut self, before: Instant, lease: Option<Value>) -> Result<bool, Trouble> {
        let body = self.next(lease.as_ref());
        let (method, path) = match lease {
            Some(_) => (Method::PUT, format!("{}/{}", self.config.path(), self.config.name)),
            None => (Method::POST, self.config.path()),
        };
        match self.send(method, &path, Some(&body)).await {
            Ok(written) => {
                let until = before + self.config.duration.saturating_sub(self.config.margin);
                self.lease = Some(written);
                self.observed = None;
                self.fence.send_replace(Some(until));
                Ok(true)
            }
            // Somebody else wrote it: who, the next read tells. Until then we lead no more.
            Err(Trouble::Conflict | Trouble::Absent) => {
                self.fence.send_if_modified(|until| until.take().is_some());
                Ok(false)
            }
            Err(trouble) => {
                // Whether it was written is not known. What was read before is not to be written again.
                self.lease = None;
                Err(trouble)
            }
        }
    }

    /// The Lease as it is to be written, all else in it left as it is.
    fn next(&self, lease: Option<&Value>) -> Value {
        let now = self.clock.now().to_rfc3339_opts(chrono::SecondsFormat::Micros, true);
        let mut next = lease.cloned().unwrap_or_else(|| {
            json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                   "metadata": {"namespace": self.config.namespace, "name": self.config.name}, "spec": {}})
        });
        let ours = holder(&next) == Some(self.config.identity.as_str());
        let changes = next.pointer("/spec/leaseTransitions").and_then(Value::as_i64).unwrap_or(0);
        if let (false, Some(fields)) = (next.get("spec").is_some_and(Value::is_object), next.as_object_mut()) {
            fields.insert("spec".to_owned(), json!({}));
        }
        if let Some(spec) = next.get_mut("spec").and_then(Value::as_object_mut) {
            if !ours {
                spec.insert("acquireTime".to_owned(), json!(now));
                spec.insert("leaseTransitions".to_owned(), json!(changes.saturating_add(i64::from(lease.is_some()))));
            }
            spec.insert("holderIdentity".to_owned(), json!(self.config.identity));
            spec.insert("renewTime".to_owned(), json!(now));
            spec.insert("leaseDurationSeconds".to_owned(), json!(self.config.duration.as_secs()));
        }
        next
    }

    /// Lets another replica take over at once. It is of no matter if that fails.
    async fn give_back(&mut self) {
        let Some(mut lease) = self.lease.take() else { return };
        if let Some(spec) = lease.get_mut("spec").and_then(Value::as_object_mut) {
            spec.insert("holderIdentity".to_owned(), json!(""));
        }
        let path = format!("{}/{}", self.config.path(), self.config.name);
        let sent = self.send(Method::PUT, &path, Some(&lease));
        if let Ok(Err(trouble)) = tokio::time::timeout(Duration::from_secs(2), sent).await {
            tracing::debug!(error = %trouble, "the Lease could not be given back");
        }
    }

    async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, Trouble> {
        let body = body.map(Value::to_string).unwrap_or_default();
        let request = Request::builder().method(method).uri(path).header("Content-Type", "application/json");
        let request = request.body(body.into_bytes()).map_err(|error| Trouble::Invalid(error.to_string()))?;
        // A request that hangs must not outlast what we hold.
        let limit = self.config.renew.max(Duration::from_secs(1));
        match tokio::time::timeout(limit, self.client.request::<Value>(request)).await {
            Ok(answer) => answer.map_err(|error| Trouble::of(&error)),
            Err(_) => Err(Trouble::Transient("no answer in time".to_owned())),
        }
    }
}

fn holder(lease: &Value) -> Option<&str> {
    lease.pointer("/spec/holderIdentity").and_then(Value::as_str)
}
