//! Ten thousand of everything. The guest has 512 KiB of stack: nothing may recurse on what users write.

use super::*;

const MANY: usize = 10_000;

/// As much as a gate can be allowed.
fn generous(gate: Gate) -> Gate {
    gate.with(json!({"maxReads": 20_000, "evaluationSeconds": 30}))
}

fn names() -> Vec<String> {
    (0..MANY).map(|number| format!("k{number:05}")).collect()
}

fn many_needs() -> Value {
    let entries: Vec<Value> = names().into_iter().map(|name| json!({"name": name})).collect();
    having(kustomization("n", "a", &[]), "dependsOn", json!(entries))
}

#[test]
fn a_person_adds_ten_thousand_dependencies() {
    let answer = Gate::over([]).update(PERSON, &kustomization("n", "a", &[]), &many_needs());
    answer.refuses(&[
        "Kustomization/n/a adds 10000 needs at once; no more than 500 can be checked for cycles (maxReads)",
    ]);
    answer.reads_only(&[]);
}

#[test]
fn an_applier_adds_ten_thousand_dependencies() {
    let stored = names().into_iter().map(|name| kustomization("n", &name, &[]));
    let gate = Gate::over(stored);
    let answer = gate.update(FLUX, &kustomization("n", "a", &[]), &many_needs());
    assert_eq!(answer.reads().len(), 500);
    answer.warns(&[
        "dependency cycles of Kustomization/n/a not judged: the budget of reads (maxReads) was spent before \
                    Kustomization/n/k00…",
    ]);
    let all = generous(gate).update(FLUX, &kustomization("n", "a", &[]), &many_needs());
    all.is_silent();
    assert_eq!(all.reads().len(), MANY);
}

#[test]
fn ten_thousand_dependencies_of_which_none_exists() {
    let answer = generous(Gate::over([])).create(FLUX, &many_needs());
    let warnings = answer.warnings();
    assert_eq!(warnings.len(), 11, "ten of them, and how many more: {warnings:?}");
    assert_eq!(warnings[10], "and 9990 more");
    // None of them is looked for under another kind but the first few.
    assert_eq!(answer.reads().len(), MANY + 5);
}

fn chain(last: &[&str]) -> Vec<Value> {
    let names = names();
    let mut chain: Vec<Value> =
        names.windows(2).map(|pair| depending(sample::kustomization("n", &pair[0]), &[&pair[1]])).collect();
    chain.push(depending(sample::kustomization("n", &names[MANY - 1]), last));
    chain
}

#[test]
fn a_chain_of_ten_thousand() {
    let git = sample::git_repository("n", "repo");
    let old = sample::kustomization("n", "a");
    let new = depending(old.clone(), &["k00000"]);
    let open = Gate::over(chain(&[]).into_iter().chain([git.clone()]));
    let answer = generous(open.clone()).update(PERSON, &old, &new);
    answer.is_silent();
    assert_eq!(answer.reads().len(), MANY + 1);
    let spent = open.update(PERSON, &old, &new);
    spent.warns(&[
        "dependency cycles of Kustomization/n/a not judged: the budget of reads (maxReads) was spent before \
                   Kustomization/n/k00…",
    ]);
    assert_eq!(spent.reads().len(), 500);

    // Closed by its last member: the middle of the loop is left out.
    let closed = generous(Gate::over(chain(&["a"]).into_iter().chain([git]))).update(PERSON, &old, &new);
    let lines: Vec<&str> = closed.refusal().lines().collect();
    assert_eq!(lines[0], "dependency cycle: Kustomization/n/a needs itself");
    assert_eq!(lines[2], "    needs Kustomization/n/k00000   (spec.dependsOn[0], added by this change)");
    assert_eq!(lines[22], "    … 9961 more …");
    assert_eq!(lines[42], "    needs Kustomization/n/a        (spec.dependsOn[0])");
    assert_eq!(lines.len(), 43);
    assert!(closed.audit("path").unwrap().chars().count() <= 1_001);
}

