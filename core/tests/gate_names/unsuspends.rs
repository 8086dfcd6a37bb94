//! Unsuspends.

use super::*;

fn sick(object: Value) -> Value {
    let fields = [
        ("/status/conditions/Ready/status", "False".into()),
        ("/status/conditions/Ready/message", "the secret is 42".into()),
    ];
    with(object, &fields)
}

#[test]
fn status_of_a_foreign_object_is_not_quoted_although_it_is_named() {
    let world = World::with([git(), sick(kustomization("m/a", &[]))]);
    let object = kustomization("n/x", &["m/a"]);
    let judged = resume(&world, PERSON, &object);
    assert_eq!(
        refusal(&judged),
        "premature unsuspend: Kustomization/n/x waits for Kustomization/m/a: not ready\n  Kustomization/n/x\n    \
         needs Kustomization/m/a (spec.dependsOn[0])"
    );
    assert_eq!(judged.questions, [may_get("m/a")]);
    let held = resume(&world, FLUX, &object);
    assert_eq!(held.verdict.warnings, ["held: Kustomization/m/a: not ready"]);
    assert_eq!(held.questions, []);
    // Who may get it is told.
    let world = World { allowed: vec![may_get("m/a")], ..world };
    let first = refusal(&resume(&world, PERSON, &object)).lines().next().unwrap().to_owned();
    assert_eq!(
        first,
        "premature unsuspend: Kustomization/n/x waits for Kustomization/m/a: not ready: the secret is 42"
    );
    assert_eq!(resume(&world, FLUX, &object).verdict.warnings, ["held: Kustomization/m/a: not ready"]);
    // At home it is no secret.
    let world = World::with([git(), sick(kustomization("n/a", &[]))]);
    let object = kustomization("n/x", &["n/a"]);
    assert_eq!(
        resume(&world, FLUX, &object).verdict.warnings,
        ["held: Kustomization/n/a: not ready: the secret is 42"]
    );
}

#[test]
fn a_foreign_root_is_hidden_and_so_is_the_length_of_the_way() {
    let root = |names: &[&str]| {
        let mut chain = vec!["m/a"];
        chain.extend(names);
        let links = chain.windows(2).map(|pair| unsettled(kustomization(pair[0], &[pair[1]])));
        let mut world = World::with(links.chain([git()]));
        put(&mut world, sick(kustomization(chain.last().unwrap(), &[])));
        world
    };
    let object = kustomization("n/x", &["m/a"]);
    let hidden = "premature unsuspend: Kustomization/n/x waits for an object in another namespace: not ready\n  \
                  Kustomization/n/x\n    needs Kustomization/m/a (spec.dependsOn[0])\n    \
                  needs an object in another namespace";
    for names in [&["m/secret"][..], &["k/one", "m/two", "k/three"]] {
        let world = root(names);
        assert_eq!(refusal(&resume(&world, PERSON, &object)), hidden);
        let held = resume(&world, FLUX, &object);
        assert_eq!(held.verdict.warnings, ["held: an object in another namespace: not ready"]);
        let companion = resume(&world, COMPANION, &object);
        assert_eq!(refusal(&companion), hidden);
        assert_eq!(companion.questions, []);
    }
    let world = root(&["m/secret", "n/home"]);
    let text = refusal(&resume(&world, PERSON, &object)).to_owned();
    assert_eq!(
        text,
        "premature unsuspend: Kustomization/n/x waits for Kustomization/n/home: not ready: the secret is 42\n  \
         Kustomization/n/x\n    needs Kustomization/m/a (spec.dependsOn[0])\n    \
         needs an object in another namespace\n    which leads to Kustomization/n/home"
    );
    // Granted: the root first, it tells most.
    let mut world = root(&["m/b", "m/c", "m/d", "m/e", "m/f", "m/root"]);
    world.allowed = vec![may_get("m/root")];
    let judged = resume(&world, PERSON, &object);
    let first = refusal(&judged).lines().next().unwrap();
    assert!(first.ends_with("waits for Kustomization/m/root: not ready: the secret is 42"), "{first}");
    assert_eq!(judged.questions.len(), 5);
}

#[rstest]
#[case(Fetched::Forbidden, "the policy server may not get kustomizations.kustomize.toolkit.fluxcd.io")]
#[case(Fetched::OutOfTime, "the time for reading was over before an object in another namespace")]
#[case(Fetched::Failed("the secret is 42".into()), "an object in another namespace could not be read")]
#[case(Fetched::Found(b"{\"spec\":{\"suspend\":42}}".to_vec()), "an object in another namespace cannot be read")]
fn what_could_not_be_read_is_hidden_too(#[case] fetched: Fetched, #[case] said: &str) {
    let mut world = World::with([git(), kustomization("m/a", &["m/secret"])]);
    world.failing.insert(Reference::new(Kind::Kustomization, "m", "secret"), fetched);
    let adds = |target| world.update(PERSON, &kustomization("n/x", &[]), &kustomization("n/x", &[target]));
    // Behind one that is named.
    let warning = format!("dependency cycles of Kustomization/n/x not judged: {said}");
    let short: String = warning.chars().take(118).collect();
    let judged = adds("m/a");
    assert!(judged.verdict.warnings[0].starts_with(&short), "{:?}", judged.verdict.warnings);
    // Named itself it is not hidden, but nothing is quoted.
    let warnings = adds("m/secret").verdict.warnings.join("\n");
    let refused = resume(&world, PERSON, &kustomization("n/x", &["m/secret"]));
    for text in [&warnings, refusal(&refused)] {
        assert!(!text.contains("42") && !text.contains("spec.suspend"), "{text}");
    }
}

