//! What Flux applies: each Kustomization leads on to the objects under its path.

use super::build::{Builder, Built, Loose, Resource};
use super::patch::Change;
use super::path::{is_within, join};
use super::variables::{Variables, is_open};
use super::{Place, Tree};
use crate::manifest::{Body, PatchEntry};
use serde::Deserialize;
use serde_json::Value;
use sluicegate_core::object::{Kind, Reference};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The namespace of objects that say none.
pub(super) const DEFAULT_NAMESPACE: &str = "default";
/// How many objects are followed: folders may be applied many times over.
const LIMIT: usize = 500_000;

/// What a Kustomization says of what it applies.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct FluxSpec {
    pub path: Option<String>,
    pub prune: bool,
    pub source_ref: SourceRef,
    pub target_namespace: Option<String>,
    pub name_prefix: Option<String>,
    pub name_suffix: Option<String>,
    pub post_build: Option<PostBuild>,
    pub patches: Vec<PatchEntry>,
    pub components: Vec<String>,
    pub kube_config: Option<Value>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SourceRef {
    pub kind: String,
    pub name: String,
    pub namespace: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PostBuild {
    pub substitute: BTreeMap<String, Value>,
    pub substitute_from: Vec<From>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct From {
    pub kind: String,
    pub name: String,
    pub optional: bool,
}

impl FluxSpec {
    /// Whether it applies what stands in the folder as it is.
    fn is_plain(&self) -> bool {
        let is_empty = |text: &Option<String>| text.as_deref().is_none_or(str::is_empty);
        is_empty(&self.target_namespace)
            && is_empty(&self.name_prefix)
            && is_empty(&self.name_suffix)
            && self.post_build.is_none()
            && self.patches.is_empty()
            && self.components.is_empty()
    }
}

/// An object in the cluster.
#[derive(Clone, Debug)]
pub(super) struct Applied {
    pub resource: Resource,
    /// The Kustomization that applies it.
    pub owner: Option<Reference>,
}

/// All that some objects lead on to.
#[derive(Clone, Debug, Default)]
pub(super) struct Expansion {
    pub applied: Vec<Applied>,
    pub loose: BTreeSet<Loose>,
    /// The files that something is taken from.
    pub files: BTreeSet<usize>,
    /// Sources that this very tree is: their objects need not be in it.
    pub own_sources: BTreeSet<Reference>,
    /// Whether a Kustomization takes variables from ConfigMaps or Secrets.
    pub asks_for_values: bool,
    /// The Kustomizations whose paths were followed.
    pub followed: BTreeSet<Reference>,
    /// Objects that something not in the tree makes: by flux-operator, for an instance.
    pub made: Vec<(Place, Reference, Value)>,
}

/// The values of ConfigMaps and Secrets, by namespace and name; `None` for those that cannot be read.
type Values = BTreeMap<(String, String, String), Option<BTreeMap<String, String>>>;

/// A Kustomization that is to be followed.
struct Lead {
    place: Place,
    reference: Reference,
    spec: FluxSpec,
}

impl Builder<'_> {
    /// Follows objects to all that is applied in the end.
    pub fn expand(&self, start: &Built) -> Expansion {
        // Variables may stand in what is applied later: the first round finds them.
        let first = self.expand_with(start, &Values::new());
        if !first.asks_for_values {
            return first;
        }
        let values = values_of(self.tree, &first);
        if values.is_empty() { first } else { self.expand_with(start, &values) }
    }

    fn expand_with(&self, start: &Built, values: &Values) -> Expansion {
        let mut found = Expansion { loose: start.loose.clone(), files: start.files.clone(), ..Expansion::default() };
        let mut seen: BTreeSet<(Place, Reference)> = BTreeSet::new();
        let mut plain: BTreeSet<String> = BTreeSet::new();
        let mut ahead = VecDeque::new();
        self.take(start, None, &mut found, &mut ahead);
        while let Some(lead) = ahead.pop_front() {
            if !seen.insert((lead.place, lead.reference.clone())) {
                continue;
            }
            if lead.spec.source_ref.name.is_empty() {
                // It applies nothing: the API server refuses it.
                continue;
            }
            if found.applied.len() > LIMIT {
                let what = format!("what {} applies: over {LIMIT} objects so far", lead.reference);
                self.loosen(lead.place, what, &mut found);
                break;
            }
            let (source, folder) = self.copies.folder(
                self.tree.path(lead.place),
                lead.spec.source_ref.reference(&lead.reference.namespace),
                lead.spec.path.as_deref(),
            );
            let here =
                |folder: &String| self.tree.has_folder(folder) && self.is_here(&lead, source.as_ref(), folder, &found);
            let Some(folder) = folder.filter(here) else {
                let what = format!("what {} applies", lead.reference);
                self.loosen(lead.place, what, &mut found);
                continue;
            };
            if lead.spec.kube_config.is_some() {
                let what = format!("what {} applies to another cluster", lead.reference);
                self.loosen(lead.place, what, &mut found);
                continue;
            }
            found.own_sources.extend(source);
            found.followed.insert(lead.reference.clone());
            // Two that apply the same differ in nothing but the owner.
            if lead.spec.is_plain() && !plain.insert(folder.clone()) {
                continue;
            }
            let built = self.applied_by(&lead, &folder, values);
            self.take(&built, Some(&lead.reference), &mut found, &mut ahead);
        }
        found
    }

    /// Whether what a Kustomization applies stands in this tree, as far as one can tell: it applies itself, or its source
    /// is one that is not defined here, or leads to the same place as that of one that applies itself. Where none does, a
    /// folder of the name that it gives has to do.
    fn is_here(&self, lead: &Lead, source: Option<&Reference>, folder: &str, found: &Expansion) -> bool {
        let Some(source) = source else { return true };
        if found.own_sources.contains(source) || is_within(self.tree.path(lead.place), folder) && !folder.is_empty() {
            return true;
        }
        let url = |wanted: &Reference| {
            let defined = found.applied.iter().find(|applied| reference(&applied.resource).as_ref() == Some(wanted));
            let value = defined.and_then(|applied| applied.resource.value(self.tree));
            let url = value.as_ref().and_then(|value| value.pointer("/spec/url")).and_then(Value::as_str);
            url.map(|url| url.trim_end_matches('/').trim_end_matches(".git").to_owned())
        };
        let Some(own) = url(source) else { return true };
        match found.own_sources.is_empty() {
            true => !folder.is_empty() || is_within(self.tree.path(lead.place), folder),
            false => found.own_sources.iter().any(|known| url(known).is_some_and(|other| other == own)),
        }
    }

    fn applied_by(&self, lead: &Lead, folder: &str, values: &Values) -> Built {
        let mut built = Built::clone(&self.folder(folder));
        for component in &lead.spec.components {
            // As a component of the Kustomization: it changes what the path gives.
            if let Some(path) = join(folder, component).filter(|path| self.tree.has_folder(path)) {
                let part = self.folder(&path);
                built.resources.extend(part.resources.iter().cloned());
                built.files.extend(&part.files);
            }
        }
        let spec = &lead.spec;
        let changes: Vec<Change> =
            spec.patches.iter().flat_map(|entry| Change::of_entry(entry, |_| Vec::new())).collect();
        self.make(&changes, &mut built);
        self.rename(
            spec.target_namespace.as_deref(),
            spec.name_prefix.as_deref(),
            spec.name_suffix.as_deref(),
            &mut built,
        );
        if let Some(variables) = variables(lead, values) {
            for resource in &mut built.resources {
                resource.substitute(self.tree, &variables);
            }
        }
        built
    }

    /// Adds objects, and finds which of them lead on.
    fn take(&self, built: &Built, owner: Option<&Reference>, found: &mut Expansion, ahead: &mut VecDeque<Lead>) {
        found.loose.extend(built.loose.iter().cloned());
        found.files.extend(&built.files);
        for resource in &built.resources {
            if let Some(Body::Instance { sync, .. }) = self.tree.document(resource.place).map(|document| &document.body)
            {
                ahead.extend(instance(resource, sync, found));
            }
            if let Some(reference) = reference(resource).filter(|reference| reference.kind == Kind::Kustomization) {
                // A field of a wrong type is told of where the object is read.
                let spec = spec_of(self.tree, resource).unwrap_or_default();
                found.asks_for_values |= spec.post_build.as_ref().is_some_and(|post| !post.substitute_from.is_empty());
                let lead = Lead { place: resource.place, reference, spec };
                // One that applies itself tells which source this tree is.
                let folder = lead.spec.path.as_deref().and_then(|path| join("", path));
                if folder.is_some_and(|folder| is_within(self.tree.path(lead.place), &folder)) {
                    ahead.push_front(lead);
                } else {
                    ahead.push_back(lead);
                }
            }
            found.applied.push(Applied { resource: resource.clone(), owner: owner.cloned() });
        }
    }

    fn loosen(&self, place: Place, what: String, found: &mut Expansion) {
        let line = self.tree.document(place).map_or(1, |document| document.line);
        found.loose.insert(Loose { path: self.tree.path(place).to_owned(), line, what, is_local: false });
    }
}

/// What a Kustomization says of what it applies.
pub(super) fn spec_of(tree: &Tree, resource: &Resource) -> Option<FluxSpec> {
    #[derive(Deserialize)]
    struct Object {
        spec: FluxSpec,
    }
    let object: Object = match (&resource.changed, &tree.document(resource.place)?.body) {
        (Some(changed), _) => Object::deserialize(changed).ok()?,
        (None, Body::Object(source)) => serde_json::from_slice(&source.json).ok()?,
        _ => return None,
    };
    Some(object.spec)
}

impl Resource {
    fn substitute(&mut self, tree: &Tree, variables: &Variables) {
        let off = |value: &Value, place: &str| {
            let key = "kustomize.toolkit.fluxcd.io~1substitute";
            value.pointer(&format!("/metadata/{place}/{key}")).and_then(Value::as_str) == Some("disabled")
        };
        for text in [&mut self.header.name].into_iter().chain(&mut self.header.namespace) {
            *text = variables.substitute(text);
        }
        let written = match (&self.changed, tree.document(self.place).map(|document| &document.body)) {
            (Some(changed), _) => is_open(&changed.to_string()),
            (None, Some(Body::Object(source))) => source.json.windows(2).any(|pair| pair == b"${"),
            _ => false,
        };
        if !written {
            return;
        }
        let Some(mut value) = self.value(tree) else { return };
        if off(&value, "annotations") || off(&value, "labels") {
            return;
        }
        replace(&mut value, variables);
        self.changed = Some(value);
    }
}

/// Values are as deep as documents: bounded.
fn replace(value: &mut Value, variables: &Variables) {
    match value {
        Value::String(text) if text.contains('$') => {
            let new = variables.substitute(text);
            // Kustomize writes text plainly before it is substituted.
            *value = match new.as_str() {
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                _ => Value::String(new),
            };
        }
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, variables)),
        Value::Object(fields) => fields.values_mut().for_each(|field| replace(field, variables)),
        _ => {}
    }
}

