//! Findings for machines.

use super::{Finding, LoopFinding, Severity, Spot, What, headline, paragraph};
use serde_json::{Value, json};
use sluicegate_core::object::Reference;

/// The version of the form of the findings.
pub const SCHEMA_VERSION: u32 = 1;

impl Severity {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// A finding as JSON. `clusters` are the names of those it is about.
#[must_use]
pub fn json(finding: &Finding, clusters: &[String]) -> Value {
    let mut value = json!({
        "rule": finding.rule(),
        "severity": finding.severity.name(),
        "object": finding.object.as_ref().map(ToString::to_string),
        "path": finding.spot.as_ref().map(|spot| &spot.path),
        "line": finding.spot.as_ref().map(|spot| spot.line).filter(|line| *line > 0),
        "message": headline(finding),
        "text": paragraph(finding),
        "clusters": clusters,
    });
    let (key, detail) = match &finding.what {
        What::Loop(found) => ("loop", of_loop(found)),
        What::Missing { target, reason, near, open } => (
            "reference",
            json!({"target": target.to_string(), "field": reason.to_string(), "near": near.as_ref().map(ToString::to_string), "open": open}),
        ),
        What::WrongKind { target, reason, found } => (
            "reference",
            json!({"target": target.to_string(), "field": reason.to_string(), "found": found.to_string()}),
        ),
        What::Suspended { behind } => ("behind", names(behind)),
        _ => return value,
    };
    if let Some(fields) = value.as_object_mut() {
        fields.insert(key.to_owned(), detail);
    }
    value
}

fn of_loop(found: &LoopFinding) -> Value {
    let place = |spot: &Option<Spot>| spot.as_ref().map(|spot| json!({"path": spot.path, "line": spot.line}));
    let steps = found.report.shortest.steps.iter().zip(&found.steps).map(|(step, spot)| {
        json!({"from": step.from.to_string(), "to": step.need.target.to_string(),
               "field": step.need.reason.to_string(), "at": place(spot)})
    });
    let cut = found.report.cut.as_ref().map(|cut| {
        let fields: Vec<String> = cut.needs.iter().map(|need| need.reason.to_string()).collect();
        json!({"from": cut.from.to_string(), "to": cut.target.to_string(), "fields": fields, "at": place(&found.cut)})
    });
    let silenced = found
        .silenced
        .iter()
        .map(|(source, bystanders)| json!({"source": source.to_string(), "bystanders": names(bystanders)}));
    json!({
        "members": names(&found.report.members),
        "shortest": steps.collect::<Vec<_>>(),
        "proven": found.report.proven,
        "cut": cut,
        "behind": names(&found.behind),
        "silenced": silenced.collect::<Vec<_>>(),
    })
}

fn names(objects: &[Reference]) -> Value {
    objects.iter().map(|object| Value::from(object.to_string())).collect()
}
