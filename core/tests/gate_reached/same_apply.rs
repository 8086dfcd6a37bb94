//! Objects with the same owner labels.

use super::*;

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
