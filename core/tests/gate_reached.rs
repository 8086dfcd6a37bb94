//! Resumes whose apply may not have reached everything in the input cone: held, however settled all looks.

#[path = "support/resume.rs"]
mod resume;
mod support;

use resume::{
    HELD, annotated, annotation, assert_silent, depending, mark, owned, put, resumed, stored, suspended, unsettled,
};
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::gate::{Fetched, Role, is_past_apply};
use sluicegate_core::object::{Kind, Reference};
use sluicegate_core::testing::{object, reference, sample, with};
use support::{By, COMPANION, FLUX, Judged, PERSON, World};

const AT: &str = "2026-11-30T12:00:00Z";
const DRY: By = By { dry_run: true, ..FLUX };
const HELM: By =
    By { user: "system:serviceaccount:flux-system:helm-controller", manager: "helm-controller", dry_run: false };

fn git() -> Value {
    sample::git_repository("n", "repo")
}

fn kustomization(name: &str, depends_on: &[&str]) -> Value {
    depending(sample::kustomization("n", name), depends_on)
}

/// Applied by the Kustomization `root`.
fn mine(object: Value) -> Value {
    owned(object, Kind::Kustomization, "n", "root")
}

fn update(world: &World, by: By, object: &Value) -> Judged {
    world.update(by, &suspended(object.clone()), &resumed(object.clone()))
}

/// Held for the reason that this was not reached, and by whom.
#[track_caller]
fn assert_not_reached(judged: &Judged, by: By, object: &Value, said: &str) {
    let held = mark(by.user, by.manager, AT, "not-reached");
    assert_eq!(stored(judged, &resumed(object.clone())), annotated(suspended(object.clone()), HELD, Some(&held)));
    assert_eq!(judged.verdict.warnings, [format!("held: {said}")]);
    assert_eq!(judged.leases.len(), 1);
    let audit: std::collections::BTreeMap<_, _> = judged.verdict.audit.iter().cloned().collect();
    assert_eq!(audit["rule"], "not-reached");
    assert_eq!(audit["held"], "not-reached");
}

// Case 107, over a source that is healthy.
#[rstest]
#[case(FLUX)]
#[case(DRY)]
fn case_107_a_source_of_the_same_commit_is_waited_for_however_settled(#[case] by: By) {
    let release = mine(sample::helm_release("n", "x"));
    let world = World::with([mine(git()), sample::helm_chart("n", "n-x")]);
    let judged = update(&world, by, &release);
    assert_not_reached(&judged, by, &release, "GitRepository/n/repo may not have been applied yet");
    assert_eq!(judged.reads, ["GitRepository/n/repo", "HelmChart/n/n-x"]);
    assert_silent(&update(&world, PERSON, &release));
    assert_silent(&update(&world, COMPANION, &release));
}

/// Which inputs the same apply has reached in a real request.
#[rstest]
#[case::earlier_name(("n", "x"), ("n", "a"), false)]
#[case::later_name(("n", "x"), ("n", "y"), true)]
#[case::later_namespace(("n", "x"), ("o", "a"), true)]
#[case::earlier_namespace(("n", "x"), ("m", "y"), false)]
fn within_a_kind_namespace_and_name_decide(
    #[case] own: (&str, &str),
    #[case] other: (&str, &str),
    #[case] held: bool,
    #[values(Kind::Kustomization, Kind::ResourceSet)] owner: Kind,
) {
    // Its source is of nobody.
    let own = with(
        sample::kustomization(own.0, own.1),
        &[
            ("/spec/sourceRef/namespace", "n".into()),
            ("/spec/dependsOn", json!([{"namespace": other.0, "name": other.1}])),
        ],
    );
    let own = owned(own, owner, "f", "root");
    let dependency = with(sample::kustomization(other.0, other.1), &[("/spec/sourceRef/namespace", "n".into())]);
    let world = World::with([git(), owned(dependency.clone(), owner, "f", "root")]);
    let real = update(&world, FLUX, &own);
    let said = format!("{} may not have been applied yet", reference(&dependency));
    if held {
        assert_not_reached(&real, FLUX, &own, &said)
    } else {
        assert_silent(&real)
    }
    assert_not_reached(&update(&world, DRY, &own), DRY, &own, &said);
    // The same under another owner, and under none.
    let world = World::with([git(), owned(dependency.clone(), owner, "f", "other")]);
    assert_silent(&update(&world, DRY, &own));
    let world = World::with([git(), owned(dependency.clone(), owner, "g", "root")]);
    assert_silent(&update(&world, DRY, &own));
    assert_silent(&update(&World::with([git(), dependency]), DRY, &own));
}

