//! `inspect`: what a module says about itself.

use std::{error::Error, fmt::Write, fs};

use sluicegate_host::ModuleInfo;

use crate::{
    cli::{Format, Inspect},
    output::Results,
    source,
};

pub fn inspect(args: &Inspect) -> Result<(), Box<dyn Error>> {
    let bytes = match source::pulled(&args.policy, &args.access)? {
        Some(module) => module,
        None => fs::read(&args.policy).map_err(|error| format!("cannot read {}: {error}", args.policy.display()))?,
    };
    let info = ModuleInfo::parse(&bytes)?;
    let text = match args.output {
        Format::Json => serde_json::to_string_pretty(&info)?,
        Format::Text => describe(&info)?,
    };
    Results::take()?.print(&text)
}

fn describe(info: &ModuleInfo) -> Result<String, Box<dyn Error>> {
    let mut text = format!("size: {} bytes\nmetadata sections: {}\nimports:\n", info.size, info.metadata_sections);
    for import in &info.imports {
        writeln!(text, "  {}", import.escape_debug())?;
    }
    match &info.metadata {
        None => text.push_str("metadata: none, the module is not annotated"),
        Some(metadata) => {
            text.push_str("metadata:\n");
            for line in yaml_serde::to_string(metadata)?.lines() {
                writeln!(text, "  {line}")?;
            }
        }
    }
    Ok(text.trim_end().to_owned())
}
