//! What is to be looked at, and when.

use sluicegate_core::object::Reference;
use std::collections::{BTreeSet, HashMap};
use tokio::time::Instant;

/// Something to look at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// The loops of the graph.
    Cycles,
    /// Held objects that wait for each other.
    HeldLoops,
    /// An object that is held, or was.
    Held(Reference),
    /// A generator that may be stalled.
    Generator(Reference),
    /// A source that may say for ever that it is outdated.
    Outdated(Reference),
}

/// A queue in which each key stands once, at the earliest time that was asked for. What is asked for while it is being
/// looked at is looked at again.
#[derive(Debug, Default)]
pub struct Queue {
    due: BTreeSet<(Instant, Key)>,
    times: HashMap<Key, Instant>,
    running: HashMap<Key, Option<Instant>>,
}

impl Queue {
    /// Asks for a look at that time.
    pub fn push(&mut self, key: Key, at: Instant) {
        if let Some(again) = self.running.get_mut(&key) {
            *again = Some(again.map_or(at, |other| other.min(at)));
            return;
        }
        match self.times.get_mut(&key) {
            Some(time) if *time <= at => {}
            Some(time) => {
                self.due.remove(&(*time, key.clone()));
                *time = at;
                self.due.insert((at, key));
            }
            None => {
                self.times.insert(key.clone(), at);
                self.due.insert((at, key));
            }
        }
    }

    /// The next key whose time has come; it counts as being looked at until [`Queue::done`].
    pub fn pop(&mut self, now: Instant) -> Option<Key> {
        let (time, _) = self.due.first()?;
        if *time > now {
            return None;
        }
        let (_, key) = self.due.pop_first()?;
        self.times.remove(&key);
        self.running.insert(key.clone(), None);
        Some(key)
    }

    /// The look is over; look again at `next`, if there is one.
    pub fn done(&mut self, key: Key, next: Option<Instant>) {
        let again = self.running.remove(&key).flatten();
        if let Some(at) = again.into_iter().chain(next).min() {
            self.push(key, at);
        }
    }

    /// When the next time comes.
    #[must_use]
    pub fn next(&self) -> Option<Instant> {
        self.due.first().map(|(time, _)| *time)
    }

    /// How many keys wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.due.len()
    }

    /// Whether none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.due.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn each_key_stands_once_at_its_earliest_time() {
        let (start, mut queue) = (Instant::now(), Queue::default());
        let at = |seconds| start + Duration::from_secs(seconds);
        queue.push(Key::Cycles, at(5));
        queue.push(Key::Cycles, at(9));
        queue.push(Key::HeldLoops, at(3));
        queue.push(Key::Cycles, at(1));
        assert_eq!((queue.len(), queue.next()), (2, Some(at(1))));
        assert_eq!(queue.pop(at(0)), None);
        assert_eq!(queue.pop(at(4)), Some(Key::Cycles));
        assert_eq!(queue.pop(at(4)), Some(Key::HeldLoops));
        assert_eq!(queue.pop(at(99)), None);
    }

    #[test]
    fn what_is_asked_for_meanwhile_comes_after() {
        let (start, mut queue) = (Instant::now(), Queue::default());
        let at = |seconds| start + Duration::from_secs(seconds);
        queue.push(Key::Cycles, at(0));
        assert_eq!(queue.pop(at(0)), Some(Key::Cycles));
        queue.push(Key::Cycles, at(1));
        assert_eq!(queue.pop(at(9)), None, "never twice at a time");
        queue.done(Key::Cycles, Some(at(60)));
        assert_eq!(queue.next(), Some(at(1)));
        assert_eq!(queue.pop(at(1)), Some(Key::Cycles));
        queue.done(Key::Cycles, None);
        assert!(queue.is_empty());
    }
}
