//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

const EXIT_CODES: &str = "\
Exit codes:
  0  there is a verdict, be it a denial
  1  there is none: a file cannot be read, the settings are not valid, …
  2  wrong usage";

/// Runs a compiled Kubewarden policy on recorded objects, without a cluster
#[derive(Debug, Parser)]
#[command(name = "sluicegate-host", version, after_help = EXIT_CODES)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Judge one request; prints the response in a line, as `kwctl run` does
    Run(Box<Run>),
    /// Show what a module says about itself
    Inspect(Inspect),
    /// Judge the requests of a story one after the other, and check each verdict
    Story(Story),
}

#[derive(Debug, Args)]
pub struct Run {
    /// The policy
    #[arg(value_name = "POLICY.wasm")]
    pub policy: PathBuf,
    /// The AdmissionReview, or the request of one; `-` for standard input
    #[arg(short, long, visible_alias = "request-path", value_name = "FILE")]
    pub request: PathBuf,
    /// Settings, YAML or JSON
    #[arg(short, long, visible_alias = "settings-path", value_name = "FILE")]
    pub settings: Option<PathBuf>,
    /// Settings as JSON
    #[arg(long, value_name = "JSON", conflicts_with = "settings")]
    pub settings_json: Option<String>,
    /// Answer reads from the manifests in a folder
    #[arg(long, value_name = "FOLDER")]
    pub cluster: Option<PathBuf>,
    /// Answer reads from a recorded session, which must match exactly
    #[arg(
        long,
        visible_alias = "replay-host-capabilities-interactions",
        value_name = "FILE",
        conflicts_with = "cluster"
    )]
    pub session: Option<PathBuf>,
    /// Record the reads into a session file
    #[arg(long, visible_alias = "record-host-capabilities-interactions", value_name = "FILE", requires = "cluster")]
    pub record: Option<PathBuf>,
    /// Print each host call, with its time, to standard error
    #[arg(long)]
    pub trace: bool,
    /// Print what the policy logs to standard error
    #[arg(short, long)]
    pub verbose: bool,
    /// Deadline, as `timeoutEvalSeconds`; 0 for none
    #[arg(long, value_name = "SECONDS", default_value_t = sluicegate_host::DEFAULT_TIMEOUT_TICKS)]
    pub timeout: u64,
}

#[derive(Debug, Args)]
pub struct Story {
    /// The policy
    #[arg(value_name = "POLICY.wasm")]
    pub policy: PathBuf,
    /// The story
    #[arg(value_name = "STORY.yaml")]
    pub story: PathBuf,
}

#[derive(Debug, Args)]
pub struct Inspect {
    /// The policy
    #[arg(value_name = "POLICY.wasm")]
    pub policy: PathBuf,
    /// How to print
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub output: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}
