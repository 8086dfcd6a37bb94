use super::*;
use rstest::rstest;
use std::time::Duration;

fn mistakes(json: &str) -> Vec<String> {
    decode(json.as_bytes()).unwrap_err()
}

#[rstest]
#[case("{}")]
#[case(
    r#"{"additiveReadyExpr":null,"applierUsers":null,"appliers":null,"bypassUsers":null,"companion":null,
    "companionLease":null,"dependencies":null,"disclose":null,"enforce":null,"evaluationSeconds":null,
    "heldTooLong":null,"maxReads":null,"role":null,"unheld":null}"#
)]
fn absent_and_null_are_the_default(#[case] json: &str) {
    assert_eq!(decode(json.as_bytes()), Ok(Settings::default()));
}

#[test]
fn the_companion_by_default() {
    assert_eq!(&*Settings::default().companion, "system:serviceaccount:sluicegate-system:sluicegate");
}

#[test]
fn every_setting_is_read() {
    let given = r#"{"additiveReadyExpr":true,"applierUsers":["u\u0031"],"appliers":[],"bypassUsers":["u2","u3"],
        "companion":"me","companionLease":"a/b.c","dependencies":"refuse","disclose":"everyone","enforce":false,
        "evaluationSeconds":30,"heldTooLong":"1h30m","maxReads":1,"role":"hold","unheld":"refuse"}"#;
    let expected = Settings {
        role: Role::Hold,
        enforce: false,
        companion: "me".into(),
        companion_lease: ("a".into(), "b.c".into()),
        appliers: Vec::new(),
        applier_users: vec!["u1".into()],
        bypass_users: vec!["u2".into(), "u3".into()],
        dependencies: Severity::Refuse,
        unheld: Severity::Refuse,
        max_reads: 1,
        evaluation: Duration::from_secs(30),
        held_too_long: Duration::from_secs(5400),
        disclose: Disclose::Everyone,
        additive_ready_expr: true,
    };
    assert_eq!(decode(given.as_bytes()), Ok(expected));
}

#[rstest]
#[case(r#"{"role":"both"}"#)]
#[case(r#"{"role":"refuse"}"#)]
#[case(r#"{"dependencies":"warn","unheld":"warn","disclose":"permitted"}"#)]
#[case(r#"{"maxReads":100000,"evaluationSeconds":2}"#)]
fn the_ends_are_fine(#[case] json: &str) {
    assert!(decode(json.as_bytes()).is_ok());
}

#[rstest]
#[case(r#"{"role":"holds"}"#, "setting role must be hold, refuse or both")]
#[case(r#"{"role":true}"#, "setting role must be hold, refuse or both")]
#[case(r#"{"enforce":"yes"}"#, "setting enforce must be true or false")]
#[case(r#"{"additiveReadyExpr":1}"#, "setting additiveReadyExpr must be true or false")]
#[case(r#"{"dependencies":"error"}"#, "setting dependencies must be warn or refuse")]
#[case(r#"{"unheld":""}"#, "setting unheld must be warn or refuse")]
#[case(r#"{"disclose":"all"}"#, "setting disclose must be permitted or everyone")]
#[case(r#"{"companion":""}"#, "setting companion must be the name of a user")]
#[case(r#"{"companion":" me"}"#, "setting companion must be the name of a user")]
#[case(
    r#"{"companionLease":"sluicegate"}"#,
    "setting companionLease must be the namespace and the name of a Lease, such as sluicegate-system/sluicegate"
)]
#[case(
    r#"{"companionLease":"a/../b"}"#,
    "setting companionLease must be the namespace and the name of a Lease, such as sluicegate-system/sluicegate"
)]
#[case(r#"{"maxReads":0}"#, "setting maxReads must be a whole number from 1 to 100000")]
#[case(r#"{"maxReads":100001}"#, "setting maxReads must be a whole number from 1 to 100000")]
#[case(r#"{"maxReads":-1}"#, "setting maxReads must be a whole number from 1 to 100000")]
#[case(r#"{"maxReads":1e9999}"#, "setting maxReads must be a whole number from 1 to 100000")]
#[case(
    r#"{"evaluationSeconds":1}"#,
    "setting evaluationSeconds must be a whole number from 2 to 30: the policy's timeoutEvalSeconds"
)]
#[case(
    r#"{"evaluationSeconds":31}"#,
    "setting evaluationSeconds must be a whole number from 2 to 30: the policy's timeoutEvalSeconds"
)]
#[case(
    r#"{"heldTooLong":3600}"#,
    "setting heldTooLong must be a duration of a second to a year, such as 45s, 90m or 1h30m"
)]
#[case(r#"{"appliers":"flux"}"#, "setting appliers must be a list of names, none of them empty and none twice")]
#[case(r#"{"appliers":["a","a"]}"#, "setting appliers must be a list of names, none of them empty and none twice")]
#[case(r#"{"appliers":["a",null]}"#, "setting appliers must be a list of names, none of them empty and none twice")]
#[case(r#"{"bypassUsers":[""]}"#, "setting bypassUsers must be a list of names, none of them empty and none twice")]
#[case(r#"{"applierUsers":[[]]}"#, "setting applierUsers must be a list of names, none of them empty and none twice")]
#[case(
    r#"{"applierUsers":["system:serviceaccount:sluicegate-system:sluicegate"]}"#,
    "setting applierUsers must not list the user of the setting companion"
)]
#[case(
    r#"{"companion":"me","bypassUsers":["me"]}"#,
    "setting bypassUsers must not list the user of the setting companion"
)]
#[case(r#"{"compagnon":"me"}"#, "there is no setting compagnon; did you mean companion?")]
#[case(r#"{"max_reads":3}"#, "there is no setting max_reads; did you mean maxReads?")]
#[case(r#"{"ENFORCE":3}"#, "there is no setting ENFORCE; did you mean enforce?")]
#[case(r#"{"":3}"#, "there is no setting ")]
#[case(r#"{"a\nb":3}"#, "there is no setting a\\u{a}b")]
#[case("[]", "the settings must be an object")]
#[case("null", "the settings must be an object")]
#[case("", "the settings must be an object")]
#[case(r#"{"role":"#, "the settings must be an object")]
fn a_mistake_is_one_sentence(#[case] json: &str, #[case] said: &str) {
    assert_eq!(mistakes(json), [said]);
}

#[test]
fn all_mistakes_are_told() {
    let said = mistakes(r#"{"role":1,"zzz":2,"maxReads":"many","enforce":true}"#);
    assert_eq!(
        said,
        [
            "there is no setting zzz",
            "setting maxReads must be a whole number from 1 to 100000",
            "setting role must be hold, refuse or both",
        ]
    );
}

#[test]
fn nesting_is_no_danger_and_names_are_bounded() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(mistakes(&format!(r#"{{"role":{deep}}}"#)), ["setting role must be hold, refuse or both"]);
    let long = mistakes(&format!(r#"{{"{}":1}}"#, "x".repeat(100_000)));
    assert!(long[0].chars().count() < 100, "{}", long[0]);
}
