//! `sluicegate-host`: runs a compiled policy without Kubewarden, against a request as `kwctl run` does, or as a webhook.

#[cfg(feature = "bundle")]
mod bundled;
mod cli;
mod configured;
mod inspect;
mod output;
mod run;
#[cfg(feature = "serve")]
mod served;
mod source;
mod story;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Run(args) => run::run(&args),
        Command::Inspect(args) => inspect::inspect(&args),
        #[cfg(feature = "bundle")]
        Command::Push(args) => bundled::push(&args),
        #[cfg(feature = "bundle")]
        Command::Pull(args) => bundled::pull(&args),
        #[cfg(feature = "bundle")]
        Command::Sbom(args) => bundled::sbom(&args),
        #[cfg(feature = "bundle")]
        Command::Artifacthub(args) => bundled::artifacthub(&args),
        #[cfg(feature = "serve")]
        Command::Serve(args) => served::serve(&args),
        Command::Webhook(args) => configured::webhook(&args),
        Command::Story(args) => story::story(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("Error: {error}");
            ExitCode::FAILURE
        }
    }
}
