//! The traffic.

use std::sync::{Arc, PoisonError};

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use http::{Request, Response, Uri, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::rule::{Fate, Rule};
use super::{Rules, Warnings};
use crate::answer::unquote;

#[derive(Clone)]
pub(super) struct Server {
    pub(super) client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    pub(super) upstream: Uri,
    pub(super) rules: Rules,
    pub(super) warnings: Warnings,
    /// Each message ends all connections.
    pub(super) cut: Arc<watch::Sender<()>>,
}

impl Server {
    /// Serves until it is dropped.
    pub(super) async fn run(self, listener: TcpListener, tls: rustls::ServerConfig) {
        let acceptor = TlsAcceptor::from(Arc::new(tls));
        let mut connections = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            let (server, acceptor) = (self.clone(), acceptor.clone());
            let mut cut = self.cut.subscribe();
            connections.spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                let service = hyper::service::service_fn(|request| server.pass(request));
                let served = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                tokio::select! {
                    // An error is a connection that is cut, by a rule or by the client.
                    _ = served => {}
                    _ = cut.changed() => {}
                }
            });
        }
    }

    async fn pass(&self, request: Request<Incoming>) -> Result<Response<BoxBody<Bytes, hyper::Error>>> {
        let (head, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let path = head.uri.path_and_query().map_or_else(String::new, ToString::to_string);
        let (mut fate, fitting) = self.fate(&head.method, &path, &String::from_utf8_lossy(&body));
        match fate {
            Fate::Answer(status) => return refuse(status),
            Fate::Cut => bail!("cut"),
            Fate::Delay(by) => tokio::time::sleep(by).await,
            Fate::Hold(ref mut gate) => {
                // The test may end first.
                let _ = gate.wait_for(|open| *open).await;
            }
            Fate::Expire => return expired(),
            Fate::Pass | Fate::CutAfter | Fate::HoldAnswer(_) => {}
        }
        let mut onward = self.upstream.clone().into_parts();
        onward.path_and_query = Some(path.parse()?);
        let mut sent = Request::builder().method(&head.method).uri(Uri::from_parts(onward)?);
        for (name, value) in &head.headers {
            if name != header::HOST && name != header::CONNECTION && name != header::CONTENT_LENGTH {
                sent = sent.header(name, value);
            }
        }
        let response = self.client.request(sent.body(Full::new(body))?).await.context("the API server is gone")?;
        for rule in fitting {
            rule.answered(response.status().as_u16());
        }
        let warned = response.headers().get_all(header::WARNING).iter();
        let warned = warned.map(|header| unquote(&String::from_utf8_lossy(header.as_bytes())));
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).extend(warned);
        match fate {
            Fate::CutAfter => bail!("cut"),
            Fate::HoldAnswer(ref mut gate) => {
                let _ = gate.wait_for(|open| *open).await;
            }
            _ => {}
        }
        Ok(response.map(BodyExt::boxed))
    }

    /// All rules count; the newest with an opinion decides. With it, the rules that fit.
    fn fate(&self, method: &http::Method, path: &str, body: &str) -> (Fate, Vec<Arc<Rule>>) {
        let rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut decided = Fate::Pass;
        let mut fitting = Vec::new();
        for rule in rules {
            if let Some(fate) = rule.judge(method, path, body) {
                decided = fate.unwrap_or(decided);
                fitting.push(rule);
            }
        }
        (decided, fitting)
    }
}

/// What the API server itself says to a watch that begins at a version that it does not remember.
fn expired() -> Result<Response<BoxBody<Bytes, hyper::Error>>> {
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                        "message": "too old resource version", "reason": "Expired", "code": 410});
    let event = json!({"type": "ERROR", "object": status});
    answer(200, format!("{event}\n"))
}

fn answer(status: u16, body: String) -> Result<Response<BoxBody<Bytes, hyper::Error>>> {
    Ok(Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(body)).map_err(|never| match never {}).boxed())?)
}

/// What the API server itself would say with this status.
fn refuse(status: u16) -> Result<Response<BoxBody<Bytes, hyper::Error>>> {
    let (reason, message) = match status {
        409 => ("Conflict", "the object has been modified"),
        410 => ("Expired", "too old resource version"),
        504 => ("Timeout", "etcdserver: request timed out"),
        _ => ("InternalError", "an error on the server, made by a test"),
    };
    let body = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                      "message": message, "reason": reason, "code": status});
    answer(status, body.to_string())
}
