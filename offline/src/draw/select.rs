//! A part of a graph.

use sluicegate_core::graph::Graph;
use sluicegate_core::object::Reference;
use std::collections::BTreeSet;

/// Which way a cone opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To all that the objects need.
    Needs,
    /// To all that needs the objects.
    Dependants,
}

/// All that is reached from these objects over any number of needs, there or absent, they themselves included, and
/// needs that only ask for existence, too.
#[must_use]
pub fn cone<'a>(graph: &Graph, roots: impl IntoIterator<Item = &'a Reference>, way: Way) -> BTreeSet<Reference> {
    let mut ahead: Vec<Reference> = roots.into_iter().cloned().collect();
    let mut found: BTreeSet<Reference> = ahead.iter().cloned().collect();
    while let Some(own) = ahead.pop() {
        let next: Vec<&Reference> = match way {
            Way::Needs => graph.needs(&own).iter().map(|need| &need.target).collect(),
            Way::Dependants => graph.dependants(&own),
        };
        for other in next {
            if !found.contains(other) {
                found.insert(other.clone());
                ahead.push(other.clone());
            }
        }
    }
    found
}
