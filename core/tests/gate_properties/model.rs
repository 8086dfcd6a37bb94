//! Clusters as a plain model: who needs whom, written down as manifests for the gate and as edges for an oracle that
//! knows nothing of manifests.

use crate::support::shape::{object, owned, to};
use crate::support::{World, reference};
use proptest::prelude::*;
use serde_json::{Value, json};
use sluicegate_core::gate::{Disclose, Settings};
use sluicegate_core::object::{Kind, Reference};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What one object says of its needs. What an entry means depends on the kinds at its ends.
#[derive(Clone, Debug)]
pub struct Spec {
    /// To which object, and in which way.
    pub entries: Vec<(usize, u8)>,
    /// Whether it waits for what it has applied.
    pub wait: bool,
    /// Whether it applies to a remote cluster.
    pub remote: bool,
    /// Whose labels it carries.
    pub owner: Option<usize>,
    /// The variant that a Package uses.
    pub variant: u8,
}

/// A cluster, and a change of one object.
#[derive(Clone, Debug)]
pub struct Case {
    pub specs: BTreeMap<usize, Spec>,
    pub root: usize,
    /// `None` creates the object.
    pub old: Option<Spec>,
    pub new: Spec,
}

/// Clusters of several sorts, so that long loops are not rare: the kinds follow each other.
const SORTS: [&[Kind]; 5] = [
    &[
        Kind::Kustomization,
        Kind::Kustomization,
        Kind::HelmRelease,
        Kind::Package,
        Kind::PackageSource,
        Kind::Kustomization,
        Kind::ResourceSet,
        Kind::ArtifactGenerator,
        Kind::ExternalArtifact,
        Kind::Kustomization,
        Kind::PackageSource,
        Kind::Package,
        Kind::GitRepository,
        Kind::HelmRelease,
        Kind::Terraform,
        Kind::HelmChart,
    ],
    &[Kind::Kustomization],
    &[Kind::Kustomization, Kind::HelmRelease, Kind::HelmRelease, Kind::ResourceSet],
    &[Kind::Package, Kind::PackageSource],
    &[
        Kind::ArtifactGenerator,
        Kind::ExternalArtifact,
        Kind::ArtifactGenerator,
        Kind::HelmChart,
        Kind::ExternalArtifact,
    ],
];

/// The index of an object tells which sort of cluster it is in.
const SORT: usize = 1_000;

pub fn kind(index: usize) -> Kind {
    let kinds = SORTS[index / SORT];
    kinds[index % SORT % kinds.len()]
}

/// Names are not in the order of the indexes; a Package and a PackageSource share theirs.
pub fn own(index: usize) -> Value {
    let kind = kind(index);
    let number = index % SORT;
    let earlier = (index - number..index).filter(|other| self::kind(*other) == kind).count();
    let name = if kind.row().namespaced { format!("o{}", number * 37 % 101) } else { format!("p{earlier}") };
    object(kind, if number.is_multiple_of(3) { "b" } else { "a" }, &name, json!({}))
}

/// The way in which an entry names its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Input,
    Exists,
    Check,
    Applied,
    /// In the list of this variant.
    Variant(u8),
    Ignored,
    Nothing,
}

fn way(from: usize, to: usize, flavour: u8) -> Way {
    let same = kind(from) == kind(to);
    let source = matches!(kind(to), Kind::ExternalArtifact | Kind::GitRepository | Kind::HelmChart);
    match (kind(from), flavour % 4) {
        (Kind::Kustomization, 0 | 1) if same => Way::Input,
        (Kind::Kustomization, 0..=2) => Way::Check,
        (Kind::HelmRelease, 0 | 1) if same => Way::Input,
        (Kind::Kustomization | Kind::HelmRelease, _) | (Kind::ResourceSet, 3) => Way::Applied,
        (Kind::ResourceSet, 2) => Way::Exists,
        (Kind::ResourceSet, _) => Way::Input,
        (Kind::Terraform, _) if same => Way::Input,
        (Kind::ArtifactGenerator | Kind::HelmChart, _) if source => Way::Input,
        (Kind::ExternalArtifact, _) if kind(to) == Kind::ArtifactGenerator => Way::Input,
        (Kind::GitRepository, _) if same && (from % SORT).is_multiple_of(3) == (to % SORT).is_multiple_of(3) => {
            Way::Input
        }
        (Kind::PackageSource, flavour) if kind(to) == Kind::Package => Way::Variant(flavour % 2),
        (Kind::Package, 0) if same => Way::Ignored,
        _ => Way::Nothing,
    }
}

