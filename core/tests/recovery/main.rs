//! Recovery, decided without I/O at times of the test's own choosing.
//!
//! What cozystack's tests of its driver cover is here by the number that it has in this list; where the design decides
//! otherwise the test says so. Those that are about requests sent and failures of them are tests of the companion itself.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "helpers of tests")]
#![allow(missing_docs, reason = "helpers of tests")]

mod bounded;
mod cozystack;
mod outdated;
mod package_source;
mod seen;
mod writes;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use sluicegate_core::intent::Fresh;
use sluicegate_core::recovery::{ATTEMPTS_KEY, LAST_AT_KEY, Memory, Verdict, decide};
use sluicegate_core::testing::{reference, sample, set, snapshot};

pub fn at(seconds: i64) -> DateTime<Utc> {
    let start = DateTime::parse_from_rfc3339("2026-03-01T00:00:00Z").unwrap().with_timezone(&Utc);
    start + TimeDelta::seconds(seconds)
}

pub fn fresh(json: &Value) -> Fresh {
    Fresh::read(&reference(json), json.to_string().as_bytes()).unwrap()
}

/// A generator that became Unknown at second 0, with all its work done.
pub fn stalled() -> Value {
    let mut json = sample::artifact_generator("ns", "g");
    set(&mut json, "/status/conditions/Ready/status", json!("Unknown"));
    set(&mut json, "/status/conditions/Ready/reason", json!("Progressing"));
    set(&mut json, "/status/conditions/Ready/lastTransitionTime", json!("2026-03-01T00:00:00Z"));
    let running = json!({"type": "Reconciling", "status": "True", "reason": "Progressing"});
    set(&mut json, "/status/conditions/Reconciling", running);
    json
}

pub fn tracked(mut json: Value, attempts: &str, last_at: &str) -> Value {
    for (key, value) in [(ATTEMPTS_KEY, attempts), (LAST_AT_KEY, last_at)] {
        set(&mut json, &format!("/metadata/annotations/{}", key.replace('/', "~1")), json!(value));
    }
    json
}

/// As after this many attempts, the last one at this second.
pub fn attempted(json: Value, attempts: u32, last: i64) -> Value {
    tracked(json, &attempts.to_string(), &at(last).to_rfc3339())
}

/// The verdict at this second, of a companion that has just looked at it for the first time.
pub fn verdict(json: &Value, second: i64) -> Verdict {
    verdict_seen(json, &mut Memory::default(), second)
}

/// As [`verdict`], by a companion that remembers.
pub fn verdict_seen(json: &Value, memory: &mut Memory, second: i64) -> Verdict {
    let (fresh, sources) = (fresh(json), snapshot([&sample::git_repository("ns", "repo")]));
    memory.see(&fresh, &sources, at(second));
    decide(&fresh, memory, &sources, at(second))
}
