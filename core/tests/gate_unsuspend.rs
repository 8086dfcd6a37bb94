//! Premature unsuspends: what blocks one, who is refused and who is held, and what it takes to know.

#[path = "support/resume.rs"]
mod resume;
mod support;

use resume::{
    EXPECTED, HELD, annotated, assert_silent, depending, is_suspended, mark, put, refusal, resumed, stored, suspended,
    unsettled,
};
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::gate::{Fetched, Role, Severity};
use sluicegate_core::object::{Kind, Reference};
use sluicegate_core::testing::{reference, sample, with};
use support::{COMPANION, FLUX, Judged, PERSON, World};

const AT: &str = "2026-11-30T12:00:00Z";

/// The mark that [`FLUX`] gets.
fn flux_mark(cause: &str) -> String {
    mark(FLUX.user, FLUX.manager, AT, cause)
}

fn git() -> Value {
    sample::git_repository("n", "repo")
}

fn kustomization(name: &str, depends_on: &[&str]) -> Value {
    depending(sample::kustomization("n", name), depends_on)
}

/// A release whose chart comes from a HelmRepository of type `oci`, and that chart.
fn over_oci_helm_repository() -> (Value, Value) {
    let source = json!({"kind": "HelmRepository", "name": "repo"});
    let release = with(sample::helm_release("n", "x"), &[("/spec/chart/spec/sourceRef", source.clone())]);
    let fields = [("/spec/sourceRef", source), ("/status/observedSourceArtifactRevision", Value::Null)];
    (release, with(sample::helm_chart("n", "n-x"), &fields))
}

fn including() -> Value {
    let included = git()["status"]["artifact"].clone();
    with(
        sample::git_repository("n", "x"),
        &[
            ("/spec/include", json!([{"repository": {"name": "repo"}}])),
            ("/status/includedArtifacts", json!([included])),
        ],
    )
}

fn depending_set() -> Value {
    let dependency = json!({
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "name": "k", "namespace": "n",
        "ready": true
    });
    with(sample::resource_set("n", "x"), &[("/spec/dependsOn", json!([dependency]))])
}

fn of_external_artifact() -> Value {
    let source = json!({"kind": "ExternalArtifact", "name": "artifact"});
    let fields = [
        ("/spec/sourceRef", source),
        ("/status/lastAppliedRevision", sample::ARTIFACT_REVISION.into()),
        ("/status/lastAttemptedRevision", sample::ARTIFACT_REVISION.into()),
    ];
    with(sample::kustomization("n", "x"), &fields)
}

fn generated() -> [Value; 3] {
    [sample::external_artifact("n", "artifact"), sample::artifact_generator("n", "generator"), git()]
}

/// An object that can be resumed, all that it needs, and the same with the root source unsettled.
struct Chain {
    object: Value,
    inputs: Vec<Value>,
    broken: Value,
    reads: &'static [&'static str],
    way: &'static str,
}

