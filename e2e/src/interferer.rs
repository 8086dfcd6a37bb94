//! Somebody else's mutating webhook: it takes `spec.suspend` off whatever passes, after ours has seen it.

use std::sync::Arc;

use anyhow::Result;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::cluster::Cluster;
use crate::kind;
use crate::manifest::Manifest;
use crate::wait::until;

/// The webhook; it ends when dropped, its registration stays.
#[derive(Debug)]
pub struct Interferer {
    task: tokio::task::JoinHandle<()>,
}

impl Interferer {
    /// Starts it, and waits until it is at work. Its configuration sorts after every other of the tests.
    ///
    /// # Errors
    ///
    /// There is no port, or the API server does not take the registration.
    pub async fn start(cluster: &Cluster) -> Result<Self> {
        let authority = cluster.authority();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let url = format!("https://{}/", listener.local_addr()?);
        let acceptor = TlsAcceptor::from(Arc::new(authority.server()?));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    let service = hyper::service::service_fn(answer);
                    let _ = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        let rules = json!([{"apiGroups": [kind::KUSTOMIZATION.group], "apiVersions": ["v1"],
                            "resources": ["kustomizations"], "operations": ["CREATE", "UPDATE"]}]);
        let ca = base64(std::fs::read(&authority.ca)?.as_slice());
        let webhook = json!([{
            "name": "clears.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "clientConfig": {"url": url, "caBundle": ca}, "rules": rules, "failurePolicy": "Fail",
        }]);
        let configuration = Manifest::new(&kind::MUTATING_WEBHOOK.at("", "zz-clears")).with("/webhooks", webhook);
        cluster.admin().apply(&configuration).await?.admitted()?;
        let probe = crate::manifest::kustomization("apps", "probe", "probe").suspended();
        until("the other webhook is at work", async || {
            let stored = cluster.admin().dry_run().apply(&probe).await?.admitted()?;
            Ok(if stored.pointer("/spec/suspend").is_none() { Ok(()) } else { Err(stored.to_string()) })
        })
        .await?;
        Ok(Self { task })
    }
}

impl Drop for Interferer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>> {
    let review: Value = serde_json::from_slice(&request.into_body().collect().await?.to_bytes())?;
    let mut response = json!({"uid": review.pointer("/request/uid"), "allowed": true});
    if review.pointer("/request/object/spec/suspend").is_some()
        && let Some(map) = response.as_object_mut()
    {
        map.insert("patchType".to_owned(), json!("JSONPatch"));
        map.insert("patch".to_owned(), json!(base64(br#"[{"op":"remove","path":"/spec/suspend"}]"#)));
    }
    let body = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response});
    Ok(Response::builder().header("Content-Type", "application/json").body(Full::new(body.to_string().into()))?)
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