impl Spec {
    fn targets(&self, from: usize, wanted: impl Fn(Way) -> bool) -> Vec<usize> {
        let named = self.entries.iter().filter(|(to, flavour)| wanted(way(from, *to, *flavour)));
        named.map(|(to, _)| *to).collect()
    }

    /// The inputs; these kinds have one source only, the last that was said.
    fn inputs(&self, from: usize) -> Vec<usize> {
        let inputs = self.targets(from, |way| way == Way::Input);
        match kind(from) {
            Kind::ExternalArtifact | Kind::HelmChart => inputs.last().copied().into_iter().collect(),
            _ => inputs,
        }
    }

    fn waits(&self, from: usize) -> bool {
        self.wait && (kind(from) == Kind::ResourceSet || !self.remote)
    }
}

fn name(object: &Value) -> Value {
    object["metadata"]["name"].clone()
}

/// The manifest of an object. What it has applied stands in the status.
pub fn manifest(index: usize, spec: &Spec, applied: &Spec) -> Value {
    let mut object = own(index);
    let refs = |indexes: Vec<usize>| indexes.into_iter().map(|index| to(&own(index))).collect::<Vec<Value>>();
    let inputs = refs(spec.inputs(index));
    let fields = match kind(index) {
        Kind::Kustomization => {
            json!({"dependsOn": inputs, "healthChecks": refs(spec.targets(index, |way| way == Way::Check)),
                "wait": spec.wait, "kubeConfig": spec.remote.then(|| json!({"secretRef": {"name": "k"}}))})
        }
        Kind::HelmRelease => json!({"dependsOn": inputs,
            "waitStrategy": {"name": if spec.wait { "poller" } else { "legacy" }},
            "kubeConfig": spec.remote.then(|| json!({}))}),
        Kind::ResourceSet => {
            let ways = |ready: bool, way: Way| {
                let entries = refs(spec.targets(index, move |other| other == way)).into_iter();
                entries.map(move |mut entry| {
                    entry["ready"] = json!(ready);
                    entry
                })
            };
            let depends_on: Vec<Value> = ways(false, Way::Exists).chain(ways(true, Way::Input)).collect();
            json!({"dependsOn": depends_on, "wait": spec.wait})
        }
        Kind::Terraform => json!({"dependsOn": inputs}),
        Kind::ArtifactGenerator => json!({"sources": inputs}),
        Kind::ExternalArtifact | Kind::HelmChart => json!({"sourceRef": inputs.last()}),
        Kind::GitRepository => {
            json!({"include": inputs.iter().map(|entry| json!({"repository": entry})).collect::<Vec<_>>()})
        }
        Kind::Package => {
            let ignored = spec.targets(index, |way| way == Way::Ignored);
            let variant = if spec.variant.is_multiple_of(2) { "" } else { "other" };
            json!({"variant": variant,
                "ignoreDependencies": ignored.into_iter().map(|index| name(&own(index))).collect::<Vec<_>>()})
        }
        Kind::PackageSource => {
            let list = |variant: u8| {
                let listed = spec.targets(index, |way| way == Way::Variant(variant));
                listed.into_iter().map(|index| name(&own(index))).collect::<Vec<_>>()
            };
            json!({"variants": [{"name": "default", "dependsOn": list(0)}, {"name": "other", "dependsOn": list(1)}]})
        }
        other => panic!("no {other} in the model"),
    };
    object["spec"] = fields;
    let applied = applied.targets(index, |way| way == Way::Applied);
    let applied: Vec<Value> = applied.into_iter().map(own).collect();
    object = crate::support::shape::listing(object, &applied.iter().collect::<Vec<_>>());
    spec.owner.map_or(object.clone(), |owner| owned(object, &own(owner)))
}

