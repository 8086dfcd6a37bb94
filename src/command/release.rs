//! `sluicegate release`: lists held objects, or frees them.

use crate::clock::Clock;
use crate::cluster::discovery::{Served, served};
use crate::cluster::lease::Fence;
use crate::cluster::list::list_all;
use crate::control::{Control, Freed, Settings};
use crate::logs::{LogFormat, start};
use crate::metrics::Metrics;
use crate::output::{Output, print};
use crate::serve::parse;
use anyhow::{Context, anyhow, bail};
use chrono::Utc;
use clap::Args;
use kube::Client;
use serde_json::{Value, json};
use sluicegate_core::intent::Fresh;
use sluicegate_core::object::Reference;
use sluicegate_core::release::{Marked, Marks, Standing};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Lists held objects, or frees them: for removal, or when the companion is gone.
#[derive(Clone, Debug, Args)]
pub struct ReleaseArguments {
    /// The objects to free, as Kind/namespace/name; without any, held objects are listed.
    #[arg(value_name = "OBJECT")]
    pub objects: Vec<String>,
    /// Free all held objects, in the order of their needs.
    #[arg(long, conflicts_with = "objects")]
    pub all: bool,
    /// Free objects that wait for something as well, by the bypass, with this reason.
    #[arg(long, value_name = "REASON")]
    pub unsettled: Option<String>,
    /// This namespace alone.
    #[arg(long, short, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Obey the bare annotation sluicegate.dev/resume: when-settled as well.
    #[arg(long)]
    pub annotations: bool,
    /// Say what would be done, and do nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// The form of the output.
    #[arg(long, short, value_enum, default_value = "text")]
    pub output: Output,
}

/// Runs the command: 0 if there is nothing left to free, 1 if something stays held.
///
/// # Errors
/// Where the cluster does not answer, or an argument is none.
pub async fn run(arguments: ReleaseArguments) -> anyhow::Result<ExitCode> {
    start(LogFormat::Text, "warn")?;
    if arguments.unsettled.as_deref().is_some_and(|reason| reason.trim().is_empty()) {
        bail!("--unsettled asks for a reason");
    }
    let client = super::client().await.context("no Kubernetes cluster")?;
    let kinds = served(&client).await.map_err(|trouble| anyhow!("the cluster's kinds: {trouble}"))?;
    let marks = if arguments.annotations { Marks::Annotations } else { Marks::Gate };
    let wanted: Vec<Reference> = arguments
        .objects
        .iter()
        .map(|text| parse(text).with_context(|| format!("{text} is no Kind/namespace/name of a judged kind")))
        .collect::<anyhow::Result<_>>()?;
    let held = if wanted.is_empty() {
        held_objects(&client, &kinds, arguments.namespace.as_deref(), marks).await?
    } else {
        Vec::new()
    };
    if wanted.is_empty() && !arguments.all {
        print(&listed(&held, arguments.output))?;
        return Ok(ExitCode::SUCCESS);
    }
    let objects = if arguments.all { held.into_iter().map(|(object, _)| object).collect() } else { wanted };
    let freed = free(client, kinds, objects, &arguments, marks).await;
    print(&told(&freed, arguments.output))?;
    let left = freed.iter().any(|(_, freed)| !matches!(freed, Freed::Resumed | Freed::Pretended | Freed::NotHeld));
    Ok(if left { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// All held objects, in the stable order, each with its mark.
async fn held_objects(
    client: &Client,
    kinds: &Served,
    namespace: Option<&str>,
    marks: Marks,
) -> anyhow::Result<Vec<(Reference, Marked)>> {
    let mut found = Vec::new();
    for (reference, json) in list_all(client, kinds, namespace).await? {
        let Ok(fresh) = Fresh::read(&reference, &json) else { continue };
        if let Standing::Held(marked) = Standing::of(fresh.object(), marks) {
            found.push((reference, marked));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

/// Frees them, as often round as some could be: one may wait for another.
async fn free(
    client: Client,
    kinds: Served,
    mut objects: Vec<Reference>,
    arguments: &ReleaseArguments,
    marks: Marks,
) -> Vec<(Reference, Freed)> {
    let (sender, fence) = Fence::new();
    // A person needs no Lease: what is written carries its precondition all the same.
    sender.send_replace(Some(Instant::now() + Duration::from_secs(86_400)));
    let mut settings = Settings { dry_run: arguments.dry_run, ..Settings::default() };
    settings.release.marks = marks;
    let control = Control::new(client, Clock::System, Some(fence), settings, Arc::new(Metrics::new()));
    control.serve(kinds);
    let mut done = Vec::new();
    loop {
        let mut left = Vec::new();
        let before = done.len();
        for object in objects {
            match control.free(&object, arguments.unsettled.as_deref()).await {
                Freed::Waits(why) => left.push((object, Freed::Waits(why))),
                freed => done.push((object, freed)),
            }
        }
        if left.is_empty() || done.len() == before {
            done.extend(left);
            done.sort_by(|a, b| a.0.cmp(&b.0));
            return done;
        }
        objects = left.into_iter().map(|(object, _)| object).collect();
    }
}

fn listed(held: &[(Reference, Marked)], output: Output) -> String {
    if output == Output::Json {
        let held: Vec<Value> = held
            .iter()
            .map(|(object, marked)| {
                json!({"object": object.to_string(), "cause": marked.cause().name(),
                       "since": marked.made().map(|made| made.to_rfc3339())})
            })
            .collect();
        return format!("{:#}\n", json!({"schemaVersion": 1, "held": held}));
    }
    if held.is_empty() {
        return "nothing is held\n".to_owned();
    }
    let rows = held.iter().map(|(object, marked)| {
        let age = marked.made().map_or(0, |made| (Utc::now() - made).num_seconds().max(0));
        format!("{object}  {}  held for {age} s\n", marked.cause().name())
    });
    rows.collect()
}

fn told(freed: &[(Reference, Freed)], output: Output) -> String {
    let row = |freed: &Freed| match freed {
        Freed::Resumed => ("resumed", None),
        Freed::Pretended => ("would be resumed", None),
        Freed::NotHeld => ("not held", None),
        Freed::Vetoed => ("not resumed", Some("the annotation sluicegate.dev/release says never".to_owned())),
        Freed::Waits(why) => ("waits", Some(why.clone())),
        Freed::Failed(why) => ("failed", Some(why.clone())),
    };
    if output == Output::Json {
        let objects: Vec<Value> = freed
            .iter()
            .map(|(object, freed)| {
                let (result, why) = row(freed);
                json!({"object": object.to_string(), "result": result, "why": why})
            })
            .collect();
        return format!("{:#}\n", json!({"schemaVersion": 1, "objects": objects}));
    }
    let rows = freed.iter().map(|(object, freed)| match row(freed) {
        (result, Some(why)) => format!("{object}: {result}: {why}\n"),
        (result, None) => format!("{object}: {result}\n"),
    });
    rows.collect()
}
