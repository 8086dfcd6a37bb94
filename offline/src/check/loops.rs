//! Objects that wait for each other, and objects that wait for what nobody resumes.

use super::{Checker, Finding, LoopFinding, Severity, What};
use sluicegate_core::object::Reference;
use std::collections::BTreeSet;

impl Checker<'_> {
    /// Every set of objects that wait for each other, once.
    pub(super) fn loops(&self) -> Vec<Finding> {
        let found = self.graph.loops().into_iter().enumerate().filter_map(|(index, report)| {
            let first = report.shortest.members().next()?.clone();
            let spot = |from: &Reference, need: &sluicegate_core::need::Need| self.spot(from, &need.reason.to_string());
            let steps = report.shortest.steps.iter().map(|step| spot(&step.from, &step.need)).collect();
            let cut = report.cut.as_ref().and_then(|cut| spot(&cut.from, cut.needs.first()?));
            let behind = self.graph.behind(&report.members).into_iter().cloned().collect();
            // Each costs as much as the source has dependants.
            let silenced = if index < SILENCED { self.graph.silenced_by(&report.members) } else { Vec::new() };
            let silenced = silenced
                .into_iter()
                .map(|silenced| (silenced.source.clone(), silenced.bystanders.into_iter().cloned().collect()))
                .collect();
            let field = report.shortest.steps.first().map(|step| step.need.reason.to_string()).unwrap_or_default();
            let what = What::Loop(Box::new(LoopFinding { report, steps, cut, behind, silenced }));
            Some(self.finding(Severity::Error, &first, &field, what))
        });
        found.collect()
    }

    /// Suspended objects that others wait for: the wait ends when somebody resumes them, and not before.
    pub(super) fn suspended(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        let mut budget = BUDGET;
        for (reference, definition) in &self.world.objects {
            let annotations = definition.object.metadata.annotations.as_ref();
            // What the gate holds is resumed by the companion.
            let is_held = annotations.is_some_and(|annotations| annotations.held.is_some());
            if !definition.object.is_suspended() || is_held || self.graph.dependants(reference).is_empty() {
                continue;
            }
            let behind: BTreeSet<&Reference> = self.graph.behind([reference]).into_iter().collect();
            let is_running = |object: &&&Reference| {
                self.world.objects.get(**object).is_some_and(|definition| !definition.object.is_suspended())
            };
            let behind: Vec<Reference> = behind.iter().filter(is_running).map(|object| (*object).clone()).collect();
            budget = budget.saturating_sub(behind.len());
            if !behind.is_empty() {
                let what = What::Suspended { behind };
                found.push(self.finding(Severity::Warning, reference, "spec.suspend", what));
            }
            if budget == 0 {
                break;
            }
        }
        found
    }
}

/// For how many loops it is looked whom they keep from waking.
const SILENCED: usize = 50;
/// How many waiting objects are listed in all: a chain of thousands that are all suspended would list millions.
const BUDGET: usize = 1_000_000;
