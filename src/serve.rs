//! What is served over HTTP: health and metrics on the pod network; the graph and explanations, which show everything, on
//! the loopback alone.

use crate::control::Control;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::{Value, json};
use sluicegate_core::graph::{LoopReport, Step};
use sluicegate_core::object::{Kind, Reference};
use sluicegate_core::publish::root_of;
use sluicegate_core::settled::{Blocker, Snapshot, blockers};
use sluicegate_core::text::clean;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// For how long the driver may not show that it is alive.
const SILENCE: i64 = 60;
/// How many connections are served at a time.
const CONNECTIONS: usize = 32;

/// Which pages are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// `/healthz`, `/readyz`, `/metrics`.
    Public,
    /// `/graph`, `/explain`.
    Private,
}

type Answer = Response<Full<Bytes>>;

/// Serves pages until the task is ended.
pub async fn serve(listener: TcpListener, control: Arc<Control>, pages: Pages) {
    let permits = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(permit) = permits.clone().acquire_owned().await else { return };
        let (stream, _) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::debug!(%error, "a connection was not accepted");
                // Most often there are no file descriptors left: trying again at once would only burn a core.
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let control = control.clone();
        tokio::spawn(async move {
            let service = service_fn(|request: Request<Incoming>| {
                let answer =
                    answer(&control, pages, request.method().as_str(), request.uri().path(), request.uri().query());
                async move { Ok::<_, std::convert::Infallible>(answer) }
            });
            let mut http = hyper::server::conn::http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(Duration::from_secs(5)).max_buf_size(16 * 1_024);
            let served = http.serve_connection(TokioIo::new(stream), service);
            if let Ok(Err(error)) = tokio::time::timeout(Duration::from_secs(60), served).await {
                tracing::debug!(%error, "a connection ended badly");
            }
            drop(permit);
        });
    }
}

/// Whether an address is one of the loopback.
#[must_use]
pub fn is_loopback(address: SocketAddr) -> bool {
    address.ip().is_loopback()
}

/// The answer to a request.
#[must_use]
pub fn answer(control: &Control, pages: Pages, method: &str, path: &str, query: Option<&str>) -> Answer {
    if !matches!(method, "GET" | "HEAD") {
        return text(StatusCode::METHOD_NOT_ALLOWED, "GET only\n".to_owned());
    }
    match (pages, path) {
        (Pages::Public, "/healthz") if control.metrics.is_alive(SILENCE) => text(StatusCode::OK, "ok\n".to_owned()),
        (Pages::Public, "/healthz") => text(StatusCode::SERVICE_UNAVAILABLE, "the driver has stopped\n".to_owned()),
        (Pages::Public, "/readyz") => ready(control),
        (Pages::Public, "/metrics") => {
            let mut answer = text(StatusCode::OK, control.metrics.text());
            let kind = http::HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
            answer.headers_mut().insert(http::header::CONTENT_TYPE, kind);
            answer
        }
        (Pages::Private, "/graph") => json_answer(StatusCode::OK, &graph(control)),
        (Pages::Private, "/explain") => explain(control, query.unwrap_or_default()),
        _ => text(StatusCode::NOT_FOUND, "not found\n".to_owned()),
    }
}

fn ready(control: &Control) -> Answer {
    let (listed, missing) = {
        let state = control.lock();
        (state.is_listed() && state.has_served(), state.unlisted())
    };
    if listed {
        return text(StatusCode::OK, "ok\n".to_owned());
    }
    let missing: Vec<&str> = missing.iter().map(|kind| kind.name()).collect();
    text(StatusCode::SERVICE_UNAVAILABLE, format!("not listed yet: {}\n", missing.join(", ")))
}

fn graph(control: &Control) -> Value {
    let state = control.lock();
    let graph = state.graph();
    let objects: Vec<Value> = graph
        .objects()
        .map(|object| {
            let needs: Vec<Value> = graph
                .needs(object)
                .iter()
                .map(|need| json!({"target": need.target.to_string(), "field": need.reason.to_string()}))
                .collect();
            json!({"object": object.to_string(), "needs": needs})
        })
        .collect();
    let loops: Vec<Value> = state.loops.iter().map(|report| shown(report, graph)).collect();
    let roots = state.roots();
    let held: Vec<Value> = state
        .all_held()
        .map(|(object, held)| {
            let root = root_of(object, &roots).map(ToString::to_string);
            json!({"object": object.to_string(), "since": held.since.to_rfc3339(), "message": held.message, "root": root})
        })
        .collect();
    let absent: Vec<String> = graph.absent().map(ToString::to_string).collect();
    json!({"schemaVersion": 1, "objects": objects, "absent": absent, "loops": loops, "held": held})
}

