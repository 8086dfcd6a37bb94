//! HelmRelease.

use super::{Blocker, Judge, chart_follows, message, revision};
use crate::need::Reason;
use crate::object::{HistoryEntry, Kind, Object};

/// The row of HelmRelease. `lastAttempted*` shows an attempt and not its success; only the history does, together with
/// Ready.
pub(crate) fn helm_release(judge: &mut Judge<'_>) {
    judge.any();
    judge.generation_observed();
    let (generation, attempted) = (judge.generation(), judge.object.status.last_attempted_generation);
    if attempted != Some(generation) {
        judge.push(Blocker::GenerationNotAttempted { generation, attempted });
    }
    let ready = judge.ready();
    let Some(newest) = newest(judge.object) else {
        judge.push(Blocker::NoHistory);
        return;
    };
    if newest.status.as_deref() != Some("deployed") {
        judge.push(Blocker::NotDeployed { version: newest.version, status: newest.status.clone() });
    }
    if let Some(torn) = ready.and_then(|ready| torn(ready.message.as_deref()?, newest)) {
        judge.push(torn);
    }
    if let Some(source) = artifact_source(judge) {
        built_from(judge, newest, source);
    }
}

/// The newest entry of the history, whatever the order.
fn newest(release: &Object) -> Option<&HistoryEntry> {
    release.status.history.iter().flatten().max_by_key(|entry| entry.version)
}

/// The tear between the Ready message and the history. helm-controller keeps an old success message when a later pass
/// finds nothing to do; it still names the newest release.
fn torn(message: &str, newest: &HistoryEntry) -> Option<Blocker> {
    let said = message::release(message)?;
    let agrees = newest.version.is_none_or(|version| version == said.number)
        && newest.chart_name.as_deref().is_none_or(|name| name == said.chart)
        && newest.chart_version.as_deref().is_none_or(|version| version == said.version);
    (!agrees).then(|| Blocker::TornRelease {
        said: format!("v{} {}@{}", said.number, said.chart, said.version).into(),
        recorded: format!(
            "v{} {}@{}",
            newest.version.unwrap_or_default(),
            newest.chart_name.as_deref().unwrap_or_default(),
            newest.chart_version.as_deref().unwrap_or_default()
        )
        .into(),
    })
}

/// The object whose artifact the release installs, if the snapshot has it.
fn artifact_source<'a>(judge: &mut Judge<'a>) -> Option<&'a Object> {
    if judge.object.spec.chart_ref.is_some() {
        return judge.input(|reason| reason == Reason::ChartRef);
    }
    judge.object.chart_template()?;
    let Some(chart) = judge.input(|reason| reason == Reason::Chart) else {
        judge.push(Blocker::ChartMissing);
        return None;
    };
    if !chart_follows(judge.object, chart) {
        judge.push(Blocker::ChartDiffers);
        return None;
    }
    Some(chart)
}

/// Whether the newest release was made from the current artifact, R being its revision. What helm-controller records
/// depends on the kind of the source and the form of R; it never records the digest of the artifact, which for an
/// OCIRepository is that of a tarball.
fn built_from(judge: &mut Judge<'_>, newest: &HistoryEntry, source: &Object) {
    let Some(artifact) = source.revision() else { return };
    let version = newest.chart_version.as_deref();
    // Empty and absent are the same in Go's JSON.
    let digest = newest.oci_digest.as_deref().filter(|digest| !digest.is_empty());
    let by_digest = match source.reference.kind {
        Kind::OCIRepository => true,
        Kind::ExternalArtifact => artifact.contains(':'),
        _ => false,
    };
    let released = if by_digest {
        let is_built = digest == Some(artifact) || (digest.is_some() && digest == revision::digest(artifact));
        (!is_built).then_some(digest.or(version))
    } else if source.reference.kind == Kind::ExternalArtifact {
        // A producer may call its revisions anything; a chart version it is only if it looks like one.
        let contradicted = semver::Version::parse(artifact).is_ok() && version != Some(artifact);
        (digest.is_some() || contradicted).then_some(digest.or(version))
    } else {
        (version != Some(artifact)).then_some(version)
    };
    if let Some(released) = released {
        judge.push(Blocker::OtherArtifact { released: released.map(Into::into), artifact: artifact.into() });
    }
}
