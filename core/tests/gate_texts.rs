//! Every text that the gate can say, in one list. The matches without a wildcard fail to compile where a finding is
//! added that is not in it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "helpers of tests")]

use sluicegate_core::expression::Failure;
use sluicegate_core::gate::{
    Blockage, Disclose, Finding, Judging, Link, MarkNote, Names, Trouble, Unheld, Unreached, Unread,
};
use sluicegate_core::need::{Reason, Unjudged};
use sluicegate_core::object::{Kind, Reference, Unreadable};
use sluicegate_core::settled::Blocker;
use sluicegate_core::text::{bypass_denied, more, warning};
use std::collections::BTreeSet;
use std::fmt::Write;

fn kustomization(namespace: &str, name: &str) -> Reference {
    Reference::new(Kind::Kustomization, namespace, name)
}

fn own() -> Reference {
    kustomization("apps", "shop")
}

fn source(namespace: &str) -> Reference {
    Reference::new(Kind::GitRepository, namespace, "repo")
}

fn link(from: Reference, field: usize, added: bool) -> Link {
    Link { from, reason: Reason::DependsOn(field), added }
}

fn cycle(through: &str) -> Finding {
    let links = vec![
        link(own(), 3, true),
        link(kustomization(through, "database"), 0, false),
        link(kustomization("apps", "certificates"), 1, false),
    ];
    Finding::Cycle { links, undo: None }
}

fn blockage(namespace: &str, trouble: Trouble) -> Blockage {
    let way = vec![(own(), Reason::DependsOn(0)), (kustomization(namespace, "database"), Reason::SourceRef)];
    Blockage { way, at: source(namespace), trouble, stalled: false, quoted: vec![] }
}

fn troubles() -> Vec<Trouble> {
    let blocked = Blocker::GenerationNotObserved { generation: 2, observed: 1 };
    let unexpected = |actual: Option<&str>| Trouble::Unexpected {
        expected: "main@sha1:2222".into(),
        actual: actual.map(Into::into),
        by: own(),
    };
    let mut troubles = vec![
        Trouble::Blocked(blocked),
        Trouble::Missing,
        Trouble::KindMissing,
        unexpected(Some("main@sha1:1111")),
        unexpected(None),
        Trouble::ExpressionFalse(Reason::DependsOn(0)),
    ];
    troubles.extend(failures().into_iter().map(|failure| Trouble::ExpressionFailed(Reason::DependsOn(0), failure)));
    troubles.extend(unreads().into_iter().map(Trouble::Unread));
    let kinds: BTreeSet<u8> = troubles
        .iter()
        .map(|trouble| match trouble {
            Trouble::Blocked(_) => 0,
            Trouble::Missing => 1,
            Trouble::KindMissing => 2,
            Trouble::Unexpected { .. } => 3,
            Trouble::ExpressionFalse(_) => 4,
            Trouble::ExpressionFailed(..) => 5,
            Trouble::Unread(_) => 6,
        })
        .collect();
    assert_eq!(kinds.len(), 7);
    troubles
}

fn failures() -> Vec<Failure> {
    let failures = vec![
        Failure::TooLong { bytes: 2_000 },
        Failure::TooDeep,
        Failure::TooCostly,
        Failure::Invalid("Syntax error: mismatched input".into()),
        Failure::NotBoolean { kind: "string" },
        Failure::Evaluation("No such key: ready".into()),
    ];
    let kinds: BTreeSet<u8> = failures
        .iter()
        .map(|failure| match failure {
            Failure::TooLong { .. } => 0,
            Failure::TooDeep => 1,
            Failure::TooCostly => 2,
            Failure::Invalid(_) => 3,
            Failure::NotBoolean { .. } => 4,
            Failure::Evaluation(_) => 5,
        })
        .collect();
    assert_eq!(kinds.len(), failures.len());
    failures
}

fn unreads() -> Vec<Unread> {
    let unreadable = Unreadable { field: "spec.suspend".into(), expected: "a boolean".into() };
    let unreads = vec![
        Unread::Forbidden,
        Unread::OutOfTime,
        Unread::OutOfBudget,
        Unread::Unreadable(unreadable),
        Unread::Failed("connection refused".into()),
    ];
    let kinds: BTreeSet<u8> = unreads
        .iter()
        .map(|unread| match unread {
            Unread::Forbidden => 0,
            Unread::OutOfTime => 1,
            Unread::OutOfBudget => 2,
            Unread::Unreadable(_) => 3,
            Unread::Failed(_) => 4,
        })
        .collect();
    assert_eq!(kinds.len(), unreads.len());
    unreads
}

