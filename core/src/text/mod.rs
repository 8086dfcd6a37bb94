//! The one module that turns decisions into sentences.

mod blocker;
mod clean;
mod expression;
mod gate;

pub use clean::clean;
pub use expression::expression_failure;
pub use gate::{bypass_denied, mark_left, more, warning};
