//! Which of the judged kinds the cluster has, and with which version they are read.

use super::Trouble;
use kube::Client;
use kube::core::ApiResource;
use sluicegate_core::object::{KINDS, Kind};
use std::collections::{BTreeMap, BTreeSet};

/// The judged kinds that the cluster serves, each with the version to read it with: the first one of ours that is served.
pub type Served = BTreeMap<Kind, &'static str>;

/// Asks the cluster. A group that it does not have costs one request, and so does each version of ours until one is
/// served.
///
/// # Errors
/// Where the API server does not answer; that a group is absent is no error.
pub async fn served(client: &Client) -> Result<Served, Trouble> {
    let groups = client.list_api_groups().await.map_err(|error| Trouble::of(&error))?;
    let present: BTreeSet<String> = groups
        .groups
        .into_iter()
        .flat_map(|group| group.versions.into_iter().map(|version| version.group_version))
        .collect();
    let mut found = Served::new();
    let mut asked: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in &KINDS {
        for version in row.versions {
            let group_version = format!("{}/{version}", row.group);
            if !present.contains(&group_version) {
                continue;
            }
            if !asked.contains_key(&group_version) {
                let kinds = match client.list_api_group_resources(&group_version).await {
                    Ok(list) => list.resources.into_iter().map(|resource| resource.name).collect(),
                    Err(error) => match Trouble::of(&error) {
                        Trouble::Absent => Vec::new(),
                        trouble => return Err(trouble),
                    },
                };
                asked.insert(group_version.clone(), kinds);
            }
            if asked.get(&group_version).is_some_and(|plurals| plurals.iter().any(|plural| plural == row.plural)) {
                found.insert(row.kind, *version);
                break;
            }
        }
    }
    Ok(found)
}

/// What kube needs to know of a kind.
#[must_use]
pub fn resource(kind: Kind, version: &str) -> ApiResource {
    let row = kind.row();
    ApiResource {
        group: row.group.to_owned(),
        version: version.to_owned(),
        api_version: format!("{}/{version}", row.group),
        kind: row.name.to_owned(),
        plural: row.plural.to_owned(),
    }
}