fn chain(name: &str) -> Chain {
    let over_git = |object: Value, more: Vec<Value>, reads, way| {
        let inputs = [git()].into_iter().chain(more).collect();
        Chain { object, inputs, broken: unsettled(git()), reads, way }
    };
    match name {
        "Kustomization" => {
            let way = "  Kustomization/n/x\n    needs GitRepository/n/repo (spec.sourceRef)";
            over_git(kustomization("x", &[]), vec![], &["GitRepository/n/repo"], way)
        }
        "HelmRelease" => over_git(
            sample::helm_release("n", "x"),
            vec![sample::helm_chart("n", "n-x")],
            &["GitRepository/n/repo", "HelmChart/n/n-x"],
            "  HelmRelease/n/x\n    needs GitRepository/n/repo (spec.chart.spec.sourceRef)",
        ),
        "HelmRelease of an OCIRepository" => Chain {
            object: sample::helm_release_of(Kind::OCIRepository, "repo", "n", "x"),
            inputs: vec![sample::oci_repository("n", "repo")],
            broken: unsettled(sample::oci_repository("n", "repo")),
            reads: &["OCIRepository/n/repo"],
            way: "  HelmRelease/n/x\n    needs OCIRepository/n/repo (spec.chartRef)",
        },
        "HelmRelease of an ExternalArtifact" => Chain {
            object: sample::helm_release_of(Kind::ExternalArtifact, "artifact", "n", "x"),
            inputs: generated().to_vec(),
            broken: unsettled(git()),
            reads: &["ExternalArtifact/n/artifact", "ArtifactGenerator/n/generator", "GitRepository/n/repo"],
            way: "  HelmRelease/n/x\n    needs ExternalArtifact/n/artifact (spec.chartRef)\n    \
                  needs ArtifactGenerator/n/generator (spec.sourceRef)\n    \
                  needs GitRepository/n/repo (spec.sources[0])",
        },
        // Case 103.
        "HelmRelease of an OCI HelmRepository" => {
            let (object, chart) = over_oci_helm_repository();
            Chain {
                object,
                inputs: vec![sample::helm_repository_oci("n", "repo"), chart],
                broken: suspended(sample::helm_repository_oci("n", "repo")),
                reads: &["HelmChart/n/n-x", "HelmRepository/n/repo"],
                way: "  HelmRelease/n/x\n    needs HelmRepository/n/repo (spec.chart.spec.sourceRef)",
            }
        }
        "Kustomization of an ExternalArtifact" => Chain {
            object: of_external_artifact(),
            inputs: generated().to_vec(),
            broken: unsettled(git()),
            reads: &["ExternalArtifact/n/artifact", "ArtifactGenerator/n/generator", "GitRepository/n/repo"],
            way: "  Kustomization/n/x\n    needs ExternalArtifact/n/artifact (spec.sourceRef)\n    \
                  needs ArtifactGenerator/n/generator (spec.sourceRef)\n    \
                  needs GitRepository/n/repo (spec.sources[0])",
        },
        "GitRepository" => over_git(
            including(),
            vec![],
            &["GitRepository/n/repo"],
            "  GitRepository/n/x\n    needs GitRepository/n/repo (spec.include[0].repository)",
        ),
        "HelmChart" => over_git(
            sample::helm_chart("n", "x"),
            vec![],
            &["GitRepository/n/repo"],
            "  HelmChart/n/x\n    needs GitRepository/n/repo (spec.sourceRef)",
        ),
        "Terraform" => over_git(
            sample::terraform("n", "x"),
            vec![],
            &["GitRepository/n/repo"],
            "  Terraform/n/x\n    needs GitRepository/n/repo (spec.sourceRef)",
        ),
        "ArtifactGenerator" => over_git(
            sample::artifact_generator("n", "x"),
            vec![],
            &["GitRepository/n/repo"],
            "  ArtifactGenerator/n/x\n    needs GitRepository/n/repo (spec.sources[0])",
        ),
        "ResourceSet" => over_git(
            depending_set(),
            vec![kustomization("k", &[])],
            &["Kustomization/n/k", "GitRepository/n/repo"],
            "  ResourceSet/n/x\n    needs Kustomization/n/k (spec.dependsOn[0])\n    \
             needs GitRepository/n/repo (spec.sourceRef)",
        ),
        other => panic!("no chain {other}"),
    }
}

fn resume(world: &World, by: support::By, object: &Value) -> Judged {
    world.update(by, &suspended(object.clone()), &resumed(object.clone()))
}

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

// What blocks.

fn refused(inputs: impl IntoIterator<Item = Value>, object: &Value) -> String {
    let judged = resume(&World::with(inputs), PERSON, object);
    refusal(&judged).to_owned()
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[rstest]
#[case::suspended(suspended(git()), "suspended (spec.suspend)")]
#[case::deleting(with(git(), &[("/metadata/deletionTimestamp", AT.into())]), "being deleted")]
#[case::not_ready(
    with(git(), &[("/status/conditions/Ready/status", "False".into()), ("/status/conditions/Ready/message", "boom".into())]),
    "not ready: boom"
)]
#[case::torn(
    with(git(), &[("/status/artifact/revision", "main@sha1:3".into())]),
    "status is inconsistent: ArtifactInStorage says main@sha1:1111111111111111111111111111111111111111, the artifact \
     is main@sha1:3"
)]
#[case::token(annotated(git(), "reconcile.fluxcd.io/requestedAt", Some("t2")), "request t2 not yet handled (none)")]
fn the_trouble_of_a_source_is_told(#[case] source: Value, #[case] why: &str) {
    let text = refused([source], &kustomization("x", &[]));
    assert_eq!(
        first_line(&text),
        format!("premature unsuspend: Kustomization/n/x waits for GitRepository/n/repo: {why}")
    );
}

