//! The hot path: what it lets through, the whole gate would admit without a read, a word or a change.

use crate::support::shape::{listing, object, owned};
use crate::support::{By, COMPANION, FLUX, PERSON, World, kustomization, reference};
use proptest::prelude::*;
use proptest::sample::select;
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::gate::{Asker, Operation, Role, Settings, is_quiet};
use sluicegate_core::object::{Kind, Part, Seen, keep};

fn seen(json: &str) -> Option<Seen<'_>> {
    let mut found = Seen::default();
    keep(json.as_bytes(), Part::Object, &mut found).map(|()| found)
}

fn quiet(by: By, operation: Operation, new: &Value, old: Option<&Value>) -> bool {
    let (new_text, old_text) = (new.to_string(), old.map(Value::to_string));
    let Some(new_seen) = seen(&new_text) else { return false };
    let old_seen = old_text.as_deref().map(seen);
    if matches!(old_seen, Some(None)) {
        return false;
    }
    let asker = Asker::by(by.user, Some(by.manager), by.dry_run, &Settings::default());
    is_quiet(asker, reference(new).kind, operation, &new_seen, old_seen.flatten().as_ref())
}

fn base(kind: Kind) -> Value {
    let owner = kustomization("n", "owner", &[]);
    let spec = json!({
        "suspend": true, "dependsOn": [{"name": "b", "readyExpr": "x"}], "wait": true, "interval": "5m",
        "sourceRef": {"kind": "GitRepository", "name": "g"}, "sources": [{"kind": "Bucket", "name": "s"}],
        "chart": {"spec": {"chart": "c", "sourceRef": {"kind": "HelmRepository", "name": "h"}}}
    });
    let mut object = owned(object(kind, "n", "a", spec), &owner);
    if kind == Kind::HelmChart {
        object["spec"]["chart"] = json!("c");
    }
    object["metadata"]["annotations"] = json!({"team": "one"});
    listing(object, &[&kustomization("n", "child", &[])])
}

fn set(object: &mut Value, pointer: &str, value: Value) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    if let Some(Value::Object(parent)) = object.pointer_mut(parent) {
        parent.insert(key.replace("~1", "/"), value);
    }
}

/// The edits that Flux makes all day long: none of them may cost more than a glance.
#[rstest]
#[case::nothing("/metadata/labels/team", Value::Null)]
#[case::status("/status", json!({"conditions": [{"type": "Ready"}], "observedGeneration": 3}))]
#[case::label("/metadata/labels/team", json!("two"))]
#[case::token("/metadata/annotations/reconcile.fluxcd.io~1requestedAt", json!("now"))]
#[case::finalizer("/metadata/finalizers", json!(["x"]))]
#[case::managed_fields("/metadata/managedFields", json!([{"manager": "x"}]))]
#[case::generation("/metadata/generation", json!(7))]
#[case::values("/spec/values", json!({"deep": [1.5e300]}))]
#[case::interval("/spec/interval", json!("1h"))]
fn what_is_quiet(#[case] pointer: &str, #[case] value: Value, #[values(PERSON, FLUX)] by: By) {
    let old = base(Kind::Kustomization);
    let mut new = old.clone();
    set(&mut new, pointer, value);
    assert!(quiet(by, Operation::Update, &new, Some(&old)));
    assert!(!quiet(COMPANION, Operation::Update, &new, Some(&old)));
    assert!(!quiet(by, Operation::Create, &new, None));
    assert!(!quiet(by, Operation::Update, &new, None));
}

#[rstest]
#[case::suspend("/spec/suspend", json!(false))]
#[case::need("/spec/dependsOn", json!([{"name": "c"}]))]
#[case::owner("/metadata/labels/kustomize.toolkit.fluxcd.io~1name", json!("other"))]
#[case::a_mark("/metadata/annotations/sluicegate.dev~1held", json!("x"))]
#[case::the_switch_of_another_kind("/metadata/annotations/fluxcd.controlplane.io~1reconcile", json!("disabled"))]
#[case::version("/apiVersion", json!("kustomize.toolkit.fluxcd.io/v0"))]
fn what_is_not(#[case] pointer: &str, #[case] value: Value) {
    let old = base(Kind::Kustomization);
    let mut new = old.clone();
    set(&mut new, pointer, value);
    assert!(!quiet(PERSON, Operation::Update, &new, Some(&old)));
    if pointer.ends_with("held") {
        assert!(!quiet(PERSON, Operation::Update, &old, Some(&new)), "a mark that is lost");
        assert!(!quiet(PERSON, Operation::Update, &new, Some(&new)), "a mark that is kept");
    }
}

const MARK: &str = r#"{"applier":{"user":"u","manager":"m"},"at":"2026-11-30T11:00:00Z","cause":"premature"}"#;

