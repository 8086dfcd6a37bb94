//! What was compiled decides as the library does: the same verdict, texts, changes and reads, over random clusters.
//!
//! The library is given whole objects, the policy what its field masks leave of them: a field that is read and not
//! asked for shows here.

use crate::harness::{Gate, LEASE, create, update};
use crate::model;
use crate::resume::{EXPECTED, HELD, RELEASE, annotated, annotation, depending, owned, resumed, suspended, unsettled};
use crate::support::{AUDIT, By, COMPANION, FLUX, Judged, PERSON, World};
use chrono::Utc;
use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Value, json};
use sluicegate_core::gate::{Mark, Operation, Question};
use sluicegate_core::object::{Kind, Reference};
use sluicegate_core::testing::{reference, sample, set, with};
use sluicegate_host::Review;
use std::collections::BTreeMap;

const DRY: By = By { dry_run: true, ..FLUX };

fn config(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
}

/// A request over a world, and what the authorizer allows of what it is asked.
struct Asked<'a> {
    world: World,
    settings: Value,
    by: By,
    old: Option<&'a Value>,
    new: &'a Value,
    allow: u8,
}

/// Has both judge it, and compares.
fn both_agree(mut asked: Asked<'_>) -> Result<(), TestCaseError> {
    asked.world.settings = sluicegate_policy::decode_settings(asked.settings.to_string().as_bytes()).unwrap();
    asked.world.time = Some(Utc::now());
    let native = |world: &World| {
        let operation = if asked.old.is_some() { Operation::Update } else { Operation::Create };
        world.judge(asked.by, operation, asked.old, asked.new)
    };
    let questions = native(&asked.world).questions;
    let allowed = questions.into_iter().enumerate().filter(|(index, _)| asked.allow & (1 << (index % 8)) != 0);
    asked.world.allowed = allowed.map(|(_, question)| question).collect();
    let expected = native(&asked.world);
    let gate = gate(&asked.world, asked.settings);
    let answer = match asked.old {
        Some(old) => gate.judge(&update(asked.by, old, asked.new)),
        None => gate.judge(&create(asked.by, asked.new)),
    };

    let verdict = &expected.verdict;
    prop_assert_eq!(verdict.refusal.as_deref(), (!answer.is_admitted()).then(|| answer.refusal()));
    prop_assert_eq!(&verdict.warnings, answer.warnings());
    let audit: BTreeMap<&str, &str> = verdict.audit.iter().map(|(key, value)| (*key, value.as_str())).collect();
    match &answer.evaluation.response.audit_annotations {
        Some(told) => {
            let told: BTreeMap<&str, &str> = told.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
            prop_assert_eq!(audit, told);
        }
        // What is admitted at a glance says nothing.
        None => {
            prop_assert!(expected.said() == "admitted" && answer.evaluation.calls.is_empty(), "{}", expected.said())
        }
    }
    if answer.is_admitted() {
        let stored = crate::resume::stored(&expected, asked.new);
        prop_assert_eq!(timeless(stored), timeless(answer.stored()));
    }
    prop_assert_eq!(reads(&expected), normal(answer.reads()));
    let questions: Vec<String> = expected.questions.iter().map(shown).collect();
    prop_assert_eq!(questions, answer.questions());
    Ok(())
}

fn gate(world: &World, settings: Value) -> Gate {
    let mut cluster = Gate::over(world.objects.values().cloned()).cluster;
    // The world has one Lease for all shards.
    match &world.lease {
        Some(lease) => cluster = cluster.garbage("Lease", lease.to_string()),
        None => cluster = cluster.without("Lease"),
    }
    for kind in &world.absent_kinds {
        cluster = cluster.absent_kind(kind.name());
    }
    for kind in &world.forbidden {
        cluster = cluster.forbid(kind.name());
    }
    for question in &world.allowed {
        cluster = cluster.review(Review {
            verb: Some(question.verb.to_owned()),
            group: Some(question.group.to_owned()),
            resource: Some(question.resource.to_owned()),
            namespace: Some(question.namespace.to_string()).filter(|namespace| !namespace.is_empty()),
            name: question.name.as_ref().map(ToString::to_string),
            ..Review::default()
        });
    }
    Gate { cluster, settings }
}

fn shown(question: &Question) -> String {
    let name = question.name.as_deref().unwrap_or_default();
    format!("{} {}.{} {}/{name}", question.verb, question.resource, question.group, question.namespace)
}

/// The library reads the Lease last, as it asks about the bypass and names after all reads but those of hints.
fn reads(judged: &Judged) -> Vec<String> {
    let leases = judged.leases.iter().map(|lease| format!("Lease/{lease}"));
    let mut reads: Vec<String> = judged.reads.iter().cloned().chain(leases).collect();
    reads.sort_by_key(|read| read.starts_with("Lease/"));
    reads
}

