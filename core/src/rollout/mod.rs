//! The decision of `wait`: is the roll-out over, will it ever be, and what is to be done next?
//!
//! A state machine without I/O or clock. A shell keeps a [`World`](crate::chain::World) up to date, calls
//! [`Rollout::look`], reads what the [`Look`] wants, carries out its acts and reports back what it wrote. All members of
//! the chain must be settled at the same instant, own requests handled and own generations observed, before it ends well.
//!
//! # When it ends before its time
//! Only in a state that time alone cannot change, see [`Dead`]: and not while an object that applies the one in question is
//! still to apply it, since then it may become another one. So a missing object is waited for as long as the Kustomization
//! that may bring it is at work.

mod apply;
mod machine;
mod unit;
mod verdict;

pub use machine::{Act, Look, News, Options, Rollout};
pub use unit::{Phase, Span, Unit};
pub use verdict::{Dead, Verdict};

#[cfg(test)]
mod tests;
