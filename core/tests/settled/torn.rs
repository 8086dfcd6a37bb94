//! Torn reads: Flux writes a status in up to three requests, any of which may be late or lost, and the objects of a
//! chain are read one after the other.

use super::chains::{self, troubles};
use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::settled::{blockers, sources_digest};
use sluicegate_core::testing::{object, sample, set, snapshot, with};

const NEW: &str = "main@sha1:9999999999999999999999999999999999999999";
const NEW_DIGEST: &str = "sha256:9999999999999999999999999999999999999999999999999999999999999999";

/// What an object shows at one instant, and what is really there.
#[derive(Clone)]
struct State {
    shown: Value,
    /// The content is that of the new revision.
    is_new: bool,
    /// What is there was made for the current spec.
    is_done: bool,
}

/// All that can be read of an object while its controller takes it from one settled state to the next: as it was, at
/// work, with either half of the last status lost or late, and as it will be.
fn pass(before: &Value, after: &Value) -> Vec<State> {
    let half = |conditions: &Value, rest: &Value| {
        let mut half = rest.clone();
        half["status"]["conditions"] = conditions["status"]["conditions"].clone();
        half
    };
    let at_work = with(
        before.clone(),
        &[
            ("/status/conditions/Ready/status", json!("Unknown")),
            ("/status/conditions/Ready/message", json!("Reconciliation in progress")),
            ("/status/conditions/Reconciling", json!({"type": "Reconciling", "status": "True"})),
        ],
    );
    let state = |shown: Value, is_new| State { shown, is_new, is_done: true };
    vec![
        state(before.clone(), false),
        state(at_work.clone(), false),
        state(half(after, before), false),
        state(half(before, after), true),
        state(half(&at_work, after), true),
        state(after.clone(), true),
    ]
}

/// The same with a spec edit that nobody has worked on: unseen; observed by a controller that was suspended then, and
/// still is; and resumed, with the resume unseen.
fn edits(states: Vec<State>) -> Vec<State> {
    let mut all = states.clone();
    for state in states {
        let generation = state.shown["metadata"]["generation"].as_i64().unwrap();
        let edited = |shown: &Value, by: i64| with(shown.clone(), &[("/metadata/generation", json!(generation + by))]);
        let mut moved = edited(&state.shown, 1);
        // A suspended source moves Ready along, a suspended release does not.
        set(&mut moved, "/status/observedGeneration", json!(generation + 1));
        let is_release = moved["kind"] == "HelmRelease";
        if !is_release && moved["status"]["conditions"].as_array().is_some_and(|all| !all.is_empty()) {
            set(&mut moved, "/status/conditions/Ready/observedGeneration", json!(generation + 1));
        }
        let suspended = with(moved.clone(), &[("/spec/suspend", json!(true))]);
        let resumed = edited(&moved, 2);
        for shown in [edited(&state.shown, 1), suspended, resumed] {
            all.push(State { shown, is_done: false, ..state });
        }
    }
    all
}

fn repository() -> Vec<State> {
    let before = sample::git_repository("ns", "repo");
    let message = format!("stored artifact for revision '{NEW}'");
    let after = with(
        before.clone(),
        &[
            ("/status/artifact/revision", json!(NEW)),
            ("/status/artifact/digest", json!(NEW_DIGEST)),
            ("/status/conditions/Ready/message", json!(message)),
            ("/status/conditions/ArtifactInStorage/message", json!(message)),
        ],
    );
    edits(pass(&before, &after))
}

fn kustomization() -> Vec<State> {
    let before = sample::kustomization("ns", "app");
    let after = with(
        before.clone(),
        &[
            ("/status/lastAppliedRevision", json!(NEW)),
            ("/status/conditions/Ready/message", json!(format!("Applied revision: {NEW}"))),
        ],
    );
    pass(&before, &after)
}