/// Group before kind: fluxcd.controlplane.io, helm, kustomize, source.extensions, source.
#[rstest]
#[case::set_of_kustomization(
    with(sample::resource_set("n", "x"), &[("/spec/dependsOn", json!([{
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "name": "a", "namespace": "n"
    }]))]),
    sample::kustomization("n", "a"),
    true
)]
#[case::kustomization_of_source(sample::kustomization("n", "x"), git(), true)]
#[case::generator_of_source(sample::artifact_generator("n", "x"), git(), true)]
#[case::chart_of_repository(sample::helm_chart("n", "a"), git(), false)]
#[case::terraform_of_source(sample::terraform("n", "x"), git(), true)]
fn between_kinds_group_and_kind_decide(#[case] own: Value, #[case] input: Value, #[case] held: bool) {
    let own = mine(own);
    let world = World::with([mine(input.clone())]);
    let said = format!("{} may not have been applied yet", reference(&input));
    let real = update(&world, FLUX, &own);
    if held {
        assert_not_reached(&real, FLUX, &own, &said)
    } else {
        assert_silent(&real)
    }
    assert_not_reached(&update(&world, DRY, &own), DRY, &own, &said);
}

#[test]
fn what_helm_applies_has_no_known_order() {
    let of_release = |object| owned(object, Kind::HelmRelease, "n", "outer");
    let own = of_release(kustomization("x", &["a"]));
    let world = World::with([git(), of_release(kustomization("a", &[]))]);
    let judged = update(&world, HELM, &own);
    assert_not_reached(&judged, HELM, &own, "Kustomization/n/a may not have been applied yet");
}

#[test]
fn half_a_pair_of_labels_is_no_owner() {
    let half = |object| resume::labelled(object, "kustomize.toolkit.fluxcd.io/name", "root");
    let own = half(kustomization("x", &[]));
    assert_silent(&update(&World::with([half(git())]), DRY, &own));
}

#[test]
fn it_goes_through_generated_charts_and_external_artifacts() {
    // The chart is the release's, and not of the apply; its source is.
    let release = mine(sample::helm_release("n", "x"));
    let chart = owned(sample::helm_chart("n", "n-x"), Kind::HelmRelease, "n", "x");
    let world = World::with([git(), mine(chart)]);
    let said = "HelmChart/n/n-x may not have been applied yet";
    assert_not_reached(&update(&world, FLUX, &release), FLUX, &release, said);
    // A dependency's chart.
    let own = mine(depending(sample::helm_release_of(Kind::OCIRepository, "image", "n", "x"), &["a"]));
    let inputs = [sample::oci_repository("n", "image"), sample::helm_release("n", "a"), sample::helm_chart("n", "n-a")];
    let world = World::with(inputs.into_iter().chain([mine(git())]));
    let said = "GitRepository/n/repo may not have been applied yet";
    assert_not_reached(&update(&world, FLUX, &own), FLUX, &own, said);
    let own = mine(sample::helm_release_of(Kind::ExternalArtifact, "artifact", "n", "x"));
    let chain = [sample::external_artifact("n", "artifact"), sample::artifact_generator("n", "generator")];
    let world = World::with(chain.into_iter().chain([mine(git())]));
    assert_not_reached(&update(&world, FLUX, &own), FLUX, &own, said);
}

#[test]
fn both_causes_give_not_reached_and_the_first_object_is_named() {
    let own = mine(kustomization("x", &["z", "y", "a"]));
    let world = World::with([
        unsettled(git()),
        mine(kustomization("z", &[])),
        mine(kustomization("y", &[])),
        mine(kustomization("a", &[])),
    ]);
    let judged = update(&world, FLUX, &own);
    assert_not_reached(&judged, FLUX, &own, "Kustomization/n/y may not have been applied yet");
}

