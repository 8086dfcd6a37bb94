//! A loop through every kind of need, and what keeps a field from being one.

use crate::support::shape::{having, listing, object, owned, to};
use crate::support::{FLUX, Judged, PERSON, World, kustomization};
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::object::Kind;

const KUSTOMIZE: &str = "kustomize.toolkit.fluxcd.io/v1";

/// `new` replaces `old` (or is created, where it is the same), with these beside it.
fn change(old: &Value, new: &Value, others: &[&Value]) -> Judged {
    let world = World::with(others.iter().map(|other| (*other).clone()).chain([old.clone()]));
    world.update(PERSON, old, new)
}

fn child() -> Value {
    kustomization("n", "child", &[])
}

/// A parent that `child` is to depend on.
fn parent(spec: Value) -> Value {
    object(Kind::Kustomization, "n", "parent", spec)
}

fn depend(parent: &Value) -> Judged {
    change(&child(), &kustomization("n", "child", &["parent"]), &[parent])
}

fn loop_through(field: &str) -> [String; 2] {
    [
        "Kustomization/n/parent (spec.dependsOn[0], added by this change)".to_owned(),
        format!("Kustomization/n/child ({field})"),
    ]
}

#[rstest]
#[case::of_the_inventory(parent(json!({"wait": true})), true, Some("spec.wait"))]
#[case::not_without_wait(parent(json!({"wait": false})), true, None)]
#[case::not_what_it_has_not_applied(parent(json!({"wait": true})), false, None)]
#[case::health_checks(parent(json!({"healthChecks": [{"kind": "Deployment", "name": "x"}, to(&child())]})), false,
    Some("spec.healthChecks[1]"))]
#[case::health_checks_with_the_namespace_left_out(parent(json!({"healthChecks":
    [{"apiVersion": KUSTOMIZE, "kind": "Kustomization", "name": "child"}]})), false, Some("spec.healthChecks[0]"))]
#[case::wait_overrides_health_checks(parent(json!({"wait": true, "healthChecks": [to(&child())]})), false, None)]
#[case::another_group_is_another_kind(parent(json!({"healthChecks":
    [{"apiVersion": "example.org/v1", "kind": "Kustomization", "name": "child"}]})), false, None)]
#[case::a_remote_cluster(parent(json!({"wait": true, "kubeConfig": {"secretRef": {"name": "k"}}})), true, None)]
#[case::health_checks_of_a_remote_cluster(
    parent(json!({"healthChecks": [to(&child())], "kubeConfig": {"secretRef": {"name": "k"}}})), false, None)]
fn a_kustomization_waits(#[case] parent: Value, #[case] listed: bool, #[case] field: Option<&str>) {
    let parent = if listed { listing(parent, &[&child()]) } else { parent };
    let judged = depend(&parent);
    match field {
        Some(field) => assert_eq!(judged.steps(), loop_through(field)),
        None => assert_eq!(judged.said(), "admitted"),
    }
}

/// Turning `wait` on makes every object of the inventory a new need.
#[rstest]
#[case::on(json!({"wait": false}), json!({"wait": true}), Some("spec.wait, added by this change"))]
#[case::it_was_on(json!({"wait": true}), json!({"wait": true, "path": "x"}), None)]
#[case::off(json!({"wait": true}), json!({"wait": false}), None)]
#[case::a_check_of_the_same_object(json!({"wait": true}), json!({"healthChecks": [to(&child())]}), None)]
#[case::a_new_check(json!({}), json!({"healthChecks": [to(&child())]}), Some("spec.healthChecks[0], added by this change"))]
#[case::no_longer_remote(json!({"wait": true, "kubeConfig": {}}), json!({"wait": true}),
    Some("spec.wait, added by this change"))]
