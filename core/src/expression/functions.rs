//! What each function and operator costs, and how large its result can be.

use super::library::{MAX_MATCH_STEPS, match_steps};
use super::shape::Bounds;
use cel::IdedExpr;
use cel::common::ast::{Expr, operators};

/// The longest a number is as text: `string(1e308)` has all its digits.
const NUMBER: u64 = 330;
/// The most one clause of `format` makes of a number: its digits and a precision of 100.
const CLAUSE: u64 = 512;
/// Bytes looked at in one step.
const BYTES_A_STEP: u64 = 16;

/// The result of a call and the steps it takes, its arguments not counted.
#[derive(Debug)]
pub(super) struct Cost {
    pub(super) result: Bounds,
    pub(super) steps: u64,
    /// Memory that is only taken during the call, in bytes.
    pub(super) scratch: u64,
}

/// Names that stand before functions, and the functions. cel takes `optional.of` for the function whatever `optional`
/// is.
const NAMESPACES: [(&str, &[&str]); 4] = [
    ("optional", &["of", "ofNonZeroValue", "none", "unwrap"]),
    ("sets", &["contains", "equivalent", "intersects"]),
    ("base64", &["encode", "decode"]),
    ("strings", &["quote"]),
];

const GLOBAL: [&str; 14] = [
    "bool",
    "bytes",
    "double",
    "duration",
    "dyn",
    "int",
    "matches",
    "size",
    "string",
    "timestamp",
    "type",
    "uint",
    operators::NOT_STRICTLY_FALSE,
    operators::IN,
];

const MEMBER: [&str; 34] = [
    "charAt",
    "contains",
    "endsWith",
    "first",
    "format",
    "getDate",
    "getDayOfMonth",
    "getDayOfWeek",
    "getDayOfYear",
    "getFullYear",
    "getHours",
    "getMilliseconds",
    "getMinutes",
    "getMonth",
    "getSeconds",
    "hasValue",
    "indexOf",
    "join",
    "last",
    "lastIndexOf",
    "lowerAscii",
    "matches",
    "or",
    "orValue",
    "replace",
    "reverse",
    "size",
    "split",
    "startsWith",
    "substring",
    "trim",
    "unwrapOpt",
    "upperAscii",
    "value",
];

/// The namespace that `target` is, if it is one and not a value.
pub(super) fn namespace(target: &IdedExpr) -> Option<&'static str> {
    let Expr::Ident(name) = &target.expr else {
        return None;
    };
    let name = name.trim_start_matches('.');
    NAMESPACES.iter().map(|(namespace, _)| *namespace).find(|namespace| *namespace == name)
}

/// Whether Flux's environment has the function: in a namespace, on a target, or by itself.
pub(super) fn is_declared(namespace: Option<&str>, member: bool, name: &str) -> bool {
    match namespace {
        Some(namespace) => NAMESPACES.iter().any(|(one, functions)| *one == namespace && functions.contains(&name)),
        None if member => MEMBER.contains(&name),
        // Operators are spelled with underscores around.
        None => GLOBAL.contains(&name) || (name.contains('_') && !name.starts_with(|c: char| c.is_ascii_alphabetic())),
    }
}

/// The CEL type of what a function or an operator returns, where it is always the same.
pub(super) fn result(name: &str) -> Option<&'static str> {
    Some(match name {
        operators::LOGICAL_AND
        | operators::LOGICAL_OR
        | operators::LOGICAL_NOT
        | operators::EQUALS
        | operators::NOT_EQUALS
        | operators::LESS
        | operators::LESS_EQUALS
        | operators::GREATER
        | operators::GREATER_EQUALS
        | operators::IN
        | operators::NOT_STRICTLY_FALSE
        | "bool"
        | "contains"
        | "startsWith"
        | "endsWith"
        | "matches"
        | "hasValue"
        | "equivalent"
        | "intersects" => "bool",
        "size" | "int" | "indexOf" | "lastIndexOf" | "getFullYear" => "int",
        "uint" => "uint",
        "double" => "double",
        "string" | "charAt" | "format" | "join" | "lowerAscii" | "upperAscii" | "replace" | "substring" | "trim"
        | "reverse" | "quote" | "encode" => "string",
        "bytes" | "decode" => "bytes",
        "duration" => "duration",
        "timestamp" => "timestamp",
        "type" => "type",
        "split" => "list",
        _ => return None,
    })
}

