//! What is under `deploy/` agrees with the code, with the policy's metadata, and with itself.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "helpers of tests")]

mod monitoring;
mod policies;

use serde::Deserialize as _;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

const PROFILES: [&str; 3] = ["hold", "refuse", "observe"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn documents(text: &str) -> Vec<Value> {
    let all = yaml_serde::Deserializer::from_str(text).map(|one| Value::deserialize(one).unwrap());
    all.filter(|one| !one.is_null()).collect()
}

/// The objects of a profile.
fn rendered(profile: &str) -> Vec<Value> {
    documents(&text(&format!("deploy/manifests/{profile}/sluicegate.yaml")))
}

fn of_kind<'a>(objects: &'a [Value], kind: &str) -> Vec<&'a Value> {
    objects.iter().filter(|object| object["kind"] == kind).collect()
}

fn sluicegate(arguments: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_sluicegate")).args(arguments).current_dir(root()).output().unwrap()
}

#[test]
fn the_rights_in_the_chart_are_those_that_rbac_prints() {
    let cases: [(&str, &[&str]); 3] = [
        ("rbac", &["rbac"]),
        ("rbac-package-sources", &["rbac", "--package-source-status"]),
        ("rbac-namespace", &["rbac", "--namespace", "NAMESPACE"]),
    ];
    for (file, arguments) in cases {
        let printed = String::from_utf8(sluicegate(arguments).stdout).unwrap();
        assert_eq!(text(&format!("deploy/chart/sluicegate/files/{file}.yaml")), printed, "{file}: make chart");
    }
}

/// But for labels, and the Namespace, which stands in a file of its own.
#[test]
fn the_rights_in_the_manifests_are_those_that_rbac_prints() {
    let printed = documents(&String::from_utf8(sluicegate(&["rbac"]).stdout).unwrap());
    let sorted = |objects: Vec<Value>| {
        let mut objects: Vec<String> = objects.iter().map(ToString::to_string).collect();
        objects.sort();
        objects
    };
    let expected = sorted(printed.into_iter().filter(|object| object["kind"] != "Namespace").collect());
    for profile in PROFILES {
        let mut found = rendered(profile);
        found.retain(|object| {
            object["kind"] == "ServiceAccount" || object["apiVersion"] == "rbac.authorization.k8s.io/v1"
        });
        for object in &mut found {
            object["metadata"].as_object_mut().unwrap().remove("labels");
        }
        assert_eq!(sorted(found), expected, "{profile}: make manifests");
    }
}

#[test]
fn the_companion_passes_the_restricted_standard_and_is_known_to_the_policy() {
    for profile in PROFILES {
        let objects = rendered(profile);
        let deployment = of_kind(&objects, "Deployment")[0];
        let pod = &deployment["spec"]["template"]["spec"];
        assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
        assert_eq!(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault");
        let container = &pod["containers"][0];
        let context = &container["securityContext"];
        assert_eq!(context["allowPrivilegeEscalation"], false);
        assert_eq!(context["readOnlyRootFilesystem"], true);
        assert_eq!(context["capabilities"]["drop"][0], "ALL");
        // One that only looks leads nothing, and two of them would say all twice.
        let observe = profile == "observe";
        assert_eq!(deployment["spec"]["replicas"], if observe { 1 } else { 2 });
        let arguments: Vec<&str> =
            container["args"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
        assert_eq!(arguments.contains(&"--dry-run"), observe);
        let lease = arguments.iter().find_map(|one| one.strip_prefix("--lease-namespace=")).unwrap();
        for policy in of_kind(&objects, "ClusterAdmissionPolicy") {
            let settings = &policy["spec"]["settings"];
            let account = pod["serviceAccountName"].as_str().unwrap();
            assert_eq!(settings["companion"], format!("system:serviceaccount:{lease}:{account}"));
            assert_eq!(settings["companionLease"], format!("{lease}/sluicegate"));
        }
        let labels = &deployment["spec"]["template"]["metadata"]["labels"];
        for kind in ["PodDisruptionBudget", "Service"] {
            let selector = &of_kind(&objects, kind)[0]["spec"]["selector"];
            let selector = selector.get("matchLabels").unwrap_or(selector);
            for (name, value) in selector.as_object().unwrap() {
                assert_eq!(&labels[name], value, "{kind}");
            }
        }
    }
}

/// Every file and image is of one version, that of the workspace.
#[test]
fn versions_agree() {
    let version = env!("CARGO_PKG_VERSION");
    let chart = &documents(&text("deploy/chart/sluicegate/Chart.yaml"))[0];
    assert_eq!(chart["version"], version);
    assert_eq!(chart["appVersion"], version);
    for profile in PROFILES {
        let objects = rendered(profile);
        let image = &of_kind(&objects, "Deployment")[0]["spec"]["template"]["spec"]["containers"][0]["image"];
        assert_eq!(image, &format!("ghcr.io/sluicegate/sluicegate:v{version}"));
        for policy in of_kind(&objects, "ClusterAdmissionPolicy") {
            assert_eq!(policy["spec"]["module"], format!("registry://ghcr.io/sluicegate/policy:v{version}"));
        }
    }
}

#[test]
fn the_flags_in_the_manifests_are_accepted() {
    use clap::{Args as _, Command};
    for profile in PROFILES {
        let objects = rendered(profile);
        let container = &of_kind(&objects, "Deployment")[0]["spec"]["template"]["spec"]["containers"][0];
        let arguments: Vec<&str> =
            container["args"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
        assert_eq!(arguments[0], "run");
        sluicegate::command::run::RunArguments::augment_args(Command::new("run"))
            .try_get_matches_from(arguments)
            .unwrap();
    }
}

#[test]
fn every_resource_of_a_kustomization_exists() {
    let folders =
        ["manifests", "manifests/hold", "manifests/refuse", "manifests/observe", "flux/helm", "flux/kustomize"];
    for folder in folders {
        let folder = PathBuf::from("deploy").join(folder);
        let file = folder.join("kustomization.yaml");
        for resource in documents(&text(file.to_str().unwrap()))[0]["resources"].as_array().unwrap() {
            assert!(root().join(&folder).join(resource.as_str().unwrap()).exists(), "{}: {resource}", file.display());
        }
    }
    for object in documents(&text("deploy/flux/kustomize/sluicegate.yaml")) {
        if let Some(path) = object["spec"]["path"].as_str() {
            assert!(root().join(path).join("kustomization.yaml").exists(), "{path}");
        }
    }
}

#[test]
fn our_own_manifests_pass_our_own_check() {
    let output = sluicegate(&["check", "deploy/flux", "deploy/manifests"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{}{said}", String::from_utf8_lossy(&output.stdout));
    assert!(said.contains("checked 4 objects"), "{said}");
}
