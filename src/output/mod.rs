//! What goes to standard output and standard error, and how a command ends.

pub mod check;
pub mod timeline;
pub mod tree;

use clap::ValueEnum;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// How a command ends; the codes are part of its interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// All is well.
    Fine = 0,
    /// Something was found, or something failed.
    Found = 1,
    /// The command line is wrong. Clap ends with it, too.
    Usage = 2,
    /// The time was over before it came to an end.
    TimedOut = 3,
    /// It cannot come to a good end any more, however long one waits.
    Blocked = 4,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// The form of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For people.
    #[default]
    Text,
    /// For machines, with a schema version.
    Json,
}

/// Prints a result. A reader that has gone away is no error.
///
/// # Errors
/// Where standard output cannot be written for another reason, a full disk for example.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Prints a line of progress, or a remark, on standard error.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Whether a stream is painted: on a terminal, and never with `NO_COLOR` (<https://no-color.org>) or on a dumb one.
#[must_use]
pub fn has_colour(stream: &impl IsTerminal) -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    stream.is_terminal() && !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Paints words, or leaves them plain.
#[derive(Clone, Copy, Debug)]
pub struct Painter {
    colour: bool,
}

impl Painter {
    /// For a stream: see [`has_colour`].
    #[must_use]
    pub fn for_stream(stream: &impl IsTerminal) -> Self {
        Self { colour: has_colour(stream) }
    }

    /// One that leaves everything plain.
    #[must_use]
    pub const fn plain() -> Self {
        Self { colour: false }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// For what is wrong.
    #[must_use]
    pub fn red(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    /// For what may be wrong.
    #[must_use]
    pub fn yellow(self, text: &str) -> String {
        self.paint("1;33", text)
    }

    /// For what is well.
    #[must_use]
    pub fn green(self, text: &str) -> String {
        self.paint("1;32", text)
    }

    /// For what is worth knowing.
    #[must_use]
    pub fn blue(self, text: &str) -> String {
        self.paint("1;34", text)
    }

    /// For what stands alone.
    #[must_use]
    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }
}
