//! What comes after the findings: is a hold possible, may the asker use the bypass, what may the reader know?

use super::finding::{Finding, Unheld};
use super::machine::{Pending, Phase};
use super::mark::MarkNote;
use super::probe::other_kind;
use super::{Asker, Gate, Names, Question, Role, Severity, Step};
use crate::object::Reference;
use crate::settled::Snapshot;

impl Gate<'_> {
    /// A hold that is due is made only while a companion is alive to release it.
    pub(super) fn after_cone(&self) -> Phase {
        let made = self.subject.as_ref().is_some_and(|subject| subject.marks.note == Some(MarkNote::Made));
        // A refusal that no bypass can lift beats both.
        let refused = !self.findings.refusals.is_empty() && self.settings.enforce && self.bypass_reason().is_none();
        let due = (made || self.findings.hold.is_some()) && !refused;
        if due { Phase::Lease } else { self.after_findings() }
    }

    pub(super) fn lease(&mut self) -> Step {
        self.phase = self.after_findings();
        self.pending = Pending::Lease;
        let (namespace, name) = &self.settings.companion_lease;
        let labels = self.subject.as_ref().and_then(|subject| subject.new.metadata.labels.as_ref());
        let shard = labels.and_then(|labels| labels.shard.as_deref()).filter(|shard| !shard.is_empty());
        let name = shard.map_or_else(|| name.clone(), |shard| format!("{name}-{shard}").into());
        Step::Lease { namespace: namespace.clone(), name }
    }

    pub(super) fn lease_known(&mut self, unheld: Option<Unheld>) {
        let Some(unheld) = unheld else { return };
        match self.findings.hold.take() {
            Some((_, finding)) => self.unheld(finding, unheld),
            None => self.findings.warnings.push(Finding::NoCompanion),
        }
        self.phase = self.after_findings();
    }

    /// An applier's early resume that nobody holds.
    pub(super) fn unheld(&mut self, finding: Finding, why: Unheld) {
        if self.settings.unheld == Severity::Refuse && self.settings.role != Role::Hold {
            self.findings.refusals.push(finding);
        } else {
            self.findings.warnings.push(finding);
            self.findings.warnings.push(Finding::Unheld(why));
        }
    }

    pub(super) fn after_findings(&self) -> Phase {
        if self.findings.refusals.is_empty() || !self.settings.enforce { Phase::Done } else { Phase::Bypass }
    }

    pub(super) fn bypass(&mut self) -> Option<Step> {
        self.phase = Phase::Disclose;
        self.bypass_reason()?;
        self.pending = Pending::Bypass;
        let namespace = self.request.namespace.unwrap_or_default().into();
        let question = Question { verb: "bypass", group: "sluicegate.dev", resource: "gates", namespace, name: None };
        Some(Step::Ask(vec![question]))
    }

    pub(super) fn bypass_known(&mut self, granted: bool) {
        self.findings.bypassed = granted;
        self.findings.bypass_denied = !granted;
    }

    /// Only a person reads a refusal, and only about what a person may get is more said.
    pub(super) fn disclose(&mut self) -> Option<Step> {
        if self.findings.bypassed || self.asker != Asker::Person || self.request.is_audit() {
            return None;
        }
        let names = self.names();
        let others = self.findings.refusals.iter().filter_map(missing_elsewhere).collect::<Vec<_>>();
        let mentioned = self.findings.refusals.iter().flat_map(Finding::mentions);
        let questions = names.questions(others.iter().map(|(_, other)| other).chain(mentioned));
        if questions.is_empty() {
            return None;
        }
        let (references, questions) = questions.into_iter().unzip();
        self.pending = Pending::Names(references);
        self.phase = Phase::LateProbe(others);
        Some(Step::Ask(questions))
    }

    pub(super) fn names_known(&mut self, allowed: impl Iterator<Item = Reference>) {
        let mut names = self.names();
        for reference in allowed {
            names.allow(reference);
        }
        self.findings.names = Some(names);
    }

    pub(super) fn late_probe(&mut self, mut probes: Vec<(Reference, Reference)>) -> Option<Step> {
        let names = self.names();
        probes.retain(|(_, other)| names.may_quote(other));
        let reads = self.store.want(probes.iter().map(|(_, other)| (other, false)));
        if !reads.is_empty() {
            return self.wait(Phase::LateProbe(probes), reads);
        }
        for finding in &mut self.findings.refusals {
            let Finding::Missing { target, reason, kind: false } = finding else { continue };
            let other = probes.iter().find(|(missing, _)| missing == target).map(|(_, other)| other.clone());
            if let Some(found) = other.filter(|other| self.store.object(other).is_some()) {
                *finding = Finding::WrongKind { target: target.clone(), reason: *reason, found };
            }
        }
        None
    }

    /// What the reader of the texts may learn, as far as it is known by now.
    pub(super) fn names(&self) -> Names {
        if let Some(names) = &self.findings.names {
            return names.clone();
        }
        match &self.subject {
            Some(subject) => Names::new(&subject.new.reference, subject.named.iter().cloned(), self.settings.disclose),
            None => Names::new(&self.own(), [], self.settings.disclose),
        }
    }
}

fn missing_elsewhere(finding: &Finding) -> Option<(Reference, Reference)> {
    match finding {
        Finding::Missing { target, kind: false, .. } => other_kind(target),
        _ => None,
    }
}