/// Which object of a judged kind it is.
pub(super) fn reference(resource: &Resource) -> Option<Reference> {
    let header = &resource.header;
    let kind = Kind::find(&header.group, &header.kind)?;
    Some(Reference::new(kind, header.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE), &header.name))
}

impl SourceRef {
    /// The source, as an object of a namespace names it.
    pub fn reference(&self, namespace: &str) -> Option<Reference> {
        let namespace = self.namespace.as_deref().unwrap_or(namespace);
        Kind::named(&self.kind).map(|kind| Reference::new(kind, namespace, &self.name))
    }
}

/// The Kustomization and the source that flux-operator makes for an instance (0.58).
fn instance(resource: &Resource, sync: &Value, found: &mut Expansion) -> Option<Lead> {
    let text = |key: &str| sync.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let namespace = resource.header.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE);
    let name = text("name").unwrap_or(namespace);
    let source = Reference::new(Kind::named(text("kind")?)?, namespace, name);
    let reference = Reference::new(Kind::Kustomization, namespace, name);
    let object = |reference: &Reference, spec: Value| {
        let metadata = serde_json::json!({"name": &*reference.name, "namespace": &*reference.namespace});
        serde_json::json!({"metadata": metadata, "spec": spec})
    };
    let path = text("path").map(ToOwned::to_owned);
    let named = serde_json::json!({"kind": source.kind.name(), "name": &*source.name});
    let spec = serde_json::json!({"sourceRef": named, "path": path, "prune": true});
    found.made.push((resource.place, source.clone(), object(&source, serde_json::json!({"url": text("url")}))));
    found.made.push((resource.place, reference.clone(), object(&reference, spec.clone())));
    Some(Lead { place: resource.place, reference, spec: serde_json::from_value(spec).unwrap_or_default() })
}

fn variables(lead: &Lead, values: &Values) -> Option<Variables> {
    let post = lead.spec.post_build.as_ref()?;
    let mut variables = Variables::default();
    for from in &post.substitute_from {
        let key = (from.kind.clone(), lead.reference.namespace.to_string(), from.name.clone());
        match values.get(&key) {
            Some(Some(known)) => {
                variables.known.extend(known.iter().map(|(key, value)| (key.clone(), value.clone())));
            }
            Some(None) | None => variables.others = true,
        }
    }
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
    variables.known.extend(post.substitute.iter().map(|(key, value)| (key.clone(), text(value))));
    Some(variables)
}

fn values_of(tree: &Tree, found: &Expansion) -> Values {
    let mut values = Values::new();
    for applied in &found.applied {
        let Some(Body::Data(data)) = tree.document(applied.resource.place).map(|document| &document.body) else {
            continue;
        };
        let header = &applied.resource.header;
        let namespace = header.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE).to_owned();
        values.insert((header.kind.clone(), namespace, header.name.clone()), data.values.clone());
    }
    values
}
