//! The documentation says what there is.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "helpers of tests")]

use clap::{Args, Command};
use sluicegate::command::run::RunArguments;
use sluicegate::metrics::Metrics;
use sluicegate_core::publish::Topic;

const TEXT: &str = include_str!("../../docs/companion.md");

#[test]
fn every_flag_stands_in_the_table_with_its_variable_and_default() {
    let command = RunArguments::augment_args(Command::new("run"));
    let rows: Vec<&str> = TEXT.lines().filter(|line| line.starts_with("| `--")).collect();
    let arguments: Vec<_> = command.get_arguments().filter(|argument| argument.get_long().is_some()).collect();
    assert_eq!(rows.len(), arguments.len());
    for argument in arguments {
        let flag = format!("| `--{}` |", argument.get_long().unwrap());
        let row = rows.iter().find(|row| row.starts_with(&flag)).unwrap_or_else(|| panic!("{flag}"));
        let variable = argument.get_env().unwrap().to_str().unwrap();
        assert!(row.contains(&format!("`{variable}`")), "{row}");
        if argument.get_action().takes_values() {
            let default = argument.get_default_values().first();
            let shown = default.map_or("all".to_owned(), |value| format!("`{}`", value.to_str().unwrap()));
            assert!(row.contains(&format!("| {shown} |")), "{row} has not {shown}");
        }
    }
}

#[test]
fn every_event_is_explained() {
    for topic in Topic::ALL {
        assert!(TEXT.contains(&format!("\n| `{}` |", topic.reason())), "{}", topic.reason());
    }
}

#[test]
fn every_metric_is_explained() {
    let metrics = Metrics::new();
    metrics.write("release", "written");
    let text = metrics.text();
    for line in text.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let (name, kind) = line.split_once(' ').unwrap();
        let name = if kind == "counter" { format!("{name}_total") } else { name.to_owned() };
        assert!(TEXT.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn every_rule_of_the_check_is_explained() {
    let text = include_str!("../../docs/check.md");
    let (_, rest) = text.split_once("<!-- rules: begin -->").unwrap();
    let (table, _) = rest.split_once("<!-- rules: end -->").unwrap();
    let mut rows: Vec<&str> = table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    rows.sort_unstable();
    let mut rules: Vec<&str> = sluicegate_offline::check::RULES.iter().map(|rule| rule.name).collect();
    rules.sort_unstable();
    assert_eq!(rows, rules);
}

#[test]
fn the_readme_shows_what_explain_prints() {
    let text = include_str!("../../README.md");
    let (_, rest) = text.split_once("<!-- explain: begin -->\n```text\n$ sluicegate explain hr/rook-ceph\n").unwrap();
    let (shown, _) = rest.split_once("```\n<!-- explain: end -->").unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_sluicegate"))
        .args(["explain", "-f", "testdata/clusters/upgrading", "hr/rook-ceph"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), shown);
}

#[test]
fn the_readme_and_the_help_name_the_same_commands() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_sluicegate")).arg("--help").output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let (_, rest) = help.split_once("Commands:\n").unwrap();
    let (list, _) = rest.split_once("\n\n").unwrap();
    let indented = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    let commands: Vec<&str> = list.lines().filter(indented).filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.len() > 8, "{commands:?}");
    let readme = include_str!("../../README.md");
    for command in commands.into_iter().filter(|command| *command != "help") {
        assert!(readme.contains(&format!("sluicegate {command}")), "{command}");
    }
}

/// What pipelines call is there, with the flags that they give.
#[test]
fn the_hook_and_the_action_call_what_there_is() {
    let hooks = include_str!("../../.pre-commit-hooks.yaml");
    let action = include_str!("../../action.yml");
    for (text, wanted) in
        [(hooks, "- id: sluicegate-check"), (hooks, "entry: sluicegate check"), (action, "using: composite")]
    {
        assert!(text.contains(wanted), "{wanted}");
    }
    let (documents, broken) = sluicegate_offline::yaml::documents(action);
    assert!(broken.is_empty() && documents.len() == 1, "{broken:?}");
    let flags: std::collections::BTreeSet<&str> = action
        .lines()
        .filter(|line| line.contains("sluicegate check") || line.contains("flags+="))
        .flat_map(|line| line.split(|letter: char| letter.is_whitespace() || "()".contains(letter)))
        .filter(|word| word.starts_with("--"))
        .collect();
    let check = sluicegate::command::check::CheckArguments::augment_args(Command::new("check"));
    for flag in &flags {
        let known = check.get_arguments().any(|argument| argument.get_long() == flag.strip_prefix("--"));
        assert!(known, "{flag}");
    }
    assert_eq!(flags.len(), 2, "{flags:?}");
}
