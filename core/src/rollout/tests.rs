use super::*;
use crate::chain::World;
use crate::gate::Fetched;
use crate::object::{Kind, Reference};
use crate::testing::{reference, sample, set, with};
use chrono::{DateTime, TimeDelta, Utc};
use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

const NEW: &str = "main@sha1:2222222222222222222222222222222222222222";

fn at(second: i64) -> DateTime<Utc> {
    DateTime::parse_from_rfc3339("2026-03-01T00:00:00Z").unwrap().with_timezone(&Utc) + TimeDelta::seconds(second)
}

/// A roll-out with the objects of a cluster, in which nothing else exists.
struct Stage {
    rollout: Rollout,
    world: World,
    objects: Vec<Value>,
    version: u64,
    second: i64,
}

impl Stage {
    fn new(targets: &[Reference], objects: &[Value], options: Options) -> Self {
        let rollout = Rollout::new(targets.iter().cloned(), options, at(0));
        Self { rollout, world: World::new(), objects: objects.to_vec(), version: 10, second: 0 }
    }

    fn look(&mut self) -> Look {
        loop {
            let look = self.rollout.look(&self.world, at(self.second));
            let wants: Vec<Reference> =
                look.wants.iter().filter(|want| self.world.get(want).is_none()).cloned().collect();
            if wants.is_empty() {
                return look;
            }
            for want in wants {
                self.tell(&want);
            }
        }
    }

    fn tell(&mut self, want: &Reference) {
        let json = self.objects.iter().find(|json| reference(json) == *want);
        let answer = json.map_or(Fetched::Absent, |json| Fetched::Found(json.to_string().into_bytes()));
        let change = self.world.insert(want, answer);
        self.rollout.changed(want, change, &self.world);
    }

    /// Changes an object, and tells.
    fn change(&mut self, own: &Reference, fields: &[(&str, Value)]) {
        self.version += 1;
        let version = json!(self.version.to_string());
        let json = self.objects.iter_mut().find(|json| reference(json) == *own).unwrap();
        set(json, "/metadata/resourceVersion", version);
        for (pointer, value) in fields {
            set(json, pointer, value.clone());
        }
        self.tell(own);
    }

    fn put(&mut self, json: Value) {
        let own = reference(&json);
        self.objects.retain(|other| reference(other) != own);
        self.objects.push(json);
        self.tell(&own);
    }

    /// What an act writes.
    fn act(&mut self, act: &Act, token: &str) {
        let annotation = ("/metadata/annotations/reconcile.fluxcd.io~1requestedAt", json!(token));
        let own = match act {
            Act::Request(own) => {
                self.change(own, &[annotation]);
                own
            }
            Act::Resume(own) => {
                let json = self.objects.iter().find(|json| reference(json) == *own).unwrap();
                let generation = json["metadata"]["generation"].as_i64().unwrap() + 1;
                let fields = [annotation, ("/spec/suspend", Value::Null), ("/metadata/generation", json!(generation))];
                self.change(own, &fields);
                own
            }
        };
        self.rollout.wrote(own, token, &self.world);
    }

    /// Its controller has reconciled it, successfully.
    fn reconcile(&mut self, own: &Reference) {
        let json = self.objects.iter().find(|json| reference(json) == *own).unwrap().clone();
        let generation = json["metadata"]["generation"].clone();
        let token = json["metadata"]["annotations"]["reconcile.fluxcd.io/requestedAt"].clone();
        let mut fields = vec![
            ("/status/observedGeneration", generation.clone()),
            ("/status/conditions/Ready/status", json!("True")),
            ("/status/conditions/Ready/observedGeneration", generation.clone()),
            ("/status/conditions/Reconciling", Value::Null),
            ("/status/conditions/Stalled", Value::Null),
            ("/status/lastHandledReconcileAt", token),
        ];
        if own.kind.is_source() {
            fields.push(("/status/conditions/ArtifactInStorage/observedGeneration", generation.clone()));
        }
        if own.kind == Kind::HelmRelease {
            fields.push(("/status/lastAttemptedGeneration", generation));
        }
        self.change(own, &fields);
    }

    /// The repository has fetched another revision.
    fn fetch(&mut self, own: &Reference, revision: &str) {
        let message = format!("stored artifact for revision '{revision}'");
        self.change(
            own,
            &[
                ("/status/artifact/revision", json!(revision)),
                ("/status/conditions/ArtifactInStorage/message", json!(message)),
            ],
        );
        self.reconcile(own);
    }
}

fn ks(name: &str) -> Reference {
    Reference::new(Kind::Kustomization, "ns", name)
}

fn repo() -> Reference {
    Reference::new(Kind::GitRepository, "ns", "repo")
}

fn repository() -> Value {
    sample::git_repository("ns", "repo")
}

fn kustomization(name: &str, needs: &[&str]) -> Value {
    let entries: Vec<Value> = needs.iter().map(|name| json!({"name": name})).collect();
    with(sample::kustomization("ns", name), &[("/spec/dependsOn", json!(entries))])
}

fn suspended(json: Value) -> Value {
    with(json, &[("/spec/suspend", json!(true))])
}

fn stalled(json: Value) -> Value {
    with(
        json,
        &[
            ("/status/conditions/Ready/status", json!("False")),
            ("/status/conditions/Stalled/status", json!("True")),
            ("/status/conditions/Stalled/reason", json!("RetriesExceeded")),
        ],
    )
}

fn failed(json: Value) -> Value {
    with(json, &[("/status/conditions/Ready/status", json!("False"))])
}

fn dead_at(look: &Look) -> Option<&Reference> {
    match &look.verdict {
        Verdict::Blocked(Dead::Root(root)) => Some(&root.at),
        _ => None,
    }
}

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
    let mut stage = Stage::new(&[own.clone()], &[sample::helm_repository_oci("ns", "r"), chart, release], options);
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
    let mut stage = Stage::new(&[release.clone()], &objects, options);
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
