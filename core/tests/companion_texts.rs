//! Every text of the companion, in one list.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

use chrono::{DateTime, TimeDelta, Utc};
use sluicegate_core::gate::{Blockage, Disclose, Names, Trouble, Unreached, Unread};
use sluicegate_core::graph::Graph;
use sluicegate_core::need::{Demand, Direction, Need, Reason};
use sluicegate_core::object::{Kind, Reference};
use sluicegate_core::publish::Topic;
use sluicegate_core::recovery::Case;
use sluicegate_core::release::{OwnerState, Wait};
use sluicegate_core::settled::{Blocker, Readiness};
use sluicegate_core::text;
use std::fmt::Write;

fn own() -> Reference {
    Reference::new(Kind::Kustomization, "apps", "shop")
}

fn object(namespace: &str, name: &str) -> Reference {
    Reference::new(Kind::Kustomization, namespace, name)
}

fn names(direct: &[Reference]) -> Names {
    Names::new(&own(), direct.iter().cloned(), Disclose::Permitted)
}

fn waits(namespace: &str) -> Vec<Wait> {
    let owner = object(namespace, "parent");
    let failed = Blocker::NotReady {
        readiness: Readiness::Failed,
        reason: Some("ReconciliationFailed".into()),
        message: Some("Widget/x dry-run failed".into()),
        outdated: false,
    };
    let blockage = |trouble| {
        Wait::Input(Box::new(Blockage {
            way: vec![(own(), Reason::DependsOn(0))],
            at: object(namespace, "database"),
            trouble,
            stalled: false,
            quoted: vec![],
        }))
    };
    let until: DateTime<Utc> = DateTime::UNIX_EPOCH;
    let waits = vec![
        blockage(Trouble::Blocked(Blocker::GenerationNotObserved { generation: 2, observed: 1 })),
        blockage(Trouble::Missing),
        blockage(Trouble::Unread(Unread::Forbidden)),
        Wait::Owner { owner: owner.clone(), state: OwnerState::Applying },
        Wait::Owner { owner: owner.clone(), state: OwnerState::Failed(failed) },
        Wait::Silence { owner: owner.clone(), until },
        Wait::Unreached(Unreached { object: object(namespace, "database"), by: Some(owner) }),
    ];
    let kinds: std::collections::BTreeSet<u8> = waits
        .iter()
        .map(|wait| match wait {
            Wait::Owner { .. } => 0,
            Wait::Silence { .. } => 1,
            Wait::Input(_) => 2,
            Wait::Unreached(_) => 3,
        })
        .collect();
    assert_eq!(kinds.len(), 4);
    waits
}

fn cycle(from: &Reference) -> Vec<Need> {
    let next = if *from == own() { object("apps", "database") } else { own() };
    vec![Need { target: next, reason: Reason::DependsOn(0), direction: Direction::Input, demand: Demand::Settled }]
}

#[test]
fn every_text() {
    let mut all = String::new();
    let mut say = |head: &str, text: &str| writeln!(all, "{head}\n    {}\n", text.replace('\n', "\n    ")).unwrap();
    for wait in waits("apps") {
        say("held", &text::held(&wait, &own(), &names(&[])));
    }
    for wait in waits("other") {
        say("held, of another namespace", &text::held(&wait, &own(), &names(&[])));
    }
    for wait in waits("other") {
        say("held, named by the object itself", &text::held(&wait, &own(), &names(&[object("other", "parent")])));
    }
    say("refused", &text::release_refused("admission webhook \"x\" denied the request:\nno\u{202e}"));
    say("forbidden", &text::forbidden("patch", "kustomizations.kustomize.toolkit.fluxcd.io"));
    say("released", &text::released());
    say("vetoed", &text::vetoed());
    say("mark lost", &text::mark_lost());
    say("held too long", &text::held_too_long(TimeDelta::hours(1), "held: GitRepository/apps/repo: has no artifact"));
    let members = [own(), object("apps", "database"), object("other", "queue")];
    say("held loop", &text::held_loop(&members, &own(), &names(&[])));
    say("held loop of one", &text::held_loop(&[own()], &own(), &names(&[])));
    let many: Vec<Reference> = (0..40).map(|i| object("apps", &format!("k{i:02}"))).collect();
    say("held loop of many", &text::held_loop(&many, &object("apps", "k00"), &names(&[])));
    let graph: Graph =
        [own(), object("apps", "database")].map(|from| (from.clone(), cycle(&from))).into_iter().collect();
    let found = &graph.loops()[0].shortest;
    say("cycle, to one member", &text::dependency_cycle(found, &own(), &names(&[])));
    say("cycle, to the other", &text::dependency_cycle(found, &object("apps", "database"), &names(&[])));
    let itself = |from: &Reference| Need { target: from.clone(), ..cycle(from).remove(0) };
    let graph: Graph = [(own(), vec![itself(&own())])].into_iter().collect();
    say("cycle of one", &text::dependency_cycle(&graph.loops()[0].shortest, &own(), &names(&[])));
    for case in [Case::Stalled, Case::LostEdit, Case::DigestBehind] {
        say("attempt", &text::recovery_forced(2, 5, case));
    }
    say("attempt", &text::refresh_forced());
    say("given up", &text::recovery_gave_up(5));
    say("given up", &text::refresh_gave_up());
    let generator = Reference::new(Kind::ArtifactGenerator, "cozy-system", "app");
    say(
        "given up, to the owner",
        &text::owned_gave_up(&generator, &Names::new(&own(), [generator.clone()], Disclose::Permitted)),
    );
    say("given up, to the owner", &text::owned_gave_up(&generator, &names(&[])));
    say("recovered", &text::recovered());
    say("the marker on a generator", text::FORCED_MESSAGE);
    say("AwaitingSourceWatcherRecovery", text::AWAITING_RECOVERY);
    say("SourceWatcherStalled", text::SOURCE_WATCHER_STALLED);
    say("ArtifactGeneratorNotReady", text::GENERATOR_NOT_READY);
    insta::assert_snapshot!(all);
}

#[test]
fn reasons_of_events_are_as_kubernetes_wants_them() {
    for topic in Topic::ALL {
        assert!(topic.reason().chars().all(|c| c.is_ascii_alphabetic()) && topic.reason().len() < 40);
    }
}
