//! A process that belongs to a test.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// A running program; dropped, it is killed and waited for.
#[derive(Debug)]
pub struct Child {
    name: String,
    log: PathBuf,
    supervisor: std::process::Child,
}

/// What to run, and where.
#[derive(Debug)]
pub struct Run<'a> {
    /// How the log and error texts call it.
    pub name: &'a str,
    /// The executable.
    pub program: &'a Path,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its environment, added to the test's.
    pub environment: Vec<(String, String)>,
    /// A folder that goes when it ends.
    pub remove: Option<PathBuf>,
}

impl Child {
    /// Starts a program with `NAME.log` in `folder`.
    ///
    /// # Errors
    ///
    /// The supervisor cannot be started. That the program itself cannot shows in its log, and in [`Self::alive`].
    pub fn start(folder: &Path, run: Run<'_>) -> Result<Self> {
        let log = folder.join(format!("{}.log", run.name));
        let mut command = Command::new(own_binary()?);
        command.arg("supervise").arg("--log").arg(&log);
        if let Some(folder) = &run.remove {
            command.arg("--remove").arg(folder);
        }
        command.arg("--").arg(run.program).args(&run.arguments).envs(run.environment);
        // Its own group: Ctrl-C on the terminal reaches the test, whose end the supervisor then notices.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let supervisor = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", run.name))?;
        Ok(Self { name: run.name.to_owned(), log, supervisor })
    }

    /// Its log.
    #[must_use]
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// All that it has said so far; nothing where the log cannot be read.
    #[must_use]
    pub fn said(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// The process id of the program itself, once the supervisor has started it.
    #[must_use]
    pub fn id(&self) -> Option<u32> {
        let supervisor = self.supervisor.id();
        let children = std::fs::read_to_string(format!("/proc/{supervisor}/task/{supervisor}/children")).ok()?;
        children.split_whitespace().next()?.parse().ok()
    }

    /// Whether it still runs.
    ///
    /// # Errors
    ///
    /// It has ended: with the end of its log.
    pub fn alive(&mut self) -> Result<()> {
        if let Some(status) = self.supervisor.try_wait()? {
            let said = self.said();
            let tail: Vec<&str> = said.lines().rev().take(15).collect();
            let tail: Vec<&str> = tail.into_iter().rev().collect();
            bail!(
                "{} has ended ({status}); its log, {}, ends with\n{}",
                self.name,
                self.log.display(),
                tail.join("\n")
            );
        }
        Ok(())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        drop(self.supervisor.stdin.take());
        let _ = self.supervisor.wait();
    }
}

/// The crate's own binary, which cargo has built beside the test.
fn own_binary() -> Result<PathBuf> {
    let test = std::env::current_exe()?;
    let path = test
        .ancestors()
        .skip(1)
        .take(2)
        .map(|folder| folder.join("sluicegate-e2e"))
        .find(|path| path.is_file())
        .context("the supervisor, sluicegate-e2e, is not beside the test: cargo test builds it")?;
    Ok(path)
}
