//! Every decision of Sluicegate.
//!
//! No I/O, no async, no clock: what is read comes in as values, `now` is an argument, and what should be said or
//! written goes out as data.

pub mod chain;
pub mod expression;
pub mod gate;
pub mod graph;
pub mod intent;
pub mod need;
pub mod object;
mod ordered;
pub mod publish;
pub mod recovery;
pub mod release;
pub mod rollout;
pub mod settled;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod text;
