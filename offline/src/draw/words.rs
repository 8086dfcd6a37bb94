//! Words that more than one form uses.

use super::model::{Drawing, Node, State};
use sluicegate_core::object::Reference;
use sluicegate_core::text::clean;
use std::fmt::Write as _;

/// The longest sentence of a picture.
pub(super) const SENTENCE: usize = 120;

/// Cuts what is longer than so many characters, with an ellipsis as the last of them.
pub(super) fn shortened(text: &str, limit: usize) -> String {
    match text.chars().nth(limit) {
        None => text.to_owned(),
        Some(_) => text.chars().take(limit.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// Cuts out the middle of what is longer: names of a family differ at their ends.
pub(super) fn without_middle(text: &str, limit: usize) -> String {
    let count = text.chars().count();
    if count <= limit {
        return text.to_owned();
    }
    let tail = limit / 2;
    let head = limit.saturating_sub(tail + 1);
    text.chars().take(head).chain(['…']).chain(text.chars().skip(count - tail)).collect()
}

/// The name, cleaned.
pub(super) fn name(object: &Reference) -> String {
    clean(&object.name, 253).to_string()
}

/// The kind, and the namespace of kinds that have one.
pub(super) fn kind_and_namespace(object: &Reference) -> String {
    match object.kind.row().namespaced {
        true => format!("{} · {}", object.kind, clean(&object.namespace, 63)),
        false => object.kind.to_string(),
    }
}

/// `waiting: dependency not ready`, or the word alone.
pub(super) fn state_and_why(node: &Node) -> String {
    match &node.look.why {
        Some(why) => format!("{}: {}", node.look.state.word(), clean(why, SENTENCE)),
        None => node.look.state.word().to_owned(),
    }
}

/// `14 objects, 21 needs, 1 loop`.
pub(super) fn counts(drawing: &Drawing) -> String {
    let many = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let mut text = format!("{}, {}", many(drawing.nodes().len(), "object"), many(drawing.edges().len(), "need"));
    if !drawing.tangles().is_empty() {
        let _ = write!(text, ", {}", many(drawing.tangles().len(), "loop"));
    }
    text
}

/// The states that occur, in the order of the legend.
pub(super) fn states(drawing: &Drawing) -> impl Iterator<Item = State> {
    State::ALL.into_iter().filter(|state| drawing.nodes().iter().any(|node| node.look.state == *state))
}
