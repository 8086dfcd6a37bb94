//! The rows of each column: boxes, and lanes for the lines that pass by.

use super::table::Table;
use super::{LANE, Link, ROW_GAP, Size};
use std::collections::BTreeMap;

/// With more of them the lines go straight.
const MOST: usize = 40_000;

/// Something that has a place in a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub layer: usize,
    pub height: f64,
    pub is_lane: bool,
}

/// Two cells of neighbouring columns that a line joins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joint {
    /// The one on the left.
    pub upper: usize,
    pub lower: usize,
    /// How much it matters that it is level.
    pub weight: f64,
}

/// Cells come in this order: boxes, as they came, then lanes.
pub(super) struct Cells {
    pub cells: Table<Cell>,
    /// The cells of each column, in order from the top.
    pub columns: Table<Vec<usize>>,
    pub joints: Vec<Joint>,
    /// The cells that each link passes, from the left.
    pub paths: Vec<Vec<usize>>,
}

/// `arcs` are the links as they run, from the left to the right, and `None` for lines from a box to itself.
pub(super) fn cells(sizes: &[Size], links: &[Link], arcs: &[Option<(usize, usize)>], layers: &Table<usize>) -> Cells {
    let depth = layers.0.iter().max().map_or(0, |layer| layer + 1);
    let mut columns: Table<Vec<usize>> = Table::new(depth, Vec::new());
    let mut cells: Table<Cell> = Table(Vec::with_capacity(sizes.len()));
    for (node, size) in sizes.iter().enumerate() {
        let cell = cells.push(Cell { layer: layers[node], height: size.height + ROW_GAP, is_lane: false });
        columns[layers[node]].push(cell);
    }
    // How many long lines each box has, on either side.
    let mut leaving: Table<usize> = Table::new(sizes.len(), 0);
    let mut arriving: Table<usize> = Table::new(sizes.len(), 0);
    for (left, right) in arcs.iter().flatten().filter(|(left, right)| layers[*left] > layers[*right] + 1) {
        leaving[*left] += 1;
        arriving[*right] += 1;
    }
    let mut lanes: BTreeMap<(Lane, usize), usize> = BTreeMap::new();
    let mut weights: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    let mut paths = Vec::with_capacity(links.len());
    for (number, (link, arc)) in links.iter().zip(arcs).enumerate() {
        let Some((left, right)) = *arc else {
            paths.push(Vec::new());
            continue;
        };
        let mut path = vec![left];
        let lane = match (link.alone, leaving[left] > arriving[right]) {
            (true, _) => Lane::Of(number),
            (false, true) => Lane::From(left),
            (false, false) => Lane::To(right),
        };
        for layer in (layers[right] + 1..layers[left]).rev() {
            if cells.len() >= MOST {
                break;
            }
            path.push(*lanes.entry((lane, layer)).or_insert_with(|| {
                let cell = cells.push(Cell { layer, height: LANE * 2.0, is_lane: true });
                columns[layer].push(cell);
                cell
            }));
        }
        path.push(right);
        for (&upper, &lower) in path.iter().zip(path.iter().skip(1)) {
            if cells[upper].layer == cells[lower].layer + 1 {
                let weight = match (cells[upper].is_lane, cells[lower].is_lane) {
                    (true, true) => 8.0,
                    (false, false) => 1.0,
                    _ => 2.0,
                };
                // A lane that many share is no more level for it than one that two share.
                let sum = weights.entry((upper, lower)).or_insert(0.0);
                *sum = f64::min(*sum + weight, weight * 2.0);
            }
        }
        paths.push(path);
    }
    let joints = weights.into_iter().map(|((upper, lower), weight)| Joint { upper, lower, weight }).collect();
    Cells { cells, columns, joints, paths }
}

/// Whose lane it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Lane {
    From(usize),
    To(usize),
    Of(usize),
}
