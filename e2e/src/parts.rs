//! The executables of the cluster, built once from pinned Go modules into the user's cache folder.
//!
//! A part lies under `sluicegate/e2e/NAME-VERSION-HASH/NAME`, the hash being that of the module's `go.mod` and `go.sum`:
//! whoever changes a pin gets a new build, and a fresh clone finds the old one.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};
use rustix::fs::{FlockOperation, flock};
use sha2::{Digest, Sha256};

/// A part of the cluster.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    name: &'static str,
    version: &'static str,
    /// The folder under `tools/`.
    module: &'static str,
    package: &'static str,
    /// Flags of the linker besides `-s -w`.
    linked: &'static str,
}

// Without its version linked in, clients cannot parse what the API server says of itself.
const KUBERNETES: &str = "-X k8s.io/component-base/version.gitVersion=v1.36.3 \
                          -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=36";

/// etcd.
pub const ETCD: Part =
    Part { name: "etcd", version: "3.6.8", module: "kubernetes", package: "go.etcd.io/etcd/server/v3", linked: "" };
/// The API server.
pub const KUBE_APISERVER: Part = Part {
    name: "kube-apiserver",
    version: "1.36.3",
    module: "kubernetes",
    package: "k8s.io/kubernetes/cmd/kube-apiserver",
    linked: KUBERNETES,
};
/// kubectl.
pub const KUBECTL: Part = Part {
    name: "kubectl",
    version: "1.36.3",
    module: "kubernetes",
    package: "k8s.io/kubernetes/cmd/kubectl",
    linked: KUBERNETES,
};
/// Flux's source-controller.
pub const SOURCE_CONTROLLER: Part = Part {
    name: "source-controller",
    version: "1.9.6",
    module: "source-controller",
    package: "github.com/fluxcd/source-controller",
    linked: "",
};
/// Flux's kustomize-controller.
pub const KUSTOMIZE_CONTROLLER: Part = Part {
    name: "kustomize-controller",
    version: "1.9.6",
    module: "kustomize-controller",
    package: "github.com/fluxcd/kustomize-controller",
    linked: "",
};

/// What the check is measured beside: a validator by schemas.
pub const KUBECONFORM: Part = Part {
    name: "kubeconform",
    version: "0.8.0",
    module: "peers",
    package: "github.com/yannh/kubeconform/cmd/kubeconform",
    linked: "",
};
/// What the check is measured beside: the builder of trees.
pub const KUSTOMIZE: Part = Part {
    name: "kustomize",
    version: "5.8.2",
    module: "peers",
    package: "sigs.k8s.io/kustomize/kustomize/v5",
    linked: "",
};

/// The CRDs of Flux 2.9.5 and of ResourceSet lie in this module, which is only downloaded.
const MANIFESTS: (&str, &str) = ("github.com/controlplaneio-fluxcd/flux-operator", "v0.59.0");
/// That module asks for Go 1.27, and `go mod download` heeds it.
const MANIFESTS_TOOLCHAIN: &str = "go1.27.3";

impl Part {
    /// The built executable.
    ///
    /// # Errors
    ///
    /// It has not been built.
    pub fn path(self) -> Result<PathBuf> {
        let path = self.place()?;
        if !path.is_file() {
            bail!("missing: {} {} ({}); `make e2e` builds it", self.name, self.version, path.display());
        }
        Ok(path)
    }

    fn folder(self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tools").join(self.module)
    }

    fn place(self) -> Result<PathBuf> {
        let mut hash = Sha256::new();
        for file in ["go.mod", "go.sum"] {
            let path = self.folder().join(file);
            hash.update(std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?);
        }
        let hash: String = hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        Ok(cache()?.join(format!("{}-{}-{hash}", self.name, self.version)).join(self.name))
    }

