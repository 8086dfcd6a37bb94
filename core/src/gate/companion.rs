//! The companion may change only the switch, marks, its request token and its recovery annotations, so that its rights
//! cannot be borrowed.

use crate::object::{Kind, Switch};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};

const ANNOTATIONS: [&str; 4] =
    [super::HELD, "reconcile.fluxcd.io/requestedAt", crate::recovery::ATTEMPTS_KEY, crate::recovery::LAST_AT_KEY];

/// What the API server itself keeps up to date.
const SERVER: [&str; 3] = ["generation", "managedFields", "resourceVersion"];

type Fields<'a> = BTreeMap<String, &'a RawValue>;

/// The first field, in alphabetical order, that the companion changes and may not; `None` where all is well.
#[must_use]
pub fn forbidden_change(kind: Kind, old: Option<&[u8]>, new: &[u8]) -> Option<String> {
    // It creates nothing.
    let Some(old) = old else { return Some("the whole object".to_owned()) };
    let (Some(old), Some(new)) = (fields(old), fields(new)) else { return Some("the whole object".to_owned()) };
    let mut changed = BTreeSet::new();
    compare(&old, &new, "", &["metadata", "spec", "status"], &mut changed);
    let switch = if kind.row().switch == Switch::Spec { "suspend" } else { "" };
    compare(&inner(&old, "spec"), &inner(&new, "spec"), "spec.", &[switch], &mut changed);
    let (old, new) = (inner(&old, "metadata"), inner(&new, "metadata"));
    let skipped: Vec<&str> = SERVER.into_iter().chain(["annotations"]).collect();
    compare(&old, &new, "metadata.", &skipped, &mut changed);
    let mut allowed: Vec<&str> = ANNOTATIONS.to_vec();
    if let Switch::Annotation(key) = kind.row().switch {
        allowed.push(key);
    }
    let (old, new) = (inner(&old, "annotations"), inner(&new, "annotations"));
    compare(&old, &new, "metadata.annotations.", &allowed, &mut changed);
    changed.into_iter().next()
}

fn fields(json: &[u8]) -> Option<Fields<'_>> {
    serde_json::from_slice(json).ok()
}

fn inner<'a>(parent: &Fields<'a>, key: &str) -> Fields<'a> {
    parent.get(key).and_then(|raw| fields(raw.get().as_bytes())).unwrap_or_default()
}

fn compare(old: &Fields<'_>, new: &Fields<'_>, prefix: &str, skip: &[&str], changed: &mut BTreeSet<String>) {
    for key in old.keys().chain(new.keys()) {
        let text = |fields: &Fields<'_>| fields.get(key).map_or("null", |raw| raw.get()).to_owned();
        if !skip.contains(&key.as_str()) && text(old) != text(new) {
            changed.insert(format!("{prefix}{key}"));
        }
    }
}
