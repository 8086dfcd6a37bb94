//! Where boxes and lines go: a layered layout, after Sugiyama, for wide flat boxes.
//!
//! What is needed stands to the right of what needs it. So that the picture stays readable with hundreds of objects:
//!
//! - columns are bounded in height, as if each step of a roll-out could take so many objects and no more;
//! - long lines that lead to, or come from, the same object share a *lane* between the boxes, so that a source that all
//!   need costs one lane and not a hundred; lines of loops have lanes of their own;
//! - parts that nothing joins are laid out one by one and packed.
//!
//! A line that closes a loop runs backwards. No clock and no chance: the same input gives the same layout. Where lanes
//! would become too many, long lines go straight.

mod cells;
mod columns;
mod layers;
mod order;
mod pack;
mod place;
mod table;
mod turn;

use table::Table;

/// The width and the height of a box, in pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub width: f64,
    pub height: f64,
}

/// A line to draw.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub from: usize,
    pub to: usize,
    /// It shares its lane with no other.
    pub alone: bool,
    /// If one line of a loop has to run backwards, this one.
    pub backwards: bool,
    /// The width of its label; zero for none.
    pub label: f64,
}

/// A point, in pixels from the upper left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub x: f64,
    pub y: f64,
}

/// How a line runs: level from the first point of each pair to the second, and curved from pair to pair.
#[derive(Clone, Debug, Default)]
pub(super) struct Route {
    pub levels: Vec<(Point, Point)>,
    /// The middle of its label, if there was room.
    pub label: Option<Point>,
    /// It begins and ends at the same box.
    pub is_own: bool,
}

/// The upper left corners of the boxes, how wide they may become (as wide as their column), and the lines, as they came.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    pub width: f64,
    pub height: f64,
    pub corners: Vec<Point>,
    pub widths: Vec<f64>,
    pub routes: Vec<Route>,
}

/// The least distance between two boxes of a column.
const ROW_GAP: f64 = 12.0;
/// The height of a lane.
const LANE: f64 = 6.0;
/// The least distance between two columns.
const COLUMN_GAP: f64 = 58.0;
/// Above a box that has a line to itself.
const OWN_LINE: f64 = 20.0;

/// Lays out boxes and lines. Links name boxes by their place.
pub(super) fn layout(sizes: &[Size], links: &[Link]) -> Layout {
    let parts = parts(sizes.len(), links);
    let mut boxes: Vec<Size> = Vec::new();
    let mut laid: Vec<Layout> = Vec::new();
    for part in &parts {
        let sizes: Vec<Size> = part.nodes.iter().filter_map(|&node| sizes.get(node).copied()).collect();
        let one = columns::arrange(&sizes, &part.links);
        boxes.push(Size { width: one.width, height: one.height });
        laid.push(one);
    }
    let (corners, whole) = pack::pack(&boxes);
    let mut layout = Layout {
        width: whole.width,
        height: whole.height,
        corners: vec![Point { x: 0.0, y: 0.0 }; sizes.len()],
        widths: vec![0.0; sizes.len()],
        routes: vec![Route::default(); links.len()],
    };
    for ((part, one), corner) in parts.iter().zip(laid).zip(corners) {
        let moved = |point: Point| Point { x: point.x + corner.x, y: point.y + corner.y };
        for ((&node, point), width) in part.nodes.iter().zip(one.corners).zip(one.widths) {
            if let (Some(corner), Some(place)) = (layout.corners.get_mut(node), layout.widths.get_mut(node)) {
                (*corner, *place) = (moved(point), width);
            }
        }
        for (&number, mut route) in part.numbers.iter().zip(one.routes) {
            route.levels = route.levels.into_iter().map(|(start, end)| (moved(start), moved(end))).collect();
            route.label = route.label.map(moved);
            if let Some(place) = layout.routes.get_mut(number) {
                *place = route;
            }
        }
    }
    layout
}

/// Boxes that lines join, numbered anew.
struct Part {
    nodes: Vec<usize>,
    links: Vec<Link>,
    /// What number each link had.
    numbers: Vec<usize>,
}

/// The parts of a graph, in the order of their first boxes.
fn parts(count: usize, links: &[Link]) -> Vec<Part> {
    let mut parent: Table<usize> = (0..count).collect();
    for link in links {
        let (a, b) = (root(&mut parent, link.from), root(&mut parent, link.to));
        // The lower number, so that the order of links does not matter.
        parent[a.max(b)] = a.min(b);
    }
    let mut of: Table<usize> = Table::new(count, 0);
    let mut place: Table<usize> = Table::new(count, 0);
    let mut parts: Vec<Part> = Vec::new();
    for node in 0..count {
        let root = root(&mut parent, node);
        if root == node {
            of[node] = parts.len();
            parts.push(Part { nodes: Vec::new(), links: Vec::new(), numbers: Vec::new() });
        } else {
            of[node] = of[root];
        }
        if let Some(part) = parts.get_mut(of[node]) {
            place[node] = part.nodes.len();
            part.nodes.push(node);
        }
    }
    for (number, link) in links.iter().enumerate() {
        if let Some(part) = parts.get_mut(of[link.from]) {
            part.links.push(Link { from: place[link.from], to: place[link.to], ..*link });
            part.numbers.push(number);
        }
    }
    parts
}

fn root(parent: &mut Table<usize>, mut node: usize) -> usize {
    while parent[node] != node {
        parent[node] = parent[parent[node]];
        node = parent[node];
    }
    node
}

#[cfg(test)]
mod tests;
