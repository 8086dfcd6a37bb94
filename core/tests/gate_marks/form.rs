//! The form of a mark.

use super::*;

#[test]
fn a_mark_is_these_bytes() {
    let judged = unlevel().update(FLUX, &suspended(own()), &own());
    let text = r#"{"applier":{"user":"system:serviceaccount:flux-system:kustomize-controller","manager":"kustomize-controller"},"at":"2026-11-30T12:00:00Z","cause":"premature"}"#;
    assert_eq!(annotation(&stored(&judged, &own()), HELD), Some(text));
    let read = Mark::parse(text).unwrap();
    assert_eq!((&*read.applier.user, &*read.applier.manager, read.cause), (FLUX.user, FLUX.manager, Cause::Premature));
    assert_eq!((read.made(), &*read.render()), (now(), text));
}

#[rstest]
#[case::empty("")]
#[case::text("true")]
#[case::unknown_field(
    r#"{"applier":{"user":"a","manager":"b"},"at":"2026-11-30T11:00:00Z","cause":"premature","x":1}"#
)]
#[case::unknown_cause(r#"{"applier":{"user":"a","manager":"b"},"at":"2026-11-30T11:00:00Z","cause":"Premature"}"#)]
#[case::no_time(r#"{"applier":{"user":"a","manager":"b"},"at":"yesterday","cause":"premature"}"#)]
#[case::no_applier(r#"{"at":"2026-11-30T11:00:00Z","cause":"premature"}"#)]
#[case::no_manager(r#"{"applier":{"user":"a"},"at":"2026-11-30T11:00:00Z","cause":"premature"}"#)]
#[case::two(r#"{"applier":{"user":"a","manager":"b"},"at":"2026-11-30T11:00:00Z","cause":"premature"}{}"#)]
#[case::twice(
    r#"{"applier":{"user":"a","manager":"b"},"at":"2026-11-30T11:00:00Z","cause":"premature","cause":"premature"}"#
)]
fn anything_else_counts_as_no_mark(#[case] text: &str) {
    assert_eq!(Mark::parse(text), None);
    let garbage = annotated(suspended(own()), HELD, Some(text));
    // A hold replaces it.
    let judged = unlevel().update(FLUX, &garbage, &resumed(garbage.clone()));
    let fresh = mark(FLUX.user, FLUX.manager, AT, "premature");
    assert_eq!(annotation(&stored(&judged, &own()), HELD), Some(fresh.as_str()));
    // It is not put back, neither is it warned of.
    assert_silent(&level().update(FLUX, &garbage, &suspended(own())));
    assert_silent(&level().update(PERSON, &garbage, &garbage));
}
