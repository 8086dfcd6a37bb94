//! One wait from its beginning to its end.

use super::super::cluster::Cluster;
use super::super::explain::read_all;
use super::WaitArguments;
use super::act::{Acted, Hands};
use super::display::Display;
use crate::clock::Clock;
use crate::cluster::follow::{Followers, Told};
use crate::output::{Exit, timeline};
use anyhow::Context;
use chrono::{DateTime, Utc};
use sluicegate_core::chain::World;
use sluicegate_core::object::{Kind, Reference};
use sluicegate_core::rollout::{Act, Look, Rollout, Verdict};
use sluicegate_core::text::rollout as text;
use std::collections::BTreeSet;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::Instant;

/// How often a tree is drawn again.
const REDRAW: Duration = Duration::from_secs(1);
/// How long is waited for more of what comes at the same time.
const TOGETHER: Duration = Duration::from_millis(20);

struct Session<'a> {
    arguments: &'a WaitArguments,
    cluster: &'a Cluster,
    clock: Clock,
    world: World,
    rollout: Rollout,
    followers: Followers,
    heard: mpsc::UnboundedReceiver<Told>,
    hands: Hands,
    display: Display,
    unwatched: BTreeSet<Kind>,
    /// Sentences that were said: the same again is no news.
    said: BTreeSet<String>,
}

/// Waits for these objects.
///
/// # Errors
/// Where what is found cannot be written.
pub async fn run(arguments: &WaitArguments, cluster: &Cluster, targets: Vec<Reference>) -> anyhow::Result<Exit> {
    let clock = Clock::System;
    let (followers, heard) = Followers::new(cluster.client.clone(), cluster.kinds.clone());
    let mut session = Session {
        arguments,
        cluster,
        clock,
        world: World::new(),
        rollout: Rollout::new(targets, arguments.options(), clock.now()),
        followers,
        heard,
        hands: Hands::new(cluster, arguments.additive_ready_expr),
        display: Display::new(arguments.output),
        unwatched: BTreeSet::new(),
        said: BTreeSet::new(),
    };
    session.wait().await
}

