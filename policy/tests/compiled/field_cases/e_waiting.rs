//! Chapter E: waiting for a roll-out.

use super::*;

fn b() -> Value {
    crate::resume::depending(sample::helm_release_of(Kind::OCIRepository, "image", "n", "b"), &["a"])
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
