//! What there is to draw.

use sluicegate_core::graph::{Graph, LoopReport};
use sluicegate_core::need::{Direction, Need};
use sluicegate_core::object::Reference;
use std::collections::{BTreeMap, BTreeSet};

/// How an object stands, as a picture shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// It has done all that it is going to do.
    Settled,
    /// It is under way, or waits for something.
    Waiting,
    /// Somebody has suspended it.
    Suspended,
    /// The gate keeps it suspended until its inputs are settled.
    Held,
    /// It has failed.
    Failed,
    /// It is needed, and is not there.
    Absent,
    /// There is nothing to tell it by: it stands in a file alone, could not be read, or may not be.
    Unknown,
}

impl State {
    /// All of them, in the order of the legend.
    pub const ALL: [Self; 7] =
        [Self::Settled, Self::Waiting, Self::Suspended, Self::Held, Self::Failed, Self::Absent, Self::Unknown];

    /// The word for it, in every form of output.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Settled => "settled",
            Self::Waiting => "waiting",
            Self::Suspended => "suspended",
            Self::Held => "held",
            Self::Failed => "failed",
            Self::Absent => "absent",
            Self::Unknown => "unknown",
        }
    }
}

/// The state of an object, and a sentence that says why, where there is more to say than the state. The sentence may
/// quote the object: it is cleaned and bounded where it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    /// The state.
    pub state: State,
    /// Why.
    pub why: Option<String>,
}

impl Look {
    /// A state that says it all.
    #[must_use]
    pub const fn plain(state: State) -> Self {
        Self { state, why: None }
    }
}

/// The place of a node in [`Drawing::nodes`]; the number that the forms of output use for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub usize);

/// The place of an edge in [`Drawing::edges`]; the number that the forms of output use for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeId(pub usize);

/// An object.
#[derive(Clone, Debug)]
pub struct Node {
    /// Which.
    pub object: Reference,
    /// How it stands.
    pub look: Look,
    /// The set of [`Drawing::tangles`] it belongs to, if it waits for itself.
    pub tangle: Option<usize>,
}

/// All needs that one object has of another.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The object that needs.
    pub from: NodeId,
    /// What it needs.
    pub to: NodeId,
    /// One need for each field that says so, in order; never empty.
    pub needs: Vec<Need>,
    /// The set of [`Drawing::tangles`] whose members it joins, if it is binding.
    pub tangle: Option<usize>,
    /// Whether it is a step of the shortest loop of that set.
    pub on_shortest: bool,
    /// Whether its removal breaks all loops of that set.
    pub is_cut: bool,
}

impl Edge {
    /// Whether all of its needs are waits for what the object has applied, none of them an input.
    #[must_use]
    pub fn is_output(&self) -> bool {
        self.needs.iter().all(|need| need.direction == Direction::Output)
    }

    /// The fields, for people: `spec.dependsOn[0], spec.wait`; of many the first two and how many more.
    #[must_use]
    pub fn fields(&self) -> String {
        let shown: Vec<String> = self.needs.iter().take(2).map(|need| need.reason.to_string()).collect();
        match self.needs.len().saturating_sub(shown.len()) {
            0 => shown.join(", "),
            more => format!("{}, {more} more", shown.join(", ")),
        }
    }
}

/// Objects that wait for each other, and what waits behind them.
#[derive(Clone, Debug)]
pub struct Tangle {
    /// Members, shortest loop and cut.
    pub report: LoopReport,
    /// What is no member and cannot become ready either.
    pub behind: Vec<Reference>,
}

/// The data of a picture. Nodes stand in the stable order of objects; edges in the order of their nodes.
#[derive(Clone, Debug, Default)]
pub struct Drawing {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    tangles: Vec<Tangle>,
}

impl Drawing {
    /// A picture of the whole graph. `look` tells how an object stands, of those that are there; what is not there is
    /// absent, unless `look` knows better (an object that may not be read is unknown).
    #[must_use]
    pub fn new(graph: &Graph, look: impl Fn(&Reference) -> Option<Look>) -> Self {
        Self::within(graph, None, look)
    }

