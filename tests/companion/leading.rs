//! Several replicas, one that writes.

use crate::server::{Fault, Server};
use crate::{Companion, held, pass, settle, start};
use http::Method;
use serde_json::json;
use sluicegate::clock::Clock;
use sluicegate::cluster::lease::{Candidate, Config, Fence};
use sluicegate::control::{Control, Feed, Settings, run};
use sluicegate::metrics::Metrics;
use sluicegate_core::object::Kind;
use sluicegate_core::testing::sample;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::Instant;

fn world() -> Server {
    Server::with([sample::git_repository("ns", "repo"), held(sample::kustomization("ns", "a"), "premature", 0)])
}

#[tokio::test(start_paused = true)]
async fn who_does_not_lead_writes_nothing_and_takes_over_from_the_cluster_alone() {
    let server = world();
    let companion = Companion::start_at(&server, Settings::default(), Clock::Since(start(), Instant::now())).await;
    pass(600).await;
    assert_eq!((server.writes(), server.reads(), server.events()), (vec![], 0, vec![]));
    companion.lead();
    settle().await;
    assert_eq!(server.writes(), ["release Kustomization/ns/a"]);
    companion.kill().await;
}

/// Case 99: the Lease is lost in the middle of a chain; not one write more.
#[tokio::test(start_paused = true)]
async fn case_99_a_lease_that_is_lost_ends_all_writing() {
    let objects = (0..20).map(|i| held(sample::kustomization("ns", &format!("k{i}")), "premature", 0));
    let server = Server::with(objects.chain([sample::git_repository("ns", "repo")]));
    // What is under way when the Lease is lost must find the fence closed.
    server.fail(Method::GET, "gitrepositories/repo", "", Fault::Hang, 5);
    let companion = Companion::start(&server, Settings::default()).await;
    settle().await;
    let before = server.writes().len();
    assert!(before < 20, "some are still under way");
    companion.follow();
    pass(600).await;
    assert_eq!(server.writes().len(), before);
    let other = Companion::start_at(&server, Settings::default(), Clock::Since(start(), Instant::now())).await;
    other.lead();
    settle().await;
    let mut writes = server.writes();
    writes.sort();
    writes.dedup();
    assert_eq!((writes.len(), server.writes().len()), (20, 20), "each once");
    server.is_fine();
    companion.kill().await;
    other.kill().await;
}

/// The Lease is lost between the last read and the write: nothing is sent.
#[tokio::test(start_paused = true)]
async fn the_fence_is_asked_right_before_the_write() {
    let server = world();
    server.fail(Method::GET, "gitrepositories/repo", "", Fault::Late(5), 1);
    let companion = Companion::start(&server, Settings::default()).await;
    settle().await;
    assert_eq!(server.reads(), 2, "the last read before the write is under way");
    companion.follow();
    pass(600).await;
    assert_eq!((server.writes(), server.events()), (vec![], vec![]));
    companion.lead();
    settle().await;
    assert_eq!(server.writes(), ["release Kustomization/ns/a"]);
    companion.kill().await;
}

/// Nothing is looked at, and nothing written, before every kind was listed once.
#[tokio::test(start_paused = true)]
async fn half_a_picture_is_none() {
    let server = world();
    let (fence, receiver) = Fence::new();
    fence.send_replace(Some(Instant::now() + Duration::from_secs(100_000)));
    let clock = Clock::Since(start(), Instant::now());
    let control = Control::new(server.client(), clock, Some(receiver), Settings::default(), Arc::new(Metrics::new()));
    let (feed, fed) = tokio::sync::mpsc::channel(256);
    let driver = tokio::spawn(run(control, fed));
    let kinds = [Kind::Kustomization, Kind::GitRepository];
    let served = kinds.iter().map(|kind| (*kind, "v1")).collect();
    feed.send(Feed::Served(served)).await.unwrap();
    server.list(&feed, &kinds[..1]).await;
    pass(600).await;
    assert_eq!((server.writes(), server.reads(), server.events()), (vec![], 0, vec![]));
    server.list(&feed, &kinds[1..]).await;
    settle().await;
    assert_eq!(server.writes(), ["release Kustomization/ns/a"]);
    driver.abort();
}

struct Replica {
    fence: Fence,
    task: JoinHandle<()>,
    stop: Option<oneshot::Sender<()>>,
}

impl Replica {
    fn start(server: &Server, identity: &str) -> Self {
        let (sender, fence) = Fence::new();
        let (stop, stopped) = oneshot::channel::<()>();
        let config = Config::new("sluicegate-system", "sluicegate", identity);
        let candidate = Candidate::new(server.client(), config, Clock::Since(start(), Instant::now()), sender);
        let task = tokio::spawn(candidate.run(async move {
            let _ = stopped.await;
        }));
        Self { fence, task, stop: Some(stop) }
    }

