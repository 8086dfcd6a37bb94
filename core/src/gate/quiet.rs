//! The hot path: most requests change nothing that a decision reads.

use super::{Asker, Operation};
use crate::object::{Kind, Seen};

/// Whether a request can be admitted as it stands, without a closer look: it changes nothing that a need, the switch
/// or a mark is read from, or the object is being deleted.
///
/// False is no verdict: it only says that the gate must look. A quiet request is one that the gate would admit without
/// a read, a warning or a change, but for the warning that a field cannot be read where that field is unchanged; a
/// property test holds the two together.
#[must_use]
pub fn is_quiet(asker: Asker, kind: Kind, operation: Operation, new: &Seen<'_>, old: Option<&Seen<'_>>) -> bool {
    if new.is_deleting() {
        return true;
    }
    let (Operation::Update, Some(old), false) = (operation, old, asker == Asker::Companion) else { return false };
    // Status is not compared: the API server drops changes of it on the main resource.
    new.is_judged_like(old) && !new.is_marked() && !old.is_marked() && is_read(kind, new.api_version())
}

/// An object in a version that is not read gets a warning, so it is not quiet.
fn is_read(kind: Kind, api_version: &str) -> bool {
    let row = kind.row();
    let version = api_version.strip_prefix(row.group).and_then(|rest| rest.strip_prefix('/'));
    version.is_some_and(|version| row.versions.contains(&version))
}
