//! References that lead nowhere, or to something else.

use super::{Checker, Finding, Severity, What};
use crate::tree::World;
use sluicegate_core::need::{Need, Reason};
use sluicegate_core::object::{KINDS, Kind, Reference};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// How many names are compared in all: a near name is a comfort.
const COMPARED: usize = 300_000;
/// Names that are further apart are not near.
const NEAR: usize = 2;

impl Checker<'_> {
    /// What each object names.
    pub(super) fn references(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        let generated = self.generated();
        let names = Names::of(self.world);
        for (reference, definition) in &self.world.objects {
            let needs = super::needs(self.world, &definition.object);
            let mut first: BTreeMap<&Reference, &Need> = BTreeMap::new();
            for need in &needs.judged {
                if matches!(need.reason, Reason::DependsOn(_)) {
                    let earlier = first.entry(&need.target).or_insert(need);
                    if earlier.reason != need.reason && earlier.demand == need.demand {
                        let what =
                            What::Duplicate { target: need.target.clone(), first: earlier.reason, again: need.reason };
                        found.push(self.finding(Severity::Warning, reference, &need.reason.to_string(), what));
                        continue;
                    }
                }
                if let Some((severity, what)) = self.target(reference, need, &generated, &names) {
                    found.push(self.finding(severity, reference, &need.reason.to_string(), what));
                }
            }
            for unjudged in needs.unjudged {
                let field = unjudged.reason.to_string();
                found.push(self.finding(Severity::Note, reference, &field, What::Unjudged(unjudged)));
            }
        }
        found
    }

    fn target(
        &self,
        own: &Reference,
        need: &Need,
        generated: &BTreeSet<Reference>,
        names: &Names<'_>,
    ) -> Option<(Severity, What)> {
        // What has been applied is there; what an operator makes comes with it.
        if matches!(need.reason, Reason::Wait | Reason::WaitStrategy | Reason::Chart | Reason::SameName) {
            return None;
        }
        let target = &need.target;
        let (reason, world) = (need.reason, self.world);
        if world.objects.contains_key(target) || world.unread.contains_key(target) || generated.contains(target) {
            return None;
        }
        if World::is_unknown(target) || World::is_unknown(own) {
            return Some((Severity::Note, What::Unknown { target: target.clone(), reason }));
        }
        if world.own_sources.contains(target) {
            return None;
        }
        let open = !world.open.is_empty() || self.makes_objects();
        let severity = match self.strictness.partial {
            true => Severity::Note,
            false if open => Severity::Warning,
            false => Severity::Error,
        };
        let other = KINDS.iter().map(|row| Reference::new(row.kind, &target.namespace, &target.name));
        let same_name = |other: &Reference| {
            other.kind != target.kind && (world.objects.contains_key(other) || world.unread.contains_key(other))
        };
        // A Kustomization and its release are often called the same as their source: that is no hint for a source.
        let is_like = |other: &Reference| is_source(other.kind) == is_source(target.kind);
        if let Some(found) = other.filter(is_like).find(same_name).filter(|found| found != own) {
            return Some((severity, What::WrongKind { target: target.clone(), reason, found }));
        }
        let near = names.near(target).or_else(|| names.elsewhere(target, own, is_like)).cloned();
        Some((severity, What::Missing { target: target.clone(), reason, near, open }))
    }

    /// Objects that controllers generate from others: charts of releases, artifacts of generators.
    fn generated(&self) -> BTreeSet<Reference> {
        let mut found = BTreeSet::new();
        for (reference, definition) in &self.world.objects {
            found.extend(definition.object.generated_chart());
            for artifact in definition.object.spec.artifacts.iter().flatten() {
                let name = artifact.name.as_deref().unwrap_or_default();
                found.insert(Reference::new(Kind::ExternalArtifact, &reference.namespace, name));
            }
        }
        found
    }

    /// Whether something in the world makes objects out of templates.
    fn makes_objects(&self) -> bool {
        let is_live = |definition: &crate::tree::Definition| definition.live;
        self.world
            .objects
            .iter()
            .any(|(reference, definition)| reference.kind == Kind::ResourceSet && !is_live(definition))
    }
}

fn is_source(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Bucket | Kind::ExternalArtifact | Kind::GitRepository | Kind::HelmRepository | Kind::OCIRepository
    )
}

/// The objects of a world by kind, and by name.
struct Names<'w> {
    by_kind: BTreeMap<Kind, Vec<&'w Reference>>,
    by_name: BTreeMap<&'w str, Vec<&'w Reference>>,
    left: Cell<usize>,
}

impl<'w> Names<'w> {
    fn of(world: &'w World) -> Self {
        let mut names = Self { by_kind: BTreeMap::new(), by_name: BTreeMap::new(), left: Cell::new(COMPARED) };
        for reference in world.objects.keys() {
            names.by_kind.entry(reference.kind).or_default().push(reference);
            names.by_name.entry(&reference.name).or_default().push(reference);
        }
        names
    }

    /// The object of the same kind that is probably meant: of that very name in another namespace, else of a near name in
    /// the same one; of several the nearest, then the first.
    fn near(&self, target: &Reference) -> Option<&'w Reference> {
        let same = self.by_name.get(&*target.name).into_iter().flatten();
        if let Some(same) = same.copied().find(|other| other.kind == target.kind) {
            return Some(same);
        }
        let all = self.by_kind.get(&target.kind).map(Vec::as_slice).unwrap_or_default();
        self.left.set(self.left.get().checked_sub(all.len())?);
        nearest(target, all)
    }

    /// An object of that name and of another kind, in any namespace.
    fn elsewhere(
        &self,
        target: &Reference,
        own: &Reference,
        is_like: impl Fn(&Reference) -> bool,
    ) -> Option<&'w Reference> {
        let same = self.by_name.get(&*target.name).into_iter().flatten();
        same.copied().find(|other| is_like(other) && *other != own)
    }
}

/// The object of a near name in the same namespace.
fn nearest<'r>(target: &Reference, all: &[&'r Reference]) -> Option<&'r Reference> {
    let shown = |name: &str| name.chars().take(64).collect::<String>();
    let distance = |other: &Reference| {
        if other.name.len().abs_diff(target.name.len()) > NEAR {
            let (long, short) = if other.name.len() > target.name.len() { (other, target) } else { (target, other) };
            let rest = long.name.strip_prefix(&*short.name).filter(|rest| rest.starts_with('-'));
            return rest.filter(|_| short.name.len() > 3).map(|_| NEAR + 1);
        }
        let distance = strsim::damerau_levenshtein(&shown(&other.name), &shown(&target.name));
        (distance <= NEAR.min(target.name.len() / 4)).then_some(distance)
    };
    let near = all.iter().filter(|other| other.namespace == target.namespace);
    near.filter_map(|other| Some((distance(other)?, *other))).min().map(|(_, other)| other)
}
