//! HelmChart, by itself and as the follower of a HelmRelease.

use super::source::{is_static, source};
use super::{Blocker, Judge, revision};
use crate::need::Reason;
use crate::object::{Chart, Kind, Object, Reference};

/// The row of HelmChart.
///
/// `observedSourceArtifactRevision` means "looked at", not "built from": it is recorded before the build. Only the
/// strategy Revision leaves a trace of what was built.
pub(crate) fn helm_chart(judge: &mut Judge<'_>) {
    source(judge);
    let Some(source) = judge.input(|reason| reason == Reason::SourceRef).filter(|source| !is_static(source)) else {
        return;
    };
    let Some(offered) = source.revision() else { return };
    let observed = judge.object.status.observed_source_artifact_revision.as_deref();
    if observed != Some(offered) {
        judge.push(Blocker::SourceNotObserved { observed: observed.map(Into::into), source: offered.into() });
    }
    let follows_revision = judge.object.spec.reconcile_strategy.as_deref() == Some("Revision")
        && matches!(source.reference.kind, Kind::GitRepository | Kind::Bucket);
    let Some(version) = judge.object.revision().filter(|_| follows_revision) else { return };
    if revision::is_built_from(version, offered) == Some(false) {
        judge.push(Blocker::NotBuiltFromSource { version: version.into(), source: offered.into() });
    }
}

/// Whether this HelmChart is what the release would write when it reconciles (helm-controller 1.6
/// `helmchart_template.go`). If so, it must be settled before the release may be resumed. If not, the write moves its
/// generation, and helm-controller itself waits until that is observed.
///
/// `spec.interval` is left out: it says when to look again, not what is built. `spec.suspend` is not the release's.
#[must_use]
pub fn chart_follows(release: &Object, chart: &Object) -> bool {
    let Some(template) = release.chart_template().filter(|_| release.spec.chart_ref.is_none()) else { return false };
    if expected_name(release).as_ref() != Some(&chart.reference) {
        return false;
    }
    let name = match &chart.spec.chart {
        Some(Chart::Name(name)) => Some(name),
        _ => None,
    };
    let wanted = template.source_ref.as_ref();
    let source = chart.spec.source_ref.as_ref();
    name == template.chart.as_ref()
        && or(&chart.spec.version, "*") == or(&template.version, "*")
        && source.and_then(|source| source.kind.as_ref()) == wanted.and_then(|wanted| wanted.kind.as_ref())
        && source.and_then(|source| source.name.as_ref()) == wanted.and_then(|wanted| wanted.name.as_ref())
        && or(&chart.spec.reconcile_strategy, "ChartVersion") == or(&template.reconcile_strategy, "ChartVersion")
        && list(&chart.spec.values_files) == list(&template.values_files)
        && chart.spec.ignore_missing_values_files.unwrap_or(false)
            == template.ignore_missing_values_files.unwrap_or(false)
        && verification(chart.spec.verify.as_ref()) == verification(template.verify.as_ref())
}

/// The HelmChart that the release would write: another one than its status names, if its source is in another
/// namespace by now; the old one is deleted then.
fn expected_name(release: &Object) -> Option<Reference> {
    let own = &release.reference;
    let source = release.chart_template()?.source_ref.as_ref();
    let namespace = source.and_then(|source| source.namespace.as_deref()).filter(|namespace| !namespace.is_empty());
    let name = format!("{}-{}", own.namespace, own.name);
    Some(Reference::new(Kind::HelmChart, namespace.unwrap_or(&own.namespace), &name))
}

/// A field with the default that the CRD of HelmChart gives it.
fn or<'a>(field: &'a Option<Box<str>>, default: &'a str) -> &'a str {
    field.as_deref().filter(|text| !text.is_empty()).unwrap_or(default)
}

fn list(field: &Option<Vec<Box<str>>>) -> &[Box<str>] {
    field.as_deref().unwrap_or_default()
}

/// Provider and secret of a verification; `cosign` is the default of the CRDs.
fn verification(verify: Option<&crate::object::Verify>) -> Option<(&str, Option<&str>)> {
    let verify = verify?;
    let secret = verify.secret_ref.as_ref().and_then(|secret| secret.name.as_deref());
    Some((or(&verify.provider, "cosign"), secret))
}
