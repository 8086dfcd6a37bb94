//! Which objects a text may name, and whose status it may quote: a tenant's dry-run must not map another tenant's
//! graph.

use super::{Disclose, Question};
use crate::object::Reference;
use crate::ordered::set_of;
use std::collections::BTreeSet;

/// How many objects a decision asks about.
const QUESTIONS: usize = 5;

/// What the reader of a text may learn.
#[derive(Clone, Debug)]
pub struct Names {
    home: Box<str>,
    own: Reference,
    direct: BTreeSet<Reference>,
    allowed: BTreeSet<Reference>,
    everyone: bool,
}

impl Names {
    /// For the reader of an answer about `own`, which names `direct` itself.
    #[must_use]
    pub fn new(own: &Reference, direct: impl IntoIterator<Item = Reference>, disclose: Disclose) -> Self {
        Self {
            home: own.namespace.clone(),
            own: own.clone(),
            direct: set_of(direct),
            allowed: BTreeSet::new(),
            everyone: disclose == Disclose::Everyone,
        }
    }

    /// For a reader who may know everything: the audit log.
    #[must_use]
    pub fn everything(own: &Reference) -> Self {
        Self::new(own, [], Disclose::Everyone)
    }

    /// Whether the text may name this object.
    #[must_use]
    pub fn may_name(&self, reference: &Reference) -> bool {
        self.may_quote(reference) || self.direct.contains(reference)
    }

    /// Whether the text may quote this object's status. Naming an object is not enough: anybody can name anything.
    #[must_use]
    pub fn may_quote(&self, reference: &Reference) -> bool {
        self.everyone || *reference == self.own || reference.namespace == self.home || self.allowed.contains(reference)
    }

    /// The questions whose answers would let the text say more, at most five, for the first of these objects.
    #[must_use]
    pub fn questions<'r>(&self, mentioned: impl Iterator<Item = &'r Reference>) -> Vec<(Reference, Question)> {
        let mut asked: Vec<(Reference, Question)> = Vec::new();
        for reference in mentioned {
            if asked.len() == QUESTIONS {
                break;
            }
            if !self.may_quote(reference) && !asked.iter().any(|(other, _)| other == reference) {
                let row = reference.kind.row();
                let question = Question {
                    verb: "get",
                    group: row.group,
                    resource: row.plural,
                    namespace: reference.namespace.clone(),
                    name: Some(reference.name.clone()),
                };
                asked.push((reference.clone(), question));
            }
        }
        asked
    }

    /// Takes in that the reader may get this object.
    pub fn allow(&mut self, reference: Reference) {
        self.allowed.insert(reference);
    }
}
