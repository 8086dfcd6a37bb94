//! Generators and sources that will never say that they are done.

use super::{Control, Done, Next, NotDone, soon};
use crate::cluster::Trouble;
use sluicegate_core::gate::{Fetched, Read};
use sluicegate_core::intent::Fresh;
use sluicegate_core::object::{Kind, Object, Reference};
use sluicegate_core::publish::{Notice, Topic};
use sluicegate_core::recovery::{
    ATTEMPTS, Case, Memory, PackageSources, Report, Signal, Staleness, Verdict, count, decide, decide_outdated,
    is_left_to_the_operator, lever, refresh, report, request, reset,
};
use sluicegate_core::settled::inputs;
use sluicegate_core::text;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// When to look again after trouble with a read or a write.
const PAUSE: Duration = Duration::from_secs(10);
/// How often the last of the three writes is tried, on a version of the object each time read anew.
const TRIES: usize = 3;

type Sources = BTreeMap<Reference, Object>;

impl Control {
    /// Looks at a generator.
    pub(super) async fn look_at_generator(&self, own: &Reference) -> Next {
        let Some(seen) = self.lock().read(own) else {
            self.lock().forget_memory(own);
            return None;
        };
        let (sources, unwatched) = self.sources(seen.object(), false).await;
        let verdict = self.verdict(own, &seen, &sources);
        let next = match verdict {
            Verdict::Leave(at) => at.map(|at| self.clock.instant(at)),
            Verdict::Wait { until, .. } => Some(self.clock.instant(until)),
            Verdict::Reset | Verdict::Force { .. } | Verdict::GaveUp if !self.leads() => return None,
            Verdict::Reset | Verdict::Force { .. } | Verdict::GaveUp => return self.recover(own).await,
        };
        self.tell_package_source(own, &seen, verdict).await;
        // Nobody hears of a change of what is not watched here.
        let later = unwatched.then(|| Instant::now() + 3 * PAUSE);
        next.into_iter().chain(later).min()
    }

    fn verdict(&self, own: &Reference, fresh: &Fresh, sources: &Sources) -> Verdict {
        let now = self.clock.now();
        let mut state = self.lock();
        let memory: &mut Memory = state.memory(own);
        memory.see(fresh, sources, now);
        decide(fresh, memory, sources, now)
    }

    /// The sources of a generator, as they are watched or as they are.
    async fn sources(&self, generator: &Object, fresh: bool) -> (Sources, bool) {
        let needs = inputs(generator);
        let reads: Vec<Read> = needs.into_iter().map(|need| Read { reference: need.target, whole: false }).collect();
        let (answers, unwatched) =
            if fresh { (self.fetch_fresh(&reads).await, false) } else { self.fetch_watched(&reads).await };
        let found = reads.into_iter().zip(answers).filter_map(|(read, answer)| {
            let Fetched::Found(json) = answer else { return None };
            let object = Object::decode(read.reference.clone(), &json).ok()?;
            Some((read.reference, object))
        });
        (found.collect(), unwatched)
    }

    /// There is something to write: look at the cluster itself first.
    async fn recover(&self, own: &Reference) -> Next {
        let fresh = match self.fresh(own).await {
            Ok((fresh, _)) => fresh,
            Err(Trouble::Absent) => return None,
            Err(_) => return Some(Instant::now() + PAUSE),
        };
        let (sources, _) = self.sources(fresh.object(), true).await;
        let verdict = self.verdict(own, &fresh, &sources);
        let next = match verdict {
            Verdict::Leave(at) => at.map(|at| self.clock.instant(at)),
            Verdict::Wait { until, .. } => Some(self.clock.instant(until)),
            Verdict::Reset => {
                let intent = reset(&fresh)?;
                let result = self.execute(&intent).await;
                if result.is_ok() {
                    self.notify(&Notice::new(own, &fresh.identity().uid, Topic::Recovered, &self.recovered())).await;
                }
                self.after(result.err())
            }
            Verdict::Force { attempt, case } => self.force(own, &fresh, attempt, case).await,
            Verdict::GaveUp => {
                self.give_up(own, &fresh, &text::recovery_gave_up(ATTEMPTS)).await;
                None
            }
        };
        self.tell_package_source(own, &fresh, verdict).await;
        next
    }

