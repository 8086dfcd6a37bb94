//! The state machine: the order of things of a decision, and what each step needs to know.

use super::conclude::Findings;
use super::cone::{Blockage, Cone, Resumed};
use super::finding::{Finding, Judging, Unheld};
use super::lease;
use super::mark::{self, Cause, MarkAsker, MarkNote, MarkOutcome};
use super::reached::{Reached, may_still_change};
use super::store::{Store, no_answer};
use super::subject::Subject;
use super::walk::Walk;
use super::{Answer, Asker, Operation, Read, Request, Settings, Severity, Step, companion};
use crate::need::Direction;
use crate::object::{Object, Reference};
use crate::ordered::set_of;
use crate::settled::Snapshot;
use chrono::{DateTime, Utc};
use serde_json::Value;

/// One decision under way.
pub struct Gate<'a> {
    pub(super) request: Request<'a>,
    pub(super) settings: &'a Settings,
    pub(super) now: DateTime<Utc>,
    pub(super) asker: Asker,
    pub(super) subject: Option<Subject>,
    pub(super) findings: Findings,
    pub(super) phase: Phase,
    pub(super) pending: Pending,
    pub(super) store: Store,
    /// The object under review with all its fields, where an expression may read them.
    pub(super) whole: Option<Value>,
}

/// Where a decision stands; each phase may want reads, and says which one follows.
pub(super) enum Phase {
    /// The owners that new labels name: do they wait for this object?
    Owners,
    /// The search for a cycle.
    Walk(Walk),
    /// Missing dependencies, looked for under another kind.
    Probe(Vec<(Reference, Reference)>),
    /// The input cone of a resume.
    Cone(Cone),
    /// Whether an applier has reached all of that cone.
    Reached(Cone, Reached),
    /// Whether a companion is alive.
    Lease,
    /// Whether the asker may use the bypass.
    Bypass,
    /// What the reader of a refusal may know.
    Disclose,
    /// Missing dependencies of other namespaces under another kind, where the reader may know them.
    LateProbe(Vec<(Reference, Reference)>),
    /// The verdict can be given.
    Done,
}

pub(super) enum Pending {
    Nothing,
    Reads,
    Lease,
    Bypass,
    Names(Vec<Reference>),
}

impl<'a> Gate<'a> {
    /// Starts a decision at the time `now`.
    #[must_use]
    pub fn new(request: Request<'a>, settings: &'a Settings, now: DateTime<Utc>) -> Self {
        let asker = Asker::of(&request, settings);
        let mut gate = Self {
            request,
            settings,
            now,
            asker,
            subject: None,
            findings: Findings::default(),
            phase: Phase::Done,
            pending: Pending::Nothing,
            store: Store::new(settings.max_reads, now),
            whole: None,
        };
        gate.phase = gate.begin();
        gate
    }

    /// What is wanted next. Asking again without an answer gives up on it: what is missing counts as not judged.
    pub fn step(&mut self) -> Step {
        self.give_up();
        loop {
            let step = match std::mem::replace(&mut self.phase, Phase::Done) {
                Phase::Owners => self.owners(),
                Phase::Walk(walk) => self.walk(walk),
                Phase::Probe(probes) => self.probe(probes),
                Phase::Cone(cone) => self.cone(cone),
                Phase::Reached(cone, reached) => self.reached(cone, reached),
                Phase::Lease => Some(self.lease()),
                Phase::Bypass => self.bypass(),
                Phase::Disclose => self.disclose(),
                Phase::LateProbe(probes) => self.late_probe(probes),
                Phase::Done => return Step::Done(Box::new(self.conclude())),
            };
            if let Some(step) = step {
                return step;
            }
        }
    }

    /// Takes the answer to the last step. An answer that is too short, or of another sort, leaves the rest unknown.
    pub fn answer(&mut self, answer: Answer) {
        match (std::mem::replace(&mut self.pending, Pending::Nothing), answer) {
            (Pending::Reads, Answer::Fetched(fetched)) => self.store.answer(fetched),
            (Pending::Lease, Answer::Fetched(fetched)) => {
                let lease = fetched.into_iter().next().unwrap_or_else(no_answer);
                self.lease_known(lease::current(&lease, self.now).err());
            }
            (Pending::Bypass, Answer::Allowed(allowed)) => self.bypass_known(allowed.first() == Some(&true)),
            (Pending::Names(asked), Answer::Allowed(allowed)) => {
                self.names_known(asked.into_iter().zip(allowed).filter(|(_, yes)| *yes).map(|(name, _)| name));
            }
            (pending, _) => {
                self.pending = pending;
                self.give_up();
            }
        }
    }

    fn give_up(&mut self) {
        match std::mem::replace(&mut self.pending, Pending::Nothing) {
            Pending::Reads => self.store.answer(Vec::new()),
            Pending::Lease => self.lease_known(Some(Unheld::NoLease)),
            Pending::Bypass => self.bypass_known(false),
            Pending::Names(_) => self.names_known(std::iter::empty()),
            Pending::Nothing => {}
        }
    }

