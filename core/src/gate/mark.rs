//! The life of a mark. Only the gate adds or changes a mark; the companion and persons may remove it.

use super::mutation::{HELD, RESUME};
use super::{Asker, Role};
use crate::object::{Kind, Object, Switch};
use crate::ordered::map_of;
use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Why an object is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Something in the input cone was not settled.
    Premature,
    /// Something in the input cone may not have been reached by the same apply. Wins where both are true.
    NotReached,
}

impl Cause {
    /// As the mark spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Premature => "premature",
            Self::NotReached => "not-reached",
        }
    }
}

/// The annotation that a hold leaves.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// Who was held, or who asked for the mark.
    pub applier: Applier,
    /// When; RFC 3339.
    pub at: DateTimeText,
    /// Why.
    pub cause: Cause,
}

/// Who was held.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Applier {
    /// The user of the request.
    pub user: Box<str>,
    /// The field manager of the request.
    pub manager: Box<str>,
}

/// A time that is kept as written, and has been checked to be one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct DateTimeText(String, DateTime<Utc>);

impl TryFrom<String> for DateTimeText {
    type Error = chrono::ParseError;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        let time = DateTime::parse_from_rfc3339(&text)?.with_timezone(&Utc);
        Ok(Self(text, time))
    }
}

impl From<DateTimeText> for String {
    fn from(time: DateTimeText) -> Self {
        time.0
    }
}

impl Mark {
    /// A mark made now.
    #[must_use]
    pub fn new(user: &str, manager: Option<&str>, now: DateTime<Utc>, cause: Cause) -> Self {
        let applier = Applier { user: user.into(), manager: manager.unwrap_or_default().into() };
        Self { applier, at: DateTimeText(now.to_rfc3339_opts(SecondsFormat::Secs, true), now), cause }
    }

    /// Reads the annotation; anything that is not exactly a mark counts as none.
    #[must_use]
    pub fn parse(annotation: &str) -> Option<Self> {
        serde_json::from_str(annotation).ok()
    }

    /// When the mark was made.
    #[must_use]
    pub fn made(&self) -> DateTime<Utc> {
        self.at.1
    }

    /// The annotation.
    #[must_use]
    pub fn render(&self) -> Box<str> {
        // Strings and an enum: this cannot fail, and a mark that could not be written must not be half written.
        serde_json::to_string(self).unwrap_or_default().into()
    }
}

/// The mark that an object carries: one on an object that is not suspended is none.
#[must_use]
pub fn carried(object: &Object) -> Option<Mark> {
    if !object.is_suspended() {
        return None;
    }
    Mark::parse(held(object)?)
}

fn held(object: &Object) -> Option<&str> {
    object.metadata.annotations.as_ref()?.held.as_deref()
}

/// What was done about a mark, for the texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkNote {
    /// A mark that the request brought in was taken off.
    Stripped,
    /// A mark that the request changed was restored.
    Restored,
    /// An applier declares the switch on: the mark has ended.
    Ended,
    /// A person's request leaves a held object as it is.
    LeftHeld,
    /// A person suspends and asks for a mark.
    Made,
    /// In the validating role: a new mark that names somebody else.
    Forged,
}

/// What to do about the marks of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarkOutcome {
    /// Changes of annotations.
    pub annotations: BTreeMap<&'static str, Option<Box<str>>>,
    /// What to say.
    pub note: Option<MarkNote>,
}

/// Who asks, as far as marks care.
#[derive(Clone, Copy, Debug)]
pub struct MarkAsker<'a> {
    /// The class of the asker.
    pub asker: Asker,
    /// The user.
    pub user: &'a str,
    /// The field manager.
    pub manager: Option<&'a str>,
}

