//! `sluicegate graph`: the needs as a tree, as Mermaid, DOT, JSON or SVG.

use super::cluster::{Cluster, ClusterArguments, object};
use super::from_files::{self, FileArguments};
use crate::cluster::Trouble;
use crate::cluster::list::list;
use crate::cluster::read::get;
use crate::output::{Exit, has_colour, note, print};
use anyhow::bail;
use clap::{Args, ValueEnum};
use futures::stream::{self, StreamExt, TryStreamExt};
use sluicegate_core::gate::Names;
use sluicegate_core::graph::Graph;
use sluicegate_core::object::{Object, Reference};
use sluicegate_core::text::dependency_cycle;
use sluicegate_offline::draw::{
    Charset, Drawing, Evidence, LARGEST, Look, MERMAID_EDGES, NodeId, State, Styling, TreeOptions, Way, cone, dot,
    json, looks, mermaid, svg, tree,
};
use sluicegate_offline::tree::World;
use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

/// How many objects of other namespaces are read one by one.
const READS: usize = 500;
/// How many requests are on their way at once.
const AT_ONCE: usize = 8;

/// The needs graph, from the cluster: what waits for what, how each object stands, and which needs close a loop.
#[derive(Clone, Debug, Args)]
pub struct GraphArguments {
    /// The objects to start from, as KIND/NAME or KIND/NAMESPACE/NAME: they and all that they need. Without any, all
    /// objects of the namespace and all that they need, wherever it is.
    #[arg(value_name = "KIND/NAME")]
    pub objects: Vec<String>,
    /// The same as naming an object without a flag.
    #[arg(long = "for", value_name = "KIND/NAME")]
    pub start: Vec<String>,
    /// What waits behind the objects, in place of what they need. In other namespaces it is only looked for with -A.
    #[arg(long)]
    pub reverse: bool,
    /// The objects of all namespaces.
    #[arg(long, short = 'A')]
    pub all_namespaces: bool,
    /// The form of the output.
    #[arg(long, short, value_enum, default_value = "tree")]
    pub output: Form,
    /// Draw the tree with characters that every terminal has.
    #[arg(long)]
    pub ascii: bool,
    /// Files.
    #[command(flatten)]
    pub files: FileArguments,
    /// The cluster.
    #[command(flatten)]
    pub cluster: ClusterArguments,
}

/// The form of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// For people at a terminal.
    #[default]
    #[value(alias = "text")]
    Tree,
    /// For Markdown.
    Mermaid,
    /// For Graphviz.
    Dot,
    /// For machines, with a schema version.
    Json,
    /// A picture, for light and dark screens.
    Svg,
}

/// What a picture is made of, wherever it comes from.
#[derive(Clone, Debug)]
pub struct Material {
    /// The objects.
    pub objects: BTreeMap<Reference, Object>,
    /// What is there, or may be, and could not be read: drawn as unknown, with this sentence.
    pub unread: BTreeMap<Reference, String>,
    /// What the objects are evidence of.
    pub evidence: Evidence,
}

/// What is drawn of it, and how.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The objects to start from; none for everything.
    pub start: Vec<Reference>,
    /// What waits behind them, in place of what they need.
    pub reverse: bool,
    /// The form of the output.
    pub form: Form,
    /// For the tree.
    pub charset: Charset,
    /// For the tree.
    pub colour: bool,
}

/// What goes to standard output, and what there is to say besides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The picture.
    pub text: String,
    /// Loops, and what the picture leaves out.
    pub notes: Vec<String>,
}

