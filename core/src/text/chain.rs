//! What `explain` says of a chain. `wait` names root blockers with the same words.

use super::gate::duration;
use super::{clean, expression_failure};
use crate::chain::{Evidence, Found, Hint, Judgement, Root, State, Trouble, World, evidence, hints};
use crate::gate::{Finding, Names, Unread};
use crate::graph::Loop;
use crate::object::{Kind, Reference};
use crate::settled::Snapshot;
use chrono::{DateTime, SecondsFormat, Utc};
use std::collections::BTreeMap;
use std::fmt::Write;

/// How many steps of a way are shown before the middle is left out.
const STEPS: usize = 40;
/// How many further root blockers are named.
const ROOTS: usize = 10;
/// How many troubles of one object are told.
const TROUBLES: usize = 4;
const REVISION: usize = 120;

/// What is wrong, to stand after the name of the object.
#[must_use]
pub fn trouble(at: &Reference, trouble: &Trouble) -> String {
    match trouble {
        Trouble::Blocked(blocker) => blocker.sentence().to_string(),
        Trouble::Missing => "does not exist".to_owned(),
        Trouble::KindMissing => format!("does not exist: the cluster has no {}", at.kind),
        Trouble::Unexpected { expected, actual, .. } => {
            let actual = actual.as_deref().unwrap_or("nothing");
            format!("does not show the expected revision {} ({})", clean(expected, REVISION), clean(actual, REVISION))
        }
        Trouble::Expression { reason, target, failure: None } => format!("{reason}.readyExpr is not met by {target}"),
        Trouble::Expression { reason, target, failure: Some(failure) } => {
            format!("{reason}.readyExpr cannot judge {target}: {}", expression_failure(failure))
        }
        Trouble::Unread(why) => unread(at, why),
    }
}

/// Why an object could not be read, to stand after its name.
fn unread(at: &Reference, why: &Unread) -> String {
    match why {
        Unread::Forbidden => format!("cannot be read: no right to get {}", at.kind.resource()),
        Unread::OutOfTime | Unread::OutOfBudget => "was not read".to_owned(),
        Unread::Unreadable(unreadable) => format!("cannot be read: {unreadable}"),
        Unread::Failed(text) => format!("could not be read: {}", clean(text.trim(), 200)),
    }
}

/// What is wrong, to stand after the name and a colon.
#[must_use]
pub fn trouble_after_colon(at: &Reference, what: &Trouble) -> String {
    let text = trouble(at, what);
    text.strip_prefix("is ").map(ToOwned::to_owned).unwrap_or(text)
}

/// A remark on an object.
#[must_use]
pub fn hint(hint: &Hint, now: DateTime<Utc>) -> String {
    match hint {
        Hint::SuspendedBy(by) => {
            let how = if by.applied { "declared" } else { "set" };
            let when = by.time.map(|time| format!(", {}", when(time, now))).unwrap_or_default();
            format!("the switch was {how} by field manager {}{when}", clean(&by.manager, 128))
        }
        Hint::Held(mark) => format!(
            "held by Sluicegate, {}, when {} ({}) would have resumed it",
            when(mark.made(), now),
            clean(&mark.applier.user, 200),
            clean(&mark.applier.manager, 128)
        ),
        Hint::Vetoed => "nobody of ours resumes it: the annotation sluicegate.dev/release says never".to_owned(),
        Hint::OutOfDate => {
            "what its message complains of is settled by now; a reconcile request makes it look again".to_owned()
        }
        Hint::CannotFetch(source) => {
            format!("by its fields {source} is settled: what it offers cannot be fetched")
        }
        Hint::BeyondTimeout(limit) => format!(
            "stuck: in progress for longer than its timeout of {} although its history says deployed; a reconcile \
             request makes it look again",
            duration(limit.num_seconds())
        ),
        Hint::Unacknowledged(None) => {
            "if this lasts, its controller may be down, or may not watch this object".to_owned()
        }
        Hint::Unacknowledged(Some(shard)) => format!(
            "if this lasts, its controller may be down, or none may watch the shard {} (label sharding.fluxcd.io/key)",
            clean(shard, 63)
        ),
        Hint::StalledGenerator => "stalled: its work is done, but its controller will not say so".to_owned(),
    }
}

/// A time, and how long ago it was.
fn when(time: DateTime<Utc>, now: DateTime<Utc>) -> String {
    let text = time.to_rfc3339_opts(SecondsFormat::Secs, true);
    let age = now.signed_duration_since(time).num_seconds();
    if age < 0 { text } else { format!("{} ago ({text})", duration(age)) }
}

fn shown_evidence(evidence: &Evidence, now: DateTime<Utc>) -> String {
    let reason = evidence.reason.as_ref().map(|reason| format!(", {}", clean(reason, 128))).unwrap_or_default();
    let since = evidence.since.map(|since| format!(", {}", when(since, now))).unwrap_or_default();
    format!("{} {}{reason}{since}", evidence.condition, clean(&evidence.status, 16))
}

/// What stands in the way of `target`, in one line: the root blocker is always named.
#[must_use]
pub fn blocked_by(target: &Reference, root: &Root, judgement: &Judgement) -> String {
    let first = judgement.states.get(&root.at).and_then(|state| state.troubles.first());
    let what = first.map(|what| trouble_after_colon(&root.at, what)).unwrap_or_default();
    match root.way.len() {
        0 if matches!(first, Some(Trouble::Missing | Trouble::KindMissing | Trouble::Unread(_))) => {
            format!("{target} {what}")
        }
        0 => format!("{target} is not settled: {what}"),
        1 => format!("{target} waits for {}: {what}", root.at),
        steps => format!("{target} waits for {} ({steps} steps): {what}", root.at),
    }
}