fn shown(report: &LoopReport, graph: &sluicegate_core::graph::Graph) -> Value {
    let step = |step: &Step| json!({"from": step.from.to_string(), "to": step.need.target.to_string(), "field": step.need.reason.to_string()});
    let members: Vec<String> = report.members.iter().map(ToString::to_string).collect();
    let behind: Vec<String> = graph.behind(&report.members).into_iter().map(ToString::to_string).collect();
    let cut = report.cut.as_ref().map(|cut| json!({"from": cut.from.to_string(), "to": cut.target.to_string()}));
    let silenced: Vec<Value> = graph
        .silenced_by(&report.members)
        .into_iter()
        .map(|silenced| {
            let bystanders: Vec<String> = silenced.bystanders.iter().map(ToString::to_string).collect();
            json!({"source": silenced.source.to_string(), "bystanders": bystanders})
        })
        .collect();
    let steps: Vec<Value> = report.shortest.steps.iter().map(step).collect();
    json!({"members": members, "shortest": steps, "cut": cut, "behind": behind, "silenced": silenced})
}

/// `?object=Kind/namespace/name`: why is it not settled, and what is said of what it waits for?
fn explain(control: &Control, query: &str) -> Answer {
    let wanted = query.split('&').find_map(|pair| pair.strip_prefix("object=")).map(decode);
    let Some(own) = wanted.as_deref().and_then(parse) else {
        return text(StatusCode::BAD_REQUEST, "ask for ?object=Kind/namespace/name\n".to_owned());
    };
    let state = control.lock();
    let Some(fresh) = state.read(&own) else {
        return json_answer(
            StatusCode::NOT_FOUND,
            &json!({"schemaVersion": 1, "object": own.to_string(), "found": false}),
        );
    };
    let object = fresh.object();
    let snapshot = Seen(
        object
            .needs()
            .judged
            .into_iter()
            .filter_map(|need| Some((need.target.clone(), state.read(&need.target)?)))
            .collect(),
    );
    let sentences = |object: &sluicegate_core::object::Object| -> Vec<String> {
        blockers(object, &snapshot).iter().map(|blocker: &Blocker| blocker.sentence().to_string()).collect()
    };
    let needs: Vec<Value> = object
        .needs()
        .judged
        .iter()
        .map(|need| {
            let seen = snapshot.0.get(&need.target);
            let found = seen.is_some();
            let blockers = seen.map(|seen| sentences(seen.object())).unwrap_or_default();
            json!({"target": need.target.to_string(), "field": need.reason.to_string(), "found": found, "blockers": blockers})
        })
        .collect();
    let held = state.known_held(&own).map(|held| json!({"since": held.since.to_rfc3339(), "message": held.message}));
    let root = root_of(&own, &state.roots()).map(ToString::to_string);
    let body = json!({"schemaVersion": 1, "object": own.to_string(), "found": true, "blockers": sentences(object),
                      "needs": needs, "held": held, "root": root});
    json_answer(StatusCode::OK, &body)
}

struct Seen(std::collections::BTreeMap<Reference, sluicegate_core::intent::Fresh>);

impl Snapshot for Seen {
    fn object(&self, reference: &Reference) -> Option<&sluicegate_core::object::Object> {
        self.0.get(reference).map(sluicegate_core::intent::Fresh::object)
    }
}

/// `Kind/namespace/name`, or `Kind/name` for kinds without namespaces.
#[must_use]
pub fn parse(text: &str) -> Option<Reference> {
    let parts: Vec<&str> = text.split('/').collect();
    let reference = match parts.as_slice() {
        [kind, namespace, name] => Reference::new(Kind::named(kind)?, namespace, name),
        [kind, name] => Reference::new(Kind::named(kind)?, "", name),
        _ => return None,
    };
    reference.can_exist().then_some(reference)
}

/// Names need no more of an URL's escapes than the slash.
fn decode(text: &str) -> String {
    text.replace("%2F", "/").replace("%2f", "/")
}

fn text(status: StatusCode, body: String) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(body)));
    *answer.status_mut() = status;
    let kind = http::HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(http::header::CONTENT_TYPE, kind);
    answer
}

fn json_answer(status: StatusCode, body: &Value) -> Answer {
    let mut answer = text(status, format!("{body:#}\n"));
    answer.headers_mut().insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    answer
}

/// What an address that cannot be used is told as.
#[must_use]
pub fn refused(address: SocketAddr, error: &std::io::Error) -> String {
    format!("cannot listen on {address}: {}", clean(&error.to_string(), 200))
}
