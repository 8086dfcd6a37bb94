//! What would be in one cluster.

use super::build::Builder;
use super::flux::{Applied, DEFAULT_NAMESPACE, reference};
use super::units::{Unit, worlds};
use super::variables::is_open;
use super::{Place, Tree};
use crate::manifest::{Body, Header, Source};
use serde_json::Value;
use sluicegate_core::object::{Inventory, Kind, Object, Reference, Unreadable};
use std::collections::{BTreeMap, BTreeSet};

/// The objects of one cluster, as far as the tree tells.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// The folder that sets it apart from the other ones; empty if there is only one.
    pub name: String,
    /// Objects of judged kinds.
    pub objects: BTreeMap<Reference, Definition>,
    /// Objects of judged kinds that are there, but cannot be read: encrypted, or with a field of a wrong type.
    pub unread: BTreeMap<Reference, Unread>,
    /// Where the tree leads to what is not in it: objects may come from there.
    pub open: Vec<OpenEnd>,
    /// Sources that the tree itself is; something that is not in it may define them.
    pub own_sources: BTreeSet<Reference>,
    /// Objects that are defined more than once; the last one counts.
    pub doubled: Vec<Doubled>,
}

/// An object and where it is written.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The object. What it applies is in its inventory.
    pub object: Object,
    /// The document.
    pub place: Place,
    /// The Kustomization that applies it.
    pub owner: Option<Reference>,
    /// The version it is written with, where that is not one that is read.
    pub unknown_version: Option<String>,
}

/// Why an object that is there is not judged.
#[derive(Clone, Debug)]
pub struct Unread {
    /// The document.
    pub place: Place,
    /// What cannot be read; `None` if it is encrypted.
    pub why: Option<Unreadable>,
}

/// A way out of the tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpenEnd {
    /// The file that names it.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
    /// What it is.
    pub what: String,
}

/// An object that is defined twice.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Doubled {
    /// The object.
    pub object: Reference,
    /// Where first.
    pub first: Place,
    /// Where again.
    pub again: Place,
}

impl Tree {
    /// The clusters that the tree describes, in the order of their names.
    #[must_use]
    pub fn worlds(&self) -> Vec<World> {
        let builder = Builder::new(self);
        let units = self.units(&builder);
        let mut found: Vec<World> = worlds(units).into_iter().map(|(name, units)| self.world(name, &units)).collect();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        found
    }

    fn world(&self, name: String, units: &[Unit]) -> World {
        let mut world = World { name, ..World::default() };
        for unit in units {
            world.own_sources.extend(unit.expansion.own_sources.iter().cloned());
            let open = |loose: &super::build::Loose| OpenEnd {
                path: loose.path.clone(),
                line: loose.line,
                what: loose.what.clone(),
            };
            world.open.extend(unit.expansion.loose.iter().map(open));
            for (place, reference, value) in &unit.expansion.made {
                world.make(*place, reference, value);
            }
            for applied in &unit.expansion.applied {
                self.add(applied, &mut world);
            }
        }
        world.open.sort();
        world.open.dedup();
        world.link();
        world
    }

    fn add(&self, applied: &Applied, world: &mut World) {
        let resource = &applied.resource;
        let Some(reference) = reference(resource) else { return };
        let place = resource.place;
        let source = match self.document(place).map(|document| &document.body) {
            Some(Body::Object(source)) => source,
            Some(Body::Other(_)) => return drop(world.unread.insert(reference, Unread { place, why: None })),
            _ => return,
        };
        let written = match &resource.changed {
            Some(changed) => decode(source, &reference, changed.to_string().as_bytes()),
            None => decode(source, &reference, &source.json),
        };
        let object = match written {
            Ok(object) => object,
            Err(why) => return drop(world.unread.insert(reference, Unread { place, why: Some(why) })),
        };
        let unknown_version = unknown_version(&resource.header);
        let new = Definition { object, place, owner: applied.owner.clone(), unknown_version };
        match world.objects.get_mut(&reference) {
            None => drop(world.objects.insert(reference, new)),
            // A bootstrap applies itself.
            Some(old) if old.place == place => old.owner = old.owner.take().or(new.owner),
            Some(old) => {
                world.doubled.push(Doubled { object: reference, first: old.place, again: place });
                *old = new;
            }
        }
    }

    /// The lines of a document's fields.
    #[must_use]
    pub fn line(&self, place: Place, field: &str) -> u32 {
        match self.document(place) {
            Some(document) => match &document.body {
                Body::Object(source) => source.lines.line(field),
                _ => document.line,
            },
            None => 1,
        }
    }

    /// What stands in a document of a judged kind.
    #[must_use]
    pub fn source(&self, place: Place) -> Option<&Source> {
        match &self.document(place)?.body {
            Body::Object(source) => Some(source),
            _ => None,
        }
    }
}

impl World {
    fn make(&mut self, place: Place, reference: &Reference, value: &Value) {
        let json = value.to_string();
        let object =
            Object::of_request(reference.kind, Some(&reference.namespace), Some(&reference.name), json.as_bytes());
        let Ok(object) = object else { return };
        let new = Definition { object, place, owner: None, unknown_version: None };
        self.objects.entry(reference.clone()).or_insert(new);
    }

    /// Tells owners what they apply: what is in the cluster's inventory stands in folders here.
    fn link(&mut self) {
        let mut children: BTreeMap<Reference, Vec<Reference>> = BTreeMap::new();
        for (reference, definition) in &self.objects {
            if let Some(owner) = definition.owner.as_ref().filter(|owner| *owner != reference) {
                children.entry(owner.clone()).or_default().push(reference.clone());
            }
        }
        for (owner, applied) in children {
            if let Some(definition) =
                self.objects.get_mut(&owner).filter(|owner| owner.object.reference.kind == Kind::Kustomization)
            {
                definition.object.status.inventory = Some(Inventory::Applied(applied));
            }
        }
    }

    /// Whether it cannot be told which object is meant, for variables in its name.
    #[must_use]
    pub fn is_unknown(reference: &Reference) -> bool {
        is_open(&reference.name) || is_open(&reference.namespace) || reference.name.contains("<<")
    }
}

fn decode(source: &Source, reference: &Reference, json: &[u8]) -> Result<Object, Unreadable> {
    let namespace = if source.kind.row().namespaced { Some(&*reference.namespace) } else { None };
    let mut object = Object::of_request(source.kind, namespace.or(Some(DEFAULT_NAMESPACE)), None, json)?;
    // A status in a manifest is what somebody exported.
    object.reference = reference.clone();
    Ok(object)
}

fn unknown_version(header: &Header) -> Option<String> {
    let kind = Kind::find(&header.group, &header.kind)?;
    (!kind.row().versions.contains(&header.version.as_str())).then(|| header.version.clone())
}