/// Runs the command: 0 when drawn, 1 if what was asked for is not there.
///
/// # Errors
/// Where the cluster does not answer, does not let us list, or an argument names no object.
pub async fn run(arguments: GraphArguments) -> anyhow::Result<ExitCode> {
    if arguments.reverse && arguments.objects.is_empty() && arguments.start.is_empty() {
        note("error: --reverse asks for an object: what waits behind which?");
        return Ok(Exit::Usage.into());
    }
    let named = || arguments.objects.iter().chain(&arguments.start);
    // What is wrong in any namespace needs no cluster to be told.
    if let Some(error) = named().find_map(|text| object(text, "default").err()) {
        note(&format!("error: {error:#}"));
        return Ok(Exit::Usage.into());
    }
    let (start, material) = if arguments.files.is_given() {
        let (_, world) = arguments.files.read()?;
        let namespace = arguments.cluster.namespace.as_deref();
        let start =
            named().map(|text| from_files::named(text, namespace, &world)).collect::<anyhow::Result<Vec<_>>>()?;
        (start, of_files(world))
    } else {
        let cluster = arguments.cluster.connect().await?;
        let start = named().map(|text| object(text, &cluster.namespace)).collect::<anyhow::Result<Vec<_>>>()?;
        let material = collect(&cluster, &start, arguments.all_namespaces).await?;
        if material.objects.is_empty() && material.unread.is_empty() && start.is_empty() {
            match arguments.all_namespaces {
                true => note("the cluster has no objects of the judged kinds"),
                false => note(&format!("nothing in namespace {}; -A looks everywhere", cluster.namespace)),
            }
        }
        (start, material)
    };
    let wanted = Wanted {
        start,
        reverse: arguments.reverse,
        form: arguments.output,
        charset: if arguments.ascii { Charset::Ascii } else { charset() },
        colour: has_colour(&std::io::stdout()),
    };
    let answer = draw(&material, &wanted)?;
    print(&answer.text)?;
    for remark in &answer.notes {
        note(remark);
    }
    Ok(Exit::Fine.into())
}

/// Draws objects, from a cluster or from files.
///
/// # Errors
/// Where an object to start from is not among them.
pub fn draw(material: &Material, wanted: &Wanted) -> anyhow::Result<Answer> {
    let mut graph = Graph::new();
    for (own, object) in &material.objects {
        graph.replace(own, object.needs().judged);
    }
    for own in &wanted.start {
        if !material.objects.contains_key(own) && !material.unread.contains_key(own) {
            bail!("{own}: not found");
        }
    }
    let way = if wanted.reverse { Way::Dependants } else { Way::Needs };
    let part = (!wanted.start.is_empty()).then(|| cone(&graph, &wanted.start, way));
    let looks = looks(&material.objects, material.evidence);
    for own in material.unread.keys().filter(|own| part.as_ref().is_none_or(|part| part.contains(own))) {
        // Without needs that anybody could tell. What is needed is in the graph already, as absent.
        if graph.dependants(own).is_empty() {
            graph.replace(own, Vec::new());
        }
    }
    let drawing = Drawing::within(&graph, part.as_ref(), |own| {
        let unread = || Some(Look { state: State::Unknown, why: Some(material.unread.get(own)?.clone()) });
        looks.get(own).cloned().or_else(unread)
    });
    let text = match wanted.form {
        Form::Tree => tree(
            &drawing,
            &TreeOptions { charset: wanted.charset, colour: wanted.colour, roots: roots(&drawing, wanted) },
        ),
        Form::Mermaid => mermaid(&drawing),
        Form::Dot => dot(&drawing),
        Form::Json => json(&drawing),
        Form::Svg => svg(&drawing, Styling::Inside),
    };
    Ok(Answer { text, notes: notes(&drawing, wanted.form) })
}

/// The tree of a cone starts where the user said. What waits behind an object is a tree the other way up, which starts
/// at its own ends.
fn roots(drawing: &Drawing, wanted: &Wanted) -> Vec<NodeId> {
    if wanted.reverse {
        return Vec::new();
    }
    let find = |own: &Reference| drawing.nodes().iter().position(|node| node.object == *own).map(NodeId);
    wanted.start.iter().filter_map(find).collect()
}

fn notes(drawing: &Drawing, form: Form) -> Vec<String> {
    let mut notes = Vec::new();
    for tangle in drawing.tangles() {
        let found = &tangle.report.shortest;
        if let Some(first) = found.members().next() {
            notes.push(dependency_cycle(found, first, &Names::everything(first)));
        }
        match tangle.behind.len() {
            0 => {}
            1 => notes.push("  1 object waits behind it".to_owned()),
            many => notes.push(format!("  {many} objects wait behind it")),
        }
    }
    let (nodes, edges) = (drawing.nodes().len(), drawing.edges().len());
    if form == Form::Svg && nodes > LARGEST {
        notes.push(format!("the picture shows {LARGEST} of {nodes} objects; name one to see what belongs to it"));
    }
    if form == Form::Mermaid && edges > MERMAID_EDGES {
        notes.push(format!("{edges} edges: Mermaid draws more than {MERMAID_EDGES} only where maxEdges is set"));
    }
    notes
}

