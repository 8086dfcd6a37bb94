//! What would be in one cluster.

use super::build::{Builder, Resource};
use super::flux::{Applied, DEFAULT_NAMESPACE, reference, spec_of};
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
    /// The Kustomizations whose paths were followed.
    pub followed: BTreeSet<Reference>,
}

/// An object and where it is written.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The object. What it applies is in its inventory.
    pub object: Object,
    /// The document; `None` for what is read from a cluster.
    pub place: Option<Place>,
    /// The Kustomization that applies it.
    pub owner: Option<Reference>,
    /// The version it is written with, where that is not one that is read.
    pub unknown_version: Option<String>,
    /// For a Kustomization whose path was followed: whether what it does not apply any more is deleted.
    pub prunes: bool,
    /// Whether its status is that of a cluster.
    pub live: bool,
    /// What is in it as JSON, where that is not what is written.
    changed: Option<Box<str>>,
}

/// Why an object that is there is not judged.
#[derive(Clone, Debug)]
pub struct Unread {
    /// The document; `None` for what is read from a cluster.
    pub place: Option<Place>,
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
    /// Whether it should be in this very tree, so that Kustomize fails.
    pub is_local: bool,
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
            world.followed.extend(unit.expansion.followed.iter().cloned());
            world.own_sources.extend(unit.expansion.own_sources.iter().cloned());
            let open = |loose: &super::build::Loose| OpenEnd {
                path: self
                    .file(&loose.path)
                    .and_then(|file| self.files.get(file))
                    .map_or_else(|| loose.path.clone(), |file| file.shown.clone()),
                line: loose.line,
                what: loose.what.clone(),
                is_local: loose.is_local,
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
            Some(Body::Other(_)) => {
                return drop(world.unread.insert(reference, Unread { place: Some(place), why: None }));
            }
            _ => return,
        };
        let written = match &resource.changed {
            Some(changed) => decode(source, &reference, changed.to_string().as_bytes()),
            None => decode(source, &reference, &source.json),
        };
        let object = match written {
            Ok(object) => object,
            Err(why) => return drop(world.unread.insert(reference, Unread { place: Some(place), why: Some(why) })),
        };
        let new = Definition {
            owner: applied.owner.clone(),
            unknown_version: unknown_version(&resource.header),
            prunes: world.followed.contains(&reference) && prunes(self, resource),
            changed: resource.changed.as_ref().map(|changed| changed.to_string().into_boxed_str()),
            ..Definition::new(object, Some(place))
        };
        match world.objects.get_mut(&reference) {
            None => drop(world.objects.insert(reference, new)),
            // A bootstrap applies itself.
            Some(old) if old.place == Some(place) => old.owner = old.owner.take().or(new.owner),
            Some(old) => {
                let first = old.place.replace(place).unwrap_or(place);
                world.doubled.push(Doubled { object: reference, first, again: place });
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

    /// A definition as the API server would give it: with its name and namespace, which files may leave out.
    #[must_use]
    pub fn json(&self, definition: &Definition) -> Option<Vec<u8>> {
        let mut value: Value = match &definition.changed {
            Some(changed) => serde_json::from_str(changed).ok()?,
            None => serde_json::from_slice(&self.source(definition.place?)?.json).ok()?,
        };
        let own = &definition.object.reference;
        let metadata = value.get_mut("metadata")?.as_object_mut()?;
        metadata.insert("name".to_owned(), Value::from(&*own.name));
        if own.kind.row().namespaced {
            metadata.insert("namespace".to_owned(), Value::from(&*own.namespace));
        }
        Some(value.to_string().into_bytes())
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
    /// What a cluster holds. Objects that cannot be read are kept as such.
    #[must_use]
    pub fn of_cluster(objects: impl IntoIterator<Item = (Reference, Box<[u8]>)>) -> Self {
        let mut world = Self::default();
        for (reference, json) in objects {
            match Object::decode(reference.clone(), &json) {
                Ok(object) => {
                    let new = Definition { live: true, ..Definition::new(object, None) };
                    world.objects.insert(reference, new);
                }
                Err(why) => drop(world.unread.insert(reference, Unread { place: None, why: Some(why) })),
            }
        }
        world
    }

    /// This world as a change of what a cluster holds: what is in it takes the place of what is there, with its status;
    /// what one of its Kustomizations has applied, prunes, and does not apply any more is gone. The other objects of the
    /// cluster stay.
    #[must_use]
    pub fn over(mut self, cluster: Self) -> Self {
        let pruned = |definition: &Definition| {
            let owners = definition.object.owners();
            let owner = owners.of_kind(Kind::Kustomization).and_then(|owner| self.objects.get(owner));
            owner.is_some_and(|owner| owner.prunes)
        };
        let kept: Vec<(Reference, Definition)> = cluster
            .objects
            .into_iter()
            .filter(|(reference, live)| self.objects.contains_key(reference) || !pruned(live))
            .collect();
        for (reference, live) in kept {
            match self.objects.get_mut(&reference) {
                None => drop(self.objects.insert(reference, live)),
                Some(new) => {
                    let inventory = new.object.status.inventory.take();
                    new.object.status = live.object.status;
                    new.object.status.inventory = inventory.or_else(|| new.object.status.inventory.take());
                    new.live = true;
                }
            }
        }
        for (reference, unread) in cluster.unread {
            if !self.objects.contains_key(&reference) {
                self.unread.entry(reference).or_insert(unread);
            }
        }
        // What may come from elsewhere is in the cluster by now, or is missing.
        self.open.clear();
        self
    }

    fn make(&mut self, place: Place, reference: &Reference, value: &Value) {
        let json = value.to_string();
        let object =
            Object::of_request(reference.kind, Some(&reference.namespace), Some(&reference.name), json.as_bytes());
        let Ok(object) = object else { return };
        let new = Definition::new(object, Some(place));
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

impl Definition {
    fn new(object: Object, place: Option<Place>) -> Self {
        Self { object, place, owner: None, unknown_version: None, prunes: false, live: false, changed: None }
    }
}

fn prunes(tree: &Tree, resource: &Resource) -> bool {
    spec_of(tree, resource).is_some_and(|spec| spec.prune)
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
