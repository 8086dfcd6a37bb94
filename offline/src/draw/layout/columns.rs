//! One connected part, from boxes and lines to places.

use super::cells::{Cells, cells};
use super::table::Table;
use super::{COLUMN_GAP, LANE, Layout, Link, OWN_LINE, Point, ROW_GAP, Route, Size};
use super::{layers, order, place, turn};

/// How far below the middle of a box a line that runs backwards begins and ends.
const BACKWARDS: f64 = 11.0;
/// The height of a label.
const LABEL: f64 = 15.0;

/// Lays out boxes that lines join.
pub(super) fn arrange(sizes: &[Size], links: &[Link]) -> Layout {
    let ranks = turn::ranks(sizes.len(), links);
    let arcs: Vec<Option<(usize, usize)>> = links
        .iter()
        .map(|link| match ranks[link.from].cmp(&ranks[link.to]) {
            std::cmp::Ordering::Greater => Some((link.from, link.to)),
            std::cmp::Ordering::Less => Some((link.to, link.from)),
            std::cmp::Ordering::Equal => None,
        })
        .collect();
    let joined: Vec<(usize, usize)> = arcs.iter().flatten().copied().collect();
    let layers = layers::layers(&joined, &ranks, most(sizes.len()));
    let mut own_line: Table<bool> = Table::new(sizes.len(), false);
    for link in links.iter().filter(|link| link.from == link.to) {
        own_line[link.from] = true;
    }
    // What is above and below a box must be the same, for its middle to be the middle of its cell.
    let roomy: Vec<Size> = sizes
        .iter()
        .enumerate()
        .map(|(node, size)| Size { height: size.height + if own_line[node] { OWN_LINE * 2.0 } else { 0.0 }, ..*size })
        .collect();
    let mut cells = cells(&roomy, links, &arcs, &layers);
    order::order(&mut cells);
    let middles = place::place(&cells);
    finish(sizes, links, &arcs, &cells, &middles)
}

/// How many boxes a column holds: so many that the whole is about as wide as high, if boxes are five times as wide as
/// high.
fn most(count: usize) -> usize {
    ((count as f64).sqrt() * 2.2).ceil().max(8.0) as usize
}

/// Where the columns stand.
struct Grid {
    lefts: Table<f64>,
    widths: Table<f64>,
    width: f64,
}

impl Grid {
    fn new(sizes: &[Size], links: &[Link], cells: &Cells, middles: &Table<f64>) -> Self {
        let depth = cells.columns.len();
        let mut widths: Table<f64> = Table::new(depth, 0.0);
        for (node, size) in sizes.iter().enumerate() {
            let layer = cells.cells[node].layer;
            widths[layer] = widths[layer].max(size.width);
        }
        // The gap on the right of each column; steep lines and labels need more room.
        let mut gaps: Table<f64> = Table::new(depth, COLUMN_GAP);
        for joint in &cells.joints {
            let layer = cells.cells[joint.upper].layer;
            let rise = (middles[joint.upper] - middles[joint.lower]).abs();
            gaps[layer] = gaps[layer].max((COLUMN_GAP + rise * 0.08).min(150.0));
        }
        for (link, path) in links.iter().zip(&cells.paths).filter(|(link, _)| link.label > 0.0) {
            if let Some(&upper) = path.get(path.len().saturating_sub(2) / 2) {
                let layer = cells.cells[upper].layer;
                gaps[layer] = gaps[layer].max(link.label + 52.0);
            }
        }
        let mut lefts: Table<f64> = Table::new(depth, 0.0);
        let mut width = 0.0;
        for layer in (0..depth).rev() {
            lefts[layer] = width;
            width += widths[layer] + if layer > 0 { gaps[layer] } else { 0.0 };
        }
        let mut own = links.iter().filter(|link| link.from == link.to);
        if own.any(|link| cells.cells[link.from].layer == 0) {
            width += 24.0;
        }
        Self { lefts, widths, width }
    }
}

