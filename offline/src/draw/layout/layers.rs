//! Which column each box stands in: the rightmost has number zero.

use super::table::Table;

/// The columns, such that each arc leads from a higher number to a lower one, and no column holds more than so many
/// boxes. `ranks` falls along every arc.
pub(super) fn layers(arcs: &[(usize, usize)], ranks: &Table<usize>, most: usize) -> Table<usize> {
    let count = ranks.len();
    let mut targets: Table<Vec<usize>> = Table::new(count, Vec::new());
    let mut dependants: Table<Vec<usize>> = Table::new(count, Vec::new());
    for &(from, to) in arcs {
        targets[from].push(to);
        dependants[to].push(from);
    }
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|&node| ranks[node]);
    let mut longest: Table<usize> = Table::new(count, 0);
    for &node in &order {
        longest[node] = targets[node].iter().map(|&target| longest[target] + 1).max().unwrap_or_default();
    }
    order.sort_by_key(|&node| (longest[node], node));

    let mut layers: Table<usize> = Table::new(count, 0);
    let mut filled: Table<usize> = Table::new(count + 1, 0);
    // Every column before this one is full.
    let mut open = 0;
    for &node in &order {
        let least = targets[node].iter().map(|&target| layers[target] + 1).max().unwrap_or_default();
        while filled[open] >= most {
            open += 1;
        }
        let mut layer = least.max(open.min(count));
        while filled[layer] >= most {
            layer += 1;
        }
        layers[node] = layer;
        filled[layer] += 1;
    }
    // What more objects need than it needs itself goes as near to them as it may: that shortens more lines than it
    // stretches.
    order.sort_by_key(|&node| (std::cmp::Reverse(layers[node]), node));
    for &node in &order {
        let nearest = dependants[node].iter().map(|&dependant| layers[dependant]).min();
        if let Some(nearest) = nearest.filter(|_| dependants[node].len() > targets[node].len()) {
            let own = layers[node];
            let better = (own + 1..nearest).rev().find(|&layer| filled[layer] < most);
            if let Some(better) = better {
                filled[own] -= 1;
                filled[better] += 1;
                layers[node] = better;
            }
        }
    }
    layers
}
