//! Completions, manual pages, and the plugin of kubectl.

use crate::server::Server;
use crate::{command, objects, run, shown};
use std::process::Command;

#[test]
fn live_names() {
    let server = Server::with(objects(), &[]);
    for (words, expected) in [
        (&["graph", "ks/"][..], "ks/a\nks/b\nks/c\nks/d\n:4\n"),
        (&["graph", "ks/b"], "ks/b\n:4\n"),
        (&["graph", "-n", "other", "ks/"], "ks/behind\n:4\n"),
        (&["graph", "kustomization/flux-system/"], "kustomization/flux-system/infra\n:4\n"),
        (&["graph", "--for", "ks/a"], "ks/a\n:4\n"),
        (&["graph", "git"], "gitrepo/\n:6\n"),
        (&["graph", "-o", "s"], "svg\n:4\n"),
        (&["gra"], "graph\n:4\n"),
        (&["graph", "--rev"], "--reverse\n:4\n"),
        (&["explain", "ks/a"], "ks/a\n:4\n"),
        (&["wait", "-n", "other", "ks/"], "ks/behind\n:4\n"),
        (&["graph", "nothing/"], ":4\n"),
    ] {
        let words = [&["__complete"], words].concat();
        assert_eq!(run(&server, &words), format!("{expected}--- stderr\n--- exit 0\n"), "{words:?}");
    }
}

#[test]
fn silence_where_there_is_no_cluster() {
    for words in
        [&["__complete", "graph", "ks/"][..], &["__complete", "graph", "--context", "x", "ks/"], &["__complete"]]
    {
        let output = command(None, words).env("KUBECONFIG", "/nonexistent/config").output().unwrap();
        assert_eq!(shown(&output), ":4\n--- stderr\n--- exit 0\n", "{words:?}");
    }
    let forbidden = Server::with(objects(), &["kustomizations"]);
    assert_eq!(run(&forbidden, &["__complete", "graph", "ks/"]), ":4\n--- stderr\n--- exit 0\n");
}

/// A cluster that takes the connection and says nothing.
#[test]
fn a_shell_does_not_wait_for_a_cluster_that_hangs() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let server = Server::with([], &[]);
    let config = std::fs::read_to_string(&server.kubeconfig).unwrap();
    let mut config: serde_json::Value = serde_json::from_str(&config).unwrap();
    config["clusters"][0]["cluster"]["server"] = format!("http://{}", listener.local_addr().unwrap()).into();
    std::fs::write(&server.kubeconfig, config.to_string()).unwrap();
    assert_eq!(run(&server, &["__complete", "graph", "ks/"]), ":4\n--- stderr\n--- exit 0\n");
}

#[test]
fn scripts_are_understood_by_their_shells() {
    for (shell, flag) in [("bash", "-n"), ("zsh", "-n"), ("fish", "-n")] {
        let output = command(None, &["completions", shell]).output().unwrap();
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("sluicegate __complete") || text.contains("__complete \"${COMP_WORDS"), "{shell}");
        let file = std::env::temp_dir().join(format!("sluicegate-completion-{}.{shell}", std::process::id()));
        std::fs::write(&file, &text).unwrap();
        // Not every machine has every shell.
        if let Ok(checked) = Command::new(shell).arg(flag).arg(&file).output() {
            assert!(checked.status.success(), "{shell}: {}", String::from_utf8_lossy(&checked.stderr));
        }
        std::fs::remove_file(&file).unwrap();
    }
}

/// What bash offers for `sluicegate graph ks/`.
#[test]
fn bash_completes_live_names() {
    let server = Server::with(objects(), &[]);
    let script = String::from_utf8(command(None, &["completions", "bash"]).output().unwrap().stdout).unwrap();
    let program = env!("CARGO_BIN_EXE_sluicegate");
    let ask = format!(
        "{script}\nCOMP_WORDS=({program} graph ks/)\nCOMP_CWORD=2\n_sluicegate_live {program} ks/ graph\nprintf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    let output = Command::new("bash").arg("-c").arg(ask).env("KUBECONFIG", &server.kubeconfig).output().unwrap();
    assert_eq!(shown(&output), "ks/a\nks/b\nks/c\nks/d\n--- stderr\n--- exit 0\n");
}

#[test]
fn manual_pages() {
    let folder = std::env::temp_dir().join(format!("sluicegate-man-{}", std::process::id()));
    let output = command(None, &["man", folder.to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    let mut pages: Vec<String> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    pages.sort();
    assert!(
        pages.contains(&"sluicegate-graph.1".to_owned()) && pages.contains(&"sluicegate.1".to_owned()),
        "{pages:?}"
    );
    assert!(pages.iter().all(|page| !page.contains("__complete")), "{pages:?}");
    let graph = std::fs::read_to_string(folder.join("sluicegate-graph.1")).unwrap();
    assert!(graph.contains("\\-\\-reverse"));
    std::fs::remove_dir_all(&folder).unwrap();
    let first = command(None, &["man"]).output().unwrap();
    assert!(String::from_utf8(first.stdout).unwrap().contains(".TH sluicegate"));
}

#[cfg(unix)]
#[test]
fn usage_names_the_plugin_as_it_was_called() {
    let folder = std::env::temp_dir().join(format!("sluicegate-plugin-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let plugin = folder.join("kubectl-sluicegate");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_sluicegate"), &plugin).unwrap();
    let usage = |program: &std::path::Path| {
        let output = Command::new(program).args(["graph", "--nope"]).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let text = String::from_utf8(output.stderr).unwrap();
        text.lines().find(|line| line.starts_with("Usage: ")).unwrap().to_owned()
    };
    assert_eq!(usage(&plugin), "Usage: kubectl sluicegate graph [OPTIONS] [KIND/NAME]...");
    let own = std::path::Path::new(env!("CARGO_BIN_EXE_sluicegate"));
    assert_eq!(usage(own), "Usage: sluicegate graph [OPTIONS] [KIND/NAME]...");
    std::fs::remove_dir_all(&folder).unwrap();
}
