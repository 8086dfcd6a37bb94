//! Objects to draw.

use serde_json::{Value, json};
use sluicegate_core::graph::Graph;
use sluicegate_core::object::{Object, Reference};
use sluicegate_core::testing::{object, sample, with};
use sluicegate_offline::draw::{Drawing, Evidence, looks};
use sluicegate_offline::manifest::{self, Body};
use std::collections::BTreeMap;
use std::path::Path;

/// The picture of these objects, as a cluster has them.
pub fn drawing(objects: &BTreeMap<Reference, Object>) -> Drawing {
    let looks = looks(objects, Evidence::Cluster);
    Drawing::new(&graph(objects.values()), |own| looks.get(own).cloned())
}

pub fn graph<'a>(objects: impl IntoIterator<Item = &'a Object>) -> Graph {
    let mut graph = Graph::new();
    for object in objects {
        graph.replace(&object.reference, object.needs().judged);
    }
    graph
}

/// The incident that the project was born from: the units as the upgrade found them, with the need that closes a loop.
pub fn incident() -> BTreeMap<Reference, Object> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata");
    let mut objects = BTreeMap::new();
    for name in ["sources.yaml", "units.yaml", "packages.yaml"] {
        let bytes = std::fs::read(root.join("clusters/upgrading").join(name)).unwrap();
        for document in manifest::read(name, &bytes).documents {
            if let Body::Object(source) = document.body {
                let json: Value = serde_json::from_slice(&source.json).unwrap();
                let object = object(&json);
                objects.insert(object.reference.clone(), object);
            }
        }
    }
    let request: Value = serde_json::from_slice(&std::fs::read(root.join("requests/cycle.json")).unwrap()).unwrap();
    let changed = object(&request["request"]["object"]);
    let cluster = objects.get_mut(&changed.reference).unwrap();
    (cluster.metadata, cluster.spec) = (changed.metadata, changed.spec);
    objects
}

/// A small graph with everything: a loop, something absent, something suspended, something that failed, a wait for what
/// was applied, and two fields for one need.
pub fn small() -> BTreeMap<Reference, Object> {
    let kustomization = |name: &str, needs: &[&str], more: &[(&str, Value)]| {
        let needs: Vec<Value> = needs.iter().map(|name| json!({"name": name})).collect();
        with(with(sample::kustomization("apps", name), &[("/spec/dependsOn", json!(needs))]), more)
    };
    let values = [
        sample::git_repository("apps", "repo"),
        kustomization("a", &["b"], &[]),
        kustomization("b", &["c", "c"], &[]),
        kustomization("c", &["a"], &[("/status/conditions/Ready/status", json!("False"))]),
        kustomization("d", &["a", "gone"], &[("/spec/suspend", json!(true))]),
        kustomization(
            "parent",
            &[],
            &[
                ("/spec/wait", json!(true)),
                ("/metadata/generation", json!(9)),
                (
                    "/status/inventory/entries",
                    json!([{"id": "apps_d_kustomize.toolkit.fluxcd.io_Kustomization", "v": "v1"}]),
                ),
            ],
        ),
    ];
    values.iter().map(|json| (object(json).reference, object(json))).collect()
}

/// A fleet as teams have it: sources, infrastructure in steps, applications in namespaces; the same one each time.
pub fn fleet(count: usize) -> BTreeMap<Reference, Object> {
    let mut state = 88_172_645_463_325_252_u64;
    let mut below = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % limit.max(1) as u64) as usize
    };
    let teams = ["flux-system", "platform", "observability", "payments", "search"];
    let mut values = vec![sample::git_repository("flux-system", "fleet")];
    let mut units: Vec<(String, String)> = Vec::new();
    while values.len() < count {
        let number = units.len();
        let team = teams[(number * teams.len() / count).min(teams.len() - 1)];
        let words = ["cert-manager", "ingress", "database", "queue", "frontend", "reporting", "cluster-machines-ready"];
        let name = format!("{}-{number}", words[below(words.len())]);
        let mut json = with(
            sample::kustomization(team, &name),
            &[("/spec/sourceRef", json!({"kind": "GitRepository", "name": "fleet", "namespace": "flux-system"}))],
        );
        let wanted = if number == 0 { 0 } else { below(3) };
        let near = number.saturating_sub(40);
        let needs: Vec<Value> = (0..wanted)
            .map(|_| {
                let (namespace, name) = &units[near + below(number - near)];
                json!({"name": name, "namespace": namespace})
            })
            .collect();
        json = with(json, &[("/spec/dependsOn", json!(needs))]);
        match below(12) {
            0 => json = with(json, &[("/spec/suspend", json!(true))]),
            1 => json = with(json, &[("/metadata/generation", json!(9))]),
            2 => {
                json = with(
                    json,
                    &[
                        ("/status/conditions/Ready/status", json!("False")),
                        (
                            "/status/conditions/Ready/message",
                            json!("health check failed after 5m0s: Deployment/x not ready"),
                        ),
                    ],
                );
            }
            _ => {}
        }
        units.push((team.to_owned(), name.clone()));
        values.push(json);
        if below(5) == 0 && values.len() + 2 < count {
            values.push(sample::oci_repository(team, &format!("charts-{number}")));
            values.push(sample::helm_release_of(
                sluicegate_core::object::Kind::OCIRepository,
                &format!("charts-{number}"),
                team,
                &format!("release-{number}"),
            ));
        }
    }
    values.iter().map(|json| (object(json).reference, object(json))).collect()
}
