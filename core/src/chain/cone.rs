//! Which objects belong to a chain: all that needs lead to, inputs and outputs.

use super::world::{Known, World};
use crate::gate::relays;
use crate::need::{Demand, Need, Reason};
use crate::object::{Kind, Object, Reference};
use crate::settled;
use std::collections::{BTreeMap, BTreeSet};

/// The objects that some others need, over any number of steps. It grows as objects become known, in whatever order.
#[derive(Clone, Debug, Default)]
pub struct Cone {
    targets: Vec<Reference>,
    /// Suspended objects are left out, and what only they need.
    ignore_suspended: bool,
    /// The needs of each member; none of one that is not there.
    members: BTreeMap<Reference, Vec<Need>>,
    /// Members that are not known yet.
    open: BTreeSet<Reference>,
    /// Members of which only existence is asked, so far.
    leaves: BTreeSet<Reference>,
}

impl Cone {
    /// The cone of these objects, which are members of it.
    #[must_use]
    pub fn new(targets: impl IntoIterator<Item = Reference>, ignore_suspended: bool) -> Self {
        let mut targets: Vec<Reference> = targets.into_iter().collect();
        targets.sort_unstable();
        targets.dedup();
        let mut cone = Self { targets, ignore_suspended, ..Self::default() };
        cone.start();
        cone
    }

    fn start(&mut self) {
        self.members.clear();
        self.leaves.clear();
        self.open.clear();
        for target in self.targets.clone() {
            self.members.insert(target.clone(), Vec::new());
            self.open.insert(target);
        }
    }

    /// Goes on as far as the world is known. What is wanted next, in the stable order; nothing more when the cone is
    /// whole.
    pub fn grow(&mut self, world: &World) -> Vec<Reference> {
        let mut unknown = BTreeSet::new();
        while let Some(reference) = self.open.pop_first() {
            let needs = match world.get(&reference) {
                None => {
                    unknown.insert(reference);
                    continue;
                }
                Some(Known::Found(found)) => self.needs(&found.object, world),
                Some(_) => Vec::new(),
            };
            for need in &needs {
                let leaf = need.demand == Demand::Exists;
                if !self.members.contains_key(&need.target) {
                    self.members.insert(need.target.clone(), Vec::new());
                    self.open.insert(need.target.clone());
                    if leaf {
                        self.leaves.insert(need.target.clone());
                    }
                } else if !leaf && self.leaves.remove(&need.target) {
                    // More is asked of it than was known.
                    self.open.insert(need.target.clone());
                }
            }
            // What a PackageSource lists are needs for whoever follows its Package.
            let source = Reference::new(Kind::PackageSource, "", &reference.name);
            if reference.kind == Kind::Package && self.members.contains_key(&source) && world.get(&source).is_some() {
                self.open.insert(source);
            }
            self.members.insert(reference, needs);
        }
        self.open.clone_from(&unknown);
        unknown.into_iter().collect()
    }

    /// An object has changed. Where it needs other things now, the cone is begun anew: some members may be none any more.
    pub fn changed(&mut self, reference: &Reference, world: &World) {
        let Some(before) = self.members.get(reference).filter(|_| !self.open.contains(reference)) else { return };
        let needs = world.found(reference).map(|found| self.needs(&found.object, world)).unwrap_or_default();
        if *before != needs {
            self.start();
            self.grow(world);
        }
    }

    /// All that an object waits for, in the order of its fields: what it names, what it applies and waits for, the
    /// HelmChart that it generates, and for a PackageSource what its Package waits for.
    fn needs(&self, object: &Object, world: &World) -> Vec<Need> {
        let left_out = self.ignore_suspended && object.is_suspended();
        if left_out || (self.leaves.contains(&object.reference) && !self.targets.contains(&object.reference)) {
            return Vec::new();
        }
        let mut needs = object.needs().judged;
        let package = Reference::new(Kind::Package, "", &object.reference.name);
        let package = world.found(&package).filter(|_| self.members.contains_key(&package));
        needs.retain(|need| relays(object, need.reason, package.map(|found| &found.object)));
        for need in settled::inputs(object) {
            if need.reason == Reason::Chart && !needs.contains(&need) {
                needs.push(need);
            }
        }
        needs
    }

    /// The objects that were asked for.
    #[must_use]
    pub fn targets(&self) -> &[Reference] {
        &self.targets
    }

    /// All members, in the stable order, each with its needs.
    pub fn members(&self) -> impl Iterator<Item = (&Reference, &[Need])> {
        self.members.iter().map(|(member, needs)| (member, needs.as_slice()))
    }

    /// Whether the object is a member.
    #[must_use]
    pub fn contains(&self, reference: &Reference) -> bool {
        self.members.contains_key(reference)
    }

    /// The needs of a member.
    #[must_use]
    pub fn needs_of(&self, reference: &Reference) -> &[Need] {
        self.members.get(reference).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether nothing but its existence is asked of a member.
    pub(super) fn is_leaf(&self, reference: &Reference) -> bool {
        self.leaves.contains(reference)
    }

    /// Whether suspended objects are left out.
    pub(super) fn ignores_suspended(&self) -> bool {
        self.ignore_suspended
    }
}