#[test]
fn a_missing_input_and_a_missing_kind_are_two_sentences() {
    let mut world = World::default();
    let object = kustomization("x", &[]);
    let text = refusal(&resume(&world, PERSON, &object)).to_owned();
    assert!(
        text.starts_with("premature unsuspend: Kustomization/n/x waits for GitRepository/n/repo: does not exist\n")
    );
    world.absent_kinds.insert(Kind::GitRepository);
    let text = refusal(&resume(&world, PERSON, &object)).to_owned();
    let line = "premature unsuspend: Kustomization/n/x waits for GitRepository/n/repo: does not exist: the cluster has \
                no GitRepository\n";
    assert!(text.starts_with(line), "{text}");
}

// Case 39: source, then chart, then release.
#[test]
fn case_39_each_stage_blocks_in_its_turn() {
    let release = sample::helm_release("n", "x");
    let chart = sample::helm_chart("n", "n-x");
    let stage = |git: Value, chart: Value| first_line(&refused([git, chart], &release)).to_owned();
    assert_eq!(
        stage(unsettled(git()), suspended(chart.clone())),
        "premature unsuspend: HelmRelease/n/x waits for GitRepository/n/repo: generation 3 not yet observed (2)"
    );
    assert_eq!(
        stage(git(), suspended(chart)),
        "premature unsuspend: HelmRelease/n/x waits for HelmChart/n/n-x: suspended (spec.suspend)"
    );
}

#[test]
fn the_generated_chart_is_waited_for_while_it_is_what_the_release_would_write() {
    let release = sample::helm_release("n", "x");
    let chart = sample::helm_chart("n", "n-x");
    let text = refused([git(), unsettled(chart.clone())], &release);
    assert_eq!(
        text,
        "premature unsuspend: HelmRelease/n/x waits for HelmChart/n/n-x: generation 3 not yet observed (2)\n  \
         HelmRelease/n/x\n    needs HelmChart/n/n-x (spec.chart)"
    );
    // Its spec will change on resume, and helm-controller waits for that itself.
    let other = with(unsettled(chart), &[("/spec/version", "9.9.9".into())]);
    assert_silent(&resume(&World::with([git(), other.clone()]), PERSON, &release));
    // But suspended it would never follow.
    let text = refused([git(), suspended(other)], &release);
    assert!(text.contains("waits for HelmChart/n/n-x: suspended"), "{text}");
    // It is missing: the release makes it.
    assert_silent(&resume(&World::with([git()]), PERSON, &release));
}

#[test]
fn the_old_source_of_a_chart_that_will_change_is_not_waited_for() {
    let old = json!({"kind": "GitRepository", "name": "old"});
    let chart = with(sample::helm_chart("n", "n-x"), &[("/spec/sourceRef", old)]);
    let release = sample::helm_release("n", "x");
    for gone in [vec![], vec![unsettled(sample::git_repository("n", "old"))]] {
        let world = World::with([git(), chart.clone()].into_iter().chain(gone));
        let judged = resume(&world, PERSON, &release);
        assert_silent(&judged);
        assert_eq!(judged.reads, ["GitRepository/n/repo", "HelmChart/n/n-x"]);
    }
    let text = refused([git(), suspended(chart)], &release);
    assert_eq!(
        text,
        "premature unsuspend: HelmRelease/n/x waits for HelmChart/n/n-x: suspended (spec.suspend)\n  \
         HelmRelease/n/x\n    needs HelmChart/n/n-x (spec.chart)"
    );
}

