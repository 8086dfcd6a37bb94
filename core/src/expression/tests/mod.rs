//! Tests of whole expressions. What Flux itself says to each was established by running the same texts over the same
//! objects through cel-go v0.26.1 with the options of `fluxcd/pkg` `runtime/cel`.

mod accepted;
mod bombs;
mod properties;
mod refused;

use super::*;
use serde_json::json;
use std::thread;

/// What the guest has for everything. Compiled and optimised, an expression as deep as is allowed takes less than
/// 128 KiB of it.
const SMALL: usize = 512 << 10;
/// The same for unoptimised code, whose frames are ten times as large.
const ROOMY: usize = 4 << 20;

/// Runs on a stack of that many bytes.
fn on_stack<T: Send + 'static>(bytes: usize, run: impl FnOnce() -> T + Send + 'static) -> T {
    thread::Builder::new().stack_size(bytes).spawn(run).unwrap().join().unwrap()
}

fn dep() -> Value {
    json!({
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
        "kind": "Kustomization",
        "metadata": {"name": "app", "generation": 2, "labels": {"v": "1", "app/x": "y"}},
        "spec": {},
        "status": {
            "conditions": [
                {"type": "Ready", "status": "True", "observedGeneration": 2},
                {"type": "Healthy", "status": "False"}
            ],
            "observedGeneration": 2,
            "ready": true,
            "n": 1,
            "f": 1.5,
            "s": "x",
            "t": "2024-01-02T03:04:05Z",
            "l": [1, 2],
            "ls": ["b", "a"],
            "max": 9_223_372_036_854_775_807_u64,
            "big": 9_223_372_036_854_775_808_u64,
            "neg": -1,
            "null": null,
            "m": {"a": 1, "b": {"c": "d"}},
            "e": [],
            "em": {}
        }
    })
}

fn this() -> Value {
    json!({"metadata": {"name": "me", "labels": {"v": "1"}}, "spec": {"n": 1}})
}

/// Over `self` and `dep`.
fn ask(text: &str) -> Result<bool, Failure> {
    evaluate(text, Scope::SelfAndDep { this: &this(), dep: &dep() })
}

/// Over the fields of `dep`.
fn ask_fields(text: &str) -> Result<bool, Failure> {
    evaluate(text, Scope::Fields(&dep()))
}
