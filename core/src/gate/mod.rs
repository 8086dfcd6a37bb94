//! Admission: who asks, what they would do, and what they get.
//!
//! The gate is a state machine without I/O. Its shell makes one with the request, and then asks it for the next
//! [`Step`] and hands back an [`Answer`] until the step is [`Step::Done`].

mod ask;
mod closing;
mod companion;
mod conclude;
pub(crate) mod cone;
mod finding;
mod lease;
mod machine;
mod mark;
mod mutation;
mod names;
mod probe;
mod quiet;
pub(crate) mod reached;
mod request;
mod settings;
pub(crate) mod store;
mod subject;
mod verdict;
mod walk;

pub use ask::{Answer, Fetched, Question, Read, Step};
pub use cone::{Blockage, Trouble};
pub use finding::{Finding, Judging, Unheld};
pub use machine::Gate;
pub use mark::{Cause, Mark, MarkNote, carried, is_vetoed, switch_is_applied};
pub use mutation::{HELD, Mutation, RESUME};
pub use names::Names;
pub use quiet::is_quiet;
pub use reached::{Unreached, is_past_apply};
pub use request::{Asker, Operation, Request};
pub use settings::{COMPANION, Disclose, Role, Settings, Severity};
pub use store::Unread;
pub use verdict::Verdict;
pub(crate) use walk::relays;
pub use walk::{Link, Loop};
