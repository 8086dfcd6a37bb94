//! What the signs mean, and the loops in words.

use super::card::sign;
use super::measure::{fitted, width};
use super::write::{escaped, number};
use crate::draw::layout::Size;
use crate::draw::model::{Drawing, State, Tangle};
use crate::draw::words::states;
use sluicegate_core::gate::Names;
use sluicegate_core::text::dependency_cycle;
use std::fmt::Write as _;

/// How many loops are told in words.
const LOOPS: usize = 4;
const LINE: f64 = 17.0;
/// The size of the letters, all of the same width, and how wide one is.
const LETTER: f64 = 7.0;
const WIDEST: f64 = 900.0;

/// The lines below the picture, and how much room they take.
pub(super) fn foot(drawing: &Drawing, left: f64, top: f64) -> (String, Size) {
    let mut out = String::new();
    let mut size = Size { width: 0.0, height: 0.0 };
    let mut y = top;
    for tangle in drawing.tangles().iter().take(LOOPS) {
        for line in words(tangle) {
            y += LINE;
            let line = fitted(&line, 11.5, WIDEST);
            size.width = size.width.max(line.chars().count() as f64 * LETTER);
            let _ = writeln!(
                out,
                "<text class=\"loop-text\" xml:space=\"preserve\" x=\"{left}\" y=\"{}\">{}</text>",
                number(y),
                escaped(&line)
            );
        }
        y += LINE / 2.0;
    }
    let more = drawing.tangles().len().saturating_sub(LOOPS);
    if more > 0 {
        y += LINE;
        let _ = writeln!(out, "<text class=\"loop-text\" x=\"{left}\" y=\"{}\">and {more} more</text>", number(y));
    }
    y += if drawing.tangles().is_empty() { 4.0 } else { LINE };
    let mut x = left;
    let mut item = |class: &str, mark: &str, text: &str, out: &mut String| {
        if x > left && x + 60.0 + width(text, 12.0) > left + WIDEST {
            x = left;
            y += 26.0;
        }
        let _ = writeln!(
            out,
            "<g class=\"{class}\" transform=\"translate({} {})\">{mark}<text class=\"small\" x=\"38\" y=\"16\">{}</text></g>",
            number(x),
            number(y),
            escaped(text)
        );
        x += 62.0 + width(text, 11.0);
        size.width = size.width.max(x - left);
    };
    for state in states(drawing) {
        let hatch = match state {
            State::Suspended | State::Held => "<rect fill=\"url(#sg-hatch)\" width=\"32\" height=\"24\" rx=\"5\"/>",
            _ => "",
        };
        let mark = format!(
            "<rect class=\"card\" width=\"32\" height=\"24\" rx=\"5\"/>{hatch}<path class=\"icon\" transform=\"translate(-1 -10)\" d=\"{}\"/>",
            sign(state)
        );
        item(state.word(), &mark, state.word(), &mut out);
    }
    let line = |tip: &str| format!("<path class=\"line\" d=\"M2 12H31\" marker-end=\"url(#{tip})\"/>");
    let has = |wanted: fn(&crate::draw::model::Edge) -> bool| drawing.edges().iter().any(wanted);
    if has(|edge| edge.tangle.is_none() && !edge.is_output()) {
        item("edge", &line("sg-tip"), "needs", &mut out);
    }
    if has(crate::draw::model::Edge::is_output) {
        item("edge output", &line("sg-tip"), "waits for what it has applied", &mut out);
    }
    if has(|edge| edge.tangle.is_some()) {
        item("edge looping shortest", &line("sg-loop"), "closes a loop", &mut out);
    }
    size.height = y + 24.0 - top;
    (out, size)
}

fn words(tangle: &Tangle) -> Vec<String> {
    let Some(first) = tangle.report.shortest.members().next() else { return Vec::new() };
    let text = dependency_cycle(&tangle.report.shortest, first, &Names::everything(first));
    text.lines().map(ToOwned::to_owned).collect()
}
