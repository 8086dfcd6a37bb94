//! What is shown while it waits: a live tree on a terminal, lines in a pipe, events for machines.

use super::super::explain::{instant, root_record};
use crate::output::tree::{Canvas, lines};
use crate::output::{Output, has_colour, note, print};
use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};
use sluicegate_core::chain::Judgement;
use sluicegate_core::object::Reference;
use sluicegate_core::rollout::Rollout;
use std::io::IsTerminal;

/// The size of a terminal that does not tell its own.
const SIZE: (usize, usize) = (80, 24);

/// Shows what happens.
pub enum Display {
    /// On a terminal.
    Tree(Canvas),
    /// In a pipe.
    Lines,
    /// For machines, on standard output.
    Events,
}

impl Display {
    pub fn new(output: Output) -> Self {
        match output {
            Output::Json => Self::Events,
            Output::Text if std::io::stderr().is_terminal() => Self::Tree(Canvas::default()),
            Output::Text => Self::Lines,
        }
    }

    /// Whether it is drawn again as time passes.
    pub fn is_live(&self) -> bool {
        matches!(self, Self::Tree(_))
    }

    /// Something has changed about an object.
    pub fn news(&mut self, at: &Reference, state: &str, text: &str, now: DateTime<Utc>) -> std::io::Result<()> {
        match self {
            // The tree shows it.
            Self::Tree(_) => {}
            Self::Lines => note(&format!("{}  {at}: {text}", now.to_rfc3339_opts(SecondsFormat::Secs, true))),
            Self::Events => {
                return event("change", json!({"object": at.to_string(), "state": state, "text": text}), now);
            }
        }
        Ok(())
    }

    /// A remark that is said on a terminal as well.
    pub fn remark(&mut self, text: &str, now: DateTime<Utc>) -> std::io::Result<()> {
        match self {
            Self::Tree(canvas) => {
                canvas.clear(&mut std::io::stderr().lock())?;
                note(text);
                Ok(())
            }
            Self::Lines => {
                note(&format!("{}  {text}", now.to_rfc3339_opts(SecondsFormat::Secs, true)));
                Ok(())
            }
            Self::Events => event("note", json!({ "text": text }), now),
        }
    }

    pub fn draw(&mut self, rollout: &Rollout, judgement: &Judgement, now: DateTime<Utc>) {
        if let Self::Tree(canvas) = self {
            let size = terminal_size::terminal_size_of(std::io::stderr());
            let size = size.map_or(SIZE, |(width, height)| (usize::from(width.0), usize::from(height.0)));
            let colour = has_colour(&std::io::stderr());
            let rows = lines(rollout, judgement, size, colour, now);
            let _ = canvas.draw(&mut std::io::stderr().lock(), &rows);
        }
    }

    /// The end: what was drawn goes, what is left is the result.
    pub fn end(
        &mut self,
        (result, code): (&str, u8),
        text: &str,
        timeline: &str,
        judgement: &Judgement,
        now: DateTime<Utc>,
    ) -> std::io::Result<()> {
        if let Self::Tree(canvas) = self {
            canvas.clear(&mut std::io::stderr().lock())?;
        }
        if let Self::Events = self {
            let roots: Vec<Value> = judgement.roots.iter().map(|root| root_record(root, judgement)).collect();
            let first = text.lines().next().unwrap_or_default();
            return event("end", json!({"result": result, "exitCode": code, "text": first, "roots": roots}), now);
        }
        print(&format!("{text}{timeline}"))
    }
}

/// An event, in a line of its own.
fn event(name: &str, mut fields: Value, now: DateTime<Utc>) -> std::io::Result<()> {
    if let Some(fields) = fields.as_object_mut() {
        fields.insert("schemaVersion".to_owned(), 1.into());
        fields.insert("event".to_owned(), name.into());
        fields.insert("time".to_owned(), instant(now).into());
    }
    print(&format!("{fields}\n"))
}