/// The cost of calling `name` with these arguments, the target first if it is a member.
///
/// An unknown function fails when it is called; that costs nothing.
pub(super) fn cost(name: &str, args: &[Bounds], literal: Option<&str>) -> Cost {
    let scalar = |steps: u64| Cost { result: Bounds::SCALAR, steps: steps.saturating_add(1), scratch: 0 };
    // What grows is copied to twice the room.
    let made = |result: Bounds, more: u64| Cost {
        result,
        steps: result.steps().saturating_add(more).saturating_add(1),
        scratch: result.size,
    };
    let all = || args.iter().fold(0_u64, |sum, arg| sum.saturating_add(arg.steps()));
    match (name, args) {
        (operators::LOGICAL_AND | operators::LOGICAL_OR, _) => scalar(0),
        // A number that is compared to something else copies it whole, into an error that is dropped.
        (operators::EQUALS | operators::NOT_EQUALS, _) => scalar(all()),
        (operators::IN, [value, range]) => {
            scalar(range.count.saturating_add(1).saturating_mul(value.steps()).saturating_add(range.steps()))
        }
        // Made to measure.
        (operators::ADD, [left, right]) => Cost { scratch: 0, ..made(left.then(*right), all()) },

        ("size", [value]) => scalar(value.bytes / BYTES_A_STEP),
        ("startsWith" | "endsWith", _) => scalar(bytes(args) / BYTES_A_STEP),
        // Of a string, or `sets.contains`: of strings there are no counts, of lists no bytes.
        ("contains" | "equivalent" | "intersects", [left, right]) => {
            let there = left.count.saturating_mul(right.steps());
            let back = right.count.saturating_mul(left.steps());
            scalar(there.saturating_add(back).saturating_mul(2).saturating_add(bytes(args) / BYTES_A_STEP))
        }
        ("indexOf" | "lastIndexOf", [text, part, ..]) => scalar(text.bytes.saturating_mul(part.bytes.max(4)) / 4),
        ("matches", [text, pattern]) => {
            let counts = literal.is_none_or(|pattern| pattern.contains('{'));
            let compile = pattern.bytes.saturating_mul(if counts { 64 } else { 1 });
            scalar(match_steps(text.bytes, pattern.bytes, counts).min(MAX_MATCH_STEPS).saturating_add(compile) / 8)
        }
        ("charAt", [text, ..]) => made(Bounds::text(4), text.bytes / BYTES_A_STEP),
        ("substring" | "trim" | "lowerAscii" | "upperAscii" | "reverse", [text, ..]) => {
            made(Bounds::text(text.bytes), text.bytes / BYTES_A_STEP)
        }
        ("quote", [text]) => made(Bounds::text(text.bytes.saturating_mul(2).saturating_add(2)), 0),
        ("encode" | "decode", [text]) => {
            made(Bounds::text((text.bytes / 2).saturating_add(text.bytes).saturating_add(4)), 0)
        }
        // Nothing replaced by something: before every character and at the end.
        ("replace", [text, _, by, ..]) => {
            let most = text.bytes.saturating_add(1).saturating_mul(by.bytes).saturating_add(text.bytes);
            made(Bounds::text(most), text.bytes)
        }
        ("split", [text, ..]) => {
            let pieces = text.bytes.saturating_add(1);
            let mut list = Bounds::list(pieces, Bounds::text(0));
            list.size = list.size.saturating_add(text.bytes);
            list.inner_bytes = text.bytes;
            list.inner_size = list.inner_size.saturating_add(text.bytes);
            made(list, 0)
        }
        ("join", [list, separator @ ..]) => {
            let between = separator.first().map_or(0, |separator| separator.bytes);
            made(Bounds::text(list.size.saturating_add(list.count.saturating_mul(between))), list.steps())
        }
        // `%x` doubles, `%s` writes lists and maps out.
        ("format", [text, list]) => {
            let numbers = text.bytes.saturating_add(list.size / 64).saturating_mul(CLAUSE);
            made(Bounds::text(list.size.saturating_mul(8).saturating_add(numbers)), 0)
        }
        ("string" | "bytes", [value]) => made(Bounds::text(value.bytes.max(NUMBER)), 0),
        ("type", [_]) => made(Bounds::text(64), 0),
        ("dyn", [value]) => Cost { result: *value, ..scalar(0) },

        ("of" | "ofNonZeroValue", [value]) => made(*value, 0),
        ("value", [optional]) => Cost { result: *optional, ..scalar(optional.steps()) },
        ("or" | "orValue", [optional, other]) => made(optional.or(*other), 0),
        ("first" | "last", [list]) => made(list.item(), 0),
        ("unwrap" | "unwrapOpt", [list]) => made(*list, 0),
        // The other operators and conversions: an argument of the wrong type is copied into the error.
        _ => scalar(all()),
    }
}

fn bytes(args: &[Bounds]) -> u64 {
    args.iter().fold(0, |sum, arg| sum.saturating_add(arg.bytes))
}
