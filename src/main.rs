//! The companion's command line.

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use sluicegate::command::{check, completions, explain, graph, man, rbac, release, run, wait};
use sluicegate::output::Exit;
use std::io::Write;
use std::process::ExitCode;

/// Every thread may evaluate an expression of a tenant; the worst that are let through take 4 MiB where nothing is
/// optimised. Only what is used is ever in memory.
const STACK: usize = 16 * 1_024 * 1_024;

/// A lock gate for Flux.
///
/// The companion of the Kubewarden policy `policy.wasm`: it resumes what the gate has held, recovers stalled generators,
/// and watches for dependency cycles.
#[derive(Debug, Parser)]
#[command(version, about, long_about, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// The companion as a controller.
    Run(run::RunArguments),
    /// Find dependency cycles, deadlocks, and references that lead nowhere: in files, or in a cluster.
    Check(check::CheckArguments),
    /// Wait until objects, and all that they need, are settled.
    Wait(wait::WaitArguments),
    /// Say why an object is not ready: the chain up to the root blocker.
    Explain(explain::ExplainArguments),
    /// List held objects, or free them.
    Release(release::ReleaseArguments),
    /// Draw what waits for what: as a tree, Mermaid, DOT, JSON or SVG.
    Graph(graph::GraphArguments),
    /// Print the rights that the companion and the policy need, as manifests.
    Rbac(rbac::RbacArguments),
    /// Print a script that completes commands, flags and names of objects.
    Completions(completions::CompletionsArguments),
    /// Write the manual pages.
    Man(man::ManArguments),
    /// What the scripts of `completions` ask.
    #[command(name = "__complete", hide = true)]
    Complete(completions::AskArguments),
}

fn main() -> ExitCode {
    // Usage errors end with 2, by clap.
    let arguments = match Arguments::from_arg_matches(&named(std::env::args_os().next()).get_matches()) {
        Ok(arguments) => arguments,
        Err(error) => error.exit(),
    };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).thread_stack_size(STACK).enable_all().build();
    let result = match runtime {
        Ok(runtime) => runtime.block_on(dispatch(arguments.command)),
        Err(error) => Err(error.into()),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The command, by the name that it was called by: `kubectl` runs `kubectl-sluicegate` as `kubectl sluicegate`.
fn named(program: Option<std::ffi::OsString>) -> clap::Command {
    let command = Arguments::command();
    let name = program.as_deref().map(std::path::Path::new).and_then(std::path::Path::file_stem);
    match name.and_then(std::ffi::OsStr::to_str) {
        Some("kubectl-sluicegate") => command.bin_name("kubectl sluicegate"),
        _ => command,
    }
}

async fn dispatch(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Check(arguments) => on_worker(async { check::run(arguments).await.map(Exit::into) }).await,
        // What the main thread polls has the stack of the main thread: nothing heavy.
        Command::Run(arguments) => run::run(arguments).await.map(|()| ExitCode::SUCCESS),
        Command::Wait(arguments) => on_worker(wait::run(arguments)).await,
        Command::Explain(arguments) => on_worker(explain::run(arguments)).await,
        Command::Release(arguments) => on_worker(release::run(arguments)).await,
        Command::Graph(arguments) => on_worker(graph::run(arguments)).await,
        Command::Completions(arguments) => completions::run(&arguments, Arguments::command()),
        Command::Man(arguments) => man::run(&arguments, Arguments::command()),
        Command::Complete(arguments) => completions::ask(arguments, Arguments::command()).await,
        Command::Rbac(arguments) => {
            let _ = std::io::stdout().write_all(rbac::manifests(&arguments).as_bytes());
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Runs it where the stack is large.
async fn on_worker(work: impl Future<Output = anyhow::Result<ExitCode>> + Send + 'static) -> anyhow::Result<ExitCode> {
    match tokio::spawn(work).await {
        Ok(result) => result,
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::Arguments;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_flag_of_run_has_a_variable_and_a_word_of_help() {
        let mut command = Arguments::command();
        command.build();
        let run = command.find_subcommand("run").unwrap();
        for argument in run.get_arguments().filter(|argument| argument.get_id() != "help") {
            assert!(argument.get_help().is_some(), "{}", argument.get_id());
            let variable = argument.get_env().and_then(|name| name.to_str()).unwrap_or_default();
            let expected = argument.get_long().unwrap().to_uppercase().replace('-', "_");
            assert_eq!(variable, format!("SLUICEGATE_{expected}"));
        }
    }
}
