//! What Kustomize builds from a folder, as far as it decides which objects there are and what is in them.

use super::copied::Copies;
use super::patch::Change;
use super::path::{is_remote, join};
use super::{Place, Tree};
use crate::manifest::{Body, Config, Header, is_kustomization};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// How often a folder may give each document of the tree, on average: folders that take others twice double at every level.
const TIMES: usize = 4;
/// What a folder may give in any case.
const FEW: usize = 1_000;
/// How deep folders may lead to folders.
const DEPTH: usize = 64;

/// An object on its way to the cluster.
#[derive(Clone, Debug)]
pub(super) struct Resource {
    /// Where it is written.
    pub place: Place,
    /// Which object it is now.
    pub header: Header,
    /// What is in it, where that is not what is written.
    pub changed: Option<Value>,
}

/// Something that could not be followed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Loose {
    /// The file that names it.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
    /// What it is, to stand after "not followed:".
    pub what: String,
    /// Whether it should be in this very tree.
    pub is_local: bool,
}

/// What a folder gives.
#[derive(Clone, Debug, Default)]
pub(super) struct Built {
    pub resources: Vec<Resource>,
    pub loose: BTreeSet<Loose>,
    /// The files that it takes something from.
    pub files: BTreeSet<usize>,
}

/// Builds folders, each once.
pub(super) struct Builder<'t> {
    pub tree: &'t Tree,
    pub copies: Copies,
    /// How many objects a folder may give.
    most: usize,
    built: RefCell<HashMap<String, Rc<Built>>>,
    /// The folders that are being built.
    stack: RefCell<Vec<String>>,
}

impl Resource {
    /// The object as a value.
    pub fn value(&self, tree: &Tree) -> Option<Value> {
        if let Some(changed) = &self.changed {
            return Some(changed.clone());
        }
        match &tree.document(self.place)?.body {
            Body::Object(source) => serde_json::from_slice(&source.json).ok(),
            _ => None,
        }
    }

    /// Changes it by a function that says whether anything was done; `None` takes it away.
    fn change(&mut self, tree: &Tree, change: impl FnOnce(&mut Value) -> Option<bool>) -> bool {
        let Some(mut value) = self.value(tree) else { return true };
        match change(&mut value) {
            None => false,
            Some(true) => {
                self.set(value);
                true
            }
            Some(false) => true,
        }
    }

    fn set(&mut self, value: Value) {
        let text = |path: &str| value.pointer(path).and_then(Value::as_str).map(ToOwned::to_owned);
        self.header.name = text("/metadata/name").unwrap_or_default();
        self.header.namespace = text("/metadata/namespace").filter(|namespace| !namespace.is_empty());
        self.changed = Some(value);
    }

    fn put(&mut self, tree: &Tree, key: &str, text: &str) {
        match key {
            "namespace" => self.header.namespace = Some(text.to_owned()),
            _ => self.header.name = text.to_owned(),
        }
        if let Some(mut value) = self.value(tree) {
            if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
                metadata.insert(key.to_owned(), Value::from(text));
            }
            self.changed = Some(value);
        }
    }
}

impl<'t> Builder<'t> {
    pub fn new(tree: &'t Tree) -> Self {
        let documents: usize = tree.files().iter().map(|file| file.documents.len()).sum();
        let most = documents.saturating_mul(TIMES).saturating_add(FEW);
        Self { tree, copies: Copies::of(tree), most, built: RefCell::default(), stack: RefCell::default() }
    }

    /// What a folder gives: by its `kustomization.yaml`, else all that stands in it and below it, as
    /// kustomize-controller takes it (1.9).
    pub fn folder(&self, folder: &str) -> Rc<Built> {
        if let Some(built) = self.built.borrow().get(folder) {
            return built.clone();
        }
        if self.is_open(folder) || self.stack.borrow().len() >= DEPTH {
            return Rc::default();
        }
        self.stack.borrow_mut().push(folder.to_owned());
        let built = Rc::new(match self.tree.config(folder) {
            Some((config, file)) => self.configured(folder, config, &file.path),
            None => self.plain(folder),
        });
        self.stack.borrow_mut().pop();
        self.built.borrow_mut().insert(folder.to_owned(), built.clone());
        built
    }

    /// Whether a folder is being built.
    fn is_open(&self, folder: &str) -> bool {
        self.stack.borrow().iter().any(|open| open == folder)
    }

    /// All objects of a file.
    pub fn file(&self, file: usize) -> Built {
        let mut built = Built { files: BTreeSet::from([file]), ..Built::default() };
        for place in self.tree.places(file) {
            built.resources.extend(self.resource(place));
        }
        built
    }

    fn resource(&self, place: Place) -> Option<Resource> {
        let header = match &self.tree.document(place)?.body {
            Body::Object(source) => &source.header,
            Body::Data(data) => &data.header,
            Body::Instance { header, .. } | Body::Other(header) => header,
            Body::Kustomize(_) | Body::Operations(_) => return None,
        };
        Some(Resource { place, header: header.clone(), changed: None })
    }

    fn plain(&self, folder: &str) -> Built {
        let mut built = Built::default();
        let mut ahead = vec![folder.to_owned()];
        while let Some(path) = ahead.pop() {
            let Some(listed) = self.tree.folders.get(&path) else { continue };
            if path != folder && self.tree.config(&path).is_some() {
                built.extend(&self.folder(&path), self.most);
                continue;
            }
            for &file in &listed.files {
                built.extend(&self.file(file), self.most);
            }
            ahead.extend(listed.folders.iter().rev().cloned());
        }
        built
    }

