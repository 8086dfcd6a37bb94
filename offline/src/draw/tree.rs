//! For a terminal.

use super::model::{Drawing, Edge, Node, NodeId, State};
use super::words::state_and_why;
use std::fmt::Write as _;

/// The characters of the branches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charset {
    /// Box-drawing ones.
    #[default]
    Unicode,
    /// Those that every terminal has.
    Ascii,
}

/// How a tree is written.
#[derive(Clone, Debug, Default)]
pub struct TreeOptions {
    /// The characters of the branches.
    pub charset: Charset,
    /// Whether states and loops are painted, by escape sequences of terminals.
    pub colour: bool,
    /// What the trees start from; if empty, what nothing else needs, and one member of each loop that nothing else leads
    /// to.
    pub roots: Vec<NodeId>,
}

/// How deep a tree goes before it goes on in one of its own: text that is indented further is not read.
const DEPTH: usize = 24;

/// The picture as trees: below each object what it needs, with the fields that say so. Each object is taken apart once, and told of once why it stands as it does:
/// where it comes again, "(shown above)" stands for what is below it, or "(loop)" where it is one of those it stands
/// below.
#[must_use]
pub fn tree(drawing: &Drawing, options: &TreeOptions) -> String {
    let mut writer = Writer::new(drawing, options);
    let roots = if options.roots.is_empty() { roots(drawing) } else { options.roots.clone() };
    for root in roots {
        writer.write(root);
    }
    while let Some(root) = writer.further.pop() {
        writer.write(root);
    }
    writer.text
}

/// What nothing else needs; then, in order, the first of what none of these leads to.
fn roots(drawing: &Drawing) -> Vec<NodeId> {
    let count = drawing.nodes().len();
    let mut is_needed = vec![false; count];
    let mut needs: Vec<Vec<usize>> = vec![Vec::new(); count];
    for edge in drawing.edges().iter().filter(|edge| edge.from != edge.to) {
        if let Some(needed) = is_needed.get_mut(edge.to.0) {
            *needed = true;
        }
        if let Some(needs) = needs.get_mut(edge.from.0) {
            needs.push(edge.to.0);
        }
    }
    let mut reached = vec![false; count];
    let mut roots = Vec::new();
    let free = is_needed.iter().enumerate().filter(|(_, needed)| !**needed).map(|(id, _)| id);
    let on_loops = drawing.nodes().iter().enumerate().filter(|(_, node)| node.tangle.is_some()).map(|(id, _)| id);
    for root in free.chain(on_loops).chain(0..count) {
        if reached.get(root).copied().unwrap_or(true) {
            continue;
        }
        roots.push(NodeId(root));
        let mut ahead = vec![root];
        while let Some(id) = ahead.pop() {
            if let Some(reached) = reached.get_mut(id).filter(|reached| !**reached) {
                *reached = true;
                ahead.extend(needs.get(id).into_iter().flatten());
            }
        }
    }
    roots
}

struct Writer<'a> {
    drawing: &'a Drawing,
    options: &'a TreeOptions,
    /// The edges of each node.
    needs: Vec<Vec<&'a Edge>>,
    seen: Vec<bool>,
    /// Whether a line has said how the node stands.
    said: Vec<bool>,
    /// Whether the node stands above the line that is being written.
    open: Vec<bool>,
    further: Vec<NodeId>,
    text: String,
}

/// A node whose needs are being written.
struct Level<'a> {
    node: NodeId,
    left: std::vec::IntoIter<&'a Edge>,
}

impl<'a> Writer<'a> {
    fn new(drawing: &'a Drawing, options: &'a TreeOptions) -> Self {
        let count = drawing.nodes().len();
        let mut needs: Vec<Vec<&Edge>> = vec![Vec::new(); count];
        for edge in drawing.edges() {
            if let Some(needs) = needs.get_mut(edge.from.0) {
                needs.push(edge);
            }
        }
        let not = vec![false; count];
        let (seen, said, open) = (not.clone(), not.clone(), not);
        Self { drawing, options, needs, seen, said, open, further: Vec::new(), text: String::new() }
    }

    fn write(&mut self, root: NodeId) {
        if is_set(&self.seen, root) {
            return;
        }
        let Some(node) = self.drawing.node(root) else { return };
        self.line("", root, node, None, "");
        let mut levels = vec![self.enter(root)];
        // What stands before a line, for each level that is open.
        let mut indent: Vec<&str> = Vec::new();
        let (branch, last_branch, pass, last_pass) = match self.options.charset {
            Charset::Unicode => ("├── ", "└── ", "│   ", "    "),
            Charset::Ascii => ("|-- ", "`-- ", "|   ", "    "),
        };
        while let Some(level) = levels.last_mut() {
            let Some(edge) = level.left.next() else {
                set(&mut self.open, level.node, false);
                levels.pop();
                indent.pop();
                continue;
            };
            let is_last = level.left.as_slice().is_empty();
            let mut prefix: String = indent.concat();
            prefix.push_str(if is_last { last_branch } else { branch });
            let Some(node) = self.drawing.node(edge.to) else { continue };
            let has_needs = self.needs.get(edge.to.0).is_some_and(|needs| !needs.is_empty());
            let goes_on = has_needs && !is_set(&self.seen, edge.to);
            let remark = match () {
                () if is_set(&self.open, edge.to) => " (loop)",
                () if goes_on && levels.len() >= DEPTH => " (continued below)",
                () if has_needs && !goes_on => " (shown above)",
                () => "",
            };
            self.line(&prefix, edge.to, node, Some(edge), remark);
            if !goes_on {
                continue;
            }
            if levels.len() >= DEPTH {
                self.further.push(edge.to);
                continue;
            }
            indent.push(if is_last { last_pass } else { pass });
            levels.push(self.enter(edge.to));
        }
    }

    fn enter(&mut self, node: NodeId) -> Level<'a> {
        set(&mut self.seen, node, true);
        set(&mut self.open, node, true);
        let left = self.needs.get(node.0).cloned().unwrap_or_default().into_iter();
        Level { node, left }
    }

    fn line(&mut self, prefix: &str, id: NodeId, node: &Node, edge: Option<&Edge>, remark: &str) {
        let state = match is_set(&self.said, id) {
            true => node.look.state.word().to_owned(),
            false => state_and_why(node),
        };
        set(&mut self.said, id, true);
        let state = self.painted(paint(node.look.state), &state);
        let is_loop = edge.map_or(node.tangle.is_some(), |edge| edge.tangle.is_some());
        let object = node.object.to_string();
        let object = if is_loop { self.painted("1;31", &object) } else { object };
        let fields = edge.map(|edge| format!(" ({})", edge.fields())).unwrap_or_default();
        let remark = if is_loop && !remark.is_empty() { self.painted("1;31", remark) } else { remark.to_owned() };
        let _ = writeln!(self.text, "{prefix}{object}{fields}  {state}{remark}");
    }

    fn painted(&self, code: &str, text: &str) -> String {
        if self.options.colour && !code.is_empty() { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

const fn paint(state: State) -> &'static str {
    match state {
        State::Settled => "32",
        State::Waiting => "33",
        State::Suspended | State::Held => "36",
        State::Failed => "31",
        State::Absent => "35",
        State::Unknown => "2",
    }
}

fn is_set(flags: &[bool], id: NodeId) -> bool {
    flags.get(id.0).copied().unwrap_or_default()
}

fn set(flags: &mut [bool], id: NodeId, value: bool) {
    if let Some(flag) = flags.get_mut(id.0) {
        *flag = value;
    }
}
