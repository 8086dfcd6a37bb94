//! `story`: several requests, each with what somebody tries, and the verdict that must come out.

use std::{collections::BTreeMap, error::Error, fmt::Write, fs, path::Path};

use serde::Deserialize;
use serde_json::Value;
use sluicegate_host::{Evaluation, Host, MemoryCluster, NoCluster, Policy};

use crate::{cli, output::Results};

/// A story: its paths are relative to the file that holds it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Story {
    title: String,
    chapters: Vec<Chapter>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Chapter {
    title: String,
    #[serde(default)]
    text: String,
    steps: Vec<Step>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    tries: String,
    request: String,
    cluster: String,
    #[serde(default)]
    settings: Value,
    verdict: Verdict,
    /// Pieces that the texts must hold.
    #[serde(default)]
    says: Vec<String>,
    /// How many objects may be read, exactly.
    reads: Option<usize>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Verdict {
    Refused,
    Held,
    Admitted,
    AdmittedWithChange,
    AdmittedWithWarning,
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Held => "held",
            Self::Admitted => "admitted",
            Self::AdmittedWithChange => "admitted, with a change",
            Self::AdmittedWithWarning => "admitted, with a warning",
        }
    }

    fn of(evaluation: &Evaluation) -> Self {
        let response = &evaluation.response;
        let held = response.warnings().iter().any(|warning| warning.starts_with("held: "));
        match (response.allowed, response.patch.is_some()) {
            (false, _) => Self::Refused,
            (true, true) if held => Self::Held,
            (true, true) => Self::AdmittedWithChange,
            (true, false) if response.warnings().is_empty() => Self::Admitted,
            (true, false) => Self::AdmittedWithWarning,
        }
    }
}

/// Tells the story; an error at its end if any verdict was not the one that the story expects.
pub fn story(args: &cli::Story) -> Result<(), Box<dyn Error>> {
    let folder = args.story.parent().unwrap_or(Path::new("."));
    let story: Story =
        yaml_serde::from_str(&read(&args.story)?).map_err(|e| format!("{}: {e}", args.story.display()))?;
    let policy = Policy::load(&args.policy)?;
    let mut results = Results::take()?;
    let mut clusters: BTreeMap<&str, MemoryCluster> = BTreeMap::new();
    let (mut number, mut wrong) = (0, Vec::new());

    results.print(&story.title)?;
    for chapter in &story.chapters {
        results.print(&format!("\n{}\n{}", chapter.title, chapter.text.trim_end()))?;
        for step in &chapter.steps {
            number += 1;
            if !clusters.contains_key(step.cluster.as_str()) {
                clusters.insert(&step.cluster, MemoryCluster::from_folder(folder.join(&step.cluster))?);
            }
            let cluster = clusters.get(step.cluster.as_str()).cloned().unwrap_or_default();
            let request: Value = serde_json::from_str(&read(&folder.join(&step.request))?)
                .map_err(|error| format!("{}: {error}", step.request))?;
            let host = Host::new(&policy, NoCluster).with_settings(step.settings.clone())?.with_cluster(cluster);
            let evaluation = host.validate(&request)?;
            results.print(&tell(number, step, &request, &evaluation))?;
            wrong.extend(mistakes(step, &evaluation).map(|mistake| format!("step {number}: {mistake}")));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

fn tell(number: usize, step: &Step, request: &Value, evaluation: &Evaluation) -> String {
    let request = request.get("request").unwrap_or(request);
    let field = |pointer: &str| request.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let response = &evaluation.response;
    let mut text = format!("\n{number:>2}. {}\n", step.tries.trim_end());
    let dry_run = if request.get("dryRun") == Some(&Value::Bool(true)) { ", dry-run" } else { "" };
    let _ = writeln!(
        text,
        "    {} {}/{}/{} by {} ({}{dry_run})",
        field("/operation"),
        field("/kind/kind"),
        field("/namespace"),
        field("/name"),
        field("/userInfo/username"),
        field("/options/fieldManager"),
    );
    let reads = match evaluation.reads().count() {
        0 => "nothing read".to_owned(),
        1 => "1 object read".to_owned(),
        reads => format!("{reads} objects read"),
    };
    let _ = writeln!(text, "    -> {} ({reads})", Verdict::of(evaluation).name());
    for line in response.message().lines() {
        let _ = writeln!(text, "       {line}");
    }
    for warning in response.warnings() {
        let _ = writeln!(text, "       warning: {warning}");
    }
    for change in response.patch().iter().filter_map(Value::as_array).flatten() {
        let _ = writeln!(text, "       change: {}", shown(change));
    }
    text.trim_end().to_owned()
}

/// An operation of a JSON patch in a line.
fn shown(change: &Value) -> String {
    let field = |key: &str| change.get(key).and_then(Value::as_str).unwrap_or_default().replace("~1", "/");
    let value = change.get("value").map(|value| format!(" {value}")).unwrap_or_default();
    format!("{} {}{}", field("op"), field("path"), without_time(&value))
}

/// A mark carries the time at which it was made; a story is told the same way every time.
fn without_time(text: &str) -> String {
    let at = r#"\"at\":\""#;
    let Some((before, rest)) = text.split_once(at) else { return text.to_owned() };
    let after = rest.split_once('\\').map_or("", |(_time, after)| after);
    format!("{before}{at}…\\{after}")
}

fn mistakes(step: &Step, evaluation: &Evaluation) -> impl Iterator<Item = String> {
    let found = Verdict::of(evaluation);
    let verdict = (found != step.verdict).then(|| format!("{} instead of {}", found.name(), step.verdict.name()));
    let reads = evaluation.reads().count();
    let reads =
        step.reads.filter(|expected| *expected != reads).map(|n| format!("{reads} objects read instead of {n}"));
    let said = [evaluation.response.message().to_owned(), evaluation.response.warnings().join("\n")].join("\n");
    let unsaid: Vec<String> = step.says.iter().filter(|piece| !said.contains(*piece)).cloned().collect();
    verdict.into_iter().chain(reads).chain(unsaid.into_iter().map(|piece| format!("does not say: {piece}")))
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}