impl Session<'_> {
    async fn wait(&mut self) -> anyhow::Result<Exit> {
        let mut stop = stopped();
        loop {
            let look = self.look()?;
            if look.verdict != Verdict::Waiting && self.is_sure(&look) {
                return self.end(&look);
            }
            if look.verdict != Verdict::Waiting {
                // Said only of what was read at this moment: an event may have been missed.
                let look = self.read_once_more().await?;
                if look.verdict != Verdict::Waiting {
                    return self.end(&look);
                }
            }
            let acts: Vec<_> = look.acts.iter().filter(|act| self.hands.may(act)).cloned().collect();
            for act in &acts {
                let (Act::Request(own) | Act::Resume(own)) = act;
                match self.hands.carry_out(act, &mut self.world, &mut self.rollout, self.clock.now()).await {
                    Acted::Wrote(what) => self.display.news(own, "written", what, self.clock.now())?,
                    Acted::Refused(what) => {
                        let text = format!("{own}: {what}");
                        if self.said.insert(text.clone()) {
                            self.display.remark(&text, self.clock.now())?;
                        }
                    }
                    Acted::Forbidden(what) => {
                        let look = self.look()?;
                        let text = format!("{own} cannot be changed: {what}\n");
                        return self.finish("failed", Exit::Found, &text, &look);
                    }
                    Acted::Not => {}
                }
            }
            // What was written has changed the world already.
            if acts.iter().any(|act| self.hands.may(act)) {
                continue;
            }
            self.display.draw(&self.rollout, &look.judgement, self.clock.now());
            let wake = look.wake.map(|time| self.clock.instant(time));
            let wake = wake.into_iter().chain(self.hands.wake(&look.acts)).min();
            tokio::select! {
                told = self.heard.recv() => {
                    if let Some(told) = told {
                        self.hear(told)?;
                        tokio::time::sleep(TOGETHER).await;
                        while let Ok(told) = self.heard.try_recv() {
                            self.hear(told)?;
                        }
                    }
                }
                () = until(wake) => {}
                () = tokio::time::sleep(REDRAW), if self.display.is_live() => {}
                () = &mut stop => {
                    let look = self.look()?;
                    let text = text::interrupted(&self.rollout, &look.judgement, &self.world, self.clock.now());
                    return self.finish("interrupted", Exit::Found, &text, &look);
                }
            }
        }
    }

    /// Looks at what is known, says what is new, and follows what is wanted.
    fn look(&mut self) -> anyhow::Result<Look> {
        let now = self.clock.now();
        let look = self.rollout.look(&self.world, now);
        for news in &look.news {
            self.display.news(&news.at, news.phase.name(), &news.text, now)?;
        }
        for want in &look.wants {
            self.followers.follow(want);
        }
        Ok(look)
    }

    fn hear(&mut self, told: Told) -> anyhow::Result<()> {
        match told {
            Told::Heard(reference, answer) => {
                let change = self.world.insert(&reference, answer);
                self.rollout.changed(&reference, change, &self.world);
            }
            Told::Unwatched(kind) => {
                if self.unwatched.insert(kind) {
                    let text = format!("no right to watch {}: they are read every two seconds", kind.resource());
                    self.display.remark(&text, self.clock.now())?;
                }
            }
        }
        Ok(())
    }

    /// Whether a verdict needs no further look: a good end over objects that are all watched.
    fn is_sure(&self, look: &Look) -> bool {
        let watched = self.unwatched.is_empty() && self.followers.are_few();
        matches!(look.verdict, Verdict::Done | Verdict::Met) && watched
    }

    async fn read_once_more(&mut self) -> anyhow::Result<Look> {
        let all: Vec<Reference> = self.followers.followed().iter().cloned().collect();
        for (reference, answer) in read_all(self.cluster, &all).await {
            let change = self.world.insert(&reference, answer);
            self.rollout.changed(&reference, change, &self.world);
        }
        self.look()
    }

    fn end(&mut self, look: &Look) -> anyhow::Result<Exit> {
        let (result, exit) = match look.verdict {
            Verdict::Done | Verdict::Met => ("settled", Exit::Fine),
            Verdict::Blocked(_) => ("blocked", Exit::Blocked),
            Verdict::Unreadable(_) => ("failed", Exit::Found),
            Verdict::TimedOut(_) | Verdict::Waiting => ("timed-out", Exit::TimedOut),
        };
        let text = text::ending(&look.verdict, &self.rollout, &look.judgement, &self.world, self.clock.now());
        self.finish(result, exit, &text, look)
    }

    fn finish(&mut self, result: &str, exit: Exit, text: &str, look: &Look) -> anyhow::Result<Exit> {
        let now = self.clock.now();
        let line = timeline::text(&self.rollout, now);
        self.display.end((result, exit as u8), text, &line, &look.judgement, now)?;
        if let Some(file) = &self.arguments.save {
            let first = text.lines().next().unwrap_or_default();
            save(file, &self.rollout, first, now)?;
        }
        Ok(exit)
    }
}

fn save(file: &Path, rollout: &Rollout, result: &str, now: DateTime<Utc>) -> anyhow::Result<()> {
    let is_page = file.extension().is_some_and(|extension| extension == "html");
    let text = if is_page { timeline::page(rollout, result, now) } else { timeline::record(rollout, result, now) };
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

/// Ends at this instant; never without one.
async fn until(instant: Option<Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

/// Ends when somebody ends the process: by Ctrl-C, or as a supervisor does. The handlers are in place at once.
fn stopped() -> Pin<Box<dyn Future<Output = ()> + Send>> {
    let signals = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
    Box::pin(async move {
        let [interrupted, terminated] = signals.map(|signal| async {
            match signal {
                Ok(mut signal) => drop(signal.recv().await),
                Err(_) => std::future::pending().await,
            }
        });
        tokio::select! {
            () = interrupted => {}
            () = terminated => {}
        }
    })
}
