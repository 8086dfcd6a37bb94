//! The same with a real registry, Debian's `docker-registry`.

use std::{
    fs,
    io::{BufRead, BufReader},
    net::TcpListener,
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use serde_json::json;

use super::{Bench, all};

/// The registry; it ends when dropped.
struct Registry(Child);

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("docker-registry")).find(|file| file.is_file())
}

/// Starts it in the folder of the bench, and waits until it says that it listens.
fn start(bench: &Bench, program: PathBuf) -> (Registry, String) {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let config = json!({
        "version": "0.1",
        "log": {"accesslog": {"disabled": true}},
        "storage": {"filesystem": {"rootdirectory": bench.folder.join("data")}},
        "http": {"addr": address},
    });
    let file = bench.folder.join("registry.yml");
    fs::write(&file, config.to_string()).unwrap();
    let mut child =
        Command::new(program).arg("serve").arg(&file).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let log = BufReader::new(child.stderr.take().unwrap());
    let registry = Registry(child);
    let mut said = Vec::new();
    let mut lines = log.lines().map_while(Result::ok);
    assert!(
        lines.by_ref().any(|line| {
            let listens = line.contains("listening on");
            said.push(line);
            listens
        }),
        "{said:#?}"
    );
    // It goes on talking.
    std::thread::spawn(move || lines.for_each(drop));
    (registry, address)
}

#[test]
fn a_real_registry_gives_back_what_it_was_given() {
    let Some(program) = program() else {
        eprintln!("skipped: docker-registry is not installed (apt-get install docker-registry)");
        return;
    };
    let bench = Bench::new("registry");
    let (_registry, host) = start(&bench, program);
    let place = format!("registry://{host}/a/b:v1");
    let pushed = bench.run(&["push", "policy.wasm", &place]);
    let immutable = all(&pushed).0.trim_end().strip_prefix("pushed ").unwrap().to_owned();
    for from in [&*place, &*immutable] {
        let pulled = bench.run(&["pull", from, "-o", "back.wasm"]);
        assert!(all(&pulled).0.starts_with(&format!("pulled {immutable}\n")), "{pulled:?}");
        assert_eq!(fs::read(bench.folder.join("back.wasm")).unwrap(), bench.module);
    }
    let there = bench.run(&["run", &place, "-r", "request.json"]);
    assert_eq!(all(&there), all(&bench.run(&["run", "policy.wasm", "-r", "request.json"])));
    let absent = format!("{host}/a/b:v2");
    assert_eq!(all(&bench.run(&["pull", &absent])), ("", &*format!("Error: {absent} does not exist\n"), 1));
}
