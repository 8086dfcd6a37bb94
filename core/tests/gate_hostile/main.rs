//! Bad input: always a verdict, with a sentence that names object and field, never a panic, and never an unescaped or
//! unbounded piece of the object. Every answer is checked by [`support::shape::is_fit_to_print`].

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "helpers of tests")]

#[path = "../support/mod.rs"]
mod support;

mod scale;

use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::gate::{Operation, Request, Settings, Severity};
use sluicegate_core::object::Kind;
use support::shape::{having, object, owned};
use support::{By, FLUX, Judged, PERSON, World, kustomization, reference};

fn request<'a>(kind: Kind, object: &'a [u8], old: Option<&'a [u8]>) -> Request<'a> {
    Request {
        operation: if old.is_some() { Operation::Update } else { Operation::Create },
        kind,
        version: kind.row().versions[0],
        namespace: kind.row().namespaced.then_some("n"),
        name: Some("a"),
        user: PERSON.user,
        groups: vec![],
        manager: Some(PERSON.manager),
        dry_run: false,
        object,
        old,
    }
}

fn run(kind: Kind, object: &[u8], old: Option<&[u8]>) -> Judged {
    World::default().run(request(kind, object, old))
}

#[rstest]
#[case::nothing(b"", "it is not valid JSON")]
#[case::null(b"null", "it is not an object")]
#[case::a_list(b"[]", "it is not an object")]
#[case::a_number(b"3", "it is not an object")]
#[case::cut_off(b"{\"spec\":{\"dependsOn\":[{\"name\":\"b\"", "it is not valid JSON")]
#[case::more_behind_it(b"{}{}", "it is not valid JSON")]
#[case::no_text(b"{\"metadata\":{\"name\":\"\xff\xfe\"}}", "it is not valid JSON")]
#[case::twice(b"{\"spec\":{},\"spec\":{\"suspend\":true}}", "field spec is not given only once")]
#[case::a_huge_generation(
    b"{\"metadata\":{\"generation\":99999999999999999999}}",
    "field metadata.generation is not a whole number"
)]
fn what_is_no_object_is_admitted_with_a_warning(#[case] json: &[u8], #[case] why: &str) {
    let judged = run(Kind::Kustomization, json, None);
    assert_eq!(judged.said(), format!("admitted: Kustomization/n/a is not judged: {why}"));
    assert_eq!(judged.reads, [""; 0]);
    let update = run(Kind::Kustomization, b"{\"spec\":{\"dependsOn\":[{\"name\":\"a\"}]}}", Some(json));
    assert_eq!(update.said(), judged.said());
}

