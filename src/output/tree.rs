//! A live tree of what is waited for, on a terminal.

use chrono::{DateTime, Utc};
use sluicegate_core::chain::Judgement;
use sluicegate_core::object::Reference;
use sluicegate_core::rollout::{Phase, Rollout};
use sluicegate_core::text::rollout::took;
use std::collections::BTreeSet;
use std::io::{self, Write};
use unicode_width::UnicodeWidthChar;

/// The lines of the tree: what is settled is folded into the first one, each other object stands once, below the first
/// that waits for it.
#[must_use]
pub fn lines(
    rollout: &Rollout,
    judgement: &Judgement,
    (width, height): (usize, usize),
    colour: bool,
    now: DateTime<Utc>,
) -> Vec<String> {
    let required = judgement.states.values().filter(|state| state.required);
    let (mut all, mut settled) = (judgement.unknown, 0);
    for state in required {
        all += 1;
        settled += usize::from(state.is_settled());
    }
    let after = took(now.signed_duration_since(rollout.started()));
    let mut rows = vec![cut(&format!("{settled} of {all} objects are settled, after {after}"), width)];
    let mut seen: BTreeSet<&Reference> = BTreeSet::new();
    let mut open: Vec<(&Reference, usize)> = rollout.targets().iter().rev().map(|target| (target, 0)).collect();
    let mut left_out = 0_usize;
    // One row for what does not fit, and one for the cursor.
    let room = height.saturating_sub(3).max(1);
    while let Some((member, depth)) = open.pop() {
        let Some((state, unit)) = judgement.states.get(member).zip(rollout.units().get(member)) else { continue };
        if state.is_settled() || !seen.insert(member) {
            continue;
        }
        if rows.len() > room {
            left_out += 1;
        } else {
            let since = took(now.signed_duration_since(unit.since));
            let indent = "  ".repeat(depth.min(10) + 1);
            let text = cut(&format!("{indent}{member}  {}, {since}", unit.why), width);
            rows.push(if colour { paint(unit.phase, &text) } else { text });
        }
        let mut waits: Vec<&Reference> = state.waits.iter().map(|need| &need.target).collect();
        waits.sort_unstable();
        open.extend(waits.into_iter().rev().map(|target| (target, depth + 1)));
    }
    if left_out > 0 {
        rows.push(cut(&format!("  and {left_out} more"), width));
    }
    rows
}

fn paint(phase: Phase, text: &str) -> String {
    let code = match phase {
        Phase::Failed | Phase::Absent => "31",
        Phase::Suspended => "33",
        Phase::Works => "36",
        Phase::Waits => "2",
        Phase::Settled => "32",
    };
    format!("\u{1b}[{code}m{text}\u{1b}[0m")
}

/// Cuts a text to so many columns.
#[must_use]
pub fn cut(text: &str, width: usize) -> String {
    let wide = |c: char| c.width().unwrap_or(0);
    if text.chars().map(wide).sum::<usize>() <= width {
        return text.to_owned();
    }
    let (mut used, mut kept) = (0, String::new());
    for c in text.chars() {
        if used + wide(c) + 1 > width {
            break;
        }
        used += wide(c);
        kept.push(c);
    }
    kept.push('…');
    kept
}

/// A part of the terminal that is drawn again and again.
#[derive(Debug, Default)]
pub struct Canvas {
    drawn: usize,
}

impl Canvas {
    /// Draws these lines over those before. What cannot be written is left.
    pub fn draw(&mut self, out: &mut impl Write, lines: &[String]) -> io::Result<()> {
        let mut text = self.home();
        for line in lines {
            text.push_str(line);
            text.push_str("\r\n");
        }
        self.drawn = lines.len();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// Takes them away.
    pub fn clear(&mut self, out: &mut impl Write) -> io::Result<()> {
        let text = self.home();
        self.drawn = 0;
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    fn home(&self) -> String {
        let up = if self.drawn > 0 { format!("\u{1b}[{}A", self.drawn) } else { String::new() };
        format!("{up}\r\u{1b}[J")
    }
}

#[cfg(test)]
mod tests {
    use super::cut;
    use rstest::rstest;

    #[rstest]
    #[case("short", 10, "short")]
    #[case("exactly", 7, "exactly")]
    #[case("too long", 5, "too …")]
    #[case("宽宽宽", 5, "宽宽…")]
    #[case("", 0, "")]
    fn cuts_to_columns(#[case] text: &str, #[case] width: usize, #[case] expected: &str) {
        assert_eq!(cut(text, width), expected);
    }
}
