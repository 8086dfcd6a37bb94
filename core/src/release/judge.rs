//! The judgement of one held object.

use super::owner::{Activity, OwnerState, silent_at};
use super::{Marked, Settings};
use crate::gate::cone::{Cone, Resumed};
use crate::gate::reached::Reached;
use crate::gate::store::Store;
use crate::gate::{Blockage, Cause, Fetched, Read, Unreached};
use crate::object::{Kind, Object, Reference, Switch};
use crate::ordered::set_of;
use chrono::{DateTime, Utc};
use serde_json::Value;
use std::collections::BTreeSet;

/// What an object waits for.
#[derive(Clone, Debug, PartialEq)]
pub enum Wait {
    /// Its owner has not ended the apply that was held, or failed in it.
    Owner {
        /// The owner.
        owner: Reference,
        /// Where its apply stands.
        state: OwnerState,
    },
    /// It must be silent around its owner until then.
    Silence {
        /// The owner.
        owner: Reference,
        /// Until when.
        until: DateTime<Utc>,
    },
    /// An input is not settled, or could not be judged.
    Input(Box<Blockage>),
    /// Another Kustomization that reads the same source is not past its apply of an input.
    Unreached(Unreached),
}

/// The end of a judgement.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It may be resumed now.
    Now,
    /// It waits.
    Waits(Wait),
}

/// What the judgement wants next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Read these, in this order; the first batch is the owners, before any input.
    Read(Vec<Read>),
    /// The end; nothing more will be asked.
    Done(Outcome),
}

enum Phase {
    Owners,
    Cone(Cone),
    Others(Box<Cone>, Reached),
    Done(Outcome),
}

/// One judgement under way.
pub struct Release {
    object: Object,
    whole: Option<Value>,
    settings: Settings,
    now: DateTime<Utc>,
    /// The owners to be looked at, each with the time from which its silence counts.
    owners: Vec<(Reference, DateTime<Utc>)>,
    store: Store,
    phase: Phase,
    looked_at: BTreeSet<Reference>,
}

