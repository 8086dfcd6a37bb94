//! Every sentence in full, one list.

use sluicegate_core::object::Switch;
use sluicegate_core::settled::{Blocker, Readiness};
use std::collections::BTreeSet;
use std::fmt::Write;

fn text(text: &str) -> Box<str> {
    text.into()
}

/// Every blocker in every form, each of its texts made by `make` from a usual one.
fn all(make: impl Fn(&str) -> Box<str>) -> Vec<Blocker> {
    let some = |text: &str| Some(make(text));
    let (old, new) = ("main@sha1:aaaa", "main@sha1:bbbb");
    let not_ready = |readiness, message, outdated| Blocker::NotReady {
        readiness,
        reason: some("InstallFailed"),
        message,
        outdated,
    };
    let annotation = Switch::Annotation("source.extensions.fluxcd.io/reconcile");
    let suspended =
        |switch, never_reconciled, acknowledged| Blocker::Suspended { switch, never_reconciled, acknowledged };
    let install = "Helm install failed for release ns/app with chart app@1.2.3: context deadline exceeded";
    vec![
        Blocker::Deleting,
        suspended(Switch::Spec, false, None),
        suspended(Switch::Spec, true, None),
        suspended(Switch::Spec, false, some("T9")),
        suspended(annotation, false, None),
        suspended(annotation, true, some("T9")),
        Blocker::RequestNotHandled { requested: make("T2"), handled: some("T1") },
        Blocker::RequestNotHandled { requested: make("T2"), handled: None },
        Blocker::Reconciling { message: some("Running health checks for revision main@sha1:aaaa") },
        Blocker::Reconciling { message: None },
        Blocker::Stalled { reason: some("RetriesExceeded"), message: some("Failed to upgrade after 1 attempt(s)") },
        Blocker::Stalled { reason: some("RetriesExceeded"), message: None },
        Blocker::Stalled { reason: None, message: None },
        Blocker::NeverReconciled { begun: false },
        Blocker::NeverReconciled { begun: true },
        Blocker::GenerationNotObserved { generation: 2, observed: 1 },
        Blocker::GenerationNotAttempted { generation: 4, attempted: Some(1) },
        Blocker::GenerationNotAttempted { generation: 4, attempted: None },
        not_ready(Readiness::Failed, some(install), false),
        not_ready(Readiness::Failed, some(install), true),
        not_ready(Readiness::Failed, None, false),
        not_ready(Readiness::Failed, some(" "), false),
        not_ready(Readiness::Unknown, some("Running 'install' action with timeout of 5m0s"), false),
        Blocker::NotReady { readiness: Readiness::Absent, reason: None, message: None, outdated: false },
        Blocker::ReadyOfOtherGeneration { generation: 2, ready: Some(1) },
        Blocker::ReadyOfOtherGeneration { generation: 2, ready: None },
        Blocker::NotInStorage { message: None },
        Blocker::NotInStorage { message: some("no artifact") },
        Blocker::StoredForOtherGeneration { generation: 2, stored: Some(1) },
        Blocker::StoredForOtherGeneration { generation: 2, stored: None },
        Blocker::ArtifactOutdated { message: some("new upstream revision 'main@sha1:bbbb'") },
        Blocker::ArtifactOutdated { message: None },
        Blocker::ArtifactMissing,
        Blocker::TornRevision { said: make(new), artifact: make(old) },
        Blocker::IncludeDiffers { index: 0, included: some(old), offered: make(new) },
        Blocker::IncludeDiffers { index: 0, included: some(old), offered: make(old) },
        Blocker::IncludeDiffers { index: 1, included: None, offered: make(new) },
        Blocker::SourceNotObserved { observed: some(old), source: make(new) },
        Blocker::SourceNotObserved { observed: None, source: make(new) },
        Blocker::NotBuiltFromSource { version: make("1.2.3+aaaaaaaaaaaa"), source: make(new) },
        Blocker::NotListed,
        Blocker::DigestDiffers { listed: some("sha256:aaaa"), artifact: some("sha256:bbbb") },
        Blocker::DigestDiffers { listed: None, artifact: None },
        Blocker::SourcesDiffer { recorded: true },
        Blocker::SourcesDiffer { recorded: false },
        Blocker::NotApplied { applied: some(old), source: make(new) },
        Blocker::NotApplied { applied: None, source: make(new) },
        Blocker::NoHistory,
        Blocker::NotDeployed { version: Some(3), status: some("pending-upgrade") },
        Blocker::NotDeployed { version: None, status: None },
        Blocker::TornRelease { said: make("v3 app@1.2.4"), recorded: make("v2 app@1.2.3") },
        Blocker::OtherArtifact { released: some("sha256:aaaa"), artifact: make("1.2.3@sha256:bbbb") },
        Blocker::OtherArtifact { released: None, artifact: make("1.2.4") },
        Blocker::ChartMissing,
        Blocker::ChartDiffers,
        Blocker::CreatedDisabled,
        Blocker::NothingApplied,
        Blocker::PlanPending { plan: make("plan-main-bbbbbbbbbb") },
        Blocker::NotAttempted { attempted: some(old), source: make(new) },
        Blocker::NotAttempted { attempted: None, source: make(new) },
        Blocker::TornAttempt { said: make(new), attempted: make(old) },
        Blocker::VariantMissing { variant: make("minimal") },
        Blocker::PackageNotReady { name: make("cozystack.base") },
        Blocker::NotExpected { expected: make(new), actual: some(old) },
        Blocker::NotExpected { expected: make(new), actual: None },
    ]
}

