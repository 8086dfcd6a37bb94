//! Strongly connected components: the sets of objects that all wait for each other.

use super::dense::{Dense, Node, PerNode};

/// The components that hold a loop: more than one node, or one that needs itself. Members in order, components in the
/// order of their first member.
///
/// Tarjan's algorithm with the call stack as data, for chains of any length.
pub(super) fn looping(graph: &Dense) -> Vec<Vec<Node>> {
    let of = numbered(graph);
    let mut size = vec![0_usize; graph.count()];
    for node in graph.nodes() {
        if let Some(size) = size.get_mut(of[node]) {
            *size += 1;
        }
    }
    let mut place: Vec<Option<usize>> = vec![None; graph.count()];
    let mut components: Vec<Vec<Node>> = Vec::new();
    for node in graph.nodes() {
        let size = size.get(of[node]).copied().unwrap_or_default();
        if size < 2 && !graph.needs(node).contains(&node) {
            continue;
        }
        let Some(place) = place.get_mut(of[node]) else { continue };
        let place = *place.get_or_insert(components.len());
        match components.get_mut(place) {
            Some(component) => component.push(node),
            None => {
                let mut component = Vec::with_capacity(size);
                component.push(node);
                components.push(component);
            }
        }
    }
    components
}

/// What the search knows of a node.
#[derive(Clone, Copy, PartialEq)]
enum Seen {
    Not,
    /// On the stack: when it was found, and the earliest found node on the stack that it reaches.
    Open {
        low: usize,
    },
    /// In the component of this number.
    Done(usize),
}

/// The number of each node's component, below the count of nodes.
fn numbered(graph: &Dense) -> PerNode<usize> {
    let mut seen = PerNode::new(graph.count(), Seen::Not);
    let mut stack: Vec<Node> = Vec::new();
    let mut calls: Vec<Call> = Vec::new();
    let (mut found, mut components) = (0, 0);
    for root in graph.nodes() {
        if seen[root] != Seen::Not {
            continue;
        }
        let mut enter = Some(root);
        loop {
            if let Some(node) = enter.take() {
                seen[node] = Seen::Open { low: found };
                calls.push(Call { node, found, next: 0 });
                stack.push(node);
                found += 1;
            }
            let Some(call) = calls.last_mut() else { break };
            if let Some(&target) = graph.needs(call.node).get(call.next) {
                match seen[target] {
                    Seen::Not => {
                        enter = Some(target);
                    }
                    Seen::Open { low } => {
                        lower(&mut seen, call.node, low);
                        call.next += 1;
                    }
                    Seen::Done(_) => call.next += 1,
                }
                continue;
            }
            let Call { node, found, .. } = *call;
            calls.pop();
            if seen[node] == (Seen::Open { low: found }) {
                while let Some(member) = stack.pop() {
                    seen[member] = Seen::Done(components);
                    if member == node {
                        break;
                    }
                }
                components += 1;
            }
        }
    }
    let number = |node| match seen[node] {
        Seen::Done(component) => component,
        Seen::Not | Seen::Open { .. } => 0,
    };
    graph.nodes().map(number).collect()
}

/// A call that would be recursive: its caller looks at the same need again afterwards, and then sees the result.
struct Call {
    node: Node,
    found: usize,
    next: usize,
}

fn lower(seen: &mut PerNode<Seen>, node: Node, to: usize) {
    if let Seen::Open { low } = &mut seen[node] {
        *low = (*low).min(to);
    }
}
