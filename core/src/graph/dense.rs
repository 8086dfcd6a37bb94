//! Nodes as numbers: the form the algorithms work on.

use std::ops::{Index, IndexMut};

/// A node of one [`Dense`] graph, or of what it was narrowed from; the numbers follow the stable order of the objects.
///
/// 32 bits: four thousand million objects would not fit into memory anyway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Node(u32);

impl Node {
    pub(super) fn new(number: usize) -> Self {
        Self(number as u32)
    }

    pub(super) fn number(self) -> usize {
        self.0 as usize
    }
}

/// A value for each node of one graph.
pub(super) struct PerNode<T>(Vec<T>);

impl<T: Clone> PerNode<T> {
    pub(super) fn new(count: usize, value: T) -> Self {
        Self(vec![value; count])
    }
}

impl<T> FromIterator<T> for PerNode<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

#[allow(clippy::indexing_slicing, reason = "nodes are made by the graph that the values are for, never from input")]
impl<T> Index<Node> for PerNode<T> {
    type Output = T;

    fn index(&self, node: Node) -> &T {
        &self.0[node.number()]
    }
}

#[allow(clippy::indexing_slicing, reason = "as above")]
impl<T> IndexMut<Node> for PerNode<T> {
    fn index_mut(&mut self, node: Node) -> &mut T {
        &mut self.0[node.number()]
    }
}

/// The neighbours of every node on one side, all in one piece of memory.
struct Side {
    /// Where the neighbours of each node begin; one entry more than there are nodes.
    starts: Vec<usize>,
    neighbours: Vec<Node>,
}

impl Side {
    /// `key` says whose neighbour `value` is; the order among the neighbours of one node is that of the edges.
    fn new(count: usize, edges: &[(Node, Node)], ends: impl Fn(&(Node, Node)) -> (Node, Node)) -> Self {
        let mut next = PerNode::new(count + 1, 0_usize);
        for edge in edges {
            next[Node::new(ends(edge).0.number() + 1)] += 1;
        }
        let mut sum = 0;
        for start in &mut next.0 {
            sum += *start;
            *start = sum;
        }
        let starts = next.0.clone();
        let mut neighbours = PerNode::new(edges.len(), Node(0));
        for edge in edges {
            let (key, value) = ends(edge);
            neighbours[Node::new(next[key])] = value;
            next[key] += 1;
        }
        Self { starts, neighbours: neighbours.0 }
    }

    fn of(&self, node: Node) -> &[Node] {
        let start = self.starts.get(node.number()).copied().unwrap_or_default();
        let end = self.starts.get(node.number() + 1).copied().unwrap_or_default();
        self.neighbours.get(start..end).unwrap_or_default()
    }
}

/// A directed graph that does not change: an edge from each node to what it needs.
pub(super) struct Dense {
    count: usize,
    needs: Side,
    dependants: Side,
}

impl Dense {
    /// The graph of nodes `0..count`. The edges must be distinct, and ordered by their first node, then the second.
    pub(super) fn new(count: usize, edges: &[(Node, Node)]) -> Self {
        Self {
            count,
            needs: Side::new(count, edges, |&(from, to)| (from, to)),
            dependants: Side::new(count, edges, |&(from, to)| (to, from)),
        }
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = Node> + use<> {
        (0..self.count).map(Node::new)
    }

    /// What the node needs, in order.
    pub(super) fn needs(&self, node: Node) -> &[Node] {
        self.needs.of(node)
    }

    /// What needs the node, in order.
    pub(super) fn dependants(&self, node: Node) -> &[Node] {
        self.dependants.of(node)
    }

    /// The graph among `members` alone (in order), which are numbered anew from zero. `numbers` is working memory,
    /// so that many small parts of a large graph cost no more than their own size.
    pub(super) fn narrowed(&self, members: &[Node], numbers: &mut PerNode<Option<Node>>) -> Self {
        for (number, &member) in members.iter().enumerate() {
            numbers[member] = Some(Node::new(number));
        }
        let mut edges = Vec::new();
        for (number, &member) in members.iter().enumerate() {
            let inside = self.needs(member).iter().filter_map(|&target| numbers[target]);
            edges.extend(inside.map(|target| (Node::new(number), target)));
        }
        for &member in members {
            numbers[member] = None;
        }
        Self::new(members.len(), &edges)
    }

    /// The nodes such that each stands before all it needs. What is missing from the list lies on a loop, or is needed
    /// (over any number of steps) by something on one. Edges that `skip` names are looked at as if they were not there.
    pub(super) fn sorted(&self, skip: impl Fn(Node, Node) -> bool) -> Vec<Node> {
        let mut waiting: PerNode<usize> = self
            .nodes()
            .map(|node| self.dependants(node).iter().filter(|&&dependant| !skip(dependant, node)).count())
            .collect();
        let mut order: Vec<Node> = self.nodes().filter(|&node| waiting[node] == 0).collect();
        let mut done = 0;
        while let Some(&node) = order.get(done) {
            done += 1;
            for &target in self.needs(node) {
                if skip(node, target) {
                    continue;
                }
                waiting[target] -= 1;
                if waiting[target] == 0 {
                    order.push(target);
                }
            }
        }
        order
    }
}
