//! How evaluations run beside each other, and how they end.

use std::time::Duration;

use serde_json::json;
use sluicegate_host::{Host, NoCluster, TIMEOUT_MESSAGE};

use super::{
    api_server::{A, ApiServer, Reply},
    client::{Webhook, live, review},
};
use crate::support::{Guest, get, kustomization, request};

fn reading() -> Guest {
    let payload = get("Kustomization", "apps", "a");
    Guest::calling_then(&[("kubewarden", "kubernetes", "get_resource", &payload)], r#"{"accepted":true}"#)
}

#[tokio::test]
async fn no_more_run_at_once_than_there_are_instances() {
    let slow = Reply::Late(Duration::from_millis(20), kustomization("a"));
    let api_server = ApiServer::with_a(&[slow]).await;
    let host = Host::new(&reading().policy(), live(&api_server));
    let webhook = Webhook::with_instances(host, 2).await;
    // Looks the kind up.
    webhook.judge(request()).await;
    let body = review(request()).to_string();
    let requests: Vec<_> = (0..8)
        .map(|_| {
            let (client, body) = (webhook.client(), body.clone());
            tokio::spawn(Webhook::send(client, "POST", "/validate/sluicegate", Some("application/json"), body))
        })
        .collect();
    for request in requests {
        assert_eq!(request.await.unwrap().0, 200);
    }
    assert_eq!(api_server.most_at_once(), 2);
}

#[tokio::test]
async fn a_client_that_goes_away_frees_its_place_while_its_read_hangs() {
    let api_server = ApiServer::with_a(&[Reply::Hang, Reply::Json(200, kustomization("a"))]).await;
    let webhook = Webhook::with_instances(Host::new(&reading().policy(), live(&api_server)), 1).await;
    let (client, body) = (webhook.client(), review(request()).to_string());
    let stuck = tokio::spawn(Webhook::send(client, "POST", "/validate/sluicegate", Some("application/json"), body));
    api_server.until_seen(A).await;
    stuck.abort();
    assert!(stuck.await.unwrap_err().is_cancelled());

    assert_eq!(webhook.judge(request()).await["allowed"], true);
    assert_eq!(webhook.metric("sluicegate_host_abandoned_total").await, 1);
    // The one that hangs is still there.
    assert_eq!(webhook.metric("sluicegate_host_evaluations_running").await, 1);
}

#[tokio::test]
async fn the_deadline_strikes_after_a_slow_read_and_not_within_it() {
    // Far longer than the deadline.
    let slow = Reply::Late(Duration::from_millis(300), kustomization("a"));
    let api_server = ApiServer::with_a(&[slow]).await;
    let payload = get("Kustomization", "apps", "a");
    let calls = [("kubewarden", "kubernetes", "get_resource", payload.as_str())];
    let policy = Guest::calling_then_running(&calls, "(call $turn) (i32.const 1)").policy_with_short_ticks();
    let host = Host::new(&policy, live(&api_server)).with_timeout(Some(2));
    let webhook = Webhook::start(host).await;
    let response = webhook.judge(request()).await;
    assert_eq!(response["status"], json!({"message": TIMEOUT_MESSAGE, "code": 500}));
    // The read was answered, and counted.
    let calls = r#"sluicegate_host_host_calls_total{operation="kubernetes/get_resource",outcome="ok"}"#;
    assert_eq!(webhook.metric(calls).await, 1);
}

#[tokio::test]
async fn each_request_has_a_fresh_instance() {
    // Accepts as long as nobody has called this instance before.
    let accept = r#"{"accepted":true}"#;
    let mut guest = Guest::answering(accept);
    guest.refuse_second_call();
    let webhook = Webhook::start(Host::new(&guest.policy(), NoCluster)).await;
    for _ in 0..3 {
        assert_eq!(webhook.judge(request()).await["allowed"], true);
    }
}
