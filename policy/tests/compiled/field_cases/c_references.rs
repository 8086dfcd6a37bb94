//! Chapter C: wrong, missing and special references.

use super::*;

fn books() -> Value {
    having(
        kustomization("apps", "books", &[]),
        "dependsOn",
        json!([{"name": "storage-cluster", "namespace": "storage"}]),
    )
}

const NO_STORAGE: &str = "Kustomization/apps/books names Kustomization/storage/storage-cluster in spec.dependsOn[0], \
                          which does not exist";

/// <https://github.com/gavinmcfall/home-ops/pull/2154>, <https://github.com/gavinmcfall/home-ops/pull/2176>
#[rstest]
fn case_23_kustomization_depends_on_a_helm_releases_name(#[values(PERSON, FLUX)] by: By) {
    // The release stands in another namespace: a warning does not tell that it is there.
    let gate = Gate::over([object(Kind::HelmRelease, "storage", "storage-cluster", json!({}))]);
    let answer = gate.create(by, &books());
    answer.warns(&[NO_STORAGE]);
    answer.reads_only(&["Kustomization/storage/storage-cluster"]);
    assert!(answer.questions().is_empty());
}

#[test]
fn case_23_the_hint_is_for_a_person_who_may_get_the_release() {
    let release = object(Kind::HelmRelease, "storage", "storage-cluster", json!({}));
    let gate = Gate::over([release]).with(json!({"dependencies": "refuse"}));
    let asked = ["get helmreleases.helm.toolkit.fluxcd.io storage/storage-cluster"];

    let denied = gate.create(PERSON, &books());
    denied.refuses(&[NO_STORAGE]).reads_only(&["Kustomization/storage/storage-cluster"]);
    assert_eq!(denied.questions()[0], asked[0]);

    let gate = gate.and(|cluster| cluster.grant(PERSON.user, "get", "helmreleases.helm.toolkit.fluxcd.io"));
    let told = gate.create(PERSON, &books());
    told.refuses(&["no Kustomization of the name that Kustomization/apps/books gives in spec.dependsOn[0]; there is \
         HelmRelease/storage/storage-cluster, which spec.dependsOn[0] cannot name"]);
    told.reads_only(&["Kustomization/storage/storage-cluster", "HelmRelease/storage/storage-cluster"]);
    // Robots read no refusals, and get none.
    assert!(gate.create(FLUX, &books()).is_admitted());

    // No such release: no hint.
    let gate = gate.and(|cluster| cluster.without("HelmRelease"));
    gate.create(PERSON, &books()).refuses(&[NO_STORAGE]);
}

#[test]
fn case_23_the_hint_is_always_given_in_the_own_namespace() {
    let gate = Gate::over([object(Kind::HelmRelease, "n", "db", json!({}))]);
    let answer = gate.create(FLUX, &kustomization("n", "a", &["db"]));
    answer.warns(&["spec.dependsOn[0]: no Kustomization/n/db; there is HelmRelease/n/db"]);
    answer.reads_only(&["Kustomization/n/db", "HelmRelease/n/db"]);
    assert_eq!(answer.audit("rule"), Some("wrong-kind-dependency"));
    let strict = gate.with(json!({"dependencies": "refuse"}));
    strict.create(PERSON, &kustomization("n", "a", &["db"])).refuses(&[
        "no Kustomization of the name that Kustomization/n/a gives in spec.dependsOn[0]; there is HelmRelease/n/db, \
         which spec.dependsOn[0] cannot name",
    ]);
}

/// <https://github.com/gardener/gardener-landscape-kit/issues/186>: near names are for those who see the whole graph.
#[test]
fn case_25_dependency_renamed_dependants_forgotten() {
    let gate = Gate::over([kustomization("ns", "core", &[])]);
    let answer = gate.create(PERSON, &kustomization("ns", "a", &["core-old"]));
    answer.warns(&["Kustomization/ns/a names Kustomization/ns/core-old in spec.dependsOn[0], which does not exist"]);
    answer.reads_only(&["Kustomization/ns/core-old", "HelmRelease/ns/core-old"]);
    // Deletions are not sent to the policy. If one is, it has no say in it.
    let mut deletion = create(PERSON, &kustomization("ns", "core-old", &[]));
    deletion["operation"] = json!("DELETE");
    deletion["oldObject"] = deletion["object"].take();
    gate.judge(&deletion).is_untouched();
}