/// Puts the marks of a request right, without a read.
///
/// `json` is the new object, for its `managedFields`. A hold that is made later in the same decision overrides what
/// is said here of [`HELD`].
#[must_use]
pub fn put_right(
    role: Role,
    who: MarkAsker<'_>,
    old: Option<&Object>,
    new: &Object,
    json: &[u8],
    now: DateTime<Utc>,
) -> MarkOutcome {
    let (before, after) = (old.and_then(held), held(new));
    let valid = old.and_then(carried).is_some();
    if !role.holds() {
        let forged = new.is_suspended() && before != after;
        let other = after.and_then(Mark::parse).is_some_and(|mark| {
            *mark.applier.user != *who.user || *mark.applier.manager != *who.manager.unwrap_or_default()
        });
        return MarkOutcome { note: (forged && other).then_some(MarkNote::Forged), ..MarkOutcome::default() };
    }
    let set = |value: Option<&str>, note: Option<MarkNote>| MarkOutcome {
        annotations: map_of([(HELD, value.map(Into::into))]),
        note,
    };
    if !new.is_suspended() {
        return match after {
            None => MarkOutcome::default(),
            // The mark goes with the switch.
            Some(_) if before == after => set(None, None),
            Some(_) => set(None, Some(MarkNote::Stripped)),
        };
    }
    if who.asker == Asker::Person && !old.is_some_and(Object::is_suspended) && wants_mark(new) {
        let mark = Mark::new(who.user, who.manager, now, Cause::Premature).render();
        let annotations = map_of([(HELD, Some(mark)), (RESUME, None)]);
        return MarkOutcome { annotations, note: Some(MarkNote::Made) };
    }
    let declared = || {
        who.asker == Asker::Applier
            && who.manager.is_some_and(|manager| declares_switch(new.reference.kind, manager, json))
    };
    match (valid, after) {
        (true, _) if declared() => {
            let removal = if after.is_some() { set(None, None) } else { MarkOutcome::default() };
            MarkOutcome { note: Some(MarkNote::Ended), ..removal }
        }
        (true, Some(_)) if before == after => {
            let note = (who.asker == Asker::Person).then_some(MarkNote::LeftHeld);
            MarkOutcome { note, ..MarkOutcome::default() }
        }
        (true, Some(_)) => set(before, Some(MarkNote::Restored)),
        // kustomize-controller drops annotations that nobody owns when it takes over kubectl's fields.
        (true, None) if who.asker == Asker::Applier => set(before, None),
        (true, None) => MarkOutcome::default(),
        // One that stood on an object that was not suspended was none, and must not become one by a suspension.
        (false, Some(_)) if before != after || !old.is_some_and(Object::is_suspended) => {
            set(None, Some(MarkNote::Stripped))
        }
        (false, _) => MarkOutcome::default(),
    }
}

fn wants_mark(object: &Object) -> bool {
    let annotations = object.metadata.annotations.as_ref();
    annotations.and_then(|annotations| annotations.resume.as_deref()) == Some("when-settled")
}

/// Whether `sluicegate.dev/release: never` is on the object.
#[must_use]
pub fn is_vetoed(object: &Object) -> bool {
    let annotations = object.metadata.annotations.as_ref();
    annotations.and_then(|annotations| annotations.release.as_deref()) == Some("never")
}

/// Whether this manager's Apply entry in `managedFields` owns the switch: then the applier declares it in git. After a
/// hold nobody owns it. Anything unreadable is no declaration.
#[must_use]
pub fn declares_switch(kind: Kind, manager: &str, json: &[u8]) -> bool {
    is_applied_by(kind, Some(manager), json)
}

/// As [`declares_switch`], by any manager.
#[must_use]
pub fn switch_is_applied(kind: Kind, json: &[u8]) -> bool {
    is_applied_by(kind, None, json)
}

fn is_applied_by(kind: Kind, manager: Option<&str>, json: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Top<'a> {
        #[serde(borrow)]
        metadata: Option<Managed<'a>>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Managed<'a> {
        #[serde(borrow)]
        managed_fields: Option<Vec<Entry<'a>>>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Entry<'a> {
        manager: Option<String>,
        operation: Option<String>,
        #[serde(borrow)]
        fields_v1: Option<&'a RawValue>,
    }
    let (first, second, third) = match kind.row().switch {
        Switch::Spec => ("f:spec", "f:suspend", None),
        Switch::Annotation(key) => ("f:metadata", "f:annotations", Some(format!("f:{key}"))),
        Switch::None => return false,
    };
    let Ok(top) = serde_json::from_slice::<Top<'_>>(json) else { return false };
    let entries = top.metadata.and_then(|metadata| metadata.managed_fields).unwrap_or_default();
    let owns = |fields: &RawValue| -> Option<()> {
        let mut raw = step(fields.get(), first)?;
        raw = step(raw.get(), second)?;
        third.as_deref().map_or(Some(()), |key| step(raw.get(), key).map(|_| ()))
    };
    entries.iter().any(|entry| {
        (manager.is_none() || entry.manager.as_deref() == manager)
            && entry.operation.as_deref() == Some("Apply")
            && entry.fields_v1.is_some_and(|fields| owns(fields).is_some())
    })
}

fn step<'a>(json: &'a str, key: &str) -> Option<&'a RawValue> {
    let fields: BTreeMap<String, &'a RawValue> = serde_json::from_str(json).ok()?;
    fields.get(key).copied()
}
