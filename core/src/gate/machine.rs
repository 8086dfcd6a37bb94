//! The state machine.

use super::{Answer, Request, Settings, Step};
use chrono::{DateTime, Utc};

/// One decision under way.
pub struct Gate<'a> {
    _request: Request<'a>,
    _settings: &'a Settings,
    _now: DateTime<Utc>,
}

impl<'a> Gate<'a> {
    /// Starts a decision at the time `now`.
    #[must_use]
    pub fn new(request: Request<'a>, settings: &'a Settings, now: DateTime<Utc>) -> Self {
        Self { _request: request, _settings: settings, _now: now }
    }

    /// What is wanted next.
    pub fn step(&mut self) -> Step {
        Step::Done(Box::default())
    }

    /// Takes the answer to the last step.
    pub fn answer(&mut self, _answer: Answer) {}
}
