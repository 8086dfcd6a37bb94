//! Requests as the API server sends them.

use crate::support::By;
use serde_json::{Value, json};
use sluicegate_core::object::Kind;

pub fn update(by: By, old: &Value, new: &Value) -> Value {
    let mut request = request(by, "UPDATE", new);
    request["oldObject"] = old.clone();
    request
}

pub fn create(by: By, new: &Value) -> Value {
    request(by, "CREATE", new)
}

/// A request about this object. One of nobody is the background audit's, which leaves out what others hold.
///
/// # Panics
/// If the object is not of a judged kind.
pub fn request(by: By, operation: &str, object: &Value) -> Value {
    let (api_version, kind) = (object["apiVersion"].as_str().unwrap(), object["kind"].as_str().unwrap());
    let (group, version) = api_version.split_once('/').unwrap();
    let row = Kind::of(api_version, kind).unwrap().row();
    let kind = json!({"group": group, "version": version, "kind": kind});
    let mut request = json!({
        "uid": "5a3c0e7e-0000-4000-8000-000000000000",
        "kind": kind, "requestKind": kind,
        "resource": {"group": group, "version": version, "resource": row.plural},
        "operation": operation,
        "name": object["metadata"]["name"], "namespace": object["metadata"]["namespace"],
        "userInfo": {},
        "object": object,
    });
    if !by.user.is_empty() {
        request["userInfo"] = json!({"username": by.user, "groups": ["system:authenticated"]});
        request["dryRun"] = by.dry_run.into();
        request["options"] = json!({"apiVersion": "meta.k8s.io/v1", "fieldManager": by.manager});
    }
    request
}
