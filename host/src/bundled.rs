//! `push`, `pull`, `sbom` and `artifacthub`: what a release is made of.

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::json;
use sluicegate_host::{
    artifacthub::Package,
    oci::{Place, digest},
    sbom::{Document, Subject},
};

use crate::{
    cli::{self, Format},
    output::Results,
    source::{block_on, registry},
};

pub fn push(args: &cli::Push) -> Result<(), Box<dyn Error>> {
    let module = bytes(&args.policy)?;
    let pushed = block_on(registry(Place::parse(&args.place)?, &args.access)?.push(module))??;
    let text = match args.output {
        Format::Text => format!("pushed {pushed}"),
        // The key that kwctl prints.
        Format::Json => json!({ "immutable_ref": pushed }).to_string(),
    };
    Results::take()?.print(&text)
}

pub fn pull(args: &cli::Pull) -> Result<(), Box<dyn Error>> {
    let place = Place::parse(&args.place)?;
    let file = args.output.clone().unwrap_or_else(|| {
        let name = place.repository().rsplit('/').next().unwrap_or("policy");
        PathBuf::from(format!("{name}.wasm"))
    });
    let pulled = block_on(registry(place, &args.access)?.pull())??;
    fs::write(&file, &pulled.module).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    let text = format!(
        "pulled {}\n{} ({} bytes, {})",
        pulled.immutable,
        file.display(),
        pulled.module.len(),
        digest(&pulled.module)
    );
    Results::take()?.print(&text)
}

pub fn sbom(args: &cli::Sbom) -> Result<(), Box<dyn Error>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "--locked", "--package", &args.package, "--target", &args.target])
        .args(["--edges", "normal,no-proc-macro", "--prefix", "depth", "--charset", "ascii", "--color", "never"])
        .args(["--format", sluicegate_host::sbom::TREE_FORMAT])
        .output()
        .map_err(|error| format!("cannot run cargo tree: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo tree: {}", String::from_utf8_lossy(&output.stderr).trim_end()).into());
    }
    let artifact = match &args.artifact {
        None => None,
        Some(path) => {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Some((name, digest(&bytes(path)?)))
        }
    };
    let document = Document::new(
        &Subject { package: &args.package, target: &args.target, artifact, created: args.created },
        &String::from_utf8(output.stdout)?,
        &text(Path::new("Cargo.lock"))?,
        &text(Path::new("rust-toolchain.toml"))?,
    )?;
    Results::take()?.print(&serde_json::to_string_pretty(&document)?)
}

pub fn artifacthub(args: &cli::Artifacthub) -> Result<(), Box<dyn Error>> {
    let artifact = args.artifact.as_deref().map(bytes).transpose()?;
    let package = Package::new(
        &text(&args.metadata)?,
        &text(&args.changelog)?,
        &text(&args.readme)?,
        artifact.map(|module| digest(&module)),
        args.created,
    )?;
    Results::take()?.print(package.to_yaml()?.trim_end())
}

fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

fn text(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}