/// <https://github.com/fluxcd/kustomize-controller/issues/549>, <https://github.com/fluxcd/flux2/issues/2337>
#[test]
fn case_27_cross_namespace_source_refused() {
    let message = "can't access 'GitRepository/flux-system/repo', cross-namespace references have been blocked";
    let app =
        |name: &str| with(sample::kustomization("team", name), &[("/spec/sourceRef/namespace", json!("flux-system"))]);
    let denied = failed(app("app"), "AccessDenied", message);
    let stalled = [("status", json!("True")), ("reason", json!("AccessDenied")), ("message", json!(message))];
    let stalled = stalled.map(|(field, value)| (format!("/status/conditions/Stalled/{field}"), value));
    let denied = stalled.iter().fold(denied, |object, (pointer, value)| with(object, &[(pointer, value.clone())]));
    let gate = Gate::over([sample::git_repository("flux-system", "repo"), denied]);
    let answer = gate.resume(PERSON, &crate::resume::depending(app("x"), &["app"]));
    answer.refuses(&[
        &format!("premature unsuspend: Kustomization/team/x waits for Kustomization/team/app: stalled: {message}"),
        "  Kustomization/team/x",
        "    needs Kustomization/team/app (spec.dependsOn[0])",
    ]);
    // The source is a need all the same.
    answer.reads_only(&["GitRepository/flux-system/repo", "Kustomization/team/app"]);
}

/// <https://github.com/fluxcd/helm-controller/issues/70>, <https://github.com/fluxcd/helm-controller/issues/951>
#[rstest]
#[case::left_out(json!({"name": "y"}))]
#[case::empty(json!({"name": "y", "namespace": ""}))]
fn case_29_namespace_left_out(#[case] entry: Value) {
    let x = having(object(Kind::HelmRelease, "a", "x", json!({})), "dependsOn", json!([entry]));
    let gate = Gate::over([object(Kind::HelmRelease, "flux-system", "y", json!({}))]);
    let answer = gate.create(PERSON, &x);
    answer.warns(&["HelmRelease/a/x names HelmRelease/a/y in spec.dependsOn[0], which does not exist"]);
    answer.reads_only(&["HelmRelease/a/y", "Kustomization/a/y"]);
}

const LABELS_EQUAL: &str = "dep.metadata.labels['v'] == self.metadata.labels['v']";

fn lockstep(expression: &str) -> Value {
    let b = crate::resume::labelled(sample::kustomization("ns", "b"), "v", "2");
    having(b, "dependsOn", json!([{"name": "a", "readyExpr": expression}]))
}

fn unbuilt(label: &str) -> Value {
    failed(
        crate::resume::labelled(sample::kustomization("ns", "a"), "v", label),
        "BuildFailed",
        "kustomize build failed",
    )
}

/// <https://github.com/fluxcd/kustomize-controller/issues/1490>,
/// <https://github.com/fluxcd/kustomize-controller/pull/1491>
#[test]
fn case_31_ready_expr_replaces_the_built_in_test() {
    let gate = |label: &str| Gate::over([sample::git_repository("ns", "repo"), unbuilt(label)]);
    let reads = ["GitRepository/ns/repo", "Kustomization/ns/a"];
    gate("2").resume(PERSON, &lockstep(LABELS_EQUAL)).is_silent().reads_only(&reads);
    let differs = gate("1").resume(PERSON, &lockstep(LABELS_EQUAL));
    differs.refuses(&[
        "premature unsuspend: Kustomization/ns/b waits for Kustomization/ns/a: does not meet \
         spec.dependsOn[0].readyExpr",
        "  Kustomization/ns/b",
        "    needs Kustomization/ns/a (spec.dependsOn[0])",
    ]);
    differs.reads_only(&reads);

    let additive = gate("2").with(json!({"additiveReadyExpr": true}));
    additive.resume(PERSON, &lockstep(LABELS_EQUAL)).refuses(&[
        "premature unsuspend: Kustomization/ns/b waits for Kustomization/ns/a: not ready: kustomize build failed",
        "  Kustomization/ns/b",
        "    needs Kustomization/ns/a (spec.dependsOn[0])",
    ]);
    let held = gate("1").resume(FLUX, &lockstep(LABELS_EQUAL));
    held.holds(FLUX, "premature", "Kustomization/ns/a: does not meet spec.dependsOn[0].readyExpr");

    // It is a need all the same.
    let old = kustomization("ns", "a", &[]);
    let cyclic = Gate::over([lockstep(LABELS_EQUAL)]).update(PERSON, &old, &kustomization("ns", "a", &["b"]));
    cyclic.refuses(&[
        "dependency cycle: Kustomization/ns/a needs itself",
        "  Kustomization/ns/a",
        "    needs Kustomization/ns/b   (spec.dependsOn[0], added by this change)",
        "    needs Kustomization/ns/a   (spec.dependsOn[0])",
    ]);
}

