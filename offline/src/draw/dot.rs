//! For Graphviz.

use super::model::{Drawing, Edge, Node, State};
use super::words::{kind_and_namespace, name, state_and_why};
use std::fmt::Write as _;

/// The picture in the language of Graphviz. Bold red edges close a loop; dashed ones are waits for what was applied.
#[must_use]
pub fn dot(drawing: &Drawing) -> String {
    let mut text = String::from(
        "digraph needs {\n  rankdir=LR\n  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\"]\n  edge [fontname=\"sans-serif\", fontsize=10]\n",
    );
    for (id, node) in drawing.nodes().iter().enumerate() {
        let lines = [kind_and_namespace(&node.object), name(&node.object), state_and_why(node)];
        let label: Vec<String> = lines.iter().map(|line| escaped(line)).collect();
        let _ = writeln!(text, "  n{id} [label=\"{}\", {}]", label.join("\\n"), style(node));
    }
    for edge in drawing.edges() {
        let fields = escaped(&edge.fields());
        let _ = writeln!(text, "  n{} -> n{} [label=\"{fields}\"{}]", edge.from.0, edge.to.0, edge_style(edge));
    }
    text.push_str("}\n");
    text
}

fn style(node: &Node) -> String {
    let (fill, style) = match node.look.state {
        State::Settled => ("#eef7f1", "rounded,filled"),
        State::Waiting => ("#fff6dd", "rounded,filled"),
        State::Suspended => ("#e9ebee", "rounded,filled,diagonals"),
        State::Held => ("#e8e8fb", "rounded,filled,diagonals"),
        State::Failed => ("#fde6dc", "filled,bold"),
        State::Absent => ("#ffffff", "filled,dashed"),
        State::Unknown => ("#f6f7f8", "rounded,filled"),
    };
    let looping = if node.tangle.is_some() { ", color=\"#c8102e\", penwidth=3" } else { "" };
    format!("style=\"{style}\", fillcolor=\"{fill}\"{looping}")
}

fn edge_style(edge: &Edge) -> String {
    let line = if edge.is_output() { ", style=dashed" } else { "" };
    let looping = if edge.tangle.is_some() { ", color=\"#c8102e\", fontcolor=\"#c8102e\", penwidth=3" } else { "" };
    format!("{line}{looping}")
}

/// Inside quotes only the quote and the backslash mean something; an ampersand begins an entity.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('&', "&amp;")
}