fn chart() -> Vec<State> {
    const VERSION: &str = "1.2.3+999999999999.2";
    let before = chains::release_by_revision().swap_remove(1);
    let message = format!("packaged 'app' chart with version '{VERSION}' and merged values files [a.yaml]");
    let after = with(
        before.clone(),
        &[
            ("/status/artifact/revision", json!(VERSION)),
            ("/status/observedSourceArtifactRevision", json!(NEW)),
            ("/status/conditions/ArtifactInStorage/message", json!(message)),
            ("/status/conditions/Ready/message", json!(message)),
        ],
    );
    let mut states = pass(&before, &after);
    // The intermediate request, its conditions lost: looked at, not built; for ever, if the controller dies there.
    let looked_at = with(before, &[("/status/observedSourceArtifactRevision", json!(NEW))]);
    states.push(State { shown: looked_at, is_new: false, is_done: true });
    states
}

fn release() -> Vec<State> {
    const VERSION: &str = "1.2.3+999999999999.2";
    let before = chains::release_by_revision().swap_remove(2);
    let message = format!("Helm upgrade succeeded for release ns/app.v3 with chart app@{VERSION}");
    let mut after = with(before.clone(), &[("/status/conditions/Ready/message", json!(message))]);
    let newest =
        with(before["status"]["history"][0].clone(), &[("/version", json!(3)), ("/chartVersion", json!(VERSION))]);
    after["status"]["history"].as_array_mut().unwrap().insert(0, newest);
    let mut states = edits(pass(&before, &after));
    // Under way, as the history tells before anything else does.
    let mut pending = after;
    set(&mut pending, "/status/history/0/status", json!("pending-upgrade"));
    pending["status"]["conditions"] = before["status"]["conditions"].clone();
    states.push(State { shown: pending, is_new: false, is_done: true });
    states
}

fn generator() -> Vec<State> {
    let before = sample::artifact_generator("ns", sample::GENERATOR);
    let repo = repository().into_iter().find(|state| state.is_new && state.is_done).unwrap().shown;
    let digest = sources_digest(&object(&before), &snapshot([&repo])).unwrap();
    let after = with(
        before.clone(),
        &[("/status/observedSourcesDigest", json!(digest)), ("/status/inventory/0/digest", json!(NEW_DIGEST))],
    );
    let mut states = pass(&before, &after);
    // A generator whose spec was edited while nobody looked.
    let edited = with(before, &[("/metadata/generation", json!(3))]);
    states.push(State { shown: edited, is_new: false, is_done: false });
    states
}

fn artifact() -> Vec<State> {
    let before = sample::external_artifact("ns", sample::ARTIFACT);
    let revision = format!("latest@{NEW_DIGEST}");
    let after = with(
        before.clone(),
        &[("/status/artifact/revision", json!(revision)), ("/status/artifact/digest", json!(NEW_DIGEST))],
    );
    pass(&before, &after)
}

fn consumer_of_artifact() -> Vec<State> {
    let before = chains::kustomization_of_artifact().pop().unwrap();
    let after = with(before.clone(), &[("/status/lastAppliedRevision", json!(format!("latest@{NEW_DIGEST}")))]);
    pass(&before, &after)
}

fn terraform() -> Vec<State> {
    let before = sample::terraform("ns", "app");
    let after = with(
        before.clone(),
        &[
            ("/status/lastAttemptedRevision", json!(NEW)),
            ("/status/conditions/Ready/message", json!(format!("Outputs written: {NEW}"))),
        ],
    );
    pass(&before, &after)
}

