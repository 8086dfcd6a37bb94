//! The command as a process, and what it says without times.

use crate::server::Server;
use std::process::{Command, Output};

/// The binary with this server's kubeconfig.
pub fn command(server: &Server, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sluicegate"));
    command.args(arguments).arg("--kubeconfig").arg(&server.kubeconfig);
    command.env_remove("KUBECONFIG").env("NO_COLOR", "1").env("RUST_BACKTRACE", "0");
    command
}

/// Runs it to its end: exit code, standard output and standard error, without times.
pub fn run(server: &Server, arguments: &[&str]) -> String {
    shown(&command(server, arguments).output().unwrap())
}

pub fn shown(output: &Output) -> String {
    let text = |bytes: &[u8]| without_times(&String::from_utf8_lossy(bytes));
    format!(
        "exit {}\n--- stdout\n{}--- stderr\n{}",
        output.status.code().map_or("by a signal".to_owned(), |code| code.to_string()),
        text(&output.stdout),
        text(&output.stderr)
    )
}

/// Times and ages as `TIME` and `AGE`: those of the machine's clock are never the same.
pub fn without_times(text: &str) -> String {
    let time = regex_lite::Regex::new(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)").unwrap();
    let age = regex_lite::Regex::new(r"\b\d+ (d \d+ h|h \d+ min|min( \d+ s)?|s)\b( ago)?").unwrap();
    let bar = regex_lite::Regex::new(r"\|[.z?#!= ]{32}\|").unwrap();
    let text = bar.replace_all(text, "|BAR|");
    let text = time.replace_all(&text, "TIME");
    age.replace_all(&text, |found: &regex_lite::Captures<'_>| {
        if found.get(0).is_some_and(|all| all.as_str().ends_with("ago")) { "AGE ago" } else { "AGE" }
    })
    .into_owned()
}
