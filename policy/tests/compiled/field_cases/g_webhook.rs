//! Chapter G: webhook and Kubewarden.

use super::*;
use sluicegate_host::{HostRequest, Recorder, Session};

fn a_loop() -> (Gate, Value, Value) {
    let old = kustomization("n", "a", &[]);
    (Gate::over([kustomization("n", "b", &["a"]), old.clone()]), old, kustomization("n", "a", &["b"]))
}

/// <https://github.com/fluxcd/flux2/issues/4073>
#[test]
fn case_89_dry_run_support() {
    let dry = By { dry_run: true, ..PERSON };
    let (gate, old, new) = a_loop();
    assert_eq!(gate.update(dry, &old, &new).texts(), gate.update(PERSON, &old, &new).texts());
    let gate = Gate::over([unsettled(sample::git_repository("n", "repo"))]);
    let x = sample::kustomization("n", "x");
    let (dry_run, real) = (gate.resume(dry, &x), gate.resume(PERSON, &x));
    assert_eq!((dry_run.refusal(), dry_run.reads()), (real.refusal(), real.reads()));
    // `flux diff`: a dry-run under an applier's field manager shows what the applier will meet, whoever sends it.
    let diff = By { manager: FLUX.manager, ..dry };
    gate.resume(diff, &x).holds(diff, "premature", "GitRepository/n/repo: generation 3 not yet observed (2)");
    let settled = Gate::over([sample::git_repository("n", "repo")]);
    for by in [dry, diff] {
        settled.resume(by, &x).is_silent();
    }
}

/// <https://github.com/kubewarden/adm-controller/issues/1320>,
/// <https://github.com/kubewarden/policy-evaluator/issues/489>,
/// <https://github.com/kubewarden/policy-evaluator/issues/498>
#[test]
fn case_91_no_permission() {
    // Without a release on the way, none is read.
    let (gate, old, new) = a_loop();
    let gate = gate.and(|cluster| cluster.forbid("HelmRelease").forbid("Lease"));
    assert_eq!(gate.update(PERSON, &old, &new).said(), "refused: dependency cycle: Kustomization/n/a needs itself");

    let release = object(Kind::HelmRelease, "n", "r", json!({}));
    let checked = having(old.clone(), "healthChecks", json!([to(&release)]));
    let answer = gate.update(PERSON, &old, &checked);
    let text = "dependency cycles of Kustomization/n/a not judged: the policy server may not get \
                helmreleases.helm.toolkit.fluxcd.io";
    answer.warns(&[text]).reads_only(&["HelmRelease/n/r"]);

    let x = crate::resume::depending(sample::helm_release_of(Kind::OCIRepository, "image", "n", "x"), &["r"]);
    let gate = Gate::over([sample::oci_repository("n", "image")]).and(|cluster| cluster.forbid("HelmRelease"));
    let refused = gate.resume(PERSON, &x);
    refused.refuses(&[
        "unsuspend of HelmRelease/n/x not judged: the policy server may not get helmreleases.helm.toolkit.fluxcd.io",
        "  HelmRelease/n/x",
        "    needs HelmRelease/n/r (spec.dependsOn[0])",
        "Try again, or let the gate resume it: suspend it with the annotation sluicegate.dev/resume: when-settled",
    ]);
    let held = gate.resume(FLUX, &x);
    held.holds(FLUX, "premature", "not judged, the policy server may not get helmreleases.helm.toolkit.fluxcd.io");
}

