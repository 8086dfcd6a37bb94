//! The one place that writes.

use super::{Control, MANAGER};
use crate::cluster::{Trouble, read};
use http::Request;
use serde_json::json;
use sluicegate_core::intent::{Intent, Part};
use sluicegate_core::object::Kind;
use sluicegate_core::publish::Notice;
use std::time::Duration;

/// How long a write may take.
const LIMIT: Duration = Duration::from_secs(10);

/// How a write ended.
#[derive(Debug)]
pub enum Done {
    /// It was written; the object as it is now.
    Written(Vec<u8>),
    /// It would have been written: this is a dry run.
    Pretended,
}

/// Why a write did not happen, as far as that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotDone {
    /// We do not lead: nothing was sent.
    NotLeading,
    /// The API server said no, or nothing.
    Trouble(Trouble),
}

impl Control {
    /// Carries out an intent, if this replica leads at this very instant.
    ///
    /// # Caveats
    /// After [`Trouble::Transient`] it may have been written all the same: whoever goes on must read again.
    ///
    /// # Errors
    /// Why it was not written.
    pub async fn execute(&self, intent: &Intent) -> Result<Done, NotDone> {
        let (target, purpose) = (intent.target(), intent.purpose().name());
        if self.settings.dry_run {
            tracing::info!(object = %target, purpose, patch = %intent.body(), "would write");
            self.metrics.write(purpose, "pretended");
            return Ok(Done::Pretended);
        }
        let version = self.version(target.kind);
        let Some(path) = read::path(target, version) else { return Err(NotDone::Trouble(Trouble::Absent)) };
        let part = if intent.purpose().part() == Part::Status { "/status" } else { "" };
        let request = Request::patch(format!("{path}{part}?fieldManager={MANAGER}"))
            .header("Content-Type", "application/json-patch+json")
            .body(intent.body().to_string().into_bytes());
        let sent = self.send(request).await;
        match &sent {
            Ok(_) => tracing::info!(object = %target, purpose, "written"),
            Err(NotDone::NotLeading) => tracing::info!(object = %target, purpose, "not written: not the leader"),
            Err(NotDone::Trouble(Trouble::Conflict)) => {
                tracing::debug!(object = %target, purpose, "not written: the object has changed");
            }
            // What is missing is said once, and not for each object.
            Err(NotDone::Trouble(trouble @ Trouble::Forbidden(_))) if !self.is_first(target.kind, part) => {
                tracing::debug!(object = %target, purpose, error = %trouble, "not written");
            }
            Err(NotDone::Trouble(trouble)) => {
                tracing::warn!(object = %target, purpose, error = %trouble, "not written");
            }
        }
        self.metrics.write(purpose, outcome(sent.as_ref().err()));
        Ok(Done::Written(sent?))
    }

    fn is_first(&self, kind: Kind, part: &str) -> bool {
        self.lock().say(&format!("may not patch {}{part}", kind.resource()))
    }

    /// Says something once, as an Event.
    pub async fn notify(&self, notice: &Notice) {
        let name = notice.name();
        if !self.lock().say(&name) {
            return;
        }
        tracing::info!(object = %notice.about, reason = notice.topic.reason(), "{}", notice.note);
        if self.settings.dry_run {
            return;
        }
        let row = notice.about.kind.row();
        // Events about objects without a namespace stand in "default".
        let namespace = if row.namespaced { &*notice.about.namespace } else { "default" };
        let mut regarding = json!({"apiVersion": format!("{}/{}", row.group, self.version(notice.about.kind)),
            "kind": row.name, "name": *notice.about.name, "uid": *notice.uid});
        if let (true, Some(fields)) = (row.namespaced, regarding.as_object_mut()) {
            fields.insert("namespace".to_owned(), namespace.into());
        }
        let event = json!({
            "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": name, "namespace": namespace},
            "regarding": regarding, "reason": notice.topic.reason(), "note": notice.note,
            "type": if notice.topic.is_warning() { "Warning" } else { "Normal" },
            "action": notice.topic.reason(), "reportingController": "sluicegate.dev/companion",
            "reportingInstance": self.settings.identity.get(..128).unwrap_or(&self.settings.identity),
            "eventTime": self.clock.now().to_rfc3339_opts(chrono::SecondsFormat::Micros, true),
        });
        let request = Request::post(format!("/apis/events.k8s.io/v1/namespaces/{namespace}/events"))
            .header("Content-Type", "application/json")
            .body(event.to_string().into_bytes());
        match self.send(request).await {
            // It stands there already: somebody said it before us.
            Ok(_) | Err(NotDone::Trouble(Trouble::Conflict)) => self.metrics.write("event", "written"),
            Err(why) => {
                self.lock().unsay(&name);
                self.metrics.write("event", outcome(Some(&why)));
                if let NotDone::Trouble(trouble) = why {
                    tracing::warn!(object = %notice.about, error = %trouble, "an Event was not stored");
                }
            }
        }
    }

    async fn send(&self, request: http::Result<Request<Vec<u8>>>) -> Result<Vec<u8>, NotDone> {
        let request = request.map_err(|error| NotDone::Trouble(Trouble::Invalid(error.to_string())))?;
        // Nothing stands between this question and the request: what freezes in between is caught by its precondition.
        if !self.leads() {
            return Err(NotDone::NotLeading);
        }
        match tokio::time::timeout(LIMIT, self.client.request_text(request)).await {
            Ok(Ok(text)) => Ok(text.into_bytes()),
            Ok(Err(error)) => Err(NotDone::Trouble(Trouble::of(&error))),
            Err(_) => Err(NotDone::Trouble(Trouble::Transient("no answer in time".to_owned()))),
        }
    }
}

fn outcome(error: Option<&NotDone>) -> &'static str {
    match error {
        None => "written",
        Some(NotDone::NotLeading) => "not-leading",
        Some(NotDone::Trouble(trouble)) => match trouble {
            Trouble::Absent => "absent",
            Trouble::Conflict => "conflict",
            Trouble::Forbidden(_) => "forbidden",
            Trouble::Refused(_) => "refused",
            Trouble::Invalid(_) => "invalid",
            Trouble::Transient(_) => "failed",
        },
    }
}
