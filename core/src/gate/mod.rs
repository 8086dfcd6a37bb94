//! Admission: who asks, what they would do, and what they get.
//!
//! The gate is a state machine without I/O. Its shell makes one with the request, and then asks it for the next
//! [`Step`] and hands back an [`Answer`] until the step is [`Step::Done`].

mod ask;
mod machine;
mod mutation;
mod quiet;
mod request;
mod settings;
mod verdict;

pub use ask::{Answer, Fetched, Question, Read, Step};
pub use machine::Gate;
pub use mutation::{HELD, Mutation, RESUME};
pub use quiet::is_quiet;
pub use request::{Asker, Operation, Request};
pub use settings::{Disclose, Role, Settings, Severity};
pub use verdict::Verdict;
