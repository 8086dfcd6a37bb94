//! Objects in few words, and what to look for in an answer.

use super::{Judged, reference};
use serde_json::{Value, json};
use sluicegate_core::gate::Verdict;
use sluicegate_core::object::Kind;

/// An object of this kind.
pub fn object(kind: Kind, namespace: &str, name: &str, spec: Value) -> Value {
    let mut metadata = json!({"name": name, "generation": 1});
    if kind.row().namespaced {
        metadata["namespace"] = json!(namespace);
    }
    json!({"apiVersion": kind.row().api_version, "kind": kind.name(), "metadata": metadata, "spec": spec})
}

/// The reference to this object as Flux writes it into a field of another.
pub fn to(object: &Value) -> Value {
    let mut to = json!({
        "apiVersion": object["apiVersion"], "kind": object["kind"], "name": object["metadata"]["name"]
    });
    if object["metadata"]["namespace"].is_string() {
        to["namespace"] = object["metadata"]["namespace"].clone();
    }
    to
}

/// The object, with the labels of an owner.
pub fn owned(mut object: Value, owner: &Value) -> Value {
    let prefix = match reference(owner).kind {
        Kind::Kustomization => "kustomize.toolkit.fluxcd.io",
        Kind::HelmRelease => "helm.toolkit.fluxcd.io",
        Kind::ResourceSet => "resourceset.fluxcd.controlplane.io",
        other => panic!("{other} owns nothing"),
    };
    for field in ["name", "namespace"] {
        object["metadata"]["labels"][format!("{prefix}/{field}")] = owner["metadata"][field].clone();
    }
    object
}

/// The entry of an inventory that names this object.
pub fn inventory_id(object: &Value) -> String {
    let own = reference(object);
    format!("{}_{}_{}_{}", own.namespace, own.name, own.kind.row().group, own.kind)
}

/// The object, with these in its inventory, among entries of other kinds.
pub fn listing(mut object: Value, applied: &[&Value]) -> Value {
    let mut ids = vec!["ns_some_apps_Deployment".to_owned()];
    ids.extend(applied.iter().map(|object| inventory_id(object)));
    let entries: Vec<Value> = ids.into_iter().map(|id| json!({"id": id, "v": "v1"})).collect();
    object["status"]["inventory"] = json!({"entries": entries});
    object
}

/// The object with this spec field set.
pub fn having(mut object: Value, field: &str, value: Value) -> Value {
    object["spec"][field] = value;
    object
}

/// The texts of a verdict, whatever it is about, are bounded and hold nothing that is not for the eye.
#[track_caller]
pub fn is_fit_to_print(verdict: &Verdict) {
    let hidden =
        |c: char| c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{feff}');
    let lines = verdict.refusal.as_deref().unwrap_or("refused").lines();
    for text in lines.chain(verdict.warnings.iter().map(String::as_str)).chain(verdict.audit.iter().map(|(_, v)| &**v))
    {
        assert!(!text.contains(hidden), "{text:?}");
        assert!(!text.trim().is_empty() && !text.ends_with(' '), "{text:?}");
    }
    for warning in &verdict.warnings {
        assert!(warning.chars().count() < 120, "{warning}");
    }
    assert!(verdict.warnings.len() <= 20, "{} warnings", verdict.warnings.len());
    assert!(verdict.refusal.as_ref().is_none_or(|message| message.len() < 40_000), "a refusal without end");
    assert!(verdict.audit.iter().all(|(_, value)| value.len() < 10_000), "an audit annotation without end");
    let keys: Vec<&str> = verdict.audit.iter().map(|(key, _)| *key).collect();
    assert!(keys.starts_with(&["rule", "path"]), "{keys:?}");
}

impl Judged {
    /// The message of the refusal.
    pub fn refusal(&self) -> &str {
        self.verdict.refusal.as_deref().unwrap_or_else(|| panic!("not refused: {:?}", self.verdict))
    }

    /// The first line of the refusal, or "admitted" with all warnings.
    pub fn said(&self) -> String {
        match &self.verdict.refusal {
            Some(message) => format!("refused: {}", message.lines().next().unwrap_or_default()),
            None if self.verdict.warnings.is_empty() => "admitted".to_owned(),
            None => format!("admitted: {}", self.verdict.warnings.join(" | ")),
        }
    }

    /// The steps of the loop in a refusal, each as it is shown, with single spaces.
    pub fn steps(&self) -> Vec<String> {
        let steps = self.refusal().lines().filter_map(|line| line.trim_start().strip_prefix("needs "));
        steps.map(|step| step.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    /// Fails unless the request was admitted as it stands, without a word and without looking at anything.
    #[track_caller]
    pub fn is_untouched(&self) {
        assert_eq!(self.said(), "admitted");
        assert!(self.verdict.mutation.is_empty(), "{:?}", self.verdict.mutation);
        assert_eq!(self.reads, [""; 0]);
        assert_eq!(self.leases, [""; 0]);
        assert!(self.questions.is_empty());
    }
}
