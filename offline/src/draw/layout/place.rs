//! The heights: every cell as near as may be to the middle of its neighbours.

use super::cells::Cells;
use super::table::Table;

/// How many times all columns are moved.
const SWEEPS: usize = 24;
/// With more cells, fewer sweeps.
const MANY: usize = 6_000;

/// The middle of each cell, from the top.
pub(super) fn place(cells: &Cells) -> Table<f64> {
    let count = cells.cells.len();
    let mut neighbours: Table<Vec<(usize, f64)>> = Table::new(count, Vec::new());
    for joint in &cells.joints {
        neighbours[joint.lower].push((joint.upper, joint.weight));
        neighbours[joint.upper].push((joint.lower, joint.weight));
    }
    let mut middles: Table<f64> = Table::new(count, 0.0);
    for column in &cells.columns.0 {
        let height: f64 = column.iter().map(|&cell| cells.cells[cell].height).sum();
        let mut top = -height / 2.0;
        for &cell in column {
            middles[cell] = top + cells.cells[cell].height / 2.0;
            top += cells.cells[cell].height;
        }
    }
    let depth = cells.columns.len();
    let sweeps = if count > MANY { 6 } else { SWEEPS };
    for sweep in 0..sweeps {
        // At first a column follows the one before it; later both sides count.
        let both = sweep * 2 >= sweeps;
        let is_forth = sweep % 2 == 0;
        let layers: Vec<usize> = if is_forth { (0..depth).collect() } else { (0..depth).rev().collect() };
        for layer in layers {
            let column = &cells.columns[layer];
            let wishes: Vec<(f64, f64, f64)> = column
                .iter()
                .map(|&cell| {
                    let own = cells.cells[cell];
                    let counts = |other: usize| both || (cells.cells[other].layer < layer) == is_forth;
                    let (mut sum, mut weight) = (0.0, 0.0);
                    for &(other, much) in neighbours[cell].iter().filter(|(other, _)| counts(*other)) {
                        sum += middles[other] * much;
                        weight += much;
                    }
                    match weight > 0.0 {
                        true => (own.height, sum / weight, weight),
                        false => (own.height, middles[cell], 0.1),
                    }
                })
                .collect();
            for (&cell, middle) in column.iter().zip(settle(&wishes)) {
                middles[cell] = middle;
            }
        }
    }
    middles
}

/// The middles of a column of cells, given from the top as height, wish and weight, such that none overlap and the
/// weighted sum of the squares of the distances from the wishes is least: pool adjacent violators.
fn settle(wishes: &[(f64, f64, f64)]) -> Vec<f64> {
    /// Cells that touch each other and move as one.
    struct Block {
        /// Where its first cell would go if there were nothing above.
        wish: f64,
        weight: f64,
        count: usize,
    }
    let mut blocks: Vec<Block> = Vec::new();
    let mut offset = 0.0;
    let mut offsets = Vec::with_capacity(wishes.len());
    let mut last_height = None;
    for &(height, wish, weight) in wishes {
        offset += last_height.map_or(0.0, |last: f64| (last + height) / 2.0);
        last_height = Some(height);
        offsets.push(offset);
        let mut block = Block { wish: wish - offset, weight, count: 1 };
        while let Some(above) = blocks.pop_if(|above| above.wish > block.wish) {
            let weight = above.weight + block.weight;
            let wish = (above.wish * above.weight + block.wish * block.weight) / weight;
            block = Block { wish, weight, count: above.count + block.count };
        }
        blocks.push(block);
    }
    let starts = blocks.iter().flat_map(|block| std::iter::repeat_n(block.wish, block.count));
    starts.zip(offsets).map(|(start, offset)| start + offset).collect()
}
