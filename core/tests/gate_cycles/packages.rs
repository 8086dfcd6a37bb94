//! Loops among cozystack's Packages: what a PackageSource lists for a variant is what the Package of its name waits for.

use crate::support::shape::{having, listing, object};
use crate::support::{FLUX, PERSON, World, kustomization};
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::object::Kind;

fn package(name: &str, spec: Value) -> Value {
    object(Kind::Package, "", name, spec)
}

/// A source with one list of dependencies for each variant.
fn source(name: &str, variants: &[(&str, &str)]) -> Value {
    let variants: Vec<Value> = variants
        .iter()
        .map(|(name, depends_on)| json!({"name": name, "dependsOn": depends_on.split_whitespace().collect::<Vec<_>>()}))
        .collect();
    object(Kind::PackageSource, "", name, json!({"variants": variants}))
}

/// `a` is needed by `b`, in the default variant.
fn world(more: &[Value]) -> World {
    let objects = [
        package("a", json!({})),
        package("b", json!({})),
        source("a", &[("default", ""), ("big", "b"), ("huge", "b")]),
        source("b", &[("default", "a"), ("big", "")]),
    ];
    World::with(objects.into_iter().chain(more.iter().cloned()))
}

#[rstest]
#[case::to_one_with_the_need(json!({}), json!({"variant": "big"}), true)]
#[case::named_default(json!({"variant": "default"}), json!({"variant": "big"}), true)]
#[case::to_one_without(json!({"variant": "big"}), json!({"variant": "default"}), false)]
#[case::between_two_that_list_it(json!({"variant": "big"}), json!({"variant": "huge"}), false)]
#[case::to_one_that_does_not_exist(json!({}), json!({"variant": "none"}), false)]
#[case::which_ignores_it(json!({}), json!({"variant": "big", "ignoreDependencies": ["b"]}), false)]
#[case::no_longer_ignored(json!({"variant": "big", "ignoreDependencies": ["x", "b"]}),
    json!({"variant": "big", "ignoreDependencies": ["x"]}), true)]
fn a_package_changes_its_variant(#[case] before: Value, #[case] after: Value, #[case] closes: bool) {
    let judged = world(&[]).update(PERSON, &package("a", before), &package("a", after));
    if closes {
        assert_eq!(
            judged.steps(),
            [
                "PackageSource/a (metadata.name, added by this change)",
                "Package/b (spec.variants[1].dependsOn[0])",
                "PackageSource/b (metadata.name)",
                "Package/a (spec.variants[0].dependsOn[0])",
            ]
        );
    } else {
        assert_eq!(judged.said(), "admitted");
        assert_eq!(judged.reads, ["PackageSource/a"]);
    }
}

#[rstest]
#[case::spelt_out(json!({}), json!({"variant": "default"}))]
#[case::left_out(json!({"variant": "default"}), json!({"variant": ""}))]
#[case::more_is_ignored(json!({"variant": "big"}), json!({"variant": "big", "ignoreDependencies": ["b"]}))]
#[case::in_another_order(json!({"ignoreDependencies": ["x", "b"]}), json!({"ignoreDependencies": ["b", "x"]}))]
#[case::components(json!({}), json!({"components": {"x": {"enabled": false}}}))]
fn a_package_that_adds_no_need(#[case] before: Value, #[case] after: Value) {
    world(&[]).update(PERSON, &package("a", before), &package("a", after)).is_untouched();
}

#[test]
fn a_new_package() {
    let judged = world(&[]).create(FLUX, &package("a", json!({"variant": "huge"})));
    assert_eq!(judged.steps()[1], "Package/b (spec.variants[2].dependsOn[0])");
    assert_eq!(judged.reads, ["PackageSource/a", "Package/b", "PackageSource/b"]);

    let alone = World::default().create(PERSON, &package("a", json!({})));
    assert_eq!(alone.said(), "admitted: Package/a names PackageSource/a in metadata.name, which does not exist");
}

#[rstest]
#[case::to_the_variant_in_use(&[("default", "b")], true)]
#[case::to_another_variant(&[("default", ""), ("other", "b")], false)]
#[case::moved_into_the_variant_in_use(&[("default", "b"), ("big", ""), ("huge", "")], true)]
fn a_source_adds_a_dependency(#[case] variants: &[(&str, &str)], #[case] closes: bool) {
    let old = source("a", &[("default", ""), ("big", "b"), ("huge", "b")]);
    let judged = world(&[]).update(PERSON, &old, &source("a", variants));
    if closes {
        assert_eq!(
            judged.steps(),
            [
                "Package/b (spec.variants[0].dependsOn[0], added by this change)",
                "PackageSource/b (metadata.name)",
                "Package/a (spec.variants[0].dependsOn[0])",
                "PackageSource/a (metadata.name)",
            ]
        );
        assert_eq!(judged.reads, ["Package/a", "Package/b", "PackageSource/b"]);
    } else {
        assert_eq!(judged.said(), "admitted");
        assert_eq!(judged.reads, ["Package/a"]);
    }
}

