//! The live tree, in a pseudo-terminal.

use crate::process::{command, without_times};
use crate::server::Server;
use crate::{failed, kustomization, repository, waiting};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::Stdio;

/// Runs a command with standard error on a terminal of this size; all that was written to it.
fn on_terminal(server: &Server, arguments: &[&str], columns: u16, rows: u16, colour: bool) -> String {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&controller, size).unwrap();
    let name = ptsname(&controller, Vec::new()).unwrap();
    let terminal = OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let mut command = command(server, arguments);
    if colour {
        command.env_remove("NO_COLOR").env("TERM", "xterm");
    }
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::from(OwnedFd::from(terminal))).spawn().unwrap();
    // Our own copies of the terminal are closed with it: else nobody would ever see its end.
    drop(command);
    let reader = std::thread::spawn(move || {
        let (mut all, mut buffer) = (Vec::new(), [0_u8; 4096]);
        let mut file = File::from(controller);
        // The other end is gone: an error on Linux.
        while let Ok(count) = file.read(&mut buffer) {
            if count == 0 {
                break;
            }
            all.extend_from_slice(&buffer[..count]);
        }
        all
    });
    child.wait().unwrap();
    String::from_utf8_lossy(&reader.join().unwrap()).into_owned()
}

/// The last picture that was whole, and how many columns its widest line has.
fn picture(written: &str) -> (String, usize) {
    let pictures: Vec<&str> = written.split("\u{1b}[J").collect();
    let last = pictures.iter().rev().find(|picture| picture.contains("objects are settled")).unwrap();
    let text = last.split("\u{1b}[").next().unwrap().replace('\r', "");
    let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
    (without_times(&text), widest)
}

fn server() -> Server {
    let message = "Widget/x/x dry-run failed: no matches for kind \"Widget\" in version \"acme.io/v1\", and more";
    Server::with([
        repository(),
        waiting("apps", "infra"),
        waiting("infra", "controllers"),
        failed(kustomization("controllers", &["done"]), "ReconciliationFailed", message),
        kustomization("done", &[]),
    ])
}

#[test]
fn the_tree_fits_into_80_columns() {
    let (text, widest) = picture(&on_terminal(&server(), &["wait", "ks/apps", "--timeout", "1s"], 80, 24, false));
    assert!(widest <= 80, "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn the_tree_uses_200_columns() {
    let (text, widest) = picture(&on_terminal(&server(), &["wait", "ks/apps", "--timeout", "1s"], 200, 24, false));
    assert!(widest <= 200, "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn the_tree_fits_into_a_few_lines() {
    let (text, _) = picture(&on_terminal(&server(), &["wait", "ks/apps", "--timeout", "1s"], 80, 4, false));
    assert!(text.lines().count() < 4, "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn nothing_of_the_tree_is_left_at_the_end() {
    let written = on_terminal(&server(), &["wait", "ks/apps", "--timeout", "1s"], 80, 24, false);
    assert!(written.ends_with("\r\u{1b}[J"), "{written:?}");
    assert!(!written.contains("\u{1b}[3"), "NO_COLOR is set: {written:?}");
}

#[test]
fn it_is_painted_where_nobody_minds() {
    let written = on_terminal(&server(), &["wait", "ks/apps", "--timeout", "1s"], 80, 24, true);
    assert!(written.contains("\u{1b}[31m      Kustomization/ns/controllers"), "{written:?}");
    assert!(written.ends_with("\r\u{1b}[J"), "{written:?}");
}
