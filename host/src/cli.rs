//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

const EXIT_CODES: &str = "\
Exit codes:
  0  there is a verdict, be it a denial; a server was asked to end
  1  there is none: a file cannot be read, the settings are not valid, …
  2  wrong usage";

#[cfg(feature = "serve")]
const SERVED: &str = "\
Prints `listening on https://ADDRESS/validate/NAME` to standard output once it does, then serves until SIGTERM or SIGINT:
  POST /validate/NAME  AdmissionReview in, AdmissionReview out
  POST /audit/NAME     the same for the background audit
  GET  /readiness      200
  GET  /metrics        counts of verdicts, host calls, reads, traps and time-outs, for Prometheus

The deadline interrupts the policy, but not a read that hangs: that one ends with the webhook's own time-out.";

/// Runs a compiled Kubewarden policy, on recorded objects or as a webhook
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
    /// Push a policy to an OCI registry, as `kwctl push` does
    #[cfg(feature = "bundle")]
    Push(Push),
    /// Pull a policy from an OCI registry
    #[cfg(feature = "bundle")]
    Pull(Pull),
    /// Print the software bill of materials of a package, SPDX 2.3 as JSON
    #[cfg(feature = "bundle")]
    Sbom(Sbom),
    /// Print the description of the policy for Artifact Hub
    #[cfg(feature = "bundle")]
    Artifacthub(Artifacthub),
    /// Serve the policy as a webhook that reads from a cluster
    #[cfg(feature = "serve")]
    Serve(Box<Serve>),
    /// Print the webhook configuration for a policy that is served
    Webhook(Webhook),
    /// Judge the requests of a story one after the other, and check each verdict
    Story(Story),
}

#[derive(Debug, Args)]
pub struct Run {
    /// The policy, a file or one in a registry
    #[arg(value_name = "POLICY.wasm|registry://HOST/NAME:TAG")]
    pub policy: PathBuf,
    #[command(flatten)]
    pub access: Access,
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

#[cfg(feature = "serve")]
#[derive(Debug, Args)]
#[command(after_help = SERVED)]
pub struct Serve {
    /// The policy
    #[arg(value_name = "POLICY.wasm")]
    pub policy: PathBuf,
    /// The cluster to read from, and the account to do it with
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: PathBuf,
    /// Settings, YAML or JSON
    #[arg(short, long, visible_alias = "settings-path", value_name = "FILE")]
    pub settings: Option<PathBuf>,
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: std::net::SocketAddr,
    /// The server's certificate chain, PEM
    #[arg(long, value_name = "FILE")]
    pub tls_cert: PathBuf,
    /// Its private key, PEM
    #[arg(long, value_name = "FILE")]
    pub tls_key: PathBuf,
    /// Name of the policy: the last part of its path
    #[arg(long, value_name = "NAME", default_value = "sluicegate", value_parser = policy_name)]
    pub name: String,
    /// How many requests are judged at once [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub instances: Option<u16>,
    /// Deadline of the policy, as `timeoutEvalSeconds`; 0 for none
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub evaluation_seconds: u64,
    /// Print each request with its verdict, and each host call, to standard error
    #[arg(long)]
    pub trace: bool,
}

#[cfg(feature = "serve")]
fn policy_name(text: &str) -> Result<String, String> {
    let fits = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.');
    if !text.is_empty() && text.chars().all(fits) {
        Ok(text.to_owned())
    } else {
        Err("only letters, digits, '-', '_' and '.'".to_owned())
    }
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("phase").required(true))]
pub struct Webhook {
    /// The policy
    #[arg(value_name = "POLICY.wasm")]
    pub policy: PathBuf,
    /// Name of the configuration
    #[arg(long, value_name = "NAME")]
    pub name: String,
    /// Where the policy is served: what `serve` prints
    #[arg(long, value_name = "URL")]
    pub url: String,
    /// The CA of the server's certificate, PEM
    #[arg(long, value_name = "FILE")]
    pub ca: PathBuf,
    /// May change objects
    #[arg(long, group = "phase")]
    pub mutating: bool,
    /// Sees the final object
    #[arg(long, group = "phase")]
    pub validating: bool,
    /// What becomes of a request when the webhook does not answer
    #[arg(
        long,
        value_name = "Ignore|Fail",
        value_enum,
        ignore_case = true,
        hide_possible_values = true,
        default_value = "Ignore"
    )]
    pub failure_policy: FailurePolicy,
    /// How long the API server waits, 1 to 30
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub timeout_seconds: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailurePolicy {
    /// The request is admitted
    #[value(name = "Ignore")]
    Ignore,
    /// The request is refused
    #[value(name = "Fail")]
    Fail,
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
    /// The policy, a file or one in a registry
    #[arg(value_name = "POLICY.wasm|registry://HOST/NAME:TAG")]
    pub policy: PathBuf,
    #[command(flatten)]
    pub access: Access,
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

/// How a registry is asked.
#[derive(Debug, Args)]
pub struct Access {
    /// Speak plain HTTP to the registry; done anyway with one on this machine
    #[arg(long)]
    pub insecure: bool,
    /// Account at the registry, with its password in SLUICEGATE_REGISTRY_PASSWORD [default: what Docker's configuration says]
    #[arg(long, value_name = "NAME", env = "SLUICEGATE_REGISTRY_USERNAME")]
    pub username: Option<String>,
    /// Read the password from standard input
    #[arg(long, requires = "username")]
    pub password_stdin: bool,
}

#[cfg(feature = "bundle")]
#[derive(Debug, Args)]
pub struct Push {
    /// The policy, with its metadata
    #[arg(value_name = "POLICY.wasm")]
    pub policy: PathBuf,
    /// Where to
    #[arg(value_name = "HOST/NAME:TAG")]
    pub place: String,
    #[command(flatten)]
    pub access: Access,
    /// How to print
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub output: Format,
}

#[cfg(feature = "bundle")]
#[derive(Debug, Args)]
pub struct Pull {
    /// Where from
    #[arg(value_name = "HOST/NAME:TAG")]
    pub place: String,
    /// Where to [default: the last part of the name, with .wasm]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub access: Access,
}

#[cfg(feature = "bundle")]
#[derive(Debug, Args)]
pub struct Sbom {
    /// The package that is built
    #[arg(long, value_name = "NAME")]
    pub package: String,
    /// What it is built for
    #[arg(long, value_name = "TRIPLE")]
    pub target: String,
    /// What was built: its digest becomes part of the document
    #[arg(long, value_name = "FILE")]
    pub artifact: Option<PathBuf>,
    /// Seconds since 1970 of the document
    #[arg(long, value_name = "SECONDS", env = "SOURCE_DATE_EPOCH", default_value_t = 0)]
    pub created: u32,
}

#[cfg(feature = "bundle")]
#[derive(Debug, Args)]
pub struct Artifacthub {
    /// metadata.yml of the policy
    #[arg(long, value_name = "FILE", default_value = "policy/metadata.yml")]
    pub metadata: PathBuf,
    /// Where the changes of the version are
    #[arg(long, value_name = "FILE", default_value = "CHANGELOG.md")]
    pub changelog: PathBuf,
    /// Whose pictures become the screenshots
    #[arg(long, value_name = "FILE", default_value = "README.md")]
    pub readme: PathBuf,
    /// The policy as it was built, for its digest
    #[arg(long, value_name = "POLICY.wasm")]
    pub artifact: Option<PathBuf>,
    /// Seconds since 1970 of the version
    #[arg(long, value_name = "SECONDS", env = "SOURCE_DATE_EPOCH", default_value_t = 0)]
    pub created: u32,
}
