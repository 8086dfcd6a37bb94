//! Objects out of files, for commands about one cluster.

use super::cluster::object;
use crate::files;
use crate::names;
use crate::output::note;
use anyhow::bail;
use clap::Args;
use sluicegate_core::object::Reference;
use sluicegate_core::text::clean;
use sluicegate_offline::tree::{Tree, World};
use std::path::PathBuf;

/// Where objects are read from, if not from a cluster.
#[derive(Clone, Debug, Default, Args)]
pub struct FileArguments {
    /// Read these files and folders in place of a cluster, as check does; - is standard input.
    #[arg(long = "file", short = 'f', value_name = "PATH")]
    pub files: Vec<PathBuf>,
    /// Of files that describe several clusters, this one: the folder that sets it apart.
    #[arg(long, value_name = "FOLDER", requires = "files")]
    pub only: Option<String>,
}

impl FileArguments {
    /// Whether files are to be read.
    #[must_use]
    pub fn is_given(&self) -> bool {
        !self.files.is_empty()
    }

    /// The one cluster that the files describe. What cannot be read is told of on standard error.
    ///
    /// # Errors
    /// Where they describe several, or none.
    pub fn read(&self) -> anyhow::Result<(Tree, World)> {
        let read = files::read(&self.files);
        for (path, why) in &read.failed {
            note(&format!("{}: {why}", clean(path, 400)));
        }
        for file in read.tree.files().iter().filter(|file| file.foreign.is_none() || read.named.contains(&file.path)) {
            for broken in &file.broken {
                note(&format!("{}:{}: {}", clean(&file.shown, 400), broken.line, broken.why));
            }
        }
        let mut worlds = read.tree.worlds();
        if let Some(only) = &self.only {
            let only = only.trim_end_matches('/').trim_start_matches("./");
            worlds.retain(|world| world.name == only);
        }
        let names: Vec<String> = worlds.iter().map(|world| world.name.clone()).collect();
        match (worlds.pop(), worlds.is_empty()) {
            (Some(world), true) if !(world.objects.is_empty() && world.unread.is_empty()) => Ok((read.tree, world)),
            (Some(_), false) => bail!("the files describe several clusters; --only names one of {}", names.join(", ")),
            _ => bail!("the files hold no objects of the judged kinds"),
        }
    }
}

/// The object that a word names: in the namespace where one is given, else the only one of its kind and name.
///
/// # Errors
/// Where it names no object that could be, or one of several namespaces.
pub fn named(text: &str, namespace: Option<&str>, world: &World) -> anyhow::Result<Reference> {
    let own = object(text, namespace.unwrap_or("default"))?;
    let is_bare = namespace.is_none() && text.split('/').count() == 2 && own.kind.row().namespaced;
    if !is_bare {
        return Ok(own);
    }
    let all = world.objects.keys().chain(world.unread.keys());
    let same: Vec<&Reference> = all.filter(|other| other.kind == own.kind && other.name == own.name).collect();
    match same.as_slice() {
        [] => Ok(own),
        [only] => Ok((*only).clone()),
        several => {
            let several: Vec<&str> = several.iter().map(|object| &*object.namespace).collect();
            let kind = names::short(own.kind).first().copied().unwrap_or(own.kind.name());
            bail!("{text} is in several namespaces ({}); say {kind}/NAMESPACE/{}", several.join(", "), own.name)
        }
    }
}
