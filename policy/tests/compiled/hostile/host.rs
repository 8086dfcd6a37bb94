//! A cluster that does not answer as it should: garbage, lies, absent CRDs, forbidden reads.

use super::*;
use sluicegate_host::{Failure, Scripted};
use std::sync::Mutex;

/// Answers everything with these bytes.
fn answering(bytes: Vec<u8>) -> impl sluicegate_host::Cluster {
    Scripted::new(move |_| Ok(bytes.clone()))
}

fn failing(text: String) -> impl sluicegate_host::Cluster {
    Scripted::new(move |_| Err(Failure::new(text.clone())))
}

fn requests() -> Vec<Value> {
    let x = sample::kustomization("n", "x");
    let release = sample::helm_release("n", "x");
    let mut bypass = annotated(x.clone(), "sluicegate.dev/bypass", Some("a drill"));
    bypass["spec"]["dependsOn"] = json!([{"name": "b", "namespace": "other", "readyExpr": "dep.spec.x == 1"}]);
    vec![
        create(PERSON, &kustomization("n", "a", &["b"])),
        create(FLUX, &kustomization("n", "a", &["b"])),
        update(PERSON, &suspended(x.clone()), &x),
        update(FLUX, &suspended(x.clone()), &owned(x.clone(), &kustomization("n", "owner", &[]))),
        update(COMPANION, &suspended(x.clone()), &x),
        update(PERSON, &suspended(x), &bypass),
        update(FLUX, &suspended(release.clone()), &release),
        create(AUDIT, &kustomization("n", "a", &["b"])),
    ]
}

/// Whoever is let through hears that something was not judged. Only the companion does not: what it could not have
/// known is no fault of its own.
#[track_caller]
fn is_told(request: &Value, answer: &crate::harness::Answer) {
    let companion = request["userInfo"]["username"] == json!(COMPANION.user);
    assert!(answer.said() != "admitted" || companion, "{:?}", answer.reads());
    assert!(answer.texts().len() < 5_000, "{}", answer.texts().len());
}

#[rstest]
#[case::nothing(b"".to_vec())]
#[case::null(b"null".to_vec())]
#[case::no_text(vec![0xff, 0xfe, 0x00, 0x80])]
#[case::a_list(b"[]".to_vec())]
#[case::a_text(b"\"x\"".to_vec())]
#[case::cut_off(b"{\"apiVersion\":\"kustomize.toolkit.fluxcd.io/v1\",\"metadata\":{\"name\":\"b".to_vec())]
#[case::deep(deep(500_000).into_bytes())]
#[case::huge(vec![b'['; 4_000_000])]
#[case::huge_text(format!("\"{}\"", "\u{202e}".repeat(1_000_000)).into_bytes())]
#[case::an_empty_object(b"{}".to_vec())]
#[case::another_object(sample::kustomization("n", "other").to_string().into_bytes())]
#[case::the_same_name_elsewhere(sample::kustomization("elsewhere", "b").to_string().into_bytes())]
#[case::twice(b"{\"metadata\":{\"name\":\"b\",\"namespace\":\"n\"},\"metadata\":{\"name\":\"b\"}}".to_vec())]
#[case::a_list_of_objects(b"{\"kind\":\"KustomizationList\",\"items\":[]}".to_vec())]
fn garbage_instead_of_an_object(#[case] bytes: Vec<u8>) {
    for request in requests() {
        is_told(&request, &Gate::over([]).judge_reading(&request, answering(bytes.clone())));
    }
}

#[rstest]
#[case::empty("")]
#[case::nasty(NASTY)]
#[case::null("null")]
#[case::a_status("ApiError: : (Status { code: 99999999999999999999, ")]
#[case::an_open_status("ApiError: x: InternalError (Status { status: Some(Failure), code: 500, message: \"x")]
#[case::conflict("ApiError: x: Conflict (Status { status: Some(Failure), code: 409, message: \"code: 404\" })")]
#[case::no_client("kube::Client was not initialized properly")]
fn errors_that_nobody_knows(#[case] text: &str, #[values(1, 100_000)] times: usize) {
    for request in requests() {
        is_told(&request, &Gate::over([]).judge_reading(&request, failing(text.repeat(times))));
    }
}

/// What a failure says is told, in full sentences, and cleaned.
#[test]
fn the_words_of_a_failure() {
    let gate = Gate::over([sample::git_repository("n", "repo")]);
    let gate = gate.and(|cluster| cluster.fail("Kustomization/n/b", "no\u{7} luck\nCaused by: nothing"));
    let answer = gate.create(PERSON, &kustomization("n", "a", &["b"]));
    answer.warns(&[
        "dependency cycles of Kustomization/n/a not judged: Kustomization/n/b could not be read: no\\u{7} luck",
    ]);
    let x = depending(sample::kustomization("n", "x"), &["b"]);
    gate.resume(PERSON, &x).refuses(&[
        "unsuspend of Kustomization/n/x not judged: Kustomization/n/b could not be read: no\\u{7} luck",
        "  Kustomization/n/x",
        "    needs Kustomization/n/b (spec.dependsOn[0])",
        "Try again, or let the gate resume it: suspend it with the annotation sluicegate.dev/resume: when-settled",
    ]);
}