#[test]
fn what_does_not_exist_yet_is_premature() {
    let own = mine(kustomization("x", &[]));
    let judged = update(&World::with([]), FLUX, &own);
    let mark = stored(&judged, &own);
    assert!(annotation(&mark, HELD).unwrap().contains(r#""cause":"premature""#));
}

#[test]
fn a_dry_run_under_an_appliers_manager_counts_as_one() {
    let diff = By { user: "alice", manager: "kustomize-controller", dry_run: true };
    let own = mine(kustomization("x", &["a"]));
    let world = World::with([git(), mine(kustomization("a", &[]))]);
    assert_not_reached(&update(&world, diff, &own), diff, &own, "Kustomization/n/a may not have been applied yet");
    // The same in earnest is alice's own.
    let world = World::with([unsettled(git()), kustomization("a", &[])]);
    assert!(update(&world, By { dry_run: false, ..diff }, &own).verdict.refusal.is_some());
    // And a person's dry-run is a person's.
    assert!(update(&world, By { dry_run: true, ..PERSON }, &own).verdict.refusal.is_some());
}

#[test]
fn only_what_holds_asks_whether_it_was_reached() {
    let mut world = World::with([mine(git())]);
    world.settings.role = Role::Refuse;
    let judged = update(&world, FLUX, &mine(kustomization("x", &[])));
    assert_silent(&judged);
    world.settings.role = Role::Hold;
    assert!(update(&world, FLUX, &mine(kustomization("x", &[]))).verdict.mutation.suspend.is_some());
}

// Another Kustomization that reads the same source as the owner.

const OLD: &str = "main@sha1:0000000000000000000000000000000000000000";

/// `x`, applied by `root`, reads `repo`, which `infra` applies; both come from `src`.
fn siblings(infra: Value) -> (World, Value) {
    let from_src = |name| with(sample::kustomization("n", name), &[("/spec/sourceRef/name", "src".into())]);
    let repo = owned(git(), Kind::Kustomization, "n", "infra");
    let mut infra = infra;
    infra["spec"]["sourceRef"]["name"] = "src".into();
    let world = World::with([sample::git_repository("n", "src"), from_src("root"), infra, repo]);
    (world, mine(kustomization("x", &[])))
}

fn infra() -> Value {
    sample::kustomization("n", "infra")
}

fn behind() -> Value {
    with(infra(), &[("/status/lastAppliedRevision", OLD.into()), ("/status/lastAttemptedRevision", OLD.into())])
}

const NOT_YET: &str = "Kustomization/n/infra may not have applied GitRepository/n/repo yet";

#[test]
fn a_sibling_that_is_past_its_apply_is_not_waited_for() {
    let (world, own) = siblings(infra());
    let judged = update(&world, FLUX, &own);
    assert_silent(&judged);
    let reads = ["GitRepository/n/repo", "Kustomization/n/infra", "Kustomization/n/root", "GitRepository/n/src"];
    assert_eq!(judged.reads, reads);
    assert_eq!(judged.leases, [] as [&str; 0]);
    assert_eq!(update(&world, PERSON, &own).reads, ["GitRepository/n/repo"]);
}

fn said(fields: &[(&str, Value)]) -> Value {
    with(behind(), fields)
}

#[rstest]
#[case::behind(behind(), true)]
#[case::generation(with(infra(), &[("/metadata/generation", json!(3))]), true)]
#[case::suspended(suspended(behind()), false)]
#[case::deleting(said(&[("/metadata/deletionTimestamp", AT.into())]), false)]
#[case::unknown(with(infra(), &[("/status/conditions/Ready/status", "Unknown".into())]), true)]
#[case::failed(
    said(&[("/status/conditions/Ready/status", "False".into()), ("/status/conditions/Ready/reason", "BuildFailed".into())]),
    false
)]
#[case::waiting(
    said(&[
        ("/status/conditions/Ready/status", "False".into()),
        ("/status/conditions/Ready/reason", "DependencyNotReady".into())
    ]),
    true
)]
#[case::unhealthy(
    said(&[
        ("/status/conditions/Ready/status", "False".into()),
        ("/status/conditions/Ready/reason", "HealthCheckFailed".into()),
        ("/status/lastAttemptedRevision", sample::GIT_REVISION.into())
    ]),
    false
)]
#[case::unhealthy_at_the_old_revision(
    said(&[
        ("/status/conditions/Ready/status", "False".into()),
        ("/status/conditions/Ready/reason", "HealthCheckFailed".into())
    ]),
    true
)]
#[case::cancelled(
    said(&[
        ("/status/conditions/Ready/status", "False".into()),
        ("/status/conditions/Ready/reason", "HealthCheckCanceled".into()),
        ("/status/lastAttemptedRevision", sample::GIT_REVISION.into())
    ]),
    false
)]
#[case::checking(
    said(&[
        ("/status/conditions/Ready/status", "Unknown".into()),
        ("/status/conditions/Reconciling/status", "True".into()),
        (
            "/status/conditions/Reconciling/message",
            format!("Running health checks for revision {} with a timeout of 5m0s", sample::GIT_REVISION).into()
        )
    ]),
    false
)]
#[case::checking_the_old_revision(
    said(&[
        ("/status/conditions/Ready/status", "Unknown".into()),
        ("/status/conditions/Reconciling/status", "True".into()),
        (
            "/status/conditions/Reconciling/message",
            format!("Running health checks for revision {OLD} with a timeout of 5m0s").into()
        )
    ]),
    true
)]
#[case::applying(
    said(&[
        ("/status/conditions/Ready/status", "Unknown".into()),
        ("/status/conditions/Reconciling/status", "True".into()),
        ("/status/conditions/Reconciling/message", "Detecting drift for revision main".into()),
        ("/status/lastAttemptedRevision", sample::GIT_REVISION.into())
    ]),
    true
)]
#[case::no_conditions(said(&[("/status/conditions", json!([]))]), true)]
#[case::no_status(with(infra(), &[("/status", Value::Null)]), true)]
fn a_sibling_is_waited_for_until_it_is_past_its_apply(#[case] infra: Value, #[case] held: bool) {
    let (world, own) = siblings(infra);
    let judged = update(&world, FLUX, &own);
    if held { assert_not_reached(&judged, FLUX, &own, NOT_YET) } else { assert_silent(&judged) }
}

