//! Each test of each row: what it refuses, and that it refuses nothing else.

use super::chains::{self, Chain, own_troubles, single};
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::object::{KINDS, Kind};
use sluicegate_core::testing::{sample, with};

const REQUESTED: &str = "/metadata/annotations/reconcile.fluxcd.io~1requestedAt";
const HANDLED: &str = "/status/lastHandledReconcileAt";

fn changed(mut chain: Chain, fields: &[(&str, Value)]) -> Chain {
    let last = chain.pop().unwrap();
    chain.push(with(last, fields));
    chain
}

/// A settled object of this kind, with its inputs before it.
fn chain_of(kind: Kind) -> Chain {
    match kind {
        Kind::ArtifactGenerator => chains::generator(),
        Kind::Bucket => single(sample::bucket("ns", "repo")),
        Kind::ExternalArtifact => chains::artifact(),
        Kind::GitRepository => chains::include(),
        Kind::HelmChart => chains::release().into_iter().take(2).collect(),
        Kind::HelmRelease => chains::release(),
        Kind::HelmRepository => single(sample::helm_repository("ns", "repo")),
        Kind::Kustomization => chains::kustomization(),
        Kind::OCIRepository => single(sample::oci_repository("ns", "repo")),
        Kind::Package => chains::package(),
        Kind::PackageSource => chains::package().into_iter().take(3).collect(),
        Kind::ResourceSet => single(sample::resource_set("ns", "app")),
        Kind::Terraform => chains::terraform(),
    }
}

fn handles_requests(kind: Kind) -> bool {
    !matches!(kind, Kind::ExternalArtifact | Kind::Package | Kind::PackageSource)
}

#[test]
fn any_kind_accepts_a_settled_object() {
    for row in &KINDS {
        assert_eq!(own_troubles(&chain_of(row.kind)), Vec::<String>::new(), "{}", row.kind);
    }
}

#[test]
fn any_kind_refuses_a_deleting_object() {
    for row in &KINDS {
        let chain = changed(chain_of(row.kind), &[("/metadata/deletionTimestamp", json!("2026-01-01T00:00:00Z"))]);
        assert_eq!(own_troubles(&chain), ["is being deleted"], "{}", row.kind);
    }
}

#[test]
fn any_kind_refuses_a_suspended_object_that_looks_ready() {
    for row in &KINDS {
        let (field, value, said) = match row.switch {
            sluicegate_core::object::Switch::None => continue,
            sluicegate_core::object::Switch::Spec => {
                ("/spec/suspend".to_owned(), json!(true), "spec.suspend".to_owned())
            }
            sluicegate_core::object::Switch::Annotation(key) => (
                format!("/metadata/annotations/{}", key.replace('/', "~1")),
                json!("Disabled"),
                format!("disabled by annotation {key}"),
            ),
        };
        let chain = changed(chain_of(row.kind), &[(&field, value)]);
        assert_eq!(own_troubles(&chain), [format!("is suspended ({said})")], "{}", row.kind);
    }
}

#[test]
fn any_kind_refuses_an_unhandled_request_that_its_controller_would_handle() {
    for row in &KINDS {
        let unhandled = changed(chain_of(row.kind), &[(REQUESTED, json!("T2")), (HANDLED, json!("T1"))]);
        let never = changed(chain_of(row.kind), &[(REQUESTED, json!("T2"))]);
        let handled = changed(chain_of(row.kind), &[(REQUESTED, json!("T2")), (HANDLED, json!("T2"))]);
        let no_request = changed(chain_of(row.kind), &[(HANDLED, json!("T1"))]);
        let empty = changed(chain_of(row.kind), &[(REQUESTED, json!(""))]);
        for accepted in [handled, no_request, empty] {
            assert_eq!(own_troubles(&accepted), Vec::<String>::new(), "{}", row.kind);
        }
        if handles_requests(row.kind) {
            assert_eq!(own_troubles(&unhandled), ["request T2 not yet handled (T1)"], "{}", row.kind);
            assert_eq!(own_troubles(&never), ["request T2 not yet handled (none)"], "{}", row.kind);
        } else {
            assert_eq!(own_troubles(&unhandled), Vec::<String>::new(), "{}", row.kind);
        }
    }
}

