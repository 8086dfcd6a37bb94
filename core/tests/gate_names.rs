//! What a text may say: a tenant's dry-run must not map another tenant's graph.

#[path = "support/resume.rs"]
mod resume;
mod support;

use resume::{EXPECTED, annotated, put, refusal, resumed, suspended, unsettled};
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::gate::{Disclose, Fetched, Question, Role};
use sluicegate_core::object::{Kind, Reference};
use sluicegate_core::testing::{sample, with};
use support::{COMPANION, FLUX, Judged, PERSON, World};

/// A Kustomization that depends on these (`namespace/name`); its source stands in `n`.
fn kustomization(at: &str, depends_on: &[&str]) -> Value {
    let (namespace, name) = at.split_once('/').unwrap();
    let entry = |at: &&str| {
        let (namespace, name) = at.split_once('/').unwrap();
        json!({"namespace": namespace, "name": name})
    };
    let entries: Vec<Value> = depends_on.iter().map(entry).collect();
    let fields = [("/spec/dependsOn", json!(entries)), ("/spec/sourceRef/namespace", "n".into())];
    with(sample::kustomization(namespace, name), &fields)
}

fn git() -> Value {
    sample::git_repository("n", "repo")
}

fn may_get(at: &str) -> Question {
    let (namespace, name) = at.split_once('/').unwrap();
    Question {
        verb: "get",
        group: "kustomize.toolkit.fluxcd.io",
        resource: "kustomizations",
        namespace: namespace.into(),
        name: Some(name.into()),
    }
}

fn resume(world: &World, by: support::By, object: &Value) -> Judged {
    world.update(by, &suspended(object.clone()), &resumed(object.clone()))
}

// Cycles.

/// n/x needs m/a (new), which leads through `between` back to n/x.
fn ring(between: &[&str]) -> (World, Value, Value) {
    let all: Vec<&str> = ["m/a"].into_iter().chain(between.iter().copied()).chain(["n/x"]).collect();
    let stored = all.windows(2).map(|pair| kustomization(pair[0], &[pair[1]]));
    (World::with(stored.chain([git()])), kustomization("n/x", &[]), kustomization("n/x", &["m/a"]))
}

#[test]
fn foreign_members_of_a_loop_are_one_hidden_stretch_of_unknown_length() {
    let hidden = "dependency cycle: Kustomization/n/x needs itself\n  Kustomization/n/x\n    \
                  needs Kustomization/m/a                (spec.dependsOn[0], added by this change)\n    \
                  needs an object in another namespace\n    \
                  which leads to Kustomization/n/x";
    for between in [&["m/secret"][..], &["m/secret", "k/other"], &["m/x", "m/y", "k/z", "m/w"]] {
        let (world, old, new) = ring(between);
        let judged = world.update(PERSON, &old, &new);
        assert_eq!(refusal(&judged), hidden);
        let asked: Vec<String> = judged
            .questions
            .iter()
            .map(|question| format!("{}/{}", question.namespace, question.name.as_deref().unwrap()))
            .collect();
        assert_eq!(asked[0], "m/a", "also what is named directly: its fields may be told then");
        assert_eq!(&asked[1..], between);
    }
}

#[test]
fn what_may_be_got_is_named() {
    let (mut world, old, new) = ring(&["m/one", "m/two"]);
    world.allowed = vec![may_get("m/one")];
    assert_eq!(
        refusal(&world.update(PERSON, &old, &new)),
        "dependency cycle: Kustomization/n/x needs itself\n  Kustomization/n/x\n    \
         needs Kustomization/m/a                (spec.dependsOn[0], added by this change)\n    \
         needs Kustomization/m/one              (spec.dependsOn[0])\n    \
         needs an object in another namespace\n    \
         which leads to Kustomization/n/x"
    );
    world.allowed = vec![may_get("m/one"), may_get("m/two")];
    assert_eq!(
        refusal(&world.update(PERSON, &old, &new)),
        "dependency cycle: Kustomization/n/x needs itself\n  Kustomization/n/x\n    \
         needs Kustomization/m/a     (spec.dependsOn[0], added by this change)\n    \
         needs Kustomization/m/one   (spec.dependsOn[0])\n    \
         needs Kustomization/m/two   (spec.dependsOn[0])\n    \
         needs Kustomization/n/x     (spec.dependsOn[0])"
    );
}

#[test]
fn home_objects_between_foreign_ones_are_named_without_the_fields_of_strangers() {
    let (world, old, new) = ring(&["m/secret", "n/home", "m/other", "m/more"]);
    assert_eq!(
        refusal(&world.update(PERSON, &old, &new)),
        "dependency cycle: Kustomization/n/x needs itself\n  Kustomization/n/x\n    \
         needs Kustomization/m/a                (spec.dependsOn[0], added by this change)\n    \
         needs an object in another namespace\n    \
         which leads to Kustomization/n/home\n    \
         needs an object in another namespace\n    \
         which leads to Kustomization/n/x"
    );
}

#[test]
fn the_same_name_in_another_namespace_is_foreign() {
    let (world, old, new) = ring(&["m/x"]);
    let judged = world.update(PERSON, &old, &new);
    assert!(!refusal(&judged).contains("m/x"), "{}", refusal(&judged));
    // And one of another kind by the name of one that is named.
    let (world, old, new) = ring(&["k/a"]);
    assert!(!refusal(&world.update(PERSON, &old, &new)).contains("k/a"));
}

