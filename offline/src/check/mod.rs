//! What is wrong with the objects of a world: loops, references that lead nowhere, waits that cannot end.

mod hints;
mod json;
mod loops;
mod references;
mod text;

pub use json::{SCHEMA_VERSION, json};
pub use text::{RULES, Rule, headline, paragraph};

use crate::tree::{Place, Tree, World};
use crate::yaml::Broken;
use sluicegate_core::graph::{Graph, LoopReport};
use sluicegate_core::need::{Needs, Reason, Unjudged};
use sluicegate_core::object::{Kind, Object, Reference, Unreadable};
use sluicegate_core::text::clean;
use std::fmt;

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It does not work.
    Error,
    /// It is probably not what is meant, or may not work.
    Warning,
    /// Something worth knowing.
    Note,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// The path of the file, from the root of the tree.
    pub path: String,
    /// The line, from 1; 0 for the file as a whole.
    pub line: u32,
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Whoever names a file does not write to the terminal.
        write!(f, "{}", clean(&self.path, 400))?;
        if self.line > 0 { write!(f, ":{}", self.line) } else { Ok(()) }
    }
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// How much it weighs.
    pub severity: Severity,
    /// The object it is about; the first member of a loop.
    pub object: Option<Reference>,
    /// Where it is written; none for what is only in a cluster.
    pub spot: Option<Spot>,
    /// What it is.
    pub what: What,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// Objects that wait for each other.
    Loop(Box<LoopFinding>),
    /// A reference to something that is not there.
    Missing {
        /// What is named.
        target: Reference,
        /// Where.
        reason: Reason,
        /// What may be meant: the same name in another namespace, or a near name.
        near: Option<Reference>,
        /// Something that was not followed, and may define it.
        open: bool,
    },
    /// A reference to something that is there as another kind.
    WrongKind {
        /// What is named.
        target: Reference,
        /// Where.
        reason: Reason,
        /// What is there.
        found: Reference,
    },
    /// A reference whose name holds a variable that is not known here.
    Unknown {
        /// What is named, as far as it is known.
        target: Reference,
        /// Where.
        reason: Reason,
    },
    /// The same dependency twice.
    Duplicate {
        /// What is named.
        target: Reference,
        /// Where first.
        first: Reason,
        /// Where again.
        again: Reason,
    },
    /// The same object twice.
    Doubled {
        /// Where it is first.
        first: Spot,
    },
    /// A suspended object that others wait for.
    Suspended {
        /// Who waits, over any number of steps.
        behind: Vec<Reference>,
    },
    /// A reference to a kind that is not judged.
    Unjudged(Unjudged),
    /// A field that cannot be read.
    Unreadable(Unreadable),
    /// A version that is not one of those that are read.
    UnknownVersion(String),
    /// A field that looks like one that is read.
    Misspelt {
        /// As it is written.
        written: String,
        /// What is probably meant.
        meant: &'static str,
    },
    /// A dependency that others imply.
    Implied {
        /// What is named.
        target: Reference,
        /// Where.
        reason: Reason,
        /// The dependency that leads to it.
        by: Reference,
    },
    /// A text that cannot be read.
    Broken(Broken),
    /// A file that could not be read at all, and why.
    File(String),
    /// Something that the tree leads to and that is not in it.
    Open(String),
}

/// A set of objects that wait for each other.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopFinding {
    /// The members, the shortest loop, and the need to remove.
    pub report: LoopReport,
    /// Where each step of the shortest loop is written.
    pub steps: Vec<Option<Spot>>,
    /// Where the need to remove is written.
    pub cut: Option<Spot>,
    /// Who waits behind it.
    pub behind: Vec<Reference>,
    /// Sources whose new revisions do not reach others any more, with those.
    pub silenced: Vec<(Reference, Vec<Reference>)>,
}

/// How strict the check is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strictness {
    /// Only a part of the objects is there: what is missing may be elsewhere.
    pub partial: bool,
}

/// The needs of all objects of a world.
#[must_use]
pub fn graph(world: &World) -> Graph {
    let needs = |reference: &Reference| {
        let mut needs = needs(world, &world.objects.get(reference)?.object).judged;
        needs.retain(|need| !World::is_unknown(&need.target));
        Some((reference.clone(), needs))
    };
    world.objects.keys().filter_map(needs).collect()
}

/// What an object needs: of a PackageSource, what the variant asks for that its Package uses.
fn needs(world: &World, object: &Object) -> Needs {
    let mut needs = object.needs();
    if object.reference.kind == Kind::PackageSource {
        let package = world.objects.get(&Reference::new(Kind::Package, "", &object.reference.name));
        let variant = package.map(|package| package.object.variant());
        needs.judged.retain(|need| match need.reason {
            Reason::Variant(..) => variant.is_some() && object.variant_of(need.reason) == variant,
            _ => true,
        });
    }
    needs
}

/// Checks the objects of a world. In the order of weight, then of objects.
#[must_use]
pub fn check(tree: &Tree, world: &World, strictness: Strictness) -> Vec<Finding> {
    let graph = graph(world);
    let checker = Checker { tree, world, graph: &graph, strictness };
    let mut found = checker.loops();
    found.extend(checker.references());
    found.extend(checker.suspended());
    found.extend(checker.oddities());
    found.extend(checker.implied());
    found.sort_by(|a, b| (a.severity, &a.object, &a.spot).cmp(&(b.severity, &b.object, &b.spot)));
    found
}

/// What is wrong with the files of a tree, whatever cluster they are for.
#[must_use]
pub fn check_files(tree: &Tree, explicit: impl Fn(&str) -> bool) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in tree.files() {
        // Not every YAML file of a repository is a manifest, and templates are none yet.
        let severity = if file.foreign.is_some() && !explicit(&file.path) { Severity::Note } else { Severity::Error };
        found.extend(file.broken.iter().map(|broken| Finding {
            severity,
            object: None,
            spot: Some(Spot { path: file.shown.clone(), line: broken.line }),
            what: What::Broken(broken.clone()),
        }));
    }
    found
}

/// One world under check.
struct Checker<'w> {
    tree: &'w Tree,
    world: &'w World,
    graph: &'w Graph,
    strictness: Strictness,
}

impl Checker<'_> {
    fn spot(&self, object: &Reference, field: &str) -> Option<Spot> {
        let place = self.world.objects.get(object).map(|definition| definition.place);
        let place = place.or_else(|| self.world.unread.get(object).map(|unread| unread.place)).flatten()?;
        Some(self.spot_of(place, field))
    }

    fn spot_of(&self, place: Place, field: &str) -> Spot {
        Spot { path: self.tree.shown(place).to_owned(), line: self.tree.line(place, field) }
    }

    fn finding(&self, severity: Severity, object: &Reference, field: &str, what: What) -> Finding {
        Finding { severity, object: Some(object.clone()), spot: self.spot(object, field), what }
    }
}

#[cfg(test)]
mod tests;
