//! What was compiled decides as the library does: the same verdict, texts, changes and reads, over random clusters.
//!
//! The library is given whole objects, the policy what its field masks leave of them: a field that is read and not
//! asked for shows here.

mod resumes;

use crate::harness::{Gate, LEASE, create, update};
use crate::model;
use crate::resume::{HELD, annotated, annotation};
use crate::support::{AUDIT, By, COMPANION, FLUX, Judged, PERSON, World};
use chrono::Utc;
use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Value, json};
use sluicegate_core::gate::{Disclose, Mark, Operation, Question, Role, Settings, Severity};
use sluicegate_host::Review;
use std::collections::BTreeMap;

const DRY: By = By { dry_run: true, ..FLUX };

fn config(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
}

/// A request over a world, and what the authorizer allows of what it is asked.
struct Asked<'a> {
    world: World,
    by: By,
    old: Option<&'a Value>,
    new: &'a Value,
    allow: u8,
}

/// Has both judge it, and compares.
fn both_agree(mut asked: Asked<'_>) -> Result<(), TestCaseError> {
    asked.world.time = Some(Utc::now());
    let native = |world: &World| {
        let operation = if asked.old.is_some() { Operation::Update } else { Operation::Create };
        world.judge(asked.by, operation, asked.old, asked.new)
    };
    let questions = native(&asked.world).questions;
    let allowed = questions.into_iter().enumerate().filter(|(index, _)| asked.allow & (1 << (index % 8)) != 0);
    asked.world.allowed = allowed.map(|(_, question)| question).collect();
    let expected = native(&asked.world);
    let gate = gate(&asked.world);
    let answer = match asked.old {
        Some(old) => gate.judge(&update(asked.by, old, asked.new)),
        None => gate.judge(&create(asked.by, asked.new)),
    };

    let verdict = &expected.verdict;
    prop_assert_eq!(verdict.refusal.as_deref(), (!answer.is_admitted()).then(|| answer.refusal()));
    prop_assert_eq!(&verdict.warnings, answer.warnings());
    let audit: BTreeMap<&str, &str> = verdict.audit.iter().map(|(key, value)| (*key, value.as_str())).collect();
    let told = answer.evaluation.response.audit_annotations.iter().flatten();
    let told: BTreeMap<&str, &str> = told.map(|(key, value)| (key.as_str(), value.as_str())).collect();
    prop_assert_eq!(audit, told);
    if answer.is_admitted() {
        let stored = crate::resume::stored(&expected, asked.new);
        prop_assert_eq!(timeless(stored), timeless(answer.stored()));
    }
    prop_assert_eq!(reads(&expected), normal(answer.reads()));
    let questions: Vec<String> = expected.questions.iter().map(shown).collect();
    prop_assert_eq!(questions, answer.questions());
    Ok(())
}

fn gate(world: &World) -> Gate {
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
    Gate { cluster, settings: written(&world.settings) }
}

/// The settings as an operator writes them.
fn written(settings: &Settings) -> Value {
    let severity = |severity| if severity == Severity::Refuse { "refuse" } else { "warn" };
    json!({
        "role": match settings.role {
            Role::Hold => "hold",
            Role::Refuse => "refuse",
            Role::Both => "both",
        },
        "enforce": settings.enforce,
        "dependencies": severity(settings.dependencies),
        "unheld": severity(settings.unheld),
        "disclose": if settings.disclose == Disclose::Everyone { "everyone" } else { "permitted" },
        "additiveReadyExpr": settings.additive_ready_expr,
        "maxReads": settings.max_reads,
    })
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

fn settings() -> impl Strategy<Value = Settings> {
    let severity = || prop::sample::select(vec![Severity::Warn, Severity::Refuse]);
    let role = prop_oneof![3 => Just(Role::Both), 1 => Just(Role::Hold), 1 => Just(Role::Refuse)];
    let disclose = prop::sample::select(vec![Disclose::Permitted, Disclose::Everyone]);
    let max_reads = prop_oneof![4 => Just(500), 1 => 1..6_usize];
    let strategies = (role, prop::bool::weighted(0.85), severity(), severity(), disclose, any::<bool>(), max_reads);
    strategies.prop_map(|(role, enforce, dependencies, unheld, disclose, additive_ready_expr, max_reads)| Settings {
        role,
        enforce,
        dependencies,
        unheld,
        disclose,
        additive_ready_expr,
        max_reads,
        ..Settings::default()
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
        both_agree(Asked { world: World { settings, ..case.world() }, by, old: old.as_ref(), new: &new, allow })?;
    }

    #[test]
    fn about_the_audit(case in model::case(14), settings in settings()) {
        let (old, new) = case.manifests();
        let stored = old.unwrap_or(new);
        both_agree(Asked { world: World { settings, ..case.world() }, by: AUDIT, old: None, new: &stored, allow: 0 })?;
    }
}
