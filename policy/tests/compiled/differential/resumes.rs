//! Resumes over a cluster in which nearly everything is settled.

use super::*;
use crate::resume::{BYPASS, EXPECTED, RELEASE, RESUME, depending, owned, resumed, suspended, unsettled};
use sluicegate_core::object::{Kind, Reference, Switch};
use sluicegate_core::testing::{reference, sample, set, with};

/// Settled objects of every kind.
fn stored() -> Vec<Value> {
    let artifact = sample::git_repository("n", "repo")["status"]["artifact"].clone();
    vec![
        sample::artifact_generator("n", sample::GENERATOR),
        sample::bucket("n", "bucket"),
        sample::external_artifact("n", sample::ARTIFACT),
        with(
            sample::git_repository("n", "including"),
            &[
                ("/spec/include", json!([{"repository": {"name": "repo"}}])),
                ("/status/includedArtifacts", json!([artifact])),
            ],
        ),
        sample::git_repository("n", "repo"),
        sample::helm_chart("n", "n-c"),
        sample::helm_chart("n", "n-x"),
        sample::helm_release("n", "c"),
        depending(sample::helm_release_of(Kind::OCIRepository, "image", "n", "d"), &["c"]),
        sample::helm_repository("n", "charts"),
        depending(sample::kustomization("n", "a"), &["b"]),
        sample::kustomization("n", "b"),
        sample::kustomization("n", "owner"),
        depending(sample::kustomization("n", "sibling"), &["b"]),
        sample::oci_repository("n", "image"),
        sample::package("p"),
        sample::package_source("p"),
        sample::resource_set("n", "set"),
        depending(sample::terraform("n", "t"), &[]),
    ]
}

/// A ResourceSet that waits for these.
fn over(objects: &[&Value], ready: bool) -> Value {
    let entry = |object: &&Value| {
        let mut entry = crate::support::shape::to(object);
        entry["ready"] = json!(ready);
        entry
    };
    let entries: Vec<Value> = objects.iter().map(entry).collect();
    with(sample::resource_set("n", "x"), &[("/spec/dependsOn", json!(entries))])
}

/// What may be resumed: an object of each kind that can be, and a ResourceSet over each stored object.
fn subjects() -> Vec<Value> {
    let source = |kind: &str, name: &str| json!({"kind": kind, "name": name});
    let expressed =
        json!([{"name": "a", "readyExpr": "dep.metadata.generation == self.metadata.generation"}, {"name": "b"}]);
    let stored = stored();
    let single = [
        depending(sample::kustomization("n", "x"), &["a", "b"]),
        with(sample::kustomization("n", "x"), &[("/spec/dependsOn", expressed)]),
        with(sample::kustomization("n", "x"), &[("/spec/sourceRef", source("ExternalArtifact", sample::ARTIFACT))]),
        with(sample::kustomization("n", "x"), &[("/spec/sourceRef", source("Bucket", "bucket"))]),
        depending(sample::helm_release("n", "x"), &["c"]),
        depending(sample::helm_release_of(Kind::OCIRepository, "image", "n", "x"), &["d"]),
        sample::helm_release_of(Kind::ExternalArtifact, sample::ARTIFACT, "n", "x"),
        with(sample::helm_release("n", "x"), &[("/spec/chart/spec/sourceRef", source("HelmRepository", "charts"))]),
        depending(sample::terraform("n", "x"), &["t"]),
        sample::artifact_generator("n", "x"),
        sample::helm_chart("n", "x"),
        with(sample::git_repository("n", "x"), &[("/spec/include", json!([{"repository": {"name": "including"}}]))]),
        over(&[&stored[10], &stored[8]], false),
    ];
    single.into_iter().chain(stored.iter().map(|object| over(&[object], true))).collect()
}

/// The pointers of the values that hold no others.
fn leaves(value: &Value, pointer: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                leaves(value, &format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1")), found);
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                leaves(value, &format!("{pointer}/{index}"), found);
            }
        }
        _ => found.push(pointer.to_owned()),
    }
}

fn other(value: &Value) -> Value {
    match value {
        Value::Bool(value) => json!(!value),
        Value::Number(value) => json!(value.as_i64().unwrap_or_default() + 1),
        _ => json!("main@sha1:2222222222222222222222222222222222222222"),
    }
}

