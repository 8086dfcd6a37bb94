//! What the guest is told of an API server.

use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_host::{Host, NoCluster};

use super::{
    api_server::{A, ApiServer, DISCOVERY, REVIEWS, Reply, kustomizations, resources, status},
    client::Webhook,
};
use crate::support::{Guest, get, kustomization, request};

/// What a guest gets that makes one call: bytes or text, as the error text of the denial that it becomes.
async fn told(api_server: &ApiServer, operation: &str, payload: &str) -> String {
    let webhook = reading(api_server, operation, payload).await;
    let response = webhook.judge(request()).await;
    let message = response["status"]["message"].as_str().unwrap();
    message.strip_prefix("internal server error: ").unwrap().to_owned()
}

async fn reading(api_server: &ApiServer, operation: &str, payload: &str) -> Webhook {
    let guest = Guest::calling_and_failing(("kubewarden", "kubernetes", operation, payload));
    Webhook::reading(Host::new(&guest.policy(), NoCluster), api_server).await
}

async fn error(api_server: &ApiServer, payload: &str) -> String {
    let told = told(api_server, "get_resource", payload).await;
    told.strip_prefix("Guest call failure: Callback evaluation failure: ").unwrap_or(&told).to_owned()
}

async fn found(api_server: &ApiServer, operation: &str, payload: &str) -> Value {
    let told = told(api_server, operation, payload).await;
    serde_json::from_str(told.strip_prefix("Guest call failure: ").unwrap()).unwrap()
}

#[tokio::test]
async fn an_object_is_found_by_one_get_after_its_kind() {
    let api_server = ApiServer::with_a(&[Reply::Json(200, kustomization("a"))]).await;
    let webhook = reading(&api_server, "get_resource", &get("Kustomization", "apps", "a")).await;
    for _ in 0..2 {
        webhook.judge(request()).await;
    }
    assert_eq!(api_server.seen(), [DISCOVERY, A, A]);
    let reads = r#"sluicegate_host_reads_total{api_version="kustomize.toolkit.fluxcd.io/v1",kind="Kustomization",outcome="found"}"#;
    assert_eq!(webhook.metric(reads).await, 2);
    let calls = r#"sluicegate_host_host_calls_total{operation="kubernetes/get_resource",outcome="ok"}"#;
    assert_eq!(webhook.metric(calls).await, 2);
}

#[tokio::test]
async fn an_object_is_what_upstream_makes_of_it() {
    let mut object = kustomization("a");
    object["metadata"]["managedFields"] = json!([{"manager": "m", "operation": "Apply"}]);
    object["metadata"]["unknown"] = json!(1);
    let api_server = ApiServer::with_a(&[Reply::Json(200, object.clone())]).await;
    let found = found(&api_server, "get_resource", &get("Kustomization", "apps", "a")).await;
    object["metadata"].as_object_mut().unwrap().remove("unknown");
    assert_eq!(found, object);
}

#[tokio::test]
async fn masks_prune_all_but_the_metadata() {
    let api_server = ApiServer::with_a(&[Reply::Json(200, kustomization("a"))]).await;
    let payload = json!({
        "api_version": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "name": "a", "namespace": "apps",
        "disable_cache": true, "field_masks": ["spec.suspend", "metadata.labels"]
    });
    let found = found(&api_server, "get_resource", &payload.to_string()).await;
    let expected = json!({
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
        "metadata": {"name": "a", "namespace": "apps"}, "spec": {"suspend": true}
    });
    assert_eq!(found, expected);
}

#[tokio::test]
async fn what_has_no_namespace_is_read_without() {
    let package =
        json!({"apiVersion": "cozystack.io/v1alpha1", "kind": "Package", "metadata": {"name": "p"}, "spec": {}});
    let api_server = ApiServer::start(&[
        ("GET /apis/cozystack.io/v1alpha1", &[resources("cozystack.io/v1alpha1", "Package", "packages", false)]),
        ("GET /apis/cozystack.io/v1alpha1/packages/p", &[Reply::Json(200, package.clone())]),
    ])
    .await;
    assert_eq!(found(&api_server, "get_resource", &get("Package", "apps", "p")).await, package);
}

#[rstest]
#[case::absent(
    status(404, "NotFound", "gone"),
    "Cannot find kustomize.toolkit.fluxcd.io/v1/Kustomization named 'a' inside of namespace 'Some(\"apps\")'"
)]
#[case::forbidden(
    status(403, "Forbidden", "no, you may not"),
    "ApiError: no, you may not: Forbidden (Status { status: Some(Failure), code: 403, message: \"no, you may not\", \
     metadata: Some(ListMeta { continue_: None, remaining_item_count: None, resource_version: None, self_link: None }), \
     reason: \"Forbidden\", details: None })\n\nCaused by:\n    no, you may not: Forbidden"
)]
#[case::broken(
    Reply::Text(500, "etcd is tired"),
    "ApiError: etcd is tired: Failed to parse error data (Status { status: Some(Failure), code: 500, \
     message: \"etcd is tired\", metadata: None, reason: \"Failed to parse error data\", details: None })\n\n\
     Caused by:\n    etcd is tired: Failed to parse error data"
)]
#[tokio::test]
async fn a_read_that_fails(#[case] reply: Reply, #[case] text: &str) {
    let api_server = ApiServer::with_a(&[reply]).await;
    assert_eq!(error(&api_server, &get("Kustomization", "apps", "a")).await, text);
}

