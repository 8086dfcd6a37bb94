//! The same as JSON.

use super::scalar::{Scalar, resolve};
use super::{Node, Value};
use std::io::Write;

/// Writes a node as JSON. `keep` tells of each key of the outermost object whether it is wanted.
pub fn to_json(node: &Node<'_>, keep: impl Fn(&str) -> bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    match &node.value {
        Value::Mapping(entries) => {
            out.push(b'{');
            let mut first = true;
            for entry in entries.iter().filter(|entry| keep(&entry.key)) {
                if !std::mem::take(&mut first) {
                    out.push(b',');
                }
                string(&mut out, &entry.key);
                out.push(b':');
                write(&mut out, &entry.value);
            }
            out.push(b'}');
        }
        _ => write(&mut out, node),
    }
    out
}

/// Recursion is as deep as the document, which is bounded.
fn write(out: &mut Vec<u8>, node: &Node<'_>) {
    match &node.value {
        Value::Scalar { text, plain } => match resolve(text, *plain) {
            Scalar::Null => out.extend_from_slice(b"null"),
            Scalar::Bool(true) => out.extend_from_slice(b"true"),
            Scalar::Bool(false) => out.extend_from_slice(b"false"),
            // Writing to a vector cannot fail.
            Scalar::Integer(number) => drop(write!(out, "{number}")),
            Scalar::Unsigned(number) => drop(write!(out, "{number}")),
            Scalar::Float(number) => drop(serde_json::to_writer(out, &number)),
            Scalar::Text => string(out, text),
        },
        Value::Sequence(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write(out, item);
            }
            out.push(b']');
        }
        Value::Mapping(entries) => {
            out.push(b'{');
            for (index, entry) in entries.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                string(out, &entry.key);
                out.push(b':');
                write(out, &entry.value);
            }
            out.push(b'}');
        }
    }
}

fn string(out: &mut Vec<u8>, text: &str) {
    if text.bytes().all(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\') {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        drop(serde_json::to_writer(out, text));
    }
}

/// The node as a value that can be changed.
#[must_use]
pub fn to_value(node: &Node<'_>) -> serde_json::Value {
    serde_json::from_slice(&to_json(node, |_| true)).unwrap_or_default()
}
