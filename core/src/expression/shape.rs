//! How large a value can be, before it exists.

use super::object::MAX_LEVELS;
use serde_json::Value;
use std::collections::HashMap;

/// What one value takes in memory besides the bytes of its text, roughly.
const NODE: u64 = 64;

/// Upper bounds of a value of any type. All arithmetic saturates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bounds {
    /// Elements of a list, entries of a map; what a loop over it runs through.
    pub(super) count: u64,
    /// Bytes of a string.
    pub(super) bytes: u64,
    /// All it takes, in bytes of memory.
    pub(super) size: u64,
    /// How many lists and maps are inside each other.
    pub(super) depth: u64,
    /// The largest `count`, `bytes` and `size` of anything inside it, at any depth, map keys included.
    pub(super) inner_count: u64,
    pub(super) inner_bytes: u64,
    pub(super) inner_size: u64,
}

impl Bounds {
    /// A number, a boolean, null, a time: nothing inside, no length.
    pub(super) const SCALAR: Self =
        Self { count: 0, bytes: 0, size: NODE, depth: 0, inner_count: 0, inner_bytes: 0, inner_size: 0 };

    /// No idea, surely too much.
    pub(super) const HUGE: Self = Self {
        count: u64::MAX,
        bytes: u64::MAX,
        size: u64::MAX,
        depth: u64::MAX,
        inner_count: u64::MAX,
        inner_bytes: u64::MAX,
        inner_size: u64::MAX,
    };

    pub(super) fn text(bytes: u64) -> Self {
        Self { bytes, size: NODE.saturating_add(bytes), ..Self::SCALAR }
    }

    /// A list of at most `count` elements, each at most `item`.
    pub(super) fn list(count: u64, item: Self) -> Self {
        Self {
            count,
            bytes: 0,
            size: NODE.saturating_add(count.saturating_mul(item.size)),
            depth: item.depth.saturating_add(1),
            inner_count: item.count.max(item.inner_count),
            inner_bytes: item.bytes.max(item.inner_bytes),
            inner_size: item.size.max(item.inner_size),
        }
    }

    /// A list or map of exactly these parts.
    pub(super) fn of_parts(count: u64, parts: impl IntoIterator<Item = Self>) -> Self {
        let mut whole = Self { count, ..Self::SCALAR };
        for part in parts {
            whole.size = whole.size.saturating_add(part.size);
            whole.depth = whole.depth.max(part.depth);
            whole.inner_count = whole.inner_count.max(part.count).max(part.inner_count);
            whole.inner_bytes = whole.inner_bytes.max(part.bytes).max(part.inner_bytes);
            whole.inner_size = whole.inner_size.max(part.size).max(part.inner_size);
        }
        whole.depth = whole.depth.saturating_add(1);
        whole
    }

    /// Anything inside it.
    pub(super) fn item(&self) -> Self {
        Self {
            count: self.inner_count,
            bytes: self.inner_bytes,
            size: self.inner_size.max(NODE),
            depth: self.depth.saturating_sub(1),
            ..*self
        }
    }

    /// Either of them.
    pub(super) fn or(&self, other: Self) -> Self {
        Self {
            count: self.count.max(other.count),
            bytes: self.bytes.max(other.bytes),
            size: self.size.max(other.size),
            depth: self.depth.max(other.depth),
            inner_count: self.inner_count.max(other.inner_count),
            inner_bytes: self.inner_bytes.max(other.inner_bytes),
            inner_size: self.inner_size.max(other.inner_size),
        }
    }

    /// One after the other: `+`.
    pub(super) fn then(&self, other: Self) -> Self {
        Self {
            count: self.count.saturating_add(other.count),
            bytes: self.bytes.saturating_add(other.bytes),
            size: self.size.saturating_add(other.size),
            ..self.or(other)
        }
    }

    /// Steps to copy it, or to look through all of it.
    pub(super) fn steps(&self) -> u64 {
        self.size / NODE
    }
}

/// A value of the objects themselves, or one that is computed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape<'v> {
    Known(&'v Value),
    Bounded(Bounds),
}

/// The bounds of values of the objects, each looked through once.
#[derive(Debug, Default)]
pub(super) struct Sizes(HashMap<usize, Bounds>);

impl Sizes {
    pub(super) fn of(&mut self, shape: Shape<'_>) -> Bounds {
        match shape {
            Shape::Bounded(bounds) => bounds,
            Shape::Known(value) => {
                *self.0.entry(std::ptr::from_ref(value) as usize).or_insert_with(|| bounds(value, MAX_LEVELS))
            }
        }
    }
}

/// Recurses, no deeper than [`object`](super::object) converts: what nests deeper is too much in any case.
fn bounds(value: &Value, levels: usize) -> Bounds {
    let Some(levels) = levels.checked_sub(1) else {
        return Bounds::HUGE;
    };
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => Bounds::SCALAR,
        Value::String(text) => Bounds::text(text.len() as u64),
        Value::Array(items) => Bounds::of_parts(items.len() as u64, items.iter().map(|item| bounds(item, levels))),
        Value::Object(fields) => Bounds::of_parts(
            fields.len() as u64,
            fields.iter().flat_map(|(name, value)| [Bounds::text(name.len() as u64), bounds(value, levels)]),
        ),
    }
}
