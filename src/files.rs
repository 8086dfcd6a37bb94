//! Manifests from the file system, read and parsed on all cores.

use sluicegate_offline::manifest::{self, File, is_manifest};
use sluicegate_offline::tree::{Tree, common, join, parent};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Larger files are no manifests: etcd stores no object over 1.5 MB.
const LARGEST: u64 = 32 * 1_024 * 1_024;
/// So many paths tell where they start from.
const PATHS: usize = 200;
/// How often what leads to further files is followed.
const ROUNDS: usize = 32;

/// A path that could not be read, and why.
pub type Failed = (String, String);

/// What was read.
#[derive(Debug, Default)]
pub struct Manifests {
    /// The files and what stands in them.
    pub tree: Tree,
    /// Paths that could not be read, each with the reason.
    pub failed: Vec<Failed>,
    /// Files that were named themselves, not found in a folder.
    pub named: BTreeSet<String>,
}

/// Reads files and folders; `-` is standard input. What they lead to is read, too, within the git work tree that the first
/// of them is in. Paths in the tree start from the root of that, or from the folder itself.
///
/// Links are followed once each; hidden folders, `node_modules` and the templates of charts are passed over.
#[must_use]
pub fn read(paths: &[PathBuf]) -> Manifests {
    let mut found = Manifests::default();
    let root = root_of(paths);
    let mut wanted: BTreeMap<String, PathBuf> = BTreeMap::new();
    let mut files = Vec::new();
    let mut seen = BTreeSet::new();
    for path in paths {
        if path.as_os_str() == "-" {
            match standard_input() {
                Ok(bytes) => files.push(manifest::read("-", &bytes)),
                Err(error) => found.failed.push(("-".to_owned(), told(&error))),
            }
            found.named.insert("-".to_owned());
            continue;
        }
        let shown = relative(&root, path);
        match std::fs::metadata(path) {
            Ok(data) if data.is_dir() => walk(path, &shown, &mut wanted, &mut seen, &mut found.failed),
            Ok(data) if !data.is_file() => {
                found.failed.push((path.display().to_string(), "neither a file nor a folder".to_owned()));
            }
            Ok(_) => {
                found.named.insert(shown.clone());
                wanted.insert(shown, path.clone());
            }
            Err(error) => found.failed.push((path.display().to_string(), told(&error))),
        }
    }
    let prefix = shown_prefix(&root);
    files.extend(parse(&wanted, &prefix, false, &mut found.failed));
    let mut tree = Tree::new(files);
    let best = root_by_paths(&root, &wanted, &tree);
    if let Some(inner) = best.strip_prefix(&root).ok().filter(|inner| !inner.as_os_str().is_empty()) {
        let inner = format!("{}/", slashed(inner));
        let mut files = tree.into_files();
        for file in &mut files {
            file.path = file.path.strip_prefix(&inner).unwrap_or(&file.path).to_owned();
        }
        let strip = |path: String| path.strip_prefix(&inner).map_or(path.clone(), ToOwned::to_owned);
        wanted = wanted.into_iter().map(|(path, full)| (strip(path), full)).collect();
        found.named = found.named.into_iter().map(strip).collect();
        tree = Tree::new(files);
    }
    let (root, prefix) = (best.clone(), shown_prefix(&best));
    let mut asked: BTreeSet<String> = BTreeSet::new();
    for _ in 0..ROUNDS {
        let mut more = BTreeMap::new();
        // Where the first folder of a path is not there, the rest need not be looked for.
        let mut first: BTreeMap<String, bool> = BTreeMap::new();
        for path in tree.wanted() {
            let start = path.split('/').next().unwrap_or_default().to_owned();
            let exists = *first.entry(start).or_insert_with_key(|start| root.join(start).exists());
            if !exists || !asked.insert(path.clone()) {
                continue;
            }
            let full = root.join(&path);
            match std::fs::metadata(&full) {
                Ok(data) if data.is_dir() => walk(&full, &path, &mut more, &mut seen, &mut found.failed),
                Ok(_) => drop(more.insert(path, full)),
                // Whoever names it is told of.
                Err(_) => {}
            }
        }
        more.retain(|path, _| !wanted.contains_key(path));
        if more.is_empty() {
            break;
        }
        let mut files = tree.into_files();
        files.extend(parse(&more, &prefix, true, &mut found.failed));
        wanted.extend(more);
        tree = Tree::new(files);
    }
    found.tree = tree;
    found.failed.sort();
    found
}

fn standard_input() -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::stdin().lock().take(LARGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The git work tree that the first path is in, or the folder itself.
fn root_of(paths: &[PathBuf]) -> PathBuf {
    let Some(first) = paths.iter().find(|path| path.as_os_str() != "-") else { return PathBuf::from(".") };
    let full = std::path::absolute(first).unwrap_or_else(|_| first.clone());
    let git = full.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_path_buf);
    let own = || if first.is_dir() { full.clone() } else { full.parent().map(Path::to_path_buf).unwrap_or_default() };
    git.unwrap_or_else(own)
}

/// What stands before a path of the tree where it is shown: the way from the current folder to the root, if that is below
/// it. Elsewhere paths are shown from the root on, as git does.
fn shown_prefix(root: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let below = root.strip_prefix(&here).map(|rest| rest.to_string_lossy().replace('\\', "/")).unwrap_or_default();
    if below.is_empty() { below } else { format!("{below}/") }
}

