//! From text to documents.

use super::{ALIASED, DEPTH, Entry, Node, Value};
use granit_parser::{Event, Marker, Options, Parser, ScalarStyle, ScanError, Span};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Maps up to this size are searched for double keys one by one.
const SMALL: usize = 16;
/// After so many broken documents the rest of a file is left alone.
const PATIENCE: usize = 20;

/// A place that cannot be read, and why: a sentence without the text that stands there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The line, from 1.
    pub line: u32,
    /// Why, to stand after the place and a colon.
    pub why: String,
}

/// The documents of a text in order, and what is broken in it. One that is broken is left out, and those after it are
/// read all the same, as far as its end can be made out. Empty documents are left out, too.
///
/// A key that is given twice is told of, and the last one counts, as in Go's library before it was strict.
#[must_use]
pub fn documents(text: &str) -> (Vec<Node<'_>>, Vec<Broken>) {
    let mut options = Options::default();
    options.flow_nesting_limit = DEPTH;
    options.block_nesting_limit = DEPTH;
    let mut parser = Parser::new_from_str_with_options(text, options);
    let mut found = Vec::new();
    let mut broken = Vec::new();
    let mut builder = Builder::default();
    loop {
        let result = match parser.next_event() {
            None => break,
            Some(Ok((Event::StreamEnd, _))) => break,
            Some(Ok((event, span))) => builder.take(event, &span),
            Some(Err(error)) => Err(of_scan(&error)),
        };
        match result {
            Ok(None) => {}
            Ok(Some(document)) => {
                broken.append(&mut builder.doubles);
                if !document.is_null() {
                    found.push(document);
                }
            }
            Err(trouble) => {
                broken.append(&mut builder.doubles);
                broken.push(trouble);
                builder = Builder::default();
                if broken.len() >= PATIENCE || !matches!(parser.proceed_next_document(), Ok(true)) {
                    break;
                }
            }
        }
    }
    (found, broken)
}

fn of_scan(error: &ScanError) -> Broken {
    let what = error.to_string();
    // The crate adds the place in its own form; ours stands in front.
    let what = what.split(" at char ").next().unwrap_or(&what).split(" at byte ").next().unwrap_or(&what).to_owned();
    Broken { line: line(error.marker()), why: format!("this is no YAML: {what}") }
}

fn line(marker: &Marker) -> u32 {
    u32::try_from(marker.line()).unwrap_or(u32::MAX)
}

/// A collection that is not complete yet.
struct Open<'t> {
    node: Node<'t>,
    anchor: usize,
    /// The key that waits for its value.
    key: Option<(Cow<'t, str>, u32)>,
    keys: HashSet<Cow<'t, str>>,
    merges: Vec<Node<'t>>,
}

#[derive(Default)]
struct Builder<'t> {
    open: Vec<Open<'t>>,
    anchors: HashMap<usize, (Node<'t>, usize)>,
    aliased: usize,
    doubles: Vec<Broken>,
    root: Option<Node<'t>>,
}

impl<'t> Builder<'t> {
    /// Takes an event; gives a document when it is complete.
    fn take(&mut self, event: Event<'t>, span: &Span) -> Result<Option<Node<'t>>, Broken> {
        let line = line(&span.start);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain && tag.is_none_or(|tag| tag.core_suffix() != Some("str"));
                self.put(Node { value: Value::Scalar { text, plain }, line }, anchor)?;
            }
            Event::Alias(id) => {
                let Some((node, size)) = self.anchors.get(&id) else {
                    return Err(Broken { line, why: "this is no YAML: an alias within its own anchor".to_owned() });
                };
                self.aliased += size;
                if self.aliased > ALIASED {
                    let why = format!("aliases that expand to more than {ALIASED} values are not followed");
                    return Err(Broken { line, why });
                }
                let node = Node { line, ..node.clone() };
                self.put(node, 0)?;
            }
            Event::SequenceStart(_, anchor, _) => self.start(Value::Sequence(Vec::new()), line, anchor),
            Event::MappingStart(_, anchor, _) => self.start(Value::Mapping(Vec::new()), line, anchor),
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(mut open) = self.open.pop() {
                    merge(&mut open);
                    self.put(open.node, open.anchor)?;
                }
            }
            Event::DocumentEnd => {
                self.anchors.clear();
                self.aliased = 0;
                return Ok(self.root.take());
            }
            _ => {}
        }
        Ok(None)
    }

    fn start(&mut self, value: Value<'t>, line: u32, anchor: usize) {
        let node = Node { value, line };
        self.open.push(Open { node, anchor, key: None, keys: HashSet::new(), merges: Vec::new() });
    }

    fn put(&mut self, node: Node<'t>, anchor: usize) -> Result<(), Broken> {
        if anchor != 0 {
            let size = size(&node);
            self.anchors.insert(anchor, (node.clone(), size));
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match &mut open.node.value {
            Value::Sequence(items) => items.push(node),
            Value::Mapping(entries) => match open.key.take() {
                None => match node.value {
                    Value::Scalar { text, .. } => open.key = Some((text, node.line)),
                    _ => return Err(Broken { line: node.line, why: "a key is not text".to_owned() }),
                },
                Some((key, _)) if key == "<<" => open.merges.push(node),
                Some((key, line)) => {
                    let is_double = match entries.len() {
                        0..=SMALL => entries.iter().any(|entry| entry.key == key),
                        _ => {
                            if open.keys.is_empty() {
                                open.keys.extend(entries.iter().map(|entry| entry.key.clone()));
                            }
                            !open.keys.insert(key.clone())
                        }
                    };
                    if is_double {
                        let shown = sluicegate_core::text::clean(&key, 60);
                        self.doubles.push(Broken { line, why: format!("key {shown} is given twice") });
                        entries.retain(|entry| entry.key != key);
                    }
                    entries.push(Entry { key, line, value: node });
                }
            },
            Value::Scalar { .. } => {}
        }
        Ok(())
    }
}

/// Fills in what `<<` names and the object does not say itself; of several, the first that says it.
fn merge(open: &mut Open<'_>) {
    let Value::Mapping(entries) = &mut open.node.value else { return };
    for merged in open.merges.drain(..) {
        let parts = match merged.value {
            Value::Sequence(items) => items,
            _ => vec![merged],
        };
        for entry in parts.into_iter().filter_map(|part| match part.value {
            Value::Mapping(entries) => Some(entries),
            _ => None,
        }) {
            for entry in entry {
                if entries.iter().all(|own| own.key != entry.key) {
                    entries.push(entry);
                }
            }
        }
    }
}

/// How many nodes there are. The depth is bounded, but a tree is walked without recursion all the same.
fn size(node: &Node<'_>) -> usize {
    let mut count = 0;
    let mut ahead = vec![node];
    while let Some(node) = ahead.pop() {
        count += 1;
        ahead.extend(node.items());
        ahead.extend(node.entries().iter().map(|entry| &entry.value));
    }
    count
}
