//! The picture itself.

mod card;
mod legend;
mod measure;
mod write;

use super::layout::{Layout, Link, Point, Route, layout};
use super::model::{Drawing, Edge};
use super::words::counts;
use card::{Card, card};
use measure::width;
use std::fmt::Write as _;
use write::{escaped, number};

/// How many objects a picture holds at most.
pub const LARGEST: usize = 2_000;

/// The style sheet of a picture: for a page whose content security policy forbids style sheets inside of it.
pub const STYLE: &str = include_str!("style.css");

/// Where the style sheet is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Styling {
    /// In the picture: a file that stands for itself.
    #[default]
    Inside,
    /// Outside ([`STYLE`]): the picture is a part of a page, which can be clicked on and walked through by keyboard.
    Outside,
}

/// Around everything.
const MARGIN: f64 = 24.0;
/// The height of the title.
const HEAD: f64 = 40.0;

/// The picture as SVG: what is needed on the right of what needs it, loops thick and in front of all other lines,
/// suspended objects hatched, each state with a sign of its own, light or dark as the reader's screen is.
///
/// Each object is a group `#n3` with `data-node="3"`, each edge a group `#e7` with `data-edge="7"`: the numbers of
/// [`NodeId`](super::NodeId) and [`EdgeId`](super::EdgeId). Of more than [`LARGEST`] objects the picture shows those on
/// loops, then the first ones, and says how many it leaves out; numbers are then those of the picture.
#[must_use]
pub fn svg(drawing: &Drawing, styling: Styling) -> String {
    let (drawing, left_out) = drawing.bounded(LARGEST);
    let drawing = &*drawing;
    let cards: Vec<Card> = drawing.nodes().iter().map(card).collect();
    let sizes: Vec<_> = cards.iter().map(|card| card.size).collect();
    let links: Vec<Link> = drawing.edges().iter().map(link).collect();
    let laid = layout(&sizes, &links);
    let shift = Point { x: MARGIN, y: MARGIN + HEAD };

    let mut body = String::new();
    edges(&mut body, drawing, &laid, shift, styling);
    for (id, ((card, corner), width)) in cards.iter().zip(&laid.corners).zip(&laid.widths).enumerate() {
        card.write(&mut body, id, Point { x: corner.x + shift.x, y: corner.y + shift.y }, *width, styling);
    }
    labels(&mut body, drawing, &laid, shift);
    let mut title = format!("{} ", counts(drawing));
    title.truncate(title.trim_end().len());
    if left_out > 0 {
        let _ = write!(title, " ({left_out} more objects are left out)");
    }
    let (foot, foot_size) = legend::foot(drawing, MARGIN, shift.y + laid.height + MARGIN);
    let whole_width = (laid.width.max(foot_size.width).max(width(&title, 15.0)) + MARGIN * 2.0).ceil();
    let height = (shift.y + laid.height + MARGIN + foot_size.height + MARGIN).ceil();

    let mut out = String::with_capacity(body.len() + foot.len() + STYLE.len() + 1_024);
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"sluicegate\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"Needs graph: {2}\">\n<title>Needs graph: {2}</title>\n",
        number(whole_width),
        number(height),
        escaped(&title)
    );
    if styling == Styling::Inside {
        let _ = write!(out, "<style>\n{STYLE}</style>\n");
    }
    out.push_str(concat!(
        "<defs><pattern id=\"sg-hatch\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><path class=\"hatch\" d=\"M0 0V7\"/></pattern>",
        "<marker id=\"sg-tip\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"8\" markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"tip\" d=\"M0 0.8 10 5 0 9.2 2.4 5z\"/></marker>",
        "<marker id=\"sg-loop\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"13\" markerHeight=\"13\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"looping-tip\" d=\"M0 0.5 10 5 0 9.5 2.4 5z\"/></marker></defs>\n",
    ));
    let _ = writeln!(
        out,
        "<rect class=\"paper\" width=\"{}\" height=\"{}\" rx=\"8\"/>",
        number(whole_width),
        number(height)
    );
    let _ =
        writeln!(out, "<text class=\"head\" x=\"{0}\" y=\"{1}\">{2}</text>", MARGIN, MARGIN + 14.0, escaped(&title));
    out.push_str(&body);
    out.push_str(&foot);
    out.push_str("</svg>\n");
    out
}

