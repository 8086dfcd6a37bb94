//! Flux objects, read tolerantly.

mod inventory;
mod kind;
mod locate;
mod manifest;
mod owner;
mod read;
mod reference;

pub use inventory::{GeneratedEntry, Inventory, parse_id};
pub use kind::{KINDS, Kind, KindRow, Switch};
pub use manifest::{
    Annotations, Artifact, Chart, ChartTemplate, Condition, Dependency, HistoryEntry, Labels, Manifest, Metadata,
    ObjectRef, Seen, Spec, Status, Stored, Text, Verify,
};
pub use owner::{Applied, Owner, Owners};
pub use read::{Object, Unreadable};
pub use reference::Reference;
