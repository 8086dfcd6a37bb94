//! What the check says. What the gate says of the same, it says in the same words.

use super::{Finding, LoopFinding, Spot, What};
use sluicegate_core::gate::{Finding as Found, Names};
use sluicegate_core::object::Reference;
use sluicegate_core::text::clean;
use std::fmt::Write;

/// How many steps of a loop are shown before the middle is left out.
const STEPS: usize = 40;
/// How many objects a list names.
const LISTED: usize = 10;

/// A rule, for machines and for lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// What it is about, in one line.
    pub about: &'static str,
}

const fn rule(name: &'static str, about: &'static str) -> Rule {
    Rule { name, about }
}

/// All rules, in the order of their names.
pub const RULES: [Rule; 15] = [
    rule("broken-yaml", "Text that is no YAML"),
    rule("cycle", "Objects that wait for each other"),
    rule("defined-twice", "The same object twice"),
    rule("duplicate-dependency", "The same dependency twice"),
    rule("implied-dependency", "A dependency that another one implies"),
    rule("misspelt-field", "A field that looks like one that is read"),
    rule("missing", "A reference to an object that does not exist"),
    rule("not-followed", "Something that the tree leads to and that is not in it"),
    rule("unjudged", "A dependency on a kind that is not judged"),
    rule("unknown-variable", "A reference whose name holds a variable that is not known here"),
    rule("unknown-version", "A version of an API that is not known"),
    rule("unreadable", "A field of a wrong type"),
    rule("unreadable-file", "A file that cannot be read"),
    rule("waits-for-suspended", "Objects that wait for one that is suspended"),
    rule("wrong-kind", "A reference to an object that exists as another kind"),
];

impl Finding {
    /// The name of the rule, for machines and for `--ignore` lists.
    #[must_use]
    pub fn rule(&self) -> &'static str {
        match &self.what {
            What::Loop(_) => "cycle",
            What::Missing { .. } => "missing",
            What::WrongKind { .. } => "wrong-kind",
            What::Unknown { .. } => "unknown-variable",
            What::Duplicate { .. } => "duplicate-dependency",
            What::Doubled { .. } => "defined-twice",
            What::Suspended { .. } => "waits-for-suspended",
            What::Unjudged(_) => "unjudged",
            What::Unreadable(_) => "unreadable",
            What::UnknownVersion(_) => "unknown-version",
            What::Misspelt { .. } => "misspelt-field",
            What::Implied { .. } => "implied-dependency",
            What::Broken(_) => "broken-yaml",
            What::File(_) => "unreadable-file",
            What::Open(_) => "not-followed",
        }
    }
}

/// A finding in one line that stands alone.
#[must_use]
pub fn headline(finding: &Finding) -> String {
    let said = |found: Found| match &finding.object {
        Some(own) => found.line(own, &Names::everything(own)),
        None => String::new(),
    };
    let own = finding.object.as_ref().map(ToString::to_string).unwrap_or_default();
    match &finding.what {
        What::Loop(found) if found.report.shortest.steps.len() == 1 => {
            let reason = found.report.shortest.steps.first().map(|step| step.need.reason);
            reason.map(|reason| said(Found::SelfNeed(reason))).unwrap_or_default()
        }
        What::Loop(_) => format!("dependency cycle: {own} needs itself"),
        What::Missing { target, reason, .. } => {
            said(Found::Missing { target: target.clone(), reason: *reason, kind: false })
        }
        What::WrongKind { target, reason, found } => {
            said(Found::WrongKind { target: target.clone(), reason: *reason, found: found.clone() })
        }
        What::Unknown { target, reason } => {
            format!("{own} names {target} in {reason}: not looked for, its variables are not known here")
        }
        What::Duplicate { target, first, again } => {
            said(Found::Duplicate { target: target.clone(), first: *first, again: *again })
        }
        What::Doubled { first } => format!("{own} is defined twice: first in {first}"),
        What::Suspended { behind } => {
            let (who, verb) = if behind.len() == 1 { ("object", "waits") } else { ("objects", "wait") };
            format!("{own} is suspended, and {} {who} {verb} behind it", behind.len())
        }
        What::Unjudged(unjudged) => said(Found::Unjudged(unjudged.clone())),
        What::Unreadable(why) => said(Found::Unreadable(why.clone())),
        What::UnknownVersion(version) => {
            format!("{own}: version {} is not known; it is read as one that is", clean(version, 40))
        }
        What::Misspelt { written, meant } => {
            format!("{own}: spec.{} is not read; is spec.{meant} meant?", clean(written, 40))
        }
        What::Implied { reason, target, by } => {
            format!("{own} needs {target} anyway, through {by}: {reason} adds nothing")
        }
        What::Broken(broken) => broken.why.clone(),
        What::File(why) => clean(why, 200).to_string(),
        What::Open(what) => format!("not followed: {what}"),
    }
}

