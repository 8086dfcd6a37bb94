//! What the real-cluster tests need as a process of its own: the build of the cluster parts, and the supervisor that
//! ends what a test has started, whatever becomes of the test.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use sluicegate_e2e::{parts, supervise};

#[derive(Parser)]
#[command(about = "Helpers of the real-cluster tests")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build the cluster parts that the cache lacks
    Build,
    /// Build what `check` is measured beside, and print the paths
    Peers,
    /// Run a program until it ends or standard input closes, then kill all that it started
    Supervise {
        /// Where its output goes
        #[arg(long)]
        log: PathBuf,
        /// A folder to remove at the end
        #[arg(long)]
        remove: Option<PathBuf>,
        /// The program and its arguments
        #[arg(last = true, required = true)]
        program: Vec<String>,
    },
    /// Become a program that is killed when the process that started it ends
    Bound {
        /// The process whose end is waited for
        #[arg(long)]
        parent: u32,
        /// The program and its arguments
        #[arg(last = true, required = true)]
        program: Vec<String>,
    },
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Build => parts::build().map(|()| ExitCode::SUCCESS),
        Command::Peers => parts::build_peers().map(|paths| {
            let lines: String = paths.iter().map(|path| format!("{}\n", path.display())).collect();
            let _ = std::io::stdout().write_all(lines.as_bytes());
            ExitCode::SUCCESS
        }),
        Command::Supervise { log, remove, program } => supervise::supervise(&log, remove.as_deref(), &program),
        Command::Bound { parent, program } => supervise::bound(parent, &program),
    };
    result.unwrap_or_else(|error| {
        eprintln!("{error:#}");
        ExitCode::FAILURE
    })
}
