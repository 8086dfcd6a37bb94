//! The companion's command line. So far it only tells its version and what is to come; the gate itself is the policy.

use clap::Parser;

/// A lock gate for Flux.
///
/// This binary will hold Sluicegate's companion: the controller that resumes what the gate has held, and the commands
/// that check manifests and wait for a roll-out. None of them is part of this version. The gate itself is the
/// Kubewarden policy `policy.wasm`, which runs without this binary.
#[derive(Debug, Parser)]
#[command(version, about, long_about, arg_required_else_help = true)]
struct Arguments {}

fn main() {
    let Arguments {} = Arguments::parse();
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
    fn help_promises_no_subcommand_that_is_not_there() {
        let help = Arguments::command().render_long_help().to_string();
        assert!(!help.contains("Commands:"), "{help}");
        assert!(help.contains("None of them is part of this version"), "{help}");
    }
}