/// Each way in which an expression has no answer has a sentence of its own.
#[rstest]
#[case::does_not_compile("dep.(".into(), "it does not compile: ")]
#[case::is_not_boolean("dep.metadata.generation + 1".into(), "its result is not a boolean but ")]
#[case::fails("dep.status.nothing == 1".into(), "it fails: no such key: nothing")]
#[case::is_too_long(format!("true || '{}' == ''", "x".repeat(1_024)), "it is too long, 1040 bytes of at most 1024, and ")]
#[case::is_too_deep(format!("{}true{}", "!(".repeat(40), ")".repeat(40)), "it, or the object it reads, is nested too deep")]
#[case::is_too_costly("['x']".to_owned() + &".map(x,x+x)".repeat(30) + " == []", "it is too costly, and was not evaluated")]
fn case_31_an_expression_without_an_answer(#[case] expression: String, #[case] why: &str) {
    let settled = sample::kustomization("ns", "a");
    let gate = Gate::over([sample::git_repository("ns", "repo"), settled]);
    let start = "premature unsuspend: Kustomization/ns/b waits for Kustomization/ns/a: cannot be judged by \
                 spec.dependsOn[0].readyExpr: ";
    let said = gate.resume(PERSON, &lockstep(&expression)).said();
    assert!(said.starts_with(&format!("refused: {start}{why}")), "{said}");
}

/// <https://github.com/kubernetes/kubernetes/issues/76680>, <https://github.com/kubernetes/kubernetes/issues/46107>
#[rstest]
#[case::without_a_name(None, "job-<generated>")]
#[case::with_the_name_filled_in(Some("job-x7k2p"), "job-x7k2p")]
fn case_33_generate_name(#[case] name: Option<&str>, #[case] shown: &str) {
    let mut job = kustomization("ns", "job", &["x"]);
    job["metadata"]["generateName"] = json!("job-");
    job["metadata"]["name"] = json!(name);
    let warning =
        format!("Kustomization/ns/{shown} names Kustomization/ns/x in spec.dependsOn[0], which does not exist");
    Gate::over([]).create(PERSON, &job).warns(&[&warning]);
    // A name that nobody knows yet cannot be on a loop.
    let gate = Gate::over([kustomization("ns", "x", &["job-"])]);
    gate.create(PERSON, &job).is_silent();
}

/// <https://github.com/teutonet/teutonet-helm-charts/issues/2383>,
/// <https://github.com/teutonet/teutonet-helm-charts/pull/2394>
#[rstest]
fn case_35_gate_on_an_arbitrary_kind(#[values(PERSON, FLUX)] by: By) {
    let entry = json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "name": "w", "namespace": "c", "ready": true,
        "readyExpr": "status.conditions.exists(c, c.type == 'ControlPlaneAvailable' && c.status == 'True')",
    });
    let old = object(Kind::ResourceSet, "c", "net", json!({}));
    let new = having(old.clone(), "dependsOn", json!([entry]));
    let gate = Gate::over([]);
    let warning = "ResourceSet/c/net waits in spec.dependsOn[0] for Cluster w, a kind that is not judged";
    gate.create(by, &new).warns(&[warning]).reads_only(&[]);
    gate.update(by, &old, &new).warns(&[warning]).reads_only(&[]);
    // It blocks no resume, and is said only where it is new.
    gate.update(by, &suspended(new.clone()), &new).is_silent().reads_only(&[]);
}

/// Should Flux take other kinds in `dependsOn`, they are read.
#[test]
fn case_35_a_dependency_of_another_kind() {
    let release = object(Kind::HelmRelease, "c", "w", json!({"waitStrategy": {"name": "legacy"}}));
    let new = having(kustomization("c", "net", &[]), "dependsOn", json!([to(&release)]));
    Gate::over([release]).create(PERSON, &new).is_silent().reads_only(&["HelmRelease/c/w"]);
}
