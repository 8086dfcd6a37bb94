//! From what was found to the verdict.

use super::finding::Finding;
use super::mark::{self, Cause, Mark};
use super::mutation::{HELD, Mutation};
use super::{Asker, Gate, Names, Verdict};
use crate::object::{Object, Reference};
use crate::text::{clean, warning};

/// What has been found so far.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) refusals: Vec<Finding>,
    pub(super) warnings: Vec<Finding>,
    /// Why the object is to be held, if it is.
    pub(super) hold: Option<(Cause, Finding)>,
    /// The asker used the bypass, and may.
    pub(super) bypassed: bool,
    /// The asker used the bypass, and may not.
    pub(super) bypass_denied: bool,
    /// What the reader of the texts may learn, once it was asked for.
    pub(super) names: Option<Names>,
}

/// How many findings are told. An object may give thousands of reasons for them.
const TOLD: usize = 10;

fn bounded(texts: impl ExactSizeIterator<Item = String>) -> Vec<String> {
    let more = texts.len().saturating_sub(TOLD);
    texts.take(TOLD).chain((more > 0).then(|| crate::text::more(more))).collect()
}

impl Gate<'_> {
    /// The object under review, as far as it is known.
    pub(super) fn own(&self) -> Reference {
        let request = &self.request;
        let mut own = self.subject.as_ref().map_or_else(
            || {
                let namespace = request.namespace.unwrap_or_default();
                Reference::new(request.kind, namespace, request.name.unwrap_or_default())
            },
            |subject| subject.new.reference.clone(),
        );
        if own.name.is_empty() {
            let metadata = self.subject.as_ref().map(|subject| &subject.new.metadata);
            let prefix = metadata.and_then(|metadata| metadata.generate_name.as_deref()).unwrap_or_default();
            own.name = format!("{prefix}<generated>").into();
        }
        own
    }

    /// The reason that the asker gives for a bypass, if one is asked for and the asker is one who may ask.
    pub(super) fn bypass_reason(&self) -> Option<&str> {
        let user = self.request.user;
        let named = self.settings.bypass_users.iter().any(|other| **other == *user);
        let may_ask = match self.asker {
            Asker::Companion => false,
            Asker::Person => !self.request.is_audit(),
            Asker::Applier => named,
        };
        let reason = |object: &'_ Object| -> Option<Box<str>> { object.metadata.annotations.as_ref()?.bypass.clone() };
        let subject = self.subject.as_ref().filter(|_| may_ask)?;
        let changed = subject.old.as_ref().and_then(reason) != reason(&subject.new);
        let text = subject.new.metadata.annotations.as_ref()?.bypass.as_deref()?;
        (changed && !text.trim().is_empty()).then_some(text)
    }

    /// Gives the verdict on what was found.
    pub(super) fn conclude(&self) -> Verdict {
        let (own, names) = (self.own(), self.names());
        let found = &self.findings;
        let refused = !found.refusals.is_empty() && !found.bypassed && self.settings.enforce;
        let mut verdict = Verdict { audit: self.audit(&own), ..Verdict::default() };
        if refused {
            let messages = found.refusals.iter().map(|finding| finding.message(&own, &names));
            let mut message = bounded(messages);
            if found.bypass_denied {
                message.push(crate::text::bypass_denied(self.request.user, self.request.namespace));
            }
            verdict.refusal = Some(message.join("\n"));
        }
        let mut warnings: Vec<String> = Vec::new();
        if !refused {
            let before = if found.bypassed { "bypassed: " } else { "would be refused: " };
            let lines = found.refusals.iter().map(|finding| format!("{before}{}", finding.line(&own, &names)));
            warnings.extend(bounded(lines));
            let would = if self.settings.enforce { "" } else { "would be " };
            let hold = found.hold.as_ref();
            warnings.extend(hold.map(|(_, finding)| format!("{would}{}", finding.held(&own, &names))));
        }
        // Nothing is done about marks where the request is refused.
        let about_marks = |finding: &Finding| matches!(finding, Finding::Mark(_) | Finding::NoCompanion);
        let said: Vec<&Finding> = found.warnings.iter().filter(|finding| !(refused && about_marks(finding))).collect();
        let lines = said.into_iter().map(|finding| {
            let would = if !self.settings.enforce && matches!(finding, Finding::Mark(_)) { "would say: " } else { "" };
            format!("{would}{}", finding.warning(&own, &names))
        });
        warnings.extend(bounded(lines));
        warnings.extend(self.mark_left(&own));
        verdict.warnings = warnings.iter().map(|text| warning(text)).collect();
        if !refused && self.settings.enforce {
            verdict.mutation = self.mutation();
        }
        verdict
    }

    /// Without enforcement, what is otherwise done to a mark without a word.
    fn mark_left(&self, own: &Reference) -> Option<String> {
        let marks = &self.subject.as_ref()?.marks;
        let silent = marks.note.is_none() && self.findings.hold.is_none() && !self.settings.enforce;
        let change = marks.annotations.get(HELD).filter(|_| silent)?;
        Some(crate::text::mark_left(own, change.is_some()))
    }

    fn mutation(&self) -> Mutation {
        let Some(subject) = &self.subject else { return Mutation::default() };
        let mut mutation = Mutation { suspend: None, annotations: subject.marks.annotations.clone() };
        let Some((cause, _)) = &self.findings.hold else { return mutation };
        let switch = subject.new.reference.kind.row().switch;
        let old = subject.old.as_ref();
        let value = old.and_then(Object::switch_annotation).unwrap_or("disabled");
        mutation.suspend = Some((switch, value.into()));
        // A further hold keeps the mark byte for byte, or every reconcile would be drift.
        let kept = old.filter(|old| mark::carried(old).is_some());
        let kept = kept.and_then(|old| old.metadata.annotations.as_ref()?.held.clone());
        let made = || Mark::new(self.request.user, self.request.manager, self.now, *cause).render();
        mutation.annotations.insert(HELD, Some(kept.unwrap_or_else(made)));
        mutation
    }

    fn audit(&self, own: &Reference) -> Vec<(&'static str, String)> {
        let found = &self.findings;
        let first = found.refusals.first().or(found.hold.as_ref().map(|(_, finding)| finding));
        let first = first.or(found.warnings.first());
        let mut audit = vec![
            ("rule", first.map_or("admitted", Finding::rule).to_owned()),
            ("path", first.map_or_else(|| own.to_string(), |finding| finding.path(own))),
        ];
        if let Some((cause, _)) = &found.hold {
            audit.push(("held", cause.name().to_owned()));
        }
        if let Some(reason) = self.bypass_reason().filter(|_| found.bypassed) {
            audit.push(("bypass-user", clean(self.request.user, 250).to_string()));
            audit.push(("bypass-reason", clean(reason, 500).to_string()));
        }
        audit
    }
}
