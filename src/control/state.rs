//! What the companion knows: the watched objects, the graph of their needs, and what it makes of them.
//!
//! Everything here can be had again from the cluster: nothing is lost with the process but what must be *seen* over time.

use super::work::Key;
use crate::cluster::{Change, Known, Store, Watched};
use chrono::{DateTime, TimeDelta, Utc};
use kube::runtime::watcher::Event;
use sluicegate_core::graph::{Graph, LoopReport};
use sluicegate_core::intent::Fresh;
use sluicegate_core::object::{Condition, Kind, Object, Reference};
use sluicegate_core::publish::{Roots, is_published};
use sluicegate_core::recovery::{Memory, Tracking};
use sluicegate_core::release::{Activity, Marks, Standing};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use tokio::time::Instant;

/// What is remembered of a held object.
#[derive(Clone, Debug)]
pub struct Held {
    /// When the companion saw the mark first.
    pub first_seen: DateTime<Utc>,
    /// Since when it has been held.
    pub since: DateTime<Utc>,
    /// Where its judgement ended.
    pub root: Option<Reference>,
    /// What its condition says, or is to say.
    pub message: String,
    /// When its condition was written last.
    pub published: Option<Instant>,
    /// How often its release failed in a row.
    pub failures: u32,
    /// Not to be tried again before.
    pub not_before: Option<Instant>,
    /// It has been held for too long.
    pub too_long: bool,
    looked_at: BTreeSet<Reference>,
}

/// How many owners may be remembered before the old ones are forgotten.
const OWNERS: usize = 10_000;
/// How many Events are remembered to have been said.
const SAID: usize = 20_000;

/// The state of the companion.
pub struct State {
    stores: BTreeMap<Kind, Store>,
    /// Kinds that are watched; the others the cluster does not have.
    served: BTreeSet<Kind>,
    /// The cluster has been asked which kinds it has.
    asked: bool,
    marks: Marks,
    graph: Graph,
    activity: Activity,
    held: BTreeMap<Reference, Held>,
    waiters: HashMap<Reference, BTreeSet<Reference>>,
    memories: HashMap<Reference, Memory>,
    /// Since when a condition of ours stands on an object that is not suspended any more.
    left_over: HashMap<Reference, Instant>,
    said: HashSet<String>,
    /// What was said of what stood then.
    standing: BTreeMap<&'static str, BTreeSet<String>>,
    /// The loops that were found last.
    pub loops: Vec<LoopReport>,
}

impl State {
    /// Knows nothing yet.
    #[must_use]
    pub fn new(marks: Marks) -> Self {
        Self {
            stores: BTreeMap::new(),
            served: BTreeSet::new(),
            asked: false,
            marks,
            graph: Graph::new(),
            activity: Activity::new(),
            held: BTreeMap::new(),
            waiters: HashMap::new(),
            memories: HashMap::new(),
            left_over: HashMap::new(),
            said: HashSet::new(),
            standing: BTreeMap::new(),
            loops: Vec::new(),
        }
    }

    /// Which kinds the cluster has by now. Objects of a kind that is gone are gone.
    pub fn serve(&mut self, kinds: &BTreeSet<Kind>, now: DateTime<Utc>) -> Vec<Key> {
        let gone: Vec<Kind> = self.served.difference(kinds).copied().collect();
        for kind in kinds.difference(&self.served) {
            self.stores.insert(*kind, Store::new(*kind));
        }
        self.served.clone_from(kinds);
        self.asked = true;
        let mut keys = Vec::new();
        for kind in gone {
            let objects = self.stores.remove(&kind).into_iter().flat_map(|store| {
                store.objects().map(|(object, json)| (object, Box::from(json))).collect::<Vec<(Reference, Box<[u8]>)>>()
            });
            for (object, before) in objects.collect::<Vec<_>>() {
                self.follow(&Change { object, gone: true, before: Some(before) }, now, &mut keys);
            }
        }
        keys
    }

    /// Whether every kind has been listed once that may be.
    #[must_use]
    pub fn is_listed(&self) -> bool {
        self.asked && self.unlisted().is_empty()
    }

    /// Whether it is known which kinds there are.
    #[must_use]
    pub fn has_served(&self) -> bool {
        self.asked
    }

    /// The kinds that have not been listed yet.
    #[must_use]
    pub fn unlisted(&self) -> Vec<Kind> {
        let listed = |kind: &Kind| self.stores.get(kind).is_some_and(Store::is_settled);
        self.served.iter().filter(|kind| !listed(kind)).copied().collect()
    }