fn of_files(world: World) -> Material {
    let unread = world
        .unread
        .into_iter()
        .map(|(own, unread)| (own, unread.why.map_or_else(|| "encrypted".to_owned(), |why| why.to_string())));
    // A status in files is one that somebody has exported: then all of them have one.
    let has_status = world.objects.values().any(|definition| definition.object.status.conditions.is_some());
    Material {
        unread: unread.collect(),
        objects: world.objects.into_iter().map(|(own, definition)| (own, definition.object)).collect(),
        evidence: if has_status { Evidence::Cluster } else { Evidence::Files },
    }
}

/// The objects of the namespaces that are asked for by one list a kind, and what they need elsewhere one by one.
async fn collect(cluster: &Cluster, start: &[Reference], all: bool) -> anyhow::Result<Material> {
    let mut material = Material { objects: BTreeMap::new(), unread: BTreeMap::new(), evidence: Evidence::Cluster };
    let own = BTreeSet::from([cluster.namespace.as_str()]);
    let namespaces: BTreeSet<&str> = start.iter().map(|own| &*own.namespace).filter(|own| !own.is_empty()).collect();
    let namespaces = if start.is_empty() { own } else { namespaces };
    let scopes: Vec<Option<&str>> = if all { vec![None] } else { namespaces.iter().copied().map(Some).collect() };
    let mut requests = Vec::new();
    for scope in &scopes {
        for (kind, version) in &cluster.kinds {
            // The rights of a tenant end with the namespace.
            if scope.is_none() || kind.row().namespaced {
                requests.push(list(&cluster.client, (*kind, version), *scope, None));
            }
        }
    }
    let lists: Vec<Vec<(Reference, Box<[u8]>)>> = stream::iter(requests).buffered(AT_ONCE).try_collect().await?;
    for (own, json) in lists.into_iter().flatten() {
        material.add(own, &json);
    }
    let is_listed = |own: &Reference| all || namespaces.contains(&*own.namespace);
    let mut reads = 0;
    let mut asked: BTreeSet<Reference> = BTreeSet::new();
    let mut ahead: Vec<Reference> = start.to_vec();
    ahead.extend(material.objects.values().flat_map(targets));
    while !ahead.is_empty() {
        let next: BTreeSet<Reference> = std::mem::take(&mut ahead).into_iter().collect();
        let next: Vec<Reference> =
            next.into_iter().filter(|own| !is_listed(own) && asked.insert(own.clone())).collect();
        let (now, later) = next.split_at(next.len().min(READS.saturating_sub(reads)));
        reads += now.len();
        for own in later {
            material.unread.insert(own.clone(), format!("not read: {READS} objects of other namespaces were"));
        }
        let read = |own: Reference| async move {
            let answer = match cluster.kinds.get(&own.kind) {
                Some(version) => get(&cluster.client, &own, version).await,
                None => Err(Trouble::Absent),
            };
            (own, answer)
        };
        let answers: Vec<_> = stream::iter(now.to_vec()).map(read).buffered(AT_ONCE).collect().await;
        for (own, answer) in answers {
            match answer {
                Ok(json) => {
                    material.add(own.clone(), &json);
                    ahead.extend(material.objects.get(&own).into_iter().flat_map(targets));
                }
                Err(Trouble::Absent) => {}
                Err(Trouble::Forbidden(_)) => {
                    material.unread.insert(own, "you may not read it".to_owned());
                }
                Err(trouble) => bail!("cannot read {own}: {trouble}"),
            }
        }
    }
    Ok(material)
}

impl Material {
    fn add(&mut self, own: Reference, json: &[u8]) {
        match Object::decode(own.clone(), json) {
            Ok(object) => {
                self.objects.insert(own, object);
            }
            Err(why) => {
                self.unread.insert(own, why.to_string());
            }
        }
    }
}

fn targets(object: &Object) -> Vec<Reference> {
    object.needs().judged.into_iter().map(|need| need.target).collect()
}

/// By the locale: one that is set and is not UTF-8 has no box-drawing characters.
fn charset() -> Charset {
    let set =
        ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()));
    match set {
        Some(locale) if !locale.to_ascii_lowercase().replace('-', "").contains("utf8") => Charset::Ascii,
        _ => Charset::Unicode,
    }
}
