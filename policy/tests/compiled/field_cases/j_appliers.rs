//! Chapter J: the gate against GitOps appliers.

use super::*;

fn of_the_commit(object: Value) -> Value {
    owned(object, &kustomization("flux-system", "apps", &[]))
}

fn release() -> Value {
    of_the_commit(sample::helm_release("n", "x"))
}

/// A GitRepository that names a branch that is not there.
fn broken() -> Value {
    of_the_commit(with(
        sample::git_repository("n", "repo"),
        &[
            ("/spec/ref/branch", json!("typo")),
            ("/status/conditions/Ready/status", json!("False")),
            ("/status/conditions/Ready/reason", json!("GitOperationFailed")),
            ("/status/conditions/Ready/message", json!("couldn't find remote ref \"refs/heads/typo\"")),
        ],
    ))
}

/// The object after the commit, before any controller has looked at it.
fn repaired() -> Value {
    with(broken(), &[("/spec/ref/branch", json!("main")), ("/metadata/generation", json!(sample::GENERATION + 1))])
}

/// <https://github.com/fluxcd/kustomize-controller/issues/1170>,
/// <https://github.com/fluxcd/kustomize-controller/issues/1194>
#[test]
fn case_107_one_commit_resumes_a_release_and_repairs_its_source() {
    let chart = sample::helm_chart("n", "n-x");
    let mut gate = Gate::over([broken(), chart.clone(), suspended(release())]);
    let held = "admitted: held: GitRepository/n/repo may not have been applied yet".to_owned();
    let quiet = "admitted".to_owned();
    // Every request of the commit goes through: the source is repaired.
    let said = apply(&mut gate, &[release(), repaired()]);
    assert_eq!(said, [held.clone(), quiet.clone(), held, quiet.clone()]);
    let stored = gate.stored(&release());
    assert!(is_suspended(&stored));
    let mark = annotation(&stored, HELD).unwrap().to_owned();

    // The companion waits for the source like everybody else.
    let early = gate.update(COMPANION, &stored, &release());
    let why = "GitRepository/n/repo: generation 3 not yet observed (2)";
    assert_eq!(early.said(), format!("refused: premature unsuspend: HelmRelease/n/x waits for {why}"));

    // Repeated reconciles of the same commit read the held object back, and change nothing.
    for _ in 0..2 {
        assert_eq!(apply(&mut gate, &[stored.clone(), repaired()]), vec![quiet.clone(); 4]);
        assert_eq!(annotation(&gate.stored(&release()), HELD), Some(&*mark));
    }

    // An apply that takes the switch away again is held again, under the same mark, byte for byte.
    let again = gate.update(FLUX, &stored, &crate::resume::resumed(stored.clone()));
    assert_eq!(annotation(&again.stored(), HELD), Some(&*mark));

    gate.put(of_the_commit(sample::git_repository("n", "repo")));
    gate.update(COMPANION, &stored, &release()).is_silent().reads_only(&["GitRepository/n/repo", "HelmChart/n/n-x"]);
}

/// The same commit over a healthy source: it may be settled at the old revision.
#[rstest]
fn case_107_over_a_healthy_source(#[values(DRY, FLUX)] by: By) {
    let healthy = of_the_commit(sample::git_repository("n", "repo"));
    let gate = Gate::over([healthy, sample::helm_chart("n", "n-x")]);
    let held = gate.resume(by, &release());
    held.holds(by, "not-reached", "GitRepository/n/repo may not have been applied yet");
    held.reads_only(&["GitRepository/n/repo", "HelmChart/n/n-x", LEASE]);
    gate.resume(PERSON, &release()).is_silent();
}

#[test]
fn case_107_by_a_person() {
    let gate = Gate::over([broken(), sample::helm_chart("n", "n-x")]);
    let answer = gate.resume(PERSON, &release());
    answer.refuses(&[
        "premature unsuspend: HelmRelease/n/x waits for GitRepository/n/repo: not ready: couldn't find remote ref \
         \"refs/heads/typo\"",
        "  HelmRelease/n/x",
        "    needs GitRepository/n/repo (spec.chart.spec.sourceRef)",
    ]);
}

/// Set to refuse appliers, the policy alone makes a lock: the commit that repairs the source never arrives.
#[test]
fn case_107_with_appliers_refused_the_lock_is_real() {
    let settings = json!({"role": "refuse", "unheld": "refuse"});
    let mut gate = Gate::over([broken(), sample::helm_chart("n", "n-x"), suspended(release())]).with(settings);
    for _ in 0..2 {
        let said = apply(&mut gate, &[release(), repaired()]);
        assert_eq!(said.len(), 1);
        assert!(said[0].starts_with("refused: premature unsuspend: HelmRelease/n/x waits for GitRepository/n/repo"));
    }
    // By default it is a warning there, and nothing is locked.
    gate.settings = json!({"role": "refuse"});
    assert_eq!(apply(&mut gate, &[release(), repaired()]).len(), 4);
}

/// <https://github.com/fluxcd/helm-controller/pull/568>
#[rstest]
#[case::finalizer_removed(json!([]), false)]
#[case::member_of_a_loop(json!([{"name": "y"}]), false)]
#[case::resumed_so_that_uninstall_can_run(json!([{"name": "y"}]), true)]
fn case_109_deleting_while_suspended(
    #[case] needs: Value,
    #[case] up: bool,
    #[values(PERSON, FLUX, COMPANION)] by: By,
) {
    let mut old = suspended(having(sample::helm_release("n", "x"), "dependsOn", needs));
    old["metadata"]["deletionTimestamp"] = json!("2026-11-30T11:00:00Z");
    old["metadata"]["finalizers"] = json!(["finalizers.fluxcd.io"]);
    let mut new = old.clone();
    if up {
        new = resumed(new);
    } else {
        new["metadata"]["finalizers"] = Value::Null;
    }
    let y = having(sample::helm_release("n", "y"), "dependsOn", json!([{"name": "x"}]));
    let gate = Gate::over([unsettled(sample::git_repository("n", "repo")), y, old.clone()]);
    gate.update(by, &old, &new).is_untouched();
}
