//! Sources whose new revisions wake nobody any more.

use super::dense::{Dense, Node, PerNode};
use super::store::Graph;
use crate::need::{Need, Reason};
use crate::object::{Kind, Reference};
use std::collections::{BTreeMap, BTreeSet};

/// A source that a loop has silenced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Silenced<'a> {
    /// The source.
    pub source: &'a Reference,
    /// The Kustomizations that have no part in the loop and yet no longer reconcile when the source has a new revision,
    /// only at their own interval. In order; never empty.
    pub bystanders: Vec<&'a Reference>,
}

impl Graph {
    /// The sources that the loops among `members` silence, and whom they no longer reach; in order.
    ///
    /// On a new revision kustomize-controller sorts all Kustomizations of the source by `dependsOn` and wakes none of
    /// them if that fails ([kustomize-controller#1712](https://github.com/fluxcd/kustomize-controller/issues/1712), seen
    /// in v1.9). It sees only loops that consist of nothing but `dependsOn` among Kustomizations of that one source, and
    /// suspended ones count. So a loop over two sources, or through a health check, silences nobody.
    #[must_use]
    pub fn silenced_by<'a>(&'a self, members: &'a [Reference]) -> Vec<Silenced<'a>> {
        let members: BTreeSet<&Reference> = members.iter().collect();
        let sources: BTreeMap<&Reference, &Reference> =
            members.iter().filter_map(|&member| Some((member, self.source(member)?))).collect();
        let numbers: BTreeMap<&Reference, Node> =
            sources.keys().enumerate().map(|(number, &member)| (member, Node::new(number))).collect();
        let mut edges = Vec::new();
        for (&member, &source) in &sources {
            let same_source = |need: &&Need| sources.get(&need.target) == Some(&source);
            let needs = self.needs(member).iter().filter(|need| matches!(need.reason, Reason::DependsOn(_)));
            let numbers = |object| numbers.get(object).copied();
            edges.extend(needs.filter(same_source).filter_map(|need| numbers(member).zip(numbers(&need.target))));
        }
        edges.dedup();
        let graph = Dense::new(sources.len(), &edges);
        let mut looping = PerNode::new(graph.count(), true);
        for node in graph.sorted(|_, _| false) {
            looping[node] = false;
        }
        // An edge never joins two sources: what could not be sorted shares its source with a loop.
        let silent: BTreeSet<&Reference> =
            sources.values().zip(graph.nodes()).filter(|(_, node)| looping[*node]).map(|(source, _)| *source).collect();
        let silenced = silent.into_iter().map(|source| {
            let others = self.dependants(source).into_iter().filter(|object| !members.contains(object));
            Silenced { source, bystanders: others.filter(|object| self.source(object) == Some(source)).collect() }
        });
        silenced.filter(|silenced| !silenced.bystanders.is_empty()).collect()
    }

    /// What a Kustomization applies.
    fn source(&self, object: &Reference) -> Option<&Reference> {
        if object.kind != Kind::Kustomization {
            return None;
        }
        self.needs(object).iter().find(|need| need.reason == Reason::SourceRef).map(|need| &need.target)
    }
}
