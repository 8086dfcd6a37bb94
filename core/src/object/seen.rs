//! A request's view of an object, for the hot path: borrowed, unread, and only as far as it takes to see that nothing
//! that is judged has changed.

use super::manifest::{Labels, Spec};
use super::slots::{Place, Step};
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// A string that is borrowed from the input where it holds no escapes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text<'a>(pub Cow<'a, str>);

impl AsRef<str> for Text<'_> {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for TextVisitor<'a> {
            type Value = Text<'a>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(TextVisitor(PhantomData))
    }
}

const VERSION: usize = 0;
const DELETION: usize = 1;
const HELD: usize = 2;
/// From here on, a change of any is a change of something that is judged.
const JUDGED: usize = 3;
/// Annotations that are the switch of a kind.
const SWITCHES: [&str; 2] = ["source.extensions.fluxcd.io/reconcile", "fluxcd.controlplane.io/reconcile"];
const LABELS: usize = JUDGED + SWITCHES.len();
const SPEC: usize = LABELS + Labels::<()>::KEYS.len();
const COUNT: usize = SPEC + Spec::KEYS.len();

/// An object of a request: the JSON of each field that a decision about a change reads.
#[derive(Clone, Debug)]
pub struct Seen<'a>([Option<&'a [u8]>; COUNT]);

impl Default for Seen<'_> {
    fn default() -> Self {
        Self([None; COUNT])
    }
}

impl<'a> Seen<'a> {
    /// `apiVersion`; empty where it is absent, and where it is written with escapes.
    #[must_use]
    pub fn api_version(&self) -> &'a str {
        plain(self.slot(VERSION))
    }

    /// Whether `metadata.deletionTimestamp` holds something.
    #[must_use]
    pub fn is_deleting(&self) -> bool {
        !plain(self.slot(DELETION)).is_empty()
    }

    /// Whether it carries a mark, or what could be one.
    #[must_use]
    pub fn is_marked(&self) -> bool {
        self.slot(HELD).is_some()
    }

    /// Whether everything that needs, owners and switches are read from is written the same. Both objects of a request
    /// come from the same serializer.
    #[must_use]
    pub fn is_judged_like(&self, other: &Seen<'_>) -> bool {
        self.0.get(JUDGED..) == other.0.get(JUDGED..)
    }

    fn slot(&self, index: usize) -> Option<&'a [u8]> {
        self.0.get(index).copied().flatten()
    }
}

/// The text of a JSON string without escapes; empty for everything else.
#[must_use]
pub fn plain(json: Option<&[u8]>) -> &str {
    let text = json.and_then(|json| json.strip_prefix(b"\"")).and_then(|json| json.strip_suffix(b"\""));
    let text = text.filter(|text| !text.contains(&b'\\'));
    text.and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default()
}

/// A place within an object.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "named after the fields")]
pub enum Part {
    Object,
    Metadata,
    Labels,
    Annotations,
    Spec,
}

impl<'a> Place<'a> for Part {
    type Found = Seen<'a>;

    #[inline]
    fn step(self, key: &[u8]) -> Step<Self> {
        let keep = |first: usize, keys: &[&str]| {
            keys.iter().position(|known| known.as_bytes() == key).map_or(Step::Skip, |index| Step::Keep(first + index))
        };
        match (self, key) {
            (Self::Object, b"apiVersion") => Step::Keep(VERSION),
            (Self::Object, b"metadata") => Step::Into(Self::Metadata),
            (Self::Object, b"spec") => Step::Into(Self::Spec),
            (Self::Metadata, b"deletionTimestamp") => Step::Keep(DELETION),
            (Self::Metadata, b"labels") => Step::Into(Self::Labels),
            (Self::Metadata, b"annotations") => Step::Into(Self::Annotations),
            (Self::Annotations, key) if key == crate::gate::HELD.as_bytes() => Step::Keep(HELD),
            (Self::Annotations, _) => keep(JUDGED, &SWITCHES),
            (Self::Labels, _) => keep(LABELS, Labels::<()>::KEYS),
            (Self::Spec, _) => keep(SPEC, Spec::KEYS),
            _ => Step::Skip,
        }
    }

    #[inline]
    fn slot<'s>(self, found: &'s mut Seen<'a>, index: usize) -> Option<&'s mut Option<&'a [u8]>> {
        found.0.get_mut(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{Annotations, KINDS, Switch};

    #[test]
    fn the_switches_are_those_of_the_kinds() {
        for row in &KINDS {
            if let Switch::Annotation(name) = row.switch {
                assert!(SWITCHES.contains(&name) && Annotations::<()>::KEYS.contains(&name), "{name}");
            }
        }
    }

    #[test]
    fn only_plain_strings_are_plain() {
        for (json, text) in [(r#""a""#, "a"), (r#""a\n""#, ""), ("3", ""), (r#"""#, ""), (r#""""#, "")] {
            assert_eq!(plain(Some(json.as_bytes())), text);
        }
        assert_eq!(plain(None), "");
    }
}
