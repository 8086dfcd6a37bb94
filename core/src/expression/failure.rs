//! Why an expression has no answer.

use cel::ExecutionError;
use cel::common::types::{Kind, Type};

/// The longest text quoted from the parser or the evaluator, in characters.
const MAX_WORDS: usize = 200;
/// The longest name quoted within it.
const MAX_NAME: usize = 64;

/// Why an expression has no answer. Data only; the sentences are made by [`crate::text`].
///
/// The texts inside are bounded, but quote the expression (and map keys of the objects): they need
/// [cleaning](crate::text::clean).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It is longer than 1,024 bytes; not even parsed.
    TooLong {
        /// How long it is.
        bytes: usize,
    },
    /// It is nested over 32 levels, or is one chain of operators or selections too long to evaluate on a small stack;
    /// or the part of the object it looks at is nested over 128 levels.
    TooDeep,
    /// Its estimated cost (time, memory, or the nesting of the values it builds) is over the limit.
    TooCostly,
    /// It does not parse, or uses a name that nothing declares: position (where known) and reason, in the parser's
    /// words.
    Invalid(String),
    /// Its result is of this type instead of `bool`. `dyn` where Flux, which checks types before it evaluates, could
    /// not tell the type: such a result has to be compared (`… == true`).
    NotBoolean {
        /// The CEL name of the type.
        kind: &'static str,
    },
    /// It failed while it was evaluated, like a field that is not there.
    Evaluation(String),
}

impl Failure {
    pub(super) fn invalid(words: impl Into<String>) -> Self {
        Self::Invalid(cut(words.into(), MAX_WORDS))
    }

    pub(super) fn evaluation(words: impl Into<String>) -> Self {
        Self::Evaluation(cut(words.into(), MAX_WORDS))
    }

    /// The evaluator's own texts show values in Debug form, and whole: only types and names are kept.
    pub(super) fn of(error: &ExecutionError) -> Self {
        let named = |what: &str, name: &str| format!("{what}: {}", cut(name.to_owned(), MAX_NAME));
        Self::evaluation(match error {
            ExecutionError::NoSuchKey(key) => named("no such key", key),
            ExecutionError::UndeclaredReference(name) => named("undeclared reference", name),
            ExecutionError::NoSuchOverload(overload) => format!(
                "no such overload: {}({})",
                cut(overload.function().to_owned(), MAX_NAME),
                overload.argument_types().join(", "),
            ),
            ExecutionError::UnexpectedType { got, want } => {
                format!("no such overload: {} instead of {}", cut(got.clone(), MAX_NAME), cut(want.clone(), MAX_NAME))
            }
            ExecutionError::InvalidArgumentCount { .. }
            | ExecutionError::UnsupportedTargetType { .. }
            | ExecutionError::NotSupportedAsMethod { .. }
            | ExecutionError::UnsupportedKeyType(_)
            | ExecutionError::ValuesNotComparable(..)
            | ExecutionError::UnsupportedBinaryOperator(..)
            | ExecutionError::UnsupportedIndex(..) => "no such overload".to_owned(),
            // The message may quote the argument.
            ExecutionError::FunctionError { function, .. } => named("function failed", function),
            ExecutionError::DivisionByZero(_) => "division by zero".to_owned(),
            ExecutionError::RemainderByZero(_) => "modulus by zero".to_owned(),
            ExecutionError::Overflow(..) => "integer overflow".to_owned(),
            ExecutionError::IndexOutOfBounds(_) => "index out of bounds".to_owned(),
            ExecutionError::DuplicateKey(_) => "repeated key".to_owned(),
            _ => "evaluation failed".to_owned(),
        })
    }
}

/// The CEL name of a type.
pub(super) fn kind_name(t: &Type) -> &'static str {
    match t.kind() {
        Kind::Boolean => "bool",
        Kind::Bytes => "bytes",
        Kind::Double => "double",
        Kind::Duration => "duration",
        Kind::Int => "int",
        Kind::List => "list",
        Kind::Map => "map",
        Kind::NullType => "null",
        Kind::Opaque => "optional",
        Kind::String => "string",
        Kind::Timestamp => "timestamp",
        Kind::Type => "type",
        Kind::UInt => "uint",
        _ => "dyn",
    }
}

/// The first `limit` characters, with an ellipsis if there were more.
fn cut(mut text: String, limit: usize) -> String {
    if let Some((at, _)) = text.char_indices().nth(limit) {
        text.truncate(at);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn cuts_at_characters() {
        assert_eq!(cut("äöü".to_owned(), 2), "äö…");
        assert_eq!(cut("äöü".to_owned(), 3), "äöü");
    }
}