    fn holds(&self) -> bool {
        self.fence.holds()
    }
}

fn holder(server: &Server) -> String {
    server.lease().unwrap()["spec"]["holderIdentity"].as_str().unwrap().to_owned()
}

#[tokio::test(start_paused = true)]
async fn one_leads_and_keeps_leading() {
    let server = Server::default();
    let (one, two) = (Replica::start(&server, "one"), Replica::start(&server, "two"));
    for _ in 0..300 {
        pass(1).await;
        assert_eq!(u8::from(one.holds()) + u8::from(two.holds()), 1);
    }
    assert_eq!(server.lease().unwrap()["spec"]["leaseTransitions"], 0);
    server.is_fine();
}

#[tokio::test(start_paused = true)]
async fn one_that_dies_is_followed_after_its_lease_and_not_before() {
    let server = Server::default();
    let one = Replica::start(&server, "one");
    settle().await;
    let two = Replica::start(&server, "two");
    settle().await;
    assert!(one.holds() && !two.holds());
    one.task.abort();
    let died = Instant::now();
    while !two.holds() {
        pass(1).await;
        // Its fence ends by itself, before the other one may begin.
        assert!(!(one.holds() && two.holds()));
    }
    let took = died.elapsed();
    assert!(took >= Duration::from_secs(10) && took <= Duration::from_secs(19), "{took:?}");
    assert_eq!(holder(&server), "two");
    assert_eq!(server.lease().unwrap()["spec"]["leaseTransitions"], 1);
}

#[tokio::test(start_paused = true)]
async fn one_that_stops_gives_its_lease_back() {
    let server = Server::default();
    let mut one = Replica::start(&server, "one");
    settle().await;
    let two = Replica::start(&server, "two");
    settle().await;
    drop(one.stop.take());
    pass(3).await;
    assert!(!one.holds() && two.holds());
    let lease = server.lease().unwrap();
    assert_eq!(lease["spec"]["holderIdentity"], "two");
}

/// A replica that cannot renew stops before its Lease ends.
#[tokio::test(start_paused = true)]
async fn one_that_cannot_renew_stops_in_time() {
    let server = Server::default();
    let one = Replica::start(&server, "one");
    settle().await;
    let renewed = server.calls(&Method::POST)[0].at;
    server.fail(Method::PUT, "/leases/", "", Fault::Cut, usize::MAX);
    while one.holds() {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(renewed.elapsed() <= Duration::from_secs(12) + Duration::from_millis(200), "{:?}", renewed.elapsed());
}

/// A replica that was frozen beyond its Lease finds it taken, and itself without.
#[tokio::test(start_paused = true)]
async fn one_that_was_frozen_finds_its_time_over() {
    let server = Server::default();
    let one = Replica::start(&server, "one");
    settle().await;
    // Another one took it meanwhile: as the frozen one will find when it thaws.
    let mut lease = server.lease().unwrap();
    lease["spec"]["holderIdentity"] = json!("two");
    server.set_lease(lease);
    pass(6).await;
    assert!(!one.holds());
    assert_eq!(holder(&server), "two");
}

#[tokio::test(start_paused = true)]
async fn the_renewal_of_another_is_a_sign_of_life_whatever_its_clock_says() {
    let server = Server::default();
    let lease = |number: i64| {
        json!({"metadata": {"namespace": "sluicegate-system", "name": "sluicegate"}, "spec": {
            "holderIdentity": "two", "leaseDurationSeconds": 15, "renewTime": "1999-01-01T00:00:00.000000Z",
            "leaseTransitions": number}})
    };
    server.set_lease(lease(0));
    let one = Replica::start(&server, "one");
    for number in 1..30 {
        pass(5).await;
        server.set_lease(lease(number));
        assert!(!one.holds());
    }
    pass(20).await;
    assert!(one.holds());
    assert_eq!(server.lease().unwrap()["spec"]["leaseTransitions"], 30);
}

#[tokio::test(start_paused = true)]
async fn what_else_stands_in_the_lease_stays() {
    let server = Server::default();
    server.set_lease(json!({"metadata": {"name": "sluicegate", "labels": {"a": "b"}}, "spec": {"holderIdentity": ""}}));
    let one = Replica::start(&server, "one");
    settle().await;
    assert!(one.holds());
    let lease = server.lease().unwrap();
    assert_eq!(lease["metadata"]["labels"]["a"], "b");
    assert_eq!(lease["spec"]["leaseDurationSeconds"], 15);
}