#[test]
fn a_sibling_of_another_source_is_another_commit() {
    let (mut world, own) = siblings(behind());
    put(&mut world, with(behind(), &[("/spec/sourceRef/name", "other".into())]));
    let judged = update(&world, FLUX, &own);
    assert_silent(&judged);
    assert_eq!(judged.reads.len(), 3);
}

#[rstest]
#[case::at_once(&["root"], &[])]
#[case::further_up(&["a"], &[("a", &["b"][..]), ("b", &["root"][..])])]
#[case::through_the_object_itself(&["x"], &[])]
#[case::behind_the_object_itself(&["a"], &[("a", &["x"][..])])]
fn one_that_waits_for_the_owner_is_not_waited_for(#[case] needs: &[&str], #[case] more: &[(&str, &[&str])]) {
    let (mut world, own) = siblings(depending(behind(), needs));
    for (name, needs) in more {
        put(&mut world, kustomization(name, needs));
    }
    put(&mut world, suspended(own.clone()));
    assert_silent(&update(&world, FLUX, &own));
}

#[test]
fn one_that_waits_for_something_else_is_waited_for() {
    let (mut world, own) = siblings(depending(behind(), &["a"]));
    put(&mut world, kustomization("a", &["b"]));
    put(&mut world, kustomization("b", &["a"]));
    assert_not_reached(&update(&world, FLUX, &own), FLUX, &own, NOT_YET);
}

#[test]
fn a_wait_of_its_own_is_no_input() {
    // infra waits for what it applies, root among it: that is an output.
    let inventory = json!({"entries": [{"id": "n_root_kustomize.toolkit.fluxcd.io_Kustomization", "v": "v1"}]});
    let waiting = with(behind(), &[("/spec/wait", json!(true)), ("/status/inventory", inventory)]);
    let (world, own) = siblings(waiting);
    assert_not_reached(&update(&world, FLUX, &own), FLUX, &own, NOT_YET);
}

#[test]
fn the_first_of_two_siblings_counts_and_the_second_where_the_first_waits_for_us() {
    let (mut world, own) = siblings(depending(behind(), &["root"]));
    let image = owned(sample::oci_repository("n", "image"), Kind::Kustomization, "n", "later");
    put(&mut world, image);
    let second = with(
        sample::kustomization("n", "later"),
        &[("/spec/sourceRef/name", "src".into()), ("/status/lastAppliedRevision", OLD.into())],
    );
    put(&mut world, second);
    let dependency = with(
        kustomization("d", &[]),
        &[
            ("/spec/sourceRef", json!({"kind": "OCIRepository", "name": "image"})),
            ("/status/lastAppliedRevision", sample::OCI_REVISION.into()),
        ],
    );
    put(&mut world, dependency);
    let own = depending(own, &["d"]);
    let said = "Kustomization/n/later may not have applied OCIRepository/n/image yet";
    assert_not_reached(&update(&world, FLUX, &own), FLUX, &own, said);
}

