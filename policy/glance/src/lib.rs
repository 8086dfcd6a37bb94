//! The policy's first look at a request: most of them change nothing that is judged, and are admitted as they stand.
//!
//! A package of its own, since it is built for speed while the rest of the policy is built for size: every write to a
//! Flux object comes through here.

mod place;

use place::{Found, PAYLOAD};
use sluicegate_core::gate::{Asker, COMPANION, Operation, is_quiet};
use sluicegate_core::object::{Kind, Reference, keep};

/// The answer to a request that can be admitted as it stands, without a closer look; `None` for every other one.
///
/// The payload is that of `validate`, `{"request": …, "settings": …}`. What cannot be read is for the closer look, and so
/// is what nobody sends: a part of the request that is null, a name with escapes.
#[must_use]
pub fn admitted(payload: &[u8]) -> Option<Vec<u8>> {
    let mut found = Found::default();
    keep(payload, PAYLOAD, &mut found)?;
    let kind = Kind::find(found.group(), found.kind())?;
    if !is_quiet_request(kind, &found)? {
        return None;
    }
    let itself = Reference::new(kind, found.namespace(), found.name());
    // A name that Kubernetes accepts needs no escapes.
    itself.can_exist().then(|| answer(&itself))
}

fn is_quiet_request(kind: Kind, found: &Found<'_>) -> Option<bool> {
    if found.sub_resource().is_some_and(|it| it != b"\"\"") {
        return None;
    }
    let operation = Operation::named(found.operation())?;
    let [new, old] = &found.objects;
    // Every stored object has an API version.
    let old = Some(old).filter(|old| !old.api_version().is_empty());
    let asker = if found.user()? == found.companion(COMPANION)? { Asker::Companion } else { Asker::Person };
    Some(is_quiet(asker, kind, operation, new, old))
}

/// The path is written as [`Reference`] displays it, without looking at each character once more.
fn answer(itself: &Reference) -> Vec<u8> {
    let start = r#"{"accepted":true,"audit_annotations":{"rule":"admitted","path":""#;
    let slash = if itself.namespace.is_empty() { "" } else { "/" };
    let kind = itself.kind.row().name;
    [start, kind, slash, &itself.namespace, "/", &itself.name, r#""}}"#].concat().into_bytes()
}
