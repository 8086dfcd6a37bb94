//! Help for tests, here and in the crates that build on this one (feature `testing`): sample objects as JSON, and the
//! way from them to a snapshot. Everything here panics where a test is wrong.

pub mod expression;
pub mod sample;

use crate::object::{Kind, Object, Reference};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Reads an object of a judged kind.
///
/// # Panics
/// If it is none, or cannot be read.
#[must_use]
pub fn object(json: &Value) -> Object {
    let text = |field: &str| json.get(field).and_then(Value::as_str).unwrap_or_default();
    let Some(kind) = Kind::of(text("apiVersion"), text("kind")) else { panic!("no judged kind: {json}") };
    match Object::of_request(kind, None, None, json.to_string().as_bytes()) {
        Ok(object) => object,
        Err(why) => panic!("{why}: {json}"),
    }
}

/// The reference of an object.
///
/// # Panics
/// As [`object`].
#[must_use]
pub fn reference(json: &Value) -> Reference {
    object(json).reference
}

/// A snapshot of these objects.
///
/// # Panics
/// As [`object`], and where two are of the same name.
#[must_use]
pub fn snapshot<'a>(objects: impl IntoIterator<Item = &'a Value>) -> BTreeMap<Reference, Object> {
    let mut snapshot = BTreeMap::new();
    for json in objects {
        let object = object(json);
        if let Some(twice) = snapshot.insert(object.reference.clone(), object) {
            panic!("{} stands twice in the snapshot", twice.reference);
        }
    }
    snapshot
}

/// Sets the field at a JSON pointer, making the objects on the way where they are missing; `null` removes it. A
/// condition is named by its type: `/status/conditions/Ready/status`, and made where it is missing.
///
/// # Panics
/// Where the way leads through a value that holds no others, or outside a list.
pub fn set(json: &mut Value, pointer: &str, value: Value) {
    let Some((way, last)) = pointer.rsplit_once('/') else { panic!("{pointer} is no pointer") };
    let mut here = json;
    for key in way.split('/').skip(1) {
        here = child(here, &unescape(key), pointer);
    }
    let last = unescape(last);
    match (here, value) {
        (Value::Object(fields), Value::Null) => drop(fields.remove(&last)),
        (Value::Array(entries), Value::Null) => entries.retain(|entry| !is_condition(entry, &last)),
        (here, value) => *child(here, &last, pointer) = value,
    }
}

/// The same object with these fields set, see [`set`].
///
/// # Panics
/// As [`set`].
#[must_use]
pub fn with(mut json: Value, fields: &[(&str, Value)]) -> Value {
    for (pointer, value) in fields {
        set(&mut json, pointer, value.clone());
    }
    json
}

fn unescape(key: &str) -> String {
    key.replace("~1", "/").replace("~0", "~")
}

fn is_condition(entry: &Value, name: &str) -> bool {
    entry.get("type").and_then(Value::as_str) == Some(name)
}

fn child<'v>(here: &'v mut Value, key: &str, pointer: &str) -> &'v mut Value {
    if here.is_null() {
        *here = Value::Object(Map::new());
    }
    match here {
        Value::Object(fields) => {
            let empty = if key == "conditions" { Value::Array(Vec::new()) } else { Value::Null };
            fields.entry(key).or_insert(empty)
        }
        Value::Array(entries) => {
            let index = match key.parse::<usize>() {
                Ok(index) => index,
                Err(_) => entries.iter().position(|entry| is_condition(entry, key)).unwrap_or_else(|| {
                    entries.push(serde_json::json!({ "type": key }));
                    entries.len() - 1
                }),
            };
            match entries.get_mut(index) {
                Some(entry) => entry,
                None => panic!("{pointer} leads outside a list"),
            }
        }
        _ => panic!("{pointer} leads through a value that holds no others"),
    }
}
