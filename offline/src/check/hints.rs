//! Fields that are probably not what is meant, and order that is stronger than needed.

use super::{Checker, Finding, Severity, Spot, What};
use sluicegate_core::need::{Need, Reason};
use sluicegate_core::object::Reference;
use std::collections::BTreeSet;

/// How many objects are looked at to find whether one dependency implies another.
const STEPS: usize = 200;
/// How many are looked at in all: hints are not worth more.
const BUDGET: usize = 50_000;

impl Checker<'_> {
    /// What cannot be read, what looks misspelt, what is defined twice, what was not followed.
    pub(super) fn oddities(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        for (reference, unread) in &self.world.unread {
            if let Some(why) = &unread.why {
                let what = What::Unreadable(why.clone());
                found.push(self.finding(Severity::Error, reference, &why.field, what));
            }
        }
        let mut seen = BTreeSet::new();
        for (reference, definition) in &self.world.objects {
            if let Some(version) = &definition.unknown_version {
                let what = What::UnknownVersion(version.clone());
                found.push(self.finding(Severity::Warning, reference, "", what));
            }
            let Some(place) = definition.place.filter(|place| seen.insert(*place)) else { continue };
            for misspelt in self.tree.source(place).map(|source| source.misspelt.as_slice()).unwrap_or_default() {
                let what = What::Misspelt { written: misspelt.written.clone(), meant: misspelt.meant };
                let spot = Spot { path: self.tree.shown(place).to_owned(), line: misspelt.line };
                let object = Some(reference.clone());
                found.push(Finding { severity: Severity::Warning, object, spot: Some(spot), what });
            }
        }
        for doubled in &self.world.doubled {
            let what = What::Doubled { first: self.spot_of(doubled.first, "") };
            let spot = Some(self.spot_of(doubled.again, ""));
            found.push(Finding { severity: Severity::Warning, object: Some(doubled.object.clone()), spot, what });
        }
        for open in &self.world.open {
            let spot = Some(Spot { path: open.path.clone(), line: open.line });
            let severity = if open.is_local { Severity::Warning } else { Severity::Note };
            found.push(Finding { severity, object: None, spot, what: What::Open(open.what.clone()) });
        }
        found
    }

    /// Dependencies that another one of the same object leads to anyway.
    pub(super) fn implied(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        let mut budget = BUDGET;
        for reference in self.world.objects.keys() {
            let needs = self.graph.needs(reference).iter();
            let direct: Vec<&Need> = needs.filter(|need| matches!(need.reason, Reason::DependsOn(_))).collect();
            if direct.len() < 2 {
                continue;
            }
            if budget == 0 {
                break;
            }
            let mut implied: BTreeSet<&Reference> = BTreeSet::new();
            for need in &direct {
                // Two that need each other would imply each other.
                let beyond = self.beyond(reference, &need.target, &mut budget);
                for other in direct.iter().filter(|other| other.target != need.target && beyond.contains(&other.target))
                {
                    if implied.insert(&other.target) {
                        let what = What::Implied {
                            target: other.target.clone(),
                            reason: other.reason,
                            by: need.target.clone(),
                        };
                        found.push(self.finding(Severity::Note, reference, &other.reason.to_string(), what));
                    }
                }
            }
        }
        found
    }

    /// What an object depends on over any number of steps, as far as a bounded walk finds it; nothing if that leads back.
    fn beyond(&self, own: &Reference, start: &Reference, budget: &mut usize) -> BTreeSet<&Reference> {
        let mut seen: BTreeSet<&Reference> = BTreeSet::new();
        let mut ahead: Vec<&Reference> = self.dependencies(start).collect();
        while let Some(next) = ahead.pop() {
            if next == own || next == start || seen.len() > STEPS || *budget == 0 {
                return BTreeSet::new();
            }
            *budget -= 1;
            if seen.insert(next) {
                ahead.extend(self.dependencies(next));
            }
        }
        seen
    }

    fn dependencies(&self, object: &Reference) -> impl Iterator<Item = &Reference> {
        let needs = self.graph.needs(object).iter();
        let depends = needs.filter(|need| need.binds() && matches!(need.reason, Reason::DependsOn(_)));
        depends.map(|need| &need.target)
    }
}