#[test]
fn the_chart_of_a_dependency_is_part_of_its_being_settled() {
    let object = depending(sample::helm_release_of(Kind::OCIRepository, "repo", "n", "x"), &["b"]);
    let inputs = [sample::oci_repository("n", "repo"), git(), sample::helm_release("n", "b")];
    let text = refused(inputs.clone(), &object);
    let line = first_line(&text);
    assert!(line.starts_with("premature unsuspend: HelmRelease/n/x waits for HelmRelease/n/b: "), "{line}");
    let text = refused(inputs.clone().into_iter().chain([suspended(sample::helm_chart("n", "n-b"))]), &object);
    let line = first_line(&text);
    assert_eq!(line, "premature unsuspend: HelmRelease/n/x waits for HelmChart/n/n-b: suspended (spec.suspend)");
    let settled = World::with(inputs.into_iter().chain([sample::helm_chart("n", "n-b")]));
    assert_silent(&resume(&settled, PERSON, &object));
}

// Case 105.
#[test]
fn case_105_every_link_of_the_chain_blocks() {
    let object = of_external_artifact();
    let with_one = |other: Value| {
        let mut world = World::with(generated());
        put(&mut world, other);
        refusal(&resume(&world, PERSON, &object)).to_owned()
    };
    let text = with_one(suspended(sample::artifact_generator("n", "generator")));
    assert_eq!(
        text,
        "premature unsuspend: Kustomization/n/x waits for ArtifactGenerator/n/generator: suspended (disabled by \
         annotation source.extensions.fluxcd.io/reconcile)\n  Kustomization/n/x\n    \
         needs ExternalArtifact/n/artifact (spec.sourceRef)\n    \
         needs ArtifactGenerator/n/generator (spec.sourceRef)"
    );
    let digest = [("/status/observedSourcesDigest", "sha256:0".into())];
    let text = with_one(with(sample::artifact_generator("n", "generator"), &digest));
    assert!(first_line(&text).contains("waits for ArtifactGenerator/n/generator: "), "{text}");
    let text = with_one(with(sample::external_artifact("n", "artifact"), &[("/status/artifact/digest", "x:1".into())]));
    assert!(first_line(&text).contains("waits for ExternalArtifact/n/artifact: "), "{text}");
    // Another producer: the chain ends there.
    let foreign = with(sample::external_artifact("n", "artifact"), &[("/spec/sourceRef", Value::Null)]);
    let judged = resume(&World::with([foreign]), PERSON, &object);
    assert_silent(&judged);
    assert_eq!(judged.reads, ["ExternalArtifact/n/artifact"]);
}

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

// Expressions.

fn with_expression(expression: &str) -> Value {
    with(kustomization("x", &[]), &[("/spec/dependsOn", json!([{"name": "a", "readyExpr": expression}]))])
}

fn judged_by_expression(expression: &str, a: Value, additive: bool) -> Judged {
    let mut world = World::with([git(), a]);
    world.settings.additive_ready_expr = additive;
    resume(&world, PERSON, &with_expression(expression))
}

#[rstest]
#[case::replaces_and_says_yes("dep.metadata.name == 'a'", unsettled(kustomization("a", &[])), false, None)]
#[case::sees_both("self.metadata.name == 'x' && dep.metadata.name == 'a'", kustomization("a", &[]), false, None)]
#[case::sees_the_whole_object("dep.spec.path == './' && self.spec.path == './'", kustomization("a", &[]), false, None)]
#[case::additive_and_settled("dep.metadata.name == 'a'", kustomization("a", &[]), true, None)]
#[case::additive_and_unsettled(
    "dep.metadata.name == 'a'",
    unsettled(kustomization("a", &[])),
    true,
    Some("Kustomization/n/a: generation 3 not yet observed (2)")
)]
#[case::says_no("false", kustomization("a", &[]), false, Some("Kustomization/n/a: does not meet spec.dependsOn[0].readyExpr"))]
#[case::even_additive("false", kustomization("a", &[]), true, Some("Kustomization/n/a: does not meet spec.dependsOn[0].readyExpr"))]
#[case::not_boolean("dep.metadata.generation + 1", kustomization("a", &[]), false,
    Some("Kustomization/n/a: cannot be judged by spec.dependsOn[0].readyExpr: its result is not a boolean but "))]
#[case::fails("dep.status.nothing == 1", kustomization("a", &[]), false,
    Some("Kustomization/n/a: cannot be judged by spec.dependsOn[0].readyExpr: it fails: no such key: nothing"))]
#[case::does_not_compile("dep.(", kustomization("a", &[]), false,
    Some("Kustomization/n/a: cannot be judged by spec.dependsOn[0].readyExpr: it does not compile: "))]
