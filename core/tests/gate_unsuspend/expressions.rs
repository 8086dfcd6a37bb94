//! `readyExpr`.

use super::*;

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
    assert!(first_line(refusal(&judged)).contains("not a boolean"), "Flux refuses what it cannot tell the type of");
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

#[test]
fn what_is_asked_to_exist_is_the_root_where_something_further_away_consumes_it() {
    let existing = json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "OCIRepository", "name": "image", "namespace": "n"
    });
    let entries = json!([depending_set()["spec"]["dependsOn"][0], existing]);
    let object = with(sample::resource_set("n", "x"), &[("/spec/dependsOn", entries)]);
    let source = json!({"kind": "OCIRepository", "name": "image"});
    let applied = [("/spec/sourceRef", source), ("/status/lastAppliedRevision", sample::OCI_REVISION.into())];
    let k = unsettled(kustomization("k", &["l"]));
    let l = with(kustomization("l", &[]), &applied);
    let text = refused([git(), k, l, unsettled(sample::oci_repository("n", "image"))], &object);
    assert!(first_line(&text).contains("waits for OCIRepository/n/image: generation 3"), "{text}");
}