    /// As [`Drawing::new`], of these objects alone ([`cone`](super::cone) finds some), and the needs between them. Loops
    /// are those of the whole graph that have a member among them.
    #[must_use]
    pub fn within(
        graph: &Graph,
        part: Option<&BTreeSet<Reference>>,
        look: impl Fn(&Reference) -> Option<Look>,
    ) -> Self {
        let is_shown = |object: &Reference| part.is_none_or(|part| part.contains(object));
        let mut objects: Vec<&Reference> = graph.objects().chain(graph.absent()).filter(|own| is_shown(own)).collect();
        objects.sort_unstable();
        let ids: BTreeMap<&Reference, usize> = objects.iter().enumerate().map(|(id, own)| (*own, id)).collect();
        let tangles: Vec<Tangle> = graph
            .loops()
            .into_iter()
            .filter(|report| report.members.iter().any(is_shown))
            .map(|report| {
                let behind = graph.behind(&report.members).into_iter().cloned().collect();
                Tangle { report, behind }
            })
            .collect();
        let mut member: BTreeMap<&Reference, usize> = BTreeMap::new();
        let mut steps: BTreeSet<(&Reference, &Reference)> = BTreeSet::new();
        let mut cuts: BTreeSet<(&Reference, &Reference)> = BTreeSet::new();
        for (number, tangle) in tangles.iter().enumerate() {
            member.extend(tangle.report.members.iter().map(|own| (own, number)));
            steps.extend(tangle.report.shortest.steps.iter().map(|step| (&step.from, &step.need.target)));
            cuts.extend(tangle.report.cut.iter().map(|cut| (&cut.from, &cut.target)));
        }
        let node = |own: &&Reference| {
            let otherwise = if graph.contains(own) { State::Unknown } else { State::Absent };
            Node {
                object: (*own).clone(),
                look: look(own).unwrap_or(Look::plain(otherwise)),
                tangle: member.get(*own).copied(),
            }
        };
        let nodes = objects.iter().map(node).collect();
        let mut edges = Vec::new();
        for (from, own) in objects.iter().enumerate() {
            for needs in graph.needs(own).chunk_by(|a, b| a.target == b.target) {
                let Some(target) = needs.first().map(|need| &need.target) else { continue };
                let Some(&to) = ids.get(target) else { continue };
                let mut needs = needs.to_vec();
                needs.sort_by_key(|need| need.reason);
                let tangle = member.get(*own).copied().filter(|_| needs.iter().any(Need::binds));
                edges.push(Edge {
                    from: NodeId(from),
                    to: NodeId(to),
                    tangle: tangle.filter(|_| member.get(*own) == member.get(target)),
                    on_shortest: steps.contains(&(*own, target)),
                    is_cut: cuts.contains(&(*own, target)),
                    needs,
                });
            }
        }
        Self { nodes, edges, tangles }
    }

    /// The objects.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// What joins them.
    #[must_use]
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The sets of objects that wait for each other, as of the whole graph: members may be left out of the picture.
    #[must_use]
    pub fn tangles(&self) -> &[Tangle] {
        &self.tangles
    }

    /// The object of a node.
    #[must_use]
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.0)
    }

    /// The needs of an edge, with the object that has them.
    #[must_use]
    pub fn edge(&self, id: EdgeId) -> Option<(&Reference, &Edge)> {
        let edge = self.edges.get(id.0)?;
        Some((&self.node(edge.from)?.object, edge))
    }

    /// The picture with the first `count` nodes, those on loops before all others, and how many objects it lacks.
    pub(super) fn bounded(&self, count: usize) -> (std::borrow::Cow<'_, Self>, usize) {
        let left_out = self.nodes.len().saturating_sub(count);
        if left_out == 0 {
            return (std::borrow::Cow::Borrowed(self), 0);
        }
        let mut kept: Vec<usize> = (0..self.nodes.len()).collect();
        kept.sort_by_key(|&id| (self.nodes.get(id).is_none_or(|node| node.tangle.is_none()), id));
        kept.truncate(count);
        kept.sort_unstable();
        let place = |id: NodeId| kept.binary_search(&id.0).ok().map(NodeId);
        let edges = self
            .edges
            .iter()
            .filter_map(|edge| Some(Edge { from: place(edge.from)?, to: place(edge.to)?, ..edge.clone() }));
        let nodes = kept.iter().filter_map(|&id| self.nodes.get(id).cloned()).collect();
        let part = Self { nodes, edges: edges.collect(), tangles: self.tangles.clone() };
        (std::borrow::Cow::Owned(part), left_out)
    }
}