#[tokio::test]
async fn a_read_that_gives_nonsense() {
    let api_server = ApiServer::with_a(&[Reply::Text(200, "hello")]).await;
    let text = error(&api_server, &get("Kustomization", "apps", "a")).await;
    assert!(text.starts_with("Error deserializing response: expected value at line 1 column 1"), "{text}");
}

#[rstest]
#[case::no_group(
    Reply::Text(404, "404 page not found\n"),
    "error finding resource kustomize.toolkit.fluxcd.io/v1 / Kustomization: ApiError: 404 page not found: Failed to \
     parse error data (Status { status: Some(Failure), code: 404, message: \"404 page not found\", metadata: None, \
     reason: \"Failed to parse error data\", details: None })"
)]
#[case::no_kind(
    resources("kustomize.toolkit.fluxcd.io/v1", "Other", "others", true),
    "Cannot find resource kustomize.toolkit.fluxcd.io/v1/Kustomization"
)]
#[tokio::test]
async fn a_kind_that_is_not_there(#[case] reply: Reply, #[case] text: &str) {
    let api_server = ApiServer::start(&[(DISCOVERY, &[reply])]).await;
    assert_eq!(error(&api_server, &get("Kustomization", "apps", "a")).await, text);
}

#[tokio::test]
async fn a_kind_is_looked_for_until_it_is_there() {
    let absent = Reply::Text(404, "404 page not found\n");
    let found = Reply::Json(200, kustomization("a"));
    let api_server = ApiServer::start(&[(DISCOVERY, &[absent, kustomizations()]), (A, &[found])]).await;
    let webhook = reading(&api_server, "get_resource", &get("Kustomization", "apps", "a")).await;
    for _ in 0..3 {
        webhook.judge(request()).await;
    }
    assert_eq!(api_server.seen(), [DISCOVERY, DISCOVERY, A, A]);
}

#[tokio::test]
async fn a_namespace_is_wanted_where_there_are_some() {
    let api_server = ApiServer::start(&[(DISCOVERY, &[kustomizations()])]).await;
    let payload = json!({
        "api_version": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "name": "a", "disable_cache": true
    });
    assert_eq!(
        error(&api_server, &payload.to_string()).await,
        "Resource kustomize.toolkit.fluxcd.io/v1/Kustomization is namespaced, but no namespace was provided"
    );
}

#[tokio::test]
async fn what_is_not_granted_is_not_asked_for() {
    let api_server = ApiServer::start(&[]).await;
    let payload = json!({"api_version": "v1", "kind": "Secret", "name": "s", "namespace": "n", "disable_cache": true});
    let told = error(&api_server, &payload.to_string()).await;
    assert!(told.contains("Policy has not been granted access to Kubernetes v1/Secret resources."), "{told}");
    assert!(api_server.seen().is_empty());
}

#[tokio::test]
async fn nobody_listens() {
    let gone = ApiServer::start(&[]).await;
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let dead = kube::Config::new(format!("http://127.0.0.1:{port}").parse().unwrap());
    let payload = get("Kustomization", "apps", "a");
    let guest = Guest::calling_and_failing(("kubewarden", "kubernetes", "get_resource", &payload));
    let cluster = sluicegate_host::LiveCluster::connect(dead).unwrap();
    let webhook = Webhook::start(Host::new(&guest.policy(), cluster)).await;
    let response = webhook.judge(request()).await;
    let message = response["status"]["message"].as_str().unwrap();
    assert!(message.contains("Callback evaluation failure: error finding resource"), "{message}");
    assert!(message.contains("ServiceError: "), "{message}");
    drop(gone);
}

fn question() -> String {
    json!({
        "subject_access_review": {
            "user": "alice", "groups": ["devs"],
            "resource_attributes": {"verb": "bypass", "group": "sluicegate.dev", "resource": "gates", "namespace": "apps", "name": null}
        },
        "disable_cache": true
    })
    .to_string()
}

#[tokio::test]
async fn a_question_is_a_review_that_is_created() {
    let answer = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "metadata": {}, "spec": {},
        "status": {"allowed": true, "reason": "because"}
    });
    let api_server = ApiServer::start(&[(REVIEWS, &[Reply::Json(201, answer)])]).await;
    assert_eq!(found(&api_server, "can_i", &question()).await, json!({"allowed": true, "reason": "because"}));
    let sent = api_server.bodies(REVIEWS).pop().unwrap();
    assert_eq!(
        sent["spec"],
        json!({
            "user": "alice", "groups": ["devs"],
            "resourceAttributes": {"verb": "bypass", "group": "sluicegate.dev", "resource": "gates", "namespace": "apps"}
        })
    );
}

#[tokio::test]
async fn a_question_that_the_account_may_not_ask() {
    let api_server = ApiServer::start(&[(REVIEWS, &[status(403, "Forbidden", "no")])]).await;
    let told = told(&api_server, "can_i", &question()).await;
    let expected = "Guest call failure: Callback evaluation failure: ApiError: no: Forbidden (Status { ";
    assert!(told.starts_with(expected), "{told}");
}

#[tokio::test]
async fn lists_are_refused() {
    let api_server = ApiServer::start(&[]).await;
    let payload = json!({"api_version": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization"}).to_string();
    assert_eq!(
        told(&api_server, "list_resources_all", &payload).await,
        "Guest call failure: Callback evaluation failure: this host does not list what is in a cluster"
    );
}
