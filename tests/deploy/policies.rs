//! The policies are what the metadata says, in their roles.

use super::{PROFILES, documents, of_kind, rendered, text};
use serde_json::{Value, json};

fn metadata() -> Value {
    documents(&text("policy/metadata.yml")).remove(0)
}

#[test]
fn the_chart_has_the_metadata_of_the_policy() {
    assert_eq!(text("deploy/chart/sluicegate/files/metadata.yml"), text("policy/metadata.yml"), "make chart");
}

#[test]
fn each_profile_has_its_roles_with_the_rules_of_the_metadata() {
    let metadata = metadata();
    let rules = metadata["rules"].as_array().unwrap();
    for profile in PROFILES {
        let roles: &[(&str, bool, bool)] = match profile {
            "hold" => &[("hold", true, true), ("refuse", false, true)],
            "refuse" => &[("refuse", false, true)],
            _ => &[("both", false, false)],
        };
        let objects = rendered(profile);
        let policies = of_kind(&objects, "ClusterAdmissionPolicy");
        assert_eq!(policies.len(), 3 * roles.len(), "{profile}");
        for (role, mutating, enforce) in roles {
            let of_role: Vec<_> = policies.iter().filter(|one| one["spec"]["settings"]["role"] == *role).collect();
            // One group of kinds in each.
            let mut found: Vec<&Value> =
                of_role.iter().flat_map(|one| one["spec"]["rules"].as_array().unwrap()).collect();
            found.sort_by_key(|rule| rule["apiGroups"][0].to_string());
            let mut expected: Vec<&Value> = rules.iter().take(3).collect();
            expected.sort_by_key(|rule| rule["apiGroups"][0].to_string());
            assert_eq!(found, expected, "{profile}, {role}");
            for policy in of_role {
                let spec = &policy["spec"];
                assert_eq!(spec["mutating"], *mutating);
                assert_eq!(spec["settings"]["enforce"], *enforce);
                assert_eq!(spec["rules"].as_array().unwrap().len(), 1);
                assert_eq!(spec["contextAwareResources"], metadata["contextAwareResources"]);
                assert_eq!(spec["failurePolicy"], "Ignore");
                assert_eq!(spec["timeoutEvalSeconds"], json!(10));
                assert_eq!(spec["settings"]["evaluationSeconds"], spec["timeoutEvalSeconds"]);
                // Kubewarden's own would say that something is held, and not do it.
                assert_eq!(spec.get("mode"), None);
            }
        }
    }
}

/// The README's are those that the cluster tests register.
#[test]
fn the_match_conditions_are_those_of_the_readme() {
    let readme = text("README.md");
    let manifest = readme
        .split("```yaml\n")
        .filter_map(|part| part.split("```").next())
        .find(|part| part.contains("kind: ClusterAdmissionPolicy"))
        .unwrap();
    let expected = &documents(manifest)[0]["spec"]["matchConditions"];
    assert_eq!(expected.as_array().unwrap().len(), 2);
    for profile in PROFILES {
        for policy in of_kind(&rendered(profile), "ClusterAdmissionPolicy") {
            assert_eq!(&policy["spec"]["matchConditions"], expected);
        }
    }
}

/// The values schema knows each group that the metadata has rules for.
#[test]
fn every_group_can_be_chosen() {
    let schema: Value = serde_json::from_str(&text("deploy/chart/sluicegate/values.schema.json")).unwrap();
    let known = &schema["properties"]["policy"]["properties"]["groups"]["items"]["enum"];
    let helpers = text("deploy/chart/sluicegate/templates/_helpers.tpl");
    let metadata = metadata();
    let rules = metadata["rules"].as_array().unwrap();
    assert_eq!(known.as_array().unwrap().len(), rules.len());
    for rule in rules {
        let group = &rule["apiGroups"][0];
        let line = helpers.lines().find(|line| line.contains(&format!("{group}"))).unwrap();
        let name = line.trim().split('"').nth(1).unwrap();
        assert!(known.as_array().unwrap().iter().any(|one| one == name), "{name}");
    }
}
