//! Artifacts that a generator copies out of a source: paths in them are paths in the source, but for a prefix.

use super::Tree;
use super::path::{is_within, join, parent};
use crate::manifest::Body;
use serde::Deserialize;
use sluicegate_core::object::{Kind, Reference};

/// What the generators of a tree copy.
pub(super) struct Copies(Vec<Generator>);

struct Generator {
    /// The file that it is written in.
    path: String,
    namespace: Option<String>,
    spec: Spec,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Spec {
    sources: Vec<Aliased>,
    artifacts: Vec<Artifact>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Aliased {
    alias: String,
    kind: String,
    name: String,
    namespace: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Artifact {
    name: String,
    copy: Vec<Copy>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Copy {
    from: String,
    to: String,
}

impl Copies {
    /// Reads the generators of a tree.
    pub fn of(tree: &Tree) -> Self {
        #[derive(Deserialize)]
        struct Object {
            spec: Spec,
        }
        let generators = tree.all_places().filter_map(|(place, document)| match &document.body {
            Body::Object(source) if source.kind == Kind::ArtifactGenerator => {
                let object: Object = serde_json::from_slice(&source.json).ok()?;
                let namespace = source.header.namespace.clone();
                Some(Generator { path: tree.path(place).to_owned(), namespace, spec: object.spec })
            }
            _ => None,
        });
        Self(generators.collect())
    }

    /// The source and the folder in it that a path means to a Kustomization written in `file`. As far as folders are copied
    /// whole, `@alias/folder/**`; of several generators of the artifact, the nearest to the file counts.
    pub fn folder(
        &self,
        file: &str,
        source: Option<Reference>,
        path: Option<&str>,
    ) -> (Option<Reference>, Option<String>) {
        let folder = join("", path.unwrap_or_default());
        let Some(artifact) = source.as_ref().filter(|source| source.kind == Kind::ExternalArtifact) else {
            return (source, folder);
        };
        let found = self.0.iter().filter_map(|generator| {
            let is_there = generator.namespace.as_deref().is_none_or(|namespace| namespace == &*artifact.namespace);
            let made = generator.spec.artifacts.iter().find(|made| is_there && made.name == *artifact.name)?;
            Some((shared(&generator.path, file), generator, made))
        });
        let Some((_, generator, made)) = found.max_by_key(|(shared, ..)| *shared) else { return (source, folder) };
        let copies = made.copy.iter().filter_map(|copy| {
            let (alias, from) = copy.from.strip_prefix('@')?.split_once('/')?;
            let to = join("", copy.to.strip_prefix("@artifact")?)?;
            let from = join("", from.trim_end_matches('*'))?;
            let rest = folder.as_deref().filter(|folder| is_within(folder, &to))?.get(to.len()..)?;
            Some((to.len(), alias, join(&from, rest)?))
        });
        let Some((_, alias, folder)) = copies.max_by_key(|(length, ..)| *length) else { return (source, folder) };
        let from = generator.spec.sources.iter().find(|source| source.alias == alias).and_then(|source| {
            let namespace = source.namespace.as_deref().unwrap_or(&artifact.namespace);
            Some(Reference::new(Kind::named(&source.kind)?, namespace, &source.name))
        });
        (from, Some(folder))
    }
}

/// How many folders two files share from the root on.
fn shared(a: &str, b: &str) -> usize {
    parent(a).split('/').zip(parent(b).split('/')).take_while(|(a, b)| a == b).count()
}
