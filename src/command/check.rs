//! `sluicegate check`: finds loops and references that lead nowhere, before they are applied or in a cluster.

use super::cluster::ClusterArguments;
use crate::cluster::list::list_all;
use crate::files;
use crate::output::check::{CheckOutput, Report};
use crate::output::{Exit, Painter, note, print};
use anyhow::bail;
use clap::Args;
use sluicegate_offline::check::{Finding, Severity, Spot, Strictness, What, check, check_files};
use sluicegate_offline::tree::World;
use std::path::PathBuf;

/// Finds dependency cycles, deadlocks, and references that are missing or of the wrong kind.
#[derive(Clone, Debug, Args)]
pub struct CheckArguments {
    /// Files and folders to read; - is standard input. Without any, the current folder, or with --cluster none.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Check what is in the cluster; with PATH, the cluster as it would be after this change.
    #[arg(long)]
    pub cluster: bool,
    /// Of a tree that describes several clusters, this one: the folder that sets it apart.
    #[arg(long, value_name = "FOLDER")]
    pub only: Option<String>,
    /// Only a part of the objects is here: a missing reference is a note.
    #[arg(long)]
    pub partial: bool,
    /// Show notes, too.
    #[arg(long)]
    pub notes: bool,
    /// The form of the output.
    #[arg(long, short, value_enum, default_value = "text")]
    pub output: CheckOutput,
    /// Where the cluster is.
    #[command(flatten)]
    pub connection: ClusterArguments,
}

/// Runs the command: 0 if there is no error, 1 if there is one.
///
/// # Errors
/// Where the cluster does not answer, and where there is nothing to check.
pub async fn run(arguments: CheckArguments) -> anyhow::Result<Exit> {
    let mut paths = arguments.paths.clone();
    if paths.is_empty() && !arguments.cluster {
        paths.push(PathBuf::from("."));
    }
    let read = files::read(&paths);
    let mut report = Report::of(read.tree.files().len());
    report.add(None, failed(&read.failed));
    report.add(None, check_files(&read.tree, |path| read.named.contains(path)));
    let mut worlds = if paths.is_empty() { Vec::new() } else { read.tree.worlds() };
    if let Some(only) = &arguments.only {
        let only = only.trim_end_matches('/').trim_start_matches("./");
        let names: Vec<String> = worlds.iter().map(|world| world.name.clone()).collect();
        worlds.retain(|world| world.name == only);
        if worlds.is_empty() {
            note(&format!("error: there is no cluster {only}; there are: {}", names.join(", ")));
            return Ok(Exit::Usage);
        }
    }
    if arguments.cluster {
        worlds = vec![over_cluster(worlds, &arguments.connection).await?];
    }
    report.clusters = worlds.iter().map(|world| world.name.clone()).collect();
    for world in &worlds {
        report.objects += world.objects.len() + world.unread.len();
        let found = check(&read.tree, world, Strictness { partial: arguments.partial });
        report.add(Some(&world.name), found);
    }
    report.findings.sort_by(|(a, _), (b, _)| (a.severity, &a.object, &a.spot).cmp(&(b.severity, &b.object, &b.spot)));
    let text = match arguments.output {
        CheckOutput::Text => report.text(arguments.notes, Painter::for_stream(&std::io::stdout())),
        CheckOutput::Json => report.json(),
        CheckOutput::Sarif => report.sarif(),
        CheckOutput::Github => report.github(),
    };
    print(&text)?;
    let hidden = report.count(Severity::Note) > 0 && !arguments.notes && arguments.output == CheckOutput::Text;
    note(&format!("{}{}", report.summary(), if hidden { " (--notes shows notes)" } else { "" }));
    Ok(if report.count(Severity::Error) > 0 { Exit::Found } else { Exit::Fine })
}

async fn over_cluster(worlds: Vec<World>, connection: &ClusterArguments) -> anyhow::Result<World> {
    let cluster = connection.connect().await?;
    let live = list_all(&cluster.client, &cluster.kinds, connection.namespace.as_deref()).await?;
    let live = World::of_cluster(live);
    let mut worlds = worlds.into_iter();
    match (worlds.next(), worlds.next()) {
        (None, _) => Ok(live),
        (Some(world), None) => Ok(world.over(live)),
        (Some(first), Some(second)) => {
            bail!("the files describe several clusters ({}, {}, …): --only names the one", first.name, second.name)
        }
    }
}

fn failed(failed: &[(String, String)]) -> Vec<Finding> {
    let finding = |(path, why): &(String, String)| Finding {
        severity: Severity::Error,
        object: None,
        spot: Some(Spot { path: path.clone(), line: 0 }),
        what: What::File(why.clone()),
    };
    failed.iter().map(finding).collect()
}