/// One object with every field that any decision reads.
fn full(kind: Kind) -> Value {
    let reference = || {
        json!({"alias": "x", "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository", "name": "g",
        "namespace": "n"})
    };
    let verify = json!({"provider": "cosign", "secretRef": {"name": "s"}});
    let chart = match kind {
        Kind::HelmRelease => json!({"spec": {"chart": "c", "version": "1", "sourceRef": reference(),
            "reconcileStrategy": "Revision", "valuesFiles": ["v"], "ignoreMissingValuesFiles": true,
            "verify": verify}}),
        _ => json!("c"),
    };
    let spec = json!({
        "suspend": false, "chart": chart, "chartRef": reference(), "sourceRef": reference(), "version": "1",
        "dependsOn": [{"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "name": "b",
            "namespace": "n", "ready": true, "readyExpr": "true"}],
        "reconcileStrategy": "Revision", "valuesFiles": ["v"], "ignoreMissingValuesFiles": true, "verify": verify,
        "sources": [reference()], "artifacts": [{"name": "e"}], "include": [{"repository": {"name": "g"}}],
        "wait": true, "healthChecks": [reference()], "waitStrategy": {"name": "poller"},
        "install": {"disableWait": true}, "upgrade": {"disableWait": true}, "type": "oci", "kubeConfig": {},
        "variant": "default", "ignoreDependencies": ["x"], "variants": [{"name": "default", "dependsOn": ["x"]}]
    });
    let condition = json!({"type": "Ready", "status": "True", "reason": "r", "message": "m", "observedGeneration": 1,
        "lastTransitionTime": "2026-11-30T11:00:00Z"});
    let artifact = json!({"revision": "r", "digest": "d", "url": "u", "metadata":
        {"org.opencontainers.image.revision": "o"}});
    let status = json!({
        "observedGeneration": 1, "conditions": [condition], "lastHandledReconcileAt": "t", "artifact": artifact,
        "includedArtifacts": [artifact], "observedSourceArtifactRevision": "r", "observedSourcesDigest": "d",
        "lastAppliedRevision": "r", "lastAttemptedRevision": "r", "lastPlannedRevision": "r",
        "lastAttemptedGeneration": 1, "helmChart": "n/c", "plan": {"pending": "p"},
        "history": [{"version": 1, "status": "deployed", "chartName": "c", "chartVersion": "1", "ociDigest": "d"}],
        "inventory": {"entries": [{"id": "n_b_helm.toolkit.fluxcd.io_HelmRelease"}]},
        "dependencies": {"x": {"ready": true}}
    });
    let mut full = owned(object(kind, "n", "a", spec), &kustomization("n", "owner", &[]));
    full = owned(full, &object(Kind::HelmRelease, "n", "owner", json!({})));
    full = owned(full, &object(Kind::ResourceSet, "n", "owner", json!({})));
    full["metadata"]["labels"]["sharding.fluxcd.io/key"] = json!("s");
    full["metadata"]["generateName"] = json!("a-");
    full["metadata"]["annotations"] = json!({
        "reconcile.fluxcd.io/requestedAt": "t", "source.extensions.fluxcd.io/reconcile": "enabled",
        "fluxcd.controlplane.io/reconcile": "enabled", "sluicegate.dev/held": "h", "sluicegate.dev/resume": "r",
        "sluicegate.dev/release": "never", "sluicegate.dev/bypass": "b", "sluicegate.dev/expected-revision": "r"
    });
    full["status"] = status;
    full
}

/// The pointers of all values in an object, and how a message spells each.
fn pointers(value: &Value, pointer: &str, shown: &str, found: &mut Vec<(String, String)>) {
    let join = |key: &str| if shown.is_empty() { key.to_owned() } else { format!("{shown}.{key}") };
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let escaped = key.replace('~', "~0").replace('/', "~1");
                found.push((format!("{pointer}/{escaped}"), join(key)));
                pointers(value, &format!("{pointer}/{escaped}"), &join(key), found);
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                found.push((format!("{pointer}/{index}"), format!("{shown}[{index}]")));
                pointers(value, &format!("{pointer}/{index}"), &format!("{shown}[{index}]"), found);
            }
        }
        _ => {}
    }
}

fn wrong_values() -> Vec<Value> {
    vec![json!(3), json!(-1.5), json!(true), json!("x\u{7}\n"), json!([]), json!(["x"]), json!({}), json!({"x": 1})]
}

/// Whether a message about this field is one about that value: the value, what it stands in, or what stands in it.
fn is_about(field: &str, value: &str) -> bool {
    value.starts_with(field) || field.starts_with(value)
}

