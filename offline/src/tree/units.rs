//! What is applied from outside, and which of it belongs to one cluster.

use super::build::{Builder, Built, is_config};
use super::copied::Copies;
use super::flux::{Expansion, reference};
use super::path::{common, is_remote, is_within, join, parent};
use super::{Place, Tree};
use crate::manifest::Body;
use sluicegate_core::object::{Kind, Reference};
use std::collections::{BTreeMap, BTreeSet};

/// How often what conflicts is parted.
const ROUNDS: usize = 16;

/// Something that a person, a pipeline or a bootstrap applies: a folder that Kustomize builds, or a single file.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// The folder it stands in.
    pub folder: String,
    /// All that it leads on to.
    pub expansion: Expansion,
}

/// A Kustomization that leads to a folder, before anything is built.
struct Lead {
    place: Place,
    folder: String,
}

impl Tree {
    /// Paths of files and folders that something in the tree leads to, and that are not in it. They may not exist.
    #[must_use]
    pub fn wanted(&self) -> BTreeSet<String> {
        let mut wanted: BTreeSet<String> = BTreeSet::new();
        for (folder, config, _) in self.configs() {
            wanted.extend(config.entries().filter(|entry| !is_remote(entry)).filter_map(|entry| join(folder, entry)));
        }
        wanted.extend(self.paths(&Copies::of(self)).map(|lead| lead.folder));
        wanted.retain(|path| !self.has_folder(path) && self.file(path).is_none());
        wanted
    }

    /// The paths that Kustomizations and instances name, as they are written but for dots: which folder is the root of the
    /// tree shows by where they exist.
    #[must_use]
    pub fn named_paths(&self) -> BTreeSet<String> {
        let copies = Copies::of(self);
        let all = self.paths(&copies).map(|lead| lead.folder);
        all.filter(|folder| !folder.is_empty()).collect()
    }