#[test]
fn any_kind_refuses_an_object_that_is_reconciling_or_stalled() {
    for row in &KINDS {
        let condition = |name: &str, status: &str| {
            let condition = json!({"type": name, "status": status, "reason": "R", "message": "why"});
            changed(chain_of(row.kind), &[(&format!("/status/conditions/{name}"), condition)])
        };
        assert_eq!(own_troubles(&condition("Reconciling", "True")), ["is reconciling: why"], "{}", row.kind);
        assert_eq!(own_troubles(&condition("Stalled", "True")), ["is stalled: why"], "{}", row.kind);
        for name in ["Reconciling", "Stalled"] {
            assert_eq!(own_troubles(&condition(name, "False")), Vec::<String>::new(), "{}", row.kind);
        }
    }
}

#[test]
fn any_kind_but_a_static_one_refuses_an_object_without_status() {
    for row in &KINDS {
        let chain = changed(chain_of(row.kind), &[("/status", Value::Null)]);
        assert!(!own_troubles(&chain).is_empty(), "{}", row.kind);
    }
}

const GENERATION: &str = "/status/observedGeneration";
const READY: &str = "/status/conditions/Ready";
const STORED: &str = "/status/conditions/ArtifactInStorage";

/// One field changed in a settled source of each kind, and the one sentence that comes of it.
#[rstest]
#[case(GENERATION, json!(1), "generation 2 not yet observed (1)")]
#[case(GENERATION, json!(3), "generation 2 not yet observed (3)")]
#[case(GENERATION, json!(-1), "no reconciliation has ended yet")]
#[case(GENERATION, Value::Null, "no reconciliation has ended yet")]
#[case("/metadata/generation", Value::Null, "generation 0 not yet observed (2)")]
#[case("/status/conditions/Ready/status", json!("False"), "not ready: ")]
#[case("/status/conditions/Ready/status", json!("Unknown"), "not ready yet: ")]
#[case(READY, Value::Null, "not ready: no Ready condition yet")]
#[case("/status/conditions/ArtifactInStorage/status", json!("Unknown"), "no artifact in storage: ")]
#[case(STORED, Value::Null, "no artifact in storage")]
#[case(
    "/status/conditions/ArtifactInStorage/observedGeneration",
    json!(1),
    "artifact in storage is of generation 1, not of 2"
)]
#[case(
    "/status/conditions/ArtifactInStorage/observedGeneration",
    Value::Null,
    "ArtifactInStorage does not say that it is of generation 2"
)]
#[case(
    "/status/conditions/ArtifactOutdated",
    json!({"type": "ArtifactOutdated", "status": "True", "message": "new upstream revision"}),
    "artifact is outdated: new upstream revision"
)]
#[case("/status/artifact", Value::Null, "has no artifact")]
#[case("/status/artifact/revision", Value::Null, "has no artifact")]
#[case("/status/artifact/revision", json!("other@sha1:00"), "status is inconsistent: ArtifactInStorage says ")]
fn each_source_refuses(
    #[values(Kind::GitRepository, Kind::OCIRepository, Kind::Bucket, Kind::HelmRepository, Kind::HelmChart)] kind: Kind,
    #[case] field: &str,
    #[case] value: Value,
    #[case] said: &str,
) {
    let value = match (kind, field) {
        // The same algorithm, or it could not be compared.
        (Kind::Bucket, "/status/artifact/revision") if value.is_string() => json!("sha256:00"),
        _ => value,
    };
    let chain = changed(chain_of(kind), &[(field, value)]);
    let troubles = own_troubles(&chain);
    assert!(troubles[0].starts_with(said), "{troubles:?}");
    // Without a generation nothing can be of the current one.
    let also = usize::from(field == "/metadata/generation");
    assert_eq!(troubles.len(), 1 + also, "{troubles:?}");
}