/// An optional CRD that is not installed is no error of the cluster: the object is missing, kind and all.
#[rstest]
fn an_absent_crd(#[values(false, true)] group_too: bool) {
    let absent = |gate: Gate| {
        gate.and(|cluster| match group_too {
            true => cluster.absent_group("fluxcd.controlplane.io/v1"),
            false => cluster.absent_kind("ResourceSet"),
        })
    };
    let entry = json!({"apiVersion": "fluxcd.controlplane.io/v1", "kind": "ResourceSet", "name": "set"});
    let a = having(kustomization("n", "a", &[]), "dependsOn", json!([entry]));
    let answer = absent(Gate::over([])).create(PERSON, &a);
    answer.warns(&[&sluicegate_core::text::warning(
        "Kustomization/n/a names ResourceSet/n/set in spec.dependsOn[0], but the cluster has no ResourceSet",
    )]);
    let x = having(sample::kustomization("n", "x"), "dependsOn", json!([entry]));
    let answer = absent(Gate::over([sample::git_repository("n", "repo")])).resume(PERSON, &x);
    let why = "ResourceSet/n/set: does not exist: the cluster has no ResourceSet";
    assert_eq!(answer.said(), format!("refused: premature unsuspend: Kustomization/n/x waits for {why}"));
    // New labels of an owner that cannot exist.
    let owner = object(Kind::ResourceSet, "n", "set", json!({}));
    let old = kustomization("n", "a", &["b"]);
    let labelled = absent(Gate::over([kustomization("n", "b", &[])])).update(FLUX, &old, &owned(old.clone(), &owner));
    labelled.is_silent().reads_only(&["ResourceSet/n/set"]);
}

#[rstest]
#[case::every_read("Kustomization")]
#[case::the_lease("Lease")]
#[case::the_questions("SubjectAccessReview")]
fn forbidden(#[case] what: &str) {
    let stored = [sample::git_repository("n", "repo"), sample::kustomization("n", "b")];
    let gate = Gate::over(stored).and(|cluster| cluster.forbid(what));
    for request in requests() {
        assert!(gate.judge(&request).texts().len() < 5_000);
    }
}

/// A Lease that is none keeps nothing suspended.
#[rstest]
#[case::garbage(json!("x"))]
#[case::no_spec(json!({}))]
#[case::no_time(json!({"spec": {"renewTime": "yesterday", "leaseDurationSeconds": 15}}))]
#[case::far_time(json!({"spec": {"renewTime": "+292277026596-12-04T15:30:08Z", "leaseDurationSeconds": 15}}))]
#[case::endless(json!({"spec": {"renewTime": "2999-01-01T00:00:00Z", "leaseDurationSeconds": i64::MAX}}))]
#[case::before_time(json!({"spec": {"renewTime": "2026-01-01T00:00:00Z", "leaseDurationSeconds": i64::MIN}}))]
#[case::a_text(json!({"spec": {"renewTime": "2999-01-01T00:00:00Z", "leaseDurationSeconds": "15"}}))]
fn absurd_leases(#[case] lease: Value) {
    let gate = Gate::over([unsettled(sample::git_repository("n", "repo"))]);
    let gate = gate.and(|cluster| cluster.garbage("Lease", lease.to_string()));
    let answer = gate.resume(FLUX, &sample::kustomization("n", "x"));
    assert!(answer.is_admitted() && answer.evaluation.response.patch.is_none(), "{}", answer.said());
    let not_held = "Kustomization/n/x is not held: the companion's Lease ";
    assert!(answer.warnings().iter().any(|warning| warning.starts_with(not_held)), "{:?}", answer.warnings());
    assert_eq!(answer.reads().last().map(String::as_str), Some(LEASE));
}

proptest! {
    #![proptest_config(cases(48))]

    /// Each call in turn is answered with something else.
    #[test]
    fn any_answers(
        answers in prop::collection::vec(
            prop_oneof![
                prop::collection::vec(any::<u8>(), 0..60).prop_map(Ok),
                ".{0,80}".prop_map(Err),
                "\\{\"(metadata|spec|status)\":(\\{\\}|\\[\\]|1|null)\\}".prop_map(|json: String| Ok(json.into_bytes())),
                (0..3_usize, any::<prop::sample::Index>()).prop_map(|(which, at)| {
                    let object = [sample::git_repository("n", "repo"), sample::helm_chart("n", "n-x"), sample::kustomization("n", "b")];
                    let text = object[which].to_string();
                    Ok(text.as_bytes()[..at.index(text.len())].to_vec())
                }),
            ],
            1..6,
        ),
        which in 0..8_usize,
    ) {
        let turn = Mutex::new(0_usize);
        let cluster = Scripted::new(move |_| {
            let mut turn = turn.lock().unwrap();
            *turn += 1;
            answers[*turn % answers.len()].clone().map_err(Failure::new)
        });
        Gate::over([]).judge_reading(&requests()[which], cluster);
    }
}