/// Kinds without namespaces as the library shows them; the Lease last.
fn normal(reads: Vec<String>) -> Vec<String> {
    let mut reads: Vec<String> = reads.into_iter().map(|read| read.replacen("/-/", "/", 1)).collect();
    reads.sort_by_key(|read| *read == *LEASE || read.starts_with("Lease/"));
    reads
}

/// Without the time at which a mark was made, which is not the same for both.
fn timeless(mut object: Value) -> Value {
    if let Some(mark) = annotation(&object, HELD).and_then(Mark::parse)
        && (Utc::now() - mark.made()).num_days() == 0
    {
        let mark = format!("{} {} {}", mark.applier.user, mark.applier.manager, mark.cause.name());
        object = annotated(object, HELD, Some(&mark));
    }
    object
}

fn asker() -> impl Strategy<Value = By> {
    prop::sample::select(vec![PERSON, FLUX, DRY, COMPANION, By { dry_run: true, ..PERSON }])
}

fn settings() -> impl Strategy<Value = Value> {
    let word = |words: &'static [&'static str]| prop::sample::select(words);
    (
        (word(&["both", "both", "both", "hold", "refuse"]), prop::bool::weighted(0.85), word(&["warn", "refuse"])),
        (word(&["warn", "refuse"]), word(&["permitted", "everyone"]), any::<bool>()),
        prop_oneof![4 => Just(500), 1 => 1..6_usize],
    )
        .prop_map(|((role, enforce, dependencies), (unheld, disclose, additive), reads)| {
            json!({
                "role": role, "enforce": enforce, "dependencies": dependencies, "unheld": unheld, "disclose": disclose,
                "additiveReadyExpr": additive, "maxReads": reads,
            })
        })
}

proptest! {
    #![proptest_config(config(150))]

    /// Who needs whom.
    #[test]
    fn about_cycles(
        case in model::case(14),
        by in asker(),
        settings in settings(),
        allow in any::<u8>(),
    ) {
        let (old, new) = case.manifests();
        both_agree(Asked { world: case.world(), settings, by, old: old.as_ref(), new: &new, allow })?;
    }

    #[test]
    fn about_the_audit(case in model::case(14), settings in settings()) {
        let (old, new) = case.manifests();
        let stored = old.unwrap_or(new);
        both_agree(Asked { world: case.world(), settings, by: AUDIT, old: None, new: &stored, allow: 0 })?;
    }
}

/// A cluster in which everything is settled.
fn stored() -> Vec<Value> {
    vec![
        sample::git_repository("n", "repo"),
        sample::oci_repository("n", "image"),
        sample::bucket("n", "bucket"),
        sample::helm_repository("n", "charts"),
        sample::helm_chart("n", "n-x"),
        sample::helm_chart("n", "n-c"),
        sample::external_artifact("n", sample::ARTIFACT),
        sample::artifact_generator("n", sample::GENERATOR),
        depending(sample::kustomization("n", "a"), &["b"]),
        depending(sample::kustomization("n", "b"), &[]),
        sample::helm_release("n", "c"),
        depending(sample::helm_release_of(Kind::OCIRepository, "image", "n", "d"), &["c"]),
        sample::terraform("n", "t"),
        sample::kustomization("n", "owner"),
        with(sample::kustomization("n", "sibling"), &[("/spec/dependsOn", json!([{"name": "b"}]))]),
    ]
}

/// What may be resumed.
fn subjects() -> Vec<Value> {
    let entry = |kind: Kind, name: &str, ready: bool| json!({"apiVersion": kind.row().api_version, "kind": kind.name(), "name": name, "namespace": "n", "ready": ready});
    let entries = [entry(Kind::Kustomization, "a", true), entry(Kind::HelmRelease, "d", false)];
    let expressed =
        json!([{"name": "a", "readyExpr": "dep.metadata.generation == self.metadata.generation"}, {"name": "b"}]);
    let over = |kind: &str, name: &str| json!({"kind": kind, "name": name});
    vec![
        depending(sample::kustomization("n", "x"), &["a", "b"]),
        with(sample::kustomization("n", "x"), &[("/spec/dependsOn", expressed)]),
        with(sample::kustomization("n", "x"), &[("/spec/sourceRef", over("ExternalArtifact", sample::ARTIFACT))]),
        with(sample::kustomization("n", "x"), &[("/spec/sourceRef", over("Bucket", "bucket"))]),
        depending(sample::helm_release("n", "x"), &["c"]),
        depending(sample::helm_release_of(Kind::OCIRepository, "image", "n", "x"), &["d"]),
        sample::helm_release_of(Kind::ExternalArtifact, sample::ARTIFACT, "n", "x"),
        with(sample::helm_release("n", "x"), &[("/spec/chart/spec/sourceRef", over("HelmRepository", "charts"))]),
        with(sample::resource_set("n", "x"), &[("/spec/dependsOn", json!(entries))]),
        depending(sample::terraform("n", "x"), &["t"]),
        sample::artifact_generator("n", "x"),
        sample::helm_chart("n", "x"),
        with(sample::git_repository("n", "x"), &[("/spec/include", json!([{"repository": {"name": "repo"}}]))]),
    ]
}