/// Something that is wrong with a stored object, or special about it.
#[derive(Clone, Debug)]
struct Disturbance {
    object: usize,
    how: u8,
    leaf: usize,
}

fn disturb(world: &mut World, by: &Disturbance, subject: &Value) {
    let keys: Vec<Reference> = world.objects.keys().cloned().collect();
    let key = keys[by.object % keys.len()].clone();
    // Mostly what a set is over.
    let over = subject
        .pointer("/spec/dependsOn/0")
        .filter(|_| !by.object.is_multiple_of(4))
        .filter(|to| to["ready"] == json!(true));
    let is_over = |key: &&Reference| over.is_some_and(|to| to["kind"] == key.kind.name() && to["name"] == *key.name);
    let key = keys.iter().find(is_over).cloned().unwrap_or(key);
    let mut object = world.objects[&key].clone();
    match by.how {
        0 => object = unsettled(object),
        1 => match key.kind.row().switch {
            Switch::Spec => set(&mut object, "/spec/suspend", json!(true)),
            Switch::Annotation(annotation) => object = annotated(object, annotation, Some("disabled")),
            Switch::None => {}
        },
        2 => set(&mut object, "/status/conditions/Ready/status", json!("False")),
        3 => {
            set(&mut object, "/status/conditions/Ready/status", json!("Unknown"));
            set(&mut object, "/status/conditions/Reconciling/status", json!("True"));
        }
        4 => set(&mut object, "/metadata/deletionTimestamp", json!("2026-01-01T00:00:00Z")),
        5 => object = annotated(object, "reconcile.fluxcd.io/requestedAt", Some("T1")),
        6 => {
            object = annotated(object, "reconcile.fluxcd.io/requestedAt", Some("T1"));
            set(&mut object, "/status/lastHandledReconcileAt", json!("T1"));
        }
        7 => object = owned(object, Kind::Kustomization, "n", "owner"),
        8 => object = owned(object, Kind::Kustomization, "n", "sibling"),
        9 => object = owned(object, Kind::HelmRelease, "n", "d"),
        10 => object = annotated(object, EXPECTED, Some("1111111")),
        11 => object = annotated(object, EXPECTED, Some("9999999")),
        12 => drop(object.as_object_mut().unwrap().remove("status")),
        13 => set(&mut object, "/status/conditions/Stalled/status", json!("True")),
        14 => drop(world.forbidden.insert(key.kind)),
        15 => drop(world.absent_kinds.insert(key.kind)),
        16 => world.lease = None,
        17 => set(&mut object, "/spec/dependsOn", json!([{"name": "x"}])),
        18 => set(&mut object, "/spec/kubeConfig", json!({"secretRef": {"name": "s"}})),
        19 => {
            world.objects.remove(&key);
            return;
        }
        how => {
            let mut found = Vec::new();
            leaves(&object, "", &mut found);
            found.retain(|pointer| pointer.starts_with("/spec/") || pointer.starts_with("/status/"));
            if how == 21 {
                // Of a field that is not asked for, only the library, which has the object whole, sees the wrong type.
                found.retain(|pointer| is_asked_for(key.kind, pointer));
            }
            if let Some(value) = found.get(by.leaf % found.len().max(1)).and_then(|at| object.pointer_mut(at)) {
                *value = match how {
                    20 => Value::Null,
                    21 => json!([{}]),
                    _ => other(value),
                };
            }
        }
    }
    world.objects.insert(key, object);
}

/// Whether the policy asks for the field at a JSON pointer when it reads an object of the kind.
fn is_asked_for(kind: Kind, pointer: &str) -> bool {
    let path = pointer.trim_start_matches('/').replace('/', ".");
    let below = |mask: &str| path.strip_prefix(mask).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    kind.row().field_mask.iter().any(|mask| below(mask))
}

