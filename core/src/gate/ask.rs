//! What a decision asks of its shell, and what it gets back.

use crate::object::Reference;

/// What the gate wants next. The shell answers each item in order, with [`super::Gate::answer`].
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Read these objects, fresh, in this order.
    Read(Vec<Read>),
    /// Read this Lease (`coordination.k8s.io/v1`).
    Lease {
        /// Its namespace.
        namespace: Box<str>,
        /// Its name.
        name: Box<str>,
    },
    /// Ask whether the asker may do this.
    Ask(Vec<Question>),
    /// The verdict; nothing more will be asked.
    Done(Box<super::Verdict>),
}

/// A read of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The object.
    pub reference: Reference,
    /// Read it whole, for an expression; else with the field mask of its kind.
    pub whole: bool,
}

/// What a read found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// The object, as JSON.
    Found(Vec<u8>),
    /// There is no such object.
    Absent,
    /// The API server does not know the kind.
    KindAbsent,
    /// The shell may not read the kind.
    Forbidden,
    /// The time for reading is over; not tried.
    OutOfTime,
    /// Anything else, in the words of whoever failed; hostile until cleaned.
    Failed(Box<str>),
}

/// A question to the API server's authorizer about the user of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The verb.
    pub verb: &'static str,
    /// The API group.
    pub group: &'static str,
    /// The resource, plural.
    pub resource: &'static str,
    /// The namespace; empty for resources without.
    pub namespace: Box<str>,
    /// The name, if one is meant.
    pub name: Option<Box<str>>,
}

/// What the shell answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// To [`Step::Read`] and [`Step::Lease`]: one for each item, in order.
    Fetched(Vec<Fetched>),
    /// To [`Step::Ask`]: one for each item, in order; an error is a no.
    Allowed(Vec<bool>),
}
