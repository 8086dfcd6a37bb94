mod ends;
mod writes;

use super::*;
use crate::chain::World;
use crate::gate::Fetched;
use crate::object::{Kind, Reference};
use crate::testing::{reference, sample, set, with};
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

const NEW: &str = "main@sha1:2222222222222222222222222222222222222222";

fn at(second: i64) -> DateTime<Utc> {
    DateTime::parse_from_rfc3339("2026-03-01T00:00:00Z").unwrap().with_timezone(&Utc) + TimeDelta::seconds(second)
}

/// A roll-out with the objects of a cluster, in which nothing else exists.
struct Stage {
    rollout: Rollout,
    world: World,
    objects: Vec<Value>,
    version: u64,
    second: i64,
}

impl Stage {
    fn new(targets: &[Reference], objects: &[Value], options: Options) -> Self {
        let rollout = Rollout::new(targets.iter().cloned(), options, at(0));
        Self { rollout, world: World::new(), objects: objects.to_vec(), version: 10, second: 0 }
    }

    fn look(&mut self) -> Look {
        loop {
            let look = self.rollout.look(&self.world, at(self.second));
            let wants: Vec<Reference> =
                look.wants.iter().filter(|want| self.world.get(want).is_none()).cloned().collect();
            if wants.is_empty() {
                return look;
            }
            for want in wants {
                self.tell(&want);
            }
        }
    }

    fn tell(&mut self, want: &Reference) {
        let json = self.objects.iter().find(|json| reference(json) == *want);
        let answer = json.map_or(Fetched::Absent, |json| Fetched::Found(json.to_string().into_bytes()));
        let change = self.world.insert(want, answer);
        self.rollout.changed(want, change, &self.world);
    }

    /// Changes an object, and tells.
    fn change(&mut self, own: &Reference, fields: &[(&str, Value)]) {
        self.version += 1;
        let version = json!(self.version.to_string());
        let json = self.objects.iter_mut().find(|json| reference(json) == *own).unwrap();
        set(json, "/metadata/resourceVersion", version);
        for (pointer, value) in fields {
            set(json, pointer, value.clone());
        }
        self.tell(own);
    }

    fn put(&mut self, json: Value) {
        let own = reference(&json);
        self.objects.retain(|other| reference(other) != own);
        self.objects.push(json);
        self.tell(&own);
    }

    /// What an act writes.
    fn act(&mut self, act: &Act, token: &str) {
        let annotation = ("/metadata/annotations/reconcile.fluxcd.io~1requestedAt", json!(token));
        let own = match act {
            Act::Request(own) => {
                self.change(own, &[annotation]);
                own
            }
            Act::Resume(own) => {
                let json = self.objects.iter().find(|json| reference(json) == *own).unwrap();
                let generation = json["metadata"]["generation"].as_i64().unwrap() + 1;
                let fields = [annotation, ("/spec/suspend", Value::Null), ("/metadata/generation", json!(generation))];
                self.change(own, &fields);
                own
            }
        };
        self.rollout.wrote(own, token, &self.world);
    }

    /// Its controller has reconciled it, successfully.
    fn reconcile(&mut self, own: &Reference) {
        let json = self.objects.iter().find(|json| reference(json) == *own).unwrap().clone();
        let generation = json["metadata"]["generation"].clone();
        let token = json["metadata"]["annotations"]["reconcile.fluxcd.io/requestedAt"].clone();
        let mut fields = vec![
            ("/status/observedGeneration", generation.clone()),
            ("/status/conditions/Ready/status", json!("True")),
            ("/status/conditions/Ready/observedGeneration", generation.clone()),
            ("/status/conditions/Reconciling", Value::Null),
            ("/status/conditions/Stalled", Value::Null),
            ("/status/lastHandledReconcileAt", token),
        ];
        if own.kind.is_source() {
            fields.push(("/status/conditions/ArtifactInStorage/observedGeneration", generation.clone()));
        }
        if own.kind == Kind::HelmRelease {
            fields.push(("/status/lastAttemptedGeneration", generation));
        }
        self.change(own, &fields);
    }

    /// The repository has fetched another revision.
    fn fetch(&mut self, own: &Reference, revision: &str) {
        let message = format!("stored artifact for revision '{revision}'");
        self.change(
            own,
            &[
                ("/status/artifact/revision", json!(revision)),
                ("/status/conditions/ArtifactInStorage/message", json!(message)),
            ],
        );
        self.reconcile(own);
    }
}

fn ks(name: &str) -> Reference {
    Reference::new(Kind::Kustomization, "ns", name)
}

fn repo() -> Reference {
    Reference::new(Kind::GitRepository, "ns", "repo")
}

fn repository() -> Value {
    sample::git_repository("ns", "repo")
}

fn kustomization(name: &str, needs: &[&str]) -> Value {
    let entries: Vec<Value> = needs.iter().map(|name| json!({"name": name})).collect();
    with(sample::kustomization("ns", name), &[("/spec/dependsOn", json!(entries))])
}

fn suspended(json: Value) -> Value {
    with(json, &[("/spec/suspend", json!(true))])
}

fn stalled(json: Value) -> Value {
    with(
        json,
        &[
            ("/status/conditions/Ready/status", json!("False")),
            ("/status/conditions/Stalled/status", json!("True")),
            ("/status/conditions/Stalled/reason", json!("RetriesExceeded")),
        ],
    )
}

fn failed(json: Value) -> Value {
    with(json, &[("/status/conditions/Ready/status", json!("False"))])
}

fn dead_at(look: &Look) -> Option<&Reference> {
    match &look.verdict {
        Verdict::Blocked(Dead::Root(root)) => Some(&root.at),
        _ => None,
    }
}
