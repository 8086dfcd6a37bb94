//! Settled chains of every kind, and what may not be changed in them.

use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::object::{Kind, Object};
use sluicegate_core::settled::{blockers, chart_follows, inputs};
use sluicegate_core::testing::sample::{self, GIT_REVISION};
use sluicegate_core::testing::{set, snapshot, with};

/// A chain, its consumer last.
pub type Chain = Vec<Value>;

pub fn git() -> Chain {
    vec![sample::git_repository("ns", "repo")]
}

pub fn kustomization() -> Chain {
    vec![sample::git_repository("ns", "repo"), sample::kustomization("ns", "app")]
}

pub fn terraform() -> Chain {
    vec![sample::git_repository("ns", "repo"), sample::terraform("ns", "app")]
}

pub fn release() -> Chain {
    let chart = sample::helm_chart("ns", "ns-app");
    vec![sample::git_repository("ns", "repo"), chart, sample::helm_release("ns", "app")]
}

/// As [`release`], with the strategy Revision and values files.
pub fn release_by_revision() -> Chain {
    const VERSION: &str = "1.2.3+111111111111.2";
    let [repo, mut chart, mut release] = <[Value; 3]>::try_from(release()).unwrap();
    for (object, spec) in [(&mut chart, "/spec"), (&mut release, "/spec/chart/spec")] {
        set(object, &format!("{spec}/reconcileStrategy"), "Revision".into());
        set(object, &format!("{spec}/valuesFiles"), json!(["a.yaml"]));
    }
    let message = format!("packaged 'app' chart with version '{VERSION}' and merged values files [a.yaml]");
    set(&mut chart, "/status/conditions/ArtifactInStorage/message", message.into());
    set(&mut chart, "/status/artifact/revision", VERSION.into());
    set(&mut release, "/status/history/0/chartVersion", VERSION.into());
    let message = format!("Helm upgrade succeeded for release ns/app.v2 with chart app@{VERSION}");
    set(&mut release, "/status/conditions/Ready/message", message.into());
    vec![repo, chart, release]
}

pub fn release_from_repository() -> Chain {
    let source = json!({"kind": "HelmRepository", "name": "repo"});
    let [_, chart, release] = <[Value; 3]>::try_from(release()).unwrap();
    let chart = with(
        chart,
        &[
            ("/spec/sourceRef", source.clone()),
            ("/status/observedSourceArtifactRevision", sample::DIGEST_REVISION.into()),
            ("/status/conditions/ArtifactInStorage/message", "pulled 'app' chart with version '1.2.3'".into()),
        ],
    );
    let release = with(release, &[("/spec/chart/spec/sourceRef", source)]);
    vec![sample::helm_repository("ns", "repo"), chart, release]
}

pub fn release_from_static_repository() -> Chain {
    let [_, mut chart, release] = <[Value; 3]>::try_from(release_from_repository()).unwrap();
    set(&mut chart, "/status/observedSourceArtifactRevision", Value::Null);
    vec![sample::helm_repository_oci("ns", "repo"), chart, release]
}

pub fn release_of_image() -> Chain {
    let release = sample::helm_release_of(Kind::OCIRepository, "repo", "ns", "app");
    vec![sample::oci_repository("ns", "repo"), release]
}

pub fn generator() -> Chain {
    vec![sample::git_repository("ns", "repo"), sample::artifact_generator("ns", sample::GENERATOR)]
}

pub fn artifact() -> Chain {
    let mut chain = generator();
    chain.push(sample::external_artifact("ns", sample::ARTIFACT));
    chain
}

pub fn release_of_artifact() -> Chain {
    let mut chain = artifact();
    chain.push(sample::helm_release_of(Kind::ExternalArtifact, sample::ARTIFACT, "ns", "app"));
    chain
}

pub fn kustomization_of_artifact() -> Chain {
    let source = json!({"kind": "ExternalArtifact", "name": sample::ARTIFACT});
    let consumer = with(
        sample::kustomization("ns", "app"),
        &[("/spec/sourceRef", source), ("/status/lastAppliedRevision", sample::ARTIFACT_REVISION.into())],
    );
    let mut chain = artifact();
    chain.push(consumer);
    chain
}

pub fn include() -> Chain {
    let artifact = json!({"revision": GIT_REVISION, "digest": sample::DIGEST, "url": "u"});
    let includer = with(
        sample::git_repository("ns", "includer"),
        &[
            ("/spec/include", json!([{"repository": {"name": "repo"}}])),
            ("/status/includedArtifacts", json!([artifact])),
        ],
    );
    vec![sample::git_repository("ns", "repo"), includer]
}

pub fn package() -> Chain {
    vec![
        sample::git_repository("cozy-system", "repo"),
        sample::artifact_generator("cozy-system", "app"),
        sample::package_source("app"),
        sample::package("app"),
    ]
}

pub fn single(json: Value) -> Chain {
    vec![json]
}

