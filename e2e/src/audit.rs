//! Kubewarden's background audit, as the gate sees it.

use anyhow::{Context, Result};
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::gate::Gate;

/// Has the gate audit a stored object, as the audit scanner asks (Kubewarden 1.36): a creation without old object and
/// user, the kind in the place of the resource. Gives the response of the AdmissionReview.
///
/// # Errors
///
/// The gate does not answer.
pub async fn audit(cluster: &Cluster, gate: &Gate, stored: &Value) -> Result<Value> {
    let text = |pointer: &str| stored.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let (group, version) = text("/apiVersion").split_once('/').unwrap_or(("", text("/apiVersion")));
    let kind = json!({"group": group, "version": version, "kind": text("/kind")});
    let review = json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": text("/metadata/uid"),
            "kind": kind,
            "requestKind": kind,
            "resource": {"group": group, "version": version, "resource": text("/kind")},
            "name": text("/metadata/name"),
            "namespace": text("/metadata/namespace"),
            "operation": "CREATE",
            "userInfo": {},
            "object": stored,
        },
    });
    let connector =
        HttpsConnectorBuilder::new().with_tls_config(cluster.authority().client()?).https_only().enable_http1().build();
    let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build(connector);
    let request = Request::post(gate.url().replace("/validate/", "/audit/"))
        .header("Content-Type", "application/json")
        .body(Full::new(Bytes::from(review.to_string())))?;
    let answer = client.request(request).await.context("the gate's audit")?.into_body().collect().await?.to_bytes();
    let mut answer: Value = serde_json::from_slice(&answer)?;
    answer.get_mut("response").map(Value::take).with_context(|| format!("no response in {answer}"))
}
