//! What a module says about itself.

use rstest::rstest;
use sluicegate_host::{ContextAwareResource, ModuleInfo, Policy};

use crate::support::{Guest, METADATA};

#[test]
fn imports_and_sections() {
    let bytes = Guest::default().with_sections(&[METADATA, METADATA]).bytes();
    let info = ModuleInfo::parse(&bytes).unwrap();
    assert_eq!(info.size, bytes.len());
    assert_eq!(info.metadata_sections, 2);
    assert_eq!(info.import_modules().into_iter().collect::<Vec<_>>(), ["wapc", "wasi_snapshot_preview1"]);
    assert!(info.imports.contains("wapc.__guest_request"));
    assert!(info.imports.contains("wasi_snapshot_preview1.fd_write"));
    assert_eq!(info.imports.len(), 9);
}

#[test]
fn metadata_is_decoded() {
    let info = ModuleInfo::parse(&Guest::default().bytes()).unwrap();
    let metadata = info.metadata.unwrap();
    assert!(metadata.mutating);
    assert!(metadata.background_audit);
    assert_eq!(metadata.protocol_version.as_deref(), Some("v1"));
    assert_eq!(metadata.execution_mode, "kubewarden-wapc");
    assert_eq!(metadata.policy_type, "kubernetes");
    assert!(metadata.context_aware_resources.contains(&ContextAwareResource {
        api_version: "helm.toolkit.fluxcd.io/v2".to_owned(),
        kind: "HelmRelease".to_owned(),
    }));
}

#[test]
fn the_first_section_counts() {
    let other = METADATA.replace("\"mutating\":true", "\"mutating\":false");
    let bytes = Guest::default().with_sections(&[&other, METADATA]).bytes();
    assert!(!ModuleInfo::parse(&bytes).unwrap().metadata.unwrap().mutating);
}

#[test]
fn a_module_without_metadata_is_run_all_the_same() {
    let info = Guest::default().with_sections(&[]).policy().info().clone();
    assert_eq!(info.metadata_sections, 0);
    assert!(info.metadata.is_none());
}

#[rstest]
#[case::padded("{\"rules\":[],\"mutating\":true}\0", "trailing characters at line 1 column 29")]
#[case::rules_are_mandatory(r#"{"mutating":true}"#, "missing field `rules`")]
#[case::mutating_is_mandatory(r#"{"rules":[]}"#, "missing field `mutating`")]
fn metadata_that_cannot_be_read(#[case] section: &str, #[case] reason: &str) {
    let error = Policy::from_bytes(&Guest::default().with_sections(&[section]).bytes()).unwrap_err().to_string();
    let expected = format!("cannot read the custom section io.kubewarden.metadata: {reason}");
    assert!(error.starts_with(&expected), "{error}");
}

#[test]
fn another_execution_mode_is_refused() {
    let section = r#"{"protocolVersion":"v1","rules":[],"mutating":false,"executionMode":"opa"}"#;
    let error = Policy::from_bytes(&Guest::default().with_sections(&[section]).bytes()).unwrap_err().to_string();
    assert_eq!(error, "the policy's execution mode is opa: only kubewarden-wapc can be run");
}

#[rstest]
#[case::fine(&[METADATA], None)]
#[case::none(&[], Some("Policy is missing protocol version, which is required for KubewardenWapc execution mode"))]
#[case::without_version(
    &[r#"{"rules":[],"mutating":false}"#],
    Some("Policy is missing protocol version, which is required for KubewardenWapc execution mode")
)]
#[case::unknown_version(
    &[r#"{"protocolVersion":"Unknown","rules":[],"mutating":false}"#],
    Some("Policy uses protocol version Unknown but only V1 is supported")
)]
fn what_policy_server_would_say(#[case] sections: &[&str], #[case] refusal: Option<&str>) {
    let info = ModuleInfo::parse(&Guest::default().with_sections(sections).bytes()).unwrap();
    assert_eq!(info.server_refusal().as_deref(), refusal);
}
