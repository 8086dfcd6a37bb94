//! `sluicegate wait`: waits for a roll-out without a race.

mod act;
mod display;
mod session;
mod targets;

use super::cluster::ClusterArguments;
use crate::output::{Exit, Output, note};
use chrono::TimeDelta;
use clap::Args;
use sluicegate_core::chain::duration;
use sluicegate_core::rollout::Options;
use std::path::PathBuf;
use std::process::ExitCode;

/// Waits until objects, and all that they need, are settled.
///
/// It ends early where nothing can change any more without somebody's doing.
#[derive(Clone, Debug, Args)]
pub struct WaitArguments {
    /// The objects, as KIND/NAME or KIND/NAMESPACE/NAME; with --all or --selector kinds alone.
    #[arg(value_name = "KIND/NAME")]
    objects: Vec<String>,
    /// All objects of the given kinds in the namespace; without kinds, of all of them.
    #[arg(long)]
    all: bool,
    /// Those with these labels.
    #[arg(long, short = 'l', value_name = "LABELS")]
    selector: Option<String>,
    /// The revision that the sources must show: a Flux revision, its digest, a commit of seven digits or more, or a chart
    /// version.
    #[arg(long, value_name = "REV")]
    expect: Option<String>,
    /// Ask the objects and their sources to reconcile, sources first.
    #[arg(long)]
    reconcile: bool,
    /// Resume suspended objects in the order of their needs, each once what it needs is settled.
    #[arg(long)]
    resume: bool,
    /// Leave suspended objects out, and what only they need.
    #[arg(long, conflicts_with = "resume")]
    ignore_suspended: bool,
    /// How long to wait, as 90s, 5m or 1h30m; 0 for ever.
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = time)]
    timeout: TimeDelta,
    /// How long one object may take once it waits for nothing else; the annotation sluicegate.dev/timeout on an object
    /// wins.
    #[arg(long, value_name = "TIME", value_parser = time)]
    unit_timeout: Option<TimeDelta>,
    /// End well once the condition KEY of each object has TEXT as its status or reason, or in its message.
    #[arg(long, value_name = "KEY=TEXT", value_parser = pair)]
    exit_condition: Option<(String, String)>,
    /// Write the time line to this file: a page for .html, a record for .yaml.
    #[arg(long, value_name = "FILE", value_parser = file)]
    save: Option<PathBuf>,
    /// A readyExpr adds to the built-in test, as with the controllers' gate AdditiveCELDependencyCheck.
    #[arg(long)]
    additive_ready_expr: bool,
    /// The form of the output; json gives an event a line.
    #[arg(long, short, value_enum, default_value = "text")]
    output: Output,
    #[command(flatten)]
    cluster: ClusterArguments,
}

fn time(text: &str) -> Result<TimeDelta, String> {
    duration(text).ok_or_else(|| "a time is written as 90s, 5m or 1h30m".to_owned())
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, text)) if !key.is_empty() && !text.is_empty() => Ok((key.to_owned(), text.to_owned())),
        _ => Err("a condition is written as KEY=TEXT".to_owned()),
    }
}

fn file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("html" | "yaml") => Ok(path),
        _ => Err("the name of the file ends with .html or .yaml".to_owned()),
    }
}

impl WaitArguments {
    fn options(&self) -> Options {
        Options {
            reconcile: self.reconcile,
            resume: self.resume,
            ignore_suspended: self.ignore_suspended,
            expected: self.expect.as_deref().map(Into::into),
            additive: self.additive_ready_expr,
            timeout: Some(self.timeout).filter(|limit| !limit.is_zero()),
            unit_timeout: self.unit_timeout,
            exit_condition: self.exit_condition.as_ref().map(|(key, text)| (key.as_str().into(), text.as_str().into())),
        }
    }
}

/// Runs the command: 0 if all is settled, 1 if nothing matched, something may not be read or written, or somebody ended
/// it, 3 if the time was over, 4 if it can come to no good end.
///
/// # Errors
/// Where there is no cluster to ask, or the file cannot be written.
pub async fn run(arguments: WaitArguments) -> anyhow::Result<ExitCode> {
    let cluster = arguments.cluster.connect().await?;
    let targets = match targets::resolve(&arguments, &cluster).await? {
        Ok(targets) => targets,
        Err(usage) => {
            note(&format!("error: {usage:#}"));
            return Ok(Exit::Usage.into());
        }
    };
    if targets.is_empty() {
        note("error: nothing matched");
        return Ok(Exit::Found.into());
    }
    Ok(session::run(&arguments, &cluster, targets).await?.into())
}
