//! The shortest loop of a strongly connected component.

use super::dense::{Dense, Node, PerNode};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Needs that may be looked at before the search settles for the shortest loop found so far.
///
/// Every component in which members times needs is at most half of it is searched to the end: 2,000 members with 25,000
/// needs among them. In practice the search ends long before, and far larger components are exact too.
pub(super) const BUDGET: u64 = 100_000_000;

/// A loop, from its first node on.
pub(super) struct Shortest {
    /// Each needs the next, and the last the first.
    pub nodes: Vec<Node>,
    /// Whether the search went to its end.
    pub proven: bool,
}

/// The shortest loop of a strongly connected graph; among several the one whose list of nodes, from its first on, comes
/// first. `None` if the graph has no loop at all.
///
/// A loop passes through at least one node of any set whose removal leaves no loop, so that it is enough to search from
/// the nodes of such a set ([`gates`]): one for a ring of any length, a few for the graphs people write. A node that has
/// been searched from is taken out, and with it all that no longer lies on a loop. Graphs where the set must be large
/// have short loops, so that the search from each node ends after a few levels.
pub(super) fn shortest(graph: &Dense, budget: u64) -> Option<Shortest> {
    let mut best: Option<(u32, Node)> = None;
    let mut proven = true;
    let mut rest = Rest::new(graph);
    let mut search = Search::new(graph);
    while let Some(node) = rest.next() {
        if best.is_some() && search.looked_at >= budget {
            proven = false;
            break;
        }
        let limit = best.map_or(u32::MAX, |(length, _)| length);
        if let Some(found) = search.from(node, limit, |node| rest.alive[node]) {
            best = Some(best.map_or(found, |best| best.min(found)));
        }
        search.forget();
        rest.take_out(node);
    }
    let (length, first) = best?;
    search.from(first, length, |_| true)?;
    let mut nodes = search.path(first);
    // Only where the search was cut short can a smaller node lie on the loop than the one it was found from.
    let first = nodes.iter().enumerate().min_by_key(|(_, node)| **node).map_or(0, |(index, _)| index);
    nodes.rotate_left(first);
    Some(Shortest { nodes, proven })
}

/// Nodes that every loop passes through at least one of.
///
/// In any order of the nodes a loop goes back at least once; these are the nodes where a need goes back, or those it goes
/// back to, whichever are fewer. In the order of a breadth-first search few needs do if loops are long.
fn gates(graph: &Dense) -> Vec<Node> {
    let most = |node: &Node| (product((graph.dependants(*node).len(), graph.needs(*node).len())), Reverse(*node));
    let mut places: PerNode<Option<usize>> = PerNode::new(graph.count(), None);
    let mut order = Vec::with_capacity(graph.count());
    for root in graph.nodes().max_by_key(most).into_iter().chain(graph.nodes()) {
        let mut next = order.len();
        place(root, &mut places, &mut order);
        while let Some(&node) = order.get(next) {
            next += 1;
            for &target in graph.needs(node) {
                place(target, &mut places, &mut order);
            }
        }
    }
    let goes_back = |from: Node, to: Node| places[from] >= places[to];
    let sources = graph.nodes().filter(|&node| graph.needs(node).iter().any(|&target| goes_back(node, target)));
    let targets = graph.nodes().filter(|&node| graph.dependants(node).iter().any(|&from| goes_back(from, node)));
    let (sources, targets): (Vec<Node>, Vec<Node>) = (sources.collect(), targets.collect());
    if sources.len() < targets.len() { sources } else { targets }
}

fn place(node: Node, places: &mut PerNode<Option<usize>>, order: &mut Vec<Node>) {
    if places[node].is_none() {
        places[node] = Some(order.len());
        order.push(node);
    }
}

/// What is left of the graph: every node in it needs and is needed.
struct Rest<'a> {
    graph: &'a Dense,
    alive: PerNode<bool>,
    /// How many living nodes need it, and how many it needs.
    degrees: PerNode<(usize, usize)>,
    /// The gates, by the product of their degrees as it was at some time; it only falls.
    queue: BinaryHeap<(usize, Reverse<Node>)>,
}

impl<'a> Rest<'a> {
    fn new(graph: &'a Dense) -> Self {
        let degrees: PerNode<_> =
            graph.nodes().map(|node| (graph.dependants(node).len(), graph.needs(node).len())).collect();
        let queue = gates(graph).into_iter().map(|node| (product(degrees[node]), Reverse(node))).collect();
        Self { graph, alive: PerNode::new(graph.count(), true), degrees, queue }
    }

