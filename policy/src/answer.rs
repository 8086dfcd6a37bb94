//! The answer to `validate`. The SDK has no function for an admission with warnings, and its own type would take the
//! object apart, which deep nesting and odd numbers do not survive.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use sluicegate_core::gate::Verdict;
use sluicegate_core::text::warning;

/// The HTTP status of a refusal. Never 500: the audit scanner takes that for a failure of the policy
/// (kubewarden-controller 1.36).
const FORBIDDEN: u16 = 403;

#[derive(Serialize)]
struct Answer<'a> {
    accepted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mutated_object: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty", serialize_with = "as_map")]
    audit_annotations: &'a [(&'static str, String)],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    warnings: &'a [String],
}

fn as_map<S: Serializer>(pairs: &&[(&'static str, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(key, value)| (key, value)))
}

/// Admits what is none of the gate's business, or what it cannot judge for a reason, of which it warns.
///
/// # Errors
/// None: a string can always be written.
pub(crate) fn unjudged(path: &str, why: Option<&str>) -> Result<Vec<u8>, serde_json::Error> {
    let rule = if why.is_some() { "not-judged" } else { "admitted" };
    let path = if path.is_empty() { "unknown" } else { path };
    let warnings = why.map(|why| warning(&format!("not judged: {why}"))).into_iter().collect();
    let audit = vec![("rule", rule.to_owned()), ("path", path.to_owned())];
    encode(&Verdict { warnings, audit, ..Verdict::default() }, &[])
}

/// Writes a verdict about `object`.
///
/// A change that cannot be made is left out, with a warning: the object was readable, so the only reason is a field
/// that nobody reads and that stands where a changed one must be. The API server refuses such an object anyway.
///
/// # Errors
/// None that a verdict can cause.
pub(crate) fn encode(verdict: &Verdict, object: &[u8]) -> Result<Vec<u8>, serde_json::Error> {
    let mut warnings = verdict.warnings.clone();
    let mutated_object = match &verdict.refusal {
        None if !verdict.mutation.is_empty() => verdict.mutation.apply(object).map(Some).unwrap_or_else(|_| {
            warnings.push("not held or marked: metadata or spec of the object is no object".into());
            None
        }),
        _ => None,
    };
    serde_json::to_vec(&Answer {
        accepted: verdict.is_admitted(),
        message: verdict.refusal.as_deref(),
        code: verdict.refusal.as_ref().map(|_| FORBIDDEN),
        mutated_object,
        audit_annotations: &verdict.audit,
        warnings: &warnings,
    })
}