/// All chains.
pub fn all() -> Vec<Chain> {
    vec![
        kustomization(),
        terraform(),
        release(),
        release_by_revision(),
        release_from_repository(),
        release_from_static_repository(),
        release_of_image(),
        release_of_artifact(),
        kustomization_of_artifact(),
        include(),
        package(),
        single(sample::bucket("ns", "repo")),
        single(sample::resource_set("ns", "app")),
    ]
}

/// What blocks a chain, each with the object: its members, and inputs that are not there.
pub fn troubles(chain: &[Value]) -> Vec<String> {
    let known = snapshot(chain);
    let mut troubles = Vec::new();
    for object in known.values() {
        let name = &object.reference;
        troubles.extend(blockers(object, &known).iter().map(|blocker| format!("{name}: {}", blocker.sentence())));
        let absent = inputs(object).into_iter().filter(|need| !known.contains_key(&need.target));
        troubles.extend(absent.map(|need| format!("{}: absent", need.target)));
    }
    troubles
}

/// What blocks the last object of a chain.
pub fn own_troubles(chain: &[Value]) -> Vec<String> {
    let known = snapshot(chain);
    let own = sluicegate_core::testing::reference(chain.last().unwrap());
    blockers(&known[&own], &known).iter().map(|blocker| blocker.sentence().to_string()).collect()
}

#[test]
fn every_chain_is_settled() {
    for chain in all() {
        assert_eq!(troubles(&chain), Vec::<String>::new(), "{chain:?}");
    }
}

#[test]
fn every_kind_is_in_a_chain() {
    let kinds: Vec<Kind> = all().iter().flatten().map(|json| sluicegate_core::testing::reference(json).kind).collect();
    for row in &sluicegate_core::object::KINDS {
        assert!(kinds.contains(&row.kind), "{}", row.kind);
    }
}

#[test]
fn a_generated_chart_is_an_input_and_follows_its_release() {
    let known = snapshot(&release());
    let find = |kind| known.values().find(|object: &&Object| object.reference.kind == kind).unwrap();
    let (release, chart) = (find(Kind::HelmRelease), find(Kind::HelmChart));
    let targets: Vec<_> = inputs(release).into_iter().map(|need| need.target.to_string()).collect();
    assert_eq!(targets, ["GitRepository/ns/repo", "HelmChart/ns/ns-app"]);
    assert!(chart_follows(release, chart));
}

fn targets(json: &Value) -> Vec<String> {
    let object = sluicegate_core::testing::object(json);
    inputs(&object).into_iter().map(|need| format!("{} by {}", need.target, need.reason)).collect()
}

/// Neither what is waited for afterwards, nor `dependsOn`, nor a chart that a reference replaces.
#[test]
fn inputs_are_what_the_content_comes_from() {
    let entry = json!({"id": "ns_child_helm.toolkit.fluxcd.io_HelmRelease", "v": "v2"});
    let parent = with(
        sample::kustomization("ns", "app"),
        &[
            ("/spec/dependsOn", json!([{"name": "first"}])),
            ("/spec/wait", json!(true)),
            ("/status/inventory/entries", json!([entry])),
        ],
    );
    assert_eq!(targets(&parent), ["GitRepository/ns/repo by spec.sourceRef"]);
    let both =
        with(sample::helm_release("ns", "app"), &[("/spec/chartRef", json!({"kind": "OCIRepository", "name": "o"}))]);
    assert_eq!(targets(&both), ["OCIRepository/ns/o by spec.chartRef"]);
    assert_eq!(
        targets(&sample::package_source("app")),
        ["GitRepository/cozy-system/repo by spec.sourceRef", "ArtifactGenerator/cozy-system/app by metadata.name"]
    );
    assert_eq!(targets(&sample::package("app")), ["PackageSource/app by metadata.name"]);
}