/// Messages that are no evidence: unknown, absent, of an older controller, or of another algorithm.
#[rstest]
#[case(Kind::GitRepository, json!("Fetched revision: main/0000"))]
#[case(Kind::GitRepository, json!("stored artifact for digest 'main@sha1:00'"))]
#[case(Kind::GitRepository, json!(""))]
#[case(Kind::GitRepository, Value::Null)]
#[case(Kind::OCIRepository, json!("stored artifact for revision '1.2.2@sha256:00'"))]
#[case(Kind::Bucket, json!("stored artifact: revision 'sha512:00'"))]
#[case(Kind::Bucket, json!("stored artifact: revision '00'"))]
#[case(Kind::HelmRepository, json!("stored artifact for revision '00'"))]
#[case(Kind::HelmChart, json!("new 'app' chart with version '9.9.9'"))]
#[case(Kind::HelmChart, json!("Helm chart version 9.9.9 pulled"))]
fn an_unrecognised_message_is_no_evidence(#[case] kind: Kind, #[case] message: Value) {
    let chain = changed(chain_of(kind), &[("/status/conditions/ArtifactInStorage/message", message)]);
    assert_eq!(own_troubles(&chain), Vec::<String>::new());
}

#[test]
fn a_recognised_message_of_another_revision_is_a_tear() {
    for (kind, message, said) in [
        (Kind::GitRepository, "stored artifact for revision 'v2@sha1:22'", "v2@sha1:22"),
        (Kind::OCIRepository, "stored artifact for digest '2.0.0@sha256:22'", "2.0.0@sha256:22"),
        (Kind::Bucket, "stored artifact: revision 'sha256:22'", "sha256:22"),
        (Kind::HelmRepository, "stored artifact: revision 'sha256:22'", "sha256:22"),
        (Kind::HelmChart, "pulled 'app' chart with version '2.0.0'", "2.0.0"),
        (Kind::HelmChart, "packaged 'app' chart with version '2.0.0' and merged values files [a]", "2.0.0"),
    ] {
        let chain = changed(chain_of(kind), &[("/status/conditions/ArtifactInStorage/message", json!(message))]);
        let [trouble] = <[String; 1]>::try_from(own_troubles(&chain)).unwrap();
        let start = format!("status is inconsistent: ArtifactInStorage says {said}, the artifact is ");
        assert!(trouble.starts_with(&start), "{trouble}");
    }
}

#[test]
fn a_static_helm_repository_is_judged_by_deletion_and_suspend_alone() {
    let odd = json!({"observedGeneration": -1, "conditions": [
        {"type": "Ready", "status": "False"}, {"type": "Stalled", "status": "True"}
    ]});
    let chain = |fields: &[(&str, Value)]| changed(single(sample::helm_repository_oci("ns", "repo")), fields);
    for accepted in [vec![], vec![("/status", odd)], vec![(REQUESTED, json!("T9"))], vec![("/status", Value::Null)]] {
        assert_eq!(own_troubles(&chain(&accepted)), Vec::<String>::new());
    }
    assert_eq!(own_troubles(&chain(&[("/spec/suspend", json!(true))]))[0], "is suspended (spec.suspend)");
    let default = chain(&[("/spec/type", json!("default"))]);
    assert_eq!(own_troubles(&default)[0], "not yet seen by its controller");
    assert_eq!(own_troubles(&chain(&[("/spec/type", Value::Null)])), own_troubles(&default));
}

/// `observedSourceArtifactRevision` and, with the strategy Revision, the build metadata.
#[rstest]
#[case::looked_at_an_older_one(
    chains::release(), &[("/status/observedSourceArtifactRevision", json!("main@sha1:00"))],
    Some("has not looked at revision main@sha1:1111111111111111111111111111111111111111 of its source yet (main@sha1:00)")
)]
#[case::looked_at_none(
    chains::release(), &[("/status/observedSourceArtifactRevision", Value::Null)],
    Some("has not looked at revision main@sha1:1111111111111111111111111111111111111111 of its source yet (none)")
)]
#[case::static_repository(chains::release_from_static_repository(), &[], None)]
#[case::by_revision(chains::release_by_revision(), &[], None)]
#[case::by_revision_without_values_files(
    chains::release_by_revision(),
    &[("/status/artifact/revision", json!("1.2.3+111111111111")), ("/status/conditions/ArtifactInStorage/message", json!("m"))],
    None
)]
#[case::looked_at_but_not_built(
    chains::release_by_revision(),
    &[("/status/artifact/revision", json!("1.2.3+000000000000.2")), ("/status/conditions/ArtifactInStorage/message", json!("m"))],
    Some("chart version 1.2.3+000000000000.2 was not built from revision main@sha1:1111111111111111111111111111111111111111 of its source")
)]
#[case::no_metadata_at_all(
    chains::release_by_revision(),
    &[("/status/artifact/revision", json!("1.2.3")), ("/status/conditions/ArtifactInStorage/message", json!("m"))],
    Some("chart version 1.2.3 was not built from revision main@sha1:1111111111111111111111111111111111111111 of its source")
)]
fn helm_chart(#[case] chain: Chain, #[case] fields: &[(&str, Value)], #[case] said: Option<&str>) {
    let chain = changed(chain.into_iter().take(2).collect(), fields);
    assert_eq!(own_troubles(&chain), Vec::from_iter(said));
}

