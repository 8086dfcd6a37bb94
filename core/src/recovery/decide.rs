//! What to do about an ArtifactGenerator.

use super::{ATTEMPTS, FORCED, GRACE, Memory, Tracking, stall};
use crate::intent::Fresh;
use crate::object::{Condition, Object};
use crate::settled::{Snapshot, sources_digest};
use chrono::{DateTime, TimeDelta, Utc};

/// cozystack's operator has a driver of its own (`packagesource_reconciler.go`).
/// The annotation in which cozystack's operator keeps the time of its last attempt.
pub const OPERATOR_LAST_AT: &str = "cozystack.io/source-watcher-last-recovery-at";
/// The annotation in which cozystack's operator counts its attempts.
pub const OPERATOR_ATTEMPTS: &str = "cozystack.io/source-watcher-recovery-attempts";
const OPERATOR_FORCED: &str = "SourceWatcherRecoveryForced";
/// Its longest pause, and some more: after that it has given up, or is gone.
const OPERATOR_PAUSE: TimeDelta = TimeDelta::minutes(6);

/// What is wrong with a generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// It has finished, and its Ready stays Unknown or absent.
    Stalled,
    /// Its spec was edited while it was building, and the edit was lost: Ready True with the old content.
    LostEdit,
    /// Ready True, and its sources have moved on without it.
    DigestBehind,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing; look again at that time, if one is given.
    Leave(Option<DateTime<Utc>>),
    /// An honest verdict of its controller: forget the attempts.
    Reset,
    /// Make this attempt.
    Force {
        /// Its number, from 1.
        attempt: u32,
        /// What for.
        case: Case,
    },
    /// An attempt was made; wait for what comes of it.
    Wait {
        /// How many attempts were made.
        attempts: u32,
        /// Until when.
        until: DateTime<Utc>,
    },
    /// All attempts are spent.
    GaveUp,
}

/// Decides what to do about a generator at `now`. Its sources are read from the snapshot; without them nothing is proved.
#[must_use]
pub fn decide(fresh: &Fresh, memory: &Memory, snapshot: &dyn Snapshot, now: DateTime<Utc>) -> Verdict {
    let generator = fresh.object();
    let stalled = generator.condition("Stalled").is_some_and(Condition::is_true);
    if generator.is_suspended() || generator.is_deleting() || stalled {
        return Verdict::Leave(None);
    }
    if let Some(until) = operator_at_work(fresh, now) {
        return Verdict::Leave(Some(until));
    }
    let tracking = Tracking::of(fresh, now);
    match find(fresh, memory, &tracking, snapshot, now) {
        Found::Nothing => Verdict::Leave(None),
        Found::Honest if tracking.present => Verdict::Reset,
        Found::Honest => Verdict::Leave(None),
        Found::Later(at) => Verdict::Leave(Some(at)),
        Found::Case(case) => {
            let due = tracking.due(now);
            match tracking.attempts {
                0 => Verdict::Force { attempt: 1, case },
                attempts if due > now => Verdict::Wait { attempts, until: due },
                attempts if attempts < ATTEMPTS => Verdict::Force { attempt: attempts + 1, case },
                _ => Verdict::GaveUp,
            }
        }
    }
}

enum Found {
    Nothing,
    Honest,
    Later(DateTime<Utc>),
    Case(Case),
}

fn find(fresh: &Fresh, memory: &Memory, tracking: &Tracking, snapshot: &dyn Snapshot, now: DateTime<Utc>) -> Found {
    let generator = fresh.object();
    let generation = generator.metadata.generation.unwrap_or_default();
    let ready = generator.condition("Ready");
    let current = ready.is_none_or(|ready| ready.observed_generation == Some(generation));
    let ours = ready.is_some_and(|ready| ready.reason.as_deref() == Some(FORCED));
    match ready.and_then(|ready| ready.status.as_deref()) {
        Some("True") => working(generator, generation, current, memory, tracking, now),
        Some("False") if !ours => Found::Honest,
        // Of another generation: that is drift in itself, and its controller will see it.
        _ if !current && !ours => Found::Nothing,
        _ => {
            let recorded = generator.status.observed_sources_digest.as_deref().filter(|digest| !digest.is_empty());
            let Some(digest) = sources_digest(generator, snapshot) else { return Found::Nothing };
            // With attempts made, an empty digest or our own reason is the lever we pulled.
            let pulled = tracking.attempts > 0 && recorded.is_none();
            let finished = stall::is_complete(generator, fresh.has_path_pattern())
                && (pulled || ours || recorded == Some(&*digest));
            if !finished {
                return Found::Nothing;
            }
            let since = since(ready, memory, now);
            let end = since.checked_add_signed(GRACE).unwrap_or(since);
            if tracking.attempts == 0 && !ours && end >= now {
                Found::Later(just_after(end))
            } else {
                Found::Case(Case::Stalled)
            }
        }
    }
}

/// Ready True: honest, but for two cases.
fn working(
    generator: &Object,
    generation: i64,
    current: bool,
    memory: &Memory,
    tracking: &Tracking,
    now: DateTime<Utc>,
) -> Found {
    let reconciling = generator.condition("Reconciling").is_some_and(Condition::is_true);
    if !current || reconciling {
        return Found::Nothing;
    }
    if memory.lost_edit(generation) {
        return Found::Case(Case::LostEdit);
    }
    let Some(since) = memory.behind_since() else { return Found::Honest };
    let end = since.checked_add_signed(GRACE).unwrap_or(since);
    if tracking.attempts == 0 && end >= now { Found::Later(just_after(end)) } else { Found::Case(Case::DigestBehind) }
}

/// Since when Ready has been what it is. An absent one carries no time, and one that lies in the future tells none: then
/// since it was first seen so.
fn since(ready: Option<&Condition>, memory: &Memory, now: DateTime<Utc>) -> DateTime<Utc> {
    let written = ready.and_then(|ready| ready.last_transition_time.as_deref());
    let written = written.and_then(|time| DateTime::parse_from_rfc3339(time).ok()).map(|time| time.with_timezone(&Utc));
    written.filter(|time| *time <= now).unwrap_or_else(|| memory.state_since(now))
}

/// The grace period must be over, not ending.
fn just_after(end: DateTime<Utc>) -> DateTime<Utc> {
    end + TimeDelta::milliseconds(1)
}

/// Until when the recovery of cozystack's operator counts as under way.
fn operator_at_work(fresh: &Fresh, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let time = |text: &str| Some(DateTime::parse_from_rfc3339(text).ok()?.with_timezone(&Utc));
    let last = fresh.annotation(OPERATOR_LAST_AT).and_then(time);
    let marker = fresh.object().condition("Ready").filter(|ready| ready.reason.as_deref() == Some(OPERATOR_FORCED));
    let written = marker.and_then(|ready| time(ready.last_transition_time.as_deref()?));
    let counted = fresh.annotation(OPERATOR_ATTEMPTS).is_some();
    let last = last.filter(|_| counted).into_iter().chain(written).max()?;
    // One of the future has just been written by another clock.
    let until = last.min(now).checked_add_signed(OPERATOR_PAUSE)?;
    (until > now).then_some(until)
}
