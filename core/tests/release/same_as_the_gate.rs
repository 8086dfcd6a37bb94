//! The companion releases exactly what the gate lets it release: both ask the same function, and this shows it on
//! generated snapshots.

use super::{held, judge};
use crate::support::{COMPANION, World, reference};
use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Value, json};
use sluicegate_core::object::Switch;
use sluicegate_core::release::{Outcome, Wait};
use sluicegate_core::testing::{sample, set};

/// What may be wrong with an object.
const TROUBLES: [(&str, &str); 9] = [
    ("/metadata/generation", "3"),
    ("/spec/suspend", "true"),
    ("/status/conditions/Ready/status", "\"Unknown\""),
    ("/status/conditions/Reconciling", r#"{"type":"Reconciling","status":"True"}"#),
    ("/status/artifact/revision", "\"main@sha1:2222222222222222222222222222222222222222\""),
    ("/status/observedGeneration", "1"),
    ("/status/conditions/ArtifactInStorage/observedGeneration", "1"),
    ("/metadata/deletionTimestamp", "\"2026-01-01T00:00:00Z\""),
    ("/metadata/annotations/reconcile.fluxcd.io~1requestedAt", "\"T\""),
];

/// The objects that may be there beside the one that is resumed.
fn others() -> Vec<Value> {
    vec![
        sample::git_repository("ns", "repo"),
        sample::helm_chart("ns", "ns-r"),
        sample::kustomization("ns", "k"),
        sample::helm_release("ns", "r"),
        sample::artifact_generator("ns", sample::GENERATOR),
        sample::external_artifact("ns", sample::ARTIFACT),
    ]
}

fn subjects() -> Vec<Value> {
    let depending = |mut json: Value, name: &str| {
        set(&mut json, "/spec/dependsOn", json!([{"name": name}]));
        json
    };
    let of_artifact = |mut json: Value| {
        set(&mut json, "/spec/sourceRef", json!({"kind": "ExternalArtifact", "name": sample::ARTIFACT}));
        json
    };
    vec![
        depending(sample::kustomization("ns", "own"), "k"),
        of_artifact(sample::kustomization("ns", "own")),
        depending(sample::helm_release("ns", "own"), "r"),
        sample::artifact_generator("ns", "own"),
        sample::helm_chart("ns", "own"),
        depending(sample::terraform("ns", "own"), "absent"),
    ]
}

fn resumed(mut json: Value) -> Value {
    set(&mut json, "/metadata/annotations/sluicegate.dev~1held", Value::Null);
    match reference(&json).kind.row().switch {
        Switch::Annotation(key) => {
            set(&mut json, &format!("/metadata/annotations/{}", key.replace('/', "~1")), Value::Null);
        }
        _ => set(&mut json, "/spec/suspend", Value::Null),
    }
    set(&mut json, "/metadata/annotations/reconcile.fluxcd.io~1requestedAt", json!("T"));
    json
}

proptest! {
    #![proptest_config(Config { cases: 200, failure_persistence: None, ..Config::default() })]

    #[test]
    fn what_it_would_release_the_gate_admits_and_nothing_else(
        subject in 0..6_usize,
        missing in prop::collection::vec(prop::bool::weighted(0.08), 6),
        wrong in prop::collection::vec((0..6_usize, 0..TROUBLES.len()), 0..2),
    ) {
        let mut objects = others();
        for (object, trouble) in wrong {
            let (field, value) = TROUBLES[trouble];
            set(&mut objects[object], field, serde_json::from_str(value).unwrap());
        }
        let there = objects.into_iter().zip(&missing).filter(|(_, missing)| !**missing).map(|(object, _)| object);
        let own = held(subjects()[subject].clone(), "premature", 0);
        let world = World::with(there.chain([own.clone()]));
        let released = judge(&world, &own);
        let gate = world.update(COMPANION, &own, &resumed(own.clone()));
        let admitted = gate.verdict.refusal.is_none();
        prop_assert_eq!(released.outcome == Outcome::Now, admitted, "{} but the gate says {}", released.said(), gate.said());
        if let Outcome::Waits(Wait::Input(blockage)) = &released.outcome {
            prop_assert!(gate.said().contains(&blockage.at.to_string()), "{} but the gate says {}", released.said(), gate.said());
        }
    }
}
