//! Standard output, kept clean.

use std::{
    error::Error,
    io::{self, ErrorKind, Write},
};

/// Where results go.
pub struct Results {
    out: Box<dyn Write>,
}

impl Results {
    /// Takes standard output for results alone: from now on, whatever else is written there goes to standard error.
    ///
    /// A guest's output is that of the process, and cannot be redirected otherwise. `kwctl` lets it run into the verdict.
    #[cfg(unix)]
    pub fn take() -> io::Result<Self> {
        let own = rustix::io::dup(rustix::stdio::stdout())?;
        rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
        Ok(Self { out: Box::new(std::fs::File::from(own)) })
    }

    /// Without the means to move descriptors, a guest that prints does so in front of the result.
    #[cfg(not(unix))]
    pub fn take() -> io::Result<Self> {
        Ok(Self { out: Box::new(io::stdout()) })
    }

    /// Writes a result, with a newline. A reader that has gone away is no error.
    pub fn print(&mut self, text: &str) -> Result<(), Box<dyn Error>> {
        match writeln!(self.out, "{text}").and_then(|()| self.out.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
            _ => Ok(()),
        }
    }
}
