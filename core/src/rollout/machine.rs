//! The machine: it remembers what was asked, what was written and what each object did.

use super::apply::{Applied, of_object};
use super::unit::{Phase, Proof, Span, Unit, is_blip};
use super::verdict::{Verdict, dead, unreadable};
use crate::chain::{Asked, Change, Cone, Judgement, State, World, duration, judge};
use crate::gate::is_vetoed;
use crate::object::{Object, Reference};
use crate::settled::{self, Blocker};
use crate::text::rollout as text;
use chrono::{DateTime, TimeDelta, Utc};
use std::collections::{BTreeMap, BTreeSet};

/// The annotation with which an object sets its own limit.
const TIMEOUT: &str = "sluicegate.dev/timeout";

/// What is asked of the roll-out.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Ask each target, and the sources it is made of, to reconcile: a consumer once its sources are settled.
    pub reconcile: bool,
    /// Resume suspended members, each once all that it needs before is settled.
    pub resume: bool,
    /// Leave out suspended objects, and what only they need.
    pub ignore_suspended: bool,
    /// The revision that the root sources must show.
    pub expected: Option<Box<str>>,
    /// Whether `readyExpr` adds to the built-in test.
    pub additive: bool,
    /// How long the whole may take.
    pub timeout: Option<TimeDelta>,
    /// How long an object may take once nothing is left that it waits for; an annotation on the object wins.
    pub unit_timeout: Option<TimeDelta>,
    /// The type of a condition and a text: it is over once the condition of each target has it as status or reason, or
    /// in its message.
    pub exit_condition: Option<(Box<str>, Box<str>)>,
}

/// Something to write.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Act {
    /// Ask it to reconcile. Sources first: the others follow as these are settled.
    Request(Reference),
    /// Resume it.
    Resume(Reference),
}

/// A change that is worth a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct News {
    /// The object.
    pub at: Reference,
    /// What it does now.
    pub phase: Phase,
    /// The sentence that follows its name.
    pub text: String,
}

/// What a look found.
#[derive(Clone, Debug)]
pub struct Look {
    /// How it stands.
    pub verdict: Verdict,
    /// The chain.
    pub judgement: Judgement,
    /// Objects to be read, and followed from then on.
    pub wants: Vec<Reference>,
    /// What is to be written now.
    pub acts: Vec<Act>,
    /// What has changed since the last look.
    pub news: Vec<News>,
    /// When to look again if nothing changes.
    pub wake: Option<DateTime<Utc>>,
}

/// A write of ours.
#[derive(Clone, Debug)]
struct Write {
    uid: Box<str>,
    token: Box<str>,
    generation: i64,
    handled: bool,
}

/// A roll-out that is waited for.
#[derive(Clone, Debug)]
pub struct Rollout {
    options: Options,
    cone: Cone,
    started: DateTime<Utc>,
    units: BTreeMap<Reference, Unit>,
    writes: BTreeMap<Reference, Write>,
    recreated: BTreeSet<Reference>,
}

impl Rollout {
    /// Waits for these objects from now on.
    #[must_use]
    pub fn new(targets: impl IntoIterator<Item = Reference>, options: Options, now: DateTime<Utc>) -> Self {
        let cone = Cone::new(targets, options.ignore_suspended);
        let (units, writes, recreated) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        Self { options, cone, started: now, units, writes, recreated }
    }

    /// An object is another one than before in the world.
    pub fn changed(&mut self, reference: &Reference, change: Change, world: &World) {
        if change == Change::Recreated {
            self.recreated.insert(reference.clone());
        }
        if change != Change::None {
            self.cone.changed(reference, world);
        }
    }

    /// A write of ours came to be: the object as the API server returned it is in the world by now.
    pub fn wrote(&mut self, reference: &Reference, token: &str, world: &World) {
        let Some(found) = world.found(reference) else { return };
        let write = Write {
            uid: found.uid().into(),
            token: token.into(),
            generation: found.object.metadata.generation.unwrap_or_default(),
            handled: false,
        };
        self.writes.insert(reference.clone(), write);
    }

    /// What is waited for.
    #[must_use]
    pub fn targets(&self) -> &[Reference] {
        self.cone.targets()
    }

    /// When it began.
    #[must_use]
    pub fn started(&self) -> DateTime<Utc> {
        self.started
    }

    /// All objects of the roll-out with what they did.
    #[must_use]
    pub fn units(&self) -> &BTreeMap<Reference, Unit> {
        &self.units
    }