fn link(edge: &Edge) -> Link {
    let label = if edge.on_shortest && edge.from != edge.to { width(&edge.fields(), 11.0) + 6.0 } else { 0.0 };
    Link { from: edge.from.0, to: edge.to.0, alone: edge.on_shortest, backwards: edge.is_cut, label }
}

/// Lines of loops last, in front of the others.
fn edges(out: &mut String, drawing: &Drawing, laid: &Layout, shift: Point, styling: Styling) {
    let mut order: Vec<(usize, &Edge)> = drawing.edges().iter().enumerate().collect();
    order.sort_by_key(|(id, edge)| (edge.tangle.is_some(), edge.on_shortest, *id));
    for (id, edge) in order {
        let Some(route) = laid.routes.get(id) else { continue };
        let named = |id: super::NodeId| drawing.node(id).map(|node| node.object.to_string()).unwrap_or_default();
        let remark = if edge.tangle.is_some() { ", closes a loop" } else { "" };
        let text = format!("{} needs {} ({}{remark})", named(edge.from), named(edge.to), edge.fields());
        let mut class = String::from("edge");
        for (is_so, word) in
            [(edge.is_output(), " output"), (edge.tangle.is_some(), " looping"), (edge.on_shortest, " shortest")]
        {
            class.push_str(if is_so { word } else { "" });
        }
        let tip = if edge.tangle.is_some() { "sg-loop" } else { "sg-tip" };
        let path = path(route, shift);
        let _ = write!(out, "<g id=\"e{id}\" class=\"{class}\" data-edge=\"{id}\"");
        if styling == Styling::Outside {
            let _ = write!(out, " tabindex=\"0\" role=\"button\" aria-label=\"{}\"", escaped(&text));
        }
        let _ = write!(out, "><title>{}</title>", escaped(&text));
        if styling == Styling::Outside {
            let _ = write!(out, "<path class=\"hit\" d=\"{path}\"/>");
        }
        let _ = writeln!(out, "<path class=\"line\" d=\"{path}\" marker-end=\"url(#{tip})\"/></g>");
    }
}

fn labels(out: &mut String, drawing: &Drawing, laid: &Layout, shift: Point) {
    for (edge, route) in drawing.edges().iter().zip(&laid.routes) {
        let Some(at) = route.label else { continue };
        let (x, y) = (number(at.x + shift.x), number(at.y + shift.y - 5.0));
        let fields = edge.fields();
        let fields = escaped(&fields);
        let _ = writeln!(out, "<text class=\"label\" x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{fields}</text>");
    }
}

/// Level in the columns, curved between them.
fn path(route: &Route, shift: Point) -> String {
    let mut text = String::new();
    let shown = |point: &Point| format!("{} {}", number(point.x + shift.x), number(point.y + shift.y));
    let mut last: Option<Point> = None;
    for (start, end) in &route.levels {
        match last {
            None => {
                let _ = write!(text, "M{}", shown(start));
            }
            Some(from) if route.is_own => {
                let (out, back) = (Point { x: from.x + 30.0, y: from.y }, Point { x: start.x, y: start.y - 28.0 });
                let _ = write!(text, "C{} {} {}", shown(&out), shown(&back), shown(start));
            }
            Some(from) => {
                let middle = (from.x + start.x) / 2.0;
                let (out, back) = (Point { x: middle, y: from.y }, Point { x: middle, y: start.y });
                let _ = write!(text, "C{} {} {}", shown(&out), shown(&back), shown(start));
            }
        }
        if (end.x - start.x).abs() > 0.05 {
            let _ = write!(text, "H{}", number(end.x + shift.x));
        }
        last = Some(*end);
    }
    text
}
