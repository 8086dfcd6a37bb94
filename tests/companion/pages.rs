//! What is served over HTTP.

use crate::server::Server;
use crate::{Companion, depending, held, settle, start};
use http_body_util::BodyExt;
use serde_json::Value;
use sluicegate::clock::Clock;
use sluicegate::control::Settings;
use sluicegate::serve::{Pages, answer, parse};
use sluicegate_core::testing::sample;
use tokio::time::Instant;

async fn page(companion: &Companion, pages: Pages, path: &str, query: Option<&str>) -> (u16, String) {
    let answer = answer(&companion.control, pages, "GET", path, query);
    let status = answer.status().as_u16();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

fn world() -> Server {
    Server::with([
        sample::git_repository("ns", "repo"),
        depending(sample::kustomization("ns", "one"), &["two"]),
        depending(sample::kustomization("ns", "two"), &["one"]),
        depending(sample::kustomization("ns", "bystander"), &["one"]),
        held(depending(sample::kustomization("ns", "waits"), &["absent"]), "premature", 0),
    ])
}

#[tokio::test(start_paused = true)]
async fn health_and_metrics_are_public_and_nothing_else() {
    let server = world();
    let companion = Companion::start(&server, Settings::default()).await;
    settle().await;
    assert_eq!(page(&companion, Pages::Public, "/healthz", None).await, (200, "ok\n".to_owned()));
    assert_eq!(page(&companion, Pages::Public, "/readyz", None).await, (200, "ok\n".to_owned()));
    assert!(page(&companion, Pages::Public, "/metrics", None).await.1.contains("sluicegate_watched 5"));
    for path in ["/graph", "/explain", "/", "/metrics/x"] {
        assert_eq!(page(&companion, Pages::Public, path, Some("object=Kustomization/ns/one")).await.0, 404, "{path}");
    }
    assert_eq!(page(&companion, Pages::Private, "/metrics", None).await.0, 404);
    assert_eq!(answer(&companion.control, Pages::Private, "POST", "/graph", None).status(), 405);
    companion.kill().await;
}

#[tokio::test(start_paused = true)]
async fn one_that_knows_nothing_yet_is_not_ready() {
    let companion =
        Companion::start_at(&Server::default(), Settings::default(), Clock::Since(start(), Instant::now())).await;
    let (status, said) = page(&companion, Pages::Public, "/readyz", None).await;
    assert_eq!(status, 503);
    assert!(said.starts_with("not listed yet"), "{said}");
    settle().await;
    assert_eq!(page(&companion, Pages::Public, "/readyz", None).await.0, 200);
    companion.kill().await;
}

#[tokio::test(start_paused = true)]
async fn the_graph_shows_loops_and_what_they_silence() {
    let server = world();
    let companion = Companion::start(&server, Settings::default()).await;
    settle().await;
    let (status, body) = page(&companion, Pages::Private, "/graph", None).await;
    let graph: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(status, 200);
    assert_eq!(graph["schemaVersion"], 1);
    assert_eq!(graph["absent"][0], "Kustomization/ns/absent");
    let found = &graph["loops"][0];
    assert_eq!(found["members"], serde_json::json!(["Kustomization/ns/one", "Kustomization/ns/two"]));
    assert_eq!(found["behind"], serde_json::json!(["Kustomization/ns/bystander"]));
    assert_eq!(found["silenced"][0]["source"], "GitRepository/ns/repo");
    assert_eq!(graph["held"][0]["object"], "Kustomization/ns/waits");
    assert_eq!(graph["held"][0]["root"], "Kustomization/ns/absent");
    companion.kill().await;
}

#[tokio::test(start_paused = true)]
async fn an_object_is_explained_with_its_needs() {
    let server = world();
    let companion = Companion::start(&server, Settings::default()).await;
    settle().await;
    let (status, body) =
        page(&companion, Pages::Private, "/explain", Some("x=1&object=Kustomization%2Fns%2Fwaits")).await;
    let said: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(status, 200);
    assert!(said["blockers"][0].as_str().unwrap().starts_with("is suspended"), "{said}");
    assert_eq!(said["held"]["message"], "held: Kustomization/ns/absent: does not exist");
    let absent =
        said["needs"].as_array().unwrap().iter().find(|need| need["target"] == "Kustomization/ns/absent").unwrap();
    assert_eq!(absent["found"], false);
    for query in [None, Some("object="), Some("object=Secret/ns/x"), Some("object=Kustomization/ns/../x")] {
        assert_eq!(page(&companion, Pages::Private, "/explain", query).await.0, 400, "{query:?}");
    }
    assert_eq!(page(&companion, Pages::Private, "/explain", Some("object=Kustomization/ns/none")).await.0, 404);
    companion.kill().await;
}

#[test]
fn references_are_read_as_they_are_shown() {
    for text in ["Kustomization/ns/a", "Package/a"] {
        assert_eq!(parse(text).unwrap().to_string(), text);
    }
    for text in ["Kustomization/a", "Package/ns/a/b", "Widget/ns/a", "Kustomization/ns/A", ""] {
        assert!(parse(text).is_none(), "{text}");
    }
}
