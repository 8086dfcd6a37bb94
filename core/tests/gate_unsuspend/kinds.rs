//! Every kind, and every form of its switch.

use super::*;

#[rstest]
fn every_kind_is_resumed_once_all_it_needs_is_settled(
    #[values(
        "Kustomization",
        "HelmRelease",
        "HelmRelease of an OCIRepository",
        "HelmRelease of an ExternalArtifact",
        "HelmRelease of an OCI HelmRepository",
        "Kustomization of an ExternalArtifact",
        "GitRepository",
        "HelmChart",
        "Terraform",
        "ArtifactGenerator",
        "ResourceSet"
    )]
    name: &str,
    #[values(PERSON, FLUX, COMPANION)] by: support::By,
) {
    let Chain { object, inputs, reads, .. } = chain(name);
    let judged = resume(&World::with(inputs), by, &object);
    assert_silent(&judged);
    assert_eq!(judged.reads, reads);
    assert_eq!(judged.leases, [] as [&str; 0]);
    assert_eq!(judged.questions, []);
}

#[rstest]
fn every_kind_waits_for_the_root_of_what_it_needs(
    #[values(
        "Kustomization",
        "HelmRelease",
        "HelmRelease of an OCIRepository",
        "HelmRelease of an ExternalArtifact",
        "HelmRelease of an OCI HelmRepository",
        "Kustomization of an ExternalArtifact",
        "GitRepository",
        "HelmChart",
        "Terraform",
        "ArtifactGenerator",
        "ResourceSet"
    )]
    name: &str,
) {
    let Chain { object, inputs, broken, reads, way } = chain(name);
    let mut world = World::with(inputs);
    let root = reference(&broken).to_string();
    let why =
        if resume::is_suspended(&broken) { "suspended (spec.suspend)" } else { "generation 3 not yet observed (2)" };
    put(&mut world, broken);

    let person = resume(&world, PERSON, &object);
    let own = reference(&object).to_string();
    assert_eq!(refusal(&person), format!("premature unsuspend: {own} waits for {root}: {why}\n{way}"));
    assert_eq!(person.verdict.warnings, [] as [&str; 0]);
    assert!(person.verdict.mutation.is_empty());
    assert_eq!(person.reads, reads);
    assert_eq!(person.leases, [] as [&str; 0]);

    let companion = resume(&world, COMPANION, &object);
    assert_eq!(refusal(&companion), refusal(&person));
    assert_eq!(companion.leases, [] as [&str; 0]);

    let applier = resume(&world, FLUX, &object);
    let held = annotated(suspended(resumed(object.clone())), HELD, Some(&flux_mark("premature")));
    assert_eq!(stored(&applier, &resumed(object)), held);
    let warning = format!("held: {root}: {why}");
    assert_eq!(applier.verdict.warnings, [warning]);
    assert_eq!(applier.reads, reads);
    assert_eq!(applier.leases, ["sluicegate-system/sluicegate"]);
}

#[rstest]
#[case(json!(true), json!(null))]
#[case(json!(true), json!(false))]
fn absent_null_and_false_are_the_same_switch(#[case] old: Value, #[case] new: Value) {
    let world = World::with([unsettled(git())]);
    let mut off = kustomization("x", &[]);
    off["spec"]["suspend"] = new.clone();
    let mut on = kustomization("x", &[]);
    on["spec"]["suspend"] = old.clone();
    assert!(refusal(&world.update(PERSON, &on, &off)).starts_with("premature unsuspend"));
    // A literal null, as the flux command line sends it, and no field at all.
    let mut absent = off.clone();
    absent["spec"].as_object_mut().unwrap().remove("suspend");
    assert!(refusal(&world.update(PERSON, &on, &absent)).starts_with("premature unsuspend"));
    for other in [off.clone(), absent.clone()] {
        for (before, after) in [(&other, &other), (&other, &on), (&on, &on), (&absent, &off)] {
            let judged = world.update(PERSON, before, after);
            assert_silent(&judged);
            assert_eq!(judged.reads, [] as [&str; 0]);
        }
    }
}

#[rstest]
#[case(Some("disabled"), None, true)]
#[case(Some("Disabled"), Some("enabled"), true)]
#[case(Some("DISABLED"), Some(""), true)]
#[case(Some("disabled"), Some("Disabled"), false)]
#[case(Some("disabled "), None, false)]
#[case(Some("enabled"), None, false)]
#[case(None, Some("disabled"), false)]
fn annotations_are_switches_in_any_case(#[case] old: Option<&str>, #[case] new: Option<&str>, #[case] up: bool) {
    let world = World::with([unsettled(git())]);
    let generator = sample::artifact_generator("n", "x");
    let key = "source.extensions.fluxcd.io/reconcile";
    let (old, new) = (annotated(generator.clone(), key, old), annotated(generator, key, new));
    let judged = world.update(PERSON, &old, &new);
    assert_eq!(judged.verdict.refusal.is_some(), up);
    assert_eq!(judged.reads.len(), usize::from(up));
    if up {
        let back = stored(&world.update(FLUX, &old, &new), &new);
        assert_eq!(resume::annotation(&back, key), resume::annotation(&old, key), "the value comes back as it was");
    }
}

#[test]
fn create_is_no_unsuspend() {
    let world = World::with([unsettled(git())]);
    for by in [PERSON, FLUX] {
        assert_silent(&world.create(by, &kustomization("x", &[])));
    }
}

#[rstest]
#[case(PERSON)]
#[case(FLUX)]
#[case(COMPANION)]
fn case_109_an_object_that_is_being_deleted_is_resumed_as_it_is(#[case] by: support::By) {
    let world = World::with([unsettled(git())]);
    let deleting = with(kustomization("x", &[]), &[("/metadata/deletionTimestamp", AT.into())]);
    let judged = resume(&world, by, &deleting);
    assert_silent(&judged);
    assert_eq!(judged.reads, [] as [&str; 0]);
}