    /// Looks at it as it is known now.
    pub fn look(&mut self, world: &World, now: DateTime<Utc>) -> Look {
        let mut wants: BTreeSet<Reference> = self.cone.grow(world).into_iter().collect();
        let own = self.own_blockers(world);
        let asked = Asked { expected: self.options.expected.clone(), additive: self.options.additive, own };
        let judgement = judge(&self.cone, world, &asked);
        // What is not known yet looks settled: nothing is said or done before the chain is whole.
        let complete = judgement.unknown == 0;
        let news = if complete { self.remember(&judgement, world, now) } else { Vec::new() };
        let pending = self.to_request(world);
        let acts = if complete { self.acts(&pending, &judgement, world, &mut wants) } else { Vec::new() };
        let dead = if complete && !judgement.is_settled() {
            dead(&self.options, &self.cone, &judgement, world, &pending, &mut wants)
        } else {
            None
        };
        let (over, wake) = self.limits(world, now);
        let verdict = if self.is_met(world) {
            Verdict::Met
        } else if judgement.is_settled() && pending.is_empty() && acts.is_empty() {
            Verdict::Done
        } else if let Some(dead) = dead {
            Verdict::Blocked(dead)
        } else if let Some(root) = unreadable(&self.cone, &judgement) {
            Verdict::Unreadable(root)
        } else {
            over.map_or(Verdict::Waiting, Verdict::TimedOut)
        };
        Look { verdict, judgement, wants: wants.into_iter().collect(), acts, news, wake }
    }

    /// What stands in the way for reasons that the object may not show: a request of ours that somebody took off again, a
    /// generation of ours that an older answer does not have.
    fn own_blockers(&mut self, world: &World) -> BTreeMap<Reference, Blocker> {
        let mut own = BTreeMap::new();
        self.writes.retain(|reference, write| {
            let Some(found) = world.found(reference) else { return true };
            if found.uid() != &*write.uid {
                return false;
            }
            let handled = found.object.status.last_handled_reconcile_at.as_deref();
            let asked = found.object.metadata.annotations.as_ref().and_then(|own| own.requested_at.as_deref());
            // Whoever asked later has asked for a later pass.
            write.handled |= handled == Some(&*write.token) || (asked.is_some() && asked == handled);
            let generation = found.object.metadata.generation.unwrap_or_default();
            let observed = found.object.status.observed_generation.unwrap_or_default();
            if !write.handled {
                let (requested, handled) = (write.token.clone(), handled.map(Into::into));
                own.insert(reference.clone(), Blocker::RequestNotHandled { requested, handled });
            } else if generation < write.generation {
                let generation = write.generation;
                own.insert(reference.clone(), Blocker::GenerationNotObserved { generation, observed });
            }
            true
        });
        own
    }

    /// The objects that `--reconcile` is about and that were not asked yet: the targets, and the sources they are made of.
    fn to_request(&self, world: &World) -> BTreeSet<Reference> {
        let mut found = BTreeSet::new();
        if !self.options.reconcile {
            return found;
        }
        let (mut seen, mut open) = (BTreeSet::new(), self.cone.targets().to_vec());
        while let Some(reference) = open.pop() {
            let Some(object) = world.found(&reference).map(|found| &found.object) else { continue };
            if !seen.insert(reference.clone()) || (self.options.ignore_suspended && object.is_suspended()) {
                continue;
            }
            let can = settled::handles_requests(object) && !object.is_suspended() && !object.is_deleting();
            if can && !self.writes.contains_key(&reference) {
                found.insert(reference);
            }
            open.extend(settled::inputs(object).into_iter().map(|need| need.target));
        }
        found
    }

    fn acts(
        &self,
        pending: &BTreeSet<Reference>,
        judgement: &Judgement,
        world: &World,
        wants: &mut BTreeSet<Reference>,
    ) -> Vec<Act> {
        let mut acts = Vec::new();
        for (member, state) in &judgement.states {
            let Some(object) = world.found(member).map(|found| &found.object) else { continue };
            if !state.has_its_inputs() || object.is_deleting() || is_behind(object, pending, world) {
                continue;
            }
            if pending.contains(member) {
                acts.push(Act::Request(member.clone()));
            }
            if self.options.resume && state.required && object.is_suspended() && !is_vetoed(object) {
                // Its owner may be about to change it: resumed now, it would do what it did before.
                match of_object(object, judgement, world, pending) {
                    Applied::Past => acts.push(Act::Resume(member.clone())),
                    Applied::Ahead => {}
                    Applied::Unknown(unknown) => wants.extend(unknown),
                }
            }
        }
        acts
    }

