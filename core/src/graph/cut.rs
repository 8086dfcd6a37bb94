//! Which single edges every loop of a component passes through.

use super::dense::{Dense, Node, PerNode};

/// The edges, each by the place of its first node in `around`, whose removal leaves no loop. `around` is any loop of
/// the graph: such an edge lies on every loop, so on this one. Linear in nodes and edges.
///
/// Take all edges of the loop away. If a loop is left, no single edge will do. If not, what is left are detours: ways
/// from a node of the loop to another. A detour from place `i` to place `j`, followed by the loop from `j` back to `i`,
/// is a loop as well, and it is free of exactly the edges between `i` and `j`; so these will not do. And where an edge
/// lies between no such `i` and `j`, none of the detours goes back behind it, and every loop must pass through it.
/// It is enough to know for each place the lowest and the highest place that its detours lead to or come from.
pub(super) fn cuts(graph: &Dense, around: &[Node]) -> Vec<usize> {
    let mut places: PerNode<Option<usize>> = PerNode::new(graph.count(), None);
    let mut following: PerNode<Option<Node>> = PerNode::new(graph.count(), None);
    for (place, (&node, &next)) in around.iter().zip(around.iter().cycle().skip(1)).enumerate() {
        places[node] = Some(place);
        following[node] = Some(next);
    }
    let on_loop = |from: Node, to: Node| following[from] == Some(to);
    let order = graph.sorted(on_loop);
    if order.len() < graph.count() {
        return Vec::new();
    }
    let mut leads_to: PerNode<Option<Span>> = PerNode::new(graph.count(), None);
    for &node in order.iter().rev() {
        for &target in graph.needs(node).iter().filter(|&&target| !on_loop(node, target)) {
            let further = join(leads_to[target], places[target].map(Span::of));
            leads_to[node] = join(leads_to[node], further);
        }
    }
    let mut comes_from: PerNode<Option<Span>> = PerNode::new(graph.count(), None);
    for &node in &order {
        let so_far = join(comes_from[node], places[node].map(Span::of));
        for &target in graph.needs(node).iter().filter(|&&target| !on_loop(node, target)) {
            comes_from[target] = join(comes_from[target], so_far);
        }
    }

    // Detours that go on: from a place to a later one. Those that go back pass the end of the list: together they
    // exclude all from the first place that one starts at, and all before the last place that one comes to.
    let (mut first_back, mut last_back) = (around.len(), 0);
    for (place, &node) in around.iter().enumerate() {
        if leads_to[node].is_some_and(|span| span.lowest < place) {
            first_back = first_back.min(place);
        }
        if comes_from[node].is_some_and(|span| span.highest > place) {
            last_back = place;
        }
    }
    let mut excluded_before = last_back;
    let mut cuts = Vec::new();
    for (place, &node) in around.iter().enumerate().take(first_back) {
        excluded_before = excluded_before.max(leads_to[node].map_or(0, |span| span.highest));
        if place >= excluded_before {
            cuts.push(place);
        }
    }
    cuts
}

/// The lowest and the highest of some places.
#[derive(Clone, Copy)]
struct Span {
    lowest: usize,
    highest: usize,
}

impl Span {
    fn of(place: usize) -> Self {
        Self { lowest: place, highest: place }
    }
}

fn join(a: Option<Span>, b: Option<Span>) -> Option<Span> {
    match (a, b) {
        (Some(a), Some(b)) => Some(Span { lowest: a.lowest.min(b.lowest), highest: a.highest.max(b.highest) }),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4_000, ..ProptestConfig::default() })]

        /// The loop need not be the shortest, so that detours of every kind occur.
        #[test]
        fn all_and_only_the_edges_that_break_every_loop(
            length in 1..9_usize,
            turned in 0..9_usize,
            detours in prop::collection::vec((0..11_usize, 0..11_usize), 0..5),
        ) {
            let count = length + 2;
            let around: Vec<Node> = (0..length).map(|place| Node::new((place + turned) % length)).collect();
            let ring = (0..length).map(|place| (Node::new(place), Node::new((place + 1) % length)));
            let detours = detours.iter().map(|(from, to)| (Node::new(from % count), Node::new(to % count)));
            let mut edges: Vec<_> = ring.chain(detours).collect();
            edges.sort_unstable();
            edges.dedup();
            let breaks = |place: &usize| {
                let (from, to) = (around[*place], around[(place + 1) % length]);
                let without: Vec<_> = edges.iter().copied().filter(|edge| *edge != (from, to)).collect();
                Dense::new(count, &without).sorted(|_, _| false).len() == count
            };
            let expected: Vec<usize> = (0..length).filter(breaks).collect();
            prop_assert_eq!(cuts(&Dense::new(count, &edges), &around), expected);
        }
    }
}
