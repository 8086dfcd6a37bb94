//! The chain of what an object waits for: every object that needs lead to, inputs and outputs, with its state, up to the
//! root blockers.
//!
//! Sans-IO: a [`Cone`] says what is to be read next, a [`World`] takes the answers in whatever order they come, from a
//! cluster or from files, and [`judge`] tells what they mean so far. `wait` and `explain` are built on it. What *settled*
//! means is asked of [`crate::settled`]; nothing of it stands here.
//!
//! # Caveats
//! A need on a kind that is not judged blocks nothing. A loop is reported where it keeps its members from moving: a loop
//! of which every member is settled, or that waits for something outside, is not.

mod cone;
mod duration;
mod hint;
mod judge;
mod moment;
mod world;

pub use cone::Cone;
pub use duration::duration;
pub use hint::{Hint, hints};
pub use judge::{Asked, Judgement, Root, State, judge};
pub use moment::{Evidence, evidence};
pub use world::{Change, Found, Known, Suspender, World};

use crate::expression::Failure;
use crate::gate::Unread;
use crate::need::Reason;
use crate::object::Reference;
use crate::settled::Blocker;

/// What is wrong with one object of a chain.
#[derive(Clone, Debug, PartialEq)]
pub enum Trouble {
    /// A test of *settled* fails.
    Blocked(Blocker),
    /// It does not exist.
    Missing,
    /// Its kind does not exist.
    KindMissing,
    /// It does not show the expected revision.
    Unexpected {
        /// What is expected; hostile until cleaned.
        expected: Box<str>,
        /// What it shows.
        actual: Option<Box<str>>,
        /// The object of which it is expected.
        by: Reference,
    },
    /// The `readyExpr` of one of its needs says no, or cannot be evaluated.
    Expression {
        /// The need.
        reason: Reason,
        /// Of what.
        target: Reference,
        /// Why there is no answer; `None` where the answer is no.
        failure: Option<Failure>,
    },
    /// It could not be read.
    Unread(Unread),
}

#[cfg(test)]
mod tests;