/// A new blocker does not compile here until it has a number, and fails below until it is in the list.
fn number(blocker: &Blocker) -> usize {
    match blocker {
        Blocker::Deleting => 0,
        Blocker::Suspended { .. } => 1,
        Blocker::RequestNotHandled { .. } => 2,
        Blocker::Reconciling { .. } => 3,
        Blocker::Stalled { .. } => 4,
        Blocker::NeverReconciled { .. } => 5,
        Blocker::GenerationNotObserved { .. } => 6,
        Blocker::GenerationNotAttempted { .. } => 7,
        Blocker::NotReady { .. } => 8,
        Blocker::ReadyOfOtherGeneration { .. } => 9,
        Blocker::NotInStorage { .. } => 10,
        Blocker::StoredForOtherGeneration { .. } => 11,
        Blocker::ArtifactOutdated { .. } => 12,
        Blocker::ArtifactMissing => 13,
        Blocker::TornRevision { .. } => 14,
        Blocker::IncludeDiffers { .. } => 15,
        Blocker::SourceNotObserved { .. } => 16,
        Blocker::NotBuiltFromSource { .. } => 17,
        Blocker::NotListed => 18,
        Blocker::DigestDiffers { .. } => 19,
        Blocker::SourcesDiffer { .. } => 20,
        Blocker::NotApplied { .. } => 21,
        Blocker::NoHistory => 22,
        Blocker::NotDeployed { .. } => 23,
        Blocker::TornRelease { .. } => 24,
        Blocker::OtherArtifact { .. } => 25,
        Blocker::ChartMissing => 26,
        Blocker::ChartDiffers => 27,
        Blocker::CreatedDisabled => 28,
        Blocker::NothingApplied => 29,
        Blocker::PlanPending { .. } => 30,
        Blocker::NotAttempted { .. } => 31,
        Blocker::TornAttempt { .. } => 32,
        Blocker::VariantMissing { .. } => 33,
        Blocker::PackageNotReady { .. } => 34,
        Blocker::NotExpected { .. } => 35,
    }
}

#[test]
fn the_list_is_complete() {
    let numbers: BTreeSet<usize> = all(text).iter().map(number).collect();
    assert_eq!(numbers, (0..36).collect());
}

#[test]
fn sentences_and_what_is_told_of_foreign_objects() {
    let mut list = String::new();
    for blocker in all(text) {
        writeln!(list, "{}\n    {}", blocker.sentence(), blocker.brief()).unwrap();
    }
    insta::assert_snapshot!(list);
}

#[test]
fn a_sentence_is_clean_and_bounded_whatever_the_object_says() {
    let hostile = |text: &str| format!("{text}\n\u{202e}\u{7}{}", "x".repeat(100_000)).into();
    for (blocker, plain) in all(hostile).iter().zip(all(text)) {
        let sentence = blocker.sentence().to_string();
        assert!(sentence.chars().count() < 400, "{sentence}");
        assert!(!sentence.contains(['\n', '\u{202e}', '\u{7}']), "{sentence}");
        assert_eq!(blocker.brief(), plain.brief());
    }
}

#[test]
fn no_two_of_the_five_mistakes_share_a_sentence() {
    let suspended = Blocker::Suspended { switch: Switch::Spec, never_reconciled: true, acknowledged: None };
    let not_ready = Blocker::NotReady { readiness: Readiness::Failed, reason: None, message: None, outdated: false };
    assert_ne!(suspended.sentence().to_string(), not_ready.sentence().to_string());
    assert_ne!(suspended.brief(), not_ready.brief());
    for blocker in all(text) {
        let mentions = blocker.sentence().to_string().contains("suspended");
        assert_eq!(mentions, matches!(blocker, Blocker::Suspended { .. }));
    }
}

#[test]
fn the_headline_is_what_tells_most() {
    let not_ready = |outdated| Blocker::NotReady {
        readiness: Readiness::Failed,
        reason: None,
        message: Some(text("boom")),
        outdated,
    };
    let request = Blocker::RequestNotHandled { requested: text("T2"), handled: None };
    let generation = Blocker::GenerationNotObserved { generation: 2, observed: 1 };
    let reconciling = Blocker::Reconciling { message: None };
    let stalled = Blocker::Stalled { reason: None, message: None };
    let suspended = Blocker::Suspended { switch: Switch::Spec, never_reconciled: false, acknowledged: None };
    let order = [
        Blocker::Deleting,
        suspended,
        stalled,
        not_ready(false),
        generation,
        request,
        reconciling,
        not_ready(true),
        Blocker::ArtifactMissing,
    ];
    for (at, first) in order.iter().enumerate() {
        let mut rest: Vec<Blocker> = order[at..].to_vec();
        rest.reverse();
        assert_eq!(Blocker::headline(&rest), Some(first));
    }
    assert_eq!(Blocker::headline(&[]), None);
    // Among equals the order of the table counts.
    let equals = [Blocker::NoHistory, Blocker::ChartMissing];
    assert_eq!(Blocker::headline(&equals), Some(&Blocker::NoHistory));
}
