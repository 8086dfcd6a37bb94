//! Flux objects, read tolerantly.

pub(crate) mod fields;
mod inventory;
mod kind;
mod locate;
mod manifest;
mod owner;
mod read;
mod reference;
mod seen;
mod slots;

pub use inventory::{GeneratedEntry, Inventory, parse_id};
pub use kind::{KINDS, Kind, KindRow, Switch};
pub use manifest::{
    Annotations, Artifact, Chart, ChartTemplate, Condition, Dependency, HistoryEntry, Labels, Manifest, Metadata,
    ObjectRef, Spec, Status, Stored, Verify,
};
pub use owner::{Applied, Owner, Owners};
pub use read::{Object, Unreadable};
pub use reference::Reference;
pub use seen::{Part, Seen, Text, plain};
pub use slots::{Place, Step, keep};