#[test]
fn an_absent_owner_is_no_reason_to_hold() {
    for gone in ["infra", "root"] {
        let (mut world, own) = siblings(behind());
        world.objects.remove(&Reference::new(Kind::Kustomization, "n", gone));
        assert_silent(&update(&world, FLUX, &own));
    }
}

#[rstest]
#[case("infra", behind(), true)]
#[case("root", behind(), true)]
#[case("root", suspended(behind()), false)]
fn an_owner_that_cannot_be_read_is(#[case] unread: &str, #[case] infra: Value, #[case] held: bool) {
    let (mut world, own) = siblings(infra);
    let at = Reference::new(Kind::Kustomization, "n", unread);
    world.failing.insert(at, Fetched::Failed("no".into()));
    let judged = update(&world, FLUX, &own);
    if held { assert_not_reached(&judged, FLUX, &own, NOT_YET) } else { assert_silent(&judged) }
}

#[test]
fn a_source_that_cannot_be_read_shows_no_revision_to_be_past_of() {
    let (mut world, own) = siblings(infra());
    let src = Reference::new(Kind::GitRepository, "n", "src");
    world.failing.insert(src, Fetched::OutOfTime);
    assert_not_reached(&update(&world, FLUX, &own), FLUX, &own, NOT_YET);
}

#[test]
fn the_owner_of_a_release_reads_its_source_through_the_chart() {
    let outer = with(sample::helm_release("n", "outer"), &[("/spec/chart/spec/sourceRef/name", "src".into())]);
    let (mut world, _) = siblings(behind());
    put(&mut world, outer);
    let own = owned(kustomization("x", &[]), Kind::HelmRelease, "n", "outer");
    assert_not_reached(&update(&world, HELM, &own), HELM, &own, NOT_YET);
}

#[test]
fn the_object_under_review_is_no_other_kustomization() {
    // As Flux's bootstrap: x applies the source that it reads.
    let own = mine(kustomization("x", &[]));
    let repo = owned(git(), Kind::Kustomization, "n", "x");
    let world = World::with([repo, suspended(own.clone())]);
    let judged = update(&world, FLUX, &own);
    assert_silent(&judged);
    assert_eq!(judged.reads, ["GitRepository/n/repo"]);
}

#[test]
fn an_object_of_nobody_has_no_siblings() {
    let (world, _) = siblings(behind());
    let judged = update(&world, FLUX, &kustomization("x", &[]));
    assert_silent(&judged);
    assert_eq!(judged.reads, ["GitRepository/n/repo"]);
}

#[test]
fn the_same_apply_comes_before_the_siblings() {
    let (mut world, own) = siblings(behind());
    put(&mut world, mine(kustomization("y", &[])));
    let own = depending(own, &["y"]);
    let judged = update(&world, FLUX, &own);
    assert_not_reached(&judged, FLUX, &own, "Kustomization/n/y may not have been applied yet");
    assert_eq!(judged.reads, ["GitRepository/n/repo", "Kustomization/n/y"]);
}

#[test]
fn past_an_apply_of_this_very_revision() {
    let checking = |message: &str| {
        object(&said(&[
            ("/status/conditions/Ready/status", "Unknown".into()),
            ("/status/conditions/Reconciling/status", "True".into()),
            ("/status/conditions/Reconciling/message", message.into()),
        ]))
    };
    let message = "Running health checks for revision 1.2.57985 with a timeout of 30s";
    assert!(is_past_apply(&checking(message), Some("1.2.57985")));
    assert!(!is_past_apply(&checking(message), Some("1.2.5")));
    assert!(!is_past_apply(&checking(message), None));
    assert!(is_past_apply(&checking("Running health checks for revision 1.2.5"), Some("1.2.5")));
    assert!(!is_past_apply(&checking("Building manifests for revision 1.2.5"), Some("1.2.5")));
}
