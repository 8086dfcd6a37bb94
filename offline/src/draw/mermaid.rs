//! For Markdown: what GitHub, GitLab and many documentation tools draw.

use super::model::{Drawing, Edge, State};
use super::words::{kind_and_namespace, name, shortened, state_and_why, without_middle};
use std::fmt::Write as _;

/// How many edges Mermaid draws where nobody has set `maxEdges`.
pub const MERMAID_EDGES: usize = 500;

/// The picture as a Mermaid flowchart. Thick red edges close a loop; dotted ones are waits for what was applied.
#[must_use]
pub fn mermaid(drawing: &Drawing) -> String {
    let mut text = String::from("flowchart LR\n");
    for (id, node) in drawing.nodes().iter().enumerate() {
        let head = escaped(&kind_and_namespace(&node.object));
        let own = escaped(&without_middle(&name(&node.object), 60));
        let state = escaped(&shortened(&state_and_why(node), 60));
        let class = node.look.state.word();
        let looping = if node.tangle.is_some() { ",looping" } else { "" };
        let _ = writeln!(text, "  n{id}[\"{head}<br>{own}<br>{state}\"]");
        let _ = writeln!(text, "  class n{id} {class}{looping}");
    }
    for edge in drawing.edges() {
        let _ = writeln!(text, "  n{} {}|\"{}\"| n{}", edge.from.0, arrow(edge), escaped(&edge.fields()), edge.to.0);
    }
    for state in State::ALL.into_iter().filter(|state| drawing.nodes().iter().any(|node| node.look.state == *state)) {
        let _ = writeln!(text, "  classDef {} {}", state.word(), style(state));
    }
    if !drawing.tangles().is_empty() {
        text.push_str("  classDef looping stroke:#c8102e,stroke-width:3px\n");
        let looping = drawing.edges().iter().enumerate().filter(|(_, edge)| edge.tangle.is_some());
        let numbers: Vec<String> = looping.map(|(id, _)| id.to_string()).collect();
        if !numbers.is_empty() {
            let _ = writeln!(text, "  linkStyle {} stroke:#c8102e,stroke-width:3px", numbers.join(","));
        }
    }
    text
}

fn arrow(edge: &Edge) -> &'static str {
    match (edge.tangle, edge.is_output()) {
        (_, true) => "-.->",
        (Some(_), false) => "==>",
        (None, false) => "-->",
    }
}

const fn style(state: State) -> &'static str {
    match state {
        State::Settled => "fill:#eef7f1,stroke:#4f8f6b,color:#12271b",
        State::Waiting => "fill:#fff6dd,stroke:#a06a00,color:#3a2a00",
        State::Suspended => "fill:#e9ebee,stroke:#5c6470,color:#22272e,stroke-dasharray:6 3",
        State::Held => "fill:#e8e8fb,stroke:#4b4bc0,color:#1d1d50,stroke-dasharray:6 3",
        State::Failed => "fill:#fde6dc,stroke:#b03a06,color:#431702,stroke-width:2px",
        State::Absent => "fill:#ffffff,stroke:#7a828e,color:#4a525c,stroke-dasharray:2 3",
        State::Unknown => "fill:#f6f7f8,stroke:#9aa2ad,color:#2b3138",
    }
}

/// Everything but letters, digits and what never means anything inside quotes goes as a number of its character.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_alphanumeric()
            || matches!(c, ' ' | '.' | ',' | '-' | '_' | '/' | ':' | '(' | ')' | '[' | ']' | '·' | '…')
        {
            out.push(c);
        } else {
            let _ = write!(out, "#{};", u32::from(c));
        }
    }
    out
}