fn edits() -> Vec<(&'static str, Value)> {
    let pair = |pointer: &'static str, values: Vec<Value>| values.into_iter().map(move |value| (pointer, value));
    let names =
        || vec![json!([{"name": "b"}]), json!([{"name": "a"}, {"name": "b"}]), json!([]), Value::Null, json!(3)];
    let texts = |more: &[&str]| more.iter().map(|text| json!(text)).chain([Value::Null, json!(3)]).collect::<Vec<_>>();
    let mut all = Vec::new();
    all.extend(pair("/spec/dependsOn", names()));
    all.extend(pair("/spec/ignoreDependencies", vec![json!(["x"]), Value::Null, json!({})]));
    all.extend(pair("/spec/variants", vec![json!([{"name": "default", "dependsOn": ["x", "a"]}]), Value::Null]));
    for flag in ["/spec/suspend", "/spec/wait"] {
        all.extend(pair(flag, vec![json!(true), json!(false), Value::Null, json!("x")]));
    }
    all.extend(pair("/spec/kubeConfig", vec![json!({}), Value::Null]));
    all.extend(pair("/spec/variant", texts(&["big", ""])));
    all.extend(pair("/spec/sourceRef", vec![json!({"kind": "Bucket", "name": "s"}), Value::Null, json!([])]));
    all.extend(pair("/spec/healthChecks", vec![json!([{"kind": "Deployment", "name": "x"}]), Value::Null]));
    all.extend(pair("/spec/path", texts(&["x", "y"])));
    all.extend(pair("/spec", vec![Value::Null, json!({}), json!(3)]));
    all.extend(pair(
        "/status",
        vec![Value::Null, json!({}), json!({"history": [{"version": 1}]}), json!({"inventory": []})],
    ));
    all.extend(pair("/metadata/generation", vec![json!(1), json!(2)]));
    all.extend(pair("/metadata/deletionTimestamp", texts(&["2026-11-30T11:00:00Z"])));
    all.extend(pair("/metadata/labels", vec![Value::Null, json!({})]));
    all.extend(pair("/metadata/annotations", vec![Value::Null, json!({})]));
    for label in [
        "/metadata/labels/team",
        "/metadata/labels/kustomize.toolkit.fluxcd.io~1name",
        "/metadata/labels/kustomize.toolkit.fluxcd.io~1namespace",
        "/metadata/labels/helm.toolkit.fluxcd.io~1name",
        "/metadata/labels/sharding.fluxcd.io~1key",
    ] {
        all.extend(pair(label, texts(&["a", "n"])));
    }
    for annotation in [
        "/metadata/annotations/fluxcd.controlplane.io~1reconcile",
        "/metadata/annotations/source.extensions.fluxcd.io~1reconcile",
        "/metadata/annotations/reconcile.fluxcd.io~1requestedAt",
        "/metadata/annotations/sluicegate.dev~1bypass",
        "/metadata/annotations/sluicegate.dev~1expected-revision",
    ] {
        all.extend(pair(annotation, texts(&["disabled", "enabled"])));
    }
    all.extend(pair("/metadata/annotations/sluicegate.dev~1held", texts(&[MARK, "x"])));
    all.extend(pair("/metadata/annotations/sluicegate.dev~1resume", texts(&["when-settled"])));
    all.extend(pair("/metadata/annotations/sluicegate.dev~1release", texts(&["never"])));
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_quiet_needs_no_judgement(
        kind in select(vec![
            Kind::Kustomization, Kind::HelmRelease, Kind::ResourceSet, Kind::ArtifactGenerator, Kind::HelmChart,
            Kind::GitRepository, Kind::ExternalArtifact, Kind::Package, Kind::PackageSource, Kind::Terraform,
        ]),
        before in prop::collection::vec(select(edits()), 0..4),
        change in prop::collection::vec(select(edits()), 0..3),
        by in select(vec![PERSON, FLUX, COMPANION, By { dry_run: true, ..FLUX }]),
        role in select(vec![Role::Both, Role::Hold, Role::Refuse]),
    ) {
        let mut old = base(kind);
        before.into_iter().for_each(|(pointer, value)| set(&mut old, pointer, value));
        let mut new = old.clone();
        change.into_iter().for_each(|(pointer, value)| set(&mut new, pointer, value));
        if quiet(by, Operation::Update, &new, Some(&old)) {
            let mut world = World::default();
            world.settings.role = role;
            let judged = world.update(by, &old, &new);
            // A field that could not be read before, and is the same, is not worth a second look.
            let told = judged.verdict.warnings.iter().all(|warning| warning.contains("is not judged: field"));
            if judged.verdict.warnings.is_empty() || !told {
                judged.is_untouched();
            }
            assert!(judged.reads.is_empty() && judged.verdict.is_admitted() && judged.verdict.mutation.is_empty());
        }
    }
}
