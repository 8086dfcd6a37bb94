//! What the companion says: in conditions, Events and the PackageSources of cozystack.

use super::clean;
use super::gate::duration;
use crate::gate::{Finding, Link, Names, Trouble, Unread};
use crate::graph::Loop;
use crate::object::Reference;
use crate::recovery::Case;
use crate::release::{OwnerState, Wait};
use chrono::TimeDelta;

/// The message of the Ready condition that makes a generator see drift.
pub const FORCED_MESSAGE: &str = "the generator had finished without saying so; Sluicegate asks for another pass";
/// What a PackageSource says while its generator is being recovered.
pub const AWAITING_RECOVERY: &str = "the generator has finished without saying so; waiting for another pass";
/// What a PackageSource says when that did not help.
pub const SOURCE_WATCHER_STALLED: &str =
    "the generator does not report its result, and all attempts to recover it failed";
/// What a PackageSource says before its generator has a verdict.
pub const GENERATOR_NOT_READY: &str = "the generator has no Ready condition yet";

/// What stands for an object that may not be named.
fn named(reference: &Reference, names: &Names) -> String {
    if names.may_name(reference) { reference.to_string() } else { super::gate::HIDDEN.to_owned() }
}

/// Why an object is held, for its condition: `held: OBJECT: WHAT IS WRONG`.
#[must_use]
pub fn held(wait: &Wait, own: &Reference, names: &Names) -> String {
    match wait {
        Wait::Input(blockage) if matches!(blockage.trouble, Trouble::Unread(Unread::Forbidden)) => {
            forbidden("get", &blockage.at.kind.resource())
        }
        Wait::Input(blockage) => Finding::Premature((**blockage).clone()).held(own, names),
        Wait::Unreached(unreached) => Finding::NotReached(unreached.clone()).held(own, names),
        Wait::Silence { owner, .. } => format!("held: {} may still be applying", named(owner, names)),
        Wait::Owner { owner, state: OwnerState::Failed(blocker) } if names.may_quote(owner) => {
            format!("held: {}: did not end its apply: {}", named(owner, names), blocker.sentence())
        }
        Wait::Owner { owner, state: OwnerState::Failed(_) } => {
            format!("held: {}: did not end its apply", named(owner, names))
        }
        Wait::Owner { owner, .. } => format!("held: {} is still applying", named(owner, names)),
    }
}

/// An object is held although all it waits for is settled: something refused its release.
#[must_use]
pub fn release_refused(said: &str) -> String {
    format!("the release was refused: {}", clean(said.trim(), 400))
}

/// The companion may not do what it would do.
#[must_use]
pub fn forbidden(verb: &str, resource: &str) -> String {
    format!("held: Sluicegate may not {verb} {resource}")
}

/// An object was released.
#[must_use]
pub fn released() -> String {
    "resumed: all that it needs is settled".to_owned()
}

/// A held object is not to be resumed.
#[must_use]
pub fn vetoed() -> String {
    "held, and not resumed: the annotation sluicegate.dev/release says never".to_owned()
}

/// The mark went away, and the object stays suspended.
#[must_use]
pub fn mark_lost() -> String {
    "no longer held: the mark sluicegate.dev/held is gone; the object stays suspended until somebody resumes it"
        .to_owned()
}

/// An object has been held for too long.
#[must_use]
pub fn held_too_long(limit: TimeDelta, why: &str) -> String {
    format!("held for more than {}; {why}", duration(limit.num_seconds()))
}

/// Held objects that wait for each other: nothing will ever release them.
#[must_use]
pub fn held_loop(members: &[Reference], own: &Reference, names: &Names) -> String {
    let others = members.iter().filter(|member| *member != own).take(10);
    let mut shown: Vec<String> = others.map(|member| named(member, names)).collect();
    shown.dedup();
    let more = members.len().saturating_sub(11);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    if shown.is_empty() {
        return format!("{own} is held and waits for itself: it will not be released before that changes");
    }
    format!(
        "{own} is held together with {}{more}; they wait for each other, and will not be released before that changes",
        shown.join(", ")
    )
}

/// A loop that slipped in, told to one of its members, or to `own` as the owner of one.
#[must_use]
pub fn dependency_cycle(found: &Loop, own: &Reference, names: &Names) -> String {
    let at = found.steps.iter().position(|step| step.from == *own);
    let (before, after) = found.steps.split_at(at.unwrap_or_default());
    let steps = after.iter().chain(before);
    let links: Vec<Link> =
        steps.map(|step| Link { from: step.from.clone(), reason: step.need.reason, added: false }).collect();
    let first = links.first().map_or(own, |link| &link.from).clone();
    match links.as_slice() {
        [only] => Finding::SelfNeed(only.reason).message(&first, names),
        _ => Finding::Cycle { links, undo: None }.message(&first, names),
    }
}

/// What is wrong with a generator.
fn case(case: Case) -> &'static str {
    match case {
        Case::Stalled => "it has finished, and its Ready condition does not say so",
        Case::LostEdit => "its spec was edited during a build, and the edit was lost",
        Case::DigestBehind => "its sources have moved on, and it did not notice",
    }
}

/// An attempt was made.
#[must_use]
pub fn recovery_forced(attempt: u32, of: u32, why: Case) -> String {
    format!("asked for another pass, attempt {attempt} of {of}: {}", case(why))
}

/// The one attempt for an object that says it is outdated.
#[must_use]
pub fn refresh_forced() -> String {
    "asked for another pass: its artifact is the current one, and the condition ArtifactOutdated was left over"
        .to_owned()
}

/// The attempts are spent.
#[must_use]
pub fn recovery_gave_up(attempts: u32) -> String {
    format!("given up after {attempts} attempts: its controller does not report a result; somebody must look at it")
}

/// The one attempt did not help.
#[must_use]
pub fn refresh_gave_up() -> String {
    "given up: the condition ArtifactOutdated stays after another pass".to_owned()
}

/// The same, told to the owner of the object.
#[must_use]
pub fn owned_gave_up(object: &Reference, names: &Names) -> String {
    format!("{} is stalled, and recovery was given up", named(object, names))
}

/// Recovery worked, or the controller came to itself.
#[must_use]
pub fn recovered() -> String {
    "its controller reports a result again".to_owned()
}