#[case::too_costly(
    "[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, [1,2,3,4,5,6,7,8,9].all(d, \
     [1,2,3,4,5,6,7,8,9].all(e, [1,2,3,4,5,6,7,8,9].all(f, [1,2,3,4,5,6,7,8,9].all(g, [1,2,3,4,5,6,7,8,9].all(h, \
     a+b+c+d+e+f+g+h > 0))))))))",
    kustomization("a", &[]),
    false,
    Some("Kustomization/n/a: cannot be judged by spec.dependsOn[0].readyExpr: it is too costly, and was not evaluated")
)]
fn an_expression_decides(
    #[case] expression: &str,
    #[case] a: Value,
    #[case] additive: bool,
    #[case] blocked: Option<&str>,
) {
    let judged = judged_by_expression(expression, a, additive);
    match blocked {
        None => assert_silent(&judged),
        Some(why) => {
            let line = first_line(refusal(&judged)).to_owned();
            let start = format!("premature unsuspend: Kustomization/n/x waits for {why}");
            assert!(line.starts_with(&start), "{line}");
        }
    }
    assert_eq!(judged.reads, ["GitRepository/n/repo", "Kustomization/n/a"]);
}

#[test]
fn too_long_and_too_deep_expressions_are_not_evaluated() {
    let long = format!("true || '{}' == ''", "x".repeat(1_024));
    let judged = judged_by_expression(&long, kustomization("a", &[]), false);
    assert!(first_line(refusal(&judged)).contains("readyExpr: it is too long, 1040 bytes of at most 1024"));
    let deep = format!("{}true{}", "!(".repeat(40), ")".repeat(40));
    let judged = judged_by_expression(&deep, kustomization("a", &[]), false);
    assert!(first_line(refusal(&judged)).contains("readyExpr: it, or the object it reads, is nested too deep"));
}

#[test]
fn an_expression_on_a_suspended_dependency_may_still_say_yes() {
    // Rule 5: only a readyExpr overrides the switch.
    let judged = judged_by_expression("dep.spec.suspend", suspended(kustomization("a", &[])), false);
    assert_eq!(first_line(refusal(&judged)).contains("not a boolean"), true, "dyn is what Flux refuses");
    assert_silent(&judged_by_expression("dep.spec.suspend == true", suspended(kustomization("a", &[])), false));
}

#[test]
fn an_expression_needs_its_dependency() {
    let world = World::with([git()]);
    let text = refusal(&resume(&world, PERSON, &with_expression("true"))).to_owned();
    assert!(first_line(&text).ends_with("waits for Kustomization/n/a: does not exist"), "{text}");
}

#[test]
fn an_expression_is_evaluated_although_the_same_request_adds_it() {
    // The search for cycles reads the new dependency as well; it is read once, and whole.
    let world = World::with([git(), kustomization("a", &[])]);
    let old = suspended(kustomization("x", &[]));
    assert_silent(&world.update(PERSON, &old, &with_expression("dep.spec.path == './'")));
    let text = refusal(&world.update(PERSON, &old, &with_expression("dep.spec.path == './other'"))).to_owned();
    assert!(first_line(&text).ends_with("does not meet spec.dependsOn[0].readyExpr"), "{text}");
}

#[test]
fn expressions_of_a_resource_set_see_the_fields_of_the_dependency() {
    let set = |more: Value| {
        let mut dependency = depending_set()["spec"]["dependsOn"][0].clone();
        dependency.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        with(sample::resource_set("n", "x"), &[("/spec/dependsOn", json!([dependency]))])
    };
    let world = World::with([git(), unsettled(kustomization("k", &[]))]);
    assert_silent(&resume(&world, PERSON, &set(json!({"readyExpr": "metadata.name == 'k'"}))));
    let no = refusal(&resume(&world, PERSON, &set(json!({"readyExpr": "metadata.name == 'j'"})))).to_owned();
    assert!(first_line(&no).ends_with("does not meet spec.dependsOn[0].readyExpr"), "{no}");
    // Existence only: neither the expression nor anything else counts.
    let judged = resume(&world, PERSON, &set(json!({"ready": false, "readyExpr": "false"})));
    assert_silent(&judged);
    assert_eq!(judged.reads, ["Kustomization/n/k"]);
    let none = refusal(&resume(&World::default(), PERSON, &set(json!({"ready": false})))).to_owned();
    assert!(first_line(&none).ends_with("waits for Kustomization/n/k: does not exist"), "{none}");
}

