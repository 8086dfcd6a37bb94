//! What one snapshot of a generator proves.

use crate::object::{Condition, Inventory, Object};
use crate::settled::{Snapshot, sources_digest};
use chrono::{DateTime, TimeDelta, Utc};

/// How long a generator may be at work before it counts as stalled.
pub const GRACE: TimeDelta = TimeDelta::seconds(30);

/// Whether this ArtifactGenerator is provably stalled at `now`: its Ready has been Unknown at the current generation for
/// longer than the grace period, and nothing is left to do.
///
/// Its sources are read from the snapshot; without them nothing is proved. A Ready condition that is absent carries no
/// time, so one snapshot cannot tell: then the answer is no.
#[must_use]
pub fn is_provably_stalled(generator: &Object, snapshot: &dyn Snapshot, now: DateTime<Utc>) -> bool {
    let stalled = generator.condition("Stalled").is_some_and(Condition::is_true);
    if generator.is_suspended() || generator.is_deleting() || stalled {
        return false;
    }
    let Some(ready) = generator.condition("Ready") else { return false };
    let since = ready.last_transition_time.as_deref().and_then(|time| DateTime::parse_from_rfc3339(time).ok());
    let Some(age) = since.map(|since| now.signed_duration_since(since)) else { return false };
    let current = ready.observed_generation == generator.metadata.generation;
    let unknown = ready.status.as_deref() == Some("Unknown");
    unknown && current && age > GRACE && has_finished(generator, snapshot)
}

/// Whether nothing is left to do: what is recorded of the sources is what they are, and every output is listed.
fn has_finished(generator: &Object, snapshot: &dyn Snapshot) -> bool {
    let recorded = generator.status.observed_sources_digest.as_deref();
    is_complete(generator, false) && recorded.is_some() && sources_digest(generator, snapshot).as_deref() == recorded
}

/// Whether every output is listed. Those of a pattern (source-watcher 2.2) cannot be counted beforehand.
pub(super) fn is_complete(generator: &Object, pattern: bool) -> bool {
    let outputs = generator.spec.artifacts.as_ref().map(Vec::len);
    let listed = match &generator.status.inventory {
        Some(Inventory::Generated(entries)) => entries.len(),
        _ => 0,
    };
    listed > 0 && (pattern || outputs.is_none_or(|outputs| outputs == listed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{Kind, Reference};
    use rstest::rstest;
    use serde_json::{Value, json};
    use std::collections::BTreeMap;

    const DIGEST: &str = "sha256:972898afc47636b627c9ce1eb2bcafe77773e0aa1433800070876a8903a26c48";

    fn world() -> BTreeMap<Reference, Object> {
        let repository = json!({"metadata": {"name": "repo"}, "status": {"artifact": {
            "digest": "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
            "revision": "main@sha1:1111111111111111111111111111111111111111",
            "url": "http://source-controller.flux-system.svc.cluster.local./gitrepository/ns/repo/1111.tar.gz",
        }}});
        let read = Object::of_request(Kind::GitRepository, Some("ns"), None, repository.to_string().as_bytes());
        BTreeMap::from([(Reference::new(Kind::GitRepository, "ns", "repo"), read.unwrap())])
    }

    fn generator() -> Value {
        json!({
            "metadata": {"name": "g", "generation": 2},
            "spec": {
                "sources": [{"alias": "repo", "kind": "GitRepository", "name": "repo"}],
                "artifacts": [{"name": "e"}],
            },
            "status": {
                "observedSourcesDigest": DIGEST,
                "inventory": [{"name": "e", "namespace": "ns", "digest": "sha256:1"}],
                "conditions": [
                    {"type": "Reconciling", "status": "True", "reason": "Progressing"},
                    {"type": "Ready", "status": "Unknown", "reason": "Progressing", "observedGeneration": 2,
                     "lastTransitionTime": "2026-01-01T00:00:00Z"},
                ],
            },
        })
    }

    fn judge(generator: &Value, after: i64) -> bool {
        let now = DateTime::parse_from_rfc3339("2026-01-01T00:00:00Z").unwrap().with_timezone(&Utc);
        let object = Object::of_request(Kind::ArtifactGenerator, Some("ns"), None, generator.to_string().as_bytes());
        is_provably_stalled(&object.unwrap(), &world(), now + TimeDelta::seconds(after))
    }

    #[test]
    fn the_grace_period_is_a_bound() {
        assert!(!judge(&generator(), 30));
        assert!(judge(&generator(), 31));
    }

    #[rstest]
    #[case("/status/conditions/1/status", json!("True"))]
    #[case("/status/conditions/1/status", json!("False"))]
    #[case("/status/conditions/1/observedGeneration", json!(1))]
    #[case("/status/conditions/1/lastTransitionTime", json!("long ago"))]
    #[case("/status/conditions/1/type", json!("Other"))]
    #[case("/status/conditions/0/type", json!("Stalled"))]
    #[case("/status/observedSourcesDigest", json!("sha256:0"))]
    #[case("/status/observedSourcesDigest", json!(null))]
    #[case("/status/inventory", json!([]))]
    #[case("/spec/artifacts", json!([{"name": "e"}, {"name": "f"}]))]
    #[case("/spec/sources/0/name", json!("absent"))]
    #[case("/metadata/generation", json!(3))]
    fn each_proof_is_needed(#[case] pointer: &str, #[case] value: Value) {
        let mut generator = generator();
        *generator.pointer_mut(pointer).unwrap() = value;
        assert!(!judge(&generator, 3_600));
    }

    #[test]
    fn one_that_is_disabled_or_being_deleted_is_not_stalled() {
        let mut disabled = generator();
        disabled["metadata"]["annotations"] = json!({"source.extensions.fluxcd.io/reconcile": "disabled"});
        assert!(!judge(&disabled, 3_600));
        let mut deleting = generator();
        deleting["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        assert!(!judge(&deleting, 3_600));
    }
}