    /// A kind may not be listed.
    pub fn forbid(&mut self, kind: Kind) {
        if let Some(store) = self.stores.get_mut(&kind) {
            store.forbid();
        }
    }

    /// Takes in what a watch says; what is to be looked at for it.
    pub fn take(&mut self, kind: Kind, event: Event<Watched>, now: DateTime<Utc>) -> Vec<Key> {
        let Some(store) = self.stores.get_mut(&kind) else { return Vec::new() };
        let mut keys = Vec::new();
        for change in store.take(event) {
            self.follow(&change, now, &mut keys);
        }
        keys
    }

    /// What a change means for others. It costs what the neighbourhood of the object costs.
    fn follow(&mut self, change: &Change, now: DateTime<Utc>, keys: &mut Vec<Key>) {
        let own = &change.object;
        let fresh = if change.gone { None } else { self.read(own) };
        let changed = match &fresh {
            Some(fresh) => self.graph.replace(own, fresh.object().needs().judged),
            None => self.graph.remove(own),
        };
        if changed {
            keys.push(Key::Cycles);
        }
        self.note_activity(change, fresh.as_ref(), now);
        let standing = fresh.as_ref().map_or(Standing::None, |fresh| Standing::of(fresh.object(), self.marks));
        if standing.is_marked() || self.held.contains_key(own) || fresh.as_ref().is_some_and(is_published) {
            keys.push(Key::Held(own.clone()));
        }
        keys.extend(self.waiters.get(own).into_iter().flatten().cloned().map(Key::Held));
        if own.kind == Kind::ArtifactGenerator {
            if let Some(fresh) = &fresh {
                self.memories.entry(own.clone()).or_default().notice(fresh, now);
            }
            keys.push(Key::Generator(own.clone()));
        }
        if own.kind == Kind::PackageSource {
            let needs = self.graph.needs(own).iter().map(|need| &need.target);
            let generators = needs.filter(|target| target.kind == Kind::ArtifactGenerator && self.contains(target));
            keys.extend(generators.cloned().map(Key::Generator));
        }
        if own.kind.is_source() {
            let consumers = self.graph.dependants(own).into_iter();
            let generators = consumers.filter(|object| object.kind == Kind::ArtifactGenerator);
            keys.extend(generators.cloned().map(Key::Generator));
        }
        if matches!(own.kind, Kind::HelmChart | Kind::OCIRepository) {
            let outdated = fresh.as_ref().is_some_and(|fresh| {
                let outdated = fresh.object().condition("ArtifactOutdated").is_some_and(Condition::is_true);
                outdated || Tracking::of(fresh, now).present
            });
            if outdated || self.memories.contains_key(own) {
                keys.push(Key::Outdated(own.clone()));
            }
        }
        if fresh.is_none() {
            self.memories.remove(own);
            self.left_over.remove(own);
        }
    }

    /// When something with the labels of an owner last changed, other than in its status.
    fn note_activity(&mut self, change: &Change, fresh: Option<&Fresh>, now: DateTime<Utc>) {
        let before = change.before.as_deref().and_then(|json| Object::decode(change.object.clone(), json).ok());
        let generation = |object: &Object| object.metadata.generation;
        let after = fresh.map(Fresh::object);
        if after.map(generation) == before.as_ref().map(generation) && after.is_some() {
            return;
        }
        for owner in after.or(before.as_ref()).map(Object::owners).unwrap_or_default().0 {
            self.activity.insert(owner.0, now);
        }
        // Labels name whom they like. What is longer ago than any silence lasts is of no interest.
        if self.activity.len() > OWNERS {
            self.activity.retain(|_, at| now.signed_duration_since(*at) < TimeDelta::hours(2));
        }
    }

    /// A watched object. What cannot be read is skipped: it is read again, and named, where a decision needs it.
    #[must_use]
    pub fn read(&self, object: &Reference) -> Option<Fresh> {
        match self.get(object) {
            Known::Found(json) => Fresh::read(object, json).ok(),
            _ => None,
        }
    }

