//! Carrying out what a roll-out intends: reconcile requests and resumes, each decided once more on a fresh read.

use super::super::cluster::Cluster;
use super::super::explain::{read_all, read_one};
use crate::clock::Clock;
use crate::cluster::Trouble;
use crate::cluster::lease::Fence;
use crate::control::{Control, Done, NotDone, Settings};
use crate::metrics::Metrics;
use chrono::{DateTime, SecondsFormat, Utc};
use sluicegate_core::chain::World;
use sluicegate_core::gate::{Fetched, is_vetoed};
use sluicegate_core::intent::{Fresh, Intent};
use sluicegate_core::object::Reference;
use sluicegate_core::recovery::request;
use sluicegate_core::release::{self, Activity, Marks, Outcome, Release, Standing, Step, resume, resume_unmarked};
use sluicegate_core::rollout::{Act, Rollout};
use sluicegate_core::text::clean;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// What writes.
pub struct Hands {
    cluster: Cluster,
    control: Arc<Control>,
    settings: release::Settings,
    /// When an act may be tried again, and how often it was tried.
    later: BTreeMap<Act, (Instant, u32)>,
}

/// How an act ended.
pub enum Acted {
    /// It was written: a line to say so.
    Wrote(&'static str),
    /// It is not to be done, or not yet.
    Not,
    /// It was refused, or did not come through: a line to say so.
    Refused(String),
    /// There is no right to do it: a sentence.
    Forbidden(String),
}

impl Hands {
    pub fn new(cluster: &Cluster, additive: bool) -> Self {
        // A person needs no Lease: what is written carries its precondition all the same.
        let (sender, fence) = Fence::new();
        sender.send_replace(Some(Instant::now() + Duration::from_secs(86_400 * 365)));
        let settings = Settings::default();
        let control =
            Control::new(cluster.client.clone(), Clock::System, Some(fence), settings, Arc::new(Metrics::new()));
        control.serve(cluster.kinds.clone());
        let settings = release::Settings { additive_ready_expr: additive, ..release::Settings::default() };
        Self { cluster: cluster.clone(), control, settings, later: BTreeMap::new() }
    }

    /// The first time at which an act that was put off may be tried again.
    pub fn wake(&self, acts: &[Act]) -> Option<Instant> {
        acts.iter().filter_map(|act| self.later.get(act)).map(|(at, _)| *at).min()
    }

    /// Whether this act may be tried now.
    pub fn may(&self, act: &Act) -> bool {
        self.later.get(act).is_none_or(|(at, _)| *at <= Instant::now())
    }

    /// Reads the object anew, decides once more, and writes.
    pub async fn carry_out(
        &mut self,
        act: &Act,
        world: &mut World,
        rollout: &mut Rollout,
        now: DateTime<Utc>,
    ) -> Acted {
        let (Act::Request(own) | Act::Resume(own)) = act;
        let Fetched::Found(json) = self.read(own, world, rollout).await else { return self.put_off(act) };
        let Ok(fresh) = Fresh::read(own, &json) else { return self.put_off(act) };
        let token = now.to_rfc3339_opts(SecondsFormat::Nanos, true);
        let intent = match act {
            Act::Request(_) if fresh.object().is_suspended() => None,
            Act::Request(_) => Some(request(&fresh, &token)),
            Act::Resume(_) => self.resumed(&fresh, &json, &token, now).await,
        };
        let Some(intent) = intent else { return self.put_off(act) };
        match self.write(&intent).await {
            Ok(json) => {
                self.later.remove(act);
                let change = world.insert(own, Fetched::Found(json));
                rollout.changed(own, change, world);
                rollout.wrote(own, &token, world);
                Acted::Wrote(if matches!(act, Act::Request(_)) { "asked to reconcile" } else { "resumed" })
            }
            Err(Trouble::Conflict | Trouble::Absent) => self.put_off(act),
            Err(Trouble::Forbidden(_)) => Acted::Forbidden(format!("no right to patch {}", own.kind.resource())),
            Err(trouble @ (Trouble::Refused(_) | Trouble::Invalid(_) | Trouble::Transient(_))) => {
                let what = if matches!(act, Act::Request(_)) { "request" } else { "resume" };
                self.put_off(act);
                Acted::Refused(format!("the {what} did not come through: {}", clean(&trouble.to_string(), 400)))
            }
        }
    }

    fn put_off(&mut self, act: &Act) -> Acted {
        let tried = self.later.get(act).map_or(0, |(_, tried)| *tried);
        let pause = Duration::from_millis(200_u64 << tried.min(7));
        self.later.insert(act.clone(), (Instant::now() + pause, tried + 1));
        Acted::Not
    }

    async fn read(&self, own: &Reference, world: &mut World, rollout: &mut Rollout) -> Fetched {
        let answer = read_one(&self.cluster, own).await;
        let change = world.insert(own, answer.clone());
        rollout.changed(own, change, world);
        answer
    }

    async fn write(&self, intent: &Intent) -> Result<Vec<u8>, Trouble> {
        match self.control.execute(intent).await {
            Ok(Done::Written(json)) => Ok(json),
            Ok(Done::Pretended) | Err(NotDone::NotLeading) => Err(Trouble::Transient("not written".to_owned())),
            Err(NotDone::Trouble(trouble)) => Err(trouble),
        }
    }

    /// The write that resumes it, if it may be resumed by what the API server says now: judged as the companion does.
    async fn resumed(&self, fresh: &Fresh, json: &[u8], token: &str, now: DateTime<Utc>) -> Option<Intent> {
        let object = fresh.object();
        if !object.is_suspended() || object.is_deleting() || is_vetoed(object) {
            return None;
        }
        let (release, marked) = match Standing::of(object, Marks::Gate) {
            Standing::Vetoed => return None,
            Standing::Held(marked) => {
                let activity = Activity::new();
                let judged = (object.clone(), json);
                (Release::new(judged, &marked, self.settings, &activity, now, now), Some(marked))
            }
            Standing::None => (Release::asked((object.clone(), json), self.settings, now), None),
        };
        if !self.may_be_resumed(release).await {
            return None;
        }
        match marked {
            Some(marked) => resume(fresh, &marked, token),
            None => resume_unmarked(fresh, token),
        }
    }

    async fn may_be_resumed(&self, mut release: Release) -> bool {
        loop {
            match release.step() {
                Step::Done(outcome) => return outcome == Outcome::Now,
                Step::Read(reads) => {
                    let wanted: Vec<Reference> = reads.into_iter().map(|read| read.reference).collect();
                    let answers = read_all(&self.cluster, &wanted).await;
                    release.answer(answers.into_iter().map(|(_, answer)| answer).collect());
                }
            }
        }
    }
}