fn notes() -> Vec<MarkNote> {
    let all = vec![
        MarkNote::Stripped,
        MarkNote::Restored,
        MarkNote::Ended,
        MarkNote::LeftHeld,
        MarkNote::Made,
        MarkNote::Forged,
    ];
    let kinds: BTreeSet<u8> = all
        .iter()
        .map(|note| match note {
            MarkNote::Stripped => 0,
            MarkNote::Restored => 1,
            MarkNote::Ended => 2,
            MarkNote::LeftHeld => 3,
            MarkNote::Made => 4,
            MarkNote::Forged => 5,
        })
        .collect();
    assert_eq!(kinds.len(), all.len());
    all
}

fn findings() -> Vec<Finding> {
    let unreadable = |field: &str, expected: &str| {
        Finding::Unreadable(Unreadable { field: field.into(), expected: expected.into() })
    };
    let missing = |target: Reference, kind: bool| Finding::Missing { target, reason: Reason::DependsOn(0), kind };
    let database = || kustomization("apps", "database");
    let wrong = |target: Reference, reason: Reason, kind: Kind| {
        let found = Reference::new(kind, &target.namespace, &target.name);
        Finding::WrongKind { target, reason, found }
    };
    let unjudged = |kind: &str, name: &str| {
        Finding::Unjudged(Unjudged { reason: Reason::DependsOn(0), kind: kind.into(), name: name.into() })
    };
    let mut all = vec![
        unreadable("spec.dependsOn[1].name", "a string"),
        unreadable("", "valid JSON"),
        Finding::UnknownVersion("v9".into()),
        Finding::CompanionChange("spec.dependsOn".into()),
        Finding::CompanionVetoed,
        Finding::SelfNeed(Reason::DependsOn(0)),
        Finding::TooMany { count: 600, limit: 500 },
        cycle("apps"),
        cycle("infra"),
        missing(database(), false),
        missing(database(), true),
        wrong(database(), Reason::DependsOn(0), Kind::HelmRelease),
        wrong(source("apps"), Reason::SourceRef, Kind::OCIRepository),
        Finding::Duplicate { target: database(), first: Reason::DependsOn(0), again: Reason::DependsOn(2) },
        unjudged("Cluster", "east"),
        unjudged("", ""),
    ];
    for why in unreads() {
        all.push(Finding::NotJudged { judging: Judging::Cycle, at: kustomization("infra", "database"), why });
    }
    all.push(Finding::NotJudged { judging: Judging::Dependency, at: database(), why: Unread::Forbidden });
    all.extend(troubles().into_iter().map(|trouble| Finding::Premature(blockage("infra", trouble))));
    let mut stalled = blockage("apps", Trouble::Blocked(Blocker::ArtifactMissing));
    (stalled.at, stalled.stalled) = (Reference::new(Kind::ArtifactGenerator, "apps", "generator"), true);
    all.push(Finding::Premature(stalled));
    let by = Some(kustomization("infra", "sources"));
    all.push(Finding::NotReached(Unreached { object: source("apps"), by: None }));
    all.push(Finding::NotReached(Unreached { object: source("infra"), by }));
    all.push(Finding::Vetoed);
    all.extend([Unheld::Stale, Unheld::Absent, Unheld::NoLease, Unheld::Role].map(Finding::Unheld));
    all.extend(notes().into_iter().map(Finding::Mark));
    all.push(Finding::NoCompanion);
    all.extend([7, 1_800, 5_400, 90_000].map(|seconds| Finding::HeldTooLong { seconds }));
    all.push(Finding::Unwritable);
    let kinds: BTreeSet<u8> = all.iter().map(number).collect();
    assert_eq!(kinds, (0..KINDS).collect());
    all
}

const KINDS: u8 = 19;

