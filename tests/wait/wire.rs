//! What requests and answers of the API server look like.

use http::Response;
use http_body_util::{BodyExt, combinators::BoxBody};
use hyper::body::Bytes;
use serde_json::{Value, json};
use sluicegate_core::object::{KINDS, Kind};
use std::convert::Infallible;

pub type Body = BoxBody<Bytes, Infallible>;

pub fn named<'p>(parts: &[&'p str]) -> Option<(Kind, &'p str, Option<&'p str>)> {
    let (group, rest) = (parts.first()?, parts.get(2..)?);
    let (namespace, plural, name) = match rest {
        ["namespaces", namespace, plural] => (*namespace, plural, None),
        ["namespaces", namespace, plural, name] => (*namespace, plural, Some(*name)),
        [plural] => ("", plural, None),
        [plural, name] => ("", plural, Some(*name)),
        _ => return None,
    };
    let row = KINDS.iter().find(|row| row.group == *group && row.plural == *plural)?;
    Some((row.kind, namespace, name))
}

pub fn parameter(query: &str, name: &str) -> String {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let value = pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value).unwrap_or_default();
    value.replace("%3D", "=").replace("%2F", "/")
}

pub fn json_answer(code: u16, body: &Value) -> Response<Body> {
    let body = http_body_util::Full::new(Bytes::from(body.to_string())).boxed();
    Response::builder().status(code).header("content-type", "application/json").body(body).unwrap()
}

pub fn status(code: u16, reason: &str, message: &str) -> Response<Body> {
    let body = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code,
                      "reason": reason});
    json_answer(code, &body)
}

pub fn forbidden(verb: &str, kind: Kind) -> Response<Body> {
    let words = format!("{} is forbidden: User \"u\" cannot {verb} resource", kind.resource());
    status(403, "Forbidden", &words)
}