    fn remember(&mut self, judgement: &Judgement, world: &World, now: DateTime<Utc>) -> Vec<News> {
        let mut news = Vec::new();
        for reference in std::mem::take(&mut self.recreated) {
            let phase = self.units.get(&reference).map_or(Phase::Works, |unit| unit.phase);
            news.push(News { at: reference, phase, text: text::RECREATED.to_owned() });
        }
        for (member, state) in &judgement.states {
            let object = world.found(member).map(|found| &found.object);
            let phase = Phase::of(state);
            let why = text::why(member, phase, state, object);
            let alone = state.waits.is_empty() && phase != Phase::Settled;
            let Some(unit) = self.units.get_mut(member) else {
                let unit = Unit {
                    phase,
                    why: why.clone(),
                    since: now,
                    alone_since: alone.then_some(now),
                    spans: vec![Span { phase, from: now }],
                    required: state.required,
                    proof: object.filter(|_| phase == Phase::Settled).map(Proof::of),
                };
                self.units.insert(member.clone(), unit);
                if phase != Phase::Settled {
                    news.push(News { at: member.clone(), phase, text: why });
                }
                continue;
            };
            unit.required = state.required;
            let same = unit.phase == Phase::Settled && is_a_blip(state, object, unit.proof.as_ref());
            if same || (unit.phase == phase && unit.why == why) {
                continue;
            }
            if unit.phase != phase {
                unit.spans.push(Span { phase, from: now });
            }
            unit.alone_since = if alone { unit.alone_since.or(Some(now)) } else { None };
            unit.since = now;
            unit.phase = phase;
            unit.why.clone_from(&why);
            unit.proof = object.filter(|_| phase == Phase::Settled).map(Proof::of);
            news.push(News { at: member.clone(), phase, text: why });
        }
        self.units.retain(|member, _| judgement.states.contains_key(member));
        news
    }

    /// Whether a limit is over, and when the next one will be.
    #[allow(clippy::type_complexity, reason = "a verdict's inside")]
    fn limits(
        &self,
        world: &World,
        now: DateTime<Utc>,
    ) -> (Option<Option<(Reference, TimeDelta)>>, Option<DateTime<Utc>>) {
        let mut ends: Vec<(DateTime<Utc>, Option<(Reference, TimeDelta)>)> = Vec::new();
        ends.extend(self.options.timeout.and_then(|limit| Some((self.started.checked_add_signed(limit)?, None))));
        for (member, unit) in self.units.iter().filter(|(_, unit)| unit.required) {
            let Some(since) = unit.alone_since else { continue };
            let annotation = world.found(member).and_then(|found| found.annotation(TIMEOUT));
            let Some(limit) = annotation.and_then(duration).or(self.options.unit_timeout) else { continue };
            ends.extend(since.checked_add_signed(limit).map(|end| (end, Some((member.clone(), limit)))));
        }
        let first = ends.into_iter().min_by(|a, b| a.0.cmp(&b.0));
        match first {
            Some((end, of)) if end <= now => (Some(of), None),
            Some((end, _)) => (None, Some(end)),
            None => (None, None),
        }
    }

    fn is_met(&self, world: &World) -> bool {
        let Some((key, wanted)) = &self.options.exit_condition else { return false };
        let wanted: &str = wanted;
        self.cone.targets().iter().all(|target| {
            let condition = world.found(target).and_then(|found| found.object.condition(key));
            condition.is_some_and(|condition| {
                condition.status.as_deref() == Some(wanted)
                    || condition.reason.as_deref() == Some(wanted)
                    || condition.message.as_deref().is_some_and(|message| message.contains(wanted))
            })
        })
    }
}

/// Whether something that this object is made of is still to be asked.
pub(super) fn is_behind(object: &Object, pending: &BTreeSet<Reference>, world: &World) -> bool {
    if pending.is_empty() {
        return false;
    }
    let (mut seen, mut open) = (BTreeSet::from([object.reference.clone()]), vec![object]);
    while let Some(here) = open.pop() {
        for need in settled::inputs(here) {
            if seen.insert(need.target.clone()) {
                if pending.contains(&need.target) {
                    return true;
                }
                open.extend(world.found(&need.target).map(|found| &found.object));
            }
        }
    }
    false
}

fn is_a_blip(state: &State, object: Option<&Object>, proof: Option<&Proof>) -> bool {
    is_blip(state) && !state.is_settled() && object.map(Proof::of).as_ref() == proof
}