fn a_change_of_wait(#[case] before: Value, #[case] after: Value, #[case] field: Option<&str>) {
    let child = kustomization("n", "child", &["parent"]);
    let (old, new) = (listing(parent(before), &[&child]), listing(parent(after), &[&child]));
    let judged = change(&old, &new, &[&child]);
    match field {
        Some(field) => assert_eq!(
            judged.steps(),
            [format!("Kustomization/n/child ({field})"), "Kustomization/n/parent (spec.dependsOn[0])".to_owned()]
        ),
        None => judged.is_untouched(),
    }
}

/// The status of a request is dropped by the API server: neither a need that it invents nor one that it hides counts.
#[test]
fn only_the_stored_inventory_counts() {
    let child = kustomization("n", "child", &["parent"]);
    let off = parent(json!({"wait": false}));
    let on = parent(json!({"wait": true}));
    let hidden = change(&listing(off.clone(), &[&child]), &listing(on.clone(), &[]), &[&child]);
    assert_eq!(hidden.steps().len(), 2);
    let invented = change(&listing(off, &[]), &listing(on, &[&child]), &[&child]);
    invented.is_untouched();
}

fn release(spec: Value, history: bool) -> Value {
    let mut release =
        listing(object(Kind::HelmRelease, "n", "parent", spec), &[&object(Kind::HelmRelease, "n", "child", json!({}))]);
    if history {
        release["status"]["history"] = json!([{"version": 1, "status": "deployed"}]);
    }
    release
}

#[rstest]
#[case::by_default(json!({}), true, true)]
#[case::poller(json!({"waitStrategy": {"name": "poller"}}), true, true)]
#[case::legacy(json!({"waitStrategy": {"name": "legacy"}}), true, false)]
#[case::not_after_an_install(json!({"install": {"disableWait": true}}), false, false)]
#[case::an_upgrade_waits_whatever_the_install_does(json!({"install": {"disableWait": true}}), true, true)]
#[case::not_after_an_upgrade(json!({"upgrade": {"disableWait": true}}), true, false)]
#[case::an_install_waits_whatever_the_upgrade_does(json!({"upgrade": {"disableWait": true}}), false, true)]
#[case::a_remote_cluster(json!({"kubeConfig": {"secretRef": {"name": "k"}}}), true, false)]
fn a_release_waits_for_what_it_renders(#[case] spec: Value, #[case] history: bool, #[case] waits: bool) {
    let old = object(Kind::HelmRelease, "n", "child", json!({}));
    let new = having(old.clone(), "dependsOn", json!([{"name": "parent"}]));
    let judged = change(&old, &new, &[&release(spec, history)]);
    if waits {
        assert_eq!(
            judged.steps(),
            [
                "HelmRelease/n/parent (spec.dependsOn[0], added by this change)",
                "HelmRelease/n/child (spec.waitStrategy)"
            ]
        );
    } else {
        assert_eq!(judged.said(), "admitted");
    }
}

#[rstest]
#[case::ready(json!({"ready": true}), true)]
#[case::by_an_expression(json!({"ready": true, "readyExpr": "true"}), true)]
#[case::existence(json!({"ready": false}), false)]
#[case::existence_by_default(json!({"readyExpr": "true"}), false)]
fn a_resource_set_depends_on_any_kind(#[case] more: Value, #[case] closes: bool) {
    let mut entry = to(&child());
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let set = object(Kind::ResourceSet, "n", "set", json!({"dependsOn": [entry]}));
    let new = having(child(), "healthChecks", json!([to(&set)]));
    let judged = change(&child(), &new, &[&set]);
    if closes {
        assert_eq!(
            judged.steps(),
            [
                "ResourceSet/n/set (spec.healthChecks[0], added by this change)",
                "Kustomization/n/child (spec.dependsOn[0])"
            ]
        );
    } else {
        assert_eq!(judged.said(), "admitted");
    }
}