    fn build(self) -> Result<()> {
        let place = self.place()?;
        if place.is_file() {
            return Ok(());
        }
        let folder = place.parent().context("no folder")?;
        std::fs::create_dir_all(folder)?;
        // A second run waits here, and then finds the part.
        let lock = File::create(folder.join("lock"))?;
        flock(&lock, FlockOperation::LockExclusive)?;
        if place.is_file() {
            return Ok(());
        }
        eprintln!("building {} {}", self.name, self.version);
        let unfinished = place.with_extension("unfinished");
        let status = go(None)
            .current_dir(self.folder())
            .env("CGO_ENABLED", "0")
            .args(["build", "-trimpath", "-buildvcs=false", "-ldflags", &format!("-s -w {}", self.linked), "-o"])
            .arg(&unfinished)
            .arg(self.package)
            .status()
            .context("missing: go 1.26 (https://go.dev/dl)")?;
        if !status.success() {
            bail!(
                "cannot build {}: what is needed is go 1.26 and, the first time, the network (Go modules); go's own \
                 words are above",
                self.name
            );
        }
        std::fs::rename(unfinished, place)?;
        Ok(())
    }
}

/// Builds what the check is measured beside, and gives the paths: kubeconform, then kustomize.
///
/// # Errors
///
/// As [`build`].
pub fn build_peers() -> Result<[PathBuf; 2]> {
    KUBECONFORM.build()?;
    KUSTOMIZE.build()?;
    Ok([KUBECONFORM.path()?, KUSTOMIZE.path()?])
}

/// Builds what the cache lacks.
///
/// # Errors
///
/// One line that says what is missing on this machine, or which build failed.
pub fn build() -> Result<()> {
    for tool in ["go", "git"] {
        if !succeeds(Command::new(tool).arg(if tool == "go" { "version" } else { "--version" })) {
            bail!(
                "missing: {tool}; the real-cluster tests need go 1.26 (https://go.dev/dl), git, and the first time the network"
            );
        }
    }
    for part in [ETCD, KUBE_APISERVER, KUBECTL, KUSTOMIZE_CONTROLLER, SOURCE_CONTROLLER] {
        part.build()?;
    }
    flux_manifests().map(|_| ())
}

/// The folder with the manifests of Flux's distribution, `config/` of flux-operator's module.
///
/// # Errors
///
/// The module cannot be downloaded.
pub fn flux_manifests() -> Result<PathBuf> {
    let (module, version) = MANIFESTS;
    let cached = go(None).args(["env", "GOMODCACHE"]).output().context("missing: go 1.26 (https://go.dev/dl)")?;
    let folder = Path::new(text(&cached).trim()).join(format!("{module}@{version}"));
    if !folder.is_dir() {
        let output = go(Some(MANIFESTS_TOOLCHAIN))
            .current_dir(std::env::temp_dir())
            .args(["mod", "download", &format!("{module}@{version}")])
            .output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            bail!("missing: the network, for Flux's manifests ({module}): {}", said.lines().last().unwrap_or_default());
        }
    }
    Ok(folder.join("config"))
}

/// A real player of that name: in the folder that `E2E_BIN` names, or on the PATH.
#[must_use]
pub fn player(name: &str) -> Option<PathBuf> {
    let own = std::env::var_os("E2E_BIN").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    own.into_iter().chain(std::env::split_paths(&path)).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// `$XDG_CACHE_HOME` or `~/.cache`, with the folder of these tests.
fn cache() -> Result<PathBuf> {
    let base = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::home_dir().map(|home| home.join(".cache")))
        .context("neither XDG_CACHE_HOME nor HOME is set")?;
    Ok(base.join("sluicegate").join("e2e"))
}

fn go(toolchain: Option<&str>) -> Command {
    let mut command = Command::new("go");
    if let Some(toolchain) = toolchain {
        command.env("GOTOOLCHAIN", toolchain);
    }
    // A workspace or vendor folder around the clone is none of ours.
    command.env("GOWORK", "off").stdin(Stdio::null());
    command
}

fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}
