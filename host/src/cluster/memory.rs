//! A cluster in memory.

use std::{
    collections::{BTreeMap, BTreeSet},
    thread,
    time::Duration,
};

use serde_json::{Map, Value, json};

use super::{Cluster, error, mask::Mask, review, review::Review};
use crate::call::{Failure, HostRequest};

/// Kinds known to have no namespace. Others are taken to have one; see [`MemoryCluster::cluster_scoped`].
const CLUSTER_SCOPED: [&str; 5] = ["ClusterRole", "Namespace", "Node", "Package", "PackageSource"];

/// What a typed ObjectMeta keeps; the API server and the host drop everything else.
const METADATA_KEYS: [&str; 15] = [
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "managedFields",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// A cluster in memory: objects, and what goes wrong with them.
///
/// What is not in it does not exist; every kind exists unless it is said to be absent; an object is served under every
/// version of its group, as is. Targets are written `Kind`, `Kind/namespace` or `Kind/namespace/name`, with `-` for the
/// namespace of what has none; `SubjectAccessReview` stands for `can_i`. What is said later beats what was said before.
///
/// ```
/// use serde_json::json;
/// use sluicegate_host::MemoryCluster;
///
/// let cluster = MemoryCluster::new()
///     .with(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "apps"}}))
///     .forbid("Secret")
///     .garbage("ConfigMap/apps/broken", b"{")
///     .absent_kind("HelmRelease")
///     .grant("alice", "bypass", "gates.sluicegate.dev");
/// # drop(cluster);
/// ```
#[derive(Debug, Clone, Default)]
pub struct MemoryCluster {
    objects: BTreeMap<Key, Value>,
    cluster_scoped: BTreeSet<String>,
    absent_kinds: BTreeSet<String>,
    absent_groups: BTreeSet<String>,
    effects: Vec<(Target, Effect)>,
    reviews: Vec<Review>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    group: String,
    kind: String,
    namespace: Option<String>,
    name: String,
}

#[derive(Debug, Clone)]
enum Effect {
    Forbid,
    Fail(Failure),
    Bytes(Vec<u8>),
    Delay(Duration),
}

impl MemoryCluster {
    /// An empty cluster.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an object, or replaces it.
    ///
    /// # Panics
    /// If it is no object with apiVersion, kind and name: it is a literal in a test. Use [`MemoryCluster::insert`] for
    /// anything that was read.
    pub fn with(mut self, object: Value) -> Self {
        if let Err(reason) = self.insert(object) {
            panic!("{reason}");
        }
        self
    }

    /// Adds several objects.
    ///
    /// # Panics
    /// As [`MemoryCluster::with`].
    pub fn with_all(self, objects: impl IntoIterator<Item = Value>) -> Self {
        objects.into_iter().fold(self, Self::with)
    }

    /// Adds an object; gives the one it replaces.
    ///
    /// # Errors
    /// What is missing.
    pub fn insert(&mut self, object: Value) -> Result<Option<Value>, String> {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
        let api_version = text("/apiVersion").ok_or("no apiVersion")?;
        let kind = text("/kind").ok_or_else(|| format!("{api_version}: no kind"))?;
        let name = text("/metadata/name").ok_or_else(|| format!("{api_version}/{kind}: no metadata.name"))?;
        let key = Key {
            group: group_of(api_version).to_owned(),
            kind: kind.to_owned(),
            namespace: if self.is_cluster_scoped(kind) { None } else { text("/metadata/namespace").map(str::to_owned) },
            name: name.to_owned(),
        };
        Ok(self.objects.insert(key, object))
    }

    /// Takes an object away, if it is there.
    pub fn without(mut self, target: &str) -> Self {
        let target = Target::parse(target);
        self.objects.retain(|key, _| !target.matches(&key.kind, key.namespace.as_deref(), &key.name));
        self
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// The objects, in the order of group, kind, namespace and name.
    pub fn objects(&self) -> impl Iterator<Item = &Value> {
        self.objects.values()
    }

    /// Says that a kind has no namespace; before its objects are added. ClusterRole, Namespace, Node, Package and
    /// PackageSource are known.
    pub fn cluster_scoped(mut self, kind: &str) -> Self {
        self.cluster_scoped.insert(kind.to_owned());
        self
    }

    /// RBAC does not let the host read the target: the API server says 403.
    pub fn forbid(self, target: &str) -> Self {
        self.effect(target, Effect::Forbid)
    }

    /// Reading the target fails with a text, behind "Callback evaluation failure: ".
    pub fn fail(self, target: &str, text: &str) -> Self {
        self.effect(target, Effect::Fail(Failure::new(text)))
    }

    /// Reading the target gives these bytes.
    pub fn garbage(self, target: &str, bytes: impl AsRef<[u8]>) -> Self {
        self.effect(target, Effect::Bytes(bytes.as_ref().to_vec()))
    }

    /// Reading the target takes so much longer.
    pub fn delay(self, target: &str, duration: Duration) -> Self {
        self.effect(target, Effect::Delay(duration))
    }

    /// The kind does not exist, though its group does: "Cannot find resource …". Written `HelmRelease`, or
    /// `helm.toolkit.fluxcd.io/v2/HelmRelease` for one version only.
    pub fn absent_kind(mut self, kind: &str) -> Self {
        self.absent_kinds.insert(kind.to_owned());
        self
    }

    /// The group and version do not exist, as where no CRD of it is installed: "error finding resource …".
    pub fn absent_group(mut self, api_version: &str) -> Self {
        self.absent_groups.insert(api_version.to_owned());
        self
    }

    /// Lets a user do a verb on a resource, everywhere. The resource is written as for `kubectl auth can-i`:
    /// `pods`, `gates.sluicegate.dev`.
    pub fn grant(self, user: &str, verb: &str, resource: &str) -> Self {
        let (resource, group) = resource.split_once('.').unwrap_or((resource, ""));
        self.review(Review {
            user: Some(user.to_owned()),
            verb: Some(verb.to_owned()),
            group: Some(group.to_owned()),
            resource: Some(resource.to_owned()),
            ..Review::default()
        })
    }

    /// Adds an answer to SubjectAccessReviews. The first that matches counts; without one the answer is no, but for the group
    /// `system:masters`.
    pub fn review(mut self, review: Review) -> Self {
        self.reviews.push(review);
        self
    }

    fn effect(mut self, target: &str, effect: Effect) -> Self {
        self.effects.push((Target::parse(target), effect));
        self
    }

    fn is_cluster_scoped(&self, kind: &str) -> bool {
        CLUSTER_SCOPED.contains(&kind) || self.cluster_scoped.contains(kind)
    }

    /// Waits, and gives the answer that was said beforehand, if any was.
    fn arranged(&self, verb: &str, group: &str, kind: &str, namespace: Option<&str>, name: &str) -> Option<Answer> {
        let mut last = None;
        for (_, effect) in self.effects.iter().filter(|(target, _)| target.matches(kind, namespace, name)) {
            match effect {
                Effect::Delay(duration) => thread::sleep(*duration),
                other => last = Some(other),
            }
        }
        match last? {
            Effect::Forbid => Some(Err(error::forbidden(verb, group, &plural(kind), name, namespace))),
            Effect::Fail(failure) => Some(Err(failure.clone())),
            Effect::Bytes(bytes) => Some(Ok(bytes.clone())),
            Effect::Delay(_) => None,
        }
    }

    fn discover(&self, api_version: &str, kind: &str) -> Result<(), Failure> {
        if self.absent_groups.contains(api_version) {
            Err(error::absent_group(api_version, kind))
        } else if self.absent_kinds.contains(kind) || self.absent_kinds.contains(&format!("{api_version}/{kind}")) {
            Err(error::absent_kind(api_version, kind))
        } else {
            Ok(())
        }
    }

    fn get(&self, api_version: &str, kind: &str, name: &str, namespace: Option<&str>, mask: &Mask) -> Answer {
        self.discover(api_version, kind)?;
        let place = if self.is_cluster_scoped(kind) {
            None
        } else {
            Some(namespace.ok_or_else(|| error::no_namespace(api_version, kind))?)
        };
        let group = group_of(api_version);
        if let Some(answer) = self.arranged("get", group, kind, place, name) {
            return answer;
        }
        let key = Key {
            group: group.to_owned(),
            kind: kind.to_owned(),
            namespace: place.map(str::to_owned),
            name: name.to_owned(),
        };
        let object = self.objects.get(&key).ok_or_else(|| error::absent(api_version, kind, name, namespace))?;
        to_bytes(&serve(object, api_version, mask, false))
    }

    fn list(&self, api_version: &str, kind: &str, namespace: Option<&str>, mask: &Mask) -> Answer {
        self.discover(api_version, kind)?;
        if namespace.is_some() && self.is_cluster_scoped(kind) {
            return Err(error::cluster_wide(api_version, kind));
        }
        let group = group_of(api_version);
        if let Some(answer) = self.arranged("list", group, kind, namespace, "") {
            return answer;
        }
        let items: Vec<Value> = self
            .objects
            .iter()
            .filter(|(key, _)| key.group == group && key.kind == kind)
            .filter(|(key, _)| namespace.is_none() || key.namespace.as_deref() == namespace)
            .map(|(_, object)| serve(object, api_version, mask, true))
            .collect();
        to_bytes(&json!({
            "apiVersion": api_version, "kind": format!("{kind}List"), "metadata": {}, "items": items
        }))
    }
}

type Answer = Result<Vec<u8>, Failure>;

impl Cluster for MemoryCluster {
    fn answer(&self, request: &HostRequest) -> Answer {
        let mask = request.field_masks().map(Mask::new).unwrap_or_default();
        match request {
            HostRequest::KubernetesGetResource { api_version, kind, name, namespace, .. } => {
                self.get(api_version, kind, name, namespace.as_deref(), &mask)
            }
            HostRequest::KubernetesListResourceAll { label_selector: Some(_), .. }
            | HostRequest::KubernetesListResourceAll { field_selector: Some(_), .. }
            | HostRequest::KubernetesListResourceNamespace { label_selector: Some(_), .. }
            | HostRequest::KubernetesListResourceNamespace { field_selector: Some(_), .. } => {
                Err(Failure::new("this host does not evaluate selectors"))
            }
            HostRequest::KubernetesListResourceAll { api_version, kind, .. } => {
                self.list(api_version, kind, None, &mask)
            }
            HostRequest::KubernetesListResourceNamespace { api_version, kind, namespace, .. } => {
                self.list(api_version, kind, Some(namespace), &mask)
            }
            HostRequest::KubernetesCanI { request: asked, .. } => {
                let (kind, name) = ("SubjectAccessReview", request.name().unwrap_or_default());
                self.arranged("create", "authorization.k8s.io", kind, request.namespace(), name)
                    .unwrap_or_else(|| to_bytes(&json!({ "allowed": review::allowed(&self.reviews, asked) })))
            }
        }
    }
}

fn to_bytes(value: &Value) -> Answer {
    serde_json::to_vec(value).map_err(|error| Failure::new(error.to_string()))
}

/// The object as the host gives it. Lists come from upstream's reflector, which takes things out of the metadata.
fn serve(object: &Value, api_version: &str, mask: &Mask, from_list: bool) -> Value {
    let mut data = object.as_object().cloned().unwrap_or_default();
    let kind = data.remove("kind").unwrap_or_default();
    data.remove("apiVersion");
    let mut metadata = match data.remove("metadata") {
        Some(Value::Object(metadata)) => metadata,
        _ => Map::new(),
    };
    metadata.retain(|key, value| METADATA_KEYS.contains(&key.as_str()) && !value.is_null());
    if from_list {
        metadata.insert("managedFields".to_owned(), json!([]));
        let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
        if let Some(annotations) = annotations.as_object_mut() {
            annotations.remove(LAST_APPLIED);
        }
    }
    mask.prune(&mut data);
    data.insert("apiVersion".to_owned(), json!(api_version));
    data.insert("kind".to_owned(), kind);
    data.insert("metadata".to_owned(), Value::Object(metadata));
    Value::Object(data)
}

fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

/// The resource of a kind, as the names of Flux and Kubernetes go.
fn plural(kind: &str) -> String {
    let lower = kind.to_lowercase();
    match lower.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ => format!("{lower}s"),
    }
}

/// A kind, all of it in a namespace, or one object.
#[derive(Debug, Clone)]
struct Target {
    kind: String,
    namespace: Option<String>,
    name: Option<String>,
}

impl Target {
    fn parse(text: &str) -> Self {
        let mut parts = text.splitn(3, '/').map(str::to_owned);
        Self { kind: parts.next().unwrap_or_default(), namespace: parts.next(), name: parts.next() }
    }

    fn matches(&self, kind: &str, namespace: Option<&str>, name: &str) -> bool {
        self.kind == kind
            && self.namespace.as_deref().is_none_or(|wanted| wanted == namespace.unwrap_or("-"))
            && self.name.as_deref().is_none_or(|wanted| wanted == name)
    }
}
