//! What the gate says. A message may have several lines, of which the first stands alone; a warning is one line.

use super::clean;
use crate::expression::Failure;
use crate::gate::{Blockage, Finding, Judging, Link, MarkNote, Names, Trouble, Unheld, Unread};
use crate::need::Reason;
use crate::object::{Kind, Reference};
use std::fmt::Write;

/// Longer warnings may be cut by the API server's clients; Kubernetes asks for at most 120 characters.
const WARNING: usize = 119;

/// How many steps of a path are shown before the middle is left out.
const STEPS: usize = 40;

/// What is added where the blocker is a stalled generator.
const STALLED: &str = " (stalled: its work is done, but its controller will not say so)";

/// What stands in place of an object that may not be named.
pub(super) const HIDDEN: &str = "an object in another namespace";

/// Cuts a warning to fewer than 120 characters.
#[must_use]
pub fn warning(text: &str) -> String {
    if text.chars().count() <= WARNING {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(WARNING - 1).collect();
    cut.push('…');
    cut
}

/// What is said in place of further findings.
#[must_use]
pub fn more(count: usize) -> String {
    format!("and {count} more")
}

/// What is said below a refusal whose bypass was not granted.
#[must_use]
pub fn bypass_denied(user: &str, namespace: Option<&str>) -> String {
    let place = namespace.map(|namespace| format!(" in namespace {}", clean(namespace, 63))).unwrap_or_default();
    format!(
        "the bypass was not granted: {} needs the verb bypass on gates in group sluicegate.dev{place}",
        clean(user, 250)
    )
}

/// What is said without enforcement of a mark that an applier's request loses (`back`), or that goes with the switch.
#[must_use]
pub fn mark_left(own: &Reference, back: bool) -> String {
    let what = if back { "put back on" } else { "taken off" };
    format!("the mark sluicegate.dev/held would be {what} {own}")
}

impl Finding {
    /// The message of a refusal about `own`.
    #[must_use]
    pub fn message(&self, own: &Reference, names: &Names) -> String {
        match self {
            Self::Cycle { links, .. } => format!("{}\n{}", self.line(own, names), cycle_path(own, links, names)),
            Self::SelfNeed(reason) => {
                let link = Link { from: own.clone(), reason: *reason, added: false };
                format!("{}\n{}", self.line(own, names), cycle_path(own, &[link], names))
            }
            Self::Premature(blockage) => {
                let line = self.line(own, names);
                format!("{line}\n{}{}", way(blockage, own, names), advice(blockage))
            }
            _ => self.line(own, names),
        }
    }

    /// The finding in one line, which says it without the rest.
    #[must_use]
    pub fn line(&self, own: &Reference, names: &Names) -> String {
        match self {
            Self::Unreadable(unreadable) => format!("{own} is not judged: {unreadable}"),
            Self::UnknownVersion(version) => {
                format!("{own} is not judged: version {} is not known", clean(version, 40))
            }
            Self::CompanionChange(field) => format!(
                "the companion may change only the suspend switch, marks, the request token and its recovery \
                 annotations of {own}, not {}",
                clean(field, 100)
            ),
            Self::CompanionVetoed => {
                format!("{own} is not to be resumed: the annotation sluicegate.dev/release says never")
            }
            Self::SelfNeed(reason) => format!("self-dependency: {own} names itself in {reason}"),
            Self::TooMany { count, limit } => {
                format!("{own} adds {count} needs at once; no more than {limit} can be checked for cycles (maxReads)")
            }
            Self::Cycle { .. } => format!("dependency cycle: {own} needs itself"),
            Self::Missing { target, reason, kind: false } => {
                format!("{own} names {} in {reason}, which does not exist", named(target, names))
            }
            Self::Missing { target, reason, kind: true } => {
                format!("{own} names {} in {reason}, but the cluster has no {}", named(target, names), target.kind)
            }
            Self::WrongKind { target, reason, found } => {
                let cannot = match reason {
                    Reason::DependsOn(_) => own.kind != Kind::ResourceSet,
                    Reason::Include(_) => true,
                    _ => false,
                };
                let cannot = if cannot { format!(", which {reason} cannot name") } else { String::new() };
                let found = named(found, names);
                format!("no {} of the name that {own} gives in {reason}; there is {found}{cannot}", target.kind)
            }
            Self::Duplicate { target, first, again } => {
                format!("{own} names {} twice: {first} and {again}", named(target, names))
            }
            Self::Unjudged(unjudged) if unjudged.kind.is_empty() => {
                format!("{own} names something without a kind in {}", unjudged.reason)
            }
            Self::Unjudged(unjudged) => format!(
                "{own} waits in {} for {} {}, a kind that is not judged",
                unjudged.reason,
                clean(&unjudged.kind, 40),
                clean(&unjudged.name, 60)
            ),
            Self::NotJudged { judging, at, why } => {
                let what = match judging {
                    Judging::Cycle => "dependency cycles of",
                    Judging::Dependency => "the dependencies of",
                };
                format!("{what} {own} not judged: {}", unread(at, why, names))
            }
            Self::Premature(blockage) => premature(blockage, own, names),
            Self::NotReached(unreached) => {
                let object = named(&unreached.object, names);
                match &unreached.by {
                    None => format!("{own} is resumed while {object} may not have been applied yet"),
                    Some(by) => {
                        format!("{own} is resumed while {} may not have applied {object} yet", named(by, names))
                    }
                }
            }
            Self::Vetoed => format!("{own} stays suspended: the annotation sluicegate.dev/release says never"),
            Self::Unheld(Unheld::Stale) => format!("{own} is not held: the companion's Lease has run out"),
            Self::Unheld(Unheld::Absent) => format!("{own} is not held: there is no companion, or it has no Lease yet"),
            Self::Unheld(Unheld::NoLease) => format!("{own} is not held: the companion's Lease cannot be read"),
            Self::Unheld(Unheld::Role) => format!("{own} is not held: this policy only refuses"),
            Self::Mark(note) => mark(*note, own),
            Self::NoCompanion => format!("no companion is alive to resume {own}"),
            Self::HeldTooLong { seconds } => format!("{own} has been held for {}", duration(*seconds)),
            Self::Unwritable => format!("{own} could not be changed: its metadata or spec is not an object"),
        }
    }

    /// The finding as a warning of its own: in a line that is likely to be short enough.
    #[must_use]
    pub fn warning(&self, own: &Reference, names: &Names) -> String {
        match self {
            Self::WrongKind { target, reason, found } if found.namespace == target.namespace => {
                format!("{reason}: no {}; there is {}", named(target, names), named(found, names))
            }
            _ => self.line(own, names),
        }
    }

    /// The finding as a warning that says that the object is held.
    #[must_use]
    pub fn held(&self, own: &Reference, names: &Names) -> String {
        let why = match self {
            Self::Premature(blockage) if blockage.is_unread() => format!("not judged, {}", trouble(blockage, names)),
            Self::Premature(blockage) => {
                format!("{}: {}", object_or_hidden(&blockage.at, names), trouble(blockage, names))
            }
            Self::NotReached(unreached) => {
                let object = object_or_hidden(&unreached.object, names);
                match &unreached.by {
                    None => format!("{object} may not have been applied yet"),
                    Some(by) => format!("{} may not have applied {object} yet", object_or_hidden(by, names)),
                }
            }
            Self::Vetoed => "sluicegate.dev/release says never".to_owned(),
            other => other.line(own, names),
        };
        format!("held: {why}")
    }

    /// The objects that the texts of this finding name, the most telling first.
    #[must_use]
    pub fn mentions(&self) -> Vec<&Reference> {
        match self {
            Self::Cycle { links, .. } => links.iter().map(|link| &link.from).collect(),
            Self::Missing { target, .. } | Self::Duplicate { target, .. } => vec![target],
            Self::WrongKind { target, found, .. } => vec![found, target],
            Self::NotJudged { at, .. } => vec![at],
            Self::Premature(blockage) => {
                let way = blockage.way.iter().map(|(from, _)| from);
                std::iter::once(&blockage.at).chain(&blockage.quoted).chain(way).collect()
            }
            Self::NotReached(unreached) => std::iter::once(&unreached.object).chain(&unreached.by).collect(),
            _ => Vec::new(),
        }
    }

    /// The path for the audit log.
    #[must_use]
    pub fn path(&self, own: &Reference) -> String {
        let mut path: Vec<String> = match self {
            Self::Cycle { links, .. } => links.iter().map(|link| link.from.to_string()).collect(),
            Self::Premature(blockage) => blockage.way.iter().map(|(from, _)| from.to_string()).collect(),
            _ => vec![own.to_string()],
        };
        match self {
            Self::Cycle { .. } | Self::SelfNeed(_) => path.push(own.to_string()),
            Self::Premature(blockage) => path.push(blockage.at.to_string()),
            Self::Missing { target, .. } | Self::WrongKind { target, .. } | Self::Duplicate { target, .. } => {
                path.push(target.to_string());
            }
            Self::NotJudged { at, .. } => path.push(at.to_string()),
            Self::NotReached(unreached) => path.push(unreached.object.to_string()),
            _ => {}
        }
        clean(&path.join(" -> "), 1_000).to_string()
    }
}

fn object_or_hidden(reference: &Reference, names: &Names) -> String {
    if names.may_name(reference) { reference.to_string() } else { HIDDEN.to_owned() }
}

use object_or_hidden as named;

fn cycle_path(own: &Reference, links: &[Link], names: &Names) -> String {
    let mut text = format!("  {own}");
    let mut rows = Vec::new();
    for (index, link) in links.iter().enumerate() {
        let to = links.get(index + 1).map_or(own, |next| &next.from);
        // The field of an object that may not be named tells as much as its name.
        if names.may_name(to) && names.may_name(&link.from) {
            let added = if link.added { ", added by this change" } else { "" };
            rows.push((format!("needs {to}"), format!("({}{added})", link.reason)));
        } else if names.may_name(to) {
            rows.push((format!("which leads to {to}"), String::new()));
        } else if rows.last().is_none_or(|(row, _)| row != &format!("needs {HIDDEN}")) {
            rows.push((format!("needs {HIDDEN}"), String::new()));
        }
    }
    let width = rows.iter().map(|(row, _)| row.chars().count()).max().unwrap_or_default();
    let left_out = rows.len().saturating_sub(STEPS);
    for (index, (row, field)) in rows.iter().enumerate() {
        if left_out > 0 && index == STEPS / 2 {
            let _ = write!(text, "\n    … {left_out} more …");
        }
        if left_out > 0 && (STEPS / 2..STEPS / 2 + left_out).contains(&index) {
            continue;
        }
        let line = format!("{row:width$}   {field}");
        let _ = write!(text, "\n    {}", line.trim_end());
    }
    text
}

fn premature(blockage: &Blockage, own: &Reference, names: &Names) -> String {
    let what = trouble(blockage, names);
    if blockage.is_unread() {
        return format!("unsuspend of {own} not judged: {what}");
    }
    let at = object_or_hidden(&blockage.at, names);
    let stalled = if blockage.stalled && names.may_quote(&blockage.at) { STALLED } else { "" };
    format!("premature unsuspend: {own} waits for {at}: {what}{stalled}")
}

/// A predicate as it stands after a name and a colon.
fn after_name(predicate: &str) -> String {
    predicate.strip_prefix("is ").unwrap_or(predicate).to_owned()
}

/// What is wrong with the blocker, to stand after its name and a colon.
fn trouble(blockage: &Blockage, names: &Names) -> String {
    let quote = names.may_quote(&blockage.at) && blockage.quoted.iter().all(|other| names.may_quote(other));
    match &blockage.trouble {
        Trouble::Blocked(blocker) if quote => after_name(&blocker.sentence().to_string()),
        Trouble::Blocked(blocker) => after_name(blocker.brief()),
        Trouble::Missing => "does not exist".to_owned(),
        Trouble::KindMissing => format!("does not exist: the cluster has no {}", blockage.at.kind),
        Trouble::Unexpected { expected, actual, .. } if quote => {
            let actual = actual.as_deref().unwrap_or("nothing");
            format!("does not show the expected revision {} ({})", clean(expected, 80), clean(actual, 80))
        }
        Trouble::Unexpected { .. } => "does not show the expected revision".to_owned(),
        Trouble::ExpressionFalse(reason) => format!("does not meet {reason}.readyExpr"),
        // What an evaluation says may quote the object that was read.
        Trouble::ExpressionFailed(reason, Failure::Evaluation(_)) if !quote => {
            format!("cannot be judged by {reason}.readyExpr: it fails")
        }
        Trouble::ExpressionFailed(reason, failure) => {
            format!("cannot be judged by {reason}.readyExpr: {}", super::expression_failure(failure))
        }
        Trouble::Unread(why) => unread(&blockage.at, why, names),
    }
}

fn way(blockage: &Blockage, own: &Reference, names: &Names) -> String {
    let mut rows = vec![format!("  {own}")];
    for (index, (from, reason)) in blockage.way.iter().enumerate() {
        let to = blockage.way.get(index + 1).map_or(&blockage.at, |(next, _)| next);
        if names.may_name(to) && names.may_name(from) {
            rows.push(format!("    needs {to} ({reason})"));
        } else if names.may_name(to) {
            rows.push(format!("    which leads to {to}"));
        } else if !rows.last().is_some_and(|row| row.ends_with(HIDDEN)) {
            rows.push(format!("    needs {HIDDEN}"));
        }
    }
    if rows.len() > STEPS {
        let left_out = rows.len() - STEPS;
        rows.splice(STEPS / 2..STEPS / 2 + left_out, [format!("    … {left_out} more …")]);
    }
    rows.join("\n")
}

fn advice(blockage: &Blockage) -> &'static str {
    if blockage.is_unread() {
        "\nTry again, or let the gate resume it: suspend it with the annotation sluicegate.dev/resume: when-settled"
    } else {
        ""
    }
}

