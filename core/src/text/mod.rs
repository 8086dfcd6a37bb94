//! The one module that turns decisions into sentences.

mod clean;

pub use clean::clean;
