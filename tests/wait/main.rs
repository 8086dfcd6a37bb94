//! `sluicegate wait` as a process, against an API server in memory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "helpers of tests")]
#![allow(missing_docs, reason = "helpers of tests")]

mod ends;
mod process;
mod server;
mod terminal;
mod watches;
mod wire;
mod writes;

use serde_json::{Value, json};
use sluicegate_core::object::{Kind, Reference};
use sluicegate_core::testing::{sample, with};

pub fn ks(name: &str) -> Reference {
    Reference::new(Kind::Kustomization, "ns", name)
}

pub fn repo() -> Reference {
    Reference::new(Kind::GitRepository, "ns", "repo")
}

pub fn repository() -> Value {
    sample::git_repository("ns", "repo")
}

pub fn kustomization(name: &str, needs: &[&str]) -> Value {
    let entries: Vec<Value> = needs.iter().map(|name| json!({"name": name})).collect();
    with(sample::kustomization("ns", name), &[("/spec/dependsOn", json!(entries))])
}

pub fn suspended(json: Value) -> Value {
    with(json, &[("/spec/suspend", json!(true))])
}

pub fn failed(json: Value, reason: &str, message: &str) -> Value {
    with(
        json,
        &[
            ("/status/conditions/Ready/status", json!("False")),
            ("/status/conditions/Ready/reason", json!(reason)),
            ("/status/conditions/Ready/message", json!(message)),
        ],
    )
}

pub fn waiting(name: &str, on: &str) -> Value {
    failed(kustomization(name, &[on]), "DependencyNotReady", &format!("dependency 'ns/{on}' is not ready"))
}

#[test]
fn the_page_about_waiting_explains_every_flag() {
    use clap::{Args, Command};
    let page = include_str!("../../docs/waiting.md");
    let command = sluicegate::command::wait::WaitArguments::augment_args(Command::new("wait"));
    for argument in command.get_arguments().filter(|argument| argument.get_help_heading() != Some("Cluster")) {
        let Some(flag) = argument.get_long() else { continue };
        assert!(page.contains(&format!("`--{flag}`")), "{flag}");
    }
}
