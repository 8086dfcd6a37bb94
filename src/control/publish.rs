//! What stands on held objects, and what is said when a hold ends.

use super::{Control, Done, Next, NotDone, soon};
use crate::cluster::Trouble;
use sluicegate_core::intent::Fresh;
use sluicegate_core::object::{Kind, Object, Reference};
use sluicegate_core::publish::{Notice, Topic, held_loops, hold, is_published, unhold};
use sluicegate_core::release::Standing;
use sluicegate_core::text;
use std::time::Duration;
use tokio::time::Instant;

/// How often the message of a condition may change. A blocker that quotes progress would be written again and again.
const PAUSE: Duration = Duration::from_secs(10);

/// When to try again what will not do before somebody changes something.
const LONG_PAUSE: Duration = Duration::from_secs(300);

/// How long a controller has to take the condition off.
const LEFT_OVER: Duration = Duration::from_secs(60);

impl Control {
    /// Makes the condition of a held object say this.
    pub(super) async fn publish(&self, own: &Reference, seen: &Fresh, message: &str) -> Next {
        let now = self.clock.now();
        let stands = hold(seen, message, now).is_none();
        {
            let mut state = self.lock();
            let since = state.known_held(own).map(|held| held.since);
            let held = state.held(own, since, now);
            message.clone_into(&mut held.message);
            if stands {
                return None;
            }
            let pause = held.published.map(|at| at + PAUSE).filter(|end| *end > Instant::now());
            // One that the controller dropped is written again at once.
            if pause.is_some() && is_published(seen) {
                return pause;
            }
        }
        if !self.leads() {
            return None;
        }
        let fresh = match self.fresh(own).await {
            Ok((fresh, _)) => fresh,
            Err(Trouble::Absent) => return None,
            Err(_) => return Some(Instant::now() + PAUSE),
        };
        if !Standing::of(fresh.object(), self.settings.release.marks).is_marked() {
            return None;
        }
        let intent = hold(&fresh, message, now)?;
        let result = self.execute(&intent).await;
        if result.is_ok() {
            self.lock().published(own, Instant::now());
            self.notify(&Notice::new(own, &fresh.identity().uid, Topic::Held, message)).await;
        }
        self.after_status(result)
    }

    /// A mark has ended, or was never there.
    pub(super) async fn end_hold(&self, own: &Reference, seen: &Fresh) -> Next {
        let was_held = self.lock().forget_held(own).is_some();
        let left_over = is_published(seen);
        if !left_over || seen.object().is_suspended() {
            self.lock().nothing_left_over(own);
        } else if !seen.object().is_deleting() {
            return self.tidy(own, seen).await;
        }
        let suspended = seen.object().is_suspended() && !seen.object().is_deleting();
        if !suspended || !(was_held || left_over) || !self.leads() {
            return None;
        }
        let fresh = match self.fresh(own).await {
            Ok((fresh, _)) => fresh,
            Err(Trouble::Absent) => return None,
            Err(_) => return Some(Instant::now() + PAUSE),
        };
        let standing = Standing::of(fresh.object(), self.settings.release.marks);
        if standing.is_marked() || !fresh.object().is_suspended() {
            return None;
        }
        self.notify(&Notice::new(own, &fresh.identity().uid, Topic::MarkLost, &text::mark_lost())).await;
        let intent = unhold(&fresh)?;
        let result = self.execute(&intent).await;
        self.after_status(result)
    }

    /// The controller of a resumed object takes the condition off itself when it reconciles. Where it does not, though it
    /// has handled the request, or where none ever will, somebody must.
    async fn tidy(&self, own: &Reference, seen: &Fresh) -> Next {
        let due = self.lock().left_over_since(own, Instant::now()) + LEFT_OVER;
        if due > Instant::now() {
            return Some(due);
        }
        if !has_passed(seen.object()) || !self.leads() {
            return None;
        }
        let fresh = match self.fresh(own).await {
            Ok((fresh, _)) => fresh,
            Err(Trouble::Absent) => return None,
            Err(_) => return Some(Instant::now() + PAUSE),
        };
        if fresh.object().is_suspended() || !has_passed(fresh.object()) {
            return None;
        }
        let intent = unhold(&fresh)?;
        let result = self.execute(&intent).await;
        self.after_status(result)
    }

    fn after_status(&self, result: Result<Done, NotDone>) -> Next {
        match result {
            Ok(_) | Err(NotDone::NotLeading | NotDone::Trouble(Trouble::Absent)) => None,
            Err(NotDone::Trouble(Trouble::Conflict)) => Some(soon()),
            Err(NotDone::Trouble(Trouble::Forbidden(_) | Trouble::Invalid(_))) => Some(Instant::now() + LONG_PAUSE),
            Err(NotDone::Trouble(_)) => Some(Instant::now() + PAUSE),
        }
    }

    /// Held objects that wait for each other.
    pub(super) async fn report_held_loops(&self) {
        let (loops, all, too_long) = {
            let state = self.lock();
            let too_long = state.all_held().filter(|(_, held)| held.too_long).count();
            (held_loops(&state.roots()), state.all_held().count(), too_long)
        };
        self.metrics.held(all, too_long);
        self.metrics.held_loops(loops.len());
        let mut notices = Vec::new();
        for members in &loops {
            for own in members {
                let Some(fresh) = self.lock().read(own) else { continue };
                let note = text::held_loop(members, own, &self.names(fresh.object()));
                notices.push(Notice::new(own, &fresh.identity().uid, Topic::HeldLoop, &note));
            }
        }
        self.lock().still_said("held loops", notices.iter().map(Notice::name).collect());
        for notice in &notices {
            self.notify(notice).await;
        }
    }
}

/// Whether a pass has ended since the release, or none ever comes.
fn has_passed(object: &Object) -> bool {
    let requested = object.metadata.annotations.as_ref().and_then(|annotations| annotations.requested_at.as_deref());
    let is_static = object.reference.kind == Kind::HelmRepository && object.spec.r#type.as_deref() == Some("oci");
    is_static || object.status.last_handled_reconcile_at.as_deref() == requested
}
