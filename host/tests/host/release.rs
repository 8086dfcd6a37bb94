//! What is kept in the repository beside the metadata says the same as the metadata.

use std::{fs, path::Path, process::Command};

use serde_json::Value;
use sluicegate_host::{Metadata, Rule, artifacthub::Package};

fn root(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file)).unwrap()
}

fn yaml(text: &str) -> Value {
    yaml_serde::from_str(text).unwrap()
}

#[test]
fn the_file_for_artifact_hub_is_what_the_generator_writes() {
    let file = root("artifacthub-pkg.yml");
    let created = yaml(&file)["createdAt"].as_str().unwrap().parse::<chrono::DateTime<chrono::Utc>>().unwrap();
    let created = u32::try_from(created.timestamp()).unwrap();
    let package =
        Package::new(&root("policy/metadata.yml"), &root("CHANGELOG.md"), &root("README.md"), None, created).unwrap();
    assert_eq!(file, package.to_yaml().unwrap(), "make artifacthub-pkg.yml");
}

/// Independent of the generator: what is written there, read as Artifact Hub reads it.
#[test]
fn the_file_for_artifact_hub_agrees_with_the_metadata() {
    let package = yaml(&root("artifacthub-pkg.yml"));
    let metadata: Metadata = yaml_serde::from_str(&root("policy/metadata.yml")).unwrap();
    let annotations = metadata.annotations.unwrap();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(package["version"], version);
    assert_eq!(package["name"], annotations["io.kubewarden.policy.title"]);
    let image = format!("{}:v{version}", annotations["io.kubewarden.policy.ociUrl"]);
    assert_eq!(package["containersImages"][0]["image"], image);
    assert!(package["install"].as_str().unwrap().contains(&image));
    let described = &package["annotations"];
    assert_eq!(described["kubewarden/mutation"], metadata.mutating.to_string());
    assert_eq!(described["kubewarden/resources"], annotations["io.artifacthub.resources"]);
    let rules: Vec<Rule> = yaml_serde::from_str(described["kubewarden/rules"].as_str().unwrap()).unwrap();
    assert_eq!(rules, metadata.rules);
    let reads = yaml(described["kubewarden/contextAwareResources"].as_str().unwrap());
    assert_eq!(reads, serde_json::to_value(&metadata.context_aware_resources).unwrap());
}

/// What the validators of SPDX ask for, for the real tree: identifiers that are well-formed, unique and resolved, a licence
/// and a place for every package, a digest for every crate.
#[test]
fn the_bill_of_materials_is_complete() {
    let sbom = || {
        let output = Command::new(env!("CARGO_BIN_EXE_sluicegate-host"))
            .args(["sbom", "--package", "sluicegate-policy", "--target", "wasm32-wasip1", "--created", "86400"])
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let text = sbom();
    assert_eq!(text, sbom(), "the same each time");
    let document: Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(document["spdxVersion"], "SPDX-2.3");
    assert_eq!(document["dataLicense"], "CC0-1.0");
    assert_eq!(document["SPDXID"], "SPDXRef-DOCUMENT");
    assert_eq!(document["creationInfo"]["created"], "1970-01-02T00:00:00Z");
    let namespace = document["documentNamespace"].as_str().unwrap();
    assert!(namespace.starts_with("https://") && !namespace.contains('#'), "{namespace}");

    let packages = document["packages"].as_array().unwrap();
    let ids: std::collections::BTreeSet<_> =
        packages.iter().map(|package| package["SPDXID"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), packages.len(), "unique");
    for package in packages {
        let id = package["SPDXID"].as_str().unwrap();
        let rest = id.strip_prefix("SPDXRef-").unwrap();
        assert!(rest.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-')), "{id}");
        for field in ["name", "versionInfo", "downloadLocation", "licenseDeclared", "licenseConcluded", "copyrightText"]
        {
            assert!(package[field].as_str().is_some_and(|text| !text.is_empty()), "{id}: {field}");
        }
        assert_eq!(package["filesAnalyzed"], false, "{id}");
        assert_ne!(package["licenseDeclared"], "NOASSERTION", "{id}");
        if package["downloadLocation"].as_str().unwrap().starts_with("https://static.crates.io/") {
            assert_eq!(package["checksums"][0]["checksumValue"].as_str().unwrap().len(), 64, "{id}");
        }
    }
    for relationship in document["relationships"].as_array().unwrap() {
        for end in ["spdxElementId", "relatedSpdxElement"] {
            let id = relationship[end].as_str().unwrap();
            assert!(id == "SPDXRef-DOCUMENT" || ids.contains(id), "{id}");
        }
    }
    let named = |name: &str| packages.iter().any(|package| package["name"] == name);
    for (name, there) in
        [("sluicegate-core", true), ("serde_json", true), ("rust-std", true), ("tokio", false), ("serde_derive", false)]
    {
        assert_eq!(named(name), there, "{name}");
    }
}
