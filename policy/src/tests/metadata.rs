//! What is embedded, what is written down and what is done are the same.

use crate::host::{CAN_I, GET, LEASE, LEASE_API};
use crate::settings::{self, NAMES};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sluicegate_core::gate::Settings;
use sluicegate_core::object::KINDS;
use std::collections::BTreeSet;

const EMBEDDED: &str = include_str!(concat!(env!("OUT_DIR"), "/metadata.json"));
const METADATA: &str = include_str!("../../metadata.yml");
const QUESTIONS: &str = include_str!("../../questions-ui.yml");

fn yaml(text: &str) -> Value {
    yaml_serde::from_str(text).unwrap()
}

#[test]
fn what_is_embedded_is_the_file_and_the_readme() {
    let mut embedded: Value = serde_json::from_str(EMBEDDED).unwrap();
    let top = embedded.as_object_mut().unwrap();
    assert_eq!(top.remove("protocolVersion"), Some(json!("v1")));
    let usage = top["annotations"].as_object_mut().unwrap().remove("io.kubewarden.policy.usage");
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md")).ok();
    assert_eq!(usage, readme.map(|readme| Value::String(super::usage(&readme))));
    assert_eq!(embedded, yaml(METADATA));
    // Hosts read the section with a JSON parser that takes nothing after the end.
    assert!(EMBEDDED.starts_with('{') && EMBEDDED.ends_with('}'));
}

#[test]
fn the_host_is_asked_for_what_is_listed_and_for_nothing_else() {
    #[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord, Debug)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Resource {
        api_version: String,
        kind: String,
    }
    let metadata = yaml(METADATA);
    let listed: Vec<Resource> = serde_json::from_value(metadata["contextAwareResources"].clone()).unwrap();
    let mut read: Vec<_> = KINDS
        .iter()
        .map(|row| (row.api_version, row.name))
        .chain([(LEASE_API, LEASE)])
        .map(|(api_version, kind)| Resource { api_version: api_version.into(), kind: kind.into() })
        .collect();
    read.sort_unstable();
    assert_eq!(listed, read);
    assert_eq!(metadata["hostCapabilities"], json!([format!("kubernetes/{CAN_I}"), format!("kubernetes/{GET}")]));
}

#[test]
fn the_rules_are_the_judged_kinds_and_operations() {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Rule {
        api_groups: [String; 1],
        api_versions: BTreeSet<String>,
        resources: BTreeSet<String>,
        operations: [String; 2],
    }
    let rules: Vec<Rule> = serde_json::from_value(yaml(METADATA)["rules"].clone()).unwrap();
    let groups: BTreeSet<_> = KINDS.iter().map(|row| row.group).collect();
    assert_eq!(rules.len(), groups.len(), "one rule a group");
    for rule in rules {
        let rows = || KINDS.iter().filter(|row| row.group == rule.api_groups[0]);
        let versions = rows().flat_map(|row| row.versions).map(|version| (*version).to_owned()).collect();
        let plurals = rows().map(|row| row.plural.to_owned()).collect();
        assert_eq!(rule.api_versions, versions, "{}", rule.api_groups[0]);
        assert_eq!(rule.resources, plurals, "{}", rule.api_groups[0]);
        assert_eq!(rule.operations, ["CREATE", "UPDATE"], "{}", rule.api_groups[0]);
    }
}

/// Hosts ignore keys they do not know, so a slip would go unnoticed.
#[test]
fn the_metadata_holds_known_keys_only() {
    let metadata: Map<String, Value> = serde_json::from_value(yaml(METADATA)).unwrap();
    let keys: Vec<_> = metadata.keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "annotations",
            "backgroundAudit",
            "contextAwareResources",
            "executionMode",
            "hostCapabilities",
            "minimumKubewardenVersion",
            "mutating",
            "policyType",
            "rules",
        ]
    );
    assert_eq!(metadata["mutating"], json!(true));
    let annotations = metadata["annotations"].as_object().unwrap();
    for required in ["policy.version", "policy.title", "policy.description", "policy.ociUrl"] {
        assert!(annotations.contains_key(&format!("io.kubewarden.{required}")), "{required}");
    }
    assert!(annotations.values().all(Value::is_string));
    assert_eq!(annotations["io.kubewarden.policy.version"], json!(env!("CARGO_PKG_VERSION")));
    let kinds: Vec<_> = annotations["io.artifacthub.resources"].as_str().unwrap().split(", ").collect();
    assert_eq!(
        kinds.iter().copied().collect::<BTreeSet<_>>(),
        KINDS.iter().map(|row| row.name).collect::<BTreeSet<_>>()
    );
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "a form has parts that mean nothing to the policy")]
struct Question {
    variable: String,
    r#type: String,
    default: Value,
    value: Option<Value>,
    required: bool,
    group: String,
    label: String,
    description: String,
    options: Option<Vec<Value>>,
    min: Option<u64>,
    max: Option<u64>,
}

fn questions() -> Vec<Question> {
    let mut form = yaml(QUESTIONS);
    serde_json::from_value(form["questions"].take()).unwrap()
}

fn with(name: &str, value: &Value) -> Result<Settings, Vec<String>> {
    settings::decode(json!({ name: value }).to_string().as_bytes())
}

#[test]
fn the_form_asks_for_every_setting_with_its_default() {
    let asked: BTreeSet<_> = questions().into_iter().map(|question| question.variable).collect();
    assert_eq!(asked, NAMES.iter().map(|name| (*name).to_owned()).collect());
    for question in questions() {
        let Question { variable, default, value, .. } = &question;
        assert_eq!(with(variable, default), Ok(Settings::default()), "{variable}");
        assert!(value.as_ref().is_none_or(|value| value == default), "{variable}");
    }
}

#[test]
fn the_form_offers_what_is_accepted() {
    for Question { variable, r#type, options, min, max, .. } in questions() {
        match r#type.as_str() {
            "enum" => {
                let values: Vec<_> = options.unwrap().iter().map(|option| with(&variable, option).unwrap()).collect();
                assert!(values.windows(2).all(|pair| pair[0] != pair[1]), "{variable}: two options mean the same");
                let mistake = &with(&variable, &json!("")).unwrap_err()[0];
                assert_eq!(
                    mistake
                        .split(" must be ")
                        .nth(1)
                        .unwrap()
                        .split([' ', ','])
                        .filter(|word| !matches!(*word, "" | "or"))
                        .count(),
                    values.len(),
                    "{variable}: options are missing"
                );
            }
            "int" => {
                let (min, max) = (min.unwrap(), max.unwrap());
                assert!(
                    with(&variable, &json!(min)).is_ok() && with(&variable, &json!(min - 1)).is_err(),
                    "{variable}"
                );
                assert!(
                    with(&variable, &json!(max)).is_ok() && with(&variable, &json!(max + 1)).is_err(),
                    "{variable}"
                );
            }
            "boolean" => assert_ne!(with(&variable, &json!(true)), with(&variable, &json!(false)), "{variable}"),
            "array[" => assert!(with(&variable, &json!(["some-one"])).is_ok(), "{variable}"),
            "string" => {}
            other => panic!("{variable} is of the type {other}"),
        }
    }
}
