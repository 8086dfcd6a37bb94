//! `sluicegate explain`: why is it not ready?

use super::cluster::{Cluster, ClusterArguments, object};
use super::from_files::{self, FileArguments};
use crate::cluster::read::{self, fetched};
use crate::output::{Exit, Output, note, print};
use chrono::{DateTime, SecondsFormat, Utc};
use clap::Args;
use futures::StreamExt;
use serde_json::{Value, json};
use sluicegate_core::chain::{Asked, Cone, Judgement, Known, Root, World, evidence, hints, judge};
use sluicegate_core::gate::Fetched;
use sluicegate_core::graph::Loop;
use sluicegate_core::object::{Kind, Reference};
use sluicegate_core::text::chain as text;
use sluicegate_offline::tree::{Tree, World as Files};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

/// How many reads are under way at a time.
const READS: usize = 8;
/// How long a read may take.
const LIMIT: Duration = Duration::from_secs(10);
/// What a need by name is mistaken for.
const MISTAKEN: [(Kind, Kind); 2] =
    [(Kind::Kustomization, Kind::HelmRelease), (Kind::HelmRelease, Kind::Kustomization)];

/// Says why an object is not ready: the chain of what it waits for, up to the root blocker.
#[derive(Clone, Debug, Args)]
pub struct ExplainArguments {
    /// The object, as KIND/NAME or KIND/NAMESPACE/NAME; the kind as kubectl takes it (ks/apps).
    #[arg(value_name = "KIND/NAME")]
    object: String,
    /// A readyExpr adds to the built-in test, as with the controllers' gate AdditiveCELDependencyCheck.
    #[arg(long)]
    additive_ready_expr: bool,
    /// The form of the output.
    #[arg(long, short, value_enum, default_value = "text")]
    output: Output,
    #[command(flatten)]
    files: FileArguments,
    #[command(flatten)]
    cluster: ClusterArguments,
}

/// Runs the command: 0 if the object and all that it needs is settled, 1 if not.
///
/// # Errors
/// Where there is no cluster to ask, or no such kind.
pub async fn run(arguments: ExplainArguments) -> anyhow::Result<ExitCode> {
    let mut world = World::new();
    let (target, cone, others) = if arguments.files.is_given() {
        let (tree, known) = arguments.files.read()?;
        let target = match from_files::named(&arguments.object, arguments.cluster.namespace.as_deref(), &known) {
            Ok(target) => target,
            Err(error) => return Ok(wrong(&error)),
        };
        let mut cone = Cone::new([target.clone()], false);
        let others = take(&tree, &known, &mut cone, &mut world);
        (target, cone, others)
    } else {
        let cluster = arguments.cluster.connect().await?;
        let target = match object(&arguments.object, &cluster.namespace) {
            Ok(target) => target,
            Err(error) => return Ok(wrong(&error)),
        };
        let mut cone = Cone::new([target.clone()], false);
        let others = gather(&cluster, &mut cone, &mut world).await;
        (target, cone, others)
    };
    let asked = Asked { additive: arguments.additive_ready_expr, ..Asked::default() };
    let (text, exit) = explained(&target, &cone, &world, &asked, &others, arguments.output, Utc::now());
    print(&text)?;
    Ok(exit.into())
}

fn wrong(error: &anyhow::Error) -> ExitCode {
    note(&format!("error: {error:#}"));
    Exit::Usage.into()
}

/// Takes the whole cone from files.
fn take(tree: &Tree, known: &Files, cone: &mut Cone, world: &mut World) -> BTreeMap<Reference, Reference> {
    let mut others = BTreeMap::new();
    loop {
        let wanted = cone.grow(world);
        if wanted.is_empty() {
            return others;
        }
        for reference in wanted {
            let json = known.objects.get(&reference).and_then(|definition| tree.json(definition));
            let answer = match (json, known.unread.get(&reference)) {
                (Some(json), _) => Fetched::Found(json),
                (None, Some(unread)) => {
                    let why = unread.why.as_ref().map_or_else(|| "it is encrypted".to_owned(), ToString::to_string);
                    Fetched::Failed(why.into())
                }
                (None, None) => Fetched::Absent,
            };
            if matches!(answer, Fetched::Absent) {
                let other = mistaken(&reference).filter(|other| known.objects.contains_key(other));
                others.extend(other.map(|other| (reference.clone(), other)));
            }
            world.insert(&reference, answer);
        }
    }
}

/// What a name may be mistaken for.
fn mistaken(member: &Reference) -> Option<Reference> {
    let kind = MISTAKEN.iter().find(|(kind, _)| *kind == member.kind)?.1;
    Some(Reference::new(kind, &member.namespace, &member.name))
}

