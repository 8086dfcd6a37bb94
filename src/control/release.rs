//! Held objects: when they may be resumed, and resuming them.

use super::{Control, Done, Next, NotDone, backoff, soon};
use crate::cluster::Trouble;
use sluicegate_core::intent::Fresh;
use sluicegate_core::object::{Object, Reference};
use sluicegate_core::publish::{Notice, Topic};
use sluicegate_core::release::{Marked, Outcome, Release, Standing, Step, Wait, held_too_long, resume};
use sluicegate_core::text;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::Instant;

/// How often an object is looked at that waits for something that is not watched here.
const UNWATCHED: Duration = Duration::from_secs(30);
/// How soon a release is tried again that a fresh read did not confirm: a change that explains it is on its way.
const UNCONFIRMED: Duration = Duration::from_secs(5);

/// A judgement, and what it rests on.
struct Judged {
    outcome: Outcome,
    looked_at: BTreeSet<Reference>,
    /// It rests on something whose changes nobody hears of.
    unwatched: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    /// What is watched.
    Watches,
    /// The API server.
    Server,
}

impl Control {
    /// Looks at an object that is held, or was.
    pub(super) async fn look_at_held(&self, own: &Reference) -> Next {
        let (fresh, json) = {
            let state = self.lock();
            let json = match state.get(own) {
                crate::cluster::Known::Found(json) => json.to_vec(),
                _ => Vec::new(),
            };
            (state.read(own), json)
        };
        let Some(fresh) = fresh else {
            self.lock().forget_held(own);
            return None;
        };
        match Standing::of(fresh.object(), self.settings.release.marks) {
            Standing::None => self.end_hold(own, &fresh).await,
            Standing::Vetoed => self.veto(own, &fresh).await,
            Standing::Held(marked) => self.try_release(own, &fresh, &json, &marked).await,
        }
    }

    async fn veto(&self, own: &Reference, fresh: &Fresh) -> Next {
        let text = text::vetoed();
        self.notify(&Notice::new(own, &fresh.identity().uid, Topic::Vetoed, &text)).await;
        let now = self.clock.now();
        self.lock().held(own, None, now).root = None;
        self.publish(own, fresh, &text).await
    }

    async fn try_release(&self, own: &Reference, fresh: &Fresh, json: &[u8], marked: &Marked) -> Next {
        let now = self.clock.now();
        let wait_until = {
            let mut state = self.lock();
            state.held(own, marked.made(), now).not_before.filter(|time| *time > Instant::now())
        };
        if wait_until.is_some() {
            return wait_until;
        }
        let judged = self.judge(fresh.object(), json, marked, From::Watches).await;
        match &judged.outcome {
            Outcome::Waits(wait) => {
                let wait = wait.clone();
                self.go_on_waiting(own, fresh, &judged, &wait).await
            }
            Outcome::Now => {
                // What it rests on is kept: if the release is refused, the next change of it is a reason to try again.
                self.lock().rest_on(own, judged.looked_at, None);
                self.release(own).await
            }
        }
    }

    /// Judges an object by what the API server says.
    pub(super) async fn judge_fresh(&self, object: &Object, json: &[u8], marked: &Marked) -> Outcome {
        self.judge(object, json, marked, From::Server).await.outcome
    }

    async fn judge(&self, object: &Object, json: &[u8], marked: &Marked, from: From) -> Judged {
        let now = self.clock.now();
        let mut release = {
            let mut state = self.lock();
            let first_seen = state.held(&object.reference, marked.made(), now).first_seen;
            Release::new((object.clone(), json), marked, self.settings.release, state.activity(), first_seen, now)
        };
        let mut unwatched = false;
        loop {
            match release.step() {
                Step::Done(outcome) => {
                    let mut looked_at = release.looked_at().clone();
                    // An owner that is absent or unreadable may come to be there.
                    looked_at.extend(release.owners());
                    looked_at.remove(&object.reference);
                    return Judged { outcome, looked_at, unwatched };
                }
                Step::Read(reads) => {
                    let answers = match from {
                        From::Server => self.fetch_fresh(&reads).await,
                        From::Watches => {
                            let (answers, outside) = self.fetch_watched(&reads).await;
                            unwatched |= outside;
                            answers
                        }
                    };
                    release.answer(answers);
                }
            }
        }
    }

