//! What is applied from outside, and which of it belongs to one cluster.

use super::build::{Builder, Built, is_config};
use super::flux::{Expansion, FluxSpec, reference};
use super::path::{is_remote, is_within, join, parent};
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
    /// The units of the tree that no other one leads to.
    pub(super) fn units(&self, builder: &Builder<'_>) -> Vec<Unit> {
        let candidates = self.candidates(builder);
        let leads = self.leads();
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
        let mut reached: BTreeSet<usize> = BTreeSet::new();
        for lead in &leads {
            let Some(&from) = owner_of.get(&lead.place.file) else { continue };
            for (folder, units) in by_folder.range(lead.folder.as_str()..) {
                if !folder.starts_with(&lead.folder) {
                    break;
                }
                for &to in units.iter().filter(|&&to| to != from && is_within(folder, &lead.folder)) {
                    reached.insert(to);
                    if let Some(list) = reaches.get_mut(from) {
                        list.insert(to);
                    }
                }
            }
        }
        let mut covered: BTreeSet<usize> = BTreeSet::new();
        let mut top = Vec::new();
        // Those that nobody leads to; then, of those that only lead to each other, the first.
        let order = (0..candidates.len()).filter(|unit| !reached.contains(unit)).chain(0..candidates.len());
        for unit in order {
            if !covered.insert(unit) {
                continue;
            }
            top.push(unit);
            let mut ahead = vec![unit];
            while let Some(next) = ahead.pop() {
                ahead.extend(reaches.get(next).into_iter().flatten().copied().filter(|&to| covered.insert(to)));
            }
        }
        top.sort_unstable();
        let unit = |index: usize| {
            let (folder, built) = candidates.get(index)?;
            Some(Unit { folder: folder.clone(), expansion: builder.expand(built) })
        };
        top.into_iter().filter_map(unit).collect()
    }

    /// Folders that Kustomize builds and no other one takes, and files that none takes; with what they hold.
    fn candidates(&self, builder: &Builder<'_>) -> Vec<(String, Built)> {
        let mut taken_folders: BTreeSet<String> = BTreeSet::new();
        let mut taken_files: BTreeSet<usize> = BTreeSet::new();
        for (folder, config, file) in self.configs() {
            taken_files.extend(self.file(&file.path));
            let patches = config.patches.iter().chain(&config.patches_json6902).filter_map(|patch| patch.path.as_ref());
            let entries = config.resources.iter().chain(&config.bases).chain(&config.components).chain(patches);
            for entry in entries.chain(&config.patches_strategic_merge).filter(|entry| !is_remote(entry)) {
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
            if is_covered || config.is_component() {
                continue;
            }
            let built = Built::clone(&builder.folder(folder));
            covered.extend(&built.files);
            found.push((folder.to_owned(), built));
        }
        for (index, file) in self.files.iter().enumerate() {
            if !taken_files.contains(&index) && !is_config(&file.path) && !file.documents.is_empty() {
                found.push((parent(&file.path).to_owned(), builder.file(index)));
            }
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found
    }

    fn leads(&self) -> Vec<Lead> {
        let lead = |place: Place, path: Option<&str>| {
            let folder = join("", path.unwrap_or_default()).filter(|folder| self.has_folder(folder))?;
            Some(Lead { place, folder })
        };
        let found = self.all_places().filter_map(|(place, document)| match &document.body {
            Body::Object(source) if source.kind == Kind::Kustomization => {
                #[derive(serde::Deserialize)]
                struct Object {
                    spec: FluxSpec,
                }
                let object: Object = serde_json::from_slice(&source.json).ok()?;
                lead(place, object.spec.path.as_deref())
            }
            Body::Instance { sync, .. } => lead(place, sync.get("path").and_then(|path| path.as_str())),
            _ => None,
        });
        found.collect()
    }
}

/// Puts units together that may be one cluster. Two that define the same object otherwise are not: then the folders that
/// part them are clusters of their own, and what stands outside of these folders belongs to each.
pub(super) fn worlds(units: Vec<Unit>) -> Vec<(String, Vec<Unit>)> {
    let mut done = Vec::new();
    let mut ahead = vec![(String::new(), units, 0)];
    while let Some((name, units, round)) = ahead.pop() {
        match conflict(&units).filter(|_| round < ROUNDS) {
            None => done.push((name, units)),
            Some((above, parts)) => {
                let part_of = |unit: &Unit| {
                    let rest = unit.folder.strip_prefix(&above)?.trim_start_matches('/');
                    let part = rest.split('/').next().unwrap_or_default();
                    is_within(&unit.folder, &above)
                        .then_some(part)
                        .filter(|part| parts.contains(*part))
                        .map(ToOwned::to_owned)
                };
                for part in parts.iter().rev() {
                    let mine = units.iter().filter(|unit| part_of(unit).is_none_or(|own| own == *part)).cloned();
                    let name = if above.is_empty() { part.clone() } else { format!("{above}/{part}") };
                    ahead.push((name, mine.collect(), round + 1));
                }
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
        let above = common(a, b);
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

fn common(a: &str, b: &str) -> String {
    let same = a.split('/').zip(b.split('/')).take_while(|(a, b)| a == b).map(|(part, _)| part);
    same.collect::<Vec<_>>().join("/")
}
