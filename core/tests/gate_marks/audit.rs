//! The background audit.

use super::*;

#[rstest]
#[case::younger(3_599, None)]
#[case::just(3_600, None)]
#[case::older(3_601, Some("1 h 0 min"))]
#[case::much_older(180_000, Some("2 d 2 h"))]
#[case::of_the_future(-10, None)]
fn a_mark_that_is_too_old_fails_the_audit(#[case] seconds: i64, #[case] said: Option<&str>) {
    let at = (now() - Duration::seconds(seconds)).to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
    let marked = |object| annotated(object, HELD, Some(&mark("u", "m", &at, "premature")));
    let world = level();
    let judged = world.create(AUDIT, &marked(suspended(own())));
    let text = said.map(|said| format!("Kustomization/n/x has been held for {said}"));
    assert_eq!(judged.verdict.refusal, text);
    assert!(judged.verdict.mutation.is_empty());
    // What is not suspended is not held, and neither is what carries no mark.
    assert_eq!(world.create(AUDIT, &marked(own())).verdict.refusal, None);
    let garbage = annotated(suspended(own()), HELD, Some(&at));
    assert_eq!(world.create(AUDIT, &garbage).verdict.refusal, None);
    // Nobody but the audit looks at the age.
    assert_eq!(world.create(PERSON, &marked(suspended(own()))).verdict.refusal, None);
}

#[test]
fn the_age_that_fails_the_audit_is_a_setting() {
    let mut world = level();
    world.settings.held_too_long = std::time::Duration::from_secs(60);
    let at = (now() - Duration::seconds(61)).to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
    let marked = annotated(suspended(own()), HELD, Some(&mark("u", "m", &at, "not-reached")));
    let judged = world.create(AUDIT, &marked);
    assert_eq!(refusal(&judged), "Kustomization/n/x has been held for 1 min");
    world.settings.held_too_long = std::time::Duration::from_secs(u64::MAX);
    assert_eq!(world.create(AUDIT, &marked).verdict.refusal, None);
}
