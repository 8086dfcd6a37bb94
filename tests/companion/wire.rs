//! What the requests and answers of the API server in memory look like.

use crate::server::Call;
use http::{Method, Response};
use kube::client::Body;
use serde_json::{Value, json};
use sluicegate::cluster::Watched;
use sluicegate_core::object::{KINDS, Kind, Reference};

/// Whether the rights that `sluicegate rbac` prints cover a request.
pub fn is_granted(call: &Call) -> bool {
    let verb = match call.method {
        Method::GET => "get",
        Method::PATCH => "patch",
        Method::POST => "create",
        _ => "update",
    };
    let parts: Vec<&str> = call.path.split('/').collect();
    let (Some(group), Some(rest)) = (parts.get(2), parts.get(4..)) else { return false };
    let resource = match rest {
        ["namespaces", _, rest @ ..] => rest,
        rest => rest,
    };
    let resource = match resource {
        [plural, _, part] => format!("{plural}/{part}"),
        [plural, ..] => (*plural).to_owned(),
        [] => return false,
    };
    let rights = sluicegate::rights::companion(true, false).into_iter().chain(sluicegate::rights::own());
    let mut rights = rights.filter(|right| right.group == *group && right.resource == resource);
    rights.any(|right| right.verbs.contains(&verb))
}

/// The object, however broken the rest of it is.
pub fn reference(json: &Value) -> Reference {
    let text = |pointer: &str| json.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    Reference::new(
        Kind::of(text("/apiVersion"), text("/kind")).unwrap(),
        text("/metadata/namespace"),
        text("/metadata/name"),
    )
}

pub fn watched(json: &Value) -> Watched {
    serde_json::from_str(&json.to_string()).unwrap()
}

/// The object that a path names, and the subresource.
pub fn find(path: &str) -> Option<(Reference, &str)> {
    let parts: Vec<&str> = path.strip_prefix("/apis/")?.split('/').collect();
    let (group, rest) = (parts.first()?, parts.get(2..)?);
    let (namespace, rest) = match rest {
        ["namespaces", namespace, rest @ ..] => (*namespace, rest),
        rest => ("", rest),
    };
    let (plural, name, part) = match rest {
        [plural, name] => (plural, name, ""),
        [plural, name, part] => (plural, name, *part),
        _ => return None,
    };
    let row = KINDS.iter().find(|row| row.group == *group && row.plural == *plural)?;
    Some((Reference::new(row.kind, namespace, name), part))
}

/// What a patch does, told by what it changes.
pub fn describe(call: &Call) -> String {
    let (own, part) = find(&call.path).unwrap();
    let body = call.body.to_string();
    let what = match part {
        "status" if body.contains("\"Held\"") => "publish",
        "status" if body.contains("observedSourcesDigest") || body.contains("RecoveryForced") => "lever",
        "status" if own.kind == Kind::PackageSource => "report",
        "status" => "unpublish",
        _ if body.contains("sluicegate.dev~1held") || body.contains("sluicegate.dev~1resume") => "release",
        _ if body.contains("\"remove\"") => "reset",
        _ if body.contains("recovery-attempts") && body.contains("requestedAt") => "refresh",
        _ if body.contains("recovery-attempts") => "count",
        _ => "request",
    };
    format!("{what} {own}")
}

pub fn answer(code: u16, body: &Value) -> Response<Body> {
    Response::builder().status(code).body(Body::from(body.to_string().into_bytes())).unwrap()
}

pub fn status(code: u16, message: &str) -> Response<Body> {
    let body = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code,
                      "reason": "Test"});
    answer(code, &body)
}