#[test]
fn a_chain_of_ten_thousand_that_is_not_settled() {
    let chain = chain(&[]).into_iter().map(unsettled);
    let gate = generous(Gate::over(chain.chain([sample::git_repository("n", "repo")])));
    let x = depending(sample::kustomization("n", "x"), &["k00000"]);
    for by in [PERSON, FLUX] {
        let answer = gate.resume(by, &x);
        let why = "Kustomization/n/k09999: generation 3 not yet observed (2)";
        if by.user == PERSON.user {
            let lines: Vec<&str> = answer.refusal().lines().collect();
            assert_eq!(lines[0], format!("premature unsuspend: Kustomization/n/x waits for {why}"));
            assert!(lines.len() <= 42, "{}", lines.len());
        } else {
            answer.holds(by, "premature", why);
        }
        assert_eq!(answer.reads().iter().filter(|read| **read != *LEASE).count(), MANY + 1);
    }
}

/// Sources are followed to their roots.
#[test]
fn a_chain_of_ten_thousand_sources() {
    let names = names();
    let included = |pair: &[String]| {
        let include = json!([{"repository": {"name": pair[1]}}]);
        having(sample::git_repository("n", &pair[0]), "include", include)
    };
    let stored = names.windows(2).map(included).chain([sample::git_repository("n", &names[MANY - 1])]);
    let gate = generous(Gate::over(stored));
    let x = with(sample::kustomization("n", "x"), &[("/spec/sourceRef/name", json!("k00000"))]);
    let answer = gate.resume(PERSON, &x);
    assert!(answer.said().starts_with("refused: premature unsuspend: "), "{}", answer.said());
    assert_eq!(answer.reads().len(), MANY);
    // The same chain is what a new need leads to.
    let walked = gate.create(PERSON, &with(x, &[("/metadata/name", json!("y"))]));
    walked.is_silent();
    assert_eq!(walked.reads().len(), MANY);
}

#[test]
fn an_inventory_of_ten_thousand() {
    let owner = |entries: Vec<String>| {
        let entries: Vec<Value> = entries.into_iter().map(|id| json!({"id": id, "v": "v1"})).collect();
        let owner = having(kustomization("n", "owner", &[]), "wait", json!(true));
        with(owner, &[("/status/inventory/entries", json!(entries))])
    };
    let new = kustomization("n", "a", &["owner"]);
    // Of kinds that need nothing from us: read in one go.
    let foreign = owner(names().into_iter().map(|name| format!("n_{name}_apps_Deployment")).collect());
    Gate::over([foreign]).create(PERSON, &new).is_silent().reads_only(&["Kustomization/n/owner"]);

    let releases: Vec<Value> = names()
        .iter()
        .map(|name| object(Kind::HelmRelease, "n", name, json!({"waitStrategy": {"name": "legacy"}})))
        .collect();
    let full = owner(releases.iter().map(inventory_id).collect());
    let gate = Gate::over(releases.into_iter().chain([full]));
    let spent = gate.create(PERSON, &new);
    assert!(spent.said().contains("the budget of reads (maxReads) was spent"), "{}", spent.said());
    let all = generous(gate).create(PERSON, &new);
    all.is_silent();
    assert_eq!(all.reads().len(), MANY + 1);
}

/// Nesting is the recursion that a decoder does: in a field that nobody reads it is skipped, elsewhere it is an error.
#[rstest]
#[case::nobody_reads_it(r#"{"spec":{"values":DEEP,"dependsOn":[{"name":"a"}]}}"#, "refused: self-dependency: ")]
#[case::in_a_list(r#"{"spec":{"dependsOn":DEEP}}"#, "admitted: Kustomization/n/a is not judged: ")]
#[case::in_a_text(r#"{"metadata":{"name":DEEP}}"#, "admitted: Kustomization/n/a is not judged: ")]
#[case::in_the_status(r#"{"status":DEEP,"spec":{"dependsOn":[{"name":"a"}]}}"#, "refused: self-dependency: ")]
#[case::at_the_top("DEEP", "admitted: Kustomization/n/a is not judged: ")]
fn deep_nesting_in_a_request(#[case] json: &str, #[case] said: &str) {
    // Past the host, whose own decoder ends at 128 levels.
    let object = json.replace("DEEP", &deep(100_000));
    let mut request = create(PERSON, &kustomization("n", "a", &[]));
    request["object"] = json!("OBJECT");
    let payload = json!({"request": request}).to_string().replace("\"OBJECT\"", &object);
    let mut instance = Gate::over([]).host(sluicegate_host::NoCluster).instance().unwrap();
    let answer: Value = serde_json::from_slice(&instance.call("validate", payload.as_bytes()).unwrap()).unwrap();
    let text = match answer["accepted"].as_bool().unwrap() {
        true => format!("admitted: {}", answer["warnings"][0].as_str().unwrap()),
        false => format!("refused: {}", answer["message"].as_str().unwrap()),
    };
    assert!(text.starts_with(said), "{text}");
}