    fn configured(&self, folder: &str, config: &Config, file: &str) -> Built {
        let mut built = Built::default();
        built.files.extend(self.tree.file(file));
        self.collect(folder, config, file, &mut built);
        for component in &config.components {
            let path = join(folder, component).filter(|_| !is_remote(component));
            match path.as_deref().and_then(|path| Some((path, self.tree.config(path)?))) {
                Some((path, (config, file))) if self.stack.borrow().len() < DEPTH => {
                    self.stack.borrow_mut().push(path.to_owned());
                    built.files.extend(self.tree.file(&file.path));
                    self.collect(path, config, &file.path, &mut built);
                    self.transform(path, config, &file.path, &mut built);
                    self.stack.borrow_mut().pop();
                }
                _ => built.loosen(file, config.line, component),
            }
        }
        self.transform(folder, config, file, &mut built);
        for part in &config.not_evaluated {
            built.loosen(file, config.line, part);
        }
        built
    }

    /// Adds what `resources` names.
    fn collect(&self, folder: &str, config: &Config, file: &str, built: &mut Built) {
        for entry in config.resources.iter().chain(&config.bases) {
            let path = join(folder, entry).filter(|_| !is_remote(entry));
            let found = path.as_deref().map(|path| (self.tree.file(path), self.tree.has_folder(path)));
            match (found, path) {
                (Some((Some(file), _)), _) => built.extend(&self.file(file), self.most),
                (Some((None, true)), Some(path)) if self.is_open(&path) => {
                    built.loosen(file, config.line, &format!("{entry}, which leads back to itself"));
                }
                (Some((None, true)), Some(path)) => built.extend(&self.folder(&path), self.most),
                _ => built.loosen(file, config.line, entry),
            }
        }
    }

    /// Makes the changes that a `kustomization.yaml` asks for, in the order of kustomize.
    fn transform(&self, folder: &str, config: &Config, file: &str, built: &mut Built) {
        let mut changes = Vec::new();
        for entry in &config.patches_strategic_merge {
            match self.values(folder, entry, built) {
                Some(values) => changes.extend(values.into_iter().filter_map(|value| Change::of_value(value, None))),
                None => changes.extend(Change::of_text(entry, None)),
            }
        }
        for entry in config.patches.iter().chain(&config.patches_json6902) {
            let values = entry.path.as_deref().map(|path| self.values(folder, path, built).ok_or(path));
            let values = values.unwrap_or(Ok(Vec::new())).unwrap_or_else(|path| {
                built.loosen(file, config.line, path);
                Vec::new()
            });
            changes.extend(Change::of_entry(entry, |_| values.clone()));
        }
        self.make(&changes, built);
        self.rename(config.namespace.as_deref(), config.name_prefix.as_deref(), config.name_suffix.as_deref(), built);
        self.label(&config.common_labels, built);
    }

    /// Makes changes.
    pub fn make(&self, changes: &[Change], built: &mut Built) {
        if changes.is_empty() {
            return;
        }
        built.resources.retain_mut(|resource| {
            changes.iter().all(|change| resource.change(self.tree, |value| change.apply(value)))
        });
    }

    /// Sets the namespace and lengthens the names.
    pub fn rename(&self, namespace: Option<&str>, prefix: Option<&str>, suffix: Option<&str>, built: &mut Built) {
        for resource in &mut built.resources {
            if let Some(namespace) = namespace.filter(|namespace| !namespace.is_empty()) {
                resource.put(self.tree, "namespace", namespace);
            }
            let (prefix, suffix) = (prefix.unwrap_or_default(), suffix.unwrap_or_default());
            if !prefix.is_empty() || !suffix.is_empty() {
                let name = format!("{prefix}{}{suffix}", resource.header.name);
                resource.put(self.tree, "name", &name);
            }
        }
    }

    fn label(&self, labels: &BTreeMap<String, Value>, built: &mut Built) {
        if labels.is_empty() {
            return;
        }
        for resource in &mut built.resources {
            resource.change(self.tree, |value| {
                let metadata = value.get_mut("metadata").and_then(Value::as_object_mut);
                let own = metadata.and_then(|metadata| {
                    metadata.entry("labels").or_insert_with(|| Value::Object(serde_json::Map::new())).as_object_mut()
                });
                let Some(own) = own else { return Some(false) };
                own.extend(labels.iter().map(|(key, value)| (key.clone(), value.clone())));
                Some(true)
            });
        }
    }

    /// The documents of a file as values: for patches.
    fn values(&self, folder: &str, entry: &str, built: &mut Built) -> Option<Vec<Value>> {
        let file = self.tree.file(&join(folder, entry)?)?;
        built.files.insert(file);
        let value = |place: Place| match &self.tree.document(place)?.body {
            Body::Object(source) => serde_json::from_slice(&source.json).ok(),
            Body::Operations(operations) => Some((**operations).clone()),
            _ => None,
        };
        Some(self.tree.places(file).filter_map(value).collect())
    }
}

impl Built {
    fn extend(&mut self, other: &Self, most: usize) {
        let room = most.saturating_sub(self.resources.len());
        self.resources.extend(other.resources.iter().take(room).cloned());
        self.loose.extend(other.loose.iter().cloned());
        self.files.extend(&other.files);
    }

    fn loosen(&mut self, path: &str, line: u32, what: &str) {
        let what = sluicegate_core::text::clean(what, 120).to_string();
        let is_local = !is_remote(&what) && !what.contains(',') && what.contains(['/', '.']);
        self.loose.insert(Loose { path: path.to_owned(), line, what, is_local });
    }
}

/// Whether a file says how its folder is built.
pub(super) fn is_config(path: &str) -> bool {
    is_kustomization(super::path::name(path))
}