/// Reads the whole cone, each object once, and for what is missing whether there is something else of its name.
async fn gather(cluster: &Cluster, cone: &mut Cone, world: &mut World) -> BTreeMap<Reference, Reference> {
    loop {
        let wanted = cone.grow(world);
        if wanted.is_empty() {
            break;
        }
        for (reference, answer) in read_all(cluster, &wanted).await {
            world.insert(&reference, answer);
        }
    }
    let missing = cone.members().map(|(member, _)| member);
    let missing = missing.filter(|member| matches!(world.get(member), Some(Known::Absent)));
    let other = |member: &Reference| Some((member.clone(), mistaken(member)?));
    let pairs: Vec<(Reference, Reference)> = missing.filter_map(other).collect();
    let wanted: Vec<Reference> = pairs.iter().map(|(_, other)| other.clone()).collect();
    let answers = read_all(cluster, &wanted).await;
    let there = pairs.into_iter().zip(answers).filter(|(_, (_, answer))| matches!(answer, Fetched::Found(_)));
    there.map(|(pair, _)| pair).collect()
}

/// Reads these objects as they are now, in order.
pub(super) async fn read_all(cluster: &Cluster, wanted: &[Reference]) -> Vec<(Reference, Fetched)> {
    let reads = futures::stream::iter(wanted.to_vec()).map(|reference| async move {
        let answer = read_one(cluster, &reference).await;
        (reference, answer)
    });
    reads.buffered(READS).collect().await
}

/// Reads one object as it is now.
pub(super) async fn read_one(cluster: &Cluster, reference: &Reference) -> Fetched {
    let Some(version) = cluster.kinds.get(&reference.kind) else { return Fetched::KindAbsent };
    match tokio::time::timeout(LIMIT, read::get(&cluster.client, reference, version)).await {
        Ok(answer) => fetched(answer),
        Err(_) => Fetched::Failed("the API server does not answer in time".into()),
    }
}

/// What is to be said of an object whose whole cone is in the world, wherever that came from, and how to end.
///
/// `others`: for objects that do not exist, one of the same name and another kind that does.
#[must_use]
pub fn explained(
    target: &Reference,
    cone: &Cone,
    world: &World,
    asked: &Asked,
    others: &BTreeMap<Reference, Reference>,
    output: Output,
    now: DateTime<Utc>,
) -> (String, Exit) {
    let judgement = judge(cone, world, asked);
    let text = match output {
        Output::Text => text::explanation(target, &judgement, world, others, now),
        Output::Json => format!("{:#}\n", record(target, &judgement, world, others, now)),
    };
    (text, if judgement.is_settled() { Exit::Fine } else { Exit::Found })
}

fn record(
    target: &Reference,
    judgement: &Judgement,
    world: &World,
    others: &BTreeMap<Reference, Reference>,
    now: DateTime<Utc>,
) -> Value {
    let chain: Vec<Value> = judgement
        .states
        .iter()
        .map(|(member, state)| {
            let found = world.found(member);
            let troubles: Vec<Value> = state
                .troubles
                .iter()
                .map(|what| {
                    let condition = found.and_then(|found| evidence(&found.object, what)).map(|evidence| {
                        json!({"type": evidence.condition, "status": evidence.status, "reason": evidence.reason,
                               "since": evidence.since.map(instant)})
                    });
                    json!({"text": text::trouble(member, what), "condition": condition})
                })
                .collect();
            let remarks = found.map(|found| hints(found, state, world, now)).unwrap_or_default();
            let remarks: Vec<String> = remarks.iter().map(|remark| text::hint(remark, now)).collect();
            let waits: Vec<Value> = state
                .waits
                .iter()
                .map(|need| json!({"object": need.target.to_string(), "field": need.reason.to_string()}))
                .collect();
            json!({"object": member.to_string(), "settled": state.is_settled(), "troubles": troubles,
                   "waitsFor": waits, "remarks": remarks,
                   "sameName": others.get(member).map(ToString::to_string)})
        })
        .collect();
    json!({
        "schemaVersion": 1, "object": target.to_string(), "settled": judgement.is_settled(),
        "roots": judgement.roots.iter().map(|root| root_record(root, judgement)).collect::<Vec<_>>(),
        "loops": judgement.loops.iter().map(loop_record).collect::<Vec<_>>(),
        "chain": chain,
    })
}

pub(super) fn instant(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// A root blocker with the way to it.
pub(super) fn root_record(root: &Root, judgement: &Judgement) -> Value {
    let steps: Vec<Value> = root
        .way
        .iter()
        .map(|(from, reason)| json!({"object": from.to_string(), "field": reason.to_string()}))
        .collect();
    let first = judgement.states.get(&root.at).and_then(|state| state.troubles.first());
    json!({"object": root.at.to_string(), "why": first.map(|what| text::trouble(&root.at, what)), "steps": steps,
           "behind": judgement.behind(&root.at)})
}

pub(super) fn loop_record(found: &Loop) -> Value {
    let steps = found.steps.iter().map(|step| {
        json!({"object": step.from.to_string(), "field": step.need.reason.to_string(),
               "needs": step.need.target.to_string()})
    });
    steps.collect()
}
