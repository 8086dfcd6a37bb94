//! Another Kustomization that reads the same source as the owner.

use super::*;

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
