//! The wrong type in every field of an object of every kind: in the request, and in what is read.

use super::*;

/// An object of this kind with every field that any decision reads.
fn maximal(kind: Kind) -> Value {
    let mut object = match kind {
        Kind::ArtifactGenerator => sample::artifact_generator("n", "a"),
        Kind::Bucket => sample::bucket("n", "a"),
        Kind::ExternalArtifact => sample::external_artifact("n", "a"),
        Kind::GitRepository => sample::git_repository("n", "a"),
        Kind::HelmChart => sample::helm_chart("n", "a"),
        Kind::HelmRelease => sample::helm_release("n", "a"),
        Kind::HelmRepository => sample::helm_repository("n", "a"),
        Kind::Kustomization => sample::kustomization("n", "a"),
        Kind::OCIRepository => sample::oci_repository("n", "a"),
        Kind::Package => sample::package("a"),
        Kind::PackageSource => sample::package_source("a"),
        Kind::ResourceSet => sample::resource_set("n", "a"),
        Kind::Terraform => sample::terraform("n", "a"),
    };
    for owner in [Kind::Kustomization, Kind::HelmRelease, Kind::ResourceSet] {
        object = owned(object, &crate::support::shape::object(owner, "n", "owner", json!({})));
    }
    let reference = json!({
        "alias": "x", "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository", "name": "g", "namespace": "n"
    });
    let dependency = json!({
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "name": "b", "namespace": "n",
        "ready": true, "readyExpr": "true",
    });
    let verify = json!({"provider": "cosign", "secretRef": {"name": "s"}});
    let artifact = json!({
        "revision": "r", "digest": "d", "url": "u", "metadata": {"org.opencontainers.image.revision": "o"}
    });
    let more = json!({
        "metadata": {
            "generateName": "a-", "labels": {"sharding.fluxcd.io/key": "s"},
            "annotations": {
                "reconcile.fluxcd.io/requestedAt": "t", "source.extensions.fluxcd.io/reconcile": "enabled",
                "fluxcd.controlplane.io/reconcile": "enabled", "sluicegate.dev/held": "h",
                "sluicegate.dev/resume": "r", "sluicegate.dev/release": "never", "sluicegate.dev/bypass": "b",
                "sluicegate.dev/expected-revision": "r",
            },
        },
        "spec": {
            "suspend": false, "dependsOn": [dependency], "sourceRef": reference, "chartRef": reference,
            "sources": [reference], "include": [{"repository": {"name": "g"}}], "healthChecks": [reference],
            "wait": true, "waitStrategy": {"name": "poller"}, "install": {"disableWait": true},
            "upgrade": {"disableWait": true}, "kubeConfig": {}, "verify": verify, "valuesFiles": ["v"],
            "ignoreMissingValuesFiles": true, "variant": "default", "ignoreDependencies": ["x"],
            "variants": [{"name": "default", "dependsOn": ["x"]}],
        },
        "status": {
            "lastHandledReconcileAt": "t", "artifact": artifact, "includedArtifacts": [artifact], "helmChart": "n/c",
            "history": [{"version": 1, "status": "deployed", "chartName": "c", "chartVersion": "1", "ociDigest": "d"}],
            "plan": {"pending": "p"}, "dependencies": {"x": {"ready": true}},
        },
    });
    merge(&mut object, more);
    object
}