#[test]
fn a_chart_by_revision_over_a_bucket() {
    let bucket = sample::bucket("ns", "repo");
    let chart = |version: &str| {
        let fields = [
            ("/spec/sourceRef/kind", json!("Bucket")),
            ("/status/observedSourceArtifactRevision", json!(sample::DIGEST_REVISION)),
            ("/status/artifact/revision", json!(version)),
            ("/status/conditions/ArtifactInStorage/message", json!("m")),
        ];
        vec![bucket.clone(), with(chains::release_by_revision().swap_remove(1), &fields)]
    };
    assert_eq!(own_troubles(&chart("1.2.3+333333333333.2")), Vec::<String>::new());
    assert_eq!(own_troubles(&chart("1.2.3+222222222222.2")).len(), 1);
}

/// A HelmRepository that became static while suspended keeps the status it had.
#[test]
fn a_chart_never_looks_at_what_a_static_repository_has_left() {
    let mut chain: Chain = chains::release_from_static_repository().into_iter().take(2).collect();
    chain[0] = with(chain[0].clone(), &[("/status/artifact", json!({"revision": "sha256:00"}))]);
    assert_eq!(own_troubles(&chain), Vec::<String>::new());
}

/// The kinds that have no `observedGeneration` of their own.
#[rstest]
#[case(Kind::ArtifactGenerator)]
#[case(Kind::ResourceSet)]
#[case(Kind::PackageSource)]
fn ready_must_be_of_this_generation(#[case] kind: Kind) {
    let ready = |generation: Value| {
        own_troubles(&changed(chain_of(kind), &[("/status/conditions/Ready/observedGeneration", generation)]))
    };
    assert_eq!(ready(json!(1)), ["Ready is of generation 1, not of 2"]);
    assert_eq!(ready(Value::Null), ["Ready does not say that it is of generation 2"]);
}

#[test]
fn a_chart_by_version_or_over_a_helm_repository_carries_no_revision() {
    let strategy =
        |chain: Chain| changed(chain.into_iter().take(2).collect(), &[("/spec/reconcileStrategy", json!("Revision"))]);
    assert_eq!(own_troubles(&strategy(chains::release_from_repository())), Vec::<String>::new());
    assert_eq!(own_troubles(&strategy(chains::release())).len(), 1);
}

#[rstest]
#[case("/status/includedArtifacts/0/revision", json!("old@sha1:00"), "includes old@sha1:00, not ")]
#[case("/status/includedArtifacts/0/digest", json!("sha256:00"), "includes other content of main@sha1:1")]
#[case("/status/includedArtifacts", json!([]), "includes none, not main@sha1:1")]
fn includes(#[case] field: &str, #[case] value: Value, #[case] said: &str) {
    let [trouble] = <[String; 1]>::try_from(own_troubles(&changed(chains::include(), &[(field, value)]))).unwrap();
    assert!(trouble.starts_with(said), "{trouble}");
}

