//! How far is looked, and which of several roots is named.

use super::*;

#[test]
fn depends_on_is_followed_only_through_what_is_unsettled() {
    let object = kustomization("x", &["a"]);
    let b = unsettled(kustomization("b", &["c"]));
    let world = World::with([git(), kustomization("a", &["b"]), b, kustomization("c", &[])]);
    let judged = resume(&world, PERSON, &object);
    assert_silent(&judged);
    assert_eq!(judged.reads, ["GitRepository/n/repo", "Kustomization/n/a"]);
}

#[test]
fn the_root_is_found_through_what_is_unsettled() {
    let object = kustomization("x", &["a"]);
    let a = unsettled(kustomization("a", &["b", "s"]));
    let b = unsettled(kustomization("b", &["c"]));
    let world = World::with([git(), a, b, kustomization("c", &["d"]), kustomization("s", &["d"])]);
    let judged = resume(&world, PERSON, &object);
    assert_eq!(
        refusal(&judged),
        "premature unsuspend: Kustomization/n/x waits for Kustomization/n/b: generation 3 not yet observed (2)\n  \
         Kustomization/n/x\n    needs Kustomization/n/a (spec.dependsOn[0])\n    \
         needs Kustomization/n/b (spec.dependsOn[0])"
    );
    // Not d: what needs it is settled.
    let reads =
        ["GitRepository/n/repo", "Kustomization/n/a", "Kustomization/n/b", "Kustomization/n/s", "Kustomization/n/c"];
    assert_eq!(judged.reads, reads);
}

#[test]
fn an_object_is_unsettled_where_its_source_is_and_its_dependencies_are_looked_at() {
    // a itself shows nothing wrong; only its source does. Both the source and b are roots: the nearer in the order.
    let source = json!({"kind": "OCIRepository", "name": "image"});
    let applied = [("/spec/sourceRef", source), ("/status/lastAppliedRevision", sample::OCI_REVISION.into())];
    let a = with(kustomization("a", &["b"]), &applied);
    let image = unsettled(sample::oci_repository("n", "image"));
    let world = World::with([git(), a, image, unsettled(kustomization("b", &[]))]);
    let judged = resume(&world, PERSON, &kustomization("x", &["a"]));
    assert_eq!(
        first_line(refusal(&judged)),
        "premature unsuspend: Kustomization/n/x waits for Kustomization/n/b: generation 3 not yet observed (2)"
    );
    assert_eq!(judged.reads.len(), 4);
}

#[test]
fn the_nearest_root_is_named_and_then_the_first_in_the_stable_order() {
    let near = [unsettled(kustomization("a", &[])), unsettled(kustomization("b", &[]))];
    let far = [unsettled(kustomization("aa", &["c"])), unsettled(kustomization("c", &[]))];
    for order in [["b", "a", "aa"], ["aa", "b", "a"]] {
        let world = World::with([git()].into_iter().chain(near.clone()).chain(far.clone()));
        let text = refusal(&resume(&world, PERSON, &kustomization("x", &order))).to_owned();
        assert!(first_line(&text).contains("waits for Kustomization/n/a:"), "{text}");
    }
    // However late its name.
    let world = World::with([git(), unsettled(kustomization("z", &[]))].into_iter().chain(far.clone()));
    let text = refusal(&resume(&world, PERSON, &kustomization("x", &["aa", "z"]))).to_owned();
    assert!(first_line(&text).contains("waits for Kustomization/n/z:"), "{text}");
    // Only the far one is a root, where the near one waits for it.
    let world = World::with([git()].into_iter().chain(far));
    let text = refusal(&resume(&world, PERSON, &kustomization("x", &["aa"]))).to_owned();
    assert!(first_line(&text).contains("waits for Kustomization/n/c:"), "{text}");
}

#[rstest]
#[case::through_the_object(&[("a", &["x"][..])], "a", 2)]
#[case::of_two(&[("a", &["b"][..]), ("b", &["a"][..])], "a", 3)]
#[case::of_itself(&[("a", &["a"][..])], "a", 2)]
#[case::behind(&[("a", &["b"][..]), ("b", &["c"][..]), ("c", &["b"][..])], "a", 4)]
fn loops_among_the_inputs_end(#[case] stored: &[(&str, &[&str])], #[case] root: &str, #[case] reads: usize) {
    let objects = stored.iter().map(|(name, needs)| unsettled(kustomization(name, needs)));
    let world = World::with([git()].into_iter().chain(objects));
    let judged = resume(&world, PERSON, &kustomization("x", &["a"]));
    let said = first_line(refusal(&judged)).to_owned();
    assert!(said.contains(&format!("waits for Kustomization/n/{root}:")), "{said}");
    assert_eq!(judged.reads.len(), reads);
}

#[test]
fn sources_that_include_each_other_end() {
    let ring = |name: &str, other: &str| {
        let included = sample::git_repository("n", other)["status"]["artifact"].clone();
        let include = json!([{"repository": {"name": other}}]);
        let fields = [("/spec/include", include), ("/status/includedArtifacts", json!([included]))];
        with(sample::git_repository("n", name), &fields)
    };
    let world = World::with([ring("repo", "b"), ring("b", "repo")]);
    let judged = resume(&world, PERSON, &kustomization("x", &[]));
    assert_silent(&judged);
    assert_eq!(judged.reads, ["GitRepository/n/repo", "GitRepository/n/b"]);
}

#[test]
fn a_source_that_includes_the_object_under_review_ends_there() {
    let include = json!([{"repository": {"name": "x"}}]);
    let included = json!([git()["status"]["artifact"]]);
    let repo = with(git(), &[("/spec/include", include), ("/status/includedArtifacts", included)]);
    let judged = resume(&World::with([repo, suspended(including())]), PERSON, &including());
    assert_silent(&judged);
    assert_eq!(judged.reads, ["GitRepository/n/repo"]);
}

// Outputs.

#[test]
fn outputs_never_count() {
    let child = suspended(kustomization("child", &[]));
    let id = json!({"entries": [{"id": "n_child_kustomize.toolkit.fluxcd.io_Kustomization", "v": "v1"}]});
    let waiting = with(kustomization("x", &[]), &[("/spec/wait", json!(true)), ("/status/inventory", id.clone())]);
    let check = json!({"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "name": "child"});
    let checking = with(kustomization("x", &[]), &[("/spec/healthChecks", json!([check]))]);
    let release = sample::helm_release_of(Kind::OCIRepository, "repo", "n", "x");
    let release = with(release, &[("/status/inventory", id)]);
    for object in [waiting, checking, release] {
        for by in [PERSON, FLUX] {
            let world = World::with([git(), sample::oci_repository("n", "repo"), child.clone()]);
            let judged = resume(&world, by, &object);
            assert_silent(&judged);
            assert_eq!(judged.reads.len(), 1, "{:?}", judged.reads);
        }
    }
}

// An unsuspend with other edits is judged by the needs of the new object, and a hold stores the other edits.

#[test]
fn the_needs_of_the_new_object_count_and_other_edits_are_kept() {
    let world = World::with([git(), unsettled(kustomization("bad", &[])), kustomization("good", &[])]);
    let old = suspended(kustomization("x", &["bad"]));
    assert_silent(&world.update(PERSON, &old, &kustomization("x", &["good"])));
    let new = with(kustomization("x", &["bad", "good"]), &[("/spec/path", "./other".into())]);
    let judged = world.update(FLUX, &old, &new);
    let after = stored(&judged, &new);
    assert!(is_suspended(&after));
    assert_eq!(after, annotated(suspended(new), HELD, Some(&flux_mark("premature"))));
}
