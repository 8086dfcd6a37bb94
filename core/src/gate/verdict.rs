//! What the gate decides, as data and as finished text.

use super::mutation::Mutation;

/// The answer to a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// The message of a refusal; `None` admits.
    pub refusal: Option<String>,
    /// Warnings, each under 120 characters.
    pub warnings: Vec<String>,
    /// What to change in the object before it is stored; only ever set on an admission.
    pub mutation: Mutation,
    /// Audit annotations, by key.
    pub audit: Vec<(&'static str, String)>,
}

impl Verdict {
    /// Whether the request is admitted.
    #[must_use]
    pub fn is_admitted(&self) -> bool {
        self.refusal.is_none()
    }
}