#[rstest]
#[case::not_listed("/status/inventory", json!([]), "is not in the inventory of its ArtifactGenerator")]
#[case::no_inventory("/status/inventory", Value::Null, "is not in the inventory of its ArtifactGenerator")]
#[case::other_name("/status/inventory/0/name", json!("other"), "is not in the inventory of its ArtifactGenerator")]
#[case::other_namespace("/status/inventory/0/namespace", json!("other"), "is not in the inventory of its ArtifactGenerator")]
#[case::other_digest("/status/inventory/0/digest", json!("sha256:00"), "has digest ")]
fn an_artifact_is_what_its_generator_lists(#[case] field: &str, #[case] value: Value, #[case] said: &str) {
    let mut chain = chains::artifact();
    chain[1] = with(chain[1].clone(), &[(field, value)]);
    let [trouble] = <[String; 1]>::try_from(own_troubles(&chain)).unwrap();
    assert!(trouble.starts_with(said), "{trouble}");
}

/// Other producers are taken at their word.
#[rstest]
#[case(Value::Null)]
#[case(json!({"apiVersion": "example.com/v1", "kind": "Widget", "name": "w"}))]
#[case(json!({"apiVersion": "example.com/v1", "kind": "ArtifactGenerator", "name": "w"}))]
fn an_artifact_of_another_producer(#[case] producer: Value) {
    let lone = with(sample::external_artifact("ns", "e"), &[("/spec/sourceRef", producer)]);
    assert_eq!(own_troubles(std::slice::from_ref(&lone)), Vec::<String>::new());
    assert_eq!(own_troubles(&[with(lone, &[("/status/artifact", Value::Null)])]), ["has no artifact"]);
}

#[rstest]
#[case("TerraformPlannedNoChanges", "Plan no changes", "main@sha1:1111111111111111111111111111111111111111")]
#[case("NoDrift", "No drift", "main@sha1:1111111111111111111111111111111111111111")]
#[case("TerraformAppliedSucceed", "Applied successfully", "main@sha1:1111111111111111111111111111111111111111")]
#[case("Other", "Something else", "main@sha1:00")]
fn terraform_messages_that_agree_or_are_unknown(#[case] reason: &str, #[case] text: &str, #[case] revision: &str) {
    let fields = [
        ("/status/conditions/Ready/reason", json!(reason)),
        ("/status/conditions/Ready/message", json!(format!("{text}: {revision}"))),
        // What only plans never applies a revision.
        ("/status/lastAppliedRevision", Value::Null),
    ];
    assert_eq!(own_troubles(&changed(chains::terraform(), &fields)), Vec::<String>::new());
}

#[test]
fn a_package_may_ignore_dependencies() {
    let unready = [("/status/dependencies/base/ready", json!(false))];
    let ignoring = [("/status/dependencies/base/ready", json!(false)), ("/spec/ignoreDependencies", json!(["base"]))];
    let said = "waits for Package/base, which is not recorded as ready";
    assert_eq!(own_troubles(&changed(chains::package(), &unready)), [said]);
    assert_eq!(own_troubles(&changed(chains::package(), &ignoring)), Vec::<String>::new());
    let unnamed = [("/spec/variant", Value::Null)];
    assert_eq!(own_troubles(&changed(chains::package(), &unnamed)), Vec::<String>::new());
    let other = [("/spec/variant", json!("minimal"))];
    assert_eq!(own_troubles(&changed(chains::package(), &other)), ["its PackageSource has no variant minimal"]);
}

/// An absent or unready input is for whoever follows the chain to report, not for its consumer.
#[test]
fn comparisons_with_an_absent_input_are_no_evidence() {
    for kind in [
        Kind::ArtifactGenerator,
        Kind::ExternalArtifact,
        Kind::GitRepository,
        Kind::HelmChart,
        Kind::Kustomization,
        Kind::Package,
        Kind::PackageSource,
        Kind::Terraform,
    ] {
        let consumer = chain_of(kind).pop().unwrap();
        assert_eq!(own_troubles(&[consumer]), Vec::<String>::new(), "{kind}");
        let mut chain = chain_of(kind);
        let input = chain.len() - 2;
        if chain[input].pointer("/status/artifact").is_some() {
            chain[input] = with(chain[input].clone(), &[("/status/artifact", Value::Null)]);
            assert_eq!(own_troubles(&chain), Vec::<String>::new(), "{kind}");
        }
    }
}