fn unread(at: &Reference, why: &Unread, names: &Names) -> String {
    let object = object_or_hidden(at, names);
    match why {
        Unread::Forbidden => format!("the policy server may not get {}", at.kind.resource()),
        Unread::OutOfTime => format!("the time for reading was over before {object}"),
        Unread::OutOfBudget => format!("the budget of reads (maxReads) was spent before {object}"),
        Unread::Unreadable(unreadable) if names.may_quote(at) => format!("{object} cannot be read: {unreadable}"),
        Unread::Unreadable(_) => format!("{object} cannot be read"),
        Unread::Failed(text) if names.may_quote(at) && !text.trim().is_empty() => {
            format!("{object} could not be read: {}", clean(text.trim(), 200))
        }
        Unread::Failed(_) => format!("{object} could not be read"),
    }
}

fn mark(note: MarkNote, own: &Reference) -> String {
    match note {
        MarkNote::Stripped => format!("the mark sluicegate.dev/held on {own} was taken off: only the gate makes marks"),
        MarkNote::Restored => {
            format!("the mark sluicegate.dev/held on {own} was restored: only the gate changes marks")
        }
        MarkNote::Ended => format!("{own} is no longer held: its applier now declares it suspended"),
        MarkNote::LeftHeld => {
            format!("{own} is held and will be resumed; to keep it suspended remove sluicegate.dev/held")
        }
        MarkNote::Made => format!("{own} will be resumed once all that it needs is settled"),
        MarkNote::Forged => format!("the new mark sluicegate.dev/held on {own} names somebody else than who asks"),
    }
}

/// A duration in the largest unit that leaves no more than two of them.
pub(super) fn duration(seconds: i64) -> String {
    match seconds {
        s if s >= 86_400 => format!("{} d {} h", s / 86_400, s % 86_400 / 3_600),
        s if s >= 3_600 => format!("{} h {} min", s / 3_600, s % 3_600 / 60),
        s if s >= 60 => format!("{} min", s / 60),
        s => format!("{s} s"),
    }
}