#[rstest]
#[case(true)]
#[case(false)]
fn a_resource_set_waits_for_its_inventory(#[case] wait: bool) {
    let set = object(Kind::ResourceSet, "n", "set", json!({"wait": wait}));
    let release = object(Kind::HelmRelease, "n", "r", json!({}));
    let set = listing(set, &[&release]);
    // Should Flux let `dependsOn` name other kinds (fluxcd/flux2#5988), the kind written there counts.
    let new = having(release.clone(), "dependsOn", json!([to(&set)]));
    let judged = change(&release, &new, &[&set]);
    if wait {
        assert_eq!(
            judged.steps(),
            ["ResourceSet/n/set (spec.dependsOn[0], added by this change)", "HelmRelease/n/r (spec.wait)"]
        );
    } else {
        assert_eq!(judged.said(), "admitted");
    }
}

/// What was asked for existence only and is now waited for is a new need.
#[test]
fn ready_turned_on_is_a_new_need() {
    let parent = parent(
        json!({"healthChecks": [{"apiVersion": "fluxcd.controlplane.io/v1", "kind": "ResourceSet", "name": "set"}]}),
    );
    let of = |ready: bool| {
        let mut entry = to(&parent);
        entry["ready"] = json!(ready);
        object(Kind::ResourceSet, "n", "set", json!({"dependsOn": [entry]}))
    };
    let on = change(&of(false), &of(true), &[&parent]);
    assert_eq!(on.steps()[0], "Kustomization/n/parent (spec.dependsOn[0], added by this change)");
    change(&of(true), &of(false), &[&parent]).is_untouched();
}

#[rstest]
#[case::stored("v1alpha2")]
#[case::deprecated("v1alpha1")]
fn terraform_in_both_versions(#[case] version: &str) {
    let of = |name: &str, needs: &str| {
        let mut object = object(Kind::Terraform, "n", name, json!({"dependsOn": [{"name": needs}]}));
        object["apiVersion"] = json!(format!("infra.contrib.fluxcd.io/{version}"));
        object
    };
    let judged = change(&of("a", "x"), &of("a", "b"), &[&of("b", "a")]);
    assert_eq!(
        judged.steps(),
        ["Terraform/n/b (spec.dependsOn[0], added by this change)", "Terraform/n/a (spec.dependsOn[0])"]
    );
}

#[test]
fn an_artifact_and_its_generator() {
    let generator = |sources: Value| object(Kind::ArtifactGenerator, "n", "g", json!({"sources": sources}));
    let artifact = |producer: Value| object(Kind::ExternalArtifact, "n", "e", json!({"sourceRef": producer}));
    let repo = json!({"alias": "r", "kind": "GitRepository", "name": "r"});
    let own = json!({"alias": "e", "kind": "ExternalArtifact", "name": "e"});
    let produced = artifact(to(&generator(json!([]))));
    let (old, new) = (generator(json!([repo])), generator(json!([repo, own])));
    let judged = change(&old, &new, &[&produced]);
    assert_eq!(
        judged.steps(),
        ["ExternalArtifact/n/e (spec.sources[1], added by this change)", "ArtifactGenerator/n/g (spec.sourceRef)"]
    );
    // Another producer is the end of the chain, whatever it is called.
    for producer in [
        json!({"kind": "Other", "name": "g"}),
        json!({"apiVersion": "example.org/v1", "kind": "ArtifactGenerator", "name": "g"}),
    ] {
        assert_eq!(change(&old, &new, &[&artifact(producer)]).said(), "admitted");
    }
}

#[test]
fn a_chart_among_the_sources_of_a_generator() {
    let own = json!({"kind": "ExternalArtifact", "name": "e"});
    let chart = object(Kind::HelmChart, "n", "c", json!({"chart": "x", "sourceRef": own}));
    let artifact = object(
        Kind::ExternalArtifact,
        "n",
        "e",
        json!({"sourceRef": {"apiVersion": "source.extensions.fluxcd.io/v1beta1", "kind": "ArtifactGenerator", "name": "g"}}),
    );
    let generator = object(Kind::ArtifactGenerator, "n", "g", json!({}));
    let new = having(generator.clone(), "sources", json!([to(&chart)]));
    assert_eq!(
        change(&generator, &new, &[&chart, &artifact]).steps(),
        [
            "HelmChart/n/c (spec.sources[0], added by this change)",
            "ExternalArtifact/n/e (spec.sourceRef)",
            "ArtifactGenerator/n/g (spec.sourceRef)",
        ]
    );
}

