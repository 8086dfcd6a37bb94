//! What a decision has read so far. Each object is read at most once, whoever wants it.

use super::{Fetched, Read};
use crate::object::{Object, Reference, Unreadable};
use crate::settled::Snapshot;
use chrono::{DateTime, Utc};
use foldhash::fast::FixedState;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// Why an object could not be judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// The shell may not read the kind.
    Forbidden,
    /// The time for reading was over.
    OutOfTime,
    /// The decision has read as many objects as it may.
    OutOfBudget,
    /// A field of the object cannot be read.
    Unreadable(Unreadable),
    /// Anything else; hostile until cleaned.
    Failed(Box<str>),
}

/// What is known of an object.
#[derive(Debug)]
pub(crate) enum Known {
    /// It exists; with all its fields where it was read whole.
    Found(Box<Object>, Option<Box<Value>>),
    /// It does not exist.
    Absent,
    /// Its kind does not exist.
    KindAbsent,
    /// It could not be read.
    Unread(Unread),
}

/// An object that a store has a place for: found by comparing names once, and by its place from then on.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) reference: Arc<Reference>,
    place: usize,
}

impl Entry {
    /// A number of its own within the store; they begin at zero.
    pub(crate) fn place(&self) -> usize {
        self.place
    }
}

#[derive(Debug)]
struct Slot {
    reference: Arc<Reference>,
    known: Option<Known>,
    /// An expression will want it with all its fields, whoever reads it first.
    whole: bool,
    /// A read of it is under way.
    asked: bool,
}

/// The objects read so far, and how many more may be.
#[derive(Debug)]
pub(crate) struct Store {
    /// Where each object is in `slots`. Nothing depends on the order of a hash map. It is seeded with the time of the
    /// decision, so nobody can choose names that all end up in one place.
    places: HashMap<Arc<Reference>, usize, FixedState>,
    slots: Vec<Slot>,
    /// What was asked for and is not answered yet, in order, and whether it is read whole.
    awaited: Vec<(usize, bool)>,
    reads: usize,
    limit: usize,
}

impl Store {
    pub(crate) fn new(limit: usize, now: DateTime<Utc>) -> Self {
        let seed = now.timestamp_nanos_opt().unwrap_or_default().cast_unsigned();
        let places = HashMap::with_hasher(FixedState::with_seed(seed));
        Self { places, slots: Vec::new(), awaited: Vec::new(), reads: 0, limit }
    }

    /// The place of this object.
    pub(crate) fn entry(&mut self, reference: Reference) -> Entry {
        match self.places.get_key_value(&reference) {
            Some((reference, place)) => Entry { reference: Arc::clone(reference), place: *place },
            None => self.add(Arc::new(reference)),
        }
    }

    fn add(&mut self, reference: Arc<Reference>) -> Entry {
        let place = self.slots.len();
        self.slots.push(Slot { reference: Arc::clone(&reference), known: None, whole: false, asked: false });
        self.places.insert(Arc::clone(&reference), place);
        Entry { reference, place }
    }

    fn place(&mut self, reference: &Reference) -> usize {
        match self.places.get(reference) {
            Some(place) => *place,
            None => self.add(Arc::new(reference.clone())).place,
        }
    }

    /// These are to be read whole.
    pub(crate) fn read_whole(&mut self, references: impl Iterator<Item = Reference>) {
        for reference in references {
            let place = self.entry(reference).place;
            if let Some(slot) = self.slots.get_mut(place) {
                slot.whole = true;
            }
        }
    }

    /// The reads that are still needed to know all of `wanted`, in their order; they are to be answered next, with
    /// [`Store::answer`]. What cannot exist (a name is left out, or is none that Kubernetes stores) is known to be
    /// absent; what the budget does not allow is known to be unread.
    pub(crate) fn want<'r>(&mut self, wanted: impl Iterator<Item = (&'r Reference, bool)>) -> Vec<Read> {
        let mut reads = Vec::new();
        for (reference, whole) in wanted {
            let place = self.place(reference);
            self.ask(place, whole, &mut reads);
        }
        reads
    }

    /// As [`Store::want`], none of them whole.
    pub(crate) fn want_entries<'r>(&mut self, wanted: impl Iterator<Item = &'r Entry>) -> Vec<Read> {
        let mut reads = Vec::new();
        for entry in wanted {
            self.ask(entry.place, false, &mut reads);
        }
        reads
    }

    fn ask(&mut self, place: usize, whole: bool, reads: &mut Vec<Read>) {
        let Some(slot) = self.slots.get_mut(place).filter(|slot| slot.known.is_none() && !slot.asked) else { return };
        if !slot.reference.can_exist() {
            slot.known = Some(Known::Absent);
        } else if self.reads >= self.limit {
            slot.known = Some(Known::Unread(Unread::OutOfBudget));
        } else {
            self.reads += 1;
            slot.asked = true;
            let whole = whole || slot.whole;
            self.awaited.push((place, whole));
            reads.push(Read { reference: Reference::clone(&slot.reference), whole });
        }
    }

    /// Takes in what the reads that were asked for last have found, in their order. Those that are not answered failed.
    pub(crate) fn answer(&mut self, fetched: Vec<Fetched>) {
        let mut fetched = fetched.into_iter();
        for (place, whole) in std::mem::take(&mut self.awaited) {
            let found = fetched.next().unwrap_or_else(no_answer);
            if let Some(slot) = self.slots.get_mut(place) {
                slot.known = Some(known(&slot.reference, whole, found));
            }
        }
    }

    pub(crate) fn known(&self, entry: &Entry) -> Option<&Known> {
        self.slots.get(entry.place)?.known.as_ref()
    }

    /// The object in this place, if it was found.
    pub(crate) fn found(&self, entry: &Entry) -> Option<&Object> {
        match self.known(entry)? {
            Known::Found(object, _) => Some(object),
            _ => None,
        }
    }

    pub(crate) fn get(&self, reference: &Reference) -> Option<&Known> {
        self.slots.get(*self.places.get(reference)?)?.known.as_ref()
    }

    /// The object with all its fields, if it was read so.
    pub(crate) fn whole(&self, reference: &Reference) -> Option<&Value> {
        match self.get(reference)? {
            Known::Found(_, value) => value.as_deref(),
            _ => None,
        }
    }
}

impl Snapshot for Store {
    fn object(&self, reference: &Reference) -> Option<&Object> {
        match self.get(reference)? {
            Known::Found(object, _) => Some(object),
            _ => None,
        }
    }
}

/// What a read that nobody answered has found.
pub(super) fn no_answer() -> Fetched {
    Fetched::Failed("no answer".into())
}

fn known(reference: &Reference, whole: bool, fetched: Fetched) -> Known {
    match fetched {
        Fetched::Found(json) => match Object::decode(reference, &json) {
            Ok(object) => {
                // Deeper than serde_json's limit of 128 levels is no error here: the expression that wants the object
                // says so.
                let value = if whole { serde_json::from_slice(&json).ok().map(Box::new) } else { None };
                Known::Found(Box::new(object), value)
            }
            Err(unreadable) => Known::Unread(Unread::Unreadable(unreadable)),
        },
        Fetched::Absent => Known::Absent,
        Fetched::KindAbsent => Known::KindAbsent,
        Fetched::Forbidden => Known::Unread(Unread::Forbidden),
        Fetched::OutOfTime => Known::Unread(Unread::OutOfTime),
        Fetched::Failed(text) => Known::Unread(Unread::Failed(text)),
    }
}
