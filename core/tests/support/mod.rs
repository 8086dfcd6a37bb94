//! A world in memory that answers the gate, and counts what it is asked.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "helpers of tests")]
#![allow(dead_code, reason = "each test file uses its own part")]

pub mod shape;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use sluicegate_core::gate::{Answer, Fetched, Gate, Operation, Question, Request, Settings, Step, Verdict};
use sluicegate_core::object::{Kind, Reference};
use std::collections::{BTreeMap, BTreeSet};

/// Stored objects, and what else the API server would say.
#[derive(Clone, Debug, Default)]
pub struct World {
    pub objects: BTreeMap<Reference, Value>,
    pub absent_kinds: BTreeSet<Kind>,
    pub forbidden: BTreeSet<Kind>,
    pub failing: BTreeMap<Reference, Fetched>,
    pub lease: Option<Value>,
    /// What the read of a Lease gives instead, where it is not simply there or absent.
    pub lease_fails: Option<Fetched>,
    /// When it is asked, if not at [`now`].
    pub time: Option<DateTime<Utc>>,
    pub allowed: Vec<Question>,
    pub settings: Settings,
}

/// A verdict, with what it took.
#[derive(Debug)]
pub struct Judged {
    pub verdict: Verdict,
    pub reads: Vec<String>,
    /// Those of the reads that asked for the whole object.
    pub whole: Vec<String>,
    pub leases: Vec<String>,
    pub questions: Vec<Question>,
}

/// Who asks, and how.
#[derive(Clone, Copy, Debug)]
pub struct By {
    pub user: &'static str,
    pub manager: &'static str,
    pub dry_run: bool,
}

pub const PERSON: By = By { user: "alice", manager: "kubectl-edit", dry_run: false };
pub const FLUX: By = By {
    user: "system:serviceaccount:flux-system:kustomize-controller",
    manager: "kustomize-controller",
    dry_run: false,
};
pub const COMPANION: By =
    By { user: "system:serviceaccount:sluicegate-system:sluicegate", manager: "sluicegate", dry_run: false };
pub const AUDIT: By = By { user: "", manager: "", dry_run: false };

pub fn now() -> DateTime<Utc> {
    DateTime::parse_from_rfc3339("2026-11-30T12:00:00Z").unwrap().with_timezone(&Utc)
}

pub fn reference(object: &Value) -> Reference {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let kind = Kind::of(&text("/apiVersion"), &text("/kind")).expect("a judged kind");
    Reference::new(kind, &text("/metadata/namespace"), &text("/metadata/name"))
}

impl World {
    pub fn with(objects: impl IntoIterator<Item = Value>) -> Self {
        let objects = objects.into_iter().map(|object| (reference(&object), object)).collect();
        let lease = json!({"spec": {"renewTime": "2999-01-01T00:00:00.000000Z", "leaseDurationSeconds": 15}});
        Self { objects, lease: Some(lease), ..Self::default() }
    }

    pub fn update(&self, by: By, old: &Value, new: &Value) -> Judged {
        self.judge(by, Operation::Update, Some(old), new)
    }

    pub fn create(&self, by: By, new: &Value) -> Judged {
        self.judge(by, Operation::Create, None, new)
    }

    pub fn judge(&self, by: By, operation: Operation, old: Option<&Value>, new: &Value) -> Judged {
        let own = reference(new);
        let (object, old) = (new.to_string().into_bytes(), old.map(|old| old.to_string().into_bytes()));
        let version = new["apiVersion"].as_str().unwrap().split_once('/').unwrap().1.to_owned();
        let request = Request {
            operation,
            kind: own.kind,
            version: &version,
            namespace: Some(&own.namespace),
            name: Some(&own.name),
            user: by.user,
            groups: vec!["system:authenticated"],
            manager: Some(by.manager).filter(|manager| !manager.is_empty()),
            dry_run: by.dry_run,
            object: &object,
            old: old.as_deref(),
        };
        self.run(request)
    }

    /// Judges a request as it comes over the wire.
    pub fn run(&self, request: Request<'_>) -> Judged {
        let mut gate = Gate::new(request, &self.settings, self.time.unwrap_or_else(now));
        let mut judged =
            Judged { verdict: Verdict::default(), reads: vec![], whole: vec![], leases: vec![], questions: vec![] };
        loop {
            let answer = match gate.step() {
                Step::Read(reads) => {
                    judged.reads.extend(reads.iter().map(|read| read.reference.to_string()));
                    let whole = reads.iter().filter(|read| read.whole);
                    judged.whole.extend(whole.map(|read| read.reference.to_string()));
                    Answer::Fetched(reads.iter().map(|read| self.fetch(&read.reference)).collect())
                }
                Step::Lease { namespace, name } => {
                    judged.leases.push(format!("{namespace}/{name}"));
                    let lease = self.lease.as_ref().map_or(Fetched::Absent, |l| Fetched::Found(l.to_string().into()));
                    Answer::Fetched(vec![self.lease_fails.clone().unwrap_or(lease)])
                }
                Step::Ask(questions) => {
                    let answers = questions.iter().map(|question| self.allowed.contains(question)).collect();
                    judged.questions.extend(questions);
                    Answer::Allowed(answers)
                }
                Step::Done(verdict) => {
                    judged.verdict = *verdict;
                    let unique: BTreeSet<_> = judged.reads.iter().collect();
                    assert_eq!(unique.len(), judged.reads.len(), "each object is read once: {:?}", judged.reads);
                    shape::is_fit_to_print(&judged.verdict);
                    return judged;
                }
            };
            gate.answer(answer);
        }
    }

    fn fetch(&self, reference: &Reference) -> Fetched {
        if self.absent_kinds.contains(&reference.kind) {
            return Fetched::KindAbsent;
        }
        if self.forbidden.contains(&reference.kind) {
            return Fetched::Forbidden;
        }
        if let Some(failure) = self.failing.get(reference) {
            return failure.clone();
        }
        self.objects.get(reference).map_or(Fetched::Absent, |object| Fetched::Found(object.to_string().into()))
    }
}

/// A Kustomization that depends on others of its namespace.
pub fn kustomization(namespace: &str, name: &str, depends_on: &[&str]) -> Value {
    let depends_on: Vec<Value> = depends_on.iter().map(|name| json!({"name": name})).collect();
    json!({
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
        "kind": "Kustomization",
        "metadata": {"namespace": namespace, "name": name, "generation": 1},
        "spec": {"dependsOn": depends_on},
    })
}
