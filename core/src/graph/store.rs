//! The graph as it is kept: objects come and go one at a time.

use super::dense::{Dense, Node};
use crate::need::Need;
use crate::object::Reference;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// The needs of all objects.
///
/// What is needed but not there is kept as *absent* for as long as something needs it.
///
/// A change costs the number of needs of the object before and after it, times the logarithm of the number of objects.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// For looking up alone: many times as fast as in the order.
    ids: HashMap<Arc<Reference>, Id>,
    order: BTreeMap<Arc<Reference>, Id>,
    slots: Vec<Option<Slot>>,
    free: Vec<Id>,
    present: usize,
}

type Id = u32;

#[derive(Clone, Debug)]
struct Slot {
    object: Arc<Reference>,
    /// `None` if the object is absent.
    needs: Option<Box<[Need]>>,
    /// One for each target, in the order of the needs.
    edges: Box<[Edge]>,
    /// Which objects need this one, and whether bindingly.
    dependants: BTreeMap<Id, bool>,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    target: Id,
    binding: bool,
}

impl Graph {
    /// A graph without objects.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts an object in, or puts new needs in the place of its old ones. Their order does not matter.
    ///
    /// Gives whether anything is different now. If not, no other answer of the graph is.
    pub fn replace(&mut self, object: &Reference, mut needs: Vec<Need>) -> bool {
        needs.sort_unstable();
        needs.dedup();
        let id = self.id(object);
        let old = self.slot(id).and_then(|slot| slot.needs.as_deref());
        if old == Some(needs.as_slice()) {
            return false;
        }
        if old.is_none() {
            self.present += 1;
        }
        self.set(id, Some(needs.into_boxed_slice()));
        true
    }

    /// Takes an object out; if something needs it, it becomes absent. Gives whether it was there.
    pub fn remove(&mut self, object: &Reference) -> bool {
        let Some(&id) = self.ids.get(object) else { return false };
        if self.slot(id).is_none_or(|slot| slot.needs.is_none()) {
            return false;
        }
        self.present -= 1;
        self.set(id, None);
        true
    }

    /// How many objects are there; those that are absent do not count.
    #[must_use]
    pub fn len(&self) -> usize {
        self.present
    }