fn number(finding: &Finding) -> u8 {
    match finding {
        Finding::Unreadable(_) => 0,
        Finding::UnknownVersion(_) => 1,
        Finding::CompanionChange(_) => 2,
        Finding::CompanionVetoed => 3,
        Finding::SelfNeed(_) => 4,
        Finding::TooMany { .. } => 5,
        Finding::Cycle { .. } => 6,
        Finding::Missing { .. } => 7,
        Finding::WrongKind { .. } => 8,
        Finding::Duplicate { .. } => 9,
        Finding::Unjudged(_) => 10,
        Finding::NotJudged { .. } => 11,
        Finding::Premature(_) => 12,
        Finding::NotReached(_) => 13,
        Finding::Vetoed => 14,
        Finding::Unheld(Unheld::Stale | Unheld::Absent | Unheld::NoLease | Unheld::Role) => 15,
        Finding::Mark(_) => 16,
        Finding::NoCompanion => 17,
        Finding::HeldTooLong { .. } | Finding::Unwritable => 18,
    }
}

/// What is said of each finding: to one who may know everything, and, where it differs, to one who may know only what
/// stands in the namespace of the object.
#[test]
fn every_text() {
    let everything = Names::everything(&own());
    let tenant = Names::new(&own(), [], Disclose::Permitted);
    let mut list = String::new();
    for finding in findings() {
        let _ = writeln!(list, "[{}]", finding.rule());
        for (whom, names) in [("", &everything), ("tenant ", &tenant)] {
            let message = finding.message(&own(), names);
            if !whom.is_empty() && message == finding.message(&own(), &everything) {
                continue;
            }
            let _ = writeln!(list, "{whom}message: {message}");
            let line = warning(&finding.warning(&own(), names));
            if line != message {
                let _ = writeln!(list, "{whom}warning: {line}");
            }
            if matches!(finding, Finding::Premature(_) | Finding::NotReached(_) | Finding::Vetoed) {
                let _ = writeln!(list, "{whom}hold:    {}", warning(&finding.held(&own(), names)));
            }
        }
        let _ = writeln!(list, "path:    {}\n", finding.path(&own()));
    }
    let _ = writeln!(list, "{}", more(7));
    let _ = writeln!(list, "{}", bypass_denied("alice", Some("apps")));
    let _ = writeln!(list, "{}", bypass_denied("alice", None));
    insta::assert_snapshot!(list);
}

/// Five mistakes never share a sentence.
#[test]
fn every_mistake_has_a_sentence_of_its_own() {
    let names = Names::everything(&own());
    let suspended =
        Blocker::Suspended { switch: Kind::Kustomization.row().switch, never_reconciled: false, acknowledged: None };
    let not_ready = Blocker::GenerationNotObserved { generation: 2, observed: 1 };
    let same = |trouble: Trouble| {
        let way = vec![(own(), Reason::DependsOn(0))];
        Finding::Premature(Blockage {
            way,
            at: kustomization("apps", "database"),
            trouble,
            stalled: false,
            quoted: vec![],
        })
    };
    let target = || kustomization("apps", "database");
    let found = Reference::new(Kind::HelmRelease, "apps", "database");
    let findings = [
        cycle("apps"),
        Finding::Missing { target: target(), reason: Reason::DependsOn(0), kind: false },
        Finding::WrongKind { target: target(), reason: Reason::DependsOn(0), found },
        same(Trouble::Blocked(suspended)),
        same(Trouble::Blocked(not_ready)),
        same(Trouble::Missing),
    ];
    let lines: BTreeSet<String> = findings.iter().map(|finding| finding.line(&own(), &names)).collect();
    assert_eq!(lines.len(), findings.len());
}

/// The README lists them all, with their meaning.
#[test]
fn the_readme_lists_every_text() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md")).unwrap();
    let listed = |text: &str| readme.contains(&format!("| {} |", text.replace('<', "&lt;")));
    let snapshots = [
        include_str!("snapshots/gate_texts__every_text.snap"),
        include_str!("settled/snapshots/settled__texts__sentences_and_what_is_told_of_foreign_objects.snap"),
    ];
    let messages = snapshots[0].lines().filter_map(|line| line.strip_prefix("message: "));
    let sentences = snapshots[1].lines().skip(4).filter(|line| !line.is_empty() && !line.starts_with(' '));
    let missing: Vec<&str> = messages.chain(sentences).filter(|text| !listed(text)).collect();
    assert!(missing.is_empty(), "not in the README: {missing:#?}");
}
