//! Package and PackageSource, as cozystack's operator defines ready.

use super::{Blocker, Judge};
use crate::need::Reason;

/// The variant that a Package uses when it names none.
const DEFAULT_VARIANT: &str = "default";

/// The row of PackageSource: it copies Ready from its generator and stamps its own generation on it, so the copy may be
/// stale. The generator is an input, and must be settled itself.
pub(crate) fn package_source(judge: &mut Judge<'_>) {
    judge.any_without_request();
    judge.ready_at_generation();
}

/// The row of Package. Its conditions carry no generation. Ready True means that its HelmReleases were written, which
/// needs every Package that its variant depends on to be recorded as ready.
pub(crate) fn package(judge: &mut Judge<'_>) {
    judge.any_without_request();
    judge.ready();
    let Some(source) = judge.input(|reason| reason == Reason::SameName) else { return };
    let wanted = judge.object.spec.variant.as_deref().filter(|name| !name.is_empty()).unwrap_or(DEFAULT_VARIANT);
    let mut variants = source.spec.variants.iter().flatten();
    let Some(variant) = variants.find(|variant| variant.name.as_deref() == Some(wanted)) else {
        judge.push(Blocker::VariantMissing { variant: wanted.into() });
        return;
    };
    let ignored = judge.object.spec.ignore_dependencies.as_deref().unwrap_or_default();
    for name in variant.depends_on.iter().flatten().filter(|name| !ignored.contains(name)) {
        let recorded = judge.object.status.dependencies.as_ref().and_then(|dependencies| dependencies.get(name));
        if !recorded.and_then(|dependency| dependency.ready).unwrap_or(false) {
            judge.push(Blocker::PackageNotReady { name: name.clone() });
        }
    }
}
