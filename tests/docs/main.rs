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
