//! Reads one setting at a time, and collects what is wrong.

use super::duration;
use crate::host::can_be_called;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

type Name = Box<str>;

/// What was given: names and values. A plain list, for a map is a lot of code for so few.
pub(super) struct Given<'a>(pub Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Given<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct GivenVisitor;
        impl<'de> Visitor<'de> for GivenVisitor {
            type Value = Given<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut given = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    given.push(entry);
                }
                Ok(Given(given))
            }
        }
        deserializer.deserialize_map(GivenVisitor)
    }
}

/// Reads settings that were given.
pub(super) struct Reader<'a> {
    given: &'a Given<'a>,
    /// A sentence for each mistake so far.
    pub mistakes: Vec<String>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(given: &'a Given<'a>) -> Self {
        Self { given, mistakes: Vec::new() }
    }

    /// The value of a setting if it was given, is of this type and passes; else a mistake that says what it must be.
    fn read<T: Deserialize<'a>, R>(
        &mut self,
        name: &str,
        default: R,
        must: impl FnOnce() -> String,
        accept: impl FnOnce(T) -> Option<R>,
    ) -> R {
        match self.given.0.iter().rfind(|(given, _)| *given == name).map(|(_, raw)| raw) {
            None => default,
            Some(raw) if raw.get() == "null" => default,
            Some(raw) => match serde_json::from_str(raw.get()).ok().and_then(accept) {
                Some(value) => value,
                None => {
                    self.mistakes.push(format!("setting {name} must be {}", must()));
                    default
                }
            },
        }
    }

    pub(super) fn flag(&mut self, name: &str, default: bool) -> bool {
        self.read(name, default, || "true or false".into(), Some)
    }

    pub(super) fn choice<T: Copy>(&mut self, name: &str, choices: &[(&str, T)], default: T) -> T {
        let must = || {
            let (last, others) = choices.split_last().map_or(("", &[][..]), |((last, _), others)| (*last, others));
            let others: Vec<_> = others.iter().map(|(choice, _)| *choice).collect();
            format!("{} or {last}", others.join(", "))
        };
        self.read(name, default, must, |text: Cow<'_, str>| {
            choices.iter().find(|(choice, _)| *choice == text).map(|(_, value)| *value)
        })
    }

    pub(super) fn number(&mut self, name: &str, range: RangeInclusive<usize>, default: usize) -> usize {
        let must = || format!("a whole number from {} to {}", range.start(), range.end());
        self.read(name, default, must, |number: usize| range.contains(&number).then_some(number))
    }

    pub(super) fn seconds(&mut self, name: &str, range: RangeInclusive<u64>, default: Duration) -> Duration {
        let must =
            || format!("a whole number from {} to {}: the policy's timeoutEvalSeconds", range.start(), range.end());
        self.read(name, default, must, |number: u64| range.contains(&number).then_some(Duration::from_secs(number)))
    }

    pub(super) fn duration(&mut self, name: &str, default: Duration) -> Duration {
        let must = || "a duration of a second to a year, such as 45s, 90m or 1h30m".into();
        self.read(name, default, must, |text: Cow<'_, str>| duration::parse(&text))
    }

    pub(super) fn name(&mut self, name: &str, default: Name) -> Name {
        self.read(
            name,
            default,
            || "the name of a user".into(),
            |text: Cow<'_, str>| is_filled(&text).then(|| text.into()),
        )
    }

    pub(super) fn lease(&mut self, name: &str, default: (Name, Name)) -> (Name, Name) {
        let must = || "the namespace and the name of a Lease, such as sluicegate-system/sluicegate".into();
        self.read(name, default, must, |text: Cow<'_, str>| {
            let (namespace, name) = text.split_once('/')?;
            can_be_called(namespace, name).then(|| (namespace.into(), name.into()))
        })
    }

    pub(super) fn list(&mut self, name: &str, default: Vec<Name>) -> Vec<Name> {
        let must = || "a list of names, none of them empty and none twice".into();
        self.read(name, default, must, |list: Vec<Cow<'_, str>>| {
            let again = |(index, text)| list.iter().take(index).any(|earlier| earlier == text);
            let fine = list.iter().all(|text| is_filled(text)) && !list.iter().enumerate().any(again);
            fine.then(|| list.into_iter().map(Into::into).collect())
        })
    }
}

/// Whether a text can be a name: blanks around it are a slip that would make the setting match nobody.
fn is_filled(text: &str) -> bool {
    !text.is_empty() && text.trim() == text
}
