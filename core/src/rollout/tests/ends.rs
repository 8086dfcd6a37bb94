//! How a roll-out ends before its time, and when it does not.

use super::*;
use rstest::rstest;

#[rstest]
#[case::case_49_a_request_was_acknowledged(&[("/metadata/annotations/reconcile.fluxcd.io~1requestedAt", json!("T")),
    ("/status/lastHandledReconcileAt", json!("T"))])]
#[case::case_45_and_53_looks_ready(&[])]
#[case::case_15_not_observed(&[("/status/observedGeneration", json!(1))])]
fn suspended_by_somebody_is_the_end(#[case] fields: &[(&str, Value)]) {
    let child = with(suspended(kustomization("child", &[])), fields);
    let parent = with(
        sample::kustomization("ns", "parent"),
        &[(
            "/spec/healthChecks",
            json!([{"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "name": "child"}]),
        )],
    );
    let objects = [repository(), child, parent];
    let mut stage = Stage::new(&[ks("parent")], &objects, Options::default());
    assert_eq!(dead_at(&stage.look()), Some(&ks("child")));
    let ignoring = Options { ignore_suspended: true, ..Options::default() };
    assert_eq!(Stage::new(&[ks("parent")], &objects, ignoring).look().verdict, Verdict::Done);
    let resuming = Options { resume: true, ..Options::default() };
    assert_eq!(Stage::new(&[ks("parent")], &objects, resuming).look().verdict, Verdict::Waiting);
}

#[test]
fn what_the_gate_holds_is_waited_for() {
    let mark = json!({"applier": {"user": "u", "manager": "m"}, "at": "2026-01-01T00:00:00Z", "cause": "premature"});
    let held = with(
        suspended(kustomization("a", &[])),
        &[("/metadata/annotations/sluicegate.dev~1held", json!(mark.to_string()))],
    );
    let mut stage = Stage::new(&[ks("a")], &[repository(), held], Options::default());
    assert_eq!(stage.look().verdict, Verdict::Waiting);
}

#[test]
fn case_77_stalled_is_the_end_and_failed_is_not() {
    let objects = [repository(), stalled(kustomization("a", &[]))];
    assert_eq!(dead_at(&Stage::new(&[ks("a")], &objects, Options::default()).look()), Some(&ks("a")));
    let objects = [repository(), failed(kustomization("a", &[]))];
    let options = Options { timeout: Some(TimeDelta::seconds(60)), ..Options::default() };
    let mut stage = Stage::new(&[ks("a")], &objects, options);
    let look = stage.look();
    assert_eq!((look.verdict, look.wake), (Verdict::Waiting, Some(at(60))));
    stage.second = 60;
    assert_eq!(stage.look().verdict, Verdict::TimedOut(None));
}

#[test]
fn stalled_is_no_end_while_a_request_or_a_new_source_is_ahead() {
    let objects = [repository(), stalled(kustomization("a", &[]))];
    let mut stage = Stage::new(&[ks("a")], &objects, Options { reconcile: true, ..Options::default() });
    let look = stage.look();
    assert_eq!(look.verdict, Verdict::Waiting);
    stage.act(&Act::Request(repo()), "T1");
    stage.reconcile(&repo());
    assert_eq!(stage.look().acts, [Act::Request(ks("a"))]);
    stage.act(&Act::Request(ks("a")), "T2");
    assert_eq!(stage.look().verdict, Verdict::Waiting, "the request is not handled");
    stage.change(&ks("a"), &[("/status/lastHandledReconcileAt", json!("T2"))]);
    assert_eq!(dead_at(&stage.look()), Some(&ks("a")), "and still stalled");
    let expecting = Options { expected: Some(NEW.into()), ..Options::default() };
    assert_eq!(Stage::new(&[ks("a")], &objects, expecting).look().verdict, Verdict::Waiting);
}

#[test]
fn a_missing_object_is_the_end_unless_something_at_work_may_bring_it() {
    let objects = [repository(), kustomization("a", &["gone"])];
    assert_eq!(dead_at(&Stage::new(&[ks("a")], &objects, Options::default()).look()), Some(&ks("gone")));
    // The owner of what needs it has not applied the current revision yet.
    let owned = with(
        kustomization("a", &["gone"]),
        &[
            ("/metadata/labels/kustomize.toolkit.fluxcd.io~1name", json!("parent")),
            ("/metadata/labels/kustomize.toolkit.fluxcd.io~1namespace", json!("ns")),
        ],
    );
    let behind = with(
        sample::kustomization("ns", "parent"),
        &[("/status/lastAppliedRevision", json!(NEW)), ("/status/lastAttemptedRevision", json!(NEW))],
    );
    let mut stage = Stage::new(&[ks("a")], &[repository(), owned, behind], Options::default());
    assert_eq!(stage.look().verdict, Verdict::Waiting);
    stage.change(
        &ks("parent"),
        &[
            ("/status/lastAppliedRevision", json!(sample::GIT_REVISION)),
            ("/status/lastAttemptedRevision", json!(sample::GIT_REVISION)),
        ],
    );
    assert_eq!(dead_at(&stage.look()), Some(&ks("gone")), "by now it has, and did not bring it");
    stage.put(with(kustomization("gone", &[]), &[("/metadata/resourceVersion", json!("99"))]));
    assert_eq!(stage.look().verdict, Verdict::Done);
}

#[test]
fn a_child_is_no_end_while_its_parent_has_not_applied_the_repair() {
    let child = with(
        suspended(kustomization("child", &[])),
        &[
            ("/metadata/labels/kustomize.toolkit.fluxcd.io~1name", json!("parent")),
            ("/metadata/labels/kustomize.toolkit.fluxcd.io~1namespace", json!("ns")),
        ],
    );
    let parent = with(
        sample::kustomization("ns", "parent"),
        &[
            ("/spec/wait", json!(true)),
            (
                "/status/inventory/entries",
                json!([{"id": "ns_child_kustomize.toolkit.fluxcd.io_Kustomization", "v": "v1"}]),
            ),
            ("/status/lastAppliedRevision", json!("old")),
        ],
    );
    let mut stage = Stage::new(&[ks("parent")], &[repository(), child, parent], Options::default());
    assert_eq!(stage.look().verdict, Verdict::Waiting);
    let message = format!("Running health checks for revision {} with a timeout of 5m0s", sample::GIT_REVISION);
    stage.change(
        &ks("parent"),
        &[
            ("/status/conditions/Reconciling/status", json!("True")),
            ("/status/conditions/Reconciling/message", json!(message)),
        ],
    );
    assert_eq!(dead_at(&stage.look()), Some(&ks("child")), "case 15: within one check, not after five minutes");
}

#[test]
fn case_27_a_reference_that_is_refused_is_the_end() {
    let refused =
        with(stalled(kustomization("app", &[])), &[("/status/conditions/Stalled/reason", json!("AccessDenied"))]);
    let look =
        Stage::new(&[ks("app")], &[repository(), refused], Options { resume: true, ..Options::default() }).look();
    assert_eq!((dead_at(&look), &look.acts[..]), (Some(&ks("app")), &[][..]));
}

#[test]
fn case_43_created_suspended_is_suspended_and_no_difference_of_generations() {
    let born = with(
        suspended(kustomization("a", &[])),
        &[("/status", json!({"observedGeneration": -1})), ("/metadata/generation", json!(1))],
    );
    let mut stage = Stage::new(&[ks("a")], &[repository(), born], Options::default());
    let look = stage.look();
    assert_eq!(dead_at(&look), Some(&ks("a")));
    assert_eq!(look.news[0].text, "suspended (spec.suspend), never reconciled");
}

#[test]
fn case_55_nothing_is_suspended_to_unstick_it() {
    let release = Reference::new(Kind::HelmRelease, "ns", "x");
    let objects = [repository(), sample::helm_chart("ns", "ns-x"), stalled(sample::helm_release("ns", "x"))];
    let options = Options { reconcile: true, resume: true, ..Options::default() };
    let mut stage = Stage::new(std::slice::from_ref(&release), &objects, options);
    for token in ["T1", "T2", "T3"] {
        let look = stage.look();
        let [Act::Request(own)] = &look.acts[..] else { panic!("{:?}", look.acts) };
        let own = own.clone();
        stage.act(&look.acts[0], token);
        if own != release {
            stage.reconcile(&own);
        }
    }
    stage.change(&release, &[("/status/lastHandledReconcileAt", json!("T3"))]);
    assert_eq!(dead_at(&stage.look()), Some(&release));
}

#[test]
fn a_loop_is_the_end() {
    let objects = [repository(), failed(kustomization("a", &["b"])), failed(kustomization("b", &["a"]))];
    let look = Stage::new(&[ks("a")], &objects, Options::default()).look();
    assert!(matches!(look.verdict, Verdict::Blocked(Dead::Loop(_))), "{:?}", look.verdict);
}

#[test]
fn case_67_a_moment_of_being_at_work_is_no_news_but_no_end_either() {
    let objects = [repository(), kustomization("a", &["b"]), failed(kustomization("b", &[]))];
    let mut stage = Stage::new(&[ks("a"), repo()], &objects, Options::default());
    stage.look();
    let blip = |stage: &mut Stage, status: &str| {
        let reconciling = if status == "True" { Value::Null } else { json!("True") };
        let mut fields = vec![("/status/conditions/Ready/status", json!(status))];
        if reconciling.is_null() {
            fields.push(("/status/conditions/Reconciling", Value::Null));
        } else {
            fields.push(("/status/conditions/Reconciling/status", reconciling));
        }
        stage.change(&repo(), &fields);
        stage.look()
    };
    let news = blip(&mut stage, "Unknown").news;
    assert!(news.iter().all(|news| news.at != repo()), "{news:?}");
    stage.reconcile(&ks("b"));
    assert_eq!(stage.look().verdict, Verdict::Waiting);
    assert_eq!(blip(&mut stage, "True").verdict, Verdict::Done);
}

#[test]
fn an_object_made_anew_is_told_and_asked_anew() {
    let options = Options { reconcile: true, ..Options::default() };
    let mut stage = Stage::new(&[repo()], &[repository()], options);
    stage.look();
    stage.act(&Act::Request(repo()), "T1");
    let anew = with(repository(), &[("/metadata/uid", json!("other")), ("/metadata/resourceVersion", json!("50"))]);
    stage.put(anew);
    let look = stage.look();
    assert_eq!(look.acts, [Act::Request(repo())]);
    assert!(look.news.iter().any(|news| news.text == "was deleted and made anew"), "{:?}", look.news);
}

#[rstest]
#[case(None, Some(30), 30)]
#[case(Some("45s"), Some(30), 45)]
#[case(Some("45s"), None, 45)]
#[case(Some("soon"), Some(30), 30)]
fn an_object_has_a_limit_of_its_own(#[case] annotation: Option<&str>, #[case] unit: Option<i64>, #[case] limit: i64) {
    let slow =
        with(failed(kustomization("b", &[])), &[("/metadata/annotations/sluicegate.dev~1timeout", json!(annotation))]);
    let options = Options { unit_timeout: unit.map(TimeDelta::seconds), ..Options::default() };
    let mut stage = Stage::new(&[ks("a")], &[repository(), failed(kustomization("a", &["b"])), slow], options);
    assert_eq!(stage.look().wake, Some(at(limit)), "what waits for it has time");
    stage.second = limit;
    assert_eq!(stage.look().verdict, Verdict::TimedOut(Some((ks("b"), TimeDelta::seconds(limit)))));
}

#[rstest]
#[case("Ready", "True", true)]
#[case("Ready", "Applied revision: main@", true)]
#[case("Ready", "ReconciliationSucceeded", true)]
#[case("Ready", "nothing of it", false)]
#[case("Healthy", "True", false)]
fn an_exit_condition_ends_it(#[case] key: &str, #[case] text: &str, #[case] met: bool) {
    let source = with(repository(), &[("/metadata/generation", json!(3))]);
    let options = Options { exit_condition: Some((key.into(), text.into())), ..Options::default() };
    let mut stage = Stage::new(&[ks("a")], &[source, kustomization("a", &[])], options);
    assert_eq!(stage.look().verdict == Verdict::Met, met);
}

#[test]
fn what_may_not_be_read_can_never_be_proved() {
    let mut stage = Stage::new(&[ks("a")], &[kustomization("a", &[])], Options::default());
    stage.world.insert(&repo(), Fetched::Forbidden);
    assert!(matches!(stage.look().verdict, Verdict::Unreadable(root) if root.at == repo()));
}

fn owned(json: Value) -> Value {
    with(
        json,
        &[
            ("/metadata/labels/kustomize.toolkit.fluxcd.io~1name", json!("parent")),
            ("/metadata/labels/kustomize.toolkit.fluxcd.io~1namespace", json!("ns")),
        ],
    )
}

#[test]
fn a_child_is_no_end_while_a_request_to_its_parent_or_its_source_is_ahead() {
    let parent = with(
        sample::kustomization("ns", "parent"),
        &[
            ("/spec/wait", json!(true)),
            (
                "/status/inventory/entries",
                json!([{"id": "ns_child_kustomize.toolkit.fluxcd.io_Kustomization", "v": "v1"}]),
            ),
        ],
    );
    let objects = [repository(), owned(suspended(kustomization("child", &[]))), parent];
    let options = Options { reconcile: true, ..Options::default() };
    let mut stage = Stage::new(&[ks("parent")], &objects, options);
    assert_eq!(stage.look().verdict, Verdict::Waiting, "the source will be asked");
    stage.act(&Act::Request(repo()), "T1");
    assert_eq!(stage.look().verdict, Verdict::Waiting, "it has been asked");
    stage.reconcile(&repo());
    let look = stage.look();
    assert_eq!((look.verdict, look.acts), (Verdict::Waiting, vec![Act::Request(ks("parent"))]));
    stage.act(&Act::Request(ks("parent")), "T2");
    assert_eq!(stage.look().verdict, Verdict::Waiting, "the parent has been asked");
    stage.reconcile(&ks("parent"));
    assert_eq!(dead_at(&stage.look()), Some(&ks("child")));
}

#[test]
fn what_is_stalled_is_no_end_while_its_source_is_to_be_asked() {
    let objects = [repository(), kustomization("a", &["b"]), stalled(kustomization("b", &[]))];
    let options = Options { reconcile: true, ..Options::default() };
    let mut stage = Stage::new(&[ks("a")], &objects, options);
    assert_eq!(stage.look().verdict, Verdict::Waiting);
    stage.act(&Act::Request(repo()), "T1");
    assert_eq!(stage.look().verdict, Verdict::Waiting);
    stage.reconcile(&repo());
    assert_eq!(dead_at(&stage.look()), Some(&ks("b")));
}
