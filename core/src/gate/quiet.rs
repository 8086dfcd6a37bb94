//! The hot path: most requests change nothing that a decision reads.

use super::{Asker, Operation};
use crate::object::{Annotations, Kind, Labels, Seen, SeenMetadata, Text};

/// Whether a request can be admitted as it stands, without a closer look: it changes nothing that a need, the switch
/// or a mark is read from, or the object is being deleted.
///
/// False is no verdict: it only says that the gate must look. A quiet request is one that the gate would admit without
/// a read, a warning or a change, but for the warning that a field cannot be read where that field is unchanged; a
/// property test holds the two together.
#[must_use]
pub fn is_quiet(asker: Asker, kind: Kind, operation: Operation, new: &Seen<'_>, old: Option<&Seen<'_>>) -> bool {
    if new.metadata.as_ref().is_some_and(|metadata| metadata.deletion_timestamp.is_some()) {
        return true;
    }
    let (Operation::Update, Some(old), false) = (operation, old, asker == Asker::Companion) else { return false };
    // Status is not compared: the API server drops changes of it on the main resource.
    new.spec == old.spec && same_metadata(new.metadata.as_ref(), old.metadata.as_ref()) && kind_of_version(kind, new)
}

/// Labels that name owners and the annotations that are switches must be the same, and no mark may be about.
fn same_metadata(new: Option<&SeenMetadata<'_>>, old: Option<&SeenMetadata<'_>>) -> bool {
    let (a, b) = (annotations(new), annotations(old));
    labels(new) == labels(old) && switches(a) == switches(b) && is_unmarked(a) && is_unmarked(b)
}

fn labels<'a>(metadata: Option<&SeenMetadata<'a>>) -> Labels<Text<'a>> {
    metadata.and_then(|metadata| metadata.labels.clone()).unwrap_or_default()
}

fn switches<'a>(annotations: Option<&'a Annotations<Text<'_>>>) -> [Option<&'a str>; 2] {
    let Some(annotations) = annotations else { return [None, None] };
    [&annotations.generator_reconcile, &annotations.resourceset_reconcile].map(|text| text.as_ref().map(AsRef::as_ref))
}

fn is_unmarked(annotations: Option<&Annotations<Text<'_>>>) -> bool {
    annotations.is_none_or(|annotations| annotations.held.is_none())
}

fn annotations<'a, 'b>(metadata: Option<&'a SeenMetadata<'b>>) -> Option<&'a Annotations<Text<'b>>> {
    metadata.and_then(|metadata| metadata.annotations.as_ref())
}

/// An object in a version that is not read gets a warning, so it is not quiet.
fn kind_of_version(kind: Kind, object: &Seen<'_>) -> bool {
    let Some(version) = object.api_version.as_ref().map(AsRef::as_ref) else { return true };
    let row = kind.row();
    version.strip_prefix(row.group).and_then(|rest| rest.strip_prefix('/')).is_some_and(|v| row.versions.contains(&v))
}