    /// It waits: say so, and find out when to look again.
    async fn go_on_waiting(&self, own: &Reference, fresh: &Fresh, judged: &Judged, wait: &Wait) -> Next {
        let root = match wait {
            Wait::Input(blockage) => Some(blockage.at.clone()),
            Wait::Unreached(unreached) => unreached.by.clone(),
            Wait::Owner { owner, .. } | Wait::Silence { owner, .. } => Some(owner.clone()),
        };
        self.lock().rest_on(own, judged.looked_at.clone(), root);
        let message = text::held(wait, own, &self.names(fresh.object()));
        let mut next = self.publish(own, fresh, &message).await;
        let mut earlier = |at: Instant| next = Some(next.map_or(at, |next: Instant| next.min(at)));
        match wait {
            Wait::Silence { until, .. } => earlier(self.clock.instant(*until)),
            // Trouble with reading passes without any change.
            Wait::Input(blockage) if blockage.is_unread() => earlier(Instant::now() + UNWATCHED),
            _ if judged.unwatched => earlier(Instant::now() + UNWATCHED),
            _ => {}
        }
        if let Some(at) = self.report_long_hold(own, fresh, &message).await {
            earlier(at);
        }
        next
    }

    /// Says of an object that it has been held for too long; else when that will be.
    async fn report_long_hold(&self, own: &Reference, fresh: &Fresh, message: &str) -> Next {
        let limit = self.settings.release.held_too_long;
        let now = self.clock.now();
        let since = self.lock().known_held(own)?.since;
        if !held_too_long(since, now, limit) {
            let end = since.checked_add_signed(limit)?;
            return Some(self.clock.instant(end) + Duration::from_millis(1));
        }
        self.lock().held(own, Some(since), now).too_long = true;
        let note = text::held_too_long(limit, message);
        self.notify(&Notice::new(own, &fresh.identity().uid, Topic::HeldTooLong, &note)).await;
        None
    }

    /// Everything looks settled from here: look at the cluster itself, and resume.
    async fn release(&self, own: &Reference) -> Next {
        if !self.leads() {
            return None;
        }
        let (fresh, json) = match self.fresh(own).await {
            Ok(read) => read,
            Err(Trouble::Absent) => {
                self.lock().forget_held(own);
                return None;
            }
            Err(trouble) => return self.failed(own, &trouble),
        };
        // The mark, or a veto, may have changed since.
        let Standing::Held(marked) = Standing::of(fresh.object(), self.settings.release.marks) else {
            return Some(Instant::now() + UNCONFIRMED);
        };
        let judged = self.judge(fresh.object(), &json, &marked, From::Server).await;
        if let Outcome::Waits(wait) = &judged.outcome {
            let next = self.go_on_waiting(own, &fresh, &judged, wait).await;
            let retry = Instant::now() + UNCONFIRMED;
            return Some(next.map_or(retry, |next| next.min(retry)));
        }
        let intent = resume(&fresh, &marked, &self.token())?;
        match self.execute(&intent).await {
            Ok(Done::Written(_)) => {
                let held = self.lock().forget_held(own);
                let since = held.map(|held| held.since);
                let waited = since.and_then(|since| (self.clock.now() - since).to_std().ok());
                self.metrics.released(waited);
                self.notify(&Notice::new(own, &fresh.identity().uid, Topic::Released, &self.released(&marked))).await;
                None
            }
            Ok(Done::Pretended) => {
                self.notify(&Notice::new(own, &fresh.identity().uid, Topic::Released, &self.released(&marked))).await;
                None
            }
            // Whoever leads now looks at it.
            Err(NotDone::NotLeading) => None,
            Err(NotDone::Trouble(Trouble::Conflict)) => Some(soon()),
            Err(NotDone::Trouble(Trouble::Absent)) => {
                self.lock().forget_held(own);
                None
            }
            Err(NotDone::Trouble(Trouble::Refused(said))) => {
                let note = text::release_refused(&said);
                self.notify(&Notice::new(own, &fresh.identity().uid, Topic::ReleaseRefused, &note)).await;
                let next = self.failed(own, &Trouble::Refused(said));
                self.publish(own, &fresh, &note).await;
                next
            }
            Err(NotDone::Trouble(Trouble::Forbidden(said))) => {
                let text = text::forbidden("patch", &own.kind.resource());
                let next = self.failed(own, &Trouble::Forbidden(said));
                self.publish(own, &fresh, &text).await;
                next
            }
            Err(NotDone::Trouble(trouble)) => self.failed(own, &trouble),
        }
    }

    /// What is said of a release. The mark's time makes it another one than that of an earlier hold.
    fn released(&self, marked: &Marked) -> String {
        match marked.made() {
            Some(made) => format!("{} (held at {})", text::released(), made.to_rfc3339()),
            None => text::released(),
        }
    }

    /// Not to be tried again before a while, whatever changes meanwhile.
    fn failed(&self, own: &Reference, trouble: &Trouble) -> Next {
        let mut state = self.lock();
        let now = self.clock.now();
        let since = state.known_held(own).map(|held| held.since);
        let held = state.held(own, since, now);
        held.failures = held.failures.saturating_add(1);
        let until = backoff(held.failures);
        held.not_before = Some(until);
        tracing::debug!(object = %own, error = %trouble, failures = held.failures, "the release is tried again later");
        Some(until)
    }
}
