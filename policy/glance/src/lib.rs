//! The policy's first look at a request: most of them change nothing that is judged, and are admitted as they stand.
//!
//! A package of its own, since it is built for speed while the rest of the policy is built for size: every write to a
//! Flux object comes through here.

mod place;

use place::{Found, PAYLOAD};
use sluicegate_core::gate::{Asker, Operation, is_quiet};
use sluicegate_core::object::{Kind, Reference, keep};

/// The default of the setting `companion`.
pub const COMPANION: &str = "system:serviceaccount:sluicegate-system:sluicegate";

/// The answer to a request that can be admitted as it stands, without a closer look; `None` for every other one.
///
/// The payload is that of `validate`, `{"request": …, "settings": …}`. What cannot be read is for the closer look, and so
/// is what nobody sends: a part of the request that is null, a name with escapes.
#[must_use]
pub fn admitted(payload: &[u8]) -> Option<Vec<u8>> {
    let mut found = Found::default();
    keep(payload, PAYLOAD, &mut found)?;
    is_quiet_request(&found)?.then(|| answer(&found))?
}

fn is_quiet_request(found: &Found<'_>) -> Option<bool> {
    if found.sub_resource().is_some_and(|it| it != b"\"\"") {
        return None;
    }
    let operation = match found.operation() {
        "CREATE" => Operation::Create,
        "UPDATE" => Operation::Update,
        _ => return None,
    };
    let [new, old] = &found.objects;
    // Every stored object has an API version.
    let old = Some(old).filter(|old| !old.api_version().is_empty());
    let asker = if found.user()? == found.companion(COMPANION)? { Asker::Companion } else { Asker::Person };
    Some(is_quiet(asker, kind(found)?, operation, new, old))
}

fn kind(found: &Found<'_>) -> Option<Kind> {
    Kind::find(found.group(), found.kind())
}

fn answer(found: &Found<'_>) -> Option<Vec<u8>> {
    let itself = Reference::new(kind(found)?, found.namespace(), found.name());
    // A name that Kubernetes accepts needs no escapes.
    itself.can_exist().then(|| {
        let start = r#"{"accepted":true,"audit_annotations":{"rule":"admitted","path":""#;
        let slash = if itself.namespace.is_empty() { "" } else { "/" };
        [start, found.kind(), slash, &itself.namespace, "/", &itself.name, r#""}}"#].concat().into_bytes()
    })
}