    /// The best connected gate, the first in order among equals: it takes most others out with it.
    fn next(&mut self) -> Option<Node> {
        while let Some((known, Reverse(node))) = self.queue.pop() {
            if !self.alive[node] {
                continue;
            }
            let now = product(self.degrees[node]);
            if now == known {
                return Some(node);
            }
            self.queue.push((now, Reverse(node)));
        }
        None
    }

    /// Takes a node out, and all that then cannot lie on a loop any more.
    fn take_out(&mut self, node: Node) {
        let mut dying = vec![node];
        while let Some(node) = dying.pop() {
            if !std::mem::replace(&mut self.alive[node], false) {
                continue;
            }
            for &target in self.graph.needs(node) {
                self.degrees[target].0 -= 1;
                if self.degrees[target].0 == 0 {
                    dying.push(target);
                }
            }
            for &dependant in self.graph.dependants(node) {
                self.degrees[dependant].1 -= 1;
                if self.degrees[dependant].1 == 0 {
                    dying.push(dependant);
                }
            }
        }
    }
}

fn product((dependants, needs): (usize, usize)) -> usize {
    dependants.saturating_mul(needs)
}

const UNSEEN: u32 = u32::MAX;

/// A breadth-first search, and the memory it needs.
struct Search<'a> {
    graph: &'a Dense,
    /// Steps from the start, [`UNSEEN`] for a node not reached.
    level: PerNode<u32>,
    /// Whether the node lies on a shortest loop through the start.
    on_loop: PerNode<bool>,
    reached: Vec<Node>,
    looked_at: u64,
}

impl<'a> Search<'a> {
    fn new(graph: &'a Dense) -> Self {
        Self {
            graph,
            level: PerNode::new(graph.count(), UNSEEN),
            on_loop: PerNode::new(graph.count(), false),
            reached: Vec::new(),
            looked_at: 0,
        }
    }

    /// The length of the shortest loops through `start`, if they are not longer than `limit`, and the first of all nodes
    /// on one of them. [`Search::forget`] must follow before the next search.
    fn from(&mut self, start: Node, limit: u32, alive: impl Fn(Node) -> bool) -> Option<(u32, Node)> {
        let mut closing = Vec::new();
        let mut length = limit;
        self.level[start] = 0;
        self.reached.push(start);
        let mut next = 0;
        while let Some(&node) = self.reached.get(next) {
            next += 1;
            let level = self.level[node] + 1;
            if level > length {
                break;
            }
            self.looked_at += self.graph.needs(node).len() as u64;
            for &target in self.graph.needs(node) {
                if target == start {
                    closing.push(node);
                    length = level;
                } else if self.level[target] == UNSEEN && alive(target) {
                    self.level[target] = level;
                    self.reached.push(target);
                }
            }
        }
        if closing.is_empty() {
            return None;
        }
        Some((length, self.trace(closing)))
    }

    /// Marks the shortest ways from the start to the nodes that close the loop, and gives the first node on them.
    fn trace(&mut self, closing: Vec<Node>) -> Node {
        let mut ahead = closing;
        let mut first = ahead.first().copied().unwrap_or(Node::new(0));
        for &node in &ahead {
            self.on_loop[node] = true;
        }
        while let Some(node) = ahead.pop() {
            first = first.min(node);
            self.looked_at += self.graph.dependants(node).len() as u64;
            for &dependant in self.graph.dependants(node) {
                let level = self.level[dependant];
                if level != UNSEEN && level + 1 == self.level[node] && !self.on_loop[dependant] {
                    self.on_loop[dependant] = true;
                    ahead.push(dependant);
                }
            }
        }
        first
    }

    /// The first, in order of their nodes, of the shortest loops through `start`; after [`Search::from`].
    fn path(&self, start: Node) -> Vec<Node> {
        let mut path = vec![start];
        let mut last = start;
        let ahead = |from: Node, to: Node| self.on_loop[to] && self.level[to] == self.level[from] + 1;
        while let Some(&node) = self.graph.needs(last).iter().find(|&&node| ahead(last, node)) {
            path.push(node);
            last = node;
        }
        path
    }

    fn forget(&mut self) {
        for node in self.reached.drain(..) {
            self.level[node] = UNSEEN;
            self.on_loop[node] = false;
        }
    }
}