pub type Edges = BTreeSet<(String, String)>;

/// How the oracle calls an object. A PackageSource has two sides: what it lists, which only its Package waits for, and
/// the source itself.
pub fn called(index: usize) -> String {
    let suffix = if kind(index) == Kind::PackageSource { " itself" } else { "" };
    format!("{}{suffix}", reference(&own(index)))
}

fn lists(package: &Reference) -> String {
    format!("PackageSource/{}", package.name)
}

impl Case {
    pub fn is_create(&self) -> bool {
        self.old.is_none()
    }

    /// The object under review as it is stored, and as it is to be.
    pub fn manifests(&self) -> (Option<Value>, Value) {
        let nothing = Spec { entries: vec![], wait: false, remote: false, owner: None, variant: 0 };
        let applied = self.old.as_ref().unwrap_or(&nothing);
        let old = self.old.as_ref().map(|old| manifest(self.root, old, old));
        (old, manifest(self.root, &self.new, applied))
    }

    pub fn world(&self) -> World {
        let others = self.specs.iter().filter(|(index, _)| **index != self.root);
        let others = others.map(|(index, spec)| manifest(*index, spec, spec));
        let world = World::with(others.chain(self.manifests().0));
        World { settings: Settings { disclose: Disclose::Everyone, ..Settings::default() }, ..world }
    }

    /// The graph of the stored objects, with the object under review as given.
    pub fn edges(&self, root: Option<&Spec>) -> Edges {
        let mut edges = Edges::new();
        let at = |index: usize| if index == self.root { root } else { self.specs.get(&index) };
        for (index, spec) in self.specs.keys().filter_map(|index| Some((*index, at(*index)?))) {
            let from = called(index);
            let mut add = |targets: Vec<usize>| {
                edges.extend(targets.into_iter().map(|target| (from.clone(), called(target))));
            };
            if !matches!(kind(index), Kind::Package | Kind::PackageSource) {
                add(spec.inputs(index));
            }
            let others = |way: Way| {
                let mut targets = spec.targets(index, move |other| other == way);
                targets.retain(|target| *target != index);
                targets
            };
            if !spec.wait && !spec.remote {
                add(others(Way::Check));
            }
            if spec.waits(index) {
                let applied = if index == self.root { self.old.as_ref() } else { Some(spec) };
                let mut targets =
                    applied.map(|spec| spec.targets(index, |way| way == Way::Applied)).unwrap_or_default();
                targets.retain(|target| *target != index);
                add(targets);
            }
            if kind(index) == Kind::Package {
                let package = reference(&own(index));
                let listed = lists(&package);
                edges.insert((from.clone(), listed.clone()));
                let is_source =
                    |other: &&usize| kind(**other) == Kind::PackageSource && name(&own(**other)) == *package.name;
                let source = self.specs.keys().find(is_source);
                let ignored = spec.targets(index, |way| way == Way::Ignored);
                if let Some((source, of)) = source.and_then(|source| Some((*source, at(*source)?))) {
                    let listed_by = of.targets(source, |way| way == Way::Variant(spec.variant % 2));
                    let kept = listed_by.into_iter().filter(|target| !ignored.contains(target));
                    edges.extend(kept.map(|target| (listed.clone(), called(target))));
                }
            }
        }
        // The labels of the object under review.
        if let Some(owner) = root.and_then(|root| root.owner).filter(|owner| *owner != self.root) {
            let waits = at(owner).is_some_and(|spec| spec.waits(owner));
            if waits {
                edges.insert((called(owner), called(self.root)));
            }
        }
        edges
    }