#[test]
fn repositories_that_include_each_other() {
    let of = |name: &str, included: &str| {
        object(Kind::GitRepository, "n", name, json!({"include": [{"repository": {"name": included}}]}))
    };
    assert_eq!(
        change(&of("a", "x"), &of("a", "b"), &[&of("b", "a")]).steps(),
        [
            "GitRepository/n/b (spec.include[0].repository, added by this change)",
            "GitRepository/n/a (spec.include[0].repository)",
        ]
    );
}

/// Nothing that a source needs leads back to what consumes it, so these needs are on no loop; they are followed all
/// the same.
#[rstest]
#[case::kustomization(Kind::Kustomization, "sourceRef", "ExternalArtifact")]
#[case::terraform(Kind::Terraform, "sourceRef", "ExternalArtifact")]
#[case::chart_ref(Kind::HelmRelease, "chartRef", "ExternalArtifact")]
#[case::the_template_of_a_release(Kind::HelmRelease, "chart", "HelmChart")]
fn every_source_is_followed(#[case] kind: Kind, #[case] field: &str, #[case] source: &str) {
    let to_source = json!({"kind": source, "name": "s", "namespace": "f"});
    let reference = if field == "chart" { json!({"spec": {"chart": "c", "sourceRef": to_source}}) } else { to_source };
    let old = object(kind, "n", "a", json!({}));
    let generator =
        object(Kind::ArtifactGenerator, "f", "g", json!({"sources": [{"kind": "GitRepository", "name": "r"}]}));
    let others = [
        object(Kind::HelmChart, "f", "s", json!({"sourceRef": {"kind": "ExternalArtifact", "name": "s"}})),
        object(Kind::ExternalArtifact, "f", "s", json!({"sourceRef": to(&generator)})),
        generator,
        object(Kind::GitRepository, "f", "r", json!({"include": [{"repository": {"name": "more"}}]})),
        object(Kind::GitRepository, "f", "more", json!({})),
    ];
    let judged = change(&old, &having(old.clone(), field, reference), &others.iter().collect::<Vec<_>>());
    assert_eq!(judged.said(), "admitted");
    let mut reads = vec![format!("{source}/f/s")];
    if source == "HelmChart" {
        reads.push("ExternalArtifact/f/s".into());
    }
    reads.extend(["ArtifactGenerator/f/g", "GitRepository/f/r", "GitRepository/f/more"].map(Into::into));
    assert_eq!(judged.reads, reads);
}

/// `chart` beside `chartRef` is an error for Flux; the reference counts.
#[test]
fn chart_ref_wins_over_a_template() {
    let old = object(Kind::HelmRelease, "n", "a", json!({}));
    let mut new = having(old.clone(), "chartRef", json!({"kind": "OCIRepository", "name": "o"}));
    new["spec"]["chart"] = json!({"spec": {"sourceRef": {"kind": "GitRepository", "name": "g"}}});
    assert_eq!(change(&old, &new, &[]).reads[0], "OCIRepository/n/o");
}