/// Every wrong type in every field of a request: judged, or admitted with the field named.
#[rstest]
fn every_wrong_type_in_a_request(
    #[values(Kind::Kustomization, Kind::HelmRelease, Kind::ResourceSet, Kind::PackageSource)] kind: Kind,
) {
    let full = full(kind);
    let mut fields = Vec::new();
    pointers(&full, "", "", &mut fields);
    let own = reference(&full);
    let mut named = 0;
    for (pointer, shown) in fields {
        for wrong in wrong_values() {
            let mut bad = full.clone();
            *bad.pointer_mut(&pointer).unwrap() = wrong;
            let bad = bad.to_string();
            for old in [None, Some(full.to_string())] {
                let judged = run(kind, bad.as_bytes(), old.as_ref().map(String::as_bytes));
                let said = judged.said();
                let Some(field) = said.strip_prefix(&format!("admitted: {own} is not judged: field ")) else {
                    assert!(!said.contains(&format!("{own} is not judged")), "{said}");
                    continue;
                };
                let field = field.split(" is not ").next().unwrap();
                assert!(is_about(field, &shown), "{pointer}: {said}");
                assert!(!pointer.starts_with("/status"), "{said}");
                assert_eq!(judged.reads, [""; 0]);
                named += 1;
            }
        }
    }
    assert!(named > 500, "{named}");
}

/// The same in an object that is read: the walk goes on without it and says so.
#[rstest]
fn every_wrong_type_in_a_stored_object(
    #[values(Kind::Kustomization, Kind::HelmRelease, Kind::ExternalArtifact)] kind: Kind,
) {
    let full = full(kind);
    let mut fields = Vec::new();
    pointers(&full, "", "", &mut fields);
    let set = object(Kind::ResourceSet, "n", "set", json!({}));
    let mut entry = support::shape::to(&full);
    entry["ready"] = json!(true);
    let new = having(set.clone(), "dependsOn", json!([entry]));
    let mut named = 0;
    for (pointer, shown) in fields {
        for wrong in wrong_values() {
            let mut bad = full.clone();
            *bad.pointer_mut(&pointer).unwrap() = wrong;
            let mut world = World::default();
            world.objects.insert(reference(&full), bad);
            let judged = world.update(PERSON, &set, &new);
            assert!(judged.verdict.is_admitted());
            let first = judged.verdict.warnings.first().cloned().unwrap_or_default();
            let Some(field) = first.split(" cannot be read: field ").nth(1) else { continue };
            let field = field.split(' ').next().unwrap().trim_end_matches('…');
            assert!(is_about(field, &shown), "{pointer}: {first}");
            named += 1;
        }
    }
    assert!(named > 500, "{named}");
}

const NASTY: &str = "x\u{0}\u{7}\n\r\t\u{1b}[31m\u{202e}\u{200b}\"'\\/_%s{}<script>\u{10ffff}é";

fn nasty() -> String {
    NASTY.repeat(10_000 / NASTY.len() + 1)
}

#[rstest]
fn names_of_ten_thousand_characters(#[values(PERSON, FLUX)] by: By, #[values(true, false)] strict: bool) {
    let nasty = nasty();
    let mut world = World::default();
    if strict {
        world.settings = Settings { dependencies: Severity::Refuse, ..Settings::default() };
    }
    let mut objects = vec![
        kustomization(&nasty, &nasty, &[&nasty, &nasty, "b"]),
        kustomization("n", &nasty, &[&nasty]),
        having(kustomization("n", "a", &[]), "sourceRef", json!({"kind": nasty, "name": nasty, "namespace": nasty})),
        having(kustomization("n", "a", &[]), "sourceRef", json!({"kind": "GitRepository", "name": nasty})),
        having(kustomization("n", "a", &[]), &nasty, json!(3)),
        owned(kustomization("n", "a", &["b"]), &kustomization(&nasty, &nasty, &[])),
        object(
            Kind::ResourceSet,
            "n",
            "a",
            json!({"dependsOn": [{"apiVersion": nasty, "kind": nasty, "name": nasty}]}),
        ),
        object(Kind::PackageSource, "n", &nasty, json!({"variants": [{"name": nasty, "dependsOn": [nasty]}]})),
    ];
    let mut generated = kustomization("n", "", &["b"]);
    generated["metadata"]["generateName"] = json!(nasty);
    objects.push(generated);
    let mut marked = having(kustomization("n", "a", &[&nasty]), "suspend", json!(true));
    for annotation in ["held", "resume", "release", "bypass", "expected-revision"] {
        marked["metadata"]["annotations"][format!("sluicegate.dev/{annotation}")] = json!(nasty);
    }
    objects.push(marked);
    for new in objects {
        let judged = world.create(by, &new);
        assert!(judged.said().len() < 2_500, "{}", judged.said().len());
        let mut old = new.clone();
        old["spec"] = json!({"suspend": true});
        world.update(by, &old, &new);
        // A loop through all of it.
        let mut looped = world.clone();
        looped.objects.insert(
            reference(&kustomization("n", "b", &[])),
            having(
                kustomization("n", "b", &[]),
                "dependsOn",
                json!([{"name": new["metadata"]["name"], "namespace": new["metadata"]["namespace"]}]),
            ),
        );
        looped.create(by, &new);
    }
}