/// Each judged field, with an older value. One alone is enough.
#[rstest]
#[case::git(git(), &[
    ("/status/observedGeneration", json!(1)),
    ("/status/conditions/Ready/status", json!("False")),
    ("/status/conditions/Ready/status", json!("Unknown")),
    ("/status/conditions/Ready", Value::Null),
    ("/status/conditions/ArtifactInStorage/observedGeneration", json!(1)),
    ("/status/conditions/ArtifactInStorage/status", json!("False")),
    ("/status/conditions/ArtifactInStorage", Value::Null),
    ("/status/conditions/ArtifactInStorage/message", json!("stored artifact for revision 'main@sha1:0'")),
    ("/status/artifact/revision", json!("main@sha1:0000000000000000000000000000000000000000")),
    ("/status/artifact", Value::Null),
    ("/status/lastHandledReconcileAt", json!("T1")),
])]
#[case::kustomization(kustomization(), &[
    ("/status/observedGeneration", json!(1)),
    ("/status/observedGeneration", json!(-1)),
    ("/status/conditions/Ready/status", json!("Unknown")),
    ("/status/lastAppliedRevision", json!("main@sha1:0000000000000000000000000000000000000000")),
    ("/status/lastAppliedRevision", Value::Null),
    ("/status/lastHandledReconcileAt", json!("T1")),
])]
#[case::release(release(), &[
    ("/status/observedGeneration", json!(1)),
    ("/status/lastAttemptedGeneration", json!(1)),
    ("/status/lastAttemptedGeneration", Value::Null),
    ("/status/conditions/Ready/status", json!("False")),
    ("/status/conditions/Ready/message",
        json!("Helm install succeeded for release ns/app.v1 with chart app@1.2.3")),
    ("/status/conditions/Ready/message",
        json!("Helm upgrade succeeded for release ns/app.v2 with chart app@1.2.2")),
    ("/status/conditions/Ready/message",
        json!("Helm upgrade succeeded for release ns/app.v2 with chart other@1.2.3")),
    ("/status/history/0/status", json!("pending-upgrade")),
    ("/status/history/0/version", json!(1)),
    ("/status/history/0/chartVersion", json!("1.2.2")),
    ("/status/history", Value::Null),
    ("/status/history", json!([])),
    ("/status/lastHandledReconcileAt", json!("T1")),
])]
#[case::release_of_image(release_of_image(), &[
    ("/status/history/0/ociDigest", json!("sha256:00")),
    ("/status/history/0/ociDigest", Value::Null),
    ("/status/history/0/ociDigest", json!(sample::DIGEST)),
])]
#[case::release_of_artifact(release_of_artifact(), &[
    ("/status/history/0/ociDigest", json!("latest@sha256:00")),
    ("/status/history/0/ociDigest", Value::Null),
    ("/status/history/0/ociDigest", json!(sample::DIGEST)),
])]
#[case::generator(generator(), &[
    ("/status/conditions/Ready/observedGeneration", json!(1)),
    ("/status/conditions/Ready/status", json!("Unknown")),
    ("/status/conditions/Ready", Value::Null),
    ("/status/observedSourcesDigest", json!("sha256:00")),
    ("/status/observedSourcesDigest", Value::Null),
    ("/status/lastHandledReconcileAt", json!("T1")),
])]
#[case::artifact(artifact(), &[
    ("/status/artifact/digest", json!("sha256:00")),
    ("/status/artifact/digest", Value::Null),
    ("/status/artifact", Value::Null),
    ("/status/conditions/Ready/status", json!("False")),
    ("/status/conditions/Ready", Value::Null),
])]
#[case::include(include(), &[
    ("/status/includedArtifacts/0/revision", json!("main@sha1:0000000000000000000000000000000000000000")),
    ("/status/includedArtifacts/0/digest", json!("sha256:00")),
    ("/status/includedArtifacts", Value::Null),
])]
#[case::terraform(terraform(), &[
    ("/status/observedGeneration", json!(1)),
    ("/status/conditions/Ready/status", json!("Unknown")),
    ("/status/conditions/Ready/message", json!("Outputs written: main@sha1:0000")),
    ("/status/lastAttemptedRevision", json!("main@sha1:0000000000000000000000000000000000000000")),
    ("/status/lastAttemptedRevision", Value::Null),
    ("/status/plan/pending", json!("plan-main-1111111111")),
    ("/status/lastHandledReconcileAt", json!("T1")),
])]
#[case::resource_set(single(sample::resource_set("ns", "app")), &[
    ("/status/conditions/Ready/observedGeneration", json!(1)),
    ("/status/conditions/Ready/status", json!("Unknown")),
    ("/status/conditions/Ready/reason", json!("ReconciliationDisabled")),
    ("/status/lastAppliedRevision", Value::Null),
    ("/status/lastHandledReconcileAt", json!("T1")),
])]
#[case::package(package(), &[
    ("/status/conditions/Ready/status", json!("False")),
    ("/status/dependencies/base/ready", json!(false)),
    ("/status/dependencies", Value::Null),
    ("/spec/variant", json!("minimal")),
])]
fn any_one_older_field_unsettles(#[case] chain: Chain, #[case] older: &[(&str, Value)]) {
    let token = ("/metadata/annotations/reconcile.fluxcd.io~1requestedAt", json!("T2"));
    let asked = |consumer: Value| with(consumer, &[token.clone(), ("/status/lastHandledReconcileAt", json!("T2"))]);
    for (pointer, value) in older {
        let mut chain = chain.clone();
        let consumer = asked(chain.pop().unwrap());
        chain.push(consumer.clone());
        assert_eq!(troubles(&chain), Vec::<String>::new(), "before");
        chain.pop();
        chain.push(with(consumer, &[(pointer, value.clone())]));
        assert_eq!(own_troubles(&chain).len(), troubles(&chain).len(), "only the changed object may suffer");
        assert!(!own_troubles(&chain).is_empty(), "{pointer} = {value}");
    }
}