    /// The objects that the change asks to exist, and nothing more.
    pub fn exists_only(&self) -> Vec<String> {
        let targets = self.new.targets(self.root, |way| way == Way::Exists);
        targets.into_iter().map(called).collect()
    }

    /// As the loop of a text starts.
    pub fn start(&self) -> String {
        reference(&own(self.root)).to_string()
    }

    /// The edges that the change adds.
    pub fn added(&self) -> Edges {
        self.edges(Some(&self.new)).difference(&self.edges(self.old.as_ref())).cloned().collect()
    }
}

/// How many steps it is from each object that `to` is reached from.
pub fn distances(edges: &Edges, to: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::from([(to.to_owned(), 0)]);
    let mut queue = VecDeque::from([to.to_owned()]);
    while let Some(here) = queue.pop_front() {
        let steps = found[&here];
        for (from, _) in edges.iter().filter(|(_, target)| *target == here) {
            if !found.contains_key(from) {
                found.insert(from.clone(), steps + 1);
                queue.push_back(from.clone());
            }
        }
    }
    found
}

/// The length of the shortest loop through one of these edges.
pub fn shortest_through<'e>(edges: &Edges, through: impl IntoIterator<Item = &'e (String, String)>) -> Option<usize> {
    through.into_iter().filter_map(|(from, to)| Some(distances(edges, from).get(to)? + 1)).min()
}

/// Entries are mostly about another object.
fn spec(base: usize, count: usize, most: usize) -> impl Strategy<Value = Spec> {
    let owners: Vec<Option<usize>> = (base..base + count)
        .filter(|i| matches!(kind(*i), Kind::Kustomization | Kind::HelmRelease | Kind::ResourceSet))
        .take(3)
        .map(Some)
        .chain([None])
        .collect();
    let entries = prop::collection::vec((base..base + count, 0..4_u8), 0..=most);
    (entries, prop::bool::weighted(0.7), prop::bool::weighted(0.05), prop::sample::select(owners), 0..2_u8)
        .prop_map(|(entries, wait, remote, owner, variant)| Spec { entries, wait, remote, owner, variant })
}

/// A change of any kind of object among up to `largest` of them. Often each object needs the next one, and often the
/// new object is the old one with a few entries more or less.
pub fn case(largest: usize) -> impl Strategy<Value = Case> {
    let sizes = (0..SORTS.len(), 1..=largest, 0..=2_usize);
    sizes.prop_flat_map(|(sort, count, most)| {
        let base = sort * SORT;
        let specs = prop::collection::vec(spec(base, count, most), count);
        let how = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<u32>());
        (specs, base..base + count, spec(base, count, 3), how).prop_map(
            move |(mut specs, root, mut new, (create, near, same_owner, ring, bits))| {
                for (number, spec) in specs.iter_mut().enumerate() {
                    let odd = bits.rotate_right(u32::try_from(number).unwrap_or_default());
                    if !odd.is_multiple_of(16) {
                        spec.entries.retain(|(to, _)| *to != base + number);
                    }
                    if ring {
                        spec.entries.push((base + (number + 1) % count, u8::try_from(odd % 4).unwrap_or_default()));
                    }
                }
                let mut old = specs[root - base].clone();
                if near {
                    if same_owner {
                        old.entries.pop();
                    }
                    let next = specs[root - base].entries.last().copied();
                    new.entries = old.entries.iter().copied().chain(next).chain(new.entries.pop()).collect();
                    (new.wait, new.remote, new.variant) = (old.wait, old.remote, old.variant);
                }
                if same_owner {
                    new.owner = old.owner;
                }
                let specs = specs.into_iter().enumerate().map(|(number, spec)| (base + number, spec)).collect();
                Case { specs, root, old: (!create).then_some(old), new }
            },
        )
    })
}
