//! Structured logs on standard error, in lines of text or JSON.

use clap::ValueEnum;
use tracing_subscriber::EnvFilter;

/// The form of a log line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For machines.
    Json,
}

/// Starts logging. A second call does nothing.
///
/// # Errors
/// Where `filter` is none.
pub fn start(format: LogFormat, filter: &str) -> anyhow::Result<()> {
    let filter = EnvFilter::builder().parse(filter)?;
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // Another subscriber may be there already: in tests.
    let _ = match format {
        LogFormat::Text => logs.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).try_init(),
        LogFormat::Json => logs.json().flatten_event(true).with_current_span(false).with_span_list(false).try_init(),
    };
    Ok(())
}
