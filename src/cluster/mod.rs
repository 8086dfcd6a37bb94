//! The Kubernetes API, as far as the companion uses it: watches into compact stores, fresh reads, the Lease.

pub mod access;
mod compact;
pub mod discovery;
mod error;
pub mod follow;
pub mod lease;
pub mod list;
pub mod read;
mod store;
pub mod watch;
mod watched;

pub use error::Trouble;
pub use store::{Change, Known, Store};
pub use watched::Watched;
