//! What the compiled policy costs, beside policies that do less: ratios in one run, since machines differ.
//!
//! Policies that are compared take turns, so that a change of the machine's speed meets all of them. Each figure is the
//! median of many evaluations, each in a fresh instance, as policy-server makes one.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::indexing_slicing, reason = "a program for developers")]

use serde_json::{Map, Value, json};
use sluicegate_host::{AdmissionRequest, Host, Instance, MemoryCluster, Policy};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const ROUNDS: usize = 400;

fn main() {
    // `cargo bench` passes `--bench`, `cargo test --benches` does not: then only see that everything runs.
    let rounds = if std::env::args().any(|argument| argument == "--bench") { ROUNDS } else { 2 };
    let [gate, empty, template] =
        ["sluicegate_policy", "sluicegate_bench_empty", "sluicegate_bench_template"].map(load);

    println!("size: {} bytes of at most 1048576\n", gate.1.metadata().unwrap().len());

    let host = Host::new(&gate.0, MemoryCluster::new());
    let instantiate = median(rounds, || time(|| host.instance().unwrap()));
    println!("instantiation: {} (bar: 1 ms)\n", shown(instantiate));

    println!("hot path (nothing that is judged changes)");
    println!(
        "{:>10} {:>12} {:>12} {:>12} {:>12} {:>12}",
        "request", "not decoding", "gate", "template", "gate/floor", "gate/template"
    );
    for kilobytes in [2, 5, 10, 100] {
        let payload = payload(&quiet(kilobytes * 1024));
        let hosts = [&empty, &gate, &template].map(|policy| Host::new(&policy.0, MemoryCluster::new()));
        let [floor, ours, sdk] = turns(rounds, &hosts, &payload);
        let (over, under) = (ratio(ours, floor), ratio(ours, sdk));
        let size = format!("{} KB", payload.len() / 1024);
        println!("{size:>10} {:>12} {:>12} {:>12} {over:>12.2} {under:>12.2}", shown(floor), shown(ours), shown(sdk));
    }
    println!("bars: gate/floor at most 1.2 up to 10 KB, gate/template below 1\n");

    println!("cycle check over a chain of needs");
    println!("{:>10} {:>8} {:>12} {:>12} {:>16}", "objects", "reads", "in all", "guest in all", "guest an object");
    let (_, whole, none) = cone(&gate.0, 0, 0, rounds);
    println!("{:>10} {:>8} {:>12} {:>12} {:>16}", 0, 0, shown(whole), shown(none), "-");
    for length in [1, 10, 100, 1_000] {
        let (reads, whole, guest) = cone(&gate.0, length, length, rounds.min(4_000 / length));
        let each = guest.saturating_sub(none) / u32::try_from(length).unwrap();
        println!("{length:>10} {reads:>8} {:>12} {:>12} {:>16}", shown(whole), shown(guest), shown(each));
    }
    println!(
        "guest: the evaluation less what the host did in its calls; buffers that waPC copies count as the guest's"
    );
    println!(
        "an object: what the guest takes beyond a request without reads, judging the request included, by objects"
    );
    println!("bar: at most 10 µs an object, from 10 objects on\n");

    println!("the same 20 objects to read, in clusters of different size");
    let (_, small, _) = cone(&gate.0, 20, 100, rounds.min(100));
    let (_, large, _) = cone(&gate.0, 20, 10_000, rounds.min(100));
    println!(
        "100 objects {}, 10000 objects {}: ratio {:.2} (bar: 1.2)",
        shown(small),
        shown(large),
        ratio(large, small)
    );
}

fn load(name: &str) -> (Policy, PathBuf) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let path = target.join("wasm32-wasip1/guest").join(format!("{name}.wasm"));
    let policy =
        Policy::load(&path).unwrap_or_else(|error| panic!("{}: {error} (make bench builds it)", path.display()));
    (policy, path)
}

