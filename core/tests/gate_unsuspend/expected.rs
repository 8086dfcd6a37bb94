//! The expected revision.

use super::*;

const OTHER: &str = "main@sha1:9999999999999999999999999999999999999999";

#[rstest]
#[case::shown(sample::GIT_REVISION, false)]
#[case::by_prefix("1111111", false)]
#[case::not_shown(OTHER, true)]
#[case::empty("", false)]
fn the_expected_revision_is_asked_for_on_object_source_and_chain(#[case] expected: &str, #[case] blocked: bool) {
    let on = |object: Value, yes: bool| if yes { annotated(object, EXPECTED, Some(expected)) } else { object };
    for place in 0..3 {
        let [artifact, generator, git] = generated();
        let object = on(of_external_artifact(), place == 0);
        let world = World::with([artifact, on(generator, place == 1), on(git, place == 2)]);
        let judged = resume(&world, PERSON, &object);
        if blocked {
            let line = first_line(refusal(&judged)).to_owned();
            let start = "premature unsuspend: Kustomization/n/x waits for GitRepository/n/repo: does not show the \
                         expected revision main@sha1:9999999999999999999999999999999999999999 (main@sha1:1111111111";
            assert!(line.starts_with(start), "{place}: {line}");
            let held = resume(&world, FLUX, &object);
            assert_eq!(stored(&held, &object)["spec"]["suspend"], true);
        } else {
            assert_silent(&judged);
        }
    }
}

#[test]
fn an_expected_chart_version_is_left_to_the_wait() {
    // Only the resume can bring it: a suspended release does not update its chart.
    let release = annotated(sample::helm_release("n", "x"), EXPECTED, Some("2.0.0"));
    let world = World::with([git(), sample::helm_chart("n", "n-x")]);
    assert_silent(&resume(&world, PERSON, &release));
    // Of a release that is at work it can be judged.
    let other = depending(sample::helm_release_of(Kind::OCIRepository, "repo", "n", "y"), &["x"]);
    let mut world = World::with([git(), sample::helm_chart("n", "n-x"), sample::oci_repository("n", "repo"), release]);
    let text = refusal(&resume(&world, PERSON, &other)).to_owned();
    assert!(first_line(&text).contains("does not show the expected revision 2.0.0"), "{text}");
    put(&mut world, annotated(sample::helm_release("n", "x"), EXPECTED, Some(sample::CHART_VERSION)));
    assert_silent(&resume(&world, PERSON, &other));
}

#[test]
fn a_source_is_resumed_although_it_does_not_show_what_is_expected_of_it() {
    // Suspended, it cannot get there.
    let source = annotated(git(), EXPECTED, Some(OTHER));
    let judged = resume(&World::default(), PERSON, &source);
    assert_silent(&judged);
    assert_eq!(judged.reads, [] as [&str; 0]);
}

#[test]
fn a_chart_is_resumed_although_it_does_not_show_the_version_that_is_expected_of_it() {
    let chart = annotated(sample::helm_chart("n", "x"), EXPECTED, Some("2.0.0"));
    let judged = resume(&World::with([git()]), PERSON, &chart);
    assert_silent(&judged);
    // A revision is about its source.
    let chart = annotated(sample::helm_chart("n", "x"), EXPECTED, Some(OTHER));
    assert!(resume(&World::with([git()]), PERSON, &chart).verdict.refusal.is_some());
}

#[test]
fn a_repository_that_includes_others_shows_its_own_revision() {
    let including = with(
        including(),
        &[
            ("/metadata/name", "main".into()),
            ("/status/artifact/revision", OTHER.into()),
            ("/status/conditions/ArtifactInStorage/message", format!("stored artifact for revision '{OTHER}'").into()),
        ],
    );
    let fields = [("/spec/sourceRef/name", "main".into()), ("/status/lastAppliedRevision", OTHER.into())];
    let consumer = |expected| annotated(with(kustomization("x", &[]), &fields), EXPECTED, Some(expected));
    let mut world = World::with([git(), including.clone()]);
    for shown in [OTHER, sample::GIT_REVISION] {
        assert_silent(&resume(&world, PERSON, &consumer(shown)));
    }
    let text = refusal(&resume(&world, PERSON, &consumer("abcdef0"))).to_owned();
    assert!(first_line(&text).contains("does not show the expected revision abcdef0"), "{text}");
    // Suspended itself, it cannot get there.
    put(&mut world, git());
    assert_silent(&resume(&world, PERSON, &annotated(including, EXPECTED, Some("abcdef0"))));
}

#[test]
fn a_suspended_dependency_is_told_before_the_chart_version_it_cannot_show() {
    let other = depending(sample::helm_release_of(Kind::OCIRepository, "repo", "n", "y"), &["x"]);
    let release = suspended(annotated(sample::helm_release("n", "x"), EXPECTED, Some("2.0.0")));
    let text = refused([git(), sample::helm_chart("n", "n-x"), sample::oci_repository("n", "repo"), release], &other);
    assert!(first_line(&text).contains("waits for HelmRelease/n/x: suspended"), "{text}");
}

#[test]
fn a_source_that_does_not_show_it_is_the_root_of_what_waits_for_it() {
    let source = json!({"kind": "OCIRepository", "name": "image"});
    let applied = [("/spec/sourceRef", source), ("/status/lastAppliedRevision", sample::OCI_REVISION.into())];
    let a = unsettled(with(kustomization("a", &[]), &applied));
    let image = annotated(sample::oci_repository("n", "image"), EXPECTED, Some("9.9.9"));
    let text = refused([git(), a, image], &kustomization("x", &["a"]));
    assert!(first_line(&text).contains("waits for OCIRepository/n/image: does not show the expected"), "{text}");
}
