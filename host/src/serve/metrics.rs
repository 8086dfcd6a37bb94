//! What is counted.
//!
//! | metric | labels | counts |
//! |---|---|---|
//! | `sluicegate_host_evaluations_total` | `kind`, `operation`, `dry_run`, `verdict` | requests that were answered: `admitted`, `mutated`, `denied`, or `trap`, `timeout`, `error` where the guest gave no verdict |
//! | `sluicegate_host_host_calls_total` | `operation`, `outcome` | what the guest asked of the host, logging included: `ok`, `error` |
//! | `sluicegate_host_reads_total` | `api_version`, `kind`, `outcome` | objects read: `found`, `absent`, `error` |
//! | `sluicegate_host_traps_total` | | guests that broke off |
//! | `sluicegate_host_timeouts_total` | | guests whose time was up |
//! | `sluicegate_host_abandoned_total` | | requests whose client went away before the answer |
//! | `sluicegate_host_evaluations_running` | | evaluations that have begun and not ended, abandoned ones included |
//!
//! Calls are counted when they are answered, so one that hangs is missing from them.

use std::sync::atomic::AtomicI64;

use prometheus_client::{
    encoding::{EncodeLabelSet, text},
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

use crate::{AdmissionRequest, AdmissionResponse, GuestFailure, HostCall};

/// The counters of one server.
#[derive(Debug)]
pub(super) struct Metrics {
    registry: Registry,
    evaluations: Family<Evaluation, Counter>,
    host_calls: Family<Call, Counter>,
    reads: Family<Read, Counter>,
    traps: Counter,
    timeouts: Counter,
    pub abandoned: Counter,
    pub running: Gauge<i64, AtomicI64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Evaluation {
    kind: String,
    operation: String,
    dry_run: String,
    verdict: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Call {
    operation: String,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Read {
    api_version: String,
    kind: String,
    outcome: &'static str,
}

impl Metrics {
    pub fn new() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("sluicegate_host"),
            evaluations: Family::default(),
            host_calls: Family::default(),
            reads: Family::default(),
            traps: Counter::default(),
            timeouts: Counter::default(),
            abandoned: Counter::default(),
            running: Gauge::default(),
        };
        let registry = &mut metrics.registry;
        registry.register("evaluations", "Requests answered, by verdict", metrics.evaluations.clone());
        registry.register("host_calls", "Calls of the guest to the host", metrics.host_calls.clone());
        registry.register("reads", "Objects read", metrics.reads.clone());
        registry.register("traps", "Guests that broke off", metrics.traps.clone());
        registry.register("timeouts", "Guests whose time was up", metrics.timeouts.clone());
        registry.register("abandoned", "Requests whose client went away", metrics.abandoned.clone());
        registry.register("evaluations_running", "Evaluations begun and not ended", metrics.running.clone());
        metrics
    }

    /// Counts a request and its answer.
    pub fn answered(&self, request: &AdmissionRequest, response: &AdmissionResponse) {
        let verdict = match response.guest_failure() {
            Some(GuestFailure::Trap) => {
                self.traps.inc();
                "trap"
            }
            Some(GuestFailure::TimeOut) => {
                self.timeouts.inc();
                "timeout"
            }
            Some(GuestFailure::Error) => "error",
            None if !response.allowed => "denied",
            None if response.patch.is_some() => "mutated",
            None => "admitted",
        };
        let labels = Evaluation {
            kind: request.kind().to_owned(),
            operation: request.operation().to_owned(),
            dry_run: request.is_dry_run().to_string(),
            verdict,
        };
        self.evaluations.get_or_create(&labels).inc();
    }

    /// Counts a call that was answered.
    pub fn called(&self, call: &HostCall) {
        let outcome = if call.answer.is_ok() { "ok" } else { "error" };
        let operation = format!("{}/{}", call.namespace, call.operation);
        self.host_calls.get_or_create(&Call { operation, outcome }).inc();
        if let Some((api_version, kind)) = call.resource() {
            let outcome = match &call.answer {
                Ok(_) => "found",
                Err(text) if text.starts_with(ABSENT) => "absent",
                Err(_) => "error",
            };
            let labels = Read { api_version: api_version.to_owned(), kind: kind.to_owned(), outcome };
            self.reads.get_or_create(&labels).inc();
        }
    }

    /// All of it in the text format.
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = text::encode(&mut out, &self.registry);
        out
    }
}

/// What the host says of an object, or of a kind, that does not exist.
const ABSENT: &str = "Callback evaluation failure: Cannot find ";