#[rstest]
#[case::kustomize(Kind::Kustomization, "spec.wait")]
#[case::resource_set(Kind::ResourceSet, "spec.wait")]
#[case::helm(Kind::HelmRelease, "spec.waitStrategy")]
fn an_owner_that_waits_needs_what_its_labels_are_on(#[case] kind: Kind, #[case] field: &str) {
    let spec = json!({"wait": true, "dependsOn": [{"name": "up"}]});
    let owner = object(kind, "n", "owner", spec);
    let entry = json!({"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": "owner", "namespace": "n"});
    let bare = having(child(), "dependsOn", json!([entry]));
    let world = World::with([owner.clone(), bare.clone()]);
    let added = owned(bare.clone(), &owner);

    // On a CREATE the need is new, and so are the labels.
    let created = world.create(PERSON, &added);
    assert_eq!(
        created.steps(),
        [
            format!("{kind}/n/owner (spec.dependsOn[0], added by this change)"),
            format!("Kustomization/n/child ({field})")
        ]
    );
    // On an UPDATE new labels close a loop through an old need.
    let labelled = world.update(PERSON, &bare, &added);
    assert_eq!(
        labelled.steps(),
        [
            format!("{kind}/n/owner (spec.dependsOn[0])"),
            format!("Kustomization/n/child ({field}, added by this change)")
        ]
    );
    // Old labels count for a new need.
    let need = world.update(PERSON, &owned(child(), &owner), &added);
    assert_eq!(need.steps(), created.steps());
    // An update that brings neither is not to blame, nor is one that takes the labels off.
    world.update(PERSON, &added, &having(added.clone(), "path", json!("x"))).is_untouched();
    world.update(PERSON, &added, &bare).is_untouched();
}

#[rstest]
#[case::kustomize(Kind::Kustomization, json!({"wait": false}))]
#[case::kustomize_remote(Kind::Kustomization, json!({"wait": true, "kubeConfig": {}}))]
#[case::resource_set(Kind::ResourceSet, json!({}))]
#[case::helm_legacy(Kind::HelmRelease, json!({"waitStrategy": {"name": "legacy"}}))]
#[case::helm_disabled(Kind::HelmRelease, json!({"install": {"disableWait": true}}))]
fn an_owner_that_does_not_wait_needs_nothing(#[case] kind: Kind, #[case] spec: Value) {
    let owner = object(kind, "n", "owner", spec);
    let bare = having(child(), "dependsOn", json!([to(&owner)]));
    let judged = change(&bare, &owned(bare.clone(), &owner), &[&owner]);
    assert_eq!(judged.said(), "admitted");
    assert_eq!(judged.reads, [format!("{kind}/n/owner")]);
}

/// An owner whose inventory names the object needs it whatever the labels say, so that labels which come back make
/// no loop that was not there.
#[test]
fn labels_on_an_object_that_is_listed_add_nothing() {
    let bare = kustomization("n", "child", &["owner"]);
    let owner = listing(object(Kind::Kustomization, "n", "owner", json!({"wait": true})), &[&bare]);
    let judged = change(&bare, &owned(bare.clone(), &owner), &[&owner]);
    assert_eq!(judged.said(), "admitted");
    assert_eq!(judged.reads, ["Kustomization/n/owner"]);
}

/// Labels can be forged: they hurt nobody but the object they are on. The owner's own needs are not judged.
#[test]
fn forged_labels_block_nobody_else() {
    let owner = having(kustomization("flux-system", "infra", &[]), "wait", json!(true));
    let forged = owned(kustomization("n", "child", &[]), &owner);
    let world = World::with([owner.clone(), forged.clone()]);
    let mut depends = owner.clone();
    depends["spec"]["dependsOn"] = json!([{"name": "child", "namespace": "n"}]);
    let judged = world.update(PERSON, &owner, &depends);
    assert_eq!(judged.said(), "admitted");
    assert_eq!(judged.reads, ["Kustomization/n/child"]);
}

#[test]
fn an_owner_that_cannot_be_read_leaves_the_question_open() {
    let owner = object(Kind::ResourceSet, "n", "owner", json!({"wait": true}));
    let bare = having(child(), "dependsOn", json!([{"name": "up"}]));
    let mut world = World::with([kustomization("n", "up", &[])]);
    world.forbidden.insert(Kind::ResourceSet);
    let judged = world.update(FLUX, &bare, &owned(bare.clone(), &owner));
    assert_eq!(
        judged.said(),
        "admitted: dependency cycles of Kustomization/n/child not judged: the policy server may not get \
         resourcesets.fluxcd.controlplane.…"
    );
}
