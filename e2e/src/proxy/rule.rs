//! Which requests a rule is about, and what becomes of them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Result;
use http::Method;
use tokio::sync::watch;

use crate::wait::until;

/// Which requests: each part that is given must fit.
#[derive(Clone, Debug, Default)]
pub struct Pick {
    method: Option<Method>,
    path: Vec<String>,
    says: Vec<String>,
    silent: Vec<String>,
}

impl Pick {
    /// Requests of any method whose path and query contain `part`.
    #[must_use]
    pub fn any(part: &str) -> Self {
        Self { path: vec![part.to_owned()], ..Self::default() }
    }

    /// PATCH requests whose path and query contain `part`.
    #[must_use]
    pub fn patch(part: &str) -> Self {
        Self { method: Some(Method::PATCH), ..Self::any(part) }
    }

    /// POST requests whose path and query contain `part`.
    #[must_use]
    pub fn post(part: &str) -> Self {
        Self { method: Some(Method::POST), ..Self::any(part) }
    }

    /// GET requests whose path and query contain `part`.
    #[must_use]
    pub fn get(part: &str) -> Self {
        Self { method: Some(Method::GET), ..Self::any(part) }
    }

    /// Whose path and query contain `part`, too.
    #[must_use]
    pub fn asking(mut self, part: &str) -> Self {
        self.path.push(part.to_owned());
        self
    }

    /// Whose body contains `part`, too.
    #[must_use]
    pub fn saying(mut self, part: &str) -> Self {
        self.says.push(part.to_owned());
        self
    }

    /// Whose body does not contain `part`.
    #[must_use]
    pub fn not_saying(mut self, part: &str) -> Self {
        self.silent.push(part.to_owned());
        self
    }

    fn fits(&self, method: &Method, path: &str, body: &str) -> bool {
        self.method.as_ref().is_none_or(|wanted| wanted == method)
            && self.path.iter().all(|part| path.contains(part))
            && self.says.iter().all(|part| body.contains(part))
            && !self.silent.iter().any(|part| body.contains(part))
    }
}

/// What becomes of a request.
#[derive(Clone, Debug)]
pub(super) enum Fate {
    /// It goes on.
    Pass,
    /// It never arrives; the client gets this status.
    Answer(u16),
    /// It never arrives; the connection is cut.
    Cut,
    /// It arrives; the connection is cut before the client hears of it.
    CutAfter,
    /// It arrives this much later.
    Delay(Duration),
    /// It waits until the test lets it go.
    Hold(watch::Receiver<bool>),
    /// It arrives; the answer waits until the test lets it go.
    HoldAnswer(watch::Receiver<bool>),
    /// It never arrives; the client gets a watch that tells it that what it has seen is too old.
    Expire,
}

/// A rule with its count.
#[derive(Debug)]
pub(super) struct Rule {
    pick: Pick,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    fate: Fate,
    /// Which of the matching requests, counted from one; none means each.
    nth: Option<usize>,
    seen: Vec<String>,
    answers: Vec<u16>,
    /// Opens what is held.
    gate: watch::Sender<bool>,
}

impl Rule {
    pub(super) fn new(pick: Pick) -> Self {
        let state = State {
            fate: Fate::Pass,
            nth: None,
            seen: Vec::new(),
            answers: Vec::new(),
            gate: watch::Sender::new(false),
        };
        Self { pick, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts the request if it fits; then says what becomes of it, should this rule decide.
    pub(super) fn judge(&self, method: &Method, path: &str, body: &str) -> Option<Option<Fate>> {
        if !self.pick.fits(method, path, body) {
            return None;
        }
        let mut state = self.state();
        state.seen.push(format!("{method} {path} {body}"));
        let chosen = state.nth.is_none_or(|nth| nth == state.seen.len());
        Some((chosen && !matches!(state.fate, Fate::Pass)).then(|| state.fate.clone()))
    }

    /// The API server has answered a request that fits.
    pub(super) fn answered(&self, code: u16) {
        self.state().answers.push(code);
    }
}

/// The test's end of a rule. It stays in force when the handle is dropped; what is held is then let go.
#[derive(Debug)]
pub struct Handle {
    rule: Arc<Rule>,
}

impl Handle {
    pub(super) fn new(rule: Arc<Rule>) -> Self {
        Self { rule }
    }

    /// Only the `n`-th of the matching requests, counted from one.
    #[must_use]
    pub fn nth(self, n: usize) -> Self {
        self.rule.state().nth = Some(n);
        self
    }

    /// They never arrive, and the client gets this status.
    #[must_use]
    pub fn answer(self, status: u16) -> Self {
        self.fate(Fate::Answer(status))
    }

    /// They never arrive, and the connection is cut.
    #[must_use]
    pub fn cut(self) -> Self {
        self.fate(Fate::Cut)
    }

    /// They arrive, and the client never hears of it.
    #[must_use]
    pub fn cut_after(self) -> Self {
        self.fate(Fate::CutAfter)
    }

    /// They arrive this much later.
    #[must_use]
    pub fn delay(self, by: Duration) -> Self {
        self.fate(Fate::Delay(by))
    }

    /// They wait until [`Self::release`]. Those of a client that ends meanwhile never arrive.
    #[must_use]
    pub fn hold(self) -> Self {
        let receiver = self.rule.state().gate.subscribe();
        self.fate(Fate::Hold(receiver))
    }

    /// They arrive, and the answer waits until [`Self::release`].
    #[must_use]
    pub fn hold_answer(self) -> Self {
        let receiver = self.rule.state().gate.subscribe();
        self.fate(Fate::HoldAnswer(receiver))
    }

    /// They never arrive, and the client, which asks for a watch, is told that what it has seen is too old: it lists anew.
    #[must_use]
    pub fn expire(self) -> Self {
        self.fate(Fate::Expire)
    }

    fn fate(self, fate: Fate) -> Self {
        self.rule.state().fate = fate;
        self
    }

    /// Lets all that is held go, and all that follows pass.
    pub fn release(&self) {
        let mut state = self.rule.state();
        state.fate = Fate::Pass;
        state.gate.send_replace(true);
    }

    /// How many matching requests came so far.
    #[must_use]
    pub fn count(&self) -> usize {
        self.rule.state().seen.len()
    }

    /// The matching requests: method, path and body.
    #[must_use]
    pub fn seen(&self) -> Vec<String> {
        self.rule.state().seen.clone()
    }

    /// What the API server has answered to matching requests: those that arrived.
    #[must_use]
    pub fn answers(&self) -> Vec<u16> {
        self.rule.state().answers.clone()
    }

    /// How many of the matching requests the API server has carried out.
    #[must_use]
    pub fn done(&self) -> usize {
        self.rule.state().answers.iter().filter(|code| (200..300).contains(*code)).count()
    }

    /// Waits until the API server has answered `n` matching requests.
    ///
    /// # Errors
    ///
    /// The limit has passed.
    pub async fn answered(&self, n: usize) -> Result<()> {
        until(&format!("{n} requests like {:?} are answered", self.rule.pick), async || {
            let answers = self.answers();
            Ok(if answers.len() >= n { Ok(()) } else { Err(format!("{answers:?}")) })
        })
        .await
    }

    /// Waits until `n` matching requests have come.
    ///
    /// # Errors
    ///
    /// The limit has passed.
    pub async fn came(&self, n: usize) -> Result<()> {
        until(&format!("{n} requests like {:?} have come", self.rule.pick), async || {
            let count = self.count();
            Ok(if count >= n { Ok(()) } else { Err(format!("{count} of them")) })
        })
        .await
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.rule.state().gate.send_replace(true);
    }
}