    /// Whether no object is there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.present == 0
    }

    /// Whether the object is there.
    #[must_use]
    pub fn contains(&self, object: &Reference) -> bool {
        self.find(object).is_some_and(|slot| slot.needs.is_some())
    }

    /// The objects that are there, in order.
    pub fn objects(&self) -> impl Iterator<Item = &Reference> {
        self.slots_in_order().filter(|slot| slot.needs.is_some()).map(|slot| &*slot.object)
    }

    /// What is needed but not there, in order.
    pub fn absent(&self) -> impl Iterator<Item = &Reference> {
        self.slots_in_order().filter(|slot| slot.needs.is_none()).map(|slot| &*slot.object)
    }

    /// The needs of an object, in the order of [`Need`] (by target, then by field) and without repetitions. Empty if it
    /// is not there.
    #[must_use]
    pub fn needs(&self, object: &Reference) -> &[Need] {
        self.find(object).and_then(|slot| slot.needs.as_deref()).unwrap_or_default()
    }

    /// All needs of `object` whose target is `target`: one for each field that names it.
    #[must_use]
    pub fn needs_between(&self, object: &Reference, target: &Reference) -> &[Need] {
        let needs = self.needs(object);
        let start = needs.partition_point(|need| need.target < *target);
        let end = needs.partition_point(|need| need.target <= *target);
        needs.get(start..end).unwrap_or_default()
    }

    /// The objects that need this one, there or absent, in order. The binding ones and the others.
    #[must_use]
    pub fn dependants(&self, object: &Reference) -> Vec<&Reference> {
        let ids = self.find(object).map(|slot| slot.dependants.keys()).into_iter().flatten();
        let mut dependants: Vec<&Reference> = ids.filter_map(|&id| Some(&*self.slot(id)?.object)).collect();
        dependants.sort_unstable();
        dependants
    }

    /// All that cannot become ready before one of these objects does, over any number of steps, in order and without
    /// these objects. For the members of a loop or, say, for an object that fails.
    ///
    /// Costs as much as what is found; do not ask it for each of thousands of objects.
    #[must_use]
    pub fn behind<'a>(&self, objects: impl IntoIterator<Item = &'a Reference>) -> Vec<&Reference> {
        let mut ahead: Vec<Id> = objects.into_iter().filter_map(|object| self.ids.get(object).copied()).collect();
        let mut seen: BTreeSet<Id> = ahead.iter().copied().collect();
        let mut behind = Vec::new();
        while let Some(id) = ahead.pop() {
            let dependants = self.slot(id).map(|slot| slot.dependants.iter()).into_iter().flatten();
            for (&dependant, _) in dependants.filter(|(_, binding)| **binding) {
                if seen.insert(dependant) {
                    ahead.push(dependant);
                    behind.extend(self.slot(dependant).map(|slot| &*slot.object));
                }
            }
        }
        behind.sort_unstable();
        behind
    }

    /// The objects, there and absent, as nodes in the stable order, with an edge for each two that a binding need joins.
    pub(super) fn dense(&self) -> (Vec<&Reference>, Dense) {
        let mut numbers = vec![Node::new(0); self.slots.len()];
        for (number, &id) in self.order.values().enumerate() {
            if let Some(entry) = numbers.get_mut(id as usize) {
                *entry = Node::new(number);
            }
        }
        let number = |id: Id| numbers.get(id as usize).copied();
        let mut edges = Vec::new();
        for (from, slot) in self.slots_in_order().enumerate() {
            let targets = slot.edges.iter().filter(|edge| edge.binding).filter_map(|edge| number(edge.target));
            edges.extend(targets.map(|target| (Node::new(from), target)));
        }
        (self.order.keys().map(|object| &**object).collect(), Dense::new(self.ids.len(), &edges))
    }

    fn slots_in_order(&self) -> impl Iterator<Item = &Slot> {
        self.order.values().filter_map(|&id| self.slot(id))
    }

    fn find(&self, object: &Reference) -> Option<&Slot> {
        self.slot(*self.ids.get(object)?)
    }

    fn slot(&self, id: Id) -> Option<&Slot> {
        self.slots.get(id as usize)?.as_ref()
    }

    fn slot_mut(&mut self, id: Id) -> Option<&mut Slot> {
        self.slots.get_mut(id as usize)?.as_mut()
    }

    /// The slot of an object, a new one if it has none.
    fn id(&mut self, object: &Reference) -> Id {
        if let Some(&id) = self.ids.get(object) {
            return id;
        }
        let object = Arc::new(object.clone());
        let slot = Slot { object: object.clone(), needs: None, edges: Box::default(), dependants: BTreeMap::new() };
        let id = self.free.pop().unwrap_or(self.slots.len() as Id);
        match self.slots.get_mut(id as usize) {
            Some(free) => *free = Some(slot),
            None => self.slots.push(Some(slot)),
        }
        self.ids.insert(object.clone(), id);
        self.order.insert(object, id);
        id
    }

    fn set(&mut self, id: Id, needs: Option<Box<[Need]>>) {
        let mut edges: Vec<Edge> = Vec::new();
        for same in needs.as_deref().unwrap_or_default().chunk_by(|a, b| a.target == b.target) {
            let Some(first) = same.first() else { continue };
            edges.push(Edge { target: self.id(&first.target), binding: same.iter().any(Need::binds) });
        }
        let new: Vec<Edge> = edges.clone();
        let Some(slot) = self.slot_mut(id) else { return };
        slot.needs = needs;
        let old = std::mem::replace(&mut slot.edges, edges.into_boxed_slice());
        for edge in &old {
            self.slot_mut(edge.target).and_then(|target| target.dependants.remove(&id));
        }
        for edge in new {
            self.slot_mut(edge.target).and_then(|target| target.dependants.insert(id, edge.binding));
        }
        for edge in &old {
            self.forget_if_idle(edge.target);
        }
        self.forget_if_idle(id);
    }

    /// Gives a slot back if its object is absent and nothing needs it.
    fn forget_if_idle(&mut self, id: Id) {
        let idle = |slot: &&Slot| slot.needs.is_none() && slot.dependants.is_empty();
        let Some(object) = self.slot(id).filter(idle).map(|slot| slot.object.clone()) else { return };
        self.ids.remove(&object);
        self.order.remove(&object);
        if let Some(slot) = self.slots.get_mut(id as usize) {
            *slot = None;
        }
        self.free.push(id);
    }
}

/// Of several entries for one object the last one counts.
impl FromIterator<(Reference, Vec<Need>)> for Graph {
    fn from_iter<I: IntoIterator<Item = (Reference, Vec<Need>)>>(objects: I) -> Self {
        let mut graph = Self::new();
        graph.extend(objects);
        graph
    }
}

impl Extend<(Reference, Vec<Need>)> for Graph {
    fn extend<I: IntoIterator<Item = (Reference, Vec<Need>)>>(&mut self, objects: I) {
        for (object, needs) in objects {
            self.replace(&object, needs);
        }
    }
}
