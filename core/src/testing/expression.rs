//! Expressions that are long, or deep.

/// `first`, then `link` so often that it just fits into 1,024 bytes, then `last`.
#[must_use]
pub fn longest(first: &str, link: &str, last: &str) -> String {
    format!("{first}{}{last}", link.repeat((1024 - first.len() - last.len()) / link.len()))
}

/// `open` and `close` around `middle`, `levels` deep.
#[must_use]
pub fn nested(levels: usize, open: &str, middle: &str, close: &str) -> String {
    format!("{}{middle}{}", open.repeat(levels), close.repeat(levels))
}

/// Loops in each other: `range.call(a, range.call(b, …))`.
#[must_use]
pub fn loops(range: &str, call: &str, levels: usize, body: &str) -> String {
    let names = "abcdefghijklmnopqrstuvwxyz".chars().take(levels);
    let open: String = names.map(|name| format!("{range}.{call}({name}, ")).collect();
    format!("{open}{body}{}", ")".repeat(levels))
}