/// What else the request changes, or the stored object carries.
fn decorate(old: &mut Value, new: &mut Value, how: u8) {
    let mark = crate::resume::mark(FLUX.user, FLUX.manager, "2026-01-01T00:00:00Z", "premature");
    match how {
        0 => *old = annotated(old.clone(), HELD, Some(&mark)),
        1 => {
            *old = annotated(old.clone(), HELD, Some(&mark));
            *new = annotated(new.clone(), HELD, Some(&mark));
        }
        2 => *new = annotated(new.clone(), HELD, Some(&mark)),
        3 => *old = annotated(old.clone(), RELEASE, Some("never")),
        4 => *new = suspended(new.clone()),
        5 => {
            *old = resumed(old.clone());
            *new = annotated(suspended(new.clone()), RESUME, Some("when-settled"));
        }
        6 => *new = annotated(new.clone(), BYPASS, Some("a drill")),
        7 => {
            for object in [old, new] {
                *object = owned(object.clone(), Kind::Kustomization, "n", "owner");
            }
        }
        8 => *new = owned(new.clone(), Kind::Kustomization, "n", "owner"),
        9 => *new = annotated(new.clone(), EXPECTED, Some("9999999")),
        10 => {
            let entries = json!([{"name": "b"}, {"name": "nowhere", "namespace": "other"}, {"name": "x"}]);
            set(new, "/spec/dependsOn", entries);
        }
        11 => set(new, "/metadata/labels/sharding.fluxcd.io~1key", json!("shard")),
        12 => {
            let check = json!({"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "name": "d"});
            set(new, "/spec/healthChecks", json!([check]));
        }
        _ => {}
    }
}

/// A request that resumes an object, mostly, and the cluster it comes to.
#[derive(Clone, Debug)]
struct Resume {
    world: World,
    old: Value,
    new: Value,
}

fn resume() -> impl Strategy<Value = Resume> {
    let disturbance = (any::<usize>(), 0..28_u8, any::<usize>());
    let disturbance = disturbance.prop_map(|(object, how, leaf)| Disturbance { object, how, leaf });
    let disturbances = prop::collection::vec(disturbance, 0..3);
    let decorations = prop::collection::vec(0..26_u8, 0..3);
    (prop::sample::select(subjects()), disturbances, decorations, settings()).prop_map(
        |(subject, disturbances, decorations, settings)| {
            let mut world = World { settings, ..World::with(stored()) };
            for disturbance in &disturbances {
                disturb(&mut world, disturbance, &subject);
            }
            let (mut old, mut new) = (suspended(subject.clone()), resumed(subject));
            for how in decorations {
                decorate(&mut old, &mut new, how);
            }
            world.objects.insert(reference(&old), old.clone());
            Resume { world, old, new }
        },
    )
}

proptest! {
    #![proptest_config(config(1_000))]

    /// What is settled, reached, held, marked and told.
    #[test]
    fn about_resumes(Resume { world, old, new } in resume(), by in asker(), allow in any::<u8>()) {
        both_agree(Asked { world, by, old: Some(&old), new: &new, allow })?;
    }
}

/// Each object, with each of its fields in turn left out or another.
#[test]
fn about_every_field() {
    for object in stored() {
        let set = over(&[&object], true);
        let mut pointers = Vec::new();
        leaves(&object, "", &mut pointers);
        pointers.retain(|pointer| pointer.starts_with("/spec/") || pointer.starts_with("/status/"));
        let requested = annotated(object.clone(), "reconcile.fluxcd.io/requestedAt", Some("T1"));
        let handled = with(requested.clone(), &[("/status/lastHandledReconcileAt", json!("T1"))]);
        let switched = with(object.clone(), &[("/spec/suspend", json!(true))]);
        let mut variants = vec![object.clone(), requested, handled, switched];
        for pointer in pointers {
            for value in [Value::Null, other(object.pointer(&pointer).unwrap())] {
                let mut variant = object.clone();
                *variant.pointer_mut(&pointer).unwrap() = value;
                variants.push(variant);
            }
        }
        for variant in variants {
            let settings = Settings { disclose: Disclose::Everyone, ..Settings::default() };
            let mut world = World { settings, ..World::with(stored()) };
            world.objects.insert(reference(&object), variant);
            let (old, new) = (suspended(set.clone()), set.clone());
            both_agree(Asked { world, by: PERSON, old: Some(&old), new: &new, allow: 0 }).unwrap();
        }
    }
}
