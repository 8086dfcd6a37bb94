//! What is waited for, and what is written on the way.

use super::*;
use proptest::prelude::*;
use rstest::rstest;

#[test]
fn case_71_what_is_settled_is_done_at_once() {
    let mut stage = Stage::new(&[ks("a")], &[repository(), kustomization("a", &[])], Options::default());
    assert_eq!(stage.look().verdict, Verdict::Done);
}

#[test]
fn case_41_and_59_ready_below_a_source_whose_generation_is_not_observed_does_not_count() {
    let source = with(repository(), &[("/metadata/generation", json!(3))]);
    let mut stage = Stage::new(&[ks("a")], &[source, kustomization("a", &[])], Options::default());
    let look = stage.look();
    assert_eq!(look.verdict, Verdict::Waiting);
    assert_eq!(look.judgement.roots[0].at, repo());
    stage.fetch(&repo(), NEW);
    let look = stage.look();
    assert_eq!((look.verdict, &look.judgement.roots[0].at), (Verdict::Waiting, &ks("a")), "nor does the old revision");
    stage.change(&ks("a"), &[("/status/lastAppliedRevision", json!(NEW))]);
    assert_eq!(stage.look().verdict, Verdict::Done);
}

#[test]
fn an_expected_revision_is_waited_for_although_all_is_settled() {
    let options = Options { expected: Some("2222222".into()), ..Options::default() };
    let mut stage = Stage::new(&[ks("a")], &[repository(), kustomization("a", &[])], options);
    assert_eq!(stage.look().verdict, Verdict::Waiting);
    stage.fetch(&repo(), NEW);
    stage.change(&ks("a"), &[("/status/lastAppliedRevision", json!(NEW))]);
    assert_eq!(stage.look().verdict, Verdict::Done);
}

#[test]
fn case_75_all_of_them_must_be_at_the_new_revision_in_any_order() {
    let objects = [repository(), kustomization("c", &["b"]), kustomization("b", &["a"]), kustomization("a", &[])];
    let options = Options { expected: Some(NEW.into()), ..Options::default() };
    let mut stage = Stage::new(&[ks("c")], &objects, options);
    stage.fetch(&repo(), NEW);
    for name in ["c", "a", "b"] {
        assert_eq!(stage.look().verdict, Verdict::Waiting);
        stage.change(&ks(name), &[("/status/lastAppliedRevision", json!(NEW))]);
    }
    assert_eq!(stage.look().verdict, Verdict::Done);
}

#[test]
fn requests_go_to_sources_first_and_are_waited_for() {
    let options = Options { reconcile: true, ..Options::default() };
    let mut stage =
        Stage::new(&[ks("a")], &[repository(), kustomization("a", &["b"]), kustomization("b", &[])], options);
    let look = stage.look();
    assert_eq!(look.acts, [Act::Request(repo())], "not what is needed by dependsOn: it is current");
    stage.act(&Act::Request(repo()), "T1");
    let look = stage.look();
    assert_eq!((look.verdict, look.acts), (Verdict::Waiting, vec![]));
    stage.reconcile(&repo());
    let look = stage.look();
    assert_eq!((look.verdict, look.acts), (Verdict::Waiting, vec![Act::Request(ks("a"))]));
    stage.act(&Act::Request(ks("a")), "T2");
    assert_eq!(stage.look().verdict, Verdict::Waiting);
    stage.reconcile(&ks("a"));
    let look = stage.look();
    assert_eq!((look.verdict, look.acts), (Verdict::Done, vec![]));
}

#[rstest]
#[case::taken_off(Value::Null, None, Verdict::Waiting)]
#[case::taken_off_and_handled(Value::Null, Some("T1"), Verdict::Done)]
#[case::by_a_later_one(json!("T9"), None, Verdict::Waiting)]
#[case::by_a_later_one_that_is_handled(json!("T9"), Some("T9"), Verdict::Done)]
#[case::an_older_one_was_handled(json!("T1"), Some("T0"), Verdict::Waiting)]
fn an_own_request_is_handled_or_a_later_one(
    #[case] annotation: Value,
    #[case] handled: Option<&str>,
    #[case] verdict: Verdict,
) {
    let options = Options { reconcile: true, ..Options::default() };
    let mut stage = Stage::new(&[repo()], &[repository()], options);
    let look = stage.look();
    stage.act(&look.acts[0], "T1");
    stage.change(
        &repo(),
        &[
            ("/metadata/annotations/reconcile.fluxcd.io~1requestedAt", annotation),
            ("/status/lastHandledReconcileAt", json!(handled)),
        ],
    );
    assert_eq!(stage.look().verdict, verdict);
}

