//! An API server that knows a few answers, and nothing else.

use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    extract::{Request, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::Notify, time::sleep};

pub const DISCOVERY: &str = "GET /apis/kustomize.toolkit.fluxcd.io/v1";
pub const A: &str = "GET /apis/kustomize.toolkit.fluxcd.io/v1/namespaces/apps/kustomizations/a";
pub const REVIEWS: &str = "POST /apis/authorization.k8s.io/v1/subjectaccessreviews";

/// What comes of a request.
#[derive(Clone)]
pub enum Reply {
    Json(u16, Value),
    Text(u16, &'static str),
    /// The same, some time later
    Late(Duration, Value),
    /// Nothing, for ever
    Hang,
}

/// The server: answers the requests it is told of, in order for those with the same line, the last answer for good.
pub struct ApiServer {
    address: SocketAddr,
    inner: Arc<Inner>,
}

struct Inner {
    replies: Mutex<Vec<(String, VecDeque<Reply>)>>,
    seen: Mutex<Vec<(String, Value)>>,
    unexpected: Mutex<Vec<String>>,
    arrived: Notify,
    at_once: Mutex<(usize, usize)>,
}

impl ApiServer {
    /// Starts it. A request is `METHOD /path`.
    pub async fn start(replies: &[(&str, &[Reply])]) -> Self {
        let replies =
            replies.iter().map(|(line, replies)| ((*line).to_owned(), replies.iter().cloned().collect())).collect();
        let inner = Arc::new(Inner {
            replies: Mutex::new(replies),
            seen: Mutex::default(),
            unexpected: Mutex::default(),
            arrived: Notify::new(),
            at_once: Mutex::default(),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().fallback(answer).with_state(Arc::clone(&inner));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, inner }
    }

    /// One that knows the kind Kustomization, and answers reads of `apps/a` so.
    pub async fn with_a(replies: &[Reply]) -> Self {
        Self::start(&[(DISCOVERY, &[kustomizations()]), (A, replies)]).await
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The request lines so far, in order.
    pub fn seen(&self) -> Vec<String> {
        self.inner.seen.lock().unwrap().iter().map(|(line, _)| line.clone()).collect()
    }

    /// The bodies of requests with a line.
    pub fn bodies(&self, wanted: &str) -> Vec<Value> {
        let seen = self.inner.seen.lock().unwrap();
        seen.iter().filter(|(line, _)| line == wanted).map(|(_, body)| body.clone()).collect()
    }

    /// Waits until a request has come.
    pub async fn until_seen(&self, wanted: &str) {
        loop {
            let arrived = self.inner.arrived.notified();
            if self.seen().iter().any(|line| line == wanted) {
                return;
            }
            arrived.await;
        }
    }

    /// The most requests that were being answered at the same time.
    pub fn most_at_once(&self) -> usize {
        self.inner.at_once.lock().unwrap().1
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        let unexpected = self.inner.unexpected.lock().unwrap().clone();
        if !std::thread::panicking() {
            assert!(unexpected.is_empty(), "nobody told of these requests: {unexpected:?}");
        }
    }
}

async fn answer(State(inner): State<Arc<Inner>>, request: Request) -> Response {
    let line = format!("{} {}", request.method(), request.uri().path());
    let body = axum::body::to_bytes(request.into_body(), usize::MAX).await.unwrap();
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let reply = {
        let mut replies = inner.replies.lock().unwrap();
        replies.iter_mut().find(|(known, _)| *known == line).and_then(|(_, replies)| match replies.len() {
            0 | 1 => replies.front().cloned(),
            _ => replies.pop_front(),
        })
    };
    {
        let mut at_once = inner.at_once.lock().unwrap();
        at_once.0 += 1;
        at_once.1 = at_once.1.max(at_once.0);
    }
    inner.seen.lock().unwrap().push((line.clone(), body));
    inner.arrived.notify_waiters();
    let response = match reply {
        Some(Reply::Json(status, body)) => json_response(status, &body),
        Some(Reply::Text(status, text)) => (StatusCode::from_u16(status).unwrap(), text).into_response(),
        Some(Reply::Late(time, body)) => {
            sleep(time).await;
            json_response(200, &body)
        }
        Some(Reply::Hang) => std::future::pending().await,
        None => {
            inner.unexpected.lock().unwrap().push(line);
            StatusCode::NOT_IMPLEMENTED.into_response()
        }
    };
    inner.at_once.lock().unwrap().0 -= 1;
    response
}

fn json_response(status: u16, body: &Value) -> Response {
    (StatusCode::from_u16(status).unwrap(), axum::Json(body)).into_response()
}

/// What the discovery of Kustomizations says.
pub fn kustomizations() -> Reply {
    resources("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "kustomizations", true)
}

/// What the discovery of a kind says.
pub fn resources(group_version: &str, kind: &str, plural: &str, namespaced: bool) -> Reply {
    Reply::Json(
        200,
        json!({
            "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version,
            "resources": [{"name": plural, "singularName": "", "namespaced": namespaced, "kind": kind, "verbs": ["get"]}]
        }),
    )
}

/// A Status that says what went wrong.
pub fn status(code: u16, reason: &str, message: &str) -> Reply {
    Reply::Json(
        code,
        json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": message, "reason": reason, "code": code
        }),
    )
}
