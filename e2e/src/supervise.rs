//! No process outlives the test that started it, not even where the test is killed.
//!
//! Each child runs under a supervisor, which is this crate's own binary. The test holds the other end of the supervisor's
//! standard input: when the test ends, in whatever way, the pipe closes, and the supervisor kills the child's process
//! group. Should somebody kill the supervisor itself, the kernel kills the child.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, anyhow};
use rustix::process::{Pid, Signal};

/// Runs `program` until it ends or standard input closes; then kills its process group and removes `remove`.
///
/// # Errors
///
/// The log cannot be written, or the program cannot be started.
pub fn supervise(log: &Path, remove: Option<&Path>, program: &[String]) -> Result<ExitCode> {
    let log = log_file(log)?;
    let mut child = Command::new(std::env::current_exe()?)
        .args(["bound", "--parent", &std::process::id().to_string(), "--"])
        .args(program)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .process_group(0)
        .spawn()
        .context("cannot start a child")?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or_else(|| anyhow!("no process id"))?;
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin().lock();
        while !matches!(stdin.read(&mut [0; 64]), Ok(0) | Err(_)) {}
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
    });
    let status = child.wait()?;
    // What the child itself has started is in its group.
    let _ = rustix::process::kill_process_group(group, Signal::KILL);
    if let Some(folder) = remove {
        let _ = std::fs::remove_dir_all(folder);
    }
    Ok(match status.code().and_then(|code| u8::try_from(code).ok()) {
        Some(code) => ExitCode::from(code),
        None if status.signal().is_some() => ExitCode::from(137),
        None => ExitCode::FAILURE,
    })
}

/// Becomes `program`, to be killed by the kernel when the process `parent` ends.
///
/// # Errors
///
/// The program cannot be started; it does not return otherwise.
pub fn bound(parent: u32, program: &[String]) -> Result<ExitCode> {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // It may have ended before the signal was asked for.
    if std::os::unix::process::parent_id() != parent {
        return Ok(ExitCode::FAILURE);
    }
    let (name, arguments) = program.split_first().ok_or_else(|| anyhow!("no program"))?;
    Err(Command::new(name).args(arguments).exec()).with_context(|| format!("cannot run {name}"))
}

fn log_file(path: &Path) -> Result<File> {
    OpenOptions::new().create(true).append(true).open(path).with_context(|| format!("cannot write {}", path.display()))
}
