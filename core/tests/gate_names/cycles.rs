//! Cycles.

use super::*;

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