    /// What is said of an end; the time makes it another one than that of the trouble before.
    fn recovered(&self) -> String {
        format!("{} ({})", text::recovered(), self.clock.now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true))
    }

    /// An attempt: three writes, each on what the one before gave back.
    async fn force(&self, own: &Reference, fresh: &Fresh, attempt: u32, case: Case) -> Next {
        let counted = match self.step(own, &count(fresh, attempt, self.clock.now())).await {
            Ok(counted) => counted,
            Err(why) => return self.after(Some(why)),
        };
        self.lock().memory(own).attempted();
        self.metrics.attempt();
        let note = text::recovery_forced(attempt, ATTEMPTS, case);
        let note = format!("{note} ({})", self.clock.now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true));
        self.notify(&Notice::new(own, &fresh.identity().uid, Topic::RecoveryForced, &note)).await;
        // In a dry run nothing more can be known, and nothing comes of it.
        let Some(counted) = counted else { return Some(Instant::now() + 60 * PAUSE) };
        let levered = match lever(&counted, self.settings.signal, self.clock.now()) {
            // It sees drift already: an attempt before this one got as far as this.
            None => counted,
            Some(intent) => match self.step(own, &intent).await {
                Ok(Some(levered)) => levered,
                Ok(None) => return None,
                // Whatever it was, the attempt is counted, and the schedule says when the next one is due.
                Err(why) => return self.after_attempt(why),
            },
        };
        self.wake(own, levered).await
    }

    /// The last of the three writes. Its controller may write at the same time: then what it wrote tells whether there is
    /// still anything to wake it for.
    async fn wake(&self, own: &Reference, mut fresh: Fresh) -> Next {
        for _ in 0..TRIES {
            if !self.sees_drift(&fresh) {
                return None;
            }
            match self.step(own, &request(&fresh, &self.token())).await {
                Err(NotDone::Trouble(Trouble::Conflict)) => match self.fresh(own).await {
                    Ok((again, _)) => fresh = again,
                    Err(_) => break,
                },
                // The change comes back through the watch, and the schedule with it.
                Ok(_) => return None,
                Err(why) => return self.after_attempt(why),
            }
        }
        Some(Instant::now() + PAUSE)
    }

    /// Whether the lever is still pulled.
    fn sees_drift(&self, fresh: &Fresh) -> bool {
        let object = fresh.object();
        match self.settings.signal {
            Signal::SourcesDigest => object.status.observed_sources_digest.as_deref().is_none_or(str::is_empty),
            Signal::ReadyCondition => {
                let ready = object.condition("Ready");
                ready.is_some_and(|ready| ready.reason.as_deref() == Some(sluicegate_core::recovery::FORCED))
            }
        }
    }

    /// One write; the object after it, or nothing in a dry run.
    async fn step(&self, own: &Reference, intent: &sluicegate_core::intent::Intent) -> Result<Option<Fresh>, NotDone> {
        match self.execute(intent).await? {
            Done::Pretended => Ok(None),
            Done::Written(json) => match Fresh::read(own, &json) {
                Ok(fresh) => Ok(Some(fresh)),
                Err(unreadable) => Err(NotDone::Trouble(Trouble::Invalid(unreadable.to_string()))),
            },
        }
    }

    fn after(&self, why: Option<NotDone>) -> Next {
        match why? {
            NotDone::NotLeading | NotDone::Trouble(Trouble::Absent) => None,
            NotDone::Trouble(Trouble::Conflict) => Some(soon()),
            NotDone::Trouble(_) => Some(Instant::now() + PAUSE),
        }
    }

    fn after_attempt(&self, why: NotDone) -> Next {
        match why {
            NotDone::NotLeading | NotDone::Trouble(Trouble::Absent) => None,
            NotDone::Trouble(_) => Some(Instant::now() + PAUSE),
        }
    }

    /// All attempts are spent: say so on the object, and to its owners.
    async fn give_up(&self, own: &Reference, fresh: &Fresh, note: &str) {
        self.notify(&Notice::new(own, &fresh.identity().uid, Topic::RecoveryGaveUp, note)).await;
        self.metrics.gave_up(own);
        let package_source = self.package_source(own).filter(|_| self.settings.package_sources != PackageSources::Off);
        let labelled = fresh.object().owners().0.into_iter().map(|owner| owner.0);
        for owner in labelled.chain(package_source) {
            let Some(seen) = self.lock().read(&owner) else { continue };
            let note = text::owned_gave_up(own, &self.names(seen.object()));
            self.notify(&Notice::new(&owner, &seen.identity().uid, Topic::RecoveryGaveUp, &note)).await;
        }
    }

    /// The PackageSource whose generator this is.
    fn package_source(&self, generator: &Reference) -> Option<Reference> {
        let state = self.lock();
        let mut needed_by = state.graph().dependants(generator).into_iter();
        needed_by.find(|object| object.kind == Kind::PackageSource && object.name == generator.name).cloned()
    }

    /// Keeps the contract of cozystack's operator, where it is wanted and nobody else does.
    async fn tell_package_source(&self, own: &Reference, generator: &Fresh, verdict: Verdict) {
        if self.settings.package_sources != PackageSources::Status || !self.leads() {
            return;
        }
        let Some(source) = self.package_source(own) else { return };
        let told = Report::of(generator, verdict);
        let now = self.clock.now();
        // From what is watched alone: most of the time it says so already.
        let stands = self.lock().read(&source).is_none_or(|seen| report(&seen, &told, now).is_none());
        if stands {
            return;
        }
        let Ok((fresh, _)) = self.fresh(&source).await else { return };
        if is_left_to_the_operator(&fresh, super::MANAGER) {
            return;
        }
        if let Some(intent) = report(&fresh, &told, now) {
            // The next change of the generator, or of the PackageSource itself, tries again.
            drop(self.execute(&intent).await);
        }
    }

    /// Looks at a source that may say for ever that it is outdated.
    pub(super) async fn look_at_outdated(&self, own: &Reference) -> Next {
        let Some(seen) = self.lock().read(own) else {
            self.lock().forget_memory(own);
            return None;
        };
        match self.staleness(own, &seen) {
            Staleness::Leave(at) => {
                if at.is_none() && seen.object().condition("ArtifactOutdated").is_none() {
                    self.lock().forget_memory(own);
                }
                at.map(|at| self.clock.instant(at))
            }
            _ if !self.leads() => None,
            _ => self.cure_outdated(own).await,
        }
    }

    fn staleness(&self, own: &Reference, fresh: &Fresh) -> Staleness {
        let now = self.clock.now();
        let mut state = self.lock();
        let memory = state.memory(own);
        memory.notice(fresh, now);
        decide_outdated(fresh, memory, now)
    }

    async fn cure_outdated(&self, own: &Reference) -> Next {
        let fresh = match self.fresh(own).await {
            Ok((fresh, _)) => fresh,
            Err(Trouble::Absent) => return None,
            Err(_) => return Some(Instant::now() + PAUSE),
        };
        let (intent, topic, note) = match self.staleness(own, &fresh) {
            Staleness::Leave(at) => return at.map(|at| self.clock.instant(at)),
            Staleness::Reset => (reset(&fresh)?, Topic::Recovered, self.recovered()),
            Staleness::Refresh => {
                (refresh(&fresh, &self.token(), self.clock.now()), Topic::RecoveryForced, text::refresh_forced())
            }
            Staleness::GaveUp => {
                self.give_up(own, &fresh, &text::refresh_gave_up()).await;
                return None;
            }
        };
        let result = self.execute(&intent).await;
        if result.is_ok() {
            self.notify(&Notice::new(own, &fresh.identity().uid, topic, &note)).await;
        }
        self.after(result.err())
    }
}
