//! What is known of each object: as it was read, with the answer in whole for expressions, writes and field managers.

use crate::gate::{Fetched, Unread};
use crate::object::{Object, Reference, Switch};
use crate::settled::Snapshot;
use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// An object that is there.
#[derive(Clone, Debug)]
pub struct Found {
    /// The fields that are judged.
    pub object: Object,
    json: Box<[u8]>,
    meta: Meta,
}

/// What is known of an object.
#[derive(Clone, Debug)]
pub enum Known {
    /// It is there.
    Found(Box<Found>),
    /// It is not there.
    Absent,
    /// Its kind is not there.
    KindAbsent,
    /// It could not be read.
    Unread(Unread),
}

/// The manager that owns the suspend switch, as far as `managedFields` tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspender {
    /// The name of the manager; hostile until cleaned.
    pub manager: Box<str>,
    /// Whether it applied the switch, that is, declares it.
    pub applied: bool,
    /// When it last wrote.
    pub time: Option<DateTime<Utc>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Meta {
    uid: Option<Box<str>>,
    resource_version: Option<Box<str>>,
    annotations: Option<BTreeMap<Box<str>, Box<str>>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Managers {
    managed_fields: Option<Vec<Managed>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Managed {
    manager: Option<Box<str>>,
    operation: Option<Box<str>>,
    time: Option<Box<str>>,
    fields_v1: Option<Value>,
}

#[derive(Deserialize)]
struct Envelope<M> {
    metadata: Option<M>,
}

impl Found {
    fn read(reference: &Reference, json: Vec<u8>) -> Result<Self, Unread> {
        let object = Object::decode(reference.clone(), &json).map_err(Unread::Unreadable)?;
        // Whatever cannot be read of this is left out: no decision rests on it alone.
        let envelope = serde_json::from_slice::<Envelope<Meta>>(&json).ok();
        let meta = envelope.and_then(|envelope| envelope.metadata).unwrap_or_default();
        Ok(Self { object, json: json.into(), meta })
    }

    /// The object as it was read.
    #[must_use]
    pub fn json(&self) -> &[u8] {
        &self.json
    }

    /// `metadata.uid`: another one says that the object was deleted and made anew.
    #[must_use]
    pub fn uid(&self) -> &str {
        self.meta.uid.as_deref().unwrap_or_default()
    }

    /// `metadata.resourceVersion`
    #[must_use]
    pub fn resource_version(&self) -> &str {
        self.meta.resource_version.as_deref().unwrap_or_default()
    }

    /// The value of any annotation.
    #[must_use]
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.meta.annotations.as_ref()?.get(key).map(|value| &**value)
    }

    /// Who owns the suspend switch. `None` where nobody does: not suspended, read without managed fields, or after a
    /// hold, which belongs to no manager.
    #[must_use]
    pub fn suspender(&self) -> Option<Suspender> {
        if !self.object.is_suspended() {
            return None;
        }
        let way: [&str; 3] = match self.object.reference.kind.row().switch {
            Switch::Spec => ["f:spec", "f:suspend", ""],
            Switch::Annotation(key) => ["f:metadata", "f:annotations", key],
            Switch::None => return None,
        };
        let [outer, inner, key] = way;
        let owns = |entry: &&Managed| {
            let inner = entry.fields_v1.as_ref().and_then(|fields| fields.get(outer)?.get(inner));
            inner.is_some_and(|inner| key.is_empty() || inner.get(format!("f:{key}")).is_some())
        };
        let managers = serde_json::from_slice::<Envelope<Managers>>(&self.json).ok()?.metadata?.managed_fields?;
        let entry = managers.iter().filter(owns).max_by_key(|entry| entry.time.clone())?;
        Some(Suspender {
            manager: entry.manager.clone().unwrap_or_default(),
            applied: entry.operation.as_deref() == Some("Apply"),
            time: entry.time.as_deref().and_then(time),
        })
    }

    fn is_older_than(&self, other: &Self) -> bool {
        let number = |found: &Self| found.resource_version().parse::<u128>().ok();
        let older = number(self).zip(number(other)).is_some_and(|(own, other)| own < other);
        older && self.uid() == other.uid()
    }
}

/// A time as Kubernetes writes it.
pub(crate) fn time(text: &str) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc3339(text).ok().map(|time| time.with_timezone(&Utc))
}

/// What taking in an answer changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing: it says what was known, or is older than that.
    None,
    /// Something.
    Changed,
    /// Another object of the same name: it was deleted and made anew.
    Recreated,
}

/// All that is known. Answers may come in any order: an older one never replaces a newer one.
#[derive(Clone, Debug, Default)]
pub struct World {
    known: BTreeMap<Reference, Known>,
    /// The UID that each object had last, also of those that are not there any more.
    uids: BTreeMap<Reference, Box<str>>,
}

impl World {
    /// Nothing is known.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in what a read found.
    pub fn insert(&mut self, reference: &Reference, fetched: Fetched) -> Change {
        let known = match fetched {
            Fetched::Found(json) => match Found::read(reference, json) {
                Ok(found) => Known::Found(Box::new(found)),
                Err(why) => Known::Unread(why),
            },
            Fetched::Absent => Known::Absent,
            Fetched::KindAbsent => Known::KindAbsent,
            Fetched::Forbidden => Known::Unread(Unread::Forbidden),
            Fetched::OutOfTime => Known::Unread(Unread::OutOfTime),
            Fetched::Failed(text) => Known::Unread(Unread::Failed(text)),
        };
        let other = |uid: &str| self.uids.get(reference).is_some_and(|last| **last != *uid);
        let change = match (self.known.get(reference), &known) {
            (Some(Known::Found(old)), Known::Found(new)) if new.is_older_than(old) || new.json == old.json => {
                return Change::None;
            }
            (_, Known::Found(new)) if other(new.uid()) => Change::Recreated,
            (Some(Known::Absent), Known::Absent) | (Some(Known::KindAbsent), Known::KindAbsent) => Change::None,
            (Some(Known::Unread(old)), Known::Unread(new)) if old == new => Change::None,
            _ => Change::Changed,
        };
        if change != Change::None {
            if let Known::Found(found) = &known {
                self.uids.insert(reference.clone(), found.uid().into());
            }
            self.known.insert(reference.clone(), known);
        }
        change
    }

    /// What is known of an object; `None` where it was not read yet.
    #[must_use]
    pub fn get(&self, reference: &Reference) -> Option<&Known> {
        self.known.get(reference)
    }

    /// The object, if it is there.
    #[must_use]
    pub fn found(&self, reference: &Reference) -> Option<&Found> {
        match self.known.get(reference)? {
            Known::Found(found) => Some(found),
            _ => None,
        }
    }

    /// The object with all its fields; `None` also where it is nested too deep.
    pub(crate) fn whole(&self, reference: &Reference) -> Option<Value> {
        serde_json::from_slice(&self.found(reference)?.json).ok()
    }
}

impl Snapshot for World {
    fn object(&self, reference: &Reference) -> Option<&Object> {
        Some(&self.found(reference)?.object)
    }
}