/// <https://github.com/kubewarden/policy-server/issues/716>: no list, ever, so the size of the cluster costs nothing.
#[test]
fn case_93_large_cluster() {
    let many = (0..2_000).map(|number| kustomization("other", &format!("k{number}"), &["b"]));
    let stored = [
        kustomization("n", "b", &["c"]),
        having(kustomization("n", "c", &[]), "sourceRef", json!({"kind": "GitRepository", "name": "repo"})),
        sample::git_repository("n", "repo"),
    ];
    let small = Gate::over(stored);
    let large = small.clone().and(|cluster| cluster.with_all(many));
    let requests = [
        create(PERSON, &kustomization("n", "a", &["b"])),
        create(PERSON, &kustomization("n", "a", &["missing"])),
        update(PERSON, &suspended(sample::kustomization("n", "x")), &sample::kustomization("n", "x")),
        update(FLUX, &suspended(sample::kustomization("n", "x")), &unsettled(sample::kustomization("n", "x"))),
        update(FLUX, &suspended(sample::helm_release("n", "x")), &sample::helm_release("n", "x")),
    ];
    for request in requests {
        let (a, b) = (small.judge(&request), large.judge(&request));
        assert_eq!((a.reads(), a.texts()), (b.reads(), b.texts()));
        assert!(!a.reads().is_empty());
        for call in &b.evaluation.calls {
            let Some(HostRequest::KubernetesGetResource { kind, disable_cache, field_masks, .. }) = &call.request
            else {
                panic!("{call}");
            };
            assert!(disable_cache, "{call}");
            let masks: Vec<&str> = field_masks.iter().flatten().map(String::as_str).collect();
            assert!(!masks.is_empty() && masks.iter().all(|mask| mask.contains('.') || kind == "HelmChart"), "{call}");
            let expected = Kind::named(kind).map(|kind| {
                let mut mask = kind.row().field_mask.to_vec();
                mask.sort_unstable();
                mask
            });
            assert_eq!(Some(masks), expected.or(Some(vec![])).filter(|_| kind != "Lease"), "one constant mask a kind");
        }
    }
}

/// <https://github.com/open-policy-agent/opa/issues/2064>: a verdict holds for the instant of its reads.
#[test]
fn case_95_two_writes_at_the_same_time() {
    let nothing = Gate::over([]);
    for (name, other) in [("a", "b"), ("b", "a")] {
        let answer = nothing.create(PERSON, &kustomization("n", name, &[other]));
        answer.warns(&[&format!(
            "Kustomization/n/{name} names Kustomization/n/{other} in spec.dependsOn[0], which does not exist"
        )]);
    }
}

/// <https://github.com/kubewarden/kwctl/pull/449>, <https://github.com/kubewarden/kwctl/issues/1337>,
/// <https://github.com/kubewarden/adm-controller/pull/1877>
#[test]
fn case_97_record_and_replay() {
    let (gate, old, new) = a_loop();
    let gate = gate.and(|cluster| cluster.with(kustomization("n", "c", &["b"])));
    let x = crate::resume::depending(sample::kustomization("n", "x"), &["b", "c"]);
    let requests = [
        (update(PERSON, &old, &having(new, "dependsOn", json!([{"name": "c"}]))), 2),
        (update(FLUX, &suspended(x.clone()), &x), 5),
        (create(PERSON, &kustomization("n", "new", &["c"])), 3),
    ];
    for (request, reads) in requests {
        let recorder = Recorder::new(gate.cluster.clone());
        let recorded = gate.judge_reading(&request, recorder.clone());
        let text = recorder.to_text().unwrap();
        let session = std::sync::Arc::new(Session::from_text(&text).unwrap());
        let replayed = gate.judge_reading(&request, session.clone());
        assert_eq!((recorded.texts(), recorded.reads()), (replayed.texts(), replayed.reads()));
        assert_eq!(replayed.reads().len(), reads, "{:?}", replayed.reads());
        assert_eq!(session.leftovers(), []);

        // One exchange too few: the answer says so, instead of something else.
        let mut exchanges = recorder.take();
        exchanges.pop();
        let short = gate.judge_reading(&request, Session::new(exchanges));
        let said = short.texts();
        let unheld = "the companion's Lease cannot be read";
        assert!(said.contains("could not be read: the list of recorded ") || said.contains(unheld), "{said}");
    }
}
