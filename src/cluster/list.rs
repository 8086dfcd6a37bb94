//! Whole kinds at once, page by page.

use super::discovery::{Served, resource};
use super::{Trouble, Watched};
use kube::api::ListParams;
use kube::{Api, Client};
use sluicegate_core::object::{Kind, Reference};

/// How many objects a page holds.
const PAGE: u32 = 250;

/// A kind that could not be listed.
#[derive(Debug, thiserror::Error)]
#[error("cannot list {}: {trouble}", .kind.resource())]
pub struct NotListed {
    /// The kind.
    pub kind: Kind,
    /// What the API server answered.
    pub trouble: Trouble,
}

/// The objects of a kind with their judged fields as JSON, of one namespace or of all, and of those the ones that a label
/// selector matches. In the order of the API server.
///
/// # Errors
/// What the API server answered instead.
pub async fn list(
    client: &Client,
    (kind, version): (Kind, &str),
    namespace: Option<&str>,
    selector: Option<&str>,
) -> Result<Vec<(Reference, Box<[u8]>)>, NotListed> {
    let resource = resource(kind, version);
    let api: Api<Watched> = match namespace.filter(|_| kind.row().namespaced) {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    };
    let mut page = ListParams::default().limit(PAGE);
    page.label_selector = selector.map(ToOwned::to_owned);
    let mut found = Vec::new();
    loop {
        let list = api.list(&page).await.map_err(|error| NotListed { kind, trouble: Trouble::of(&error) })?;
        found.extend(list.items.into_iter().map(|object| {
            let (namespace, name) = object.names();
            (Reference::new(kind, namespace, name), object.json)
        }));
        match list.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => page = page.continue_token(&token),
            None => return Ok(found),
        }
    }
}

/// As [`list`], for every kind that the cluster has, in the order of kinds.
///
/// # Errors
/// Of the first kind that cannot be listed.
pub async fn list_all(
    client: &Client,
    kinds: &Served,
    namespace: Option<&str>,
) -> Result<Vec<(Reference, Box<[u8]>)>, NotListed> {
    let mut found = Vec::new();
    for (kind, version) in kinds {
        found.extend(list(client, (*kind, version), namespace, None).await?);
    }
    Ok(found)
}
