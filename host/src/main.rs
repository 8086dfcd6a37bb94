//! `sluicegate-host`: runs a compiled policy without Kubewarden, against a request as `kwctl run` does, or as a webhook.

mod cli;
mod configured;
mod inspect;
mod output;
mod run;
#[cfg(feature = "serve")]
mod served;
mod story;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Run(args) => run::run(&args),
        Command::Inspect(args) => inspect::inspect(&args),
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
