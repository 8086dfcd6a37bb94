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
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::rule::Fate;
use super::{Rules, Warnings};
use crate::answer::unquote;

#[derive(Clone)]
pub(super) struct Server {
    pub(super) client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    pub(super) upstream: Uri,
    pub(super) rules: Rules,
    pub(super) warnings: Warnings,
}

impl Server {
    /// Serves until it is dropped.
    pub(super) async fn run(self, listener: TcpListener, tls: rustls::ServerConfig) {
        let acceptor = TlsAcceptor::from(Arc::new(tls));
        let mut connections = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            let (server, acceptor) = (self.clone(), acceptor.clone());
            connections.spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                let service = hyper::service::service_fn(|request| server.pass(request));
                // An error is a connection that is cut, by a rule or by the client.
                let _ =
                    hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
            });
        }
    }

    async fn pass(&self, request: Request<Incoming>) -> Result<Response<BoxBody<Bytes, hyper::Error>>> {
        let (head, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let path = head.uri.path_and_query().map_or_else(String::new, ToString::to_string);
        let mut fate = self.fate(&head.method, &path, &String::from_utf8_lossy(&body));
        match fate {
            Fate::Answer(status) => return refuse(status),
            Fate::Cut => bail!("cut"),
            Fate::Delay(by) => tokio::time::sleep(by).await,
            Fate::Hold(ref mut gate) => {
                // The test may end first.
                let _ = gate.wait_for(|open| *open).await;
            }
            Fate::Pass | Fate::CutAfter => {}
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
        let warned = response.headers().get_all(header::WARNING).iter();
        let warned = warned.map(|header| unquote(&String::from_utf8_lossy(header.as_bytes())));
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).extend(warned);
        if matches!(fate, Fate::CutAfter) {
            bail!("cut");
        }
        Ok(response.map(BodyExt::boxed))
    }

    /// All rules count; the newest with an opinion decides.
    fn fate(&self, method: &http::Method, path: &str, body: &str) -> Fate {
        let rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let fates: Vec<Fate> = rules.iter().filter_map(|rule| rule.judge(method, path, body)).collect();
        fates.into_iter().next_back().unwrap_or(Fate::Pass)
    }
}

/// What the API server itself would say with this status.
fn refuse(status: u16) -> Result<Response<BoxBody<Bytes, hyper::Error>>> {
    let (reason, message) = match status {
        409 => ("Conflict", "the object has been modified"),
        504 => ("Timeout", "etcdserver: request timed out"),
        _ => ("InternalError", "an error on the server, made by a test"),
    };
    let body = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                      "message": message, "reason": reason, "code": status});
    Ok(Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(body.to_string())).map_err(|never| match never {}).boxed())?)
}
