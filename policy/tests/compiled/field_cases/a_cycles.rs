//! Chapter A: cycles.

use super::*;

/// <https://github.com/fluxcd/kustomize-controller/issues/1712>
#[test]
fn case_01_two_kustomizations_patched_one_at_a_time() {
    let unit = |name: &str, needs: &[&str]| crate::resume::depending(sample::kustomization("flux-system", name), needs);
    let one = unit("one", &[]);
    let stored = [sample::git_repository("flux-system", "repo"), unit("bystander", &[])];
    let gate = Gate::over(stored.into_iter().chain([one.clone(), unit("two", &[])]));
    let first = gate.update(PERSON, &unit("two", &[]), &unit("two", &["one"]));
    first.is_silent().reads_only(&["Kustomization/flux-system/one", "GitRepository/flux-system/repo"]);

    let gate = gate.and(|cluster| cluster.with(unit("two", &["one"])));
    let second = gate.update(PERSON, &one, &unit("one", &["two"]));
    second.refuses(&[
        "dependency cycle: Kustomization/flux-system/one needs itself",
        "  Kustomization/flux-system/one",
        "    needs Kustomization/flux-system/two   (spec.dependsOn[0], added by this change)",
        "    needs Kustomization/flux-system/one   (spec.dependsOn[0])",
    ]);
    second.reads_only(&["Kustomization/flux-system/two"]);
    assert_eq!(second.audit("rule"), Some("cycle"));
    let path = "Kustomization/flux-system/one -> Kustomization/flux-system/two -> Kustomization/flux-system/one";
    assert_eq!(second.audit("path"), Some(path));

    // The background audit of a cluster that has both needs already.
    let audited = gate.create(AUDIT, &unit("one", &["two"]));
    audited.refuses(&[
        "dependency cycle: Kustomization/flux-system/one needs itself",
        "  Kustomization/flux-system/one",
        "    needs Kustomization/flux-system/two   (spec.dependsOn[0])",
        "    needs Kustomization/flux-system/one   (spec.dependsOn[0])",
    ]);
}

/// <https://gitlab.com/sylva-projects/sylva-core/-/merge_requests/9460>
#[test]
fn case_03_lead_in_nodes_are_not_members() {
    let rbac = kustomization("n", "rbac", &["scc"]);
    let init = kustomization("n", "init", &[]);
    let open = Gate::over([rbac.clone(), kustomization("n", "scc", &["init"]), init.clone()]);
    let closing = kustomization("n", "init", &["scc"]);
    open.update(PERSON, &init, &closing).refuses(&[
        "dependency cycle: Kustomization/n/init needs itself",
        "  Kustomization/n/init",
        "    needs Kustomization/n/scc    (spec.dependsOn[0], added by this change)",
        "    needs Kustomization/n/init   (spec.dependsOn[0])",
    ]);

    // With the loop in place: it is not rbac's doing.
    let looped = open.and(|cluster| cluster.with(closing));
    looped.update(PERSON, &rbac, &crate::resume::labelled(rbac.clone(), "team", "a")).is_untouched();
    let created = looped.create(PERSON, &rbac);
    created.is_silent().reads_only(&["Kustomization/n/scc", "Kustomization/n/init"]);
}

/// <https://gitlab.com/sylva-projects/sylva-elements/sylvactl/-/issues/30>
#[rstest]
#[case::by_name(json!({"name": "a"}))]
#[case::by_name_and_namespace(json!({"name": "a", "namespace": "ns"}))]
fn case_05_object_depends_on_itself(#[case] entry: Value, #[values(PERSON, FLUX, DRY)] by: By) {
    let old = kustomization("ns", "a", &[]);
    let new = having(old.clone(), "dependsOn", json!([entry]));
    let gate = Gate::over([old.clone()]);
    for answer in [gate.create(by, &new), gate.update(by, &old, &new)] {
        answer.refuses(&[
            "self-dependency: Kustomization/ns/a names itself in spec.dependsOn[0]",
            "  Kustomization/ns/a",
            "    needs Kustomization/ns/a   (spec.dependsOn[0])",
        ]);
        answer.reads_only(&[]);
        assert!(!answer.texts().contains("->"), "{}", answer.texts());
    }
}

/// The same name in another namespace is another object.
#[rstest]
fn case_05_object_depends_on_its_name_elsewhere(#[values(PERSON, FLUX)] by: By) {
    let new = having(kustomization("ns", "a", &[]), "dependsOn", json!([{"name": "a", "namespace": "other"}]));
    let answer = Gate::over([]).create(by, &new);
    answer.warns(&["Kustomization/ns/a names Kustomization/other/a in spec.dependsOn[0], which does not exist"]);
    answer.reads_only(&["Kustomization/other/a"]);
}

