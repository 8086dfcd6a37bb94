//! Flux objects, read tolerantly.

mod kind;
mod reference;

pub use kind::{KINDS, Kind, KindRow, Switch};
pub use reference::Reference;