    /// What is known of an object.
    #[must_use]
    pub fn get(&self, object: &Reference) -> Known<'_> {
        self.stores.get(&object.kind).map_or(Known::Absent, |store| store.get(object))
    }

    fn contains(&self, object: &Reference) -> bool {
        matches!(self.get(object), Known::Found(_))
    }

    /// Whether the cluster has this kind.
    #[must_use]
    pub fn is_served(&self, kind: Kind) -> bool {
        self.served.contains(&kind)
    }

    /// Everything that is to be looked at by one that has just begun to lead.
    #[must_use]
    pub fn everything(&self) -> Vec<Key> {
        let mut keys = vec![Key::Cycles];
        for (object, json) in self.stores.values().flat_map(Store::objects) {
            let Ok(fresh) = Fresh::read(&object, json) else { continue };
            if Standing::of(fresh.object(), self.marks).is_marked() || is_published(&fresh) {
                keys.push(Key::Held(object.clone()));
            }
            match object.kind {
                Kind::ArtifactGenerator => keys.push(Key::Generator(object)),
                Kind::HelmChart | Kind::OCIRepository => keys.push(Key::Outdated(object)),
                _ => {}
            }
        }
        keys
    }

    /// What is remembered of a held object, made where it is not known yet.
    pub fn held(&mut self, object: &Reference, made: Option<DateTime<Utc>>, now: DateTime<Utc>) -> &mut Held {
        let held = self.held.entry(object.clone()).or_insert_with(|| Held {
            first_seen: now,
            since: now,
            root: None,
            message: String::new(),
            published: None,
            failures: 0,
            not_before: None,
            too_long: false,
            looked_at: BTreeSet::new(),
        });
        held.since = made.filter(|made| *made <= now).unwrap_or(held.first_seen);
        held
    }

    /// What is remembered of a held object.
    #[must_use]
    pub fn known_held(&self, object: &Reference) -> Option<&Held> {
        self.held.get(object)
    }

    /// Its condition was written.
    pub fn published(&mut self, object: &Reference, at: Instant) {
        if let Some(held) = self.held.get_mut(object) {
            held.published = Some(at);
        }
    }

    /// Since when a condition of ours has stood on an object that is not suspended any more.
    pub fn left_over_since(&mut self, object: &Reference, now: Instant) -> Instant {
        *self.left_over.entry(object.clone()).or_insert(now)
    }

    /// None of our conditions stands on it, or it is suspended.
    pub fn nothing_left_over(&mut self, object: &Reference) {
        self.left_over.remove(object);
    }

    /// Forgets that an object is held; what was remembered of it.
    pub fn forget_held(&mut self, object: &Reference) -> Option<Held> {
        let held = self.held.remove(object)?;
        for other in &held.looked_at {
            self.unwait(other, object);
        }
        Some(held)
    }

    fn unwait(&mut self, other: &Reference, object: &Reference) {
        if let Some(waiting) = self.waiters.get_mut(other) {
            waiting.remove(object);
            if waiting.is_empty() {
                self.waiters.remove(other);
            }
        }
    }

    /// Which objects the judgement of a held one rests on: a change of one of them is a reason to judge again.
    pub fn rest_on(&mut self, object: &Reference, looked_at: BTreeSet<Reference>, root: Option<Reference>) {
        let Some(held) = self.held.get_mut(object) else { return };
        held.root = root;
        let before = std::mem::replace(&mut held.looked_at, looked_at.clone());
        for other in before.difference(&looked_at) {
            self.unwait(other, object);
        }
        for other in looked_at {
            self.waiters.entry(other).or_default().insert(object.clone());
        }
    }

    /// All held objects.
    pub fn all_held(&self) -> impl Iterator<Item = (&Reference, &Held)> {
        self.held.iter()
    }

    /// Where the judgement of each held object ended.
    #[must_use]
    pub fn roots(&self) -> Roots {
        self.held.iter().filter_map(|(object, held)| Some((object.clone(), held.root.clone()?))).collect()
    }

    /// When something with the labels of an owner last changed.
    #[must_use]
    pub fn activity(&self) -> &Activity {
        &self.activity
    }

    /// The graph of needs.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// What was seen of an object over time.
    pub fn memory(&mut self, object: &Reference) -> &mut Memory {
        self.memories.entry(object.clone()).or_default()
    }

    /// Nothing needs to be remembered of it.
    pub fn forget_memory(&mut self, object: &Reference) {
        self.memories.remove(object);
    }

    /// Whether this has not been said before; from now on it has.
    pub fn say(&mut self, name: &str) -> bool {
        if self.said.len() >= SAID {
            // What is said twice is stored once: the name of an Event is what it says.
            self.said.clear();
        }
        self.said.insert(name.to_owned())
    }

    /// Of what is said for as long as it is so: what is not said any more may be said again.
    pub fn still_said(&mut self, about: &'static str, names: BTreeSet<String>) {
        let before = self.standing.insert(about, names.clone()).unwrap_or_default();
        for name in before.difference(&names) {
            self.said.remove(name);
        }
    }

    /// It was not said after all.
    pub fn unsay(&mut self, name: &str) {
        self.said.remove(name);
    }

    /// How many objects are watched.
    #[must_use]
    pub fn watched(&self) -> usize {
        self.stores.values().map(Store::len).sum()
    }
}
