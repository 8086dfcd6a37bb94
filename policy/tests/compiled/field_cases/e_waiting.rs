//! Chapter E: waiting for a roll-out.

use super::*;

fn b() -> Value {
    crate::resume::depending(sample::helm_release_of(Kind::OCIRepository, "image", "n", "b"), &["a"])
}

/// <https://github.com/fluxcd/helm-controller/issues/1252>: the reason stands on the chart.
#[test]
fn case_63_version_that_does_not_exist() {
    let message = "invalid chart reference: no chart version found for t-9.9.9";
    let chart = failed(sample::helm_chart("d", "d-t"), "InvalidChartReference", message);
    let chart = with(chart, &[("/status/artifact", Value::Null)]);
    let t = failed(
        with(sample::helm_release("d", "t"), &[("/status/observedGeneration", json!(-1))]),
        "SourceNotReady",
        "HelmChart 'd/d-t' is not ready: latest generation of object has not been reconciled",
    );
    let x = crate::resume::depending(sample::helm_release_of(Kind::OCIRepository, "image", "d", "x"), &["t"]);
    let gate = Gate::over([sample::git_repository("d", "repo"), sample::oci_repository("d", "image"), chart, t]);
    gate.resume(PERSON, &x).refuses(&[
        &format!("premature unsuspend: HelmRelease/d/x waits for HelmChart/d/d-t: not ready: {message}"),
        "  HelmRelease/d/x",
        "    needs HelmRelease/d/t (spec.dependsOn[0])",
        "    needs HelmChart/d/d-t (spec.chart)",
    ]);
}

/// <https://github.com/fluxcd/helm-controller/issues/1409>: history alone proves nothing.
#[test]
fn case_65_ready_unknown_though_deployed() {
    let message = "Running 'install' action with timeout of 5m0s";
    let a = failed(sample::helm_release_of(Kind::OCIRepository, "image", "n", "a"), "Progressing", message);
    let a = with(a, &[("/status/conditions/Ready/status", json!("Unknown"))]);
    assert_eq!(a["status"]["history"][0]["status"], json!("deployed"));
    let said = Gate::over([sample::oci_repository("n", "image"), a]).resume(PERSON, &b()).said();
    let why = format!("HelmRelease/n/a: not ready yet: {message}");
    assert_eq!(said, format!("refused: premature unsuspend: HelmRelease/n/b waits for {why}"));
}

/// <https://github.com/fluxcd/helm-controller/issues/1320>
#[test]
fn case_67_unknown_for_a_moment_on_every_run() {
    let ready = sample::helm_release_of(Kind::OCIRepository, "image", "n", "a");
    let unknown = with(
        ready.clone(),
        &[
            ("/status/conditions/Ready/status", json!("Unknown")),
            ("/status/conditions/Ready/reason", json!("Progressing")),
            ("/status/conditions/Ready/message", json!("Fulfilling prerequisites")),
        ],
    );
    let gate = Gate::over([sample::oci_repository("n", "image"), unknown]);
    let why = "HelmRelease/n/a: not ready yet: Fulfilling prerequisites";
    gate.resume(PERSON, &b()).refuses(&[
        &format!("premature unsuspend: HelmRelease/n/b waits for {why}"),
        "  HelmRelease/n/b",
        "    needs HelmRelease/n/a (spec.dependsOn[0])",
    ]);
    let held = gate.resume(FLUX, &b());
    held.holds(FLUX, "premature", why);
    // A moment later the companion may, and so may everybody.
    let gate = gate.and(|cluster| cluster.with(ready));
    gate.update(COMPANION, &held.stored(), &b()).is_silent();
    gate.resume(PERSON, &b()).is_silent();
}

/// <https://github.com/fluxcd/kustomize-controller/issues/387>
#[test]
fn case_69_no_status_yet() {
    let mut x = sample::helm_release_of(Kind::OCIRepository, "image", "n", "a");
    x.as_object_mut().unwrap().remove("status");
    let gate = Gate::over([sample::oci_repository("n", "image"), sample::git_repository("n", "repo"), x.clone()]);
    gate.resume(PERSON, &b()).refuses(&[
        "premature unsuspend: HelmRelease/n/b waits for HelmRelease/n/a: not yet seen by its controller",
        "  HelmRelease/n/b",
        "    needs HelmRelease/n/a (spec.dependsOn[0])",
    ]);
    // A parent waits for its health checks after it has applied: they are not in the way of its resume.
    let parent = having(sample::kustomization("n", "parent"), "healthChecks", json!([to(&x)]));
    gate.resume(PERSON, &parent).is_silent().reads_only(&["GitRepository/n/repo"]);
}