/// What cannot be the name of an object is not looked for: it must not become a part of a URL.
#[rstest]
#[case::a_way_up("../../secrets/x")]
#[case::a_query("b?watch=true")]
#[case::capitals("B")]
#[case::invisible("b\u{200b}")]
fn names_that_cannot_exist_are_not_looked_for(#[case] name: &str) {
    let old = kustomization("n", "a", &[]);
    let new = having(old.clone(), "dependsOn", json!([{"name": name}, {"name": "b", "namespace": name}]));
    let judged = World::default().update(PERSON, &old, &new);
    assert_eq!(judged.verdict.warnings.len(), 2);
    assert_eq!(judged.reads, [""; 0]);
}

#[rstest]
#[case::applier(true)]
#[case::person(false)]
fn a_request_whose_strings_are_nasty(#[case] dry_run: bool) {
    let nasty = nasty();
    let json = kustomization("n", "a", &["a"]).to_string();
    for (kind, shown) in [(Kind::Kustomization, "Kustomization/n/a"), (Kind::Package, "Package/a")] {
        let request = Request {
            version: &nasty,
            namespace: Some(&nasty),
            name: Some(&nasty),
            user: &nasty,
            manager: Some(if dry_run { "kustomize-controller" } else { &nasty }),
            dry_run,
            ..request(kind, json.as_bytes(), None)
        };
        let nameless = World::default().run(request.clone());
        assert!(nameless.said().starts_with(&format!("admitted: {kind}/x\\u{{0}}")), "{}", nameless.said());
        let judged = World::default().run(Request { version: "v1", ..request.clone() });
        let package = kind == Kind::Package;
        let version = if package { "version v1 is not known" } else { "self-dependency" };
        assert!(judged.said().contains(version) || package, "{}", judged.said());
        let known = Request { namespace: Some("n"), name: Some("a"), ..request.clone() };
        let judged = World::default().run(known);
        assert!(judged.said().starts_with(&format!("admitted: {shown} is not judged: version x\\u{{0}}")));
        World::default().run(Request { version: "v1", object: b"{\"spec\":3}", ..request });
    }
}

/// Nesting is the recursion that a decoder does: in a field that nobody reads it is skipped, elsewhere it is an error.
#[rstest]
#[case::nobody_reads_it(r#"{"spec":{"values":DEEP,"dependsOn":[{"name":"a"}]}}"#, "refused: self-dependency: ")]
#[case::in_a_list(r#"{"spec":{"dependsOn":DEEP}}"#, "admitted: Kustomization/n/a is not judged: ")]
#[case::in_a_text(r#"{"metadata":{"name":DEEP}}"#, "admitted: Kustomization/n/a is not judged: ")]
#[case::in_the_status(r#"{"status":DEEP,"spec":{"dependsOn":[{"name":"a"}]}}"#, "refused: self-dependency: ")]
#[case::at_the_top("DEEP", "admitted: Kustomization/n/a is not judged: ")]
fn deep_nesting(#[case] json: &str, #[case] said: &str) {
    let deep = json.replace("DEEP", &format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)));
    let judged = run(Kind::Kustomization, deep.as_bytes(), None);
    assert!(judged.said().starts_with(said), "{}", judged.said());
}
