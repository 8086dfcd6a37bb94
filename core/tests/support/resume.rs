//! Objects that are suspended, held, resumed and owned, and what would be stored of them.
#![allow(dead_code, reason = "each test file uses its own part")]

use super::support::{Judged, World};
use serde_json::{Value, json};
use sluicegate_core::object::{Kind, Switch};
use sluicegate_core::testing::{reference, sample, set};

pub const HELD: &str = "sluicegate.dev/held";
pub const RESUME: &str = "sluicegate.dev/resume";
pub const RELEASE: &str = "sluicegate.dev/release";
pub const BYPASS: &str = "sluicegate.dev/bypass";
pub const EXPECTED: &str = "sluicegate.dev/expected-revision";

fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// The object with this annotation, or without it.
pub fn annotated(mut object: Value, key: &str, value: Option<&str>) -> Value {
    set(&mut object, &format!("/metadata/annotations/{}", escape(key)), value.map_or(Value::Null, Into::into));
    object
}

pub fn annotation<'v>(object: &'v Value, key: &str) -> Option<&'v str> {
    object.pointer(&format!("/metadata/annotations/{}", escape(key)))?.as_str()
}

pub fn labelled(mut object: Value, key: &str, value: &str) -> Value {
    set(&mut object, &format!("/metadata/labels/{}", escape(key)), value.into());
    object
}

fn switch(object: &Value) -> Switch {
    reference(object).kind.row().switch
}

/// The object with its switch on.
pub fn suspended(mut object: Value) -> Value {
    match switch(&object) {
        Switch::Spec => set(&mut object, "/spec/suspend", json!(true)),
        Switch::Annotation(key) => object = annotated(object, key, Some("disabled")),
        Switch::None => panic!("this kind has no switch"),
    }
    object
}

/// The object without its switch.
pub fn resumed(mut object: Value) -> Value {
    match switch(&object) {
        Switch::Spec => set(&mut object, "/spec/suspend", Value::Null),
        Switch::Annotation(key) => object = annotated(object, key, None),
        Switch::None => panic!("this kind has no switch"),
    }
    object
}

pub fn is_suspended(object: &Value) -> bool {
    match switch(object) {
        Switch::Spec => object.pointer("/spec/suspend") == Some(&json!(true)),
        Switch::Annotation(key) => annotation(object, key) == Some("disabled"),
        Switch::None => false,
    }
}

/// The object with the labels of an owner of this kind.
pub fn owned(object: Value, kind: Kind, namespace: &str, name: &str) -> Value {
    let prefix = match kind {
        Kind::Kustomization => "kustomize.toolkit.fluxcd.io",
        Kind::HelmRelease => "helm.toolkit.fluxcd.io",
        Kind::ResourceSet => "resourceset.fluxcd.controlplane.io",
        _ => panic!("objects of a {kind} have no owner labels"),
    };
    let object = labelled(object, &format!("{prefix}/name"), name);
    labelled(object, &format!("{prefix}/namespace"), namespace)
}

/// The object as its controller has not yet looked at its newest generation.
pub fn unsettled(mut object: Value) -> Value {
    set(&mut object, "/metadata/generation", json!(sample::GENERATION + 1));
    object
}

/// `dependsOn` by names of the own namespace.
pub fn depending(mut object: Value, names: &[&str]) -> Value {
    let entries: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
    set(&mut object, "/spec/dependsOn", json!(entries));
    object
}

/// A mark as the gate writes it.
pub fn mark(user: &str, manager: &str, at: &str, cause: &str) -> String {
    format!(r#"{{"applier":{{"user":"{user}","manager":"{manager}"}},"at":"{at}","cause":"{cause}"}}"#)
}

/// What is stored of `new` after this verdict.
pub fn stored(judged: &Judged, new: &Value) -> Value {
    assert_eq!(judged.verdict.refusal, None);
    let json = judged.verdict.mutation.apply(new.to_string().as_bytes()).unwrap();
    serde_json::from_str(json.get()).unwrap()
}

/// The world with this object in the place of the one of its name.
pub fn put(world: &mut World, object: Value) {
    world.objects.insert(reference(&object), object);
}

pub fn refusal(judged: &Judged) -> &str {
    judged.verdict.refusal.as_deref().expect("a refusal")
}

/// Admitted as it is, without a word.
pub fn assert_silent(judged: &Judged) {
    assert_eq!(judged.verdict.refusal, None);
    assert_eq!(judged.verdict.warnings, [] as [&str; 0]);
    assert!(judged.verdict.mutation.is_empty(), "{:?}", judged.verdict.mutation);
}