/// A loop, told with its members alone.
#[must_use]
pub fn found_loop(found: &Loop, target: &Reference) -> String {
    let first = found.members().min();
    let own = found.members().find(|member| *member == target).or(first).unwrap_or(target);
    super::dependency_cycle(found, own, &Names::everything(own))
}

/// The chain of one object up to its root blockers. The first line stands alone.
///
/// `others`: for objects that do not exist, one of the same name and another kind that does.
#[must_use]
pub fn explanation(
    target: &Reference,
    judgement: &Judgement,
    world: &World,
    others: &BTreeMap<Reference, Reference>,
    now: DateTime<Utc>,
) -> String {
    let mut text = String::new();
    let roots = judgement.roots_of(target);
    let Some(nearest) = roots.first() else {
        let own = judgement.loops.first().map(|found| found_loop(found, target));
        return match own {
            Some(own) if judgement.loops.iter().any(|found| found.members().any(|member| member == target)) => {
                format!("{own}\n")
            }
            Some(own) => format!("{target} waits behind a loop: nothing in it will move\n{own}\n"),
            None => settled(target, judgement, world),
        };
    };
    let _ = writeln!(text, "{}\n", blocked_by(target, nearest, judgement));
    let mut rows: Vec<String> = vec![format!("{target}\n{}", described(target, judgement, world, others, now))];
    for (index, (_, reason)) in nearest.way.iter().enumerate() {
        let to = nearest.way.get(index + 1).map_or(&nearest.at, |(next, _)| next);
        rows.push(format!("needs {to} ({reason})\n{}", described(to, judgement, world, others, now)));
    }
    if rows.len() > STEPS {
        let left_out = rows.len() - STEPS;
        rows.splice(STEPS / 2..STEPS / 2 + left_out, [format!("… {left_out} more steps …\n")]);
    }
    text.push_str(&rows.concat());
    let behind = judgement.behind(&nearest.at);
    if behind > nearest.way.len() {
        let _ = writeln!(text, "\n{behind} objects wait behind {}", nearest.at);
    }
    if roots.len() > 1 {
        text.push_str("\nIt also waits for:\n");
        for root in roots.iter().skip(1).take(ROOTS) {
            let first = judgement.states.get(&root.at).and_then(|state| state.troubles.first());
            let what = first.map(|what| trouble_after_colon(&root.at, what)).unwrap_or_default();
            let _ = writeln!(text, "  {}: {what}", root.at);
        }
        if roots.len() > ROOTS + 1 {
            let _ = writeln!(text, "  and {} more", roots.len() - ROOTS - 1);
        }
    }
    text
}

/// The troubles of one object and the remarks on it, a line each.
fn described(
    at: &Reference,
    judgement: &Judgement,
    world: &World,
    others: &BTreeMap<Reference, Reference>,
    now: DateTime<Utc>,
) -> String {
    let mut text = String::new();
    let fallback = State::default();
    let state = judgement.states.get(at).unwrap_or(&fallback);
    let found = world.found(at);
    let mut shown = None;
    for what in state.troubles.iter().take(TROUBLES) {
        let _ = writeln!(text, "    {}", trouble(at, what));
        // Several troubles may show in one condition.
        let condition = found.and_then(|found| evidence(&found.object, what)).filter(|_| at_work(what));
        if let Some(condition) = condition.filter(|condition| shown.as_ref() != Some(condition)) {
            let _ = writeln!(text, "      {}", shown_evidence(&condition, now));
            shown = Some(condition);
        }
    }
    if state.troubles.len() > TROUBLES {
        let _ = writeln!(text, "    and {} more", state.troubles.len() - TROUBLES);
    }
    if state.troubles.is_empty() {
        text.push_str("    settled itself\n");
    }
    if let Some(found) = found {
        for remark in hints(found, state, world, now) {
            let _ = writeln!(text, "    {}", hint(&remark, now));
        }
        text.push_str(&unjudged(at, found));
    }
    if let Some(other) = others.get(at) {
        let cannot = match at.kind {
            Kind::Kustomization | Kind::HelmRelease => {
                format!(". dependsOn of a {0} can only name objects of kind {0}", at.kind)
            }
            _ => String::new(),
        };
        let _ = writeln!(text, "    there is {other}{cannot}");
    }
    text
}

/// The needs of an object on kinds that are not judged, a line each: nobody here knows whether they are met.
fn unjudged(at: &Reference, found: &Found) -> String {
    let mut text = String::new();
    for unjudged in found.object.needs().unjudged.into_iter().take(TROUBLES) {
        let _ = writeln!(text, "    note: {}", Finding::Unjudged(unjudged).line(at, &Names::everything(at)));
    }
    text
}

fn at_work(what: &Trouble) -> bool {
    use crate::settled::Blocker;
    !matches!(what, Trouble::Blocked(Blocker::Suspended { .. }))
}

fn settled(target: &Reference, judgement: &Judgement, world: &World) -> String {
    let revision = world.object(target).and_then(|object| {
        let status = &object.status;
        object.revision().or(status.last_applied_revision.as_deref()).or(status.last_attempted_revision.as_deref())
    });
    let revision = revision.map(|revision| format!(" at {}", clean(revision, REVISION))).unwrap_or_default();
    let others = judgement.states.values().filter(|state| state.required).count().saturating_sub(1);
    let notes = world.found(target).map(|found| unjudged(target, found)).unwrap_or_default();
    match others {
        0 => format!("{target} is settled{revision}\n{notes}"),
        1 => format!("{target} is settled{revision}, and so is the one object that it needs\n{notes}"),
        _ => format!("{target} is settled{revision}, and so are the {others} objects that it needs\n{notes}"),
    }
}