#[rstest]
fn what_is_asked_to_exist_may_still_have_to_be_settled_for_another(#[values(false, true)] first: bool) {
    // The set asks of the repository to exist, and of the Kustomization that applies it to be settled.
    let existing = json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository", "name": "repo", "namespace": "n",
        "ready": false
    });
    let mut entries = vec![depending_set()["spec"]["dependsOn"][0].clone(), existing];
    if first {
        entries.reverse();
    }
    let object = with(sample::resource_set("n", "x"), &[("/spec/dependsOn", json!(entries))]);
    let text = refused([unsettled(git()), kustomization("k", &[])], &object);
    assert!(first_line(&text).ends_with("waits for GitRepository/n/repo: generation 3 not yet observed (2)"), "{text}");
    // And what it includes.
    let including =
        with(including(), &[("/metadata/name", "repo".into()), ("/spec/include/0/repository/name", "i".into())]);
    let included = unsettled(sample::git_repository("n", "i"));
    let text = refused([including, included, kustomization("k", &[])], &object);
    assert!(first_line(&text).ends_with("waits for GitRepository/n/i: generation 3 not yet observed (2)"), "{text}");
}

// The expected revision.

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

// What cannot be judged.

#[derive(Clone, Copy, Debug)]
enum Ill {
    Forbidden,
    OutOfTime,
    OutOfBudget,
    Failed,
    WrongType,
    Garbage,
    OtherObject,
}

fn ill(ill: Ill) -> (World, &'static str) {
    let mut world = World::with([git()]);
    let repo = reference(&git());
    let mut fail = |fetched: Fetched| drop(world.failing.insert(repo.clone(), fetched));
    let said = match ill {
        Ill::Forbidden => {
            world.forbidden.insert(Kind::GitRepository);
            "the policy server may not get gitrepositories.source.toolkit.fluxcd.io"
        }
        Ill::OutOfTime => {
            fail(Fetched::OutOfTime);
            "the time for reading was over before GitRepository/n/repo"
        }
        Ill::OutOfBudget => {
            world.settings.max_reads = 0;
            "the budget of reads (maxReads) was spent before GitRepository/n/repo"
        }
        Ill::Failed => {
            fail(Fetched::Failed("connection\nrefused".into()));
            "GitRepository/n/repo could not be read: connection\\u{a}refused"
        }
        Ill::WrongType => {
            fail(Fetched::Found(
                br#"{"metadata":{"namespace":"n","name":"repo"},"status":{"artifact":"secret"}}"#.to_vec(),
            ));
            "GitRepository/n/repo cannot be read: field status.artifact is not an object"
        }
        Ill::Garbage => {
            fail(Fetched::Found(b"<html>".to_vec()));
            "GitRepository/n/repo cannot be read: it is not valid JSON"
        }
        Ill::OtherObject => {
            fail(Fetched::Found(sample::git_repository("n", "other").to_string().into_bytes()));
            "GitRepository/n/repo cannot be read: field metadata.name is not the name that was asked for"
        }
    };
    (world, said)
}

#[rstest]
#[case(Ill::Forbidden)]
#[case(Ill::OutOfTime)]
#[case(Ill::OutOfBudget)]
#[case(Ill::Failed)]
#[case(Ill::WrongType)]
#[case(Ill::Garbage)]
#[case(Ill::OtherObject)]
fn case_91_what_cannot_be_judged_is_refused_held_and_left_to_the_companion(#[case] what: Ill) {
    let (world, said) = ill(what);
    let object = kustomization("x", &[]);
    let person = resume(&world, PERSON, &object);
    let line = first_line(refusal(&person)).to_owned();
    assert_eq!(line, format!("unsuspend of Kustomization/n/x not judged: {said}"));
    let applier = resume(&world, FLUX, &object);
    assert_eq!(stored(&applier, &object), annotated(suspended(object.clone()), HELD, Some(&flux_mark("premature"))));
    assert!(applier.verdict.warnings[0].starts_with("held: not judged, "), "{:?}", applier.verdict.warnings);
    assert_silent(&resume(&world, COMPANION, &object));
}