#[test]
fn the_revision_of_a_foreign_source_is_not_quoted_by_its_consumer() {
    // n/a has not applied what m/repo offers: the revision is m/repo's.
    let foreign = json!({"kind": "GitRepository", "name": "repo", "namespace": "m"});
    let old = "main@sha1:0000000000000000000000000000000000000000";
    let a =
        with(kustomization("n/a", &[]), &[("/spec/sourceRef", foreign), ("/status/lastAppliedRevision", old.into())]);
    let mut world = World::with([git(), sample::git_repository("m", "repo"), a]);
    let object = kustomization("n/x", &["n/a"]);
    let judged = resume(&world, PERSON, &object);
    let first = refusal(&judged).lines().next().unwrap();
    assert_eq!(first, "premature unsuspend: Kustomization/n/x waits for Kustomization/n/a: behind its source");
    assert_eq!(resume(&world, FLUX, &object).verdict.warnings, ["held: Kustomization/n/a: behind its source"]);
    world.allowed = vec![Question {
        verb: "get",
        group: "source.toolkit.fluxcd.io",
        resource: "gitrepositories",
        namespace: "m".into(),
        name: Some("repo".into()),
    }];
    let judged = resume(&world, PERSON, &object);
    let first = refusal(&judged).lines().next().unwrap();
    assert!(first.contains("has not applied revision main@sha1:1111111111111111111111111111111111111111"), "{first}");
    // At home.
    let a = with(kustomization("n/a", &[]), &[("/status/lastAppliedRevision", old.into())]);
    let world = World::with([git(), a]);
    assert!(refusal(&resume(&world, PERSON, &object)).contains("has not applied revision main@sha1:1111"));
}

#[test]
fn what_a_foreign_object_expects_is_not_quoted() {
    let asking = |at: &str| annotated(kustomization(at, &[]), EXPECTED, Some("main@sha1:4242424242"));
    let mut world = World::with([git(), asking("m/a")]);
    let object = kustomization("n/x", &["m/a"]);
    let text = refusal(&resume(&world, PERSON, &object)).to_owned();
    assert!(text.contains("waits for GitRepository/n/repo: does not show the expected revision"), "{text}");
    assert!(!text.contains("4242"), "{text}");
    put(&mut world, asking("n/a"));
    let text = refusal(&resume(&world, PERSON, &kustomization("n/x", &["n/a"]))).to_owned();
    assert!(text.contains("does not show the expected revision main@sha1:4242424242 ("), "{text}");
}

#[test]
fn an_expression_that_fails_quotes_nothing_of_a_foreign_object() {
    let object = |expression: &str| {
        let entry = json!({"namespace": "m", "name": "a", "readyExpr": expression});
        with(kustomization("n/x", &[]), &[("/spec/dependsOn", json!([entry]))])
    };
    let world = World::with([git(), kustomization("m/a", &[])]);
    let judged = resume(&world, PERSON, &object("dep.spec[dep.spec.path] == 1"));
    let first = refusal(&judged).lines().next().unwrap();
    assert!(first.ends_with("cannot be judged by spec.dependsOn[0].readyExpr: it fails"), "{first}");
}

#[test]
fn an_object_not_reached_is_hidden_where_it_is_foreign() {
    let mine = |object| resume::owned(object, Kind::Kustomization, "m", "root");
    let chain = [unsettled(kustomization("m/a", &["m/secret"])), mine(kustomization("m/secret", &[])), git()];
    let world = World::with(chain);
    let dry = support::By { dry_run: true, ..FLUX };
    let judged = resume(&world, dry, &mine(kustomization("n/x", &["m/a"])));
    assert_eq!(judged.verdict.warnings, ["held: an object in another namespace may not have been applied yet"]);
}

#[test]
fn the_kustomization_of_another_namespace_is_hidden() {
    let old = "main@sha1:0000000000000000000000000000000000000000";
    let infra = with(sample::kustomization("m", "infra"), &[("/status/lastAppliedRevision", old.into())]);
    let repo = resume::owned(git(), Kind::Kustomization, "m", "infra");
    let world = World::with([sample::kustomization("m", "root"), infra, repo, sample::git_repository("m", "repo")]);
    let object = resume::owned(kustomization("n/x", &[]), Kind::Kustomization, "m", "root");
    let judged = resume(&world, FLUX, &object);
    assert_eq!(
        judged.verdict.warnings,
        ["held: an object in another namespace may not have applied GitRepository/n/repo yet"]
    );
}

#[test]
fn that_a_foreign_generator_is_stalled_is_a_hint_about_it() {
    let stalled = |namespace: &str| {
        let fields = [
            ("/status/conditions/Ready/status", "Unknown".into()),
            ("/status/conditions/Ready/reason", "Progressing".into()),
            ("/status/conditions/Reconciling/status", "True".into()),
        ];
        with(sample::artifact_generator(namespace, "generator"), &fields)
    };
    let text = |namespace: &str| {
        let artifact = sample::external_artifact(namespace, "artifact");
        let world = World::with([stalled(namespace), sample::git_repository(namespace, "repo"), artifact]);
        let source = json!({"kind": "ExternalArtifact", "name": "artifact", "namespace": namespace});
        let object = with(kustomization("n/x", &[]), &[("/spec/sourceRef", source)]);
        refusal(&resume(&world, PERSON, &object)).to_owned()
    };
    assert!(text("n").contains("stalled"), "{}", text("n"));
    assert!(!text("m").contains("stalled"), "{}", text("m"));
}
