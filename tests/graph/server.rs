//! An API server that lists and reads, over HTTP on the loopback, and remembers what it was asked.

use serde_json::{Value, json};
use sluicegate_core::object::{KINDS, Kind, KindRow, Reference};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

pub struct Server {
    pub kubeconfig: PathBuf,
    asked: Arc<Mutex<Vec<String>>>,
    _folder: Folder,
}

/// Is removed at the end.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

struct World {
    objects: BTreeMap<Reference, Value>,
    /// Paths that hold one of these are forbidden.
    forbidden: Vec<&'static str>,
}

impl Server {
    pub fn with(objects: impl IntoIterator<Item = Value>, forbidden: &[&'static str]) -> Self {
        // Also of those that cannot be read.
        let reference = |json: &Value| {
            let text = |pointer: &str| json.pointer(pointer).and_then(Value::as_str).unwrap();
            Reference::new(Kind::named(text("/kind")).unwrap(), text("/metadata/namespace"), text("/metadata/name"))
        };
        let objects = objects.into_iter().map(|json| (reference(&json), json)).collect();
        let world = Arc::new(World { objects, forbidden: forbidden.to_vec() });
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = asked.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (world, log) = (world.clone(), log.clone());
                std::thread::spawn(move || serve(stream, &world, &log));
            }
        });
        let folder = std::env::temp_dir().join(format!("sluicegate-graph-{}-{port}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let kubeconfig = folder.join("kubeconfig");
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "here",
            "clusters": [{"name": "here", "cluster": {"server": format!("http://127.0.0.1:{port}")}}],
            "users": [{"name": "me", "user": {}}],
            "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me", "namespace": "apps"}}]
        });
        std::fs::write(&kubeconfig, config.to_string()).unwrap();
        Self { kubeconfig, asked, _folder: Folder(folder) }
    }

    /// The paths of lists and reads so far, sorted.
    pub fn asked(&self) -> Vec<String> {
        let mut asked = self.asked.lock().unwrap().clone();
        asked.sort();
        asked
    }
}

fn serve(stream: TcpStream, world: &World, log: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first).unwrap_or(0) == 0 {
            return;
        }
        let mut header = String::from("x");
        while header.trim() != "" {
            header.clear();
            if reader.read_line(&mut header).unwrap_or(0) == 0 {
                return;
            }
        }
        let target = first.split(' ').nth(1).unwrap_or_default();
        let path = target.split('?').next().unwrap_or_default();
        let (code, body) = answer(path, world, log);
        let body = body.to_string();
        let sent = write!(
            writer,
            "HTTP/1.1 {code} x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        if sent.is_err() {
            return;
        }
    }
}

fn answer(path: &str, world: &World, log: &Mutex<Vec<String>>) -> (u16, Value) {
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    match parts.as_slice() {
        ["apis"] => {
            let group = |row: &KindRow| {
                json!({"name": row.group, "versions": [{"groupVersion": row.api_version, "version": row.versions[0]}],
                       "preferredVersion": {"groupVersion": row.api_version, "version": row.versions[0]}})
            };
            let groups: BTreeMap<String, Value> =
                KINDS.iter().map(|row| (row.api_version.to_owned(), group(row))).collect();
            (
                200,
                json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups.into_values().collect::<Vec<_>>()}),
            )
        }
        ["apis", group, version] => {
            let here = KINDS.iter().filter(|row| row.group == *group && row.versions[0] == *version);
            let resources: Vec<Value> = here
                .map(|row| {
                    json!({"name": row.plural, "singularName": "", "namespaced": row.namespaced, "kind": row.name,
                           "verbs": ["get", "list"]})
                })
                .collect();
            let group_version = format!("{group}/{version}");
            (
                200,
                json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": resources}),
            )
        }
        ["apis", group, _, rest @ ..] => {
            let (namespace, rest) = match rest {
                ["namespaces", namespace, rest @ ..] => (Some(*namespace), rest),
                rest => (None, rest),
            };
            let row = KINDS.iter().find(|row| row.group == *group && Some(&row.plural) == rest.first()).unwrap();
            let shown = rest.iter().copied().chain(namespace.map(|_| "in")).chain(namespace).collect::<Vec<_>>();
            log.lock().unwrap().push(shown.join(" "));
            if world.forbidden.iter().any(|part| path.contains(part)) {
                return status(403, &format!("{} is forbidden: User \"me\" cannot do that", row.plural));
            }
            match rest.get(1) {
                Some(name) => {
                    let own = Reference::new(row.kind, namespace.unwrap_or_default(), name);
                    world.objects.get(&own).map_or_else(|| status(404, "not found"), |json| (200, json.clone()))
                }
                None => {
                    let of_kind = world.objects.iter().filter(|(own, _)| own.kind == row.kind);
                    let items: Vec<&Value> = of_kind
                        .filter(|(own, _)| namespace.is_none_or(|namespace| *own.namespace == *namespace))
                        .map(|(_, json)| json)
                        .collect();
                    (
                        200,
                        json!({"kind": format!("{}List", row.name), "apiVersion": row.api_version,
                                 "metadata": {"resourceVersion": "1"}, "items": items}),
                    )
                }
            }
        }
        _ => status(404, "not found"),
    }
}

fn status(code: u16, message: &str) -> (u16, Value) {
    let reason = if code == 403 { "Forbidden" } else { "NotFound" };
    (
        code,
        json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "reason": reason,
                  "code": code, "metadata": {}}),
    )
}