/// Something that is wrong with a stored object, or special about it.
fn disturb(world: &mut World, at: usize, how: u8) {
    let keys: Vec<Reference> = world.objects.keys().cloned().collect();
    let key = keys[at % keys.len()].clone();
    let mut object = world.objects[&key].clone();
    match how {
        0 => object = unsettled(object),
        1 if key.kind.row().switch != sluicegate_core::object::Switch::None => object = suspended(object),
        2 => set(&mut object, "/status/conditions/Ready/status", json!("False")),
        3 => {
            set(&mut object, "/status/conditions/Ready/status", json!("Unknown"));
            set(&mut object, "/status/conditions/Reconciling/status", json!("True"));
        }
        4 => set(&mut object, "/metadata/deletionTimestamp", json!("2026-01-01T00:00:00Z")),
        5 => object = annotated(object, "reconcile.fluxcd.io/requestedAt", Some("T1")),
        6 => object = owned(object, Kind::Kustomization, "n", "owner"),
        7 => object = owned(object, Kind::Kustomization, "n", "sibling"),
        8 => object = owned(object, Kind::HelmRelease, "n", "d"),
        9 => object = annotated(object, EXPECTED, Some("1111111")),
        10 => object = annotated(object, EXPECTED, Some("9999999")),
        11 => drop(object.as_object_mut().unwrap().remove("status")),
        12 => set(&mut object, "/status/observedGeneration", json!("x")),
        13 => {
            set(&mut object, "/status/artifact/revision", json!("main@sha1:2222222222222222222222222222222222222222"))
        }
        14 => set(&mut object, "/status/conditions/Stalled/status", json!("True")),
        15 => drop(world.forbidden.insert(key.kind)),
        16 => drop(world.absent_kinds.insert(key.kind)),
        17 => world.lease = None,
        18 => set(&mut object, "/spec/dependsOn", json!([{"name": "x"}])),
        _ => {
            world.objects.remove(&key);
            return;
        }
    }
    world.objects.insert(key, object);
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
            *new = suspended(new.clone());
            *old = resumed(old.clone());
            *new = annotated(new.clone(), crate::resume::RESUME, Some("when-settled"));
        }
        6 => *new = annotated(new.clone(), crate::resume::BYPASS, Some("a drill")),
        7 => {
            for object in [old, new] {
                *object = owned(object.clone(), Kind::Kustomization, "n", "owner");
            }
        }
        8 => *new = owned(new.clone(), Kind::Kustomization, "n", "owner"),
        9 => *new = annotated(new.clone(), EXPECTED, Some("9999999")),
        10 => set(
            new,
            "/spec/dependsOn",
            json!([{"name": "b"}, {"name": "nowhere", "namespace": "other"}, {"name": "x"}]),
        ),
        11 => set(new, "/metadata/labels/sharding.fluxcd.io~1key", json!("shard")),
        12 => set(
            new,
            "/spec/healthChecks",
            json!([{"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "name": "d"}]),
        ),
        _ => {}
    }
}

proptest! {
    #![proptest_config(config(500))]

    /// What is settled, reached, held, marked and told.
    #[test]
    fn about_resumes(
        which in 0..13_usize,
        disturbances in prop::collection::vec((any::<usize>(), 0..22_u8), 0..4),
        decorations in prop::collection::vec(0..24_u8, 0..3),
        by in asker(),
        settings in settings(),
        allow in any::<u8>(),
    ) {
        let subject = subjects()[which].clone();
        let mut world = World::with(stored());
        for (at, how) in disturbances {
            disturb(&mut world, at, how);
        }
        let (mut old, mut new) = (suspended(subject.clone()), resumed(subject));
        for how in decorations {
            decorate(&mut old, &mut new, how);
        }
        world.objects.insert(reference(&old), old.clone());
        both_agree(Asked { world, settings, by, old: Some(&old), new: &new, allow })?;
    }
}
