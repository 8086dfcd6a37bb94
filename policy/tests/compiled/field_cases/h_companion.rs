//! Chapter H: the companion as a controller.

use super::*;

/// <https://github.com/fluxcd/helm-controller/issues/543>: whether an index is old cannot be seen.
#[test]
fn case_101_update_to_a_new_chart_version_old_index() {
    let apps = kustomization("flux-system", "apps", &[]);
    let source = json!({"kind": "HelmRepository", "name": "x", "namespace": "r"});
    let chart = json!({"spec": {"chart": "app", "version": "2.0.0", "sourceRef": source}});
    let release = |chart: Value| with(sample::helm_release("n", "y"), &[("/spec/chart", chart)]);
    let y = owned(release(chart), &apps);
    let repository = sample::helm_repository("r", "x");
    let reads = ["HelmChart/n/n-y", "HelmRepository/r/x"];
    let gate = Gate::over([repository.clone()]);
    for by in [PERSON, FLUX] {
        gate.resume(by, &y).is_silent().reads_only(&reads);
    }
    let gate = Gate::over([owned(repository, &apps)]);
    let held = gate.resume(FLUX, &y);
    held.holds(FLUX, "not-reached", "HelmRepository/r/x may not have been applied yet");
    held.reads_only(&[reads[0], reads[1], LEASE]);
    gate.resume(PERSON, &y).is_silent();
}