#[test]
fn case_103_no_request_goes_to_what_never_handles_one() {
    let release = with(
        sample::helm_release("ns", "x"),
        &[("/spec/chart/spec/sourceRef", json!({"kind": "HelmRepository", "name": "r"}))],
    );
    let chart =
        with(sample::helm_chart("ns", "ns-x"), &[("/spec/sourceRef", json!({"kind": "HelmRepository", "name": "r"}))]);
    let own = reference(&release);
    let options = Options { reconcile: true, ..Options::default() };
    let mut stage =
        Stage::new(std::slice::from_ref(&own), &[sample::helm_repository_oci("ns", "r"), chart, release], options);
    assert_eq!(stage.look().acts, [Act::Request(Reference::new(Kind::HelmChart, "ns", "ns-x"))]);
}

#[test]
fn case_37_resumes_in_the_order_of_needs() {
    let objects = [
        repository(),
        suspended(kustomization("apps", &["monitoring"])),
        suspended(kustomization("monitoring", &["storage"])),
        suspended(kustomization("storage", &[])),
    ];
    let options = Options { resume: true, ..Options::default() };
    let mut stage = Stage::new(&[ks("apps")], &objects, options);
    for name in ["storage", "monitoring", "apps"] {
        let look = stage.look();
        assert_eq!((look.verdict, look.acts), (Verdict::Waiting, vec![Act::Resume(ks(name))]));
        stage.act(&Act::Resume(ks(name)), name);
        assert_eq!(stage.look().acts, [], "not before it is settled");
        stage.reconcile(&ks(name));
    }
    assert_eq!(stage.look().verdict, Verdict::Done);
}

#[test]
fn case_39_source_then_chart_then_release() {
    let chart = Reference::new(Kind::HelmChart, "ns", "ns-units");
    let release = Reference::new(Kind::HelmRelease, "ns", "units");
    let source = with(
        repository(),
        &[("/metadata/generation", json!(3)), ("/metadata/annotations/reconcile.fluxcd.io~1requestedAt", json!("T2"))],
    );
    let objects =
        [source, suspended(sample::helm_chart("ns", "ns-units")), suspended(sample::helm_release("ns", "units"))];
    let options = Options { resume: true, ..Options::default() };
    let mut stage = Stage::new(std::slice::from_ref(&release), &objects, options);
    let look = stage.look();
    assert_eq!(look.acts, []);
    let said = look.news.iter().find(|news| news.at == repo()).unwrap();
    assert_eq!(said.text, "generation 3 not yet observed (2)");
    stage.reconcile(&repo());
    assert_eq!(stage.look().acts, [Act::Resume(chart.clone())]);
    stage.act(&Act::Resume(chart.clone()), "T3");
    assert_eq!(stage.look().acts, []);
    stage.reconcile(&chart);
    assert_eq!(stage.look().acts, [Act::Resume(release.clone())]);
    stage.act(&Act::Resume(release.clone()), "T4");
    stage.reconcile(&release);
    assert_eq!(stage.look().verdict, Verdict::Done);
}

#[test]
fn a_veto_is_never_resumed_and_ends_the_wait() {
    let vetoed =
        with(suspended(kustomization("a", &[])), &[("/metadata/annotations/sluicegate.dev~1release", json!("never"))]);
    let options = Options { resume: true, ..Options::default() };
    let mut stage = Stage::new(&[ks("a")], &[repository(), vetoed], options);
    let look = stage.look();
    assert_eq!((dead_at(&look), &look.acts[..]), (Some(&ks("a")), &[][..]));
}

proptest! {
    /// Up to eight objects in a chain of random needs on earlier ones, all suspended: resumed and reconciled in any order
    /// of events, it always comes to its end, and nothing is resumed before its needs are settled.
    #[test]
    fn every_suspended_chain_is_resumed_in_order_and_ends(
        needs in proptest::collection::vec(proptest::collection::btree_set(0_usize..8, 0..3), 1..8),
    ) {
        let name = |index: usize| format!("k{index}");
        let mut objects = vec![repository()];
        for (index, own) in needs.iter().enumerate() {
            let own: Vec<String> = own.iter().filter(|need| **need < index).map(|need| name(*need)).collect();
            let own: Vec<&str> = own.iter().map(String::as_str).collect();
            objects.push(suspended(kustomization(&name(index), &own)));
        }
        let targets: Vec<Reference> = (0..needs.len()).map(|index| ks(&name(index))).collect();
        let options = Options { resume: true, ..Options::default() };
        let mut stage = Stage::new(&targets, &objects, options);
        for _ in 0..=needs.len() {
            let look = stage.look();
            if look.verdict == Verdict::Done {
                break;
            }
            prop_assert_eq!(&look.verdict, &Verdict::Waiting);
            prop_assert!(!look.acts.is_empty());
            for act in &look.acts {
                let Act::Resume(own) = act else { panic!("{act:?}") };
                for need in &look.judgement.states[own].waits {
                    prop_assert!(false, "{own} is resumed while {} is not settled", need.target);
                }
                stage.act(act, "T");
                stage.reconcile(own);
            }
        }
        prop_assert_eq!(stage.look().verdict, Verdict::Done);
    }
}
