//! No process outlives the run that started it, in whatever way that ends.

// Clippy's leave for tests covers the test functions alone, not what they share.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, test_kill_process};

/// A supervisor of a shell that starts something in the background, with the ids of both.
struct Supervised {
    supervisor: Child,
    ids: Vec<Pid>,
    data: PathBuf,
}

fn supervised(name: &str) -> Supervised {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    let data = folder.join("data");
    std::fs::create_dir_all(&data).unwrap();
    let log = folder.join("log");
    let supervisor = Command::new(env!("CARGO_BIN_EXE_sluicegate-e2e"))
        .args(["supervise", "--log", &log.to_string_lossy(), "--remove", &data.to_string_lossy(), "--"])
        .args(["sh", "-c", "sleep 600 & echo $$ $! .; wait"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let said =
        soon("both have started", || std::fs::read_to_string(&log).ok().filter(|said| said.trim_end().ends_with('.')));
    let ids = said.split_whitespace().filter_map(|word| word.parse().ok()).filter_map(Pid::from_raw).collect();
    Supervised { supervisor, ids, data }
}

/// Waits for something, which may take ten seconds at most.
fn soon<T>(what: &str, mut probe: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = probe() {
            return found;
        }
        assert!(started.elapsed() < Duration::from_secs(10), "still waiting until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether a process runs; one that has ended and is not yet collected does not.
fn runs(id: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", id.as_raw_nonzero())).unwrap_or_default();
    let state = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next().map(str::to_owned));
    test_kill_process(id).is_ok() && state.as_deref() != Some("Z")
}

#[test]
fn when_the_pipe_closes_all_end_and_the_data_is_gone() {
    let mut run = supervised("pipe");
    assert_eq!(run.ids.len(), 2);
    assert!(run.ids.iter().all(|id| runs(*id)));
    // What happens to the pipe when the test process ends, be it by SIGKILL.
    drop(run.supervisor.stdin.take());
    run.supervisor.wait().unwrap();
    soon("all have ended", || run.ids.iter().all(|id| !runs(*id)).then_some(()));
    assert!(!run.data.exists(), "the data folder is still there");
}

#[test]
fn when_the_supervisor_is_killed_its_program_ends() {
    let mut run = supervised("killed");
    run.supervisor.kill().unwrap();
    run.supervisor.wait().unwrap();
    let shell = run.ids[0];
    soon("the program has ended", || (!runs(shell)).then_some(()));
    // What the program had started itself is beyond the kernel's promise; it must not stay after this test.
    let _ = rustix::process::kill_process(run.ids[1], rustix::process::Signal::KILL);
}

#[test]
fn the_exit_code_is_the_programs() {
    let log = Path::new(env!("CARGO_TARGET_TMPDIR")).join("code.log");
    let mut supervisor = Command::new(env!("CARGO_BIN_EXE_sluicegate-e2e"))
        .args(["supervise", "--log", &log.to_string_lossy(), "--", "sh", "-c", "exit 7"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    // Waiting closes the pipe of a child that still has it, and with it would end what is supervised.
    let _pipe = supervisor.stdin.take();
    assert_eq!(supervisor.wait().unwrap().code(), Some(7));
}