/// A finding in full, in lines that are indented by two.
#[must_use]
pub fn paragraph(finding: &Finding) -> String {
    let mut text = String::new();
    match &finding.what {
        What::Loop(found) => loop_of(found, &mut text),
        What::Missing { near, open, target, reason } => {
            if let Some(near) = near.as_ref().filter(|near| near.kind != target.kind) {
                let _ = write!(text, "\n  there is {near}, which {reason} does not name");
            } else if let Some(near) = near {
                let how = if near.name == target.name { "is that meant?" } else { "is it meant?" };
                let _ = write!(text, "\n  there is {near}: {how}");
            }
            if *open {
                text.push_str(
                    "\n  it may come from something that was not followed, or that makes objects of templates",
                );
            }
        }
        What::Suspended { behind } => {
            let _ = write!(text, "\n  waiting: {}", list(behind));
        }
        _ => {}
    }
    format!("{}{text}", headline(finding))
}

fn loop_of(found: &LoopFinding, text: &mut String) {
    let steps = &found.report.shortest.steps;
    if let Some(first) = steps.first() {
        let _ = write!(text, "\n  {}", first.from);
    }
    let rows: Vec<(String, String)> = steps
        .iter()
        .zip(&found.steps)
        .map(|(step, spot)| (format!("needs {}", step.need.target), format!("({}{})", step.need.reason, at(spot))))
        .collect();
    let width = rows.iter().map(|(row, _)| row.chars().count()).max().unwrap_or_default();
    let left_out = rows.len().saturating_sub(STEPS);
    for (index, (row, field)) in rows.iter().enumerate() {
        if left_out > 0 && index == STEPS / 2 {
            let _ = write!(text, "\n    … {left_out} more …");
        }
        if left_out == 0 || !(STEPS / 2..STEPS / 2 + left_out).contains(&index) {
            let _ = write!(text, "\n    {row:width$}   {field}");
        }
    }
    let members = found.report.members.len();
    if members > steps.len() {
        let _ = write!(text, "\n  {members} objects wait for each other; this is ");
        text.push_str(if found.report.proven { "a shortest loop among them" } else { "one loop among them" });
    }
    if let Some(cut) = found.report.cut.as_ref().filter(|_| steps.len() > 1) {
        let fields: Vec<String> = cut.needs.iter().map(|need| need.reason.to_string()).collect();
        let (from, target) = (&cut.from, &cut.target);
        let _ = write!(
            text,
            "\n  no loop is left if {from} does not need {target} ({}{})",
            fields.join(", "),
            at(&found.cut)
        );
    } else if steps.len() > 1 {
        text.push_str("\n  no single need is on all loops among them");
    }
    if !found.behind.is_empty() {
        let _ = write!(text, "\n  waits behind this loop: {}", list(&found.behind));
    }
    for (source, bystanders) in &found.silenced {
        let list = list(bystanders);
        let _ = write!(text, "\n  new revisions of {source} no longer reach {list} (fluxcd/kustomize-controller#1712)");
    }
}

fn at(spot: &Option<Spot>) -> String {
    spot.as_ref().map(|spot| format!(", {spot}")).unwrap_or_default()
}

fn list(objects: &[Reference]) -> String {
    let named: Vec<String> = objects.iter().take(LISTED).map(ToString::to_string).collect();
    match objects.len().saturating_sub(LISTED) {
        0 => named.join(", "),
        more => format!("{}, and {more} more", named.join(", ")),
    }
}
