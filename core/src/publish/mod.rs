//! How it is made visible that an object is held: a condition in its status, Events, and what is found among all held
//! objects.

mod condition;
mod loops;
mod notice;

pub use condition::{HELD_REASON, hold, is_published, unhold};
pub use loops::{Roots, held_loops, root_of};
pub use notice::{Notice, Topic};
