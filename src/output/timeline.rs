//! The time line of a roll-out: as text, as a page with one picture, as a record.

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use serde_json::json;
use sluicegate_core::rollout::{Phase, Rollout, Unit};
use sluicegate_core::text::rollout::took;
use std::fmt::Write;

/// How many columns a bar has.
const BAR: usize = 32;
/// How many objects are drawn as text; the slowest ones.
const ROWS: usize = 40;

/// All phases, each with its mark in text and its shade in pictures: also in grey they can be told apart.
const PHASES: [(Phase, char, &str); 6] = [
    (Phase::Waits, '.', "#dddddd"),
    (Phase::Suspended, 'z', "#f2c14e"),
    (Phase::Absent, '?', "#b08bd0"),
    (Phase::Works, '#', "#4a90d9"),
    (Phase::Failed, '!', "#c0392b"),
    (Phase::Settled, '=', "#2e7d4f"),
];

fn mark(phase: Phase) -> char {
    PHASES.iter().find(|(of, ..)| *of == phase).map_or(' ', |(_, mark, _)| *mark)
}

fn milliseconds(time: TimeDelta) -> i64 {
    time.num_milliseconds().max(0)
}

/// What a unit did at a time; nothing before it was known.
fn at(unit: &Unit, time: DateTime<Utc>) -> Option<Phase> {
    unit.spans.iter().rev().find(|span| span.from <= time).map(|span| span.phase)
}

/// When a unit came to be settled for the last time.
fn settled(unit: &Unit) -> Option<DateTime<Utc>> {
    unit.spans.last().filter(|span| span.phase == Phase::Settled).map(|span| span.from)
}

/// The time line in lines of text, the last to be settled at the end. Nothing where nothing ever moved.
#[must_use]
pub fn text(rollout: &Rollout, now: DateTime<Utc>) -> String {
    let whole = milliseconds(now.signed_duration_since(rollout.started()));
    let mut units: Vec<_> = rollout.units().iter().filter(|(_, unit)| unit.required).collect();
    let moved = |unit: &Unit| unit.spans.len() > 1 || unit.phase != Phase::Settled;
    let still = units.iter().filter(|(_, unit)| !moved(unit)).count();
    units.retain(|(_, unit)| moved(unit));
    if units.is_empty() || whole == 0 {
        return String::new();
    }
    units.sort_by_key(|(own, unit)| (settled(unit).unwrap_or(DateTime::<Utc>::MAX_UTC), *own));
    let left_out = units.len().saturating_sub(ROWS);
    let units: Vec<_> = units.into_iter().skip(left_out).collect();
    let names = units.iter().map(|(own, _)| own.to_string().chars().count()).max().unwrap_or_default();
    let mut text = String::from("\n");
    for (own, unit) in &units {
        let mut bar = String::new();
        for column in 0..BAR {
            // The middle of the column.
            let offset = whole * (2 * i64::try_from(column).unwrap_or(0) + 1) / (2 * i64::try_from(BAR).unwrap_or(1));
            bar.push(at(unit, rollout.started() + TimeDelta::milliseconds(offset)).map_or(' ', mark));
        }
        let end = match settled(unit) {
            Some(time) => format!("settled after {}", took(time.signed_duration_since(rollout.started()))),
            None => unit.phase.name().to_owned(),
        };
        let own = own.to_string();
        let _ = writeln!(text, "{own:<names$}  |{bar}|  {end}");
    }
    if left_out > 0 {
        let _ = writeln!(text, "and {left_out} more that were settled before");
    }
    match still {
        0 => {}
        1 => text.push_str("one other was settled all the time\n"),
        still => {
            let _ = writeln!(text, "{still} others were settled all the time");
        }
    }
    let legend: Vec<String> = PHASES.iter().map(|(phase, mark, _)| format!("{mark} {}", phase.name())).collect();
    let _ = writeln!(text, "{}", legend.join("   "));
    text
}

