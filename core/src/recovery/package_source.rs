//! What a PackageSource says of its generator, as cozystack's operator does (`packagesource_reconciler.go`).

use super::{FORCED, Verdict};
use crate::intent::{Fresh, Intent, Purpose, condition};
use crate::object::Condition;
use chrono::{DateTime, SecondsFormat, Utc};

/// What the companion does about the PackageSource of a generator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PackageSources {
    /// Write its status, where no operator does.
    Status,
    /// Events alone.
    #[default]
    Observe,
    /// Nothing.
    Off,
}

/// The Ready condition of a PackageSource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// `True`, `False` or `Unknown`.
    pub status: Box<str>,
    /// The reason.
    pub reason: Box<str>,
    /// The message.
    pub message: Box<str>,
    /// When the generator's condition became what it is, where the report copies it.
    pub since: Option<Box<str>>,
}

impl Report {
    fn new(status: &str, reason: &str, message: &str) -> Self {
        Self { status: status.into(), reason: reason.into(), message: message.into(), since: None }
    }

    /// What there is to say of a generator about which `verdict` was given. Its Ready is copied as it is; our own marker
    /// never leaks.
    #[must_use]
    pub fn of(generator: &Fresh, verdict: Verdict) -> Self {
        let ready = generator.object().condition("Ready");
        match verdict {
            Verdict::Force { .. } | Verdict::Wait { .. } => Self::recovering(),
            Verdict::GaveUp => Self::new("False", "SourceWatcherStalled", crate::text::SOURCE_WATCHER_STALLED),
            Verdict::Leave(_) | Verdict::Reset => match ready {
                Some(ready) if ready.reason.as_deref() == Some(FORCED) => Self::recovering(),
                Some(ready) => Self::copy(ready),
                None => Self::new("Unknown", "ArtifactGeneratorNotReady", crate::text::GENERATOR_NOT_READY),
            },
        }
    }

    fn recovering() -> Self {
        Self::new("Unknown", "AwaitingSourceWatcherRecovery", crate::text::AWAITING_RECOVERY)
    }

    fn copy(ready: &Condition) -> Self {
        let text = |field: &Option<Box<str>>| field.clone().unwrap_or_default();
        Self {
            status: text(&ready.status),
            reason: text(&ready.reason),
            message: text(&ready.message),
            since: ready.last_transition_time.clone(),
        }
    }
}

/// Whether somebody else writes the status of this PackageSource. Whoever it is, it is the operator: nobody else has
/// anything to say there.
#[must_use]
pub fn is_left_to_the_operator(package_source: &Fresh, own_manager: &str) -> bool {
    package_source.status_is_written_by(|manager| manager != own_manager)
}

/// Writes the report, where it is not there already.
#[must_use]
pub fn report(package_source: &Fresh, report: &Report, now: DateTime<Utc>) -> Option<Intent> {
    let object = package_source.object();
    if object.is_deleting() {
        return None;
    }
    let before = object.condition("Ready");
    let same = before.is_some_and(|before| {
        before.status.as_ref() == Some(&report.status)
            && before.reason.as_ref() == Some(&report.reason)
            && before.message.as_ref() == Some(&report.message)
            && before.observed_generation == object.metadata.generation
            && report.since.as_ref().is_none_or(|since| before.last_transition_time.as_ref() == Some(since))
    });
    if same {
        return None;
    }
    let now = now.to_rfc3339_opts(SecondsFormat::Secs, true);
    let text = (&*report.status, &*report.reason, &*report.message);
    let mut ready = condition(before, "Ready", text, object.metadata.generation, &now);
    if let (Some(since), Some(fields)) = (&report.since, ready.as_object_mut()) {
        fields.insert("lastTransitionTime".to_owned(), (**since).into());
    }
    let mut intent = Intent::new(package_source, Purpose::Report);
    intent.set_condition(package_source, "Ready", ready);
    Some(intent)
}
