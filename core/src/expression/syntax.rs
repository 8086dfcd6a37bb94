//! From text to a tree, within bounds.

use super::{Failure, rewrite, walk};
use cel::IdedExpr;
use cel::parser::{ParseErrors, PrattParser};

/// The longest text that is parsed, in bytes.
const MAX_BYTES: usize = 1024;
/// How deep parentheses, arguments, indexes, lists and maps may nest.
const MAX_NESTING: u16 = 32;
/// How many nodes the tree may have when a macro expands.
const MAX_NODES: usize = 1000;
/// How deep the tree may be, after macros are expanded. The evaluator recurses once a level: chains such as
/// `a + b + c + …` or `a[0][0]…` nest to the left without a single parenthesis.
const MAX_DEPTH: usize = 100;

/// Parses `text` and expands what the parser does not.
///
/// Only the Pratt parser: `Program::compile` and `Env::compile` link the ANTLR one, which is 400 KB and slower. It is
/// a hidden part of cel 0.15.0, hence the exact pin.
pub(super) fn parse(text: &str) -> Result<IdedExpr, Failure> {
    if text.len() > MAX_BYTES {
        return Err(Failure::TooLong { bytes: text.len() });
    }
    let mut tree = PrattParser::new()
        .max_recursion_depth(MAX_NESTING)
        .max_expression_node_count(MAX_NODES)
        .enable_optional_syntax(true)
        .parse(text)
        .map_err(|errors| refusal(&errors))?;
    within_depth(&tree)?;
    rewrite::expand(&mut tree)?;
    within_depth(&tree)?;
    Ok(tree)
}

fn within_depth(tree: &IdedExpr) -> Result<(), Failure> {
    if walk::depth(tree) > MAX_DEPTH { Err(Failure::TooDeep) } else { Ok(()) }
}

/// The parser goes on after an error: its first limit, else its first error, is what counts.
fn refusal(errors: &ParseErrors) -> Failure {
    let says = |start: &str| errors.errors.iter().any(|error| error.msg.starts_with(start));
    if says("expression recursion limit exceeded") {
        return Failure::TooDeep;
    }
    if says("expression count exceeds limit") {
        return Failure::TooCostly;
    }
    match errors.errors.first() {
        Some(error) if error.pos.0 > 0 => Failure::invalid(format!("{}:{}: {}", error.pos.0, error.pos.1, error.msg)),
        Some(error) => Failure::invalid(error.msg.as_str()),
        None => Failure::invalid(""),
    }
}
