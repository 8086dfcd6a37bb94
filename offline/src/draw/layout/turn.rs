//! Loops: which lines have to run backwards.

use super::Link;
use super::table::Table;

/// When the search has left each box: every line runs from a higher number to a lower one, or backwards. Lines that would
/// better run backwards are not followed, so that they do where they close a loop.
pub(super) fn ranks(count: usize, links: &[Link]) -> Table<usize> {
    let mut targets: Table<Vec<usize>> = Table::new(count, Vec::new());
    let mut is_needed: Table<bool> = Table::new(count, false);
    for link in links.iter().filter(|link| link.from != link.to) {
        is_needed[link.to] = true;
        if !link.backwards {
            targets[link.from].push(link.to);
        }
    }
    let mut seen: Table<bool> = Table::new(count, false);
    let mut ranks: Table<usize> = Table::new(count, 0);
    let mut left = 0;
    let free = (0..count).filter(|&node| !is_needed[node]);
    for start in free.chain(0..count) {
        if seen[start] {
            continue;
        }
        seen[start] = true;
        let mut calls = vec![(start, 0)];
        while let Some((node, next)) = calls.last_mut() {
            if let Some(&target) = targets[*node].get(*next) {
                *next += 1;
                if !seen[target] {
                    seen[target] = true;
                    calls.push((target, 0));
                }
            } else {
                ranks[*node] = left;
                left += 1;
                calls.pop();
            }
        }
    }
    ranks
}
