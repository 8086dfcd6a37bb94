//! From files to objects: what Kustomize builds and Flux applies, followed from file to file.
//!
//! A folder may hold more than one cluster (`clusters/production`, `clusters/staging`): what belongs together is found out,
//! and each is a [`World`] of its own. See [`Tree::worlds`].

mod build;
mod copied;
mod flux;
mod patch;
mod path;
mod select;
mod units;
mod variables;
mod world;

pub use path::{common, join, parent};
pub use variables::is_open;
pub use world::{Definition, Doubled, OpenEnd, Unread, World};

use crate::manifest::{Body, Config, Document, File, is_kustomization};
use std::collections::{BTreeMap, BTreeSet};

/// Files with what stands in them, and where they are.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    files: Vec<File>,
    folders: BTreeMap<String, Folder>,
}

/// The files and folders that stand in a folder.
#[derive(Clone, Debug, Default)]
struct Folder {
    files: Vec<usize>,
    folders: BTreeSet<String>,
}

/// A document of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    file: usize,
    document: usize,
}

impl Tree {
    /// A tree of files, in any order.
    #[must_use]
    pub fn new(mut files: Vec<File>) -> Self {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.dedup_by(|a, b| a.path == b.path);
        let mut folders: BTreeMap<String, Folder> = BTreeMap::new();
        for (index, file) in files.iter().enumerate() {
            let mut folder = parent(&file.path).to_owned();
            folders.entry(folder.clone()).or_default().files.push(index);
            while !folder.is_empty() {
                let above = parent(&folder).to_owned();
                if !folders.entry(above.clone()).or_default().folders.insert(folder) {
                    break;
                }
                folder = above;
            }
        }
        Self { files, folders }
    }

    /// The files, in the order of their paths.
    #[must_use]
    pub fn files(&self) -> &[File] {
        &self.files
    }

    /// The files, to make another tree of them and more.
    #[must_use]
    pub fn into_files(self) -> Vec<File> {
        self.files
    }

    /// The path of the file of a document, as findings show it.
    #[must_use]
    pub fn shown(&self, place: Place) -> &str {
        self.files.get(place.file).map_or("", |file| &file.shown)
    }

    fn path(&self, place: Place) -> &str {
        self.files.get(place.file).map_or("", |file| &file.path)
    }

    fn document(&self, place: Place) -> Option<&Document> {
        self.files.get(place.file)?.documents.get(place.document)
    }

    fn has_folder(&self, path: &str) -> bool {
        self.folders.contains_key(path)
    }

    fn file(&self, path: &str) -> Option<usize> {
        self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()
    }

    fn places(&self, file: usize) -> impl Iterator<Item = Place> + use<> {
        let count = self.files.get(file).map_or(0, |file| file.documents.len());
        (0..count).map(move |document| Place { file, document })
    }

    fn all_places(&self) -> impl Iterator<Item = (Place, &Document)> {
        let numbered = |(file, read): (usize, &'_ File)| (file, read.documents.len());
        let counts: Vec<(usize, usize)> = self.files.iter().enumerate().map(numbered).collect();
        counts
            .into_iter()
            .flat_map(|(file, count)| (0..count).map(move |document| Place { file, document }))
            .filter_map(|place| Some((place, self.document(place)?)))
    }

    /// How a folder is built, if it says so, and the file that says it.
    fn config(&self, folder: &str) -> Option<(&Config, &File)> {
        let files = self.folders.get(folder)?.files.iter().filter_map(|&file| self.files.get(file));
        files.filter(|file| is_kustomization(path::name(&file.path))).find_map(|file| {
            let config = file.documents.iter().find_map(|document| match &document.body {
                Body::Kustomize(config) => Some(&**config),
                _ => None,
            });
            Some((config?, file))
        })
    }

    /// Every folder that says how it is built.
    fn configs(&self) -> impl Iterator<Item = (&str, &Config, &File)> {
        self.folders.keys().filter_map(|folder| {
            let (config, file) = self.config(folder)?;
            Some((folder.as_str(), config, file))
        })
    }
}

#[cfg(test)]
mod tests;
