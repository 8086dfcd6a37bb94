//! Reads of single objects, past every cache.

use super::Trouble;
use http::Request;
use kube::Client;
use sluicegate_core::gate::Fetched;
use sluicegate_core::object::{Kind, Reference};

/// The path of an object; `None` for one that cannot exist, whose name must not become a part of a URL.
#[must_use]
pub fn path(object: &Reference, version: &str) -> Option<String> {
    if !object.can_exist() {
        return None;
    }
    let row = object.kind.row();
    let namespace = if row.namespaced { format!("namespaces/{}/", object.namespace) } else { String::new() };
    Some(format!("/apis/{}/{version}/{namespace}{}/{}", row.group, row.plural, object.name))
}

/// Reads an object as it is now.
///
/// # Errors
/// What the API server answered instead, or that it did not.
pub async fn get(client: &Client, object: &Reference, version: &str) -> Result<Vec<u8>, Trouble> {
    let Some(path) = path(object, version) else { return Err(Trouble::Absent) };
    let request = Request::get(path).body(Vec::new()).map_err(|error| Trouble::Invalid(error.to_string()))?;
    let text = client.request_text(request).await.map_err(|error| Trouble::of(&error))?;
    Ok(text.into_bytes())
}

/// The answer to a read, for a decision.
#[must_use]
pub fn fetched(answer: Result<Vec<u8>, Trouble>) -> Fetched {
    match answer {
        Ok(json) => Fetched::Found(json),
        Err(Trouble::Absent) => Fetched::Absent,
        Err(Trouble::Forbidden(_)) => Fetched::Forbidden,
        Err(Trouble::Conflict) => Fetched::Failed("conflict".into()),
        Err(Trouble::Refused(text) | Trouble::Invalid(text) | Trouble::Transient(text)) => Fetched::Failed(text.into()),
    }
}

/// The version that a kind is read with where the cluster did not say.
#[must_use]
pub fn default_version(kind: Kind) -> &'static str {
    kind.row().versions.first().copied().unwrap_or("v1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(Kind::Kustomization, "ns", "a", Some("/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/ns/kustomizations/a"))]
    #[case(Kind::Package, "", "a", Some("/apis/cozystack.io/v1alpha1/packages/a"))]
    #[case(Kind::Kustomization, "ns", "../../secrets", None)]
    #[case(Kind::Kustomization, "", "a", None)]
    fn paths(#[case] kind: Kind, #[case] namespace: &str, #[case] name: &str, #[case] expected: Option<&str>) {
        let reference = Reference::new(kind, namespace, name);
        assert_eq!(path(&reference, default_version(kind)).as_deref(), expected);
    }
}
