//! The module itself: what it imports, what it says about itself, how large it is, and its settings.

use crate::harness::{Gate, module, policy};
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_host::{Host, Metadata, NoCluster};
use std::collections::BTreeSet;

#[test]
fn it_imports_what_every_wapc_host_offers() {
    let expected = BTreeSet::from(["wapc", "wasi_snapshot_preview1"]);
    assert_eq!(policy().info().import_modules(), expected, "{:?}", policy().info().imports);
}

/// Files, sockets and arguments are no business of a policy.
#[test]
fn of_wasi_it_imports_the_clock_and_the_way_to_abort() {
    let wasi: BTreeSet<&str> =
        policy().info().imports.iter().filter_map(|import| import.strip_prefix("wasi_snapshot_preview1.")).collect();
    let allowed =
        BTreeSet::from(["clock_time_get", "environ_get", "environ_sizes_get", "fd_write", "proc_exit", "random_get"]);
    assert!(wasi.is_subset(&allowed), "{wasi:?}");
}

#[test]
fn it_fits_in_a_mebibyte() {
    assert!(module().len() <= 1 << 20, "{} bytes", module().len());
}

#[test]
fn it_holds_its_metadata_once() {
    assert_eq!(policy().info().metadata_sections, 1);
    assert_eq!(policy().info().server_refusal(), None);
    // A second copy in the data of the module would be read by nobody.
    let text = b"io.kubewarden.policy.title";
    assert_eq!(module().windows(text.len()).filter(|window| *window == text).count(), 1);
}

include!("../../usage.rs");

#[test]
fn the_usage_leaves_out_what_is_not_about_the_policy() {
    let readme = "a\n<!-- demo: begin (kept) -->\nb\n<!-- binary: end -->\n<!-- demo: end -->\nc\n<!-- settings: begin -->\nd\n<!-- settings: end -->\n<!-- binary: begin -->\ne\n<!-- binary: end -->\nf\n";
    assert_eq!(usage(readme), "a\nc\n<!-- settings: begin -->\nd\n<!-- settings: end -->\nf\n");
}

#[test]
fn its_metadata_is_the_file_and_the_readme() {
    let mut expected: Value = yaml_serde::from_str(include_str!("../../metadata.yml")).unwrap();
    expected["protocolVersion"] = json!("v1");
    let readme = include_str!("../../../README.md");
    expected["annotations"]["io.kubewarden.policy.usage"] = json!(usage(readme));
    let expected: Metadata = serde_json::from_value(expected).unwrap();
    assert_eq!(policy().metadata(), Some(&expected));
    assert!(expected.mutating && !expected.rules.is_empty());
}

#[test]
fn it_speaks_the_first_version_of_the_protocol() {
    assert_eq!(Host::new(policy(), NoCluster).protocol_version().unwrap(), "v1");
}

#[rstest]
#[case::absent(json!(null), None)]
#[case::empty(json!({}), None)]
#[case::null(json!({"role": null, "maxReads": null}), None)]
#[case::all(
    json!({
        "additiveReadyExpr": true, "applierUsers": ["argo"], "appliers": [], "bypassUsers": ["breakglass"],
        "companion": "system:serviceaccount:a:b", "companionLease": "a/b", "dependencies": "refuse",
        "disclose": "everyone", "enforce": false, "evaluationSeconds": 30, "heldTooLong": "90m", "maxReads": 20_000,
        "role": "hold", "unheld": "refuse",
    }),
    None
)]
#[case::unknown(json!({"rôle": "hold"}), Some("there is no setting rôle; did you mean role?"))]
#[case::misspelt(json!({"maxread": 1}), Some("there is no setting maxread; did you mean maxReads?"))]
#[case::hostile(json!({"a\nb": 1}), Some("there is no setting a\\u{a}b"))]
#[case::wrong(
    json!({"role": "x", "maxReads": 0, "companionLease": "a"}),
    Some(
        "setting companionLease must be the namespace and the name of a Lease, such as sluicegate-system/sluicegate; \
         setting maxReads must be a whole number from 1 to 100000; setting role must be hold, refuse or both"
    )
)]
fn it_validates_its_settings(#[case] settings: Value, #[case] message: Option<&str>) {
    let verdict = Gate::over([]).with(settings).host(NoCluster).validate_settings().unwrap();
    assert_eq!((verdict.valid, verdict.message.as_deref()), (message.is_none(), message));
}
