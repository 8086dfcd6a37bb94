//! What Flux's messages quote. Older controllers used other words, and newer ones may: what is not recognised is no
//! evidence.

use crate::object::Kind;

/// The revision that a message of ArtifactInStorage quotes (source-controller 1.9).
pub(super) fn stored_revision(kind: Kind, message: &str) -> Option<&str> {
    let quoted = |prefix: &str| message.strip_prefix(prefix)?.strip_suffix('\'');
    match kind {
        Kind::GitRepository => quoted("stored artifact for revision '"),
        Kind::OCIRepository => quoted("stored artifact for digest '"),
        Kind::Bucket | Kind::HelmRepository => quoted("stored artifact: revision '"),
        Kind::HelmChart => {
            let rest = message.strip_prefix("pulled '").or_else(|| message.strip_prefix("packaged '"))?;
            let (_name, rest) = rest.split_once("' chart with version '")?;
            let (version, tail) = rest.split_once('\'')?;
            (tail.is_empty() || tail.starts_with(" and merged values files [")).then_some(version)
        }
        _ => None,
    }
    .filter(|revision| !revision.is_empty() && !revision.contains('\''))
}

/// What a message of a HelmRelease says of a release.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Release<'a> {
    /// The number of the release.
    pub(super) number: i64,
    /// The chart name.
    pub(super) chart: &'a str,
    /// The chart version.
    pub(super) version: &'a str,
}

/// The release that a message names (helm-controller 1.6): `Helm install succeeded for release NS/NAME.vN with chart
/// C@V`, the same with upgrade, `Helm test succeeded for release … with chart …: …`, and `Helm rollback to previous
/// release … with chart … succeeded`.
pub(super) fn release(message: &str) -> Option<Release<'_>> {
    const STARTS: [&str; 4] = [
        "Helm install succeeded for release ",
        "Helm upgrade succeeded for release ",
        "Helm test succeeded for release ",
        "Helm rollback to previous release ",
    ];
    let rest = STARTS.iter().find_map(|start| message.strip_prefix(start))?;
    let (release, rest) = rest.split_once(" with chart ")?;
    let (_name, number) = release.rsplit_once(".v")?;
    let chart = rest.split(' ').next()?;
    let (chart, version) = chart.strip_suffix(':').unwrap_or(chart).split_once('@')?;
    let known = !release.contains(' ') && !chart.is_empty() && !version.is_empty();
    known.then_some(Release { number: number.parse().ok()?, chart, version })
}

/// The revision at the end of a Ready message of a Terraform object, `TEXT: REVISION`, for the reasons under which
/// one is written (tofu-controller 0.16).
pub(super) fn terraform_revision<'a>(reason: &str, message: &'a str) -> Option<&'a str> {
    const REASONS: [&str; 4] =
        ["TerraformPlannedNoChanges", "NoDrift", "TerraformOutputsWritten", "TerraformAppliedSucceed"];
    let (_text, revision) = message.rsplit_once(": ")?;
    (REASONS.contains(&reason) && !revision.is_empty() && !revision.contains(' ')).then_some(revision)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(Kind::GitRepository, "stored artifact for revision 'main@sha1:aa'", Some("main@sha1:aa"))]
    #[case(Kind::OCIRepository, "stored artifact for digest '1.0.0@sha256:cada'", Some("1.0.0@sha256:cada"))]
    #[case(Kind::Bucket, "stored artifact: revision 'sha256:aa'", Some("sha256:aa"))]
    #[case(Kind::HelmRepository, "stored artifact: revision 'sha256:aa'", Some("sha256:aa"))]
    #[case(Kind::HelmChart, "pulled 'app' chart with version '1.2.3'", Some("1.2.3"))]
    #[case(Kind::HelmChart, "packaged 'app' chart with version '1.2.3+abc.4'", Some("1.2.3+abc.4"))]
    #[case(
        Kind::HelmChart,
        "packaged 'app' chart with version '1.2.3' and merged values files [values.yaml it's.yaml]",
        Some("1.2.3")
    )]
    #[case(Kind::HelmChart, "new 'app' chart with version '1.2.3'", None)]
    #[case(Kind::HelmChart, "pulled 'app' chart with version '1.2.3' and more", None)]
    #[case(Kind::HelmChart, "pulled 'app' chart with version '1.2.3", None)]
    #[case(Kind::GitRepository, "Fetched revision: main/aa", None)]
    #[case(Kind::GitRepository, "stored artifact for digest 'main@sha1:aa'", None)]
    #[case(Kind::GitRepository, "stored artifact for revision ''", None)]
    #[case(Kind::GitRepository, "stored artifact for revision 'a' 'b'", None)]
    #[case(Kind::Bucket, "stored artifact for revision 'sha256:aa'", None)]
    #[case(Kind::ExternalArtifact, "Artifact is ready", None)]
    #[case(Kind::GitRepository, "", None)]
    fn reads_stored_revisions(#[case] kind: Kind, #[case] message: &str, #[case] revision: Option<&str>) {
        assert_eq!(stored_revision(kind, message), revision);
    }

    #[rstest]
    #[case("Helm install succeeded for release ns/app.v1 with chart app@1.0.0", Some((1, "app", "1.0.0")))]
    #[case("Helm upgrade succeeded for release ns/a.v2.v12 with chart a-b@1.0.0+ab.3", Some((12, "a-b", "1.0.0+ab.3")))]
    #[case("Helm test succeeded for release ns/app.v3 with chart app@1.0.0: no test hooks", Some((3, "app", "1.0.0")))]
    #[case(
        "Helm test succeeded for release ns/app.v3 with chart app@1.0.0: 2 test hooks completed successfully",
        Some((3, "app", "1.0.0"))
    )]
    #[case("Helm rollback to previous release ns/app.v3 with chart app@1.0.0 succeeded", Some((3, "app", "1.0.0")))]
    #[case("Release reconciliation succeeded", None)]
    #[case("Helm install succeeded", None)]
    #[case("Helm install failed for release ns/app with chart app@1.0.0: timed out", None)]
    #[case("Helm install succeeded for release ns/app.vX with chart app@1.0.0", None)]
    #[case("Helm install succeeded for release ns/app.v1 with chart app", None)]
    #[case("", None)]
    fn reads_releases(#[case] message: &str, #[case] said: Option<(i64, &str, &str)>) {
        let said = said.map(|(number, chart, version)| Release { number, chart, version });
        assert_eq!(release(message), said);
    }

    #[rstest]
    #[case("TerraformPlannedNoChanges", "Plan no changes: main@sha1:aa", Some("main@sha1:aa"))]
    #[case("NoDrift", "No drift: main@sha1:aa", Some("main@sha1:aa"))]
    #[case("TerraformOutputsWritten", "Outputs written: main@sha1:aa", Some("main@sha1:aa"))]
    #[case("TerraformOutputsWritten", "Outputs written", None)]
    #[case("TerraformPlannedWithChanges", "Plan generated: set approvePlan: \"plan-main\" to approve", None)]
    #[case("NoDrift", "No drift: all is well", None)]
    fn reads_terraform_revisions(#[case] reason: &str, #[case] message: &str, #[case] revision: Option<&str>) {
        assert_eq!(terraform_revision(reason, message), revision);
    }
}
