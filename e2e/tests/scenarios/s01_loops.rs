//! A person applies the second half of a loop.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use sluicegate_e2e::answer::Answer;
use sluicegate_e2e::cluster::{Cluster, Wanted};
use sluicegate_e2e::gate::{Gate, Setting};
use sluicegate_e2e::kind::{
    self, ARTIFACT_GENERATOR, EXTERNAL_ARTIFACT, PACKAGE, PACKAGE_SOURCE, RESOURCE_SET, TERRAFORM,
};
use sluicegate_e2e::manifest::{self, Manifest};

const LOOP: &str = "\
dependency cycle: Kustomization/apps/b needs itself
  Kustomization/apps/b
    needs Kustomization/apps/a   (spec.dependsOn[0], added by this change)
    needs Kustomization/apps/b   (spec.dependsOn[0])";

/// An object with a status that nobody but the test writes.
async fn with_status(cluster: &Cluster, manifest: &Manifest, status: Value) -> Result<()> {
    cluster.admin().apply(manifest).await?.admitted()?;
    let object = manifest.object().context("a known kind")?;
    cluster.admin().status(&object, status).await?.admitted().map(|_| ())
}

fn edges(answer: Answer) -> Result<Vec<String>> {
    Ok(answer.refused()?.lines().skip(1).map(|line| line.trim().to_owned()).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_01_a_person_applies_the_second_half_of_a_loop_in_every_way() -> Result<()> {
    let cluster = Cluster::start("scenario_01_every_way").await?;
    let _gate = Gate::open(&cluster, Setting::default()).await?;
    let person = cluster.person();
    let b = kind::kustomization("apps", "b");
    let plain = manifest::kustomization("apps", "b", "repo");
    let closing = plain.clone().depends_on(&["a"]);
    person.apply(&manifest::kustomization("apps", "a", "repo").depends_on(&["b"])).await?.admitted()?;
    person.apply(&plain).await?.admitted()?;
    let before = cluster.stored(&b).await?;

    assert_eq!(person.apply(&closing).await?.refused()?, LOOP);
    assert_eq!(person.update(&b, |stored| stored.depends_on(&["a"])).await?.refused()?, LOOP);
    let patch = json!({"spec": {"dependsOn": [{"name": "a"}]}});
    assert_eq!(person.patch(&b, patch).await?.refused()?, LOOP);
    let patch = json!([{"op": "add", "path": "/spec/dependsOn", "value": [{"name": "a"}]}]);
    assert_eq!(person.json_patch(&b, patch).await?.refused()?, LOOP);

    let file = cluster.folder().join("b.yaml");
    std::fs::write(&file, closing.file())?;
    let file = file.to_string_lossy();
    for arguments in [&["apply", "--server-side", "--force-conflicts", "-f", &file][..], &["replace", "-f", &file]] {
        let said = person.kubectl(arguments).await?;
        assert_ne!(said.code, Some(0), "{arguments:?}");
        for line in LOOP.lines() {
            assert!(said.stderr.contains(line), "{arguments:?} shows not every edge:\n{}", said.stderr);
        }
    }
    assert_eq!(cluster.stored(&b).await?, before, "something was stored all the same");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_01_loops_through_wait_health_checks_sources_and_any_kind() -> Result<()> {
    let cluster = Cluster::start("scenario_01_kinds").await?;
    let _gate = Gate::open(&cluster, Setting::default()).await?;
    let person = cluster.person();

    // `wait` with an inventory.
    let parent = manifest::kustomization("apps", "parent", "repo").with("/spec/wait", json!(true));
    let inventory = json!({"entries": [{"id": "apps_child_kustomize.toolkit.fluxcd.io_Kustomization", "v": "v1"}]});
    with_status(&cluster, &parent, json!({"inventory": inventory})).await?;
    let child = manifest::kustomization("apps", "child", "repo").depends_on(&["parent"]);
    assert_eq!(
        edges(person.apply(&child).await?)?,
        [
            "Kustomization/apps/child",
            "needs Kustomization/apps/parent   (spec.dependsOn[0], added by this change)",
            "needs Kustomization/apps/child    (spec.wait)",
        ]
    );

    // Health checks, and a need of any kind, over two kinds.
    let check =
        json!([{"apiVersion": RESOURCE_SET.api_version(), "kind": "ResourceSet", "namespace": "apps", "name": "set"}]);
    let watcher = manifest::kustomization("apps", "watcher", "repo").with("/spec/healthChecks", check);
    person.apply(&watcher).await?.admitted()?;
    let need = json!([{"apiVersion": kind::KUSTOMIZATION.api_version(), "kind": "Kustomization",
                       "namespace": "apps", "name": "watcher", "ready": true}]);
    let set = Manifest::new(&RESOURCE_SET.at("apps", "set")).with("/spec/dependsOn", need);
    assert_eq!(
        edges(person.apply(&set).await?)?,
        [
            "ResourceSet/apps/set",
            "needs Kustomization/apps/watcher   (spec.dependsOn[0], added by this change)",
            "needs ResourceSet/apps/set         (spec.healthChecks[0])",
        ]
    );

    // Sources: a generator that is fed with what it makes.
    let artifact = Manifest::new(&EXTERNAL_ARTIFACT.at("apps", "made")).with(
        "/spec/sourceRef",
        json!({"apiVersion": ARTIFACT_GENERATOR.api_version(), "kind": "ArtifactGenerator",
               "namespace": "apps", "name": "maker"}),
    );
    person.apply(&artifact).await?.admitted()?;
    let maker = Manifest::new(&ARTIFACT_GENERATOR.at("apps", "maker"))
        .with("/spec/sources", json!([{"alias": "own", "kind": "ExternalArtifact", "name": "made"}]))
        .with("/spec/artifacts", json!([{"name": "made", "copy": [{"from": "@own/**", "to": "@artifact/"}]}]));
    assert_eq!(
        edges(person.apply(&maker).await?)?,
        [
            "ArtifactGenerator/apps/maker",
            "needs ExternalArtifact/apps/made     (spec.sources[0], added by this change)",
            "needs ArtifactGenerator/apps/maker   (spec.sourceRef)",
        ]
    );

    // A release that waits for what it renders.
    let outer = manifest::helm_release("apps", "outer", "repo");
    let rendered = json!({"entries": [{"id": "apps_inner_helm.toolkit.fluxcd.io_HelmRelease", "v": "v2"}]});
    with_status(&cluster, &outer, json!({"inventory": rendered})).await?;
    let inner = manifest::helm_release("apps", "inner", "repo").depends_on(&["outer"]);
    assert_eq!(
        edges(person.apply(&inner).await?)?,
        [
            "HelmRelease/apps/inner",
            "needs HelmRelease/apps/outer   (spec.dependsOn[0], added by this change)",
            "needs HelmRelease/apps/inner   (spec.waitStrategy)",
        ]
    );

    // Repositories that include each other.
    let include = |name: &str, other: &str| {
        manifest::git_repository("apps", name, "https://git.example.com/x.git")
            .with("/spec/include", json!([{"repository": {"name": other}}]))
    };
    person.apply(&include("one", "two")).await?.admitted()?;
    assert_eq!(
        edges(person.apply(&include("two", "one")).await?)?,
        [
            "GitRepository/apps/two",
            "needs GitRepository/apps/one   (spec.include[0].repository, added by this change)",
            "needs GitRepository/apps/two   (spec.include[0].repository)",
        ]
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_01_loops_of_terraforms_and_packages() -> Result<()> {
    let wanted = Wanted { third_party: true, ..Wanted::default() };
    let cluster = Cluster::start_as("scenario_01_third_party", wanted).await?;
    let _gate = Gate::open(&cluster, Setting::default()).await?;
    let person = cluster.person();

    let terraform = |name: &str, other: &str| {
        Manifest::new(&TERRAFORM.at("apps", name))
            .with("/spec/sourceRef", json!({"kind": "GitRepository", "name": "repo"}))
            .depends_on(&[other])
    };
    person.apply(&terraform("a", "b")).await?.admitted()?;
    assert_eq!(
        edges(person.apply(&terraform("b", "a")).await?)?,
        [
            "Terraform/apps/b",
            "needs Terraform/apps/a   (spec.dependsOn[0], added by this change)",
            "needs Terraform/apps/b   (spec.dependsOn[0])",
        ]
    );

    // A Package needs its PackageSource, whose variant names the Packages it depends on.
    let source = |name: &str, other: &str| {
        let variant = json!([{"name": "default", "dependsOn": [other]}]);
        Manifest::new(&PACKAGE_SOURCE.at("", name)).with("/spec/variants", variant)
    };
    let package = |name: &str| Manifest::new(&PACKAGE.at("", name)).with("/spec/variant", json!("default"));
    for manifest in [package("one"), package("two"), source("one", "two")] {
        person.apply(&manifest).await?.admitted()?;
    }
    assert_eq!(
        edges(person.apply(&source("two", "one")).await?)?,
        [
            "PackageSource/two",
            "needs Package/one         (spec.variants[0].dependsOn[0], added by this change)",
            "needs PackageSource/one   (metadata.name)",
            "needs Package/two         (spec.variants[0].dependsOn[0])",
            "needs PackageSource/two   (metadata.name)",
        ]
    );
    Ok(())
}