fn finish(
    sizes: &[Size],
    links: &[Link],
    arcs: &[Option<(usize, usize)>],
    cells: &Cells,
    middles: &Table<f64>,
) -> Layout {
    let grid = Grid::new(sizes, links, cells, middles);
    let edge = |cell: usize, side: f64| middles[cell] + side * (cells.cells[cell].height - ROW_GAP) / 2.0;
    let top = (0..cells.cells.len()).map(|cell| edge(cell, -1.0)).fold(f64::INFINITY, f64::min);
    let bottom = (0..cells.cells.len()).map(|cell| edge(cell, 1.0)).fold(f64::NEG_INFINITY, f64::max);
    let level = |cell: usize| middles[cell] - top;
    let corner = |(node, size): (usize, &Size)| Point {
        x: grid.lefts[cells.cells[node].layer],
        y: level(node) - size.height / 2.0,
    };
    let mut labels: Vec<(Point, f64)> = Vec::new();
    let mut routes = Vec::with_capacity(links.len());
    for ((link, arc), path) in links.iter().zip(arcs).zip(&cells.paths) {
        let Some((left, _)) = *arc else {
            let layer = cells.cells[link.from].layer;
            let right = grid.lefts[layer] + grid.widths[layer];
            let half = sizes.get(link.from).map_or(0.0, |size| size.height) / 2.0;
            let out = Point { x: right, y: level(link.from) - half / 2.0 };
            let back = Point { x: right - 22.0, y: level(link.from) - half };
            routes.push(Route { levels: vec![(out, out), (back, back)], label: None, is_own: true });
            continue;
        };
        let is_backwards = left != link.from;
        let last = path.len().saturating_sub(1);
        // A line that runs backwards begins and ends on the side that it comes from, beside those that run forwards.
        let shift = |at: usize, cell: usize| {
            let beside = if at == 0 { path.get(1) } else { path.get(last.saturating_sub(1)) };
            match beside {
                _ if !is_backwards || (at != 0 && at != last) => 0.0,
                Some(&lane) if last > 1 && middles[lane] < middles[cell] => -BACKWARDS,
                _ => BACKWARDS,
            }
        };
        let place = |(at, &cell): (usize, &usize)| {
            let layer = cells.cells[cell].layer;
            let y = level(cell) + shift(at, cell);
            let (start, end) = (grid.lefts[layer], grid.lefts[layer] + grid.widths[layer]);
            let (start, end) = (if at == 0 { end } else { start }, if at == last { start } else { end });
            (Point { x: start, y }, Point { x: end, y })
        };
        let mut levels: Vec<(Point, Point)> = path.iter().enumerate().map(place).collect();
        let label = label_place(link, path, &levels, &mut labels);
        if is_backwards {
            levels = levels.into_iter().rev().map(|(start, end)| (end, start)).collect();
        }
        routes.push(Route { levels, label, is_own: false });
    }
    Layout {
        width: grid.width,
        height: (bottom - top).max(LANE),
        corners: sizes.iter().enumerate().map(corner).collect(),
        widths: (0..sizes.len()).map(|node| grid.widths[cells.cells[node].layer]).collect(),
        routes,
    }
}

/// In the middle of the gap, or a little above or below, where no other label is.
fn label_place(link: &Link, path: &[usize], levels: &[(Point, Point)], taken: &mut Vec<(Point, f64)>) -> Option<Point> {
    let step = path.len().checked_sub(2)? / 2;
    let (start, end) = (levels.get(step)?.1, levels.get(step + 1)?.0);
    if link.label <= 0.0 {
        return None;
    }
    let middle = Point { x: (start.x + end.x) / 2.0, y: (start.y + end.y) / 2.0 };
    let is_free = |at: &Point| {
        taken.iter().all(|(other, width)| {
            (other.x - at.x).abs() >= (width + link.label) / 2.0 || (other.y - at.y).abs() >= LABEL
        })
    };
    let place = [0.0, -1.0, 1.0, -2.0, 2.0].into_iter().map(|by| Point { y: middle.y + by * LABEL, ..middle });
    let place = place.into_iter().find(|at| is_free(at))?;
    taken.push((place, link.label));
    Some(place)
}
