//! Takes in what the watches say, and looks at what has to be looked at, when its time has come.

use super::{Control, Key, Next, Queue};
use crate::cluster::Watched;
use crate::cluster::discovery::Served;
use kube::runtime::watcher::Event;
use sluicegate_core::object::Kind;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::{self, JoinSet};
use tokio::time::Instant;

/// How many looks are under way at a time.
const AT_A_TIME: usize = 16;
/// The graph is looked at a moment after a change: changes come in crowds.
const CROWD: Duration = Duration::from_millis(500);
/// How often it shows that it is alive, without anything to do.
const BEAT: Duration = Duration::from_secs(5);

/// When to look again at what made a look end badly.
const AFTER_PANIC: Duration = Duration::from_secs(300);

/// What the driver is fed with.
#[derive(Debug)]
pub enum Feed {
    /// Which kinds the cluster has.
    Served(Served),
    /// What a watch says.
    Event(Kind, Box<Event<Watched>>),
    /// A kind that we may not list: nothing is known of its objects, and nobody waits for it.
    Forbidden(Kind),
}

/// Drives the controllers until the feed ends; then waits for what is under way.
pub async fn run(control: Arc<Control>, mut feed: mpsc::Receiver<Feed>) {
    let mut queue = Queue::default();
    let mut looks: JoinSet<(Key, Next)> = JoinSet::new();
    let mut keys: HashMap<task::Id, Key> = HashMap::new();
    let mut led = false;
    let mut fence = control.fence.clone();
    loop {
        let leads = control.leads();
        let working = leads && control.lock().is_listed();
        if working && !led {
            tracing::info!("leading");
            let now = Instant::now();
            for key in control.lock().everything() {
                queue.push(key, now);
            }
        } else if led && !leads {
            tracing::warn!("no longer leading");
        }
        led = working;
        control.metrics.alive(leads, control.lock().watched());
        while working && looks.len() < AT_A_TIME {
            let Some(key) = queue.pop(Instant::now()) else { break };
            let look = looks.spawn(look(control.clone(), key.clone()));
            keys.insert(look.id(), key);
        }
        let beat = Instant::now() + BEAT;
        let next = queue.next().filter(|_| working && looks.len() < AT_A_TIME).map_or(beat, |next| next.min(beat));
        tokio::select! {
            // What is over first, or a look could be begun twice.
            biased;
            Some(over) = looks.join_next_with_id() => match over {
                Ok((id, (key, next))) => {
                    keys.remove(&id);
                    if matches!(key, Key::Held(_)) {
                        queue.push(Key::HeldLoops, Instant::now() + CROWD);
                    }
                    queue.done(key, next);
                }
                Err(error) => {
                    tracing::error!(%error, "a look ended badly");
                    if let Some(key) = keys.remove(&error.id()) {
                        queue.done(key, Some(Instant::now() + AFTER_PANIC));
                    }
                }
            },
            fed = feed.recv() => match fed {
                Some(fed) => take(&control, &mut queue, fed),
                None => break,
            },
            () = changed(&mut fence) => {}
            () = tokio::time::sleep_until(next) => {}
        }
    }
    while looks.join_next().await.is_some() {}
}

async fn changed(fence: &mut Option<crate::cluster::lease::Fence>) {
    match fence {
        Some(fence) => fence.changed().await,
        None => std::future::pending().await,
    }
}

fn take(control: &Control, queue: &mut Queue, fed: Feed) {
    let now = control.clock.now();
    let keys = match fed {
        Feed::Served(served) => control.serve(served),
        Feed::Event(kind, event) => control.lock().take(kind, *event, now),
        Feed::Forbidden(kind) => {
            control.lock().forbid(kind);
            Vec::new()
        }
    };
    let at = Instant::now();
    for key in keys {
        let at = if key == Key::Cycles { at + CROWD } else { at };
        queue.push(key, at);
    }
}

async fn look(control: Arc<Control>, key: Key) -> (Key, Next) {
    let next = match &key {
        Key::Cycles => control.look_for_cycles().await,
        Key::HeldLoops => {
            control.report_held_loops().await;
            None
        }
        Key::Held(object) => control.look_at_held(object).await,
        Key::Generator(object) => control.look_at_generator(object).await,
        Key::Outdated(object) => control.look_at_outdated(object).await,
    };
    (key, next)
}