#[test]
fn what_is_known_to_be_wrong_comes_before_what_could_not_be_read() {
    let mut world = World::with([unsettled(git())]);
    world.forbidden.insert(Kind::Kustomization);
    let object = kustomization("x", &["a"]);
    let text = refusal(&resume(&world, PERSON, &object)).to_owned();
    assert!(first_line(&text).starts_with("premature unsuspend: "), "{text}");
    assert!(refusal(&resume(&world, COMPANION, &object)).starts_with("premature unsuspend: "));
}

#[test]
fn the_budget_is_spent_on_the_way_and_never_overdrawn() {
    let chain: Vec<Value> =
        (0..50).map(|i| unsettled(kustomization(&format!("k{i:02}"), &[format!("k{:02}", i + 1).as_str()]))).collect();
    let mut world = World::with([git()].into_iter().chain(chain));
    world.settings.max_reads = 20;
    let judged = resume(&world, PERSON, &kustomization("x", &["k00"]));
    assert_eq!(judged.reads.len(), 20);
    let line = first_line(refusal(&judged)).to_owned();
    assert!(line.starts_with("premature unsuspend: "), "what was seen is known to be unsettled: {line}");
}

#[test]
fn a_chain_of_ten_thousand_ends() {
    let names: Vec<String> = (0..10_000).map(|i| format!("k{i}")).collect();
    let objects = names.windows(2).map(|pair| match pair {
        [a, b] => unsettled(kustomization(a, &[b.as_str()])),
        _ => unreachable!(),
    });
    let mut world = World::with(objects.chain([git()]));
    world.settings.max_reads = 20_000;
    let judged = resume(&world, PERSON, &kustomization("x", &["k0"]));
    assert!(first_line(refusal(&judged)).ends_with("waits for Kustomization/n/k9999: does not exist"));
    assert!(refusal(&judged).lines().count() < 50, "the way is cut");
    assert_eq!(judged.reads.len(), 10_001);
}

// Case 67.
#[test]
fn case_67_a_moment_of_unknown_is_refused_and_held() {
    let a = with(kustomization("a", &[]), &[("/status/conditions/Ready/status", "Unknown".into())]);
    let world = World::with([git(), a]);
    let object = kustomization("x", &["a"]);
    assert!(refusal(&resume(&world, PERSON, &object)).contains("waits for Kustomization/n/a: not ready yet"));
    assert!(is_suspended(&stored(&resume(&world, FLUX, &object), &object)));
}

// Roles of the refusal.

#[test]
fn a_person_is_judged_where_refusals_are_made() {
    let mut world = World::with([unsettled(git())]);
    world.settings.role = Role::Hold;
    let judged = resume(&world, PERSON, &kustomization("x", &[]));
    assert_silent(&judged);
    assert_eq!(judged.reads, [] as [&str; 0]);
    world.settings.role = Role::Refuse;
    assert!(resume(&world, PERSON, &kustomization("x", &[])).verdict.refusal.is_some());
}

#[test]
fn an_unjudged_source_blocks_nothing() {
    let object = with(kustomization("x", &[]), &[("/spec/sourceRef", json!({"kind": "Widget", "name": "w"}))]);
    assert_silent(&resume(&World::default(), PERSON, &object));
}

#[test]
fn a_reference_without_a_name_is_a_missing_one() {
    let object = with(kustomization("x", &[]), &[("/spec/dependsOn", json!([{}]))]);
    let judged = resume(&World::with([git()]), PERSON, &object);
    assert!(first_line(refusal(&judged)).ends_with("waits for Kustomization/n/: does not exist"));
    assert_eq!(judged.reads, ["GitRepository/n/repo"]);
}

#[test]
fn settings_other_than_these_do_not_matter() {
    let mut world = World::with([unsettled(git())]);
    (world.settings.dependencies, world.settings.unheld) = (Severity::Refuse, Severity::Refuse);
    let object = kustomization("x", &[]);
    assert!(is_suspended(&stored(&resume(&world, FLUX, &object), &object)), "a hold is due and a companion alive");
    let _ = Reference::new(Kind::Kustomization, "n", "x");
}