    /// The units of the tree that no other one leads to.
    pub(super) fn units(&self, builder: &Builder<'_>) -> Vec<Unit> {
        let candidates = self.candidates(builder);
        let leads = self.leads(&builder.copies);
        let owner_of: BTreeMap<usize, usize> = candidates
            .iter()
            .enumerate()
            .flat_map(|(index, (_, built))| built.files.iter().map(move |&file| (file, index)))
            .collect();
        // Whom each unit leads to.
        let mut by_folder: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, (folder, _)) in candidates.iter().enumerate() {
            by_folder.entry(folder).or_default().push(index);
        }
        let mut reaches: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); candidates.len()];
        for lead in &leads {
            let Some(&from) = owner_of.get(&lead.place.file) else { continue };
            for (folder, units) in by_folder.range(lead.folder.as_str()..) {
                if !folder.starts_with(&lead.folder) {
                    break;
                }
                let list = reaches.get_mut(from).into_iter();
                list.for_each(|list| list.extend(units.iter().filter(|_| is_within(folder, &lead.folder))));
            }
        }
        let mut top = sources(&reaches);
        top.sort_unstable();
        let mut found: BTreeMap<usize, Unit> = BTreeMap::new();
        let mut taken: BTreeSet<usize> = BTreeSet::new();
        // What is led to, but not followed in the end, stands for itself: nothing gets lost.
        for index in top.into_iter().chain(0..candidates.len()) {
            let Some((folder, built)) = candidates.get(index) else { continue };
            if !found.contains_key(&index) && !built.files.iter().all(|file| taken.contains(file)) {
                let expansion = builder.expand(built);
                taken.extend(&expansion.files);
                found.insert(index, Unit { folder: folder.clone(), expansion });
            }
        }
        found.into_values().collect()
    }

    /// Folders that Kustomize builds and no other one takes, and files that none takes; with what they hold.
    fn candidates(&self, builder: &Builder<'_>) -> Vec<(String, Built)> {
        let mut taken_folders: BTreeSet<String> = BTreeSet::new();
        let mut taken_files: BTreeSet<usize> = BTreeSet::new();
        for (folder, config, file) in self.configs() {
            taken_files.extend(self.file(&file.path));
            let entries = config.entries().chain(config.patches_strategic_merge.iter().map(String::as_str));
            for entry in entries.filter(|entry| !is_remote(entry)) {
                let Some(path) = join(folder, entry) else { continue };
                match self.file(&path) {
                    Some(file) => drop(taken_files.insert(file)),
                    None => drop(taken_folders.insert(path)),
                }
            }
        }
        let mut found = Vec::new();
        let mut covered: BTreeSet<usize> = BTreeSet::new();
        let free = self.configs().filter(|(folder, ..)| !taken_folders.contains(*folder));
        // Folders that only take each other: the first of them stands for all.
        let circles = self.configs().filter(|(folder, ..)| taken_folders.contains(*folder));
        for (folder, config, file) in free.chain(circles) {
            let is_covered = self.file(&file.path).is_some_and(|file| covered.contains(&file));
            if is_covered || config.is_component() || file.extra {
                continue;
            }
            let built = Built::clone(&builder.folder(folder));
            covered.extend(&built.files);
            found.push((folder.to_owned(), built));
        }
        for (index, file) in self.files.iter().enumerate() {
            if !taken_files.contains(&index) && !is_config(&file.path) && !file.documents.is_empty() && !file.extra {
                found.push((parent(&file.path).to_owned(), builder.file(index)));
            }
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found
    }

    fn leads(&self, copies: &Copies) -> Vec<Lead> {
        self.paths(copies).filter(|lead| self.has_folder(&lead.folder)).collect()
    }

    /// Where Kustomizations and instances lead, as it is written.
    fn paths(&self, copies: &Copies) -> impl Iterator<Item = Lead> {
        self.all_places().filter_map(|(place, document)| {
            let folder = match &document.body {
                Body::Object(source) => {
                    let lead = source.lead.as_ref().filter(|lead| !lead.source.1.is_empty())?;
                    let (kind, name, namespace) = &lead.source;
                    let namespace = namespace.as_deref().or(source.header.namespace.as_deref()).unwrap_or_default();
                    let from = Kind::named(kind).map(|kind| Reference::new(kind, namespace, name));
                    copies.folder(self.path(place), from, Some(&lead.path)).1
                }
                Body::Instance { sync, .. } => {
                    join("", sync.get("path").and_then(|path| path.as_str()).unwrap_or_default())
                }
                _ => None,
            };
            Some(Lead { place, folder: folder? })
        })
    }
}

/// One node of each set of nodes that reach each other and that nothing else reaches, by Kosaraju's observation: of any
/// nodes, the one that a search in depth leaves last is reached by none but those that it reaches itself.
fn sources(reaches: &[BTreeSet<usize>]) -> Vec<usize> {
    let mut left: Vec<usize> = Vec::with_capacity(reaches.len());
    let mut seen = vec![false; reaches.len()];
    let mut search = |start: usize, left: &mut Vec<usize>| {
        let mut ahead = vec![(start, false)];
        while let Some((node, is_done)) = ahead.pop() {
            if is_done {
                left.push(node);
            } else if let Some(seen) = seen.get_mut(node).filter(|seen| !**seen) {
                *seen = true;
                ahead.push((node, true));
                ahead.extend(reaches.get(node).into_iter().flatten().map(|&next| (next, false)));
            }
        }
    };
    (0..reaches.len()).for_each(|node| search(node, &mut left));
    let mut covered = vec![false; reaches.len()];
    let mut found = Vec::new();
    for &node in left.iter().rev() {
        if covered.get(node).is_none_or(|covered| *covered) {
            continue;
        }
        found.push(node);
        let mut ahead = vec![node];
        while let Some(next) = ahead.pop() {
            if let Some(covered) = covered.get_mut(next).filter(|covered| !**covered) {
                *covered = true;
                ahead.extend(reaches.get(next).into_iter().flatten());
            }
        }
    }
    found
}

