//! The order in each column: as few crossings as can be had quickly.

use super::cells::Cells;
use super::table::Table;

/// How many times all columns are put in order.
const SWEEPS: usize = 16;
/// With more cells, fewer sweeps.
const MANY: usize = 6_000;
/// With more cells, neighbours are not tried the other way round.
const FEW: usize = 1_500;

/// Puts the cells of every column in order, by the middle of their neighbours in the column beside, to and fro; the best
/// order that was seen is kept.
pub(super) fn order(cells: &mut Cells) {
    let count = cells.cells.len();
    let sides = Sides::of(cells);
    let mut best = cells.columns.clone();
    let mut fewest = crossings(&best, &sides, count);
    let sweeps = if count > MANY { 4 } else { SWEEPS };
    let depth = cells.columns.len();
    for sweep in 0..sweeps {
        if fewest == 0 {
            break;
        }
        let mut places = places(&cells.columns, count);
        let layers: Vec<usize> = if sweep % 2 == 0 { (1..depth).collect() } else { (0..depth).rev().skip(1).collect() };
        for layer in layers {
            let neighbours = if sweep % 2 == 0 { &sides.lower } else { &sides.upper };
            let column = &mut cells.columns[layer];
            let middle = |cell: usize| {
                let all = &neighbours[cell];
                match all.len() {
                    0 => places[cell] as f64,
                    many => all.iter().map(|&other| places[other] as f64).sum::<f64>() / many as f64,
                }
            };
            let mut keyed: Vec<(f64, usize)> = column.iter().map(|&cell| (middle(cell), cell)).collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            *column = keyed.into_iter().map(|(_, cell)| cell).collect();
            for (place, &cell) in column.iter().enumerate() {
                places[cell] = place;
            }
        }
        if count <= FEW {
            exchange(&mut cells.columns, &sides, &mut places);
        }
        let now = crossings(&cells.columns, &sides, count);
        if now < fewest {
            fewest = now;
            best.clone_from(&cells.columns);
        }
    }
    cells.columns = best;
}

/// The neighbours of each cell on either side.
struct Sides {
    upper: Table<Vec<usize>>,
    lower: Table<Vec<usize>>,
}

impl Sides {
    fn of(cells: &Cells) -> Self {
        let count = cells.cells.len();
        let mut sides = Self { upper: Table::new(count, Vec::new()), lower: Table::new(count, Vec::new()) };
        for joint in &cells.joints {
            sides.upper[joint.lower].push(joint.upper);
            sides.lower[joint.upper].push(joint.lower);
        }
        sides
    }
}

fn places(columns: &Table<Vec<usize>>, count: usize) -> Table<usize> {
    let mut places = Table::new(count, 0);
    for column in &columns.0 {
        for (place, &cell) in column.iter().enumerate() {
            places[cell] = place;
        }
    }
    places
}

/// Two neighbours change places where that saves crossings.
fn exchange(columns: &mut Table<Vec<usize>>, sides: &Sides, places: &mut Table<usize>) {
    for column in &mut columns.0 {
        for place in 1..column.len() {
            let (Some(&above), Some(&below)) = (column.get(place - 1), column.get(place)) else { continue };
            let crossed = |first: usize, second: usize| {
                pairs(&sides.lower[first], &sides.lower[second], places)
                    + pairs(&sides.upper[first], &sides.upper[second], places)
            };
            if crossed(below, above) < crossed(above, below) {
                column.swap(place - 1, place);
                (places[above], places[below]) = (place, place - 1);
            }
        }
    }
}

/// How many lines of the first cell cross one of the second below it. Of a hub not all are counted.
fn pairs(first: &[usize], second: &[usize], places: &Table<usize>) -> usize {
    let second: Vec<usize> = second.iter().take(64).map(|&other| places[other]).collect();
    let crossed = |other: &usize| second.iter().filter(|&&place| place < places[*other]).count();
    first.iter().take(64).map(crossed).sum()
}

fn crossings(columns: &Table<Vec<usize>>, sides: &Sides, count: usize) -> usize {
    let places = places(columns, count);
    let mut sum = 0;
    for column in columns.0.iter().skip(1) {
        let mut ends: Vec<usize> = Vec::new();
        for &cell in column {
            let mut own: Vec<usize> = sides.lower[cell].iter().map(|&other| places[other]).collect();
            own.sort_unstable();
            ends.extend(own);
        }
        sum += inversions(&ends);
    }
    sum
}

/// How many pairs stand the wrong way round: a tree of sums (Fenwick) over the values.
fn inversions(values: &[usize]) -> usize {
    let size = values.iter().max().map_or(0, |most| most + 1);
    let mut sums: Table<usize> = Table::new(size + 1, 0);
    let mut found = 0;
    for (before, &value) in values.iter().enumerate() {
        let (mut at, mut not_above) = (value + 1, 0);
        while at > 0 {
            not_above += sums[at];
            at -= at & at.wrapping_neg();
        }
        found += before - not_above;
        let mut at = value + 1;
        while at <= size {
            sums[at] += 1;
            at += at & at.wrapping_neg();
        }
    }
    found
}
