//! Chapter B: implicit deadlocks and root causes.

use super::*;

/// <https://github.com/fluxcd/kustomize-controller/issues/1100>: what waits for the release is not asked.
#[rstest]
fn case_15_parent_with_wait_child_release_suspended(#[values(PERSON, FLUX)] by: By) {
    let net = sample::helm_release("kube-system", "net");
    let parent = having(listing(sample::kustomization("flux-system", "pre"), &[&net]), "wait", json!(true));
    let gate = Gate::over([parent.clone(), net.clone()]);
    gate.update(by, &net, &suspended(net.clone())).is_untouched();
    // And the parent of a suspended child can be resumed, or nobody could repair the child.
    let gate = Gate::over([sample::git_repository("flux-system", "repo"), suspended(net)]);
    gate.resume(by, &parent).is_silent().reads_only(&["GitRepository/flux-system/repo"]);
}

/// <https://gitlab.com/sylva-projects/sylva-core/-/issues/4042>: being applied by something is no need.
#[test]
fn case_17_upgrade_lock_waits_for_something_that_waits_for_the_lock() {
    let chart = object(Kind::HelmChart, "s", "units", json!({"sourceRef": {"kind": "GitRepository", "name": "repo"}}));
    let tools = kustomization("s", "tools", &["root-5"]);
    let job = object(Kind::HelmRelease, "s", "units-job", json!({"chartRef": {"kind": "HelmChart", "name": "units"}}));
    let job = owned(job, &tools);
    let lock = having(kustomization("s", "root-5", &[]), "healthChecks", json!([to(&job)]));
    let stored = [sample::git_repository("s", "repo"), chart, job.clone(), lock, tools.clone()];
    let gate = Gate::over(stored);
    let reads = ["Kustomization/s/root-5", "HelmRelease/s/units-job", "HelmChart/s/units", "GitRepository/s/repo"];
    gate.update(PERSON, &kustomization("s", "tools", &[]), &tools).is_silent().reads_only(&reads);
    // Nor do the labels make one.
    let unlabelled = object(Kind::HelmRelease, "s", "units-job", job["spec"].clone());
    gate.update(FLUX, &unlabelled, &job).is_silent().reads_only(&["Kustomization/s/tools"]);
}
