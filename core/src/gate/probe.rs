//! Dependencies that do not exist: is there an object of that name under another kind?

use super::finding::{Finding, Judging};
use super::machine::Phase;
use super::store::Known;
use super::{Gate, Step};
use crate::need::Need;
use crate::object::{Kind, Reference};
use crate::ordered::set_of;
use crate::settled::Snapshot;

/// How many missing dependencies are looked for under another kind.
const PROBES: usize = 5;

impl Gate<'_> {
    /// Missing dependencies, each with the reference of another kind that may be meant.
    pub(super) fn probes(&self) -> Vec<(Reference, Reference)> {
        let Some(subject) = self.subject.as_ref().filter(|_| !self.request.is_audit()) else { return Vec::new() };
        // A hint about another namespace would tell what stands there.
        let home = |need: &&Need| need.target.namespace == subject.new.reference.namespace;
        let missing = |need: &&Need| matches!(self.store.get(&need.target), Some(Known::Absent));
        let named = subject.dependencies().filter(missing).filter(home).map(|need| &need.target);
        set_of(named).into_iter().filter_map(other_kind).take(PROBES).collect()
    }

    pub(super) fn probe(&mut self, probes: Vec<(Reference, Reference)>) -> Option<Step> {
        let reads = self.store.want(probes.iter().map(|(_, other)| (other, false)));
        if !reads.is_empty() {
            return self.wait(Phase::Probe(probes), reads);
        }
        let subject = self.subject.as_ref()?;
        let mut found = Vec::new();
        let mut named = set_of([&subject.new.reference]);
        for need in subject.dependencies().filter(|_| !self.request.is_audit()) {
            if !named.insert(&need.target) {
                continue;
            }
            let (target, reason) = (need.target.clone(), need.reason);
            let other = probes.iter().find(|(missing, _)| *missing == target).map(|(_, other)| other.clone());
            let other = other.filter(|other| self.store.object(other).is_some());
            found.extend(match (self.store.get(&target), other) {
                (Some(Known::Absent), Some(found)) => Some(Finding::WrongKind { target, reason, found }),
                (Some(Known::Absent), None) => Some(Finding::Missing { target, reason, kind: false }),
                (Some(Known::KindAbsent), _) => Some(Finding::Missing { target, reason, kind: true }),
                _ => None,
            });
        }
        // Where no loop can lead on, all that was asked for is whether it exists.
        let unread = subject.dependencies().filter(|need| !need.may_lead_on()).find_map(|need| {
            match self.store.get(&need.target) {
                Some(Known::Unread(why)) => Some((need.target.clone(), why.clone())),
                _ => None,
            }
        });
        let judging = Judging::Dependency;
        self.findings.warnings.extend(unread.map(|(at, why)| Finding::NotJudged { judging, at, why }));
        self.dependency_findings(found);
        self.phase = self.after_walk();
        None
    }
}

/// The object of another kind that is meant where people confuse the two.
pub(super) fn other_kind(missing: &Reference) -> Option<(Reference, Reference)> {
    let kind = match missing.kind {
        Kind::Kustomization => Kind::HelmRelease,
        Kind::HelmRelease | Kind::Terraform => Kind::Kustomization,
        Kind::GitRepository => Kind::OCIRepository,
        Kind::OCIRepository => Kind::GitRepository,
        _ => return None,
    };
    let usable = !missing.name.is_empty() && !missing.namespace.is_empty();
    usable.then(|| (missing.clone(), Reference::new(kind, &missing.namespace, &missing.name)))
}
