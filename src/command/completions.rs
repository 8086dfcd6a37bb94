//! `sluicegate completions`: scripts that complete commands, flags and the live names of objects.
//!
//! The scripts ask `sluicegate __complete WORD…` for what may stand in the place of the last word. Its answer is that of
//! cobra, which `kubectl` speaks with its plugins: a candidate a line, and last a line with a colon and a number.

use super::cluster::ClusterArguments;
use crate::cluster::list::list;
use crate::names;
use crate::output::{Exit, print};
use clap::{Arg, ArgAction, Args, Command, ValueEnum};
use clap_complete::{Shell, generate};
use sluicegate_core::object::{KINDS, Kind};
use std::process::ExitCode;
use std::time::Duration;

/// A shell waits no longer for names.
const PATIENCE: Duration = Duration::from_secs(2);
/// More names than this help nobody choose.
const MOST: usize = 1_000;
/// What an argument is called that takes an object.
const OBJECT: &str = "KIND/NAME";

/// Prints a script that completes commands, flags and names of objects.
#[derive(Clone, Debug, Args)]
pub struct CompletionsArguments {
    /// The shell, or kubectl for the plugin: its script is to be a file kubectl_complete-sluicegate in the PATH.
    #[arg(value_enum)]
    pub shell: For,
}

/// What completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "each is the shell of that name")]
pub enum For {
    Bash,
    Elvish,
    Fish,
    Kubectl,
    Powershell,
    Zsh,
}

