//! The HelmChart that a HelmRelease generates, as its follower.

use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_core::settled::chart_follows;
use sluicegate_core::testing::{object, sample, with};

fn follows(release: Value, chart: Value) -> bool {
    chart_follows(&object(&release), &object(&chart))
}

fn release() -> Value {
    sample::helm_release("ns", "app")
}

fn chart() -> Value {
    sample::helm_chart("ns", "ns-app")
}

#[test]
fn follows_where_the_spec_is_what_the_release_would_write() {
    assert!(follows(release(), chart()));
}

/// Fields that the API server defaults, that are written in another form, or that are not the release's to write.
#[rstest]
#[case("/spec/version", Value::Null)]
#[case("/spec/reconcileStrategy", Value::Null)]
#[case("/spec/valuesFiles", json!([]))]
#[case("/spec/ignoreMissingValuesFiles", json!(false))]
#[case("/spec/interval", json!("1h0m0s"))]
#[case("/spec/suspend", json!(true))]
#[case("/metadata/labels", json!({"x": "y"}))]
fn follows_in_spite_of(#[case] field: &str, #[case] value: Value) {
    assert!(follows(release(), with(chart(), &[(field, value)])));
}

#[rstest]
#[case("/spec/chart", json!("./charts/other"))]
#[case("/spec/chart", Value::Null)]
#[case("/spec/version", json!(">=1"))]
#[case("/spec/reconcileStrategy", json!("Revision"))]
#[case("/spec/sourceRef/kind", json!("Bucket"))]
#[case("/spec/sourceRef/name", json!("other"))]
#[case("/spec/sourceRef", Value::Null)]
#[case("/spec/valuesFiles", json!(["a.yaml"]))]
#[case("/spec/ignoreMissingValuesFiles", json!(true))]
#[case("/spec/verify", json!({"provider": "cosign"}))]
#[case("/metadata/name", json!("ns-other"))]
#[case("/metadata/namespace", json!("other"))]
fn does_not_follow(#[case] field: &str, #[case] value: Value) {
    assert!(!follows(release(), with(chart(), &[(field, value)])));
}

#[rstest]
#[case("/chart", json!("./charts/other"))]
#[case("/version", json!(">=1"))]
#[case("/reconcileStrategy", json!("Revision"))]
#[case("/sourceRef/kind", json!("HelmRepository"))]
#[case("/sourceRef/name", json!("other"))]
#[case("/sourceRef/namespace", json!("other"))]
#[case("/valuesFiles", json!(["a.yaml"]))]
#[case("/ignoreMissingValuesFiles", json!(true))]
#[case("/verify", json!({"provider": "notation"}))]
fn an_edit_of_the_template_ends_it(#[case] field: &str, #[case] value: Value) {
    let edited = with(release(), &[(&format!("/spec/chart/spec{field}"), value)]);
    assert!(!follows(edited, chart()));
}

/// Values files count in their order.
#[rstest]
#[case(json!(["a", "b"]), json!(["a", "b"]), true)]
#[case(json!(["a", "b"]), json!(["b", "a"]), false)]
fn compares_lists(#[case] wanted: Value, #[case] written: Value, #[case] expected: bool) {
    let release = with(release(), &[("/spec/chart/spec/valuesFiles", wanted)]);
    assert_eq!(follows(release, with(chart(), &[("/spec/valuesFiles", written)])), expected);
}

#[rstest]
#[case(json!({"provider": "cosign"}), json!({}), true)]
#[case(json!({"secretRef": {"name": "s"}}), json!({"provider": "cosign", "secretRef": {"name": "s"}}), true)]
#[case(json!({"secretRef": {"name": "s"}}), json!({"secretRef": {"name": "t"}}), false)]
#[case(json!({"provider": "notation"}), json!({"provider": "cosign"}), false)]
fn compares_verification(#[case] wanted: Value, #[case] written: Value, #[case] expected: bool) {
    let release = with(release(), &[("/spec/chart/spec/verify", wanted)]);
    assert_eq!(follows(release, with(chart(), &[("/spec/verify", written)])), expected);
}

#[test]
fn a_release_with_a_chart_ref_has_no_follower() {
    let referring = with(release(), &[("/spec/chartRef", json!({"kind": "HelmChart", "name": "ns-app"}))]);
    assert!(!follows(referring, chart()));
    assert!(!follows(with(release(), &[("/spec/chart", Value::Null)]), chart()));
}
