//! What a decision has read so far. Each object is read at most once, whoever wants it.

use super::{Fetched, Read};
use crate::object::{Object, Reference, Unreadable};
use crate::settled::Snapshot;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

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

/// The objects read so far, and how many more may be.
#[derive(Debug)]
pub(crate) struct Store {
    known: BTreeMap<Reference, Known>,
    /// What an expression will want with all its fields, whoever reads it first.
    whole: BTreeSet<Reference>,
    reads: usize,
    limit: usize,
}

impl Store {
    pub(crate) fn new(limit: usize) -> Self {
        Self { known: BTreeMap::new(), whole: BTreeSet::new(), reads: 0, limit }
    }

    /// These are to be read whole.
    pub(crate) fn read_whole(&mut self, references: impl Iterator<Item = Reference>) {
        self.whole.extend(references);
    }

    /// The reads that are still needed to know all of `wanted`, in their order. What cannot exist (a name is left out,
    /// or is none that Kubernetes stores) is known to be absent; what the budget does not allow is known to be unread.
    pub(crate) fn want<'r>(&mut self, wanted: impl Iterator<Item = (&'r Reference, bool)>) -> Vec<Read> {
        let mut reads: Vec<Read> = Vec::new();
        let mut asked = BTreeSet::new();
        for (reference, whole) in wanted {
            if self.known.contains_key(reference) || !asked.insert(reference) {
                continue;
            }
            let known = if !reference.can_exist() {
                Known::Absent
            } else if self.reads >= self.limit {
                Known::Unread(Unread::OutOfBudget)
            } else {
                self.reads += 1;
                let whole = whole || self.whole.contains(reference);
                reads.push(Read { reference: reference.clone(), whole });
                continue;
            };
            self.known.insert(reference.clone(), known);
        }
        reads
    }

    /// Takes in what a read found.
    pub(crate) fn insert(&mut self, read: Read, fetched: Fetched) {
        let Read { reference, whole } = read;
        let known = match fetched {
            Fetched::Found(json) => match Object::decode(reference.clone(), &json) {
                Ok(object) => {
                    // Deeper than serde_json's limit of 128 levels is no error here: the expression that wants the
                    // object says so.
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
        };
        self.known.insert(reference, known);
    }

    pub(crate) fn get(&self, reference: &Reference) -> Option<&Known> {
        self.known.get(reference)
    }

    /// The object with all its fields, if it was read so.
    pub(crate) fn whole(&self, reference: &Reference) -> Option<&Value> {
        match self.known.get(reference)? {
            Known::Found(_, value) => value.as_deref(),
            _ => None,
        }
    }
}

impl Snapshot for Store {
    fn object(&self, reference: &Reference) -> Option<&Object> {
        match self.known.get(reference)? {
            Known::Found(object, _) => Some(object),
            _ => None,
        }
    }
}
