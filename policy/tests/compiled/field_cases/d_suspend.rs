//! Chapter D: suspend and resume.

use super::*;

/// <https://github.com/fluxcd/flux2/issues/2379>: in any order but the right one, each is told what it waits for.
#[test]
fn case_37_resume_all_in_list_order() {
    let unit = |name: &str, needs: &[&str]| crate::resume::depending(sample::kustomization("f", name), needs);
    let chain = [unit("storage", &[]), unit("monitoring", &["storage"]), unit("apps", &["monitoring"])];
    let mut gate = Gate::over([sample::git_repository("f", "repo")]);
    chain.iter().for_each(|unit| gate.put(suspended(unit.clone())));
    let why = "Kustomization/f/storage: suspended (spec.suspend)";
    for unit in [&chain[1], &chain[2]] {
        let said = gate.resume(PERSON, unit).said();
        assert_eq!(said, format!("refused: premature unsuspend: {} waits for {why}", reference(unit)));
        gate.resume(FLUX, unit).holds(FLUX, "premature", why);
    }
    for unit in chain {
        gate.resume(PERSON, &unit).is_silent();
        gate.put(unit);
    }
}

const REQUESTED: &str = "reconcile.fluxcd.io/requestedAt";

fn not_looked_at() -> Value {
    let fields = [("/status/observedGeneration", json!(1)), ("/status/lastHandledReconcileAt", json!("T1"))];
    annotated(with(sample::git_repository("s", "repo"), &fields), REQUESTED, Some("T2"))
}

fn looked_at() -> Value {
    with(not_looked_at(), &[("/status/observedGeneration", json!(2)), ("/status/lastHandledReconcileAt", json!("T2"))])
}

/// <https://gitlab.com/sylva-projects/sylva-core/-/issues/1904>,
/// <https://gitlab.com/sylva-projects/sylva-core/-/merge_requests/2751>
#[test]
fn case_39_race_free_suspended_upgrade() {
    let (units, chart) = (sample::helm_release("s", "units"), sample::helm_chart("s", "s-units"));
    let reads = ["GitRepository/s/repo", "HelmChart/s/s-units"];
    let premature = "premature unsuspend: HelmRelease/s/units waits for ";

    // The source has not been looked at; the chart is suspended too.
    let gate = Gate::over([not_looked_at(), suspended(chart.clone())]);
    let why = "GitRepository/s/repo: generation 2 not yet observed (1)";
    let refused = gate.resume(PERSON, &units);
    refused.refuses(&[
        &format!("{premature}{why}"),
        "  HelmRelease/s/units",
        "    needs GitRepository/s/repo (spec.chart.spec.sourceRef)",
    ]);
    refused.reads_only(&reads);
    let held = gate.resume(FLUX, &units);
    held.holds(FLUX, "premature", why).reads_only(&[reads[0], reads[1], LEASE]);

    // It has been; now the chart is in the way for as long as it is suspended.
    let gate = gate.and(|cluster| cluster.with(looked_at()));
    let refused = gate.resume(PERSON, &units);
    assert_eq!(refused.said(), format!("refused: {premature}HelmChart/s/s-units: suspended (spec.suspend)"));
    assert!(!refused.texts().contains("GitRepository"), "{}", refused.texts());
    gate.resume(FLUX, &units).holds(FLUX, "premature", "HelmChart/s/s-units: suspended (spec.suspend)");

    let gate = gate.and(|cluster| cluster.with(chart.clone()));
    for by in [PERSON, FLUX] {
        gate.resume(by, &units).is_silent().reads_only(&reads);
    }
}

/// One commit changes all three: the source is settled, quite truly, at the old revision.
#[rstest]
fn case_39_in_one_commit(#[values(FLUX, DRY)] by: By) {
    let management = kustomization("s", "management", &[]);
    let units = owned(sample::helm_release("s", "units"), &management);
    let stored = [owned(sample::git_repository("s", "repo"), &management), sample::helm_chart("s", "s-units")];
    let answer = Gate::over(stored).resume(by, &units);
    answer.holds(by, "not-reached", "GitRepository/s/repo may not have been applied yet");
    answer.reads_only(&["GitRepository/s/repo", "HelmChart/s/s-units", LEASE]);
    assert_eq!(answer.audit("held"), Some("not-reached"));
}