    pub(super) fn wait(&mut self, phase: Phase, reads: Vec<Read>) -> Option<Step> {
        self.phase = phase;
        self.pending = Pending::Reads;
        Some(Step::Read(reads))
    }

    /// All that needs no read, in the order of the design.
    fn begin(&mut self) -> Phase {
        let request = &self.request;
        let read = |json| Object::of_request(request.kind, request.namespace, request.name, json);
        let audit = request.is_audit();
        // In the audit the object is the stored one, with its own status.
        let new = if audit {
            read(request.object)
        } else {
            Object::proposed(request.kind, request.namespace, request.name, request.object)
        };
        let new = match new {
            Ok(new) => new,
            Err(unreadable) => return self.unreadable(Finding::Unreadable(unreadable)),
        };
        if new.is_deleting() {
            return Phase::Done;
        }
        if !request.version.is_empty() && !request.kind.row().versions.contains(&request.version) {
            return self.unreadable(Finding::UnknownVersion(request.version.into()));
        }
        let old = match (request.operation, request.old.map(read)) {
            (Operation::Update, Some(Ok(old))) => Some(old),
            (Operation::Update, Some(Err(unreadable))) => return self.unreadable(Finding::Unreadable(unreadable)),
            _ => None,
        };
        let changes = |_| companion::forbidden_change(request.kind, request.old, request.object);
        if let Some(field) = Some(()).filter(|()| self.asker == Asker::Companion).and_then(changes) {
            self.findings.refusals.push(Finding::CompanionChange(field.into()));
            self.subject = Some(Subject::new(new, old, MarkOutcome::default(), false));
            return Phase::Done;
        }
        let who = MarkAsker { asker: self.asker, user: request.user, manager: request.manager };
        let marks = match audit {
            true => MarkOutcome::default(),
            false => mark::put_right(self.settings.role, who, old.as_ref(), &new, request.object, self.now),
        };
        let subject = Subject::new(new, old, marks, audit);
        if subject.up && subject.expression_targets().next().is_some() {
            // Nested too deep for a value: then the expression is not evaluated, and says so.
            self.whole = whole(request);
            self.store.read_whole(subject.expression_targets());
        }
        self.judge_without_reads(&subject);
        self.subject = Some(subject);
        if self.findings.refusals.is_empty() {
            Phase::Owners
        } else if self.asker == Asker::Applier && self.bypass_reason().is_some() {
            // A bypass lifts refusals; a hold is none.
            self.after_walk()
        } else {
            self.after_findings()
        }
    }

    fn unreadable(&mut self, finding: Finding) -> Phase {
        self.findings.warnings.push(finding);
        Phase::Done
    }

    fn judge_without_reads(&mut self, subject: &Subject) {
        let (audit, found) = (self.request.is_audit(), &mut self.findings);
        match subject.marks.note {
            Some(MarkNote::Forged) => found.refusals.push(Finding::Mark(MarkNote::Forged)),
            Some(note) => found.warnings.push(Finding::Mark(note)),
            None => {}
        }
        if self.asker == Asker::Companion && subject.up && subject.old.as_ref().is_some_and(mark::is_vetoed) {
            found.refusals.push(Finding::CompanionVetoed);
        }
        if !self.settings.role.refuses() {
            return;
        }
        if audit {
            let age = mark::carried(&subject.new).map(|mark| (self.now - mark.made()).num_seconds());
            let limit = i64::try_from(self.settings.held_too_long.as_secs()).unwrap_or(i64::MAX);
            found.refusals.extend(age.filter(|age| *age > limit).map(|seconds| Finding::HeldTooLong { seconds }));
        }
        let own = &subject.new.reference;
        let itself = subject.added.iter().find(|need| need.target == *own && need.binds());
        found.refusals.extend(itself.filter(|_| subject.new.is_named()).map(|need| Finding::SelfNeed(need.reason)));
        if audit {
            return;
        }
        let inputs = subject.added.iter().filter(|need| need.direction == Direction::Input);
        let inputs = set_of(inputs.map(|need| &need.target));
        let (count, limit) = (inputs.len(), self.settings.max_reads);
        if self.asker == Asker::Person && count > limit {
            found.refusals.push(Finding::TooMany { count, limit });
        }
        found.warnings.extend(subject.new_unjudged());
        let duplicates = subject.new_duplicates();
        self.dependency_findings(duplicates);
    }

    /// Missing, wrong-kind and duplicate dependencies: a warning, or a refusal to a person where the settings say so.
    pub(super) fn dependency_findings(&mut self, found: Vec<Finding>) {
        let refuse = self.asker == Asker::Person && self.settings.dependencies == Severity::Refuse;
        if refuse { self.findings.refusals.extend(found) } else { self.findings.warnings.extend(found) }
    }

    fn owners(&mut self) -> Option<Step> {
        let subject = self.subject.as_ref()?;
        let walks = self.settings.role.refuses() && (!subject.added.is_empty() || !subject.new_owners.is_empty());
        if !walks {
            self.phase = self.after_walk();
            return None;
        }
        let root = subject.root();
        let beforehand = root.beforehand();
        let reads = self.store.want(beforehand.iter().map(|reference| (reference, false)));
        if !reads.is_empty() {
            return self.wait(Phase::Owners, reads);
        }
        self.phase = Phase::Walk(Walk::new(&root, &mut self.store));
        None
    }

