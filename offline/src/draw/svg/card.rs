//! An object.

use super::measure::{fitted, width};
use super::write::{escaped, number};
use super::{Point, Styling};
use crate::draw::layout::Size;
use crate::draw::model::{Node, State};
use crate::draw::words::{kind_and_namespace, name, state_and_why, without_middle};
use std::fmt::Write as _;

/// Left of the text, where the sign of the state is.
const SIGN: f64 = 34.0;
/// Right of the text.
const PADDING: f64 = 12.0;
const NARROWEST: f64 = 130.0;
/// How wide a card becomes for what it says of its state, which is cut after that.
const WIDE: f64 = 290.0;
const NAME: f64 = 13.5;
const SMALL: f64 = 11.0;

/// An object as it is drawn.
pub(super) struct Card {
    pub size: Size,
    class: String,
    state: State,
    title: String,
    /// With the class and the distance from the top.
    lines: Vec<(&'static str, f64, String)>,
}

/// The card of an object.
pub(super) fn card(node: &Node) -> Card {
    let head = without_middle(&kind_and_namespace(&node.object), 44);
    let name = without_middle(&name(&node.object), 42);
    let why = state_and_why(node);
    // Bold letters are wider.
    let inner = (width(&name, NAME) * 1.08).max(width(&head, SMALL));
    let is_calm = node.look.why.is_none() && matches!(node.look.state, State::Settled | State::Unknown);
    let inner = if is_calm { inner } else { inner.max(width(&why, SMALL).min(WIDE - SIGN - PADDING)) };
    let mut lines = vec![("small", 17.0, head), ("name", 34.0, name)];
    if !is_calm {
        lines.push(("why", 50.0, why.clone()));
    }
    let looping = if node.tangle.is_some() { " looping" } else { "" };
    Card {
        size: Size { width: (inner + SIGN + PADDING).max(NARROWEST).ceil(), height: if is_calm { 44.0 } else { 60.0 } },
        class: format!("{}{looping}", node.look.state.word()),
        state: node.look.state,
        title: format!("{}: {why}", node.object),
        lines,
    }
}

impl Card {
    /// Writes the group of the object, as wide as its column.
    pub(super) fn write(&self, out: &mut String, id: usize, at: Point, width: f64, styling: Styling) {
        let Size { height, .. } = self.size;
        let inner = width - SIGN - PADDING;
        let (x, y) = (number(at.x), number(at.y));
        let _ = write!(out, "<g id=\"n{id}\" class=\"{}\" data-node=\"{id}\"", self.class);
        if styling == Styling::Outside {
            let _ = write!(out, " tabindex=\"0\" role=\"button\" aria-label=\"{}\"", escaped(&self.title));
        }
        let _ = write!(out, " transform=\"translate({x} {y})\"><title>{}</title>", escaped(&self.title));
        let shown = |class: &str, text: &str| match class {
            "why" => fitted(text, SMALL, inner),
            _ => text.to_owned(),
        };
        let (width, height) = (number(width), number(height));
        let _ = write!(out, "<rect class=\"card\" width=\"{width}\" height=\"{height}\" rx=\"7\"/>");
        if matches!(self.state, State::Suspended | State::Held) {
            let _ = write!(out, "<rect fill=\"url(#sg-hatch)\" width=\"{width}\" height=\"{height}\" rx=\"7\"/>");
        }
        let _ = write!(out, "<path class=\"icon\" d=\"{}\"/>", sign(self.state));
        for (class, y, text) in &self.lines {
            let _ =
                write!(out, "<text class=\"{class}\" x=\"{SIGN}\" y=\"{y}\">{}</text>", escaped(&shown(class, text)));
        }
        out.push_str("</g>\n");
    }
}

/// A sign for each state, around (17, 22): they differ without any colour.
pub(super) const fn sign(state: State) -> &'static str {
    match state {
        // A tick.
        State::Settled => "M11.5 22.5l4 4 7-8.5",
        // A clock.
        State::Waiting => "M9.5 22a7.5 7.5 0 1 0 15 0a7.5 7.5 0 1 0-15 0M17 17.5V22l3 2",
        // Two bars.
        State::Suspended => "M13.5 16.5v11M20.5 16.5v11",
        // A gate: two bars between rails.
        State::Held => "M10 16h14M10 28h14M14 16v12M20 16v12",
        // A cross.
        State::Failed => "M12 17l10 10M22 17l-10 10",
        // A circle of dashes, with nothing in it.
        State::Absent => "M11 19a7 7 0 0 1 3-3.2M20 15.8a7 7 0 0 1 3 3.2M23 25a7 7 0 0 1-3 3.2M14 28.2a7 7 0 0 1-3-3.2",
        // A question mark.
        State::Unknown => "M13.5 19a3.5 3.5 0 1 1 5.2 3c-1.2.7-1.7 1.3-1.7 2.5M17 28v.1",
    }
}