/// The folder that the paths of Kustomizations start from: of those between what was read and the root, the one where most
/// of them exist; of equals the outermost. A tree may stand in a folder of another one.
fn root_by_paths(root: &Path, read: &BTreeMap<String, PathBuf>, tree: &Tree) -> PathBuf {
    let mut named: Vec<String> = tree.named_paths().into_iter().collect();
    named.truncate(PATHS);
    let mut shared: Option<&str> = None;
    for path in read.keys() {
        let folder = parent(path);
        shared = Some(shared.map_or(folder, |shared| common(shared, folder)));
    }
    let mut best = (0, root.to_path_buf());
    let mut candidate = root.to_path_buf();
    for part in std::iter::once("").chain(shared.unwrap_or_default().split('/').filter(|part| !part.is_empty())) {
        candidate.push(part);
        let count = named.iter().filter(|path| candidate.join(path).is_dir()).count();
        if count > best.0 {
            best = (count, candidate.clone());
        }
    }
    // Pushing nothing leaves a slash at the end.
    best.1.components().collect()
}

fn slashed(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

/// A path from the root, with slashes; as it is where it leads out of the root.
fn relative(root: &Path, path: &Path) -> String {
    let full = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let Ok(rest) = full.strip_prefix(root) else { return path.display().to_string() };
    let parts = rest.components().filter_map(|part| match part {
        Component::Normal(part) => Some(part.to_string_lossy().into_owned()),
        Component::ParentDir => Some("..".to_owned()),
        _ => None,
    });
    let written = parts.collect::<Vec<_>>().join("/");
    join("", &written).unwrap_or(written)
}

/// Finds the files of a folder, at any depth, each folder once.
fn walk(
    folder: &Path,
    shown: &str,
    found: &mut BTreeMap<String, PathBuf>,
    seen: &mut BTreeSet<PathBuf>,
    failed: &mut Vec<Failed>,
) {
    let mut ahead = vec![(folder.to_path_buf(), shown.to_owned())];
    while let Some((folder, shown)) = ahead.pop() {
        // A link may lead back to a folder above it.
        if !seen.insert(folder.canonicalize().unwrap_or_else(|_| folder.clone())) {
            continue;
        }
        let listed = match std::fs::read_dir(&folder) {
            Ok(listed) => listed,
            Err(error) => {
                failed.push((shown, told(&error)));
                continue;
            }
        };
        let is_chart = folder.join("Chart.yaml").is_file();
        for entry in listed.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = entry.path();
            let shown = if shown.is_empty() { name.clone() } else { format!("{shown}/{name}") };
            let Ok(mut kind) = entry.file_type() else { continue };
            // A link to nothing is told of when it is read.
            if kind.is_symlink()
                && let Ok(data) = std::fs::metadata(&path)
            {
                kind = data.file_type();
            }
            let is_folder = kind.is_dir();
            // Opening a pipe would wait for somebody to write.
            if !(is_folder || kind.is_file() || kind.is_symlink()) {
                continue;
            }
            if is_folder {
                let skip = name.starts_with('.') || name == "node_modules" || (is_chart && name == "templates");
                if !skip {
                    ahead.push((path, shown));
                }
            } else if is_manifest(&name) {
                found.insert(shown, path);
            }
        }
    }
}

/// Reads and parses files on all cores. In the order of their paths.
fn parse(paths: &BTreeMap<String, PathBuf>, prefix: &str, extra: bool, failed: &mut Vec<Failed>) -> Vec<File> {
    let paths: Vec<(&String, &PathBuf)> = paths.iter().collect();
    let next = AtomicUsize::new(0);
    let done: Mutex<(Vec<File>, Vec<Failed>)> = Mutex::default();
    let work = || {
        let (mut files, mut failed) = (Vec::new(), Vec::new());
        // One after the other, so that a core with long files does not keep the others waiting.
        while let Some((shown, path)) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            match bytes(path) {
                Ok(bytes) => {
                    let shown_path = format!("{prefix}{shown}");
                    files.push(File { extra, shown: shown_path, ..manifest::read(shown, &bytes) });
                }
                Err(why) => failed.push((format!("{prefix}{shown}"), why)),
            }
        }
        let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
        done.0.append(&mut files);
        done.1.append(&mut failed);
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(paths.len().div_ceil(16)).max(1);
    std::thread::scope(|scope| {
        for _ in 1..cores {
            scope.spawn(work);
        }
        work();
    });
    let (files, more) = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    failed.extend(more);
    files
}

fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    let mut file = std::fs::File::open(path).map_err(|error| told(&error))?;
    let data = file.metadata().map_err(|error| told(&error))?;
    if !data.is_file() {
        return Err("neither a file nor a folder".to_owned());
    }
    if data.len() > LARGEST {
        return Err(format!("larger than {} MiB: not read", LARGEST / 1_024 / 1_024));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(data.len()).unwrap_or_default());
    file.read_to_end(&mut bytes).map_err(|error| told(&error))?;
    Ok(bytes)
}

/// The error in words of our own, where they are known, since those of the system differ.
fn told(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "does not exist".to_owned(),
        io::ErrorKind::PermissionDenied => "may not be read".to_owned(),
        _ => error.to_string(),
    }
}
