//! Routes and answers.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Path, State, rejection::JsonRejection},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use prometheus_client::metrics::{counter::Counter, gauge::Gauge};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::{sync::Semaphore, task};

use super::{Observer, Options, metrics::Metrics};
use crate::{AdmissionRequest, AdmissionResponse, EvaluationError, Host};

/// What the routes share.
struct Shared {
    host: Host,
    /// The host that answers audits, which may always mutate.
    auditor: Host,
    name: String,
    places: Semaphore,
    metrics: Arc<Metrics>,
    observer: Option<Observer>,
}

pub(super) fn router(host: Host, options: Options) -> Router {
    let metrics = Arc::new(Metrics::new());
    let counted = Arc::clone(&metrics);
    let host = host.with_id(options.name.clone()).with_observer(move |call| counted.called(call));
    let shared = Shared {
        auditor: host.clone().with_mutation(true),
        host,
        name: options.name,
        places: Semaphore::new(options.instances.max(1)),
        metrics,
        observer: options.observer,
    };
    Router::new()
        .route("/validate/{policy}", post(validate))
        .route("/audit/{policy}", post(audit))
        .route("/readiness", get(|| async { StatusCode::OK }))
        .route("/metrics", get(metrics_text))
        .with_state(Arc::new(shared))
}

/// An AdmissionReview, as far as upstream looks; its name stands in error texts.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AdmissionReviewRequest {
    #[serde(rename = "kind")]
    _kind: Option<String>,
    #[serde(rename = "apiVersion")]
    _api_version: Option<String>,
    request: AdmissionRequest,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    kind: &'static str,
    api_version: &'static str,
    response: AdmissionResponse,
}

/// An error as JSON with message and status.
struct Failure {
    status: StatusCode,
    message: String,
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let body = json!({ "message": self.message, "status": self.status.as_u16() });
        (self.status, Json(body)).into_response()
    }
}

impl From<JsonRejection> for Failure {
    fn from(rejection: JsonRejection) -> Self {
        Self { status: rejection.status(), message: rejection.body_text() }
    }
}

async fn validate(
    State(shared): State<Arc<Shared>>,
    Path(policy): Path<String>,
    body: Result<Json<AdmissionReviewRequest>, JsonRejection>,
) -> Result<Json<Answer>, Failure> {
    let Json(review) = body?;
    let host = shared.host.clone();
    answer(shared, &policy, host, review.request).await
}

/// Upstream does not turn a body it cannot read into JSON here; axum's plain text is its answer.
async fn audit(
    State(shared): State<Arc<Shared>>,
    Path(policy): Path<String>,
    Json(review): Json<AdmissionReviewRequest>,
) -> Result<Json<Answer>, Failure> {
    let auditor = shared.auditor.clone();
    answer(shared, &policy, auditor, review.request).await
}

async fn answer(
    shared: Arc<Shared>,
    policy: &str,
    host: Host,
    request: AdmissionRequest,
) -> Result<Json<Answer>, Failure> {
    let waiting = Waiting { abandoned: Some(shared.metrics.abandoned.clone()) };
    // Held by this future, not by the thread: a client that goes away frees its place. As upstream.
    let place = shared.places.acquire().await;
    if policy != shared.name {
        waiting.over();
        return Err(Failure { status: StatusCode::NOT_FOUND, message: format!("unknown policy: {policy}") });
    }
    let running = Running::new(shared.metrics.running.clone());
    let evaluated = task::spawn_blocking(move || {
        let _running = running;
        let evaluation = host.judge(&request);
        (request, evaluation)
    })
    .await;
    drop(place);
    waiting.over();
    let (request, evaluation) = match evaluated {
        Ok((request, Ok(evaluation))) => (request, evaluation),
        Ok((request, Err(error))) => return Err(no_verdict(&request, &error)),
        Err(panic) => {
            eprintln!("{policy}: {panic}");
            return Err(something_went_wrong());
        }
    };
    shared.metrics.answered(&request, &evaluation.response);
    if let Some(observer) = &shared.observer {
        observer(&request, &evaluation.response);
    }
    Ok(Json(Answer { kind: "AdmissionReview", api_version: "admission.k8s.io/v1", response: evaluation.response }))
}

fn no_verdict(request: &AdmissionRequest, error: &EvaluationError) -> Failure {
    eprintln!("{} {}: {error}", request.operation(), request.target());
    something_went_wrong()
}

fn something_went_wrong() -> Failure {
    Failure { status: StatusCode::INTERNAL_SERVER_ERROR, message: "Something went wrong".to_owned() }
}

async fn metrics_text(State(shared): State<Arc<Shared>>) -> impl IntoResponse {
    let format = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, format)], shared.metrics.text())
}

/// A client that waits. Dropped before it is over, it has gone away.
struct Waiting {
    abandoned: Option<Counter>,
}

impl Waiting {
    fn over(mut self) {
        self.abandoned = None;
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(abandoned) = &self.abandoned {
            abandoned.inc();
        }
    }
}

/// An evaluation that has begun, until it is dropped.
struct Running(Gauge);

impl Running {
    fn new(gauge: Gauge) -> Self {
        gauge.inc();
        Self(gauge)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.dec();
    }
}