    fn walk(&mut self, mut walk: Walk) -> Option<Step> {
        let subject = self.subject.as_ref()?;
        let root = subject.root();
        let (by_applier, dry_run) = (self.asker == Asker::Applier, self.request.dry_run);
        let may_undo =
            |member: &Object| by_applier && may_still_change(&subject.new.reference, &subject.owners, member, dry_run);
        if let Some(reads) = walk.advance(&root, &mut self.store, &may_undo) {
            return self.wait(Phase::Walk(walk), reads);
        }
        let outcome = walk.outcome();
        let earlier = walk.undoable();
        if let Some(links) = outcome.found.as_ref().or(earlier) {
            let mut members = links.iter().skip(1).map(|link| &link.from);
            let undo = members.find(|member| self.store.object(member).is_some_and(may_undo)).cloned();
            if undo.is_some() && earlier.is_none() {
                // Another loop may be final.
                self.phase = Phase::Walk(Walk::for_final(&root, &mut self.store, links.clone()));
                return None;
            }
            let mut links = links.clone();
            if self.request.is_audit() {
                links.iter_mut().for_each(|link| link.added = false);
            }
            let found = Finding::Cycle { links, undo: undo.clone() };
            if undo.is_some() { self.findings.warnings.push(found) } else { self.findings.refusals.push(found) }
        } else if let Some((at, why)) = &outcome.unread {
            let judging = Judging::Cycle;
            self.findings.warnings.push(Finding::NotJudged { judging, at: at.clone(), why: why.clone() });
        }
        self.phase = Phase::Probe(self.probes());
        None
    }

    /// What comes once cycles are judged: the resume, if there is one and this role cares.
    pub(super) fn after_walk(&mut self) -> Phase {
        let Some(subject) = self.subject.as_ref().filter(|subject| subject.up) else { return self.after_cone() };
        let role = self.settings.role;
        if self.asker == Asker::Applier && subject.old.as_ref().is_some_and(mark::is_vetoed) {
            if role.holds() {
                self.findings.hold = Some((Cause::Premature, Finding::Vetoed));
                return self.after_findings();
            }
            self.unheld(Finding::Vetoed, Unheld::Role);
            return self.after_cone();
        }
        if self.asker == Asker::Person && !role.refuses() {
            return self.after_cone();
        }
        Phase::Cone(Cone::new(&resumed(subject, self.whole.as_ref(), self.settings)))
    }

    fn cone(&mut self, mut cone: Cone) -> Option<Step> {
        let subject = self.subject.as_ref()?;
        let resumed = resumed(subject, self.whole.as_ref(), self.settings);
        if let Some(reads) = cone.advance(&resumed, &mut self.store) {
            return self.wait(Phase::Cone(cone), reads);
        }
        if self.asker == Asker::Applier && self.settings.role.holds() {
            let reached = Reached::new(&subject.new, self.request.dry_run, &cone, &self.store);
            self.phase = Phase::Reached(cone, reached);
            return None;
        }
        let blockage = cone.blockage(&subject.new, &self.store, self.now);
        match (self.asker, blockage) {
            // What the companion could not have known is no fault of its own.
            (Asker::Companion, Some(blockage)) if blockage.is_unread() => {}
            (Asker::Companion | Asker::Person, Some(blockage)) => {
                self.findings.refusals.push(Finding::Premature(blockage));
            }
            (Asker::Applier, Some(blockage)) => self.unheld(Finding::Premature(blockage), Unheld::Role),
            (_, None) => {}
        }
        self.phase = self.after_cone();
        None
    }

    fn reached(&mut self, cone: Cone, mut reached: Reached) -> Option<Step> {
        if let Some(reads) = reached.advance(&mut self.store) {
            return self.wait(Phase::Reached(cone, reached), reads);
        }
        let subject = self.subject.as_ref()?;
        let premature = |blockage: Blockage| (Cause::Premature, Finding::Premature(blockage));
        self.findings.hold = match reached.unreached() {
            Some(unreached) => Some((Cause::NotReached, Finding::NotReached(unreached.clone()))),
            None => cone.blockage(&subject.new, &self.store, self.now).map(premature),
        };
        self.phase = self.after_cone();
        None
    }
}

/// The object with all its fields, as it would be stored: the API server drops what a request says of the status.
fn whole(request: &Request<'_>) -> Option<Value> {
    let mut object: Value = serde_json::from_slice(request.object).ok()?;
    let mut old: Option<Value> = request.old.and_then(|old| serde_json::from_slice(old).ok());
    let status = old.as_mut().and_then(|old| old.as_object_mut()?.remove("status"));
    let fields = object.as_object_mut()?;
    fields.remove("status");
    fields.extend(status.map(|status| ("status".to_owned(), status)));
    Some(object)
}

fn resumed<'s>(subject: &'s Subject, whole: Option<&'s Value>, settings: &Settings) -> Resumed<'s> {
    Resumed { object: &subject.new, whole, additive: settings.additive_ready_expr }
}