impl Release {
    /// Starts to judge a held object, given as it is stored.
    ///
    /// `first_seen` is when the companion first saw the mark.
    #[must_use]
    pub fn new(
        (object, json): (Object, &[u8]),
        marked: &Marked,
        settings: Settings,
        activity: &Activity,
        first_seen: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Self {
        let awaited = marked.cause() == Cause::NotReached;
        let owners = object.owners().0.into_iter().map(|owner| owner.0).filter(|_| awaited);
        let silent = |owner: Reference| {
            let at = silent_at(marked.made(), first_seen, activity.get(&owner).copied(), settings.settle, now);
            (owner, at)
        };
        let owners: Vec<_> = owners.filter(|owner| *owner != object.reference).map(silent).collect();
        Self::start((object, json), owners, settings, now)
    }

    /// Starts to judge a suspended object that a person asks to resume: it carries no mark, and no apply is waited for.
    #[must_use]
    pub fn asked((object, json): (Object, &[u8]), settings: Settings, now: DateTime<Utc>) -> Self {
        Self::start((object, json), Vec::new(), settings, now)
    }

    fn start(
        (object, json): (Object, &[u8]),
        owners: Vec<(Reference, DateTime<Utc>)>,
        settings: Settings,
        now: DateTime<Utc>,
    ) -> Self {
        let mut store = Store::new(settings.max_reads, now);
        let targets: Vec<_> = object.input_needs().into_iter().filter(|need| need.is_expression()).collect();
        let whole = if targets.is_empty() { None } else { resumed_whole(&object, json) };
        store.read_whole(targets.into_iter().map(|need| need.target));
        let (phase, looked_at) = (Phase::Owners, BTreeSet::new());
        Self { object, whole, settings, now, owners, store, phase, looked_at }
    }

    /// What is wanted next. Asking again without an answer gives up on it: what is missing counts as not judged.
    pub fn step(&mut self) -> Step {
        self.answer(Vec::new());
        loop {
            let reads = match std::mem::replace(&mut self.phase, Phase::Owners) {
                Phase::Owners => self.judge_owners(),
                Phase::Cone(cone) => self.judge_inputs(cone),
                Phase::Others(cone, reached) => self.judge_others(cone, reached),
                Phase::Done(outcome) => {
                    self.phase = Phase::Done(outcome.clone());
                    return Step::Done(outcome);
                }
            };
            if let Some(reads) = reads {
                self.looked_at.extend(reads.iter().map(|read| read.reference.clone()));
                return Step::Read(reads);
            }
        }
    }

    /// Takes the answers to the last step, one for each read in order. What is missing counts as not judged.
    pub fn answer(&mut self, fetched: Vec<Fetched>) {
        self.store.answer(fetched);
    }

    /// All objects that were looked at: a change of one of them may change the answer.
    #[must_use]
    pub fn looked_at(&self) -> &BTreeSet<Reference> {
        &self.looked_at
    }

    fn end(&mut self, outcome: Outcome) -> Option<Vec<Read>> {
        self.phase = Phase::Done(outcome);
        None
    }

    fn wait(&mut self, wait: Wait) -> Option<Vec<Read>> {
        self.end(Outcome::Waits(wait))
    }

    fn judge_owners(&mut self) -> Option<Vec<Read>> {
        let reads = self.store.want(self.owners.iter().map(|(owner, _)| (owner, false)));
        if !reads.is_empty() {
            self.phase = Phase::Owners;
            return Some(reads);
        }
        for (owner, silent_at) in self.owners.clone() {
            match OwnerState::of(&owner, self.store.get(&owner)) {
                OwnerState::Past => {}
                // A ResourceSet and a HelmRelease apply too, but their status does not tell how far they are.
                OwnerState::Unknown if silent_at > self.now => {
                    return self.wait(Wait::Silence { owner, until: silent_at });
                }
                OwnerState::Unknown => {}
                state => return self.wait(Wait::Owner { owner, state }),
            }
        }
        let cone = Cone::new(&self.resumed());
        self.phase = Phase::Cone(cone);
        None
    }

    fn judge_inputs(&mut self, mut cone: Cone) -> Option<Vec<Read>> {
        let resumed =
            Resumed { object: &self.object, whole: self.whole.as_ref(), additive: self.settings.additive_ready_expr };
        if let Some(reads) = cone.advance(&resumed, &mut self.store) {
            self.phase = Phase::Cone(cone);
            return Some(reads);
        }
        self.looked_at.extend(cone.members().cloned());
        if let Some(blockage) = cone.blockage(&self.object, &self.store, self.now) {
            return self.wait(Wait::Input(Box::new(blockage)));
        }
        if self.owners.iter().all(|(owner, _)| owner.kind != Kind::Kustomization) {
            return self.end(Outcome::Now);
        }
        let reached = Reached::of_others(&self.object, &cone, &self.store);
        self.phase = Phase::Others(Box::new(cone), reached);
        None
    }

    fn judge_others(&mut self, cone: Box<Cone>, mut reached: Reached) -> Option<Vec<Read>> {
        if let Some(reads) = reached.advance(&mut self.store) {
            self.phase = Phase::Others(cone, reached);
            return Some(reads);
        }
        match reached.unreached() {
            Some(unreached) => {
                let unreached = unreached.clone();
                self.wait(Wait::Unreached(unreached))
            }
            None => self.end(Outcome::Now),
        }
    }

    fn resumed(&self) -> Resumed<'_> {
        Resumed { object: &self.object, whole: self.whole.as_ref(), additive: self.settings.additive_ready_expr }
    }

    /// The owners that this judgement looks at.
    #[must_use]
    pub fn owners(&self) -> BTreeSet<Reference> {
        set_of(self.owners.iter().map(|(owner, _)| owner.clone()))
    }
}

/// The object with all its fields as an expression will see it once it is resumed. `None` where it is nested too deep:
/// then the expression is not evaluated, and says so.
fn resumed_whole(object: &Object, json: &[u8]) -> Option<Value> {
    let mut whole: Value = serde_json::from_slice(json).ok()?;
    match object.reference.kind.row().switch {
        Switch::Spec => drop(whole.get_mut("spec").and_then(Value::as_object_mut)?.remove("suspend")),
        Switch::Annotation(key) => drop(whole.pointer_mut("/metadata/annotations")?.as_object_mut()?.remove(key)),
        Switch::None => {}
    }
    Some(whole)
}
