//! Sentences about `readyExpr`.

use super::clean;
use crate::expression::Failure;

/// Why an expression has no answer, as a clause that follows the name of its field.
#[must_use]
pub fn expression_failure(failure: &Failure) -> String {
    match failure {
        Failure::TooLong { bytes } => format!("it is too long, {bytes} bytes of at most 1024, and was not evaluated"),
        Failure::TooDeep => "it, or the object it reads, is nested too deep, and was not evaluated".to_owned(),
        Failure::TooCostly => "it is too costly, and was not evaluated".to_owned(),
        Failure::Invalid(words) => format!("it does not compile: {}", clean(words, 160)),
        Failure::NotBoolean { kind } => format!("its result is not a boolean but {kind}"),
        Failure::Evaluation(words) => format!("it fails: {}", clean(words, 160)),
    }
}
