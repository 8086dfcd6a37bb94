//! What `wait` says.

use super::chain::{blocked_by, found_loop, hint, trouble, trouble_after_colon};
use super::clean;
use super::gate::duration as rough;
use crate::chain::{Judgement, Root, State, World, hints};
use crate::object::{Object, Reference};
use crate::rollout::{Dead, Phase, Rollout, Verdict};
use chrono::{DateTime, TimeDelta, Utc};

const REVISION: usize = 120;
/// How many root blockers are named in last words.
const ROOTS: usize = 10;

/// Said of an object that is another one now.
pub const RECREATED: &str = "was deleted and made anew";

/// How long something took: `4 s`, `2 min 5 s`, `3 h 20 min`.
#[must_use]
pub fn took(time: TimeDelta) -> String {
    match time.num_seconds().max(0) {
        s if s >= 3_600 => rough(s),
        s if s >= 60 && s % 60 > 0 => format!("{} min {} s", s / 60, s % 60),
        s => rough(s),
    }
}

/// What an object does, in a sentence that follows its name and a colon.
#[must_use]
pub fn why(member: &Reference, phase: Phase, state: &State, object: Option<&Object>) -> String {
    match (phase, state.troubles.first(), state.waits.first()) {
        (Phase::Settled, ..) => {
            let revision =
                object.and_then(|object| object.revision().or(object.status.last_applied_revision.as_deref()));
            match revision {
                Some(revision) => format!("settled at {}", clean(revision, REVISION)),
                None => "settled".to_owned(),
            }
        }
        (Phase::Waits, _, Some(need)) => {
            let more = state.waits.len() - 1;
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("waits for {} ({}){more}", need.target, need.reason)
        }
        (_, Some(first), _) => trouble_after_colon(member, first),
        (_, None, _) => phase.name().to_owned(),
    }
}

/// How the roll-out ended, or stands. The first line stands alone; the others have the chain, and what may help.
#[must_use]
pub fn ending(
    verdict: &Verdict,
    rollout: &Rollout,
    judgement: &Judgement,
    world: &World,
    now: DateTime<Utc>,
) -> String {
    let after = took(now.signed_duration_since(rollout.started()));
    let targets = targets(rollout.targets());
    match verdict {
        Verdict::Done => {
            let others = judgement.states.values().filter(|state| state.required).count();
            let needs = match others.saturating_sub(rollout.targets().len()) {
                0 => String::new(),
                1 => ", with the one object that is needed".to_owned(),
                others => format!(", with the {others} objects that are needed"),
            };
            format!("settled after {after}: {targets}{needs}\n")
        }
        Verdict::Met => format!("the exit condition is met after {after}: {targets}\n"),
        Verdict::Blocked(Dead::Root(root)) => {
            let first = judgement.states.get(&root.at).and_then(|state| state.troubles.first());
            let what = first.map(|first| trouble(&root.at, first)).unwrap_or_default();
            let what = predicate(&root.at, &what);
            format!("blocked for good: {what}\n{}", details(root, judgement, world, now))
        }
        Verdict::Blocked(Dead::Loop(found)) => {
            let own = rollout.targets().iter().find(|target| found.members().any(|member| member == *target));
            let own = own.or(rollout.targets().first()).or_else(|| found.members().next());
            let text = own.map(|own| found_loop(found, own)).unwrap_or_default();
            format!("blocked for good: {text}\n")
        }
        Verdict::Unreadable(root) => {
            let first = judgement.states.get(&root.at).and_then(|state| state.troubles.first());
            let what = first.map(|first| trouble(&root.at, first)).unwrap_or_default();
            let what = predicate(&root.at, &what);
            format!("it cannot be told when this is over: {what}\n{}", way(root))
        }
        Verdict::TimedOut(None) => format!("timed out after {after}: {}", standing(rollout, judgement, world, now)),
        Verdict::TimedOut(Some((at, limit))) => format!(
            "timed out: {at} has not become settled within {} of its own: {}",
            took(*limit),
            standing(rollout, judgement, world, now)
        ),
        Verdict::Waiting => format!("after {after}: {}", standing(rollout, judgement, world, now)),
    }
}

/// Where things stand when somebody ends the wait.
#[must_use]
pub fn interrupted(rollout: &Rollout, judgement: &Judgement, world: &World, now: DateTime<Utc>) -> String {
    let after = took(now.signed_duration_since(rollout.started()));
    format!("interrupted after {after}: {}", standing(rollout, judgement, world, now))
}

/// `NAME is …`, or `NAME: …` where the sentence has no verb to join.
fn predicate(at: &Reference, what: &str) -> String {
    let joined = ["is ", "does ", "was ", "has ", "cannot ", "could "].iter().any(|start| what.starts_with(start));
    if joined { format!("{at} {what}") } else { format!("{at}: {what}") }
}

fn targets(targets: &[Reference]) -> String {
    match targets {
        [one] => one.to_string(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
        [] => "nothing".to_owned(),
    }
}

/// The way to a root blocker and the remarks on it, a line each.
fn details(root: &Root, judgement: &Judgement, world: &World, now: DateTime<Utc>) -> String {
    let mut text = way(root);
    if let (Some(found), Some(state)) = (world.found(&root.at), judgement.states.get(&root.at)) {
        for remark in hints(found, state, world, now) {
            text.push_str(&format!("  {}\n", hint(&remark, now)));
        }
    }
    text
}

fn way(root: &Root) -> String {
    let mut text = String::new();
    for (index, (from, reason)) in root.way.iter().enumerate() {
        let to = root.way.get(index + 1).map_or(&root.at, |(next, _)| next);
        text.push_str(&format!("  {from} needs {to} ({reason})\n"));
    }
    text
}

/// What is still waited for: each target with its root blocker, and the remarks on that.
fn standing(rollout: &Rollout, judgement: &Judgement, world: &World, now: DateTime<Utc>) -> String {
    let settled = judgement.states.values().filter(|state| state.required && state.is_settled()).count();
    let all = judgement.states.values().filter(|state| state.required).count();
    let first = rollout.targets().iter().find_map(|target| {
        let root = judgement.root_of(target)?;
        Some(format!("{}\n{}", blocked_by(target, &root, judgement), details(&root, judgement, world, now)))
    });
    let Some(mut text) = first else {
        return match judgement.loops.first().zip(rollout.targets().first()) {
            Some((found, target)) => format!("{}\n", found_loop(found, target)),
            None if judgement.unknown > 0 => format!("{} objects are not read yet\n", judgement.unknown),
            None => format!("{settled} of {all} objects are settled\n"),
        };
    };
    for root in judgement.roots.iter().skip(1).take(ROOTS) {
        let what = judgement.states.get(&root.at).and_then(|state| state.troubles.first());
        let what = what.map(|what| trouble_after_colon(&root.at, what)).unwrap_or_default();
        text.push_str(&format!("  also not settled: {}: {what}\n", root.at));
    }
    if judgement.roots.len() > ROOTS + 1 {
        text.push_str(&format!("  and {} more\n", judgement.roots.len() - ROOTS - 1));
    }
    text.push_str(&format!("  {settled} of {all} objects are settled\n"));
    text
}
