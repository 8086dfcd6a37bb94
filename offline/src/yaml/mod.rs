//! YAML as Kubernetes reads it, with positions: a small tree out of the parser's events.
//!
//! Kubernetes reads YAML 1.1 where it differs from 1.2 in scalars: `yes` and `on` are booleans, `0777` is octal, and `<<`
//! merges. What a document may cost is bounded: its depth ([`DEPTH`]), and what its aliases expand to ([`ALIASED`]).

mod json;
mod parse;
mod scalar;

pub use json::{to_json, to_value};
pub use parse::{Broken, documents};
pub use scalar::Scalar;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

/// How deep a document may be nested.
pub const DEPTH: usize = 128;
/// How many nodes the aliases of a document may add to it.
pub const ALIASED: usize = 100_000;

/// A value with the place where it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node<'t> {
    /// What it is.
    pub value: Value<'t>,
    /// The line, from 1.
    pub line: u32,
}

/// What a node holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value<'t> {
    /// Text, a number, a boolean or null: as it is written. `plain` if neither quoted nor a block, so that it may be
    /// something else than text.
    Scalar {
        /// The text, without quotes and escapes.
        text: Cow<'t, str>,
        /// Whether it is written plainly.
        plain: bool,
    },
    /// A list.
    Sequence(Vec<Node<'t>>),
    /// An object.
    Mapping(Vec<Entry<'t>>),
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'t> {
    /// The key.
    pub key: Cow<'t, str>,
    /// The line of the key, from 1.
    pub line: u32,
    /// The value.
    pub value: Node<'t>,
}

impl<'t> Node<'t> {
    /// The entries of an object; none if it is something else.
    #[must_use]
    pub fn entries(&self) -> &[Entry<'t>] {
        match &self.value {
            Value::Mapping(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a list; none if it is something else.
    #[must_use]
    pub fn items(&self) -> &[Node<'t>] {
        match &self.value {
            Value::Sequence(items) => items,
            _ => &[],
        }
    }

    /// The entry of a key.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<&Entry<'t>> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Node<'t>> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The text of a scalar that is a string, as Kubernetes would read it.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, plain } => match scalar::resolve(text, *plain) {
                Scalar::Text => Some(text),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether there is nothing: null, or an empty document.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(&self.value, Value::Scalar { text, plain } if scalar::resolve(text, *plain) == Scalar::Null)
    }
}