/// What the scripts ask.
#[derive(Clone, Debug, Args)]
pub struct AskArguments {
    /// The words of the command line after the name of the program; the last one is to be completed.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}

/// Prints the script.
///
/// # Errors
/// Where standard output cannot be written.
pub fn run(arguments: &CompletionsArguments, mut command: Command) -> anyhow::Result<ExitCode> {
    let mut made = |shell: Shell| {
        let mut script = Vec::new();
        generate(shell, &mut command, "sluicegate", &mut script);
        String::from_utf8_lossy(&script).into_owned()
    };
    let script = match arguments.shell {
        For::Bash => made(Shell::Bash) + BASH,
        For::Elvish => made(Shell::Elvish),
        For::Fish => made(Shell::Fish) + FISH,
        For::Kubectl => KUBECTL.to_owned(),
        For::Powershell => made(Shell::PowerShell),
        For::Zsh => zsh(&made(Shell::Zsh)),
    };
    print(&script)?;
    Ok(Exit::Fine.into())
}

const BASH: &str = r#"
_sluicegate_live() {
    _sluicegate "$@"
    local line live=()
    while IFS= read -r line; do
        [[ $line == :* ]] || live+=("$line")
    done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    [[ ${#live[@]} -gt 0 ]] || return 0
    COMPREPLY=("${live[@]}")
    [[ ${live[0]} == */ ]] && compopt -o nospace
    return 0
}
complete -F _sluicegate_live -o bashdefault -o default sluicegate
"#;

const FISH: &str = r#"
function __sluicegate_live
    sluicegate __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null | string match -v ':*'
end
complete -c sluicegate -n 'not __fish_use_subcommand; and string match -qv -- "-*" (commandline -ct)' -f -a '(__sluicegate_live)'
"#;

const KUBECTL: &str = r#"#!/bin/sh
exec kubectl-sluicegate __complete "$@"
"#;

const ZSH: &str = r#"
_sluicegate_objects() {
    local -a live
    live=(${(f)"$(sluicegate __complete ${words[1,CURRENT]} 2>/dev/null)"})
    compadd -S '' -- ${live:#:*}
}
"#;

/// Wherever an object may stand, the live names.
fn zsh(script: &str) -> String {
    let mut text = String::with_capacity(script.len() + ZSH.len());
    for (number, line) in script.lines().enumerate() {
        let is_object = line.contains(":KIND/NAME:") || line.contains(":objects -- ");
        let line = if is_object { line.replace(":_default'", ":_sluicegate_objects'") } else { line.to_owned() };
        text.push_str(&line);
        text.push('\n');
        if number == 0 {
            text.push_str(ZSH);
        }
    }
    text
}

/// Prints what may stand in the place of the last word. Silent about whatever goes wrong: a shell is no place for it.
///
/// # Errors
/// Where standard output cannot be written.
pub async fn ask(arguments: AskArguments, command: Command) -> anyhow::Result<ExitCode> {
    let found = match place(&arguments.words, &command) {
        Place::Words(words) => words,
        Place::Object { cluster, word } => {
            tokio::time::timeout(PATIENCE, objects(&cluster, &word)).await.unwrap_or_default()
        }
    };
    let last = arguments.words.last().map_or("", String::as_str);
    let found: Vec<&String> = found.iter().filter(|candidate| candidate.starts_with(last)).take(MOST).collect();
    // No files; and no space where a name follows.
    let directive = if found.iter().any(|candidate| candidate.ends_with('/')) { 6 } else { 4 };
    let lines: String = found.iter().map(|candidate| format!("{candidate}\n")).collect();
    print(&format!("{lines}:{directive}\n"))?;
    Ok(Exit::Fine.into())
}

/// What stands where the last word is.
#[derive(Debug)]
enum Place {
    /// One of these, or nothing that we know.
    Words(Vec<String>),
    /// An object of a cluster.
    Object { cluster: Box<ClusterArguments>, word: String },
}

fn place(words: &[String], command: &Command) -> Place {
    let nothing = Place::Words(Vec::new());
    let Some((last, before)) = words.split_last() else { return nothing };
    let Some((name, before)) = before.split_first() else {
        let shown = command.get_subcommands().filter(|one| !one.is_hide_set());
        return Place::Words(shown.map(|one| one.get_name().to_owned()).collect());
    };
    let Some(command) = command.find_subcommand(name) else { return nothing };
    let named = |word: &str| {
        command.get_arguments().find(|argument| match word.strip_prefix("--") {
            Some(long) => argument.get_long() == Some(long),
            None => word.strip_prefix('-').is_some_and(|short| argument.get_short() == one_letter(short)),
        })
    };
    let takes_value = |argument: &&Arg| matches!(argument.get_action(), ArgAction::Set | ArgAction::Append);
    let mut cluster = ClusterArguments::default();
    for (flag, value) in before.iter().zip(before.iter().skip(1)) {
        match flag.as_str() {
            "-n" | "--namespace" => cluster.namespace = Some(value.clone()),
            "--context" => cluster.context = Some(value.clone()),
            "--kubeconfig" => cluster.kubeconfig = Some(value.into()),
            _ => {}
        }
    }
    if let Some(argument) = before.last().and_then(|word| named(word)).filter(takes_value) {
        return wanted(argument, cluster, last);
    }
    if last.starts_with('-') {
        let shown = command.get_arguments().filter(|argument| !argument.is_hide_set());
        return Place::Words(shown.filter_map(|argument| Some(format!("--{}", argument.get_long()?))).collect());
    }
    command.get_positionals().next().map_or(nothing, |argument| wanted(argument, cluster, last))
}

fn wanted(argument: &Arg, cluster: ClusterArguments, word: &str) -> Place {
    if argument.get_value_names().is_some_and(|names| names.iter().any(|name| name.as_str() == OBJECT)) {
        return Place::Object { cluster: Box::new(cluster), word: word.to_owned() };
    }
    let values = argument.get_possible_values();
    Place::Words(values.iter().map(|value| value.get_name().to_owned()).collect())
}

fn one_letter(text: &str) -> Option<char> {
    let mut letters = text.chars();
    letters.next().filter(|_| letters.next().is_none())
}

/// Kinds by their short names, then the names of the kind.
async fn objects(cluster: &ClusterArguments, word: &str) -> Vec<String> {
    let Some((kind_word, rest)) = word.split_once('/') else {
        return KINDS.iter().map(|row| format!("{}/", kind_name(row.kind))).collect();
    };
    let Some(kind) = names::kind(kind_word) else { return Vec::new() };
    let Ok((client, own)) = cluster.client().await else { return Vec::new() };
    let namespace = rest.split_once('/').map(|(namespace, _)| namespace);
    for version in kind.row().versions {
        if let Ok(found) = list(&client, (kind, version), Some(namespace.unwrap_or(&own)), None).await {
            let mut names: Vec<String> = found
                .into_iter()
                .map(|(object, _)| match namespace {
                    Some(namespace) => format!("{kind_word}/{namespace}/{}", object.name),
                    None => format!("{kind_word}/{}", object.name),
                })
                .collect();
            names.sort_unstable();
            return names;
        }
    }
    Vec::new()
}

fn kind_name(kind: Kind) -> String {
    names::short(kind).first().map_or_else(|| kind.name().to_ascii_lowercase(), |short| (*short).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::graph::GraphArguments;
    use rstest::rstest;

    fn command() -> Command {
        let graph = GraphArguments::augment_args(Command::new("graph"));
        Command::new("sluicegate").subcommand(graph).subcommand(Command::new("secret").hide(true))
    }

    #[rstest]
    #[case(&[""], "graph")]
    #[case(&["graph", "--rev"], "--for --reverse --all-namespaces --output --ascii --file --only --kubeconfig --context --namespace")]
    #[case(&["graph", "-o", ""], "tree mermaid dot json svg")]
    #[case(&["graph", "--output", "s"], "tree mermaid dot json svg")]
    #[case(&["nothing", ""], "")]
    #[case(&[], "")]
    fn the_words_that_fit(#[case] words: &[&str], #[case] expected: &str) {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let Place::Words(found) = place(&words, &command()) else { panic!("an object") };
        assert_eq!(found.join(" "), expected);
    }

    #[rstest]
    #[case(&["graph", "ks/"], None)]
    #[case(&["graph", "-n", "there", "ks/"], Some("there"))]
    #[case(&["graph", "--namespace", "there", "--for", "ks/a"], Some("there"))]
    #[case(&["graph", "ks/a", "--reverse", "ks/"], None)]
    fn objects_are_looked_for_where_the_line_says(#[case] words: &[&str], #[case] namespace: Option<&str>) {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let Place::Object { cluster, .. } = place(&words, &command()) else { panic!("words") };
        assert_eq!(cluster.namespace.as_deref(), namespace);
    }

    #[test]
    fn every_kind_has_a_name_that_is_read_back() {
        for row in &KINDS {
            assert_eq!(names::kind(&kind_name(row.kind)), Some(row.kind));
        }
    }
}