/// Nothing waits for what a source lists as long as its Package is not there, or ignores it.
#[rstest]
#[case::there(Some(json!({})), true)]
#[case::ignoring(Some(json!({"ignoreDependencies": ["b"]})), false)]
#[case::absent(None, false)]
fn a_new_source(#[case] spec: Option<Value>, #[case] closes: bool) {
    let mut world = world(&[]);
    world.objects.retain(|reference, _| reference.to_string() != "Package/a");
    world.objects.extend(spec.map(|spec| (crate::support::reference(&package("a", json!({}))), package("a", spec))));
    let judged = world.create(PERSON, &source("a", &[("default", "b")]));
    assert_eq!(!judged.verdict.is_admitted(), closes, "{}", judged.said());
    if !closes {
        assert_eq!((judged.said().as_str(), judged.reads), ("admitted", vec!["Package/a".to_owned()]));
    }
}

/// The generator of a source is made from it: at first it is missing as a matter of course.
#[test]
fn the_generator_of_a_source_is_a_need_and_not_a_missing_one() {
    let new = having(source("a", &[]), "sourceRef", json!({"kind": "GitRepository", "name": "g", "namespace": "cozy"}));
    let judged = World::default().create(PERSON, &new);
    assert_eq!(
        judged.said(),
        "admitted: PackageSource/a names GitRepository/cozy/g in spec.sourceRef, which does not exist"
    );
    assert_eq!(judged.reads, ["ArtifactGenerator/cozy-system/a", "GitRepository/cozy/g"]);
}

/// What a source lists are needs of its Package and not of whoever else waits for the source.
#[rstest]
#[case::the_package(false)]
#[case::the_source_alone(true)]
fn who_waits_for_a_source_waits_for_no_package(#[case] source_alone: bool) {
    let a = source("b", &[("default", "c")]);
    let applied = if source_alone { a.clone() } else { package("b", json!({})) };
    let parent = listing(having(kustomization("n", "parent", &[]), "wait", json!(true)), &[&applied]);
    let child = kustomization("n", "child", &[]);
    // `c` is applied by a Kustomization that waits for `child`.
    let last = having(source("c", &[]), "sourceRef", json!({"kind": "GitRepository", "name": "g", "namespace": "n"}));
    let world = World::with([parent, child.clone(), a, package("b", json!({})), package("c", json!({})), last]);
    let judged = world.update(PERSON, &child, &kustomization("n", "child", &["parent"]));
    let mut reads = vec!["Kustomization/n/parent"];
    match source_alone {
        true => reads.push("PackageSource/b"),
        false => {
            reads.extend(["Package/b", "PackageSource/b", "Package/c", "PackageSource/c"]);
            reads.extend(["ArtifactGenerator/cozy-system/c", "GitRepository/n/g"]);
        }
    }
    assert_eq!(judged.reads, reads);
}

/// A source that was met alone first is followed again when its Package is met.
#[test]
fn a_source_that_is_met_twice() {
    let owner = having(kustomization("n", "owner", &["later"]), "wait", json!(true));
    let applied = source("b", &[("default", "a")]);
    let owner = listing(owner, &[&applied]);
    let later = listing(having(kustomization("n", "later", &[]), "wait", json!(true)), &[&package("b", json!({}))]);
    let child = kustomization("n", "child", &[]);
    let world = World::with([owner, later, applied, package("b", json!({})), package("a", json!({})), child.clone()]);
    let judged = world.update(PERSON, &child, &kustomization("n", "child", &["owner"]));
    assert_eq!(judged.said(), "admitted");
    assert_eq!(
        judged.reads,
        [
            "Kustomization/n/owner",
            "Kustomization/n/later",
            "PackageSource/b",
            "Package/b",
            "Package/a",
            "PackageSource/a",
        ]
    );
}

#[test]
fn a_package_that_lists_itself() {
    let judged = world(&[]).update(PERSON, &source("a", &[]), &source("a", &[("default", "a")]));
    assert_eq!(
        judged.steps(),
        ["Package/a (spec.variants[0].dependsOn[0], added by this change)", "PackageSource/a (metadata.name)"]
    );
}