fn instant(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// The record, as YAML.
#[must_use]
pub fn record(rollout: &Rollout, result: &str, now: DateTime<Utc>) -> String {
    // A JSON string is a YAML string, whatever stands in it.
    let quoted = |text: &str| json!(text).to_string();
    let mut text = String::from("schemaVersion: 1\n");
    let _ = writeln!(text, "result: {}", quoted(result));
    let _ = writeln!(text, "started: {}", quoted(&instant(rollout.started())));
    let _ = writeln!(text, "ended: {}", quoted(&instant(now)));
    text.push_str("targets:\n");
    for target in rollout.targets() {
        let _ = writeln!(text, "- {}", quoted(&target.to_string()));
    }
    text.push_str(if rollout.units().is_empty() { "objects: []\n" } else { "objects:\n" });
    for (own, unit) in rollout.units() {
        let _ = writeln!(text, "- object: {}", quoted(&own.to_string()));
        let _ = writeln!(text, "  state: {}", unit.phase.name());
        let _ = writeln!(text, "  why: {}", quoted(&unit.why));
        let _ = writeln!(text, "  required: {}", unit.required);
        text.push_str("  spans:\n");
        for span in &unit.spans {
            let _ = writeln!(text, "  - {{state: {}, from: {}}}", span.phase.name(), quoted(&instant(span.from)));
        }
    }
    text
}

/// The time line as a page that needs nothing else: one picture, with a title for each bar.
#[must_use]
pub fn page(rollout: &Rollout, result: &str, now: DateTime<Utc>) -> String {
    const NAMES: usize = 420;
    const WIDTH: usize = 900;
    const ROW: usize = 22;
    let whole = milliseconds(now.signed_duration_since(rollout.started())).max(1);
    let mut units: Vec<_> = rollout.units().iter().collect();
    units.sort_by_key(|(own, unit)| (settled(unit).unwrap_or(DateTime::<Utc>::MAX_UTC), *own));
    let height = ROW * (units.len() + 3);
    let place = |time: DateTime<Utc>| -> i64 {
        let width = i64::try_from(WIDTH).unwrap_or_default();
        milliseconds(time.signed_duration_since(rollout.started())).min(whole) * width / whole
    };
    let mut rows = String::new();
    for (row, (own, unit)) in units.iter().enumerate() {
        let y = ROW * (row + 1);
        let _ = writeln!(
            rows,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
            NAMES - 8,
            y + 15,
            escaped(&own.to_string())
        );
        for (index, span) in unit.spans.iter().enumerate() {
            let end = unit.spans.get(index + 1).map_or(now, |next| next.from);
            let (from, to) = (place(span.from), place(end));
            let shade = PHASES.iter().find(|(phase, ..)| *phase == span.phase).map_or("#000", |(.., shade)| shade);
            let lasted = took(end.signed_duration_since(span.from));
            let _ = writeln!(
                rows,
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{shade}\"><title>{}: {} for {lasted}</title></rect>",
                from + i64::try_from(NAMES).unwrap_or_default(),
                y + 2,
                (to - from).max(1),
                ROW - 4,
                escaped(&own.to_string()),
                span.phase.name()
            );
        }
    }
    let mut legend = String::new();
    for (index, (phase, _, shade)) in PHASES.iter().enumerate() {
        let (x, y) = (NAMES + index * 130, ROW * (units.len() + 1) + 10);
        let _ = writeln!(
            legend,
            "<rect x=\"{x}\" y=\"{y}\" width=\"16\" height=\"16\" fill=\"{shade}\"/><text x=\"{}\" y=\"{}\">{}</text>",
            x + 22,
            y + 13,
            phase.name()
        );
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{title}</title>\n<style>body{{font-family:\
         sans-serif;margin:2em}}svg{{font-size:13px}}</style></head>\n<body>\n<h1>{title}</h1>\n<p>{from} to {to}, {took}\
         </p>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\
         \"time line\">\n{rows}{legend}</svg>\n</body>\n</html>\n",
        title = escaped(result),
        from = instant(rollout.started()),
        to = instant(now),
        took = took(now.signed_duration_since(rollout.started())),
        width = NAMES + WIDTH + 20,
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
