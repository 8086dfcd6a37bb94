//! Chapter B: implicit deadlocks and root causes.

use super::*;

/// <https://github.com/devantler-tech/platform/pull/1755>: one root, however many wait behind it.
#[test]
fn case_13_custom_resource_next_to_the_operator_that_ships_its_crd() {
    let unit = |name: &str, needs: &[&str]| crate::resume::depending(sample::kustomization("flux-system", name), needs);
    let message = "Widget/x/x dry-run failed: no matches for kind \"Widget\" in version \"acme.io/v1\"";
    let waiting = "dependency 'flux-system/controllers' is not ready";
    let gate = Gate::over([
        sample::git_repository("flux-system", "repo"),
        failed(unit("controllers", &[]), "ReconciliationFailed", message),
        failed(unit("infra", &["controllers"]), "DependencyNotReady", waiting),
    ]);
    gate.resume(PERSON, &unit("apps", &["infra"])).refuses(&[
        &format!(
            "premature unsuspend: Kustomization/flux-system/apps waits for Kustomization/flux-system/controllers: not \
             ready: {message}"
        ),
        "  Kustomization/flux-system/apps",
        "    needs Kustomization/flux-system/infra (spec.dependsOn[0])",
        "    needs Kustomization/flux-system/controllers (spec.dependsOn[0])",
    ]);
}

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

/// <https://github.com/cozystack/cozystack/issues/3680>: all say that a dependency is not ready, and one says why.
#[test]
fn case_21_the_install_error_names_the_wrong_waiter() {
    let release = |name: &str, needs: &[&str]| {
        crate::resume::depending(sample::helm_release_of(Kind::OCIRepository, "image", "s", name), needs)
    };
    let waiting = |name: &str, need: &str| {
        failed(release(name, &[need]), "DependencyNotReady", &format!("dependency 's/{need}' is not ready"))
    };
    let message = "Helm install failed for release s/a with chart app@1.2.3: context deadline exceeded";
    let gate = Gate::over([
        sample::oci_repository("s", "image"),
        failed(release("a", &[]), "InstallFailed", message),
        waiting("b", "a"),
        waiting("c", "b"),
        waiting("d", "c"),
    ]);
    let answer = gate.resume(PERSON, &release("e", &["d"]));
    answer.refuses(&[
        &format!("premature unsuspend: HelmRelease/s/e waits for HelmRelease/s/a: not ready: {message}"),
        "  HelmRelease/s/e",
        "    needs HelmRelease/s/d (spec.dependsOn[0])",
        "    needs HelmRelease/s/c (spec.dependsOn[0])",
        "    needs HelmRelease/s/b (spec.dependsOn[0])",
        "    needs HelmRelease/s/a (spec.dependsOn[0])",
    ]);
    assert_eq!(answer.reads().len(), 5);
}