/// A change of the interval of a release whose values fill the request up to about this size.
fn quiet(size: usize) -> Value {
    let values: Map<String, Value> = (0..size / 140)
        .map(|i| (format!("setting{i:05}"), json!({"enabled": true, "replicas": 3, "name": "x"})))
        .collect();
    let object = |interval: &str| {
        json!({
            "apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
            "metadata": {"name": "release", "namespace": "apps", "generation": 4,
                "labels": {"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}},
            "spec": {"interval": interval, "dependsOn": [{"name": "database"}, {"name": "ingress", "namespace": "ingress"}],
                "chartRef": {"kind": "OCIRepository", "name": "chart"}, "values": values},
            "status": {"observedGeneration": 4, "conditions": [{"type": "Ready", "status": "True", "reason": "UpgradeSucceeded",
                "message": "Helm upgrade succeeded", "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 4}]},
        })
    };
    request(&object("5m"), &object("10m"))
}

fn request(object: &Value, old: &Value) -> Value {
    let (group, version) = object["apiVersion"].as_str().unwrap().split_once('/').unwrap();
    json!({
        "uid": "1", "operation": "UPDATE", "name": object["metadata"]["name"], "namespace": object["metadata"]["namespace"],
        "kind": {"group": group, "version": version, "kind": object["kind"]},
        "resource": {"group": group, "version": version, "resource": "resources"},
        "userInfo": {"username": "alice", "groups": ["system:authenticated"]},
        "options": {"fieldManager": "kubectl-edit"}, "dryRun": false, "object": object, "oldObject": old,
    })
}

fn payload(request: &Value) -> Vec<u8> {
    AdmissionRequest::from_value(request).unwrap().payload(&Map::new()).unwrap()
}

fn kustomization(name: usize, next: Option<usize>) -> Value {
    let needs: Vec<Value> = next.into_iter().map(|next| json!({"name": format!("unit-{next:06}")})).collect();
    json!({
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
        "metadata": {"name": format!("unit-{name:06}"), "namespace": "units", "generation": 1},
        "spec": {"interval": "10m", "path": "./units", "prune": true, "dependsOn": needs},
        "status": {"observedGeneration": 1, "lastAppliedRevision": "main@sha1:3f1c5b6e0a94d1c7b8e2f30a5d4c9e8b7a6f5d03",
            "conditions": [{"type": "Ready", "status": "True", "reason": "ReconciliationSucceeded", "observedGeneration": 1,
                "message": "Applied revision: main@sha1:3f1c5b6e0a94d1c7b8e2f30a5d4c9e8b7a6f5d03", "lastTransitionTime": "2026-01-01T00:00:00Z"}]},
    })
}

/// A new need on a chain of `length` objects in a cluster of `stored`, or none where that is 0: reads, time in all, and the
/// guest's own.
fn cone(policy: &Policy, length: usize, stored: usize, rounds: usize) -> (usize, Duration, Duration) {
    let chain = (1..=length).map(|i| kustomization(i, (i < length).then_some(i + 1)));
    let rest = (length + 1..=stored).map(|i| kustomization(i, None));
    let cluster = MemoryCluster::new().with_all(chain).with_all(rest);
    let settings = json!({"maxReads": 2_000});
    let host = Host::new(policy, cluster).with_settings(settings.clone()).unwrap().with_timeout(None);
    let request = request(&kustomization(0, (length > 0).then_some(1)), &kustomization(0, None));
    let payload = AdmissionRequest::from_value(&request).unwrap().payload(settings.as_object().unwrap()).unwrap();
    let (mut reads, mut guests) = (0, Vec::new());
    let whole = median(rounds.max(2), || {
        let mut instance = host.instance().unwrap();
        let all = time(|| instance.call("validate", &payload).unwrap());
        let calls = instance.take_calls();
        reads = calls.iter().filter(|call| call.is_read()).count();
        guests.push(all.saturating_sub(calls.iter().map(|call| call.duration).sum()));
        all
    });
    guests.sort_unstable();
    (reads, whole, guests[guests.len() / 2])
}

/// The medians of policies that take turns on the same request, instantiation included.
fn turns<const N: usize>(rounds: usize, hosts: &[Host; N], payload: &[u8]) -> [Duration; N] {
    let mut times: [Vec<Duration>; N] = std::array::from_fn(|_| Vec::new());
    for _ in 0..rounds {
        for (host, times) in hosts.iter().zip(&mut times) {
            times.push(time(|| evaluate(host.instance().unwrap(), payload)));
        }
    }
    times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    })
}

fn evaluate(mut instance: Instance, payload: &[u8]) {
    let answer = instance.call("validate", payload).unwrap();
    assert!(answer.starts_with(br#"{"accepted":true"#), "{}", String::from_utf8_lossy(&answer));
}

fn time<T>(run: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    let result = run();
    let taken = start.elapsed();
    drop(result);
    taken
}

fn median(rounds: usize, mut run: impl FnMut() -> Duration) -> Duration {
    let mut times: Vec<_> = (0..rounds).map(|_| run()).collect();
    times.sort_unstable();
    times[times.len() / 2]
}

fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}

fn shown(duration: Duration) -> String {
    format!("{:.1} µs", duration.as_secs_f64() * 1e6)
}