#[test]
fn at_most_five_are_asked_about() {
    let between = ["m/b", "m/c", "m/d", "m/e", "m/f", "m/g"];
    let (mut world, old, new) = ring(&between);
    world.allowed = between.iter().map(|at| may_get(at)).chain([may_get("m/a")]).collect();
    let judged = world.update(PERSON, &old, &new);
    assert_eq!(judged.questions.len(), 5);
    assert!(refusal(&judged).contains("m/e") && !refusal(&judged).contains("m/f"), "{}", refusal(&judged));
    // Each once.
    let mut asked = judged.questions.clone();
    asked.dedup();
    assert_eq!(asked.len(), 5);
}

#[test]
fn everybody_is_told_everything_where_the_setting_says_so() {
    let (mut world, old, new) = ring(&["m/secret"]);
    world.settings.disclose = Disclose::Everyone;
    for by in [PERSON, FLUX] {
        let judged = world.update(by, &old, &new);
        assert!(refusal(&judged).contains("needs Kustomization/m/secret"));
        assert_eq!(judged.questions, []);
    }
}

#[test]
fn nobody_is_asked_about_for_an_applier() {
    let (mut world, old, new) = ring(&["m/secret"]);
    world.allowed = vec![may_get("m/secret")];
    let judged = world.update(FLUX, &old, &new);
    assert!(!refusal(&judged).contains("secret"));
    assert_eq!(judged.questions, []);
}

#[test]
fn nothing_is_asked_without_a_refusal() {
    let mut world = World::with([git(), kustomization("m/a", &["m/secret"])]);
    world.failing.insert(Reference::new(Kind::Kustomization, "m", "secret"), Fetched::Failed("secret words".into()));
    world.allowed = vec![may_get("m/secret")];
    let judged = world.update(PERSON, &kustomization("n/x", &[]), &kustomization("n/x", &["m/a"]));
    assert_eq!(judged.questions, []);
    assert_eq!(
        judged.verdict.warnings,
        ["dependency cycles of Kustomization/n/x not judged: an object in another namespace could not be read"]
    );
}

#[test]
fn the_audit_log_is_told_everything() {
    let (world, old, new) = ring(&["m/secret"]);
    let judged = world.update(PERSON, &old, &new);
    let path = judged.verdict.audit.iter().find(|(key, _)| *key == "path").unwrap();
    assert_eq!(path.1, "Kustomization/n/x -> Kustomization/m/a -> Kustomization/m/secret -> Kustomization/n/x");
}

// Unsuspends.

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
    assert!(!warnings.contains("42"), "{warnings}");
    let refused = resume(&world, PERSON, &kustomization("n/x", &["m/secret"]));
    assert!(!refusal(&refused).contains("42"), "{}", refusal(&refused));
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

// Hostile names.

#[test]
fn no_name_breaks_a_text() {
    let evil = "a\nneeds Kustomization/x/y\u{202e}\u{0}\"'\\";
    let long = "l".repeat(10_000);
    for name in [evil, long.as_str()] {
        let own = with(kustomization("n/x", &[]), &[("/metadata/name", name.into())]);
        let entry = json!([{"name": name, "readyExpr": format!("{name} + ")}]);
        let requests = [
            with(own.clone(), &[("/spec/dependsOn", json!([{"name": name}]))]),
            with(kustomization("n/x", &[]), &[("/spec/dependsOn", json!([{"name": name}, {"name": name}]))]),
            with(kustomization("n/x", &[]), &[("/spec/dependsOn", entry)]),
            with(kustomization("n/x", &[]), &[("/spec/sourceRef", json!({"kind": name, "name": name}))]),
            with(own.clone(), &[("/spec/sourceRef/name", name.into())]),
            annotated(own.clone(), resume::HELD, Some(name)),
            annotated(own, EXPECTED, Some(name)),
        ];
        for role in [Role::Both, Role::Hold, Role::Refuse] {
            for by in [PERSON, FLUX, COMPANION] {
                for new in &requests {
                    let mut world = World::with([git()]);
                    world.settings.role = role;
                    let mut bare = new.clone();
                    bare["spec"]["dependsOn"] = json!([]);
                    for old in [bare.clone(), suspended(new.clone()), suspended(bare)] {
                        let judged = world.update(by, &old, new);
                        let texts = judged.verdict.refusal.iter().chain(&judged.verdict.warnings);
                        for text in texts.chain(judged.verdict.audit.iter().map(|(_, text)| text)) {
                            assert!(text.chars().count() < 4_000, "{} characters", text.chars().count());
                            for line in text.lines() {
                                assert!(!line.trim_start().starts_with("needs Kustomization/x/y"), "{text}");
                                assert!(!line.contains(['\0', '\u{202e}', '\r', '\u{1b}']), "{text}");
                            }
                        }
                        for warning in &judged.verdict.warnings {
                            assert!(warning.chars().count() < 120 && !warning.contains('\n'), "{warning}");
                        }
                    }
                }
            }
        }
    }
}
