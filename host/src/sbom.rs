//! Bills of materials: what is linked into an artifact, as SPDX 2.3.
//!
//! The crates are those that `cargo tree` selects for one package and target, with the features that this very build has;
//! what only helps to build (build scripts, procedural macros) is not in the artifact and not listed. The digests are those
//! of `Cargo.lock`. The same inputs always give the same document.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The format that `cargo tree` is to be asked for, with the depth as prefix.
pub const TREE_FORMAT: &str = "|{p}|{l}|{r}";

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";
const NONE: &str = "NOASSERTION";
const ROOT: &str = "SPDXRef-DOCUMENT";

/// Why there is no document.
#[derive(Debug, Error)]
pub enum SbomError {
    /// `Cargo.lock` or `rust-toolchain.toml` is not what it should be.
    #[error("cannot read {0}: {1}")]
    Toml(&'static str, #[source] toml::de::Error),
    /// `cargo tree` printed something else.
    #[error("cannot read this line of cargo tree: {0:?}")]
    Tree(String),
    /// The tree does not begin with the package.
    #[error("cargo tree does not begin with {0}")]
    Root(String),
    /// A crate of the registry without a digest.
    #[error("Cargo.lock has no checksum for {0} {1}")]
    Checksum(String, String),
    /// The time is out of range.
    #[error("{0} is no time")]
    Time(u32),
}

/// What the document is about.
#[derive(Debug, Clone)]
pub struct Subject<'a> {
    /// The package that is built
    pub package: &'a str,
    /// What it is built for
    pub target: &'a str,
    /// Name and digest (`sha256:…`) of what was built
    pub artifact: Option<(String, String)>,
    /// Seconds since 1970
    pub created: u32,
}