/// <https://github.com/fluxcd/kustomize-controller/issues/1604>: −1 is no difference of two.
#[test]
fn case_43_created_suspended_observed_generation_minus_1() {
    let never = [("/metadata/generation", json!(1)), ("/status", json!({"observedGeneration": -1}))];
    let gate =
        Gate::over([sample::git_repository("n", "repo"), suspended(with(sample::kustomization("n", "a"), &never))]);
    let answer = gate.resume(PERSON, &crate::resume::depending(sample::kustomization("n", "x"), &["a"]));
    answer.refuses(&[
        "premature unsuspend: Kustomization/n/x waits for Kustomization/n/a: suspended (spec.suspend), never reconciled",
        "  Kustomization/n/x",
        "    needs Kustomization/n/a (spec.dependsOn[0])",
    ]);

    let observed = [("/metadata/generation", json!(1)), ("/status", json!({"observedGeneration": 1}))];
    let b = suspended(with(sample::helm_release_of(Kind::OCIRepository, "image", "n", "b"), &observed));
    let x = crate::resume::depending(sample::helm_release_of(Kind::OCIRepository, "image", "n", "x"), &["b"]);
    let said = Gate::over([sample::oci_repository("n", "image"), b]).resume(PERSON, &x).said();
    assert!(said.ends_with("HelmRelease/n/b: suspended (spec.suspend), never reconciled"), "{said}");
}

/// <https://github.com/fluxcd/flux2/issues/4282>, <https://github.com/weaveworks/weave-gitops/issues/1583>
#[test]
fn case_45_suspended_and_green() {
    let behind = [("/status/lastAppliedRevision", json!("main@sha1:0000000000000000000000000000000000000000"))];
    let root = suspended(with(sample::kustomization("f", "root"), &behind));
    let gate = Gate::over([sample::git_repository("f", "repo"), root]);
    let answer = gate.resume(PERSON, &crate::resume::depending(sample::kustomization("f", "x"), &["root"]));
    answer.refuses(&[
        "premature unsuspend: Kustomization/f/x waits for Kustomization/f/root: suspended (spec.suspend)",
        "  Kustomization/f/x",
        "    needs Kustomization/f/root (spec.dependsOn[0])",
    ]);
}

/// <https://github.com/atilladeniz/Kubeli/pull/394>
#[test]
fn case_49_reconcile_request_on_a_suspended_object() {
    let handled = with(sample::kustomization("n", "a"), &[("/status/lastHandledReconcileAt", json!("T9"))]);
    let a = suspended(annotated(handled, REQUESTED, Some("T9")));
    let gate = Gate::over([sample::git_repository("n", "repo"), a]);
    let said = gate.resume(PERSON, &crate::resume::depending(sample::kustomization("n", "x"), &["a"])).said();
    let why = "suspended (spec.suspend); request T9 was acknowledged all the same";
    assert_eq!(said, format!("refused: premature unsuspend: Kustomization/n/x waits for Kustomization/n/a: {why}"));
}

/// <https://github.com/thaum-xyz/ankhmorpork/pull/945>
#[test]
fn case_47_git_and_cluster_disagree_about_suspend() {
    let root = suspended(sample::kustomization("f", "root"));
    let m = owned(sample::kustomization("f", "m"), &root);
    let git = sample::git_repository("f", "repo");
    let reads = ["GitRepository/f/repo"];
    // Settled, and nothing of the same apply: as Flux always does.
    let gate = Gate::over([root.clone(), git.clone()]);
    gate.resume(FLUX, &m).is_silent().reads_only(&reads);
    // Not settled: held, and the rest of the apply goes through.
    let gate = Gate::over([root, unsettled(git)]);
    let held = gate.resume(FLUX, &m);
    let why = "GitRepository/f/repo: generation 3 not yet observed (2)";
    held.holds(FLUX, "premature", why).reads_only(&[reads[0], LEASE]);
    let held = held.stored();
    // The next reconcile reads it back.
    gate.update(FLUX, &held, &held).is_untouched();

    // The manifest now says that it is suspended: nobody is to resume it any more.
    let mut declared = held.clone();
    declared["metadata"]["managedFields"] = json!([{
        "manager": FLUX.manager, "operation": "Apply", "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
        "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:suspend": {}, "f:path": {}}},
    }]);
    let answer = gate.update(FLUX, &held, &declared);
    assert_eq!(answer.said(), "admitted: Kustomization/f/m is no longer held: its applier now declares it suspended");
    let stored = answer.stored();
    assert!(is_suspended(&stored) && annotation(&stored, HELD).is_none(), "{stored}");
    assert!(answer.reads().is_empty());
}
