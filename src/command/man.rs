//! `sluicegate man`: the manual pages.

use crate::output::{Exit, note, print};
use anyhow::Context;
use clap::{Args, Command};
use std::path::PathBuf;
use std::process::ExitCode;

/// Writes the manual pages, one for each command.
#[derive(Clone, Debug, Args)]
pub struct ManArguments {
    /// The folder to write them to; without one, the first page is printed: `sluicegate man | man -l -`.
    #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub folder: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// Where the folder cannot be written.
pub fn run(arguments: &ManArguments, command: Command) -> anyhow::Result<ExitCode> {
    match &arguments.folder {
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page)?;
            print(&String::from_utf8_lossy(&page))?;
        }
        Some(folder) => {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
            clap_mangen::generate_to(command, folder).with_context(|| format!("cannot write {}", folder.display()))?;
            note(&format!("the pages are in {}", folder.display()));
        }
    }
    Ok(Exit::Fine.into())
}
