//! Fields that are probably not what is meant, and order that is stronger than needed.

use super::{Checker, Finding, Severity, Spot, What};
use sluicegate_core::need::Reason;
use sluicegate_core::object::Reference;
use std::collections::BTreeSet;

/// How many objects are looked at to find whether one dependency implies another.
const STEPS: usize = 200;
/// How many hints on order there are at most.
const HINTS: usize = 1_000;

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
            found.push(Finding { severity: Severity::Note, object: None, spot, what: What::Open(open.what.clone()) });
        }
        found
    }

    /// Dependencies that another one of the same object leads to anyway.
    pub(super) fn implied(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        for (reference, definition) in &self.world.objects {
            let needs = definition.object.input_needs();
            let direct: Vec<_> = needs.iter().filter(|need| matches!(need.reason, Reason::DependsOn(_))).collect();
            if direct.len() < 2 || found.len() >= HINTS {
                continue;
            }
            let mut implied: BTreeSet<&Reference> = BTreeSet::new();
            for need in &direct {
                // Two that need each other would imply each other.
                let beyond = self.beyond(reference, &need.target);
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
    fn beyond(&self, own: &Reference, start: &Reference) -> BTreeSet<Reference> {
        let mut seen: BTreeSet<Reference> = BTreeSet::new();
        let mut ahead = vec![start.clone()];
        while let Some(next) = ahead.pop() {
            let needs = self.graph.needs(&next).iter();
            for need in needs.filter(|need| need.binds() && matches!(need.reason, Reason::DependsOn(_))) {
                if need.target == *own || need.target == *start || seen.len() > STEPS {
                    return BTreeSet::new();
                }
                if seen.insert(need.target.clone()) {
                    ahead.push(need.target.clone());
                }
            }
        }
        seen
    }
}