fn merge(into: &mut Value, more: Value) {
    match (into, more) {
        (Value::Object(into), Value::Object(more)) => {
            for (key, value) in more {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, more) => *into = more,
    }
}

/// The pointers of all values in an object, and how a message spells each.
pub fn pointers(value: &Value, pointer: &str, shown: &str, found: &mut Vec<(String, String)>) {
    let join = |key: &str| if shown.is_empty() { key.to_owned() } else { format!("{shown}.{key}") };
    let inner: Vec<(String, String, &Value)> = match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| (format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1")), join(key), value))
            .collect(),
        Value::Array(values) => {
            let numbered = values.iter().enumerate();
            numbered.map(|(i, value)| (format!("{pointer}/{i}"), format!("{shown}[{i}]"), value)).collect()
        }
        _ => Vec::new(),
    };
    for (pointer, shown, value) in inner {
        pointers(value, &pointer, &shown, found);
        found.push((pointer, shown));
    }
}

/// One of each type, and nasty ones.
pub fn wrong_values() -> Vec<Value> {
    vec![json!(3), json!(-1.5e300), json!(true), json!(NASTY), json!([NASTY]), json!({NASTY: NASTY})]
}

/// Half of the wrong values, one half for each second field; numbered.
fn every_other(field: usize) -> impl Iterator<Item = (usize, Value)> {
    wrong_values().into_iter().enumerate().filter(move |(number, _)| (field + number).is_multiple_of(2))
}

/// Whether a message about this field is one about that value: the value, what it stands in, or what stands in it.
fn is_about(field: &str, value: &str) -> bool {
    let field = field.trim_end_matches('…');
    value.starts_with(field) || field.starts_with(value)
}

const KINDS: [Kind; 13] = [
    Kind::ArtifactGenerator,
    Kind::Bucket,
    Kind::ExternalArtifact,
    Kind::GitRepository,
    Kind::HelmChart,
    Kind::HelmRelease,
    Kind::HelmRepository,
    Kind::Kustomization,
    Kind::OCIRepository,
    Kind::Package,
    Kind::PackageSource,
    Kind::ResourceSet,
    Kind::Terraform,
];

/// Judged, or admitted with a sentence that names object and field.
#[test]
fn every_wrong_type_in_a_request() {
    for kind in KINDS {
        let full = maximal(kind);
        let own = reference(&full);
        let mut fields = Vec::new();
        pointers(&full, "", "", &mut fields);
        let mut named = 0;
        for (number, (pointer, shown)) in fields.into_iter().enumerate() {
            for (wrong, value) in every_other(number) {
                let mut bad = full.clone();
                *bad.pointer_mut(&pointer).unwrap() = value;
                // In turn as a new object, as a change, and as what is changed.
                let mut request = create([PERSON, FLUX][number % 2], &full);
                match (number + wrong) % 3 {
                    0 => request["object"] = bad,
                    1 => {
                        request["operation"] = json!("UPDATE");
                        request["oldObject"] = suspended_or_not(&full);
                        request["object"] = bad;
                    }
                    _ => {
                        request["operation"] = json!("UPDATE");
                        request["oldObject"] = bad;
                    }
                }
                let answer = Gate::over([]).judge(&request);
                let said = answer.said();
                let Some((_, field)) = said.split_once(" is not judged: field ") else { continue };
                let start = format!("admitted: {own} is not judged: field ");
                assert!(said.starts_with(&start), "{said}");
                assert!(is_about(field.split(" is not ").next().unwrap(), &shown), "{pointer}: {said}");
                assert!(answer.reads().is_empty(), "{pointer}: {said}");
                named += 1;
            }
        }
        assert!(named > 100, "{kind}: {named}");
    }
}

fn suspended_or_not(full: &Value) -> Value {
    with(full.clone(), &[("/spec/suspend", json!(true)), ("/spec/dependsOn", json!([]))])
}

/// The walk goes on without it, and says so; a resume is refused, and says so.
#[test]
fn every_wrong_type_in_what_is_read() {
    for kind in KINDS {
        let full = maximal(kind);
        let mut fields = Vec::new();
        pointers(&full, "", "", &mut fields);
        let set = object(Kind::ResourceSet, "n", "set", json!({}));
        let mut entry = to(&full);
        entry["ready"] = json!(true);
        let new = having(set.clone(), "dependsOn", json!([entry]));
        let old = annotated(new.clone(), "fluxcd.controlplane.io/reconcile", Some("disabled"));
        let (mut named, mut refused) = (0, 0);
        for (number, (pointer, shown)) in fields.into_iter().enumerate() {
            for (wrong, value) in every_other(number) {
                let mut bad = full.clone();
                *bad.pointer_mut(&pointer).unwrap() = value;
                let kind = kind.name();
                let stored = reference(&full);
                let place = if stored.namespace.is_empty() { "-" } else { &stored.namespace };
                let target = format!("{kind}/{place}/{}", stored.name);
                let gate = Gate::over([]).and(|cluster| cluster.garbage(&target, bad.to_string()));
                // Of what has no namespace a text tells no fields otherwise.
                let gate = gate.with(json!({"disclose": "everyone"}));
                let resume = (number + wrong) % 4 == 0;
                let answer = gate.update(PERSON, if resume { &old } else { &set }, &new);
                let said = answer.said();
                assert!(answer.is_admitted() || resume, "{pointer}: {said}");
                let Some(field) = said.split(" cannot be read: field ").nth(1) else { continue };
                assert!(is_about(field.split(" is ").next().unwrap(), &shown), "{pointer}: {said}");
                named += 1;
                refused += usize::from(!answer.is_admitted());
            }
        }
        assert!(named > 100 && refused > 50, "{kind}: {named} named, {refused} of them refused");
    }
}

/// Times and numbers that no clock and no counter shows.
#[rstest]
#[case::time("/metadata/annotations/reconcile.fluxcd.io~1requestedAt", json!("+292277026596-12-04T15:30:08Z"))]
#[case::negative_time("/status/conditions/Ready/lastTransitionTime", json!("-9999-01-01T00:00:00Z"))]
#[case::no_time("/status/conditions/Ready/lastTransitionTime", json!("yesterday"))]
#[case::leap("/status/conditions/Ready/lastTransitionTime", json!("9999-12-31T23:59:60.999999999Z"))]
#[case::negative_generation("/metadata/generation", json!(i64::MIN))]
#[case::largest_generation("/metadata/generation", json!(i64::MAX))]
#[case::too_large_generation("/metadata/generation", json!(u64::MAX))]
#[case::fraction("/metadata/generation", json!(1.5))]
#[case::negative_observation("/status/observedGeneration", json!(i64::MIN))]
#[case::too_large_observation("/status/observedGeneration", json!(1e300))]
#[case::largest_condition("/status/conditions/Ready/observedGeneration", json!(i64::MAX))]
fn absurd_times_and_generations(#[case] pointer: &str, #[case] value: Value) {
    let chain = |object: Value| {
        [sample::external_artifact("n", sample::ARTIFACT), sample::artifact_generator("n", "generator"), object]
    };
    let bad = with(sample::git_repository("n", "repo"), &[(pointer, value.clone())]);
    let over = json!({"kind": "ExternalArtifact", "name": sample::ARTIFACT});
    let x = with(sample::kustomization("n", "x"), &[("/spec/sourceRef", over)]);
    for by in [PERSON, FLUX, COMPANION] {
        Gate::over(chain(bad.clone())).resume(by, &x);
        let generator = with(sample::artifact_generator("n", "generator"), &[(pointer, value.clone())]);
        let stored = [generator, sample::external_artifact("n", sample::ARTIFACT), sample::git_repository("n", "repo")];
        Gate::over(stored).resume(by, &x);
        let own = with(x.clone(), &[(pointer, value.clone())]);
        Gate::over(chain(sample::git_repository("n", "repo"))).update(by, &suspended(x.clone()), &own);
        Gate::over([]).create(by, &own);
    }
}

/// The same of a mark, which the audit counts from.
#[rstest]
fn absurd_marks(
    #[values(
        "+292277026596-12-04T15:30:08Z",
        "-262143-01-01T00:00:00Z",
        "0000-00-00T00:00:00Z",
        "9999-12-31T23:59:59Z"
    )]
    at: &str,
) {
    let mark = crate::resume::mark(FLUX.user, FLUX.manager, at, "premature");
    let held = annotated(suspended(sample::kustomization("n", "x")), crate::resume::HELD, Some(&mark));
    let gate = Gate::over([sample::git_repository("n", "repo")]);
    for by in [PERSON, FLUX, COMPANION] {
        gate.update(by, &held, &held);
        gate.update(by, &held, &resumed(held.clone()));
    }
    gate.create(AUDIT, &held);
}