/// An SPDX document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Document {
    spdx_version: String,
    data_license: String,
    #[serde(rename = "SPDXID")]
    id: String,
    name: String,
    document_namespace: String,
    creation_info: CreationInfo,
    packages: Vec<Package>,
    relationships: Vec<Relationship>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CreationInfo {
    created: String,
    creators: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Package {
    name: String,
    #[serde(rename = "SPDXID")]
    id: String,
    version_info: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    package_file_name: Option<String>,
    download_location: String,
    files_analyzed: bool,
    license_concluded: String,
    license_declared: String,
    copyright_text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    checksums: Vec<Checksum>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    external_refs: Vec<ExternalRef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    primary_package_purpose: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Checksum {
    algorithm: String,
    checksum_value: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ExternalRef {
    reference_category: String,
    reference_type: String,
    reference_locator: String,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Relationship {
    spdx_element_id: String,
    relationship_type: String,
    related_spdx_element: String,
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    source: Option<String>,
    checksum: Option<String>,
}

#[derive(Deserialize)]
struct Toolchain {
    toolchain: Channel,
}

#[derive(Deserialize)]
struct Channel {
    channel: String,
}

impl Document {
    /// Makes the document from what `cargo tree` prints and what `Cargo.lock` and `rust-toolchain.toml` hold.
    ///
    /// # Errors
    /// One of the three is not what it should be.
    pub fn new(subject: &Subject<'_>, tree: &str, lock: &str, toolchain: &str) -> Result<Self, SbomError> {
        let lock: Lock = toml::from_str(lock).map_err(|error| SbomError::Toml("Cargo.lock", error))?;
        let toolchain: Toolchain =
            toml::from_str(toolchain).map_err(|error| SbomError::Toml("rust-toolchain.toml", error))?;
        let locked: BTreeMap<_, _> =
            lock.package.iter().map(|package| ((package.name.as_str(), package.version.as_str()), package)).collect();
        let created = chrono::DateTime::from_timestamp(i64::from(subject.created), 0)
            .ok_or(SbomError::Time(subject.created))?
            .format("%Y-%m-%dT%H:%M:%SZ")
            .to_string();

        let mut packages: BTreeMap<String, Package> = BTreeMap::new();
        let mut relationships = BTreeSet::new();
        let mut relate = |from: &str, kind: &str, to: &str| {
            relationships.insert(Relationship {
                spdx_element_id: from.to_owned(),
                relationship_type: kind.to_owned(),
                related_spdx_element: to.to_owned(),
            });
        };
        // The way from the root to the line before.
        let mut way: Vec<String> = Vec::new();
        let mut root = None;
        for line in tree.lines().filter(|line| !line.is_empty()) {
            let Line { depth, name, version, license, repository } = Line::parse(line)?;
            let id = format!("SPDXRef-Package-{}", identifier(&format!("{name}-{version}")));
            way.truncate(depth);
            match way.last() {
                Some(user) => relate(user, "DEPENDS_ON", &id),
                None if name == subject.package && root.is_none() => root = Some((id.clone(), version.to_owned())),
                None => return Err(SbomError::Root(subject.package.to_owned())),
            }
            way.push(id.clone());
            if packages.contains_key(&id) {
                continue;
            }
            let package =
                Package::of(name, version, license, repository, id.clone(), locked.get(&(name, version)).copied())?;
            packages.insert(id, package);
        }
        let (root, version) = root.ok_or_else(|| SbomError::Root(subject.package.to_owned()))?;
        relate(ROOT, "DESCRIBES", &root);
        if let Some(package) = packages.get_mut(&root) {
            package.primary_package_purpose = Some("APPLICATION".to_owned());
            if let Some((name, digest)) = &subject.artifact {
                package.package_file_name = Some(name.clone());
                package.checksums = vec![Checksum::sha256(digest)];
            }
        }
        let std = Package::standard_library(&toolchain.toolchain.channel);
        relate(&root, "DEPENDS_ON", &std.id);
        packages.insert(std.id.clone(), std);

        let name = format!("{}-{version}-{}", subject.package, subject.target);
        let unique = subject.artifact.as_ref().map_or_else(String::new, |(_, digest)| format!("-{}", hex(digest)));
        Ok(Self {
            spdx_version: "SPDX-2.3".to_owned(),
            data_license: "CC0-1.0".to_owned(),
            id: ROOT.to_owned(),
            document_namespace: format!("{}/spdx/{name}{unique}", env!("CARGO_PKG_REPOSITORY")),
            name,
            creation_info: CreationInfo {
                created,
                creators: vec![format!("Tool: sluicegate-host-{}", env!("CARGO_PKG_VERSION"))],
            },
            packages: packages.into_values().collect(),
            relationships: relationships.into_iter().collect(),
        })
    }
}

impl Package {
    fn of(
        name: &str,
        version: &str,
        license: &str,
        repository: &str,
        id: String,
        locked: Option<&Locked>,
    ) -> Result<Self, SbomError> {
        let published = locked.is_some_and(|package| package.source.as_deref() == Some(CRATES_IO));
        let checksum = locked.and_then(|package| package.checksum.as_deref());
        if published && checksum.is_none() {
            return Err(SbomError::Checksum(name.to_owned(), version.to_owned()));
        }
        let purl = format!("pkg:cargo/{name}@{}", version.replace('+', "%2B"));
        Ok(Self {
            name: name.to_owned(),
            id,
            version_info: version.to_owned(),
            package_file_name: None,
            download_location: if published {
                format!("https://static.crates.io/crates/{name}/{name}-{version}.crate")
            } else if repository.is_empty() {
                NONE.to_owned()
            } else {
                format!("git+{repository}")
            },
            files_analyzed: false,
            license_concluded: NONE.to_owned(),
            license_declared: expression(license),
            copyright_text: NONE.to_owned(),
            checksums: checksum.map(Checksum::sha256).into_iter().collect(),
            external_refs: if published { vec![ExternalRef::purl(purl)] } else { Vec::new() },
            primary_package_purpose: None,
        })
    }

    /// What every Rust program is linked with.
    fn standard_library(channel: &str) -> Self {
        Self {
            name: "rust-std".to_owned(),
            id: format!("SPDXRef-Package-rust-std-{}", identifier(channel)),
            version_info: channel.to_owned(),
            package_file_name: None,
            download_location: format!("git+https://github.com/rust-lang/rust@{channel}"),
            files_analyzed: false,
            license_concluded: NONE.to_owned(),
            license_declared: "MIT OR Apache-2.0".to_owned(),
            copyright_text: NONE.to_owned(),
            checksums: Vec::new(),
            external_refs: vec![ExternalRef::purl(format!("pkg:github/rust-lang/rust@{channel}"))],
            primary_package_purpose: None,
        }
    }
}

impl Checksum {
    fn sha256(digest: &str) -> Self {
        Self { algorithm: "SHA256".to_owned(), checksum_value: hex(digest).to_owned() }
    }
}

impl ExternalRef {
    fn purl(locator: String) -> Self {
        Self {
            reference_category: "PACKAGE-MANAGER".to_owned(),
            reference_type: "purl".to_owned(),
            reference_locator: locator,
        }
    }
}

struct Line<'a> {
    depth: usize,
    name: &'a str,
    version: &'a str,
    license: &'a str,
    repository: &'a str,
}

impl<'a> Line<'a> {
    fn parse(line: &'a str) -> Result<Self, SbomError> {
        let read = || {
            let mut parts = line.split('|');
            let depth = parts.next()?.parse().ok()?;
            // `name vVERSION`, and a folder for what is no crate of a registry.
            let mut package = parts.next()?.split(' ');
            let (name, version) = (package.next()?, package.next()?.strip_prefix('v')?);
            let license = parts.next()?;
            // `(*)` where what it needs was printed before.
            let repository = parts.next()?.trim_end_matches("(*)").trim_end();
            Some(Self { depth, name, version, license, repository })
        };
        read().ok_or_else(|| SbomError::Tree(line.to_owned()))
    }
}

/// Letters, digits, dots and dashes.
fn identifier(text: &str) -> String {
    text.chars()
        .map(|character| if character.is_ascii_alphanumeric() || character == '.' { character } else { '-' })
        .collect()
}

/// Crates may still write `MIT/Apache-2.0`.
fn expression(license: &str) -> String {
    if license.is_empty() { NONE.to_owned() } else { license.replace('/', " OR ") }
}

fn hex(digest: &str) -> &str {
    digest.strip_prefix("sha256:").unwrap_or(digest)
}

#[cfg(test)]
mod tests;
