//! The whole graph of needs: its loops, the shortest of each, the one need to remove, and who suffers behind them.
//!
//! For those who see every object: the offline checker and the companion. Admission sees only the cone of one object
//! and has a walk of its own.
//!
//! # What counts
//! Two objects are joined at most once, however many fields of the one name the other: a loop through a duplicate is one
//! loop. A need that asks only that its target exists ([`Demand::Exists`](crate::need::Demand::Exists)) never waits for
//! it to become ready, so it is kept and can be asked for, but closes no loop and nothing waits behind it ([`Need::binds`](crate::need::Need::binds)).
//!
//! # Order
//! Every result is the same for every order in which the objects came: lists stand in the stable order of
//! [`Reference`](crate::object::Reference), and each choice between equals is made by it.
//!
//! # Size
//! Nothing here recurses, so a chain may be as long as memory allows. Everything is linear in objects and needs, but for
//! a factor log n where objects are looked up, and the search for the shortest loop, which is bounded
//! ([`LoopReport::proven`]).

mod component;
mod cut;
mod dense;
mod report;
mod shortest;
mod silence;
mod store;

pub use report::{Cut, Loop, LoopReport, Step};
pub use silence::Silenced;
pub use store::Graph;

#[cfg(test)]
mod tests;