/// <https://github.com/kubernetes-sigs/cli-utils/pull/512>
#[test]
fn case_07_same_dependency_twice() {
    let twice = |more: Value| {
        let mut second = json!({"name": "b", "namespace": "ns"});
        second.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        having(kustomization("ns", "a", &[]), "dependsOn", json!([{"name": "b"}, second]))
    };
    let gate = Gate::over([kustomization("ns", "b", &[])]);
    let answer = gate.create(PERSON, &twice(json!({})));
    answer.warns(&["Kustomization/ns/a names Kustomization/ns/b twice: spec.dependsOn[0] and spec.dependsOn[1]"]);
    answer.reads_only(&["Kustomization/ns/b"]);
    // Two different expressions: the controller evaluates both.
    gate.create(PERSON, &twice(json!({"readyExpr": "true"}))).is_silent();

    // One loop, not two.
    let gate = Gate::over([kustomization("ns", "b", &["a"])]);
    let refused = gate.create(PERSON, &twice(json!({})));
    refused.refuses(&[
        "dependency cycle: Kustomization/ns/a needs itself",
        "  Kustomization/ns/a",
        "    needs Kustomization/ns/b   (spec.dependsOn[0], added by this change)",
        "    needs Kustomization/ns/a   (spec.dependsOn[0])",
    ]);
    refused.reads_only(&["Kustomization/ns/b"]);
}

fn member(name: &str, needs: &[&str]) -> Value {
    owned(kustomization("ns", name, needs), &kustomization("flux-system", "apps", &[]))
}

fn warned(name: &str) -> String {
    format!("admitted: dependency cycle: Kustomization/ns/{name} needs itself")
}

/// <https://github.com/fluxcd/kustomize-controller/issues/756>,
/// <https://github.com/fluxcd/kustomize-controller/issues/1168>
#[test]
fn case_09_edge_reversed_in_one_commit() {
    let quiet = "admitted".to_owned();
    let mut gate = Gate::over([member("a", &["b"]), member("b", &[])]);
    let commit = [member("a", &[]), member("b", &["a"])];
    // The dry-run of `b` sees `a` as it was; in the real apply `a` has gone first. One reconcile is enough.
    assert_eq!(apply(&mut gate, &commit), [quiet.clone(), warned("b"), quiet.clone(), quiet.clone()]);
    assert_eq!(apply(&mut gate, &commit), vec![quiet; 4]);

    // By a person, and where the two have no owner in common, the need cannot be known to go away.
    let old = member("b", &[]);
    let gate = Gate::over([member("a", &["b"]), old.clone()]);
    let lines = [
        "dependency cycle: Kustomization/ns/b needs itself",
        "  Kustomization/ns/b",
        "    needs Kustomization/ns/a   (spec.dependsOn[0], added by this change)",
        "    needs Kustomization/ns/b   (spec.dependsOn[0])",
    ];
    gate.update(By { dry_run: true, ..PERSON }, &old, &commit[1]).refuses(&lines);
    let stranger = kustomization("ns", "a", &["b"]);
    Gate::over([stranger, old.clone()]).update(DRY, &old, &commit[1]).refuses(&lines);
}

/// The mirror: the need is taken away from what is applied later.
#[test]
fn case_09_edge_reversed_in_one_commit_mirrored() {
    let quiet = "admitted".to_owned();
    let mut gate = Gate::over([member("a", &[]), member("b", &["a"])]);
    let commit = [member("a", &["b"]), member("b", &[])];
    assert_eq!(apply(&mut gate, &commit), [warned("a"), quiet.clone(), warned("a"), quiet]);
}

/// <https://github.com/fluxcd/kustomize-controller/issues/669>: values and Secrets are no needs.
#[test]
fn case_11_order_that_only_breaks_on_rebuild() {
    let bare = object(Kind::HelmRelease, "sec", "vault", json!({}));
    let vault = having(bare.clone(), "valuesFrom", json!([{"kind": "Secret", "name": "s"}]));
    let platform = having(listing(kustomization("ns", "platform", &[]), &[&vault]), "wait", json!(true));
    let secrets = kustomization("ns", "secrets", &["platform"]);
    let gate = Gate::over([platform.clone(), vault.clone(), secrets.clone()]);
    let answer = gate.update(PERSON, &kustomization("ns", "secrets", &[]), &secrets);
    answer.is_silent().reads_only(&["Kustomization/ns/platform", "HelmRelease/sec/vault"]);
    gate.update(PERSON, &bare, &vault).is_untouched();
    gate.create(AUDIT, &platform).is_silent().reads_only(&["HelmRelease/sec/vault"]);
}
