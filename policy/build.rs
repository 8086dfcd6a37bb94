//! Turns `metadata.yml` into the JSON that hosts look for in the module.

include!("usage.rs");

use serde_json::{Map, Value};
use std::error::Error;
use std::path::Path;
use std::{env, fs};

const METADATA: &str = "metadata.yml";
/// The README of the repository: what `kwctl inspect` shows as usage.
const USAGE: &str = "../README.md";

fn main() -> Result<(), Box<dyn Error>> {
    // Calls and addresses are padded to five bytes, for a linker to come; nothing links this module again. A tenth of it.
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32") {
        println!("cargo::rustc-link-arg-cdylib=--compress-relocations");
    }
    println!("cargo::rerun-if-changed={METADATA}");
    println!("cargo::rerun-if-changed={USAGE}");
    println!("cargo::rerun-if-changed=usage.rs");
    let mut metadata: Map<String, Value> = yaml_serde::from_str(&fs::read_to_string(METADATA)?)?;
    // policy-server refuses a module without it, and `kwctl annotate`, which else writes it, is not needed here.
    metadata.insert("protocolVersion".into(), "v1".into());
    let annotations = metadata.get_mut("annotations").and_then(Value::as_object_mut);
    let annotations = annotations.ok_or("metadata.yml has no annotations")?;
    if let Ok(readme) = fs::read_to_string(USAGE) {
        annotations.insert("io.kubewarden.policy.usage".into(), usage(&readme).into());
    }
    fs::write(Path::new(&env::var("OUT_DIR")?).join("metadata.json"), serde_json::to_vec(&metadata)?)?;
    Ok(())
}
