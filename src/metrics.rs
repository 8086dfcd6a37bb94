//! What is counted. Labels are from short lists of ours; no name of an object becomes one.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use sluicegate_core::object::{Kind, Reference};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct WriteLabels {
    purpose: &'static str,
    result: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabels {
    kind: &'static str,
}

/// All metrics of the companion.
pub struct Metrics {
    registry: Registry,
    writes: Family<WriteLabels, Counter>,
    reads: Family<KindLabels, Counter>,
    watch_errors: Family<KindLabels, Counter>,
    gave_up: Family<KindLabels, Counter>,
    attempts: Counter,
    held_for: Histogram,
    held: Gauge,
    held_too_long: Gauge,
    held_loops: Gauge,
    cycles: Gauge,
    cycle_members: Gauge,
    watched: Gauge,
    leading: Gauge,
    beat: AtomicI64,
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// All at zero.
    #[must_use]
    pub fn new() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("sluicegate"),
            writes: Family::default(),
            reads: Family::default(),
            watch_errors: Family::default(),
            gave_up: Family::default(),
            attempts: Counter::default(),
            // From a second to more than nine hours.
            held_for: Histogram::new(exponential_buckets(1.0, 2.0, 16)),
            held: Gauge::default(),
            held_too_long: Gauge::default(),
            held_loops: Gauge::default(),
            cycles: Gauge::default(),
            cycle_members: Gauge::default(),
            watched: Gauge::default(),
            leading: Gauge::default(),
            beat: AtomicI64::new(0),
        };
        let registry = &mut metrics.registry;
        registry.register("writes", "Writes to the API server, by purpose and result", metrics.writes.clone());
        registry.register("reads", "Reads of single objects, by kind", metrics.reads.clone());
        registry.register("watch_errors", "Errors of watches, by kind", metrics.watch_errors.clone());
        registry.register("recovery_given_up", "Objects whose recovery was given up, by kind", metrics.gave_up.clone());
        registry.register("recovery_attempts", "Attempts to recover a generator", metrics.attempts.clone());
        registry.register("held_seconds", "How long released objects had been held", metrics.held_for.clone());
        registry.register("held", "Objects that are held", metrics.held.clone());
        registry.register("held_too_long", "Objects that have been held for too long", metrics.held_too_long.clone());
        registry.register("held_loops", "Loops of held objects", metrics.held_loops.clone());
        registry.register("dependency_cycles", "Sets of objects that need each other", metrics.cycles.clone());
        registry.register("dependency_cycle_members", "Objects in such sets", metrics.cycle_members.clone());
        registry.register("watched", "Objects that are watched", metrics.watched.clone());
        registry.register("leading", "Whether this replica leads", metrics.leading.clone());
        metrics
    }

    /// A write, or a try.
    pub fn write(&self, purpose: &'static str, result: &'static str) {
        self.writes.get_or_create(&WriteLabels { purpose, result }).inc();
    }

    /// A read of one object.
    pub fn read(&self, kind: Kind) {
        self.reads.get_or_create(&KindLabels { kind: kind.name() }).inc();
    }

    /// An error of a watch.
    pub fn watch_error(&self, kind: Kind) {
        self.watch_errors.get_or_create(&KindLabels { kind: kind.name() }).inc();
    }

    /// An attempt of recovery.
    pub fn attempt(&self) {
        self.attempts.inc();
    }

    /// Recovery was given up.
    pub fn gave_up(&self, object: &Reference) {
        self.gave_up.get_or_create(&KindLabels { kind: object.kind.name() }).inc();
    }

    /// An object was released after so long.
    pub fn released(&self, held_for: Option<Duration>) {
        if let Some(held_for) = held_for {
            self.held_for.observe(held_for.as_secs_f64());
        }
    }

    /// How many objects are held, and how many of them for too long.
    pub fn held(&self, held: usize, too_long: usize) {
        self.held.set(number(held));
        self.held_too_long.set(number(too_long));
    }

    /// How many loops of held objects there are.
    pub fn held_loops(&self, loops: usize) {
        self.held_loops.set(number(loops));
    }

    /// How many sets of objects need each other, and how many objects that are.
    pub fn cycles(&self, sets: usize, members: usize) {
        self.cycles.set(number(sets));
        self.cycle_members.set(number(members));
    }

    /// The driver is alive.
    pub fn alive(&self, leading: bool, watched: usize) {
        self.leading.set(i64::from(leading));
        self.watched.set(number(watched));
        self.beat.store(chrono::Utc::now().timestamp(), Ordering::Relaxed);
    }

    /// Whether the driver has shown that it is alive within so many seconds.
    #[must_use]
    pub fn is_alive(&self, seconds: i64) -> bool {
        let beat = self.beat.load(Ordering::Relaxed);
        beat == 0 || chrono::Utc::now().timestamp().saturating_sub(beat) <= seconds
    }

    /// The text that Prometheus reads.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_told_with_bounded_labels() {
        let metrics = Metrics::new();
        metrics.write("release", "written");
        metrics.read(Kind::Kustomization);
        metrics.held(3, 1);
        let text = metrics.text();
        assert!(text.contains(r#"sluicegate_writes_total{purpose="release",result="written"} 1"#), "{text}");
        assert!(text.contains(r#"sluicegate_reads_total{kind="Kustomization"} 1"#), "{text}");
        assert!(text.contains("sluicegate_held 3"), "{text}");
        assert!(text.ends_with("# EOF\n"));
    }

    #[test]
    fn one_that_never_beat_has_not_stopped() {
        assert!(Metrics::new().is_alive(1));
    }
}
