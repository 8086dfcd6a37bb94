//! The description of the policy for [Artifact Hub](https://artifacthub.io), made from its metadata and the changelog.
//!
//! It has the keys that `kwctl scaffold artifacthub` writes, without the maker that it puts in, and beside them the changes
//! of the version, the digest of what was built, and the pictures of the README.

use std::collections::BTreeMap;

use serde::Serialize;
use thiserror::Error;

use crate::{ContextAwareResource, Metadata, Rule};

/// Whom to write to.
const MAINTAINER: (&str, &str) = ("Sluicegate maintainers", "maintainers@sluicegate.dev");

/// Kubewarden itself, which the policy needs.
const RECOMMENDED: &str = "https://artifacthub.io/packages/helm/kubewarden/kubewarden-controller";

const HEAD: &str = "\
# Kubewarden policy package for Artifact Hub: https://artifacthub.io/docs/topics/repositories/kubewarden-policies/
# Generated from policy/metadata.yml: make artifacthub-pkg.yml
";

/// Why there is no description.
#[derive(Debug, Error)]
pub enum ArtifactHubError {
    /// metadata.yml is no metadata.
    #[error("cannot read the metadata: {0}")]
    Metadata(#[source] yaml_serde::Error),
    /// An annotation that Artifact Hub needs is missing.
    #[error("the metadata has no annotation {0}")]
    Missing(&'static str),
    /// The time is out of range.
    #[error("{0} is no time")]
    Time(u32),
    /// It cannot be written down.
    #[error("cannot write the description: {0}")]
    Write(#[source] yaml_serde::Error),
}

/// `artifacthub-pkg.yml`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Package {
    version: String,
    name: String,
    display_name: String,
    created_at: String,
    description: String,
    license: String,
    #[serde(rename = "homeURL")]
    home_url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    containers_images: Vec<Image>,
    keywords: Vec<String>,
    links: Vec<Link>,
    install: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<Change>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    screenshots: Vec<Screenshot>,
    maintainers: Vec<Maintainer>,
    provider: Named,
    recommendations: Vec<Recommendation>,
    annotations: BTreeMap<&'static str, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Image {
    name: &'static str,
    image: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Link {
    name: &'static str,
    url: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Change {
    kind: &'static str,
    description: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Screenshot {
    title: String,
    url: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Maintainer {
    name: &'static str,
    email: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Named {
    name: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Recommendation {
    url: &'static str,
}

impl Package {
    /// Makes the description from `metadata.yml`, `CHANGELOG.md` and `README.md`.
    ///
    /// `digest` is that of the module that was built (`sha256:…`): with it, Artifact Hub notices a version that was built
    /// anew. `created` is in seconds since 1970. Changes are those of the version; what is under *Unreleased* is in no version.
    ///
    /// # Errors
    /// See [`ArtifactHubError`].
    pub fn new(
        metadata: &str,
        changelog: &str,
        readme: &str,
        digest: Option<String>,
        created: u32,
    ) -> Result<Self, ArtifactHubError> {
        let metadata: Metadata = yaml_serde::from_str(metadata).map_err(ArtifactHubError::Metadata)?;
        let annotations = metadata.annotations.unwrap_or_default();
        let get = |key: &'static str| annotations.get(key).cloned().ok_or(ArtifactHubError::Missing(key));
        let version = get("io.kubewarden.policy.version")?;
        let name = get("io.kubewarden.policy.title")?;
        let source = get("io.kubewarden.policy.source")?;
        let image = format!("{}:v{version}", get("io.kubewarden.policy.ociUrl")?);
        let created_at = chrono::DateTime::from_timestamp(i64::from(created), 0)
            .ok_or(ArtifactHubError::Time(created))?
            .format("%Y-%m-%dT%H:%M:%SZ")
            .to_string();
        let link = |name, url| Link { name, url };
        Ok(Self {
            display_name: get("io.artifacthub.displayName")?,
            created_at,
            description: get("io.kubewarden.policy.description")?,
            license: get("io.kubewarden.policy.license")?,
            home_url: get("io.kubewarden.policy.url")?,
            digest,
            containers_images: vec![Image { name: "policy", image: image.clone() }],
            keywords: get("io.artifacthub.keywords")?.split(',').map(|word| word.trim().to_owned()).collect(),
            links: vec![
                link("policy", format!("{source}/releases/download/v{version}/policy.wasm")),
                link("source", source.clone()),
            ],
            install: install(&image),
            changes: changes(changelog, &version),
            screenshots: screenshots(readme, &format!("{source}/raw/v{version}")),
            maintainers: vec![Maintainer { name: MAINTAINER.0, email: MAINTAINER.1 }],
            provider: Named { name: name.clone() },
            recommendations: vec![Recommendation { url: RECOMMENDED }],
            annotations: described(
                metadata.mutating,
                get("io.artifacthub.resources")?,
                metadata.context_aware_resources.iter().collect::<Vec<_>>().as_slice(),
                &metadata.rules,
            )?,
            version,
            name,
        })
    }

    /// The file.
    ///
    /// # Errors
    /// It cannot be written down.
    pub fn to_yaml(&self) -> Result<String, ArtifactHubError> {
        let body = yaml_serde::to_string(self).map_err(ArtifactHubError::Write)?;
        Ok(format!("{HEAD}{body}"))
    }
}

/// What Artifact Hub and Rancher read of a Kubewarden policy.
fn described(
    mutating: bool,
    resources: String,
    reads: &[&ContextAwareResource],
    rules: &[Rule],
) -> Result<BTreeMap<&'static str, String>, ArtifactHubError> {
    let mut annotations = BTreeMap::from([
        ("kubewarden/mutation", mutating.to_string()),
        ("kubewarden/resources", resources),
        ("kubewarden/rules", yaml_serde::to_string(rules).map_err(ArtifactHubError::Write)?),
    ]);
    if !reads.is_empty() {
        let reads = yaml_serde::to_string(reads).map_err(ArtifactHubError::Write)?;
        annotations.insert("kubewarden/contextAwareResources", reads);
    }
    Ok(annotations)
}

fn install(image: &str) -> String {
    format!(
        "\
The policy can be loaded into a PolicyServer with a ClusterAdmissionPolicy; the README holds a complete one, with the
rights that policy-server needs. It runs without a cluster as well:

```console
kwctl pull registry://{image}
kwctl run --allow-context-aware --request-path request.json registry://{image}
```
"
    )
}

/// The entries of a version in a changelog after *Keep a Changelog*, each as one line.
fn changes(changelog: &str, version: &str) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    let (mut inside, mut kind) = (false, None);
    for line in changelog.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            inside = heading.starts_with(&format!("[{version}]"));
        } else if !inside {
        } else if let Some(heading) = line.strip_prefix("### ") {
            kind = ["added", "changed", "deprecated", "removed", "fixed", "security"]
                .into_iter()
                .find(|kind| heading.trim().eq_ignore_ascii_case(kind));
        } else if let (Some(text), Some(kind)) = (line.strip_prefix("- "), kind) {
            changes.push(Change { kind, description: text.trim().to_owned() });
        } else if let (Some(last), Some(more)) = (changes.last_mut(), line.strip_prefix("  ")) {
            last.description.push(' ');
            last.description.push_str(more.trim());
        }
    }
    changes
}

/// The pictures of the README that stand in a line of their own, as their title and where the version has them.
fn screenshots(readme: &str, place: &str) -> Vec<Screenshot> {
    let picture = |line: &str| {
        let (title, path) = line.strip_prefix("![")?.strip_suffix(')')?.split_once("](")?;
        (!path.contains("://")).then(|| Screenshot { title: title.to_owned(), url: format!("{place}/{path}") })
    };
    readme.lines().filter_map(picture).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGELOG: &str = "\
# Changelog

## [Unreleased]

### Added

- Not yet.

## [1.2.0] - 2026-01-02

### Added

- One thing,
  in two lines.
- Another.

### Fixed

- A third.

## [1.1.0] - 2026-01-01

### Added

- Long ago.
";

    #[test]
    fn the_changes_are_those_of_the_version() {
        let change = |kind, description: &str| Change { kind, description: description.to_owned() };
        assert_eq!(
            changes(CHANGELOG, "1.2.0"),
            [change("added", "One thing, in two lines."), change("added", "Another."), change("fixed", "A third.")]
        );
        assert_eq!(changes(CHANGELOG, "1.3.0"), []);
    }

    #[test]
    fn the_pictures_are_those_of_the_version() {
        let readme = "text ![no](a.svg)\n![A picture](docs/a.svg)\n![elsewhere](https://b/c.svg)\n";
        let expected = Screenshot { title: "A picture".to_owned(), url: "https://s/raw/v1/docs/a.svg".to_owned() };
        assert_eq!(screenshots(readme, "https://s/raw/v1"), [expected]);
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = Package::new("rules: []\nmutating: true\n", "", "", None, 0).unwrap_err();
        assert_eq!(error.to_string(), "the metadata has no annotation io.kubewarden.policy.version");
    }
}