/// Every mix of states along a chain: where nothing is unsettled, everything is done for its spec, and nobody is behind
/// the one it reads from.
#[rstest]
#[case(&[repository(), kustomization()])]
#[case(&[repository(), terraform()])]
#[case(&[repository(), chart(), release()])]
#[case(&[repository(), generator(), artifact()])]
#[case(&[repository().into_iter().filter(|state| state.is_done).collect(), generator(), artifact(), consumer_of_artifact()])]
fn no_mix_of_reads_is_settled_too_early(#[case] chain: &[Vec<State>]) {
    let mut settled = [0, 0];
    let mut places = vec![0; chain.len()];
    loop {
        let mix: Vec<&State> = places.iter().zip(chain).map(|(place, states)| &states[*place]).collect();
        let shown: Vec<Value> = mix.iter().map(|state| state.shown.clone()).collect();
        if troubles(&shown).is_empty() {
            assert!(mix.iter().all(|state| state.is_done), "{places:?}");
            assert!(mix.windows(2).all(|pair| pair[1].is_new || !pair[0].is_new), "{places:?}");
            settled[usize::from(mix[0].is_new)] += 1;
        }
        let Some(next) = (0..chain.len()).find(|at| places[*at] + 1 < chain[*at].len()) else { break };
        places[next] += 1;
        places[..next].fill(0);
    }
    assert!(settled.iter().all(|count| *count > 0), "both ends of the roll-out are settled: {settled:?}");
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,6}", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    /// Fields and conditions that no test reads change nothing, whatever they hold and wherever they stand.
    #[test]
    fn what_is_not_judged_does_not_matter(
        which in any::<prop::sample::Index>(),
        noise in anything(),
        name in "[A-Z][a-z]{3,8}",
        status in prop_oneof![Just("True"), Just("False"), Just("Unknown"), Just("")],
        first in any::<bool>(),
    ) {
        let all = chains::all();
        let mut chain = which.get(&all).clone();
        let judged = ["Ready", "Reconciling", "Stalled"];
        prop_assume!(!judged.contains(&name.as_str()));
        for json in &mut chain {
            set(json, "/spec/zzz", noise.clone());
            set(json, "/status/zzz", noise.clone());
            set(json, "/metadata/zzz", noise.clone());
            set(json, "/metadata/annotations/example.com~1zzz", noise.clone());
            if let Some(conditions) = json.pointer_mut("/status/conditions").and_then(Value::as_array_mut) {
                let at = if first { 0 } else { conditions.len() };
                conditions.insert(at, json!({"type": name, "status": status, "message": "stored artifact for revision 'x'"}));
                conditions.reverse();
            }
        }
        prop_assert_eq!(troubles(&chain), Vec::<String>::new());
    }

    /// No text in an object makes a test panic, or a sentence long or unclean.
    #[test]
    fn hostile_texts_stay_texts(
        which in any::<prop::sample::Index>(),
        text in "(\\PC|[\u{0}-\u{1f}\u{7f}\u{200b}-\u{202e}'@:+._/ ]|stored artifact for revision '|succeeded for release ){0,400}",
        field in prop::sample::select(vec![
            "/status/conditions/Ready/message", "/status/conditions/ArtifactInStorage/message",
            "/status/artifact/revision", "/status/artifact/digest", "/status/lastAppliedRevision",
            "/status/observedSourcesDigest", "/status/observedSourceArtifactRevision", "/status/lastAttemptedRevision",
            "/spec/variant", "/status/lastHandledReconcileAt", "/metadata/annotations/reconcile.fluxcd.io~1requestedAt",
            "/metadata/annotations/sluicegate.dev~1expected-revision", "/spec/reconcileStrategy",
        ]),
        ready in prop_oneof![Just("True"), Just("False"), Just("odd")],
    ) {
        let all = chains::all();
        let mut chain = which.get(&all).clone();
        for json in &mut chain {
            set(json, field, Value::from(text.as_str()));
            set(json, "/status/conditions/Ready/status", Value::from(ready));
        }
        let known = snapshot(&chain);
        for object in known.values() {
            for blocker in blockers(object, &known) {
                let sentence = blocker.sentence().to_string();
                prop_assert!(!sentence.chars().any(char::is_control), "{:?}", sentence);
                // Escaping makes a character ten, at most.
                prop_assert!(sentence.chars().count() < 2_600);
                prop_assert!(!blocker.brief().is_empty());
            }
            let _ = sluicegate_core::settled::unmet_expectation(object, &known, true);
        }
    }
}