/// A hold copies what nobody reads, however deep.
#[test]
fn a_deep_object_is_held() {
    let old = suspended(sample::kustomization("n", "x"));
    let mut new = resumed(old.clone());
    new["spec"]["values"] = json!("DEEP");
    let deep = deep(100_000);
    let payload = json!({"request": update(FLUX, &old, &new)}).to_string().replace("\"DEEP\"", &deep);
    let gate = Gate::over([unsettled(sample::git_repository("n", "repo"))]);
    let mut instance = gate.host(gate.cluster.clone()).instance().unwrap();
    let answer = String::from_utf8(instance.call("validate", payload.as_bytes()).unwrap()).unwrap();
    assert!(answer.contains(&deep) && answer.contains(r#""suspend":true"#), "{}", &answer[..200]);
}

/// What is read may be deep too.
#[rstest]
#[case::nobody_reads_it("/spec/values", true)]
#[case::in_a_field("/spec/dependsOn", false)]
fn deep_nesting_in_what_is_read(#[case] pointer: &str, #[case] readable: bool) {
    let stored = with(kustomization("n", "b", &["a"]), &[(pointer, json!("DEEP"))]);
    let bytes = stored.to_string().replace("\"DEEP\"", &deep(100_000));
    let gate = Gate::over([]).and(|cluster| cluster.garbage("Kustomization/n/b", bytes));
    let said = gate.create(PERSON, &kustomization("n", "a", &["b"])).said();
    if readable {
        assert_eq!(said, "refused: dependency cycle: Kustomization/n/a needs itself");
    } else {
        assert!(said.starts_with("admitted: dependency cycles of Kustomization/n/a not judged: "), "{said}");
    }
}

/// Names of 10 KB with everything in them that does not belong into a message.
#[rstest]
fn nasty_names(#[values(PERSON, FLUX)] by: By, #[values("warn", "refuse")] dependencies: &str) {
    let nasty = nasty();
    let refs = json!({"kind": "GitRepository", "name": nasty, "namespace": nasty});
    let objects = [
        kustomization(&nasty, &nasty, &[&nasty, &nasty, "b"]),
        kustomization("n", &nasty, &[&nasty]),
        having(kustomization("n", "a", &["b"]), "sourceRef", refs.clone()),
        having(kustomization("n", "a", &["b"]), "sourceRef", json!({"kind": nasty, "name": nasty})),
        having(kustomization("n", "a", &["b"]), "healthChecks", json!([refs])),
        having(kustomization("n", "a", &["b"]), &nasty, json!(3)),
        owned(kustomization("n", "a", &["b"]), &kustomization(&nasty, &nasty, &[])),
        having(
            sample::resource_set("n", "a"),
            "dependsOn",
            json!([{"apiVersion": nasty, "kind": nasty, "name": nasty}]),
        ),
        object(Kind::PackageSource, "", &nasty, json!({"variants": [{"name": nasty, "dependsOn": [nasty]}]})),
    ];
    for new in objects {
        let mut looped = kustomization("n", "b", &[]);
        looped["spec"]["dependsOn"] =
            json!([{"name": new["metadata"]["name"], "namespace": new["metadata"]["namespace"]}]);
        let gate = Gate::over([]).and(|cluster| cluster.garbage("Kustomization/n/b", looped.to_string()));
        let gate = gate.with(json!({"dependencies": dependencies}));
        let mut old = with(new.clone(), &[("/spec", json!({"suspend": true}))]);
        old["metadata"]["annotations"]["sluicegate.dev/held"] = json!(nasty);
        let mut asking = new.clone();
        for key in ["held", "resume", "release", "bypass", "expected-revision"] {
            asking["metadata"]["annotations"][format!("sluicegate.dev/{key}")] = json!(nasty);
        }
        for answer in [gate.create(by, &new), gate.create(by, &asking), gate.update(by, &old, &asking)] {
            assert!(answer.texts().len() < 20_000, "{}", answer.texts().len());
            // No name that no object can have is ever asked for: it could lead the host's request elsewhere.
            assert!(answer.reads().iter().all(|read| read.len() < 100), "{:?}", answer.reads());
        }
    }
}