/// Puts units together that may be one cluster. Two that define the same object are not: then the folders that part them
/// are clusters of their own, and what stands outside of these folders belongs to each. Where that conflicts once more, a
/// folder of the same name belongs to the cluster (`clusters/production` and `apps/production`); where there is none, it
/// is a cluster of its own.
pub(super) fn worlds(units: Vec<Unit>) -> Vec<(String, Vec<Unit>)> {
    let mut done = Vec::new();
    let mut named: BTreeSet<String> = BTreeSet::new();
    let mut ahead = vec![(String::new(), units, 0)];
    while let Some((name, units, round)) = ahead.pop() {
        let Some((above, parts)) = conflict(&units).filter(|_| round < ROUNDS) else {
            done.push((name, units));
            continue;
        };
        let part_of = |unit: &Unit| {
            let rest = unit.folder.strip_prefix(&above)?.trim_start_matches('/');
            let part = rest.split('/').next().unwrap_or_default();
            (is_within(&unit.folder, &above) && parts.contains(part)).then(|| part.to_owned())
        };
        let only = |part: &str| {
            units.iter().filter(|unit| part_of(unit).is_some_and(|own| own == part)).cloned().collect::<Vec<Unit>>()
        };
        let shared: Vec<Unit> = units.iter().filter(|unit| part_of(unit).is_none()).cloned().collect();
        let is_first = name.is_empty() || is_within(&above, &name);
        let same = name.rsplit('/').next().and_then(|last| parts.get(last));
        if !is_first {
            let mine = same.map(|part| only(part)).unwrap_or_default();
            ahead.push((name.clone(), shared.iter().cloned().chain(mine).collect(), round + 1));
        }
        for part in parts.iter().rev().filter(|part| is_first || Some(*part) != same) {
            let name = join(&above, part).unwrap_or_default();
            if named.insert(name.clone()) {
                let rest = if is_first { shared.clone() } else { Vec::new() };
                ahead.push((name, rest.into_iter().chain(only(part)).collect(), round + 1));
            }
        }
    }
    done
}

/// The folder above two units that cannot be of one cluster, and those of its folders that conflict with each other.
fn conflict(units: &[Unit]) -> Option<(String, BTreeSet<String>)> {
    let mut homes: BTreeMap<Reference, (Place, usize)> = BTreeMap::new();
    let mut pairs: BTreeSet<(usize, usize)> = BTreeSet::new();
    for (index, unit) in units.iter().enumerate() {
        for applied in &unit.expansion.applied {
            let Some(object) = reference(&applied.resource) else { continue };
            let place = applied.resource.place;
            match homes.get(&object) {
                // The same document built twice may differ, too: by patches and names.
                Some(&(_, other)) if other != index => drop(pairs.insert((other, index))),
                Some(_) => {}
                None => drop(homes.insert(object, (place, index))),
            }
        }
    }
    let folder = |index: usize| units.get(index).map_or("", |unit| unit.folder.as_str());
    let parted = |&(a, b): &(usize, usize)| {
        let (a, b) = (folder(a), folder(b));
        let above = common(a, b).to_owned();
        let part =
            |path: &str| path.strip_prefix(&above)?.trim_start_matches('/').split('/').next().map(ToOwned::to_owned);
        // One within the other, or both in one: nothing to part them by.
        let (a, b) = (part(a).filter(|part| !part.is_empty())?, part(b).filter(|part| !part.is_empty())?);
        Some((above, a, b))
    };
    let all: Vec<(String, String, String)> = pairs.iter().filter_map(parted).collect();
    let above = all.iter().map(|(above, ..)| above).min_by_key(|above| above.len())?.clone();
    let parts = all.iter().filter(|(own, ..)| *own == above).flat_map(|(_, a, b)| [a.clone(), b.clone()]).collect();
    Some((above, parts))
}
