//! `check` on many manifests, beside what the YAML crate alone takes for the same files, and beside tools that read the same
//! tree: `kubeconform` (in `KUBECONFORM`) validates each object by a schema, of which it has none for these kinds here, so it
//! parses and skips; `kustomize` (in `KUSTOMIZE`) builds the tree into one stream. Prints ratios of one run.

#![allow(clippy::expect_used, clippy::print_stdout, reason = "a bench may fail, and prints")]

use sluicegate::files;
use sluicegate_offline::check::{Strictness, check};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const HEAD: &str = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n";
/// How often each is measured; the smallest counts.
const ROUNDS: usize = 5;
/// The bar: at most so many times the parser alone (10,000 manifests).
const BAR: f64 = 2.0;

fn main() {
    let peer = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let (kubeconform, kustomize) = (peer("KUBECONFORM"), peer("KUSTOMIZE"));
    println!("manifests  files  parser alone      check  ratio (bar {BAR})  most memory  kubeconform  kustomize build");
    for count in [1_000, 10_000, 100_000] {
        let folder = std::env::temp_dir().join(format!("sluicegate-bench-{}-{count}", std::process::id()));
        let paths = write(&folder, count);
        let (mut alone, mut whole) = (Duration::MAX, Duration::MAX);
        for _ in 0..ROUNDS {
            alone = alone.min(timed(|| parse(&paths)));
            whole = whole.min(timed(|| {
                let read = files::read(std::slice::from_ref(&folder));
                let worlds = read.tree.worlds();
                let found = worlds.iter().flat_map(|world| check(&read.tree, world, Strictness::default()));
                let loops = found.filter(|finding| finding.rule() == "cycle").count();
                assert_eq!((worlds.len(), loops), (1, 1), "one loop is in it");
            }));
        }
        let beside = |program: &Option<PathBuf>, arguments: &[&str]| match program {
            // A hundred thousand would take minutes.
            Some(program) if count <= 10_000 => {
                let run = || {
                    let status = Command::new(program).args(arguments).arg(&folder).stdout(Stdio::null()).status();
                    assert!(status.is_ok_and(|status| status.success()), "{program:?}");
                };
                format!("{:.0} ms", timed(run).as_secs_f64() * 1e3)
            }
            _ => "-".to_owned(),
        };
        let validated = beside(&kubeconform, &["-ignore-missing-schemas", "-schema-location", "default/none"]);
        let built = beside(&kustomize, &["build"]);
        println!(
            "{count:9}  {:5}  {:9.1} ms  {:6.1} ms  {:14.2}  {:7} MiB  {validated:>11}  {built:>15}",
            paths.len(),
            alone.as_secs_f64() * 1e3,
            whole.as_secs_f64() * 1e3,
            whole.as_secs_f64() / alone.as_secs_f64(),
            peak() / 1_024,
        );
        let _ = std::fs::remove_dir_all(&folder);
    }
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// Manifests of 400 bytes, one a file, as a repository of units has them: each depends on two others, and two on each other.
fn write(folder: &Path, count: usize) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for part in 0..count.div_ceil(100) {
        let sub = folder.join(format!("part{part:04}"));
        std::fs::create_dir_all(&sub).expect("a folder for the bench");
        for n in (part * 100)..((part + 1) * 100).min(count) {
            let mut text = String::new();
            let _ = write!(
                text,
                "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: unit-{n}\n  \
                 namespace: flux-system\n  labels:\n    app.kubernetes.io/part-of: units\nspec:\n  interval: 10m\n  \
                 retryInterval: 1m\n  timeout: 5m\n  prune: true\n  wait: true\n  path: ./units/unit-{n}\n  \
                 sourceRef:\n    kind: GitRepository\n    name: units\n",
            );
            let needs: Vec<usize> = match n {
                0 => vec![1],
                1 => vec![0],
                2 => vec![],
                n => vec![n / 2 + 1, n / 3 + 2].into_iter().filter(|need| *need < n).collect(),
            };
            if !needs.is_empty() {
                text.push_str("  dependsOn:\n");
                for need in needs {
                    let _ = writeln!(text, "    - name: unit-{need}");
                }
            }
            if n == 0 {
                text.push_str(
                    "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata:\n  name: units\n  \
                     namespace: flux-system\nspec:\n  url: https://example.org/units\n",
                );
            }
            let path = sub.join(format!("unit-{n}.yaml"));
            std::fs::write(&path, text).expect("a file for the bench");
            paths.push(path);
        }
    }
    let entries: String = paths
        .iter()
        .filter_map(|path| path.strip_prefix(folder).ok())
        .map(|path| format!("  - {}\n", path.display()))
        .collect();
    std::fs::write(folder.join("kustomization.yaml"), format!("{HEAD}resources:\n{entries}"))
        .expect("a file for the bench");
    paths
}

/// Reads all files and takes all events of the parser, on all cores.
fn parse(paths: &[PathBuf]) {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut events = 0;
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            let text = std::fs::read_to_string(path).expect("a file of the bench");
            events += granit_parser::Parser::new_from_str(&text).filter(Result::is_ok).count();
        }
        assert!(events > 0 || paths.len() < 2);
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..cores).for_each(|_| drop(scope.spawn(work))));
}

/// The most memory that the process ever held, in KiB; 0 where the system does not tell.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}
