//! ArtifactGenerator, and the ExternalArtifacts that it makes.

use super::{Blocker, Judge, Snapshot};
use crate::need::Reason;
use crate::object::{Inventory, Object};
use crate::ordered::sort;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The row of ArtifactGenerator. It has no `observedGeneration`; that of its Ready condition is stamped late.
pub(crate) fn artifact_generator(judge: &mut Judge<'_>) {
    judge.any();
    judge.ready_at_generation();
    let recorded = judge.object.status.observed_sources_digest.as_deref().filter(|digest| !digest.is_empty());
    let Some(current) = sources_digest(judge.object, judge.snapshot) else { return };
    if recorded != Some(&current) {
        judge.push(Blocker::SourcesDiffer { recorded: recorded.is_some() });
    }
}

/// The digest that source-watcher would record for the sources of this generator as they are in the snapshot: SHA-256
/// over the sorted entries `ALIAS=[digest=…,revision=…,url=…]` joined by `|` (source-watcher 2.2
/// `api/v1beta1/observed_source.go`).
///
/// `None` where a source is not in the snapshot, has no artifact, or is of a kind that cannot be judged.
#[must_use]
pub fn sources_digest(generator: &Object, snapshot: &dyn Snapshot) -> Option<Box<str>> {
    let sources = generator.spec.sources.as_deref().unwrap_or_default();
    if !generator.needs().unjudged.is_empty() {
        return None;
    }
    // The last one wins where an alias stands twice; source-watcher refuses such a generator.
    let mut entries = BTreeMap::new();
    for need in super::inputs(generator) {
        let Reason::Sources(index) = need.reason else { continue };
        let artifact = snapshot.object(&need.target)?.artifact()?;
        let alias = sources.get(index)?.alias.as_deref().unwrap_or_default();
        let [digest, revision, url] =
            [&artifact.digest, &artifact.revision, &artifact.url].map(|field| field.as_deref().unwrap_or_default());
        entries.insert(alias, format!("{alias}=[digest={digest},revision={revision},url={url}]"));
    }
    let mut entries: Vec<String> = entries.into_values().collect();
    sort(&mut entries);
    let mut text = String::from("sha256:");
    for byte in Sha256::digest(entries.join("|")) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Some(text.into())
}

/// The row of ExternalArtifact. Its own status says nothing about freshness; only its generator does. Other producers
/// are taken at their word.
pub(crate) fn external_artifact(judge: &mut Judge<'_>) {
    judge.any_without_request();
    judge.artifact();
    judge.ready();
    let Some(artifact) = judge.object.artifact() else { return };
    let Some(generator) = judge.input(|reason| reason == Reason::SourceRef) else { return };
    let own = &judge.object.reference;
    let listed = match &generator.status.inventory {
        Some(Inventory::Generated(entries)) => entries.iter().find(|entry| {
            entry.name.as_ref() == Some(&own.name)
                && entry.namespace.as_ref().is_none_or(|namespace| *namespace == own.namespace)
        }),
        _ => None,
    };
    match listed {
        None => judge.push(Blocker::NotListed),
        Some(entry) if entry.digest != artifact.digest || artifact.digest.is_none() => {
            let (listed, artifact) = (entry.digest.clone(), artifact.digest.clone());
            judge.push(Blocker::DigestDiffers { listed, artifact });
        }
        Some(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{Kind, Reference};
    use rstest::rstest;
    use serde_json::{Value, json};

    const REPO: &str = r#"{"digest":"sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
        "revision":"main@sha1:1111111111111111111111111111111111111111",
        "url":"http://source-controller.flux-system.svc.cluster.local./gitrepository/ns/repo/1111.tar.gz"}"#;
    const IMAGE: &str = r#"{"digest":"sha256:486ea46224d1bb4fb680f34f7c9ad96a8f24ec88be73ea8e5a6c65260e9cb8a7",
        "revision":"1.0.0@sha256:cada9a7b9e3e","url":"http://x/oci"}"#;

    fn digest(sources: &Value) -> Option<Box<str>> {
        let read = |kind, json: Value| Object::of_request(kind, Some("ns"), None, json.to_string().as_bytes()).unwrap();
        let source = |kind, name: &str, artifact: &str| {
            let artifact: Value = serde_json::from_str(artifact).unwrap();
            let object = read(kind, json!({"metadata": {"name": name}, "status": {"artifact": artifact}}));
            (Reference::new(kind, "ns", name), object)
        };
        let snapshot = BTreeMap::from([
            source(Kind::GitRepository, "repo", REPO),
            source(Kind::OCIRepository, "image", IMAGE),
            source(Kind::Bucket, "empty", r#"{"revision":""}"#),
            source(Kind::Bucket, "none", "{}"),
        ]);
        let generator = json!({"metadata": {"name": "g"}, "spec": {"sources": sources}});
        sources_digest(&read(Kind::ArtifactGenerator, generator), &snapshot)
    }

    /// The expected values were computed by `HashObservedSources` of source-watcher's API module 2.3.1.
    #[rstest]
    #[case(
        json!([{"alias": "repo", "kind": "GitRepository", "name": "repo"}]),
        "sha256:972898afc47636b627c9ce1eb2bcafe77773e0aa1433800070876a8903a26c48"
    )]
    #[case(
        json!([
            {"alias": "repo", "kind": "GitRepository", "name": "repo"},
            {"alias": "Z", "kind": "OCIRepository", "name": "image", "namespace": "ns"}
        ]),
        "sha256:19a23b4312fb225333c4beeb66a422dd297d079eb235c316090baee60f76a2e8"
    )]
    #[case(json!([]), "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")]
    #[case(
        json!([{"alias": "b", "kind": "Bucket", "name": "empty"}, {"kind": "GitRepository", "name": "repo"}]),
        "sha256:d998ca5941b467dc63d54c77a5505c769a6f212742b78df410ff17c597b81d5a"
    )]
    fn is_the_digest_that_source_watcher_computes(#[case] sources: Value, #[case] expected: &str) {
        assert_eq!(digest(&sources).as_deref(), Some(expected));
    }

    #[rstest]
    #[case(json!([{"alias": "a", "kind": "GitRepository", "name": "absent"}]))]
    #[case(json!([{"alias": "a", "kind": "Bucket", "name": "none"}]))]
    #[case(json!([{"alias": "a", "kind": "Widget", "name": "repo"}]))]
    fn is_unknown_where_a_source_is(#[case] sources: Value) {
        assert_eq!(digest(&sources), None);
    }
}
