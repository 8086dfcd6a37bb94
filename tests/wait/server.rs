//! An API server over HTTP, for commands that run as processes. It serves what it was given, counts every request, and
//! answers nothing that it was not made for: any other request fails the test.

use crate::wire::{Body, forbidden, json_answer, named, parameter, status};
use futures::StreamExt;
use futures::channel::mpsc::{UnboundedSender, unbounded};
use http::{Method, Request, Response};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use serde_json::{Value, json};
use sluicegate_core::object::{KINDS, Kind, Reference};
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

type Action = Box<dyn FnMut(&mut Inner) + Send>;

/// What is done once a request has come that its text is part of: after it was answered, as a controller would.
struct Trigger {
    part: String,
    action: Action,
    /// How often.
    left: usize,
}

struct Watcher {
    own: Reference,
    sender: UnboundedSender<Result<Frame<Bytes>, Infallible>>,
}

#[derive(Default)]
pub struct Inner {
    pub objects: BTreeMap<Reference, Value>,
    version: u64,
    /// `GET path`, `WATCH path`, `LIST path`, `PATCH path body`, in the order they came.
    pub calls: Vec<String>,
    pub unexpected: Vec<String>,
    absent: BTreeSet<Kind>,
    forbidden: BTreeSet<(&'static str, Kind)>,
    watchers: Vec<Watcher>,
    triggers: Vec<Trigger>,
    /// Watches that are answered with 410 first.
    gone: usize,
    /// What an admission webhook says to patches.
    denied: Option<String>,
    denials: usize,
}

#[derive(Clone)]
pub struct Server {
    inner: Arc<Mutex<Inner>>,
    pub kubeconfig: PathBuf,
    _folder: Arc<Folder>,
}

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Server {
    /// Serves these objects, on a thread of its own, for as long as the test runs.
    pub fn with(objects: impl IntoIterator<Item = Value>) -> Self {
        let inner = Arc::new(Mutex::new(Inner { version: 100, ..Inner::default() }));
        for object in objects {
            inner.lock().unwrap().store(object);
        }
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let served = inner.clone();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(serve(listener, served));
        });
        let folder = std::env::temp_dir().join(format!("sluicegate-{}-{}", std::process::id(), address.port()));
        std::fs::create_dir_all(&folder).unwrap();
        let kubeconfig = folder.join("config");
        let config = json!({"apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": {"server": format!("http://{address}")}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test", "namespace": "ns"}}],
            "users": [{"name": "test", "user": {}}]});
        std::fs::write(&kubeconfig, config.to_string()).unwrap();
        Self { inner, kubeconfig, _folder: Arc::new(Folder(folder)) }
    }

    pub fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// A file beside the kubeconfig.
    pub fn file(&self, name: &str) -> PathBuf {
        self.kubeconfig.with_file_name(name)
    }

    pub fn without(self, kind: Kind) -> Self {
        self.lock().absent.insert(kind);
        self
    }

    pub fn forbid(&self, verb: &'static str, kind: Kind) {
        self.lock().forbidden.insert((verb, kind));
    }

    /// The next watches are too old.
    pub fn gone(&self, times: usize) {
        self.lock().gone = times;
    }

    /// Patches are refused by an admission webhook, so often.
    pub fn deny(&self, words: &str, times: usize) {
        let mut inner = self.lock();
        inner.denied = Some(words.to_owned());
        inner.denials = times;
    }

    /// Once a request has come that this is part of, does something, and after each further one, so many times in all.
    pub fn when(&self, part: &str, times: usize, action: impl FnMut(&mut Inner) + Send + 'static) {
        self.lock().triggers.push(Trigger { part: part.to_owned(), action: Box::new(action), left: times });
    }

    /// The requests whose text begins with this.
    pub fn calls(&self, start: &str) -> Vec<String> {
        self.lock().calls.iter().filter(|call| call.starts_with(start)).cloned().collect()
    }

    pub fn get(&self, own: &Reference) -> Value {
        self.lock().objects[own].clone()
    }

    pub fn is_fine(&self) {
        assert_eq!(self.lock().unexpected, [""; 0]);
    }
}

impl Inner {
    pub fn store(&mut self, mut object: Value) {
        self.version += 1;
        let own = sluicegate_core::testing::reference(&object);
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        let kind = if self.objects.contains_key(&own) { "MODIFIED" } else { "ADDED" };
        self.objects.insert(own.clone(), object.clone());
        self.tell(&own, kind, &object);
    }

    /// Changes fields of an object.
    pub fn change(&mut self, own: &Reference, fields: &[(&str, Value)]) {
        let object = self.objects[own].clone();
        self.store(sluicegate_core::testing::with(object, fields));
    }

    /// The controller of this object has reconciled it, successfully.
    pub fn reconcile(&mut self, own: &Reference) {
        let object = self.objects[own].clone();
        let generation = object["metadata"]["generation"].clone();
        let token = object["metadata"]["annotations"]["reconcile.fluxcd.io/requestedAt"].clone();
        let mut fields = vec![
            ("/status/observedGeneration", generation.clone()),
            ("/status/lastHandledReconcileAt", token),
            ("/status/conditions/Reconciling", Value::Null),
        ];
        for (pointer, value) in [("status", json!("True")), ("observedGeneration", generation.clone())] {
            for condition in ["Ready", "ArtifactInStorage"] {
                if condition == "Ready" || own.kind.is_source() {
                    fields.push((
                        Box::leak(format!("/status/conditions/{condition}/{pointer}").into_boxed_str()),
                        value.clone(),
                    ));
                }
            }
        }
        if own.kind == Kind::HelmRelease {
            fields.push(("/status/lastAttemptedGeneration", generation));
        }
        self.change(own, &fields);
    }

    pub fn delete(&mut self, own: &Reference) {
        self.version += 1;
        if let Some(mut object) = self.objects.remove(own) {
            object["metadata"]["resourceVersion"] = json!(self.version.to_string());
            self.tell(own, "DELETED", &object);
        }
    }

    /// Ends all watches in the middle.
    pub fn cut(&mut self) {
        self.watchers.clear();
    }

    /// All watches stay open, and hear of nothing any more.
    pub fn cut_silently(&mut self) {
        let watchers = std::mem::take(&mut self.watchers);
        std::mem::forget(watchers);
    }

    fn tell(&mut self, own: &Reference, kind: &str, object: &Value) {
        let line = format!("{}\n", json!({"type": kind, "object": object}));
        self.watchers.retain(|watcher| {
            watcher.own != *own || watcher.sender.unbounded_send(Ok(Frame::data(line.clone().into()))).is_ok()
        });
    }

    fn answer(&mut self, method: &Method, path: &str, query: &str, body: &Value) -> Response<Body> {
        if path == "/apis" {
            return json_answer(200, &self.groups());
        }
        let parts: Vec<&str> = path.trim_start_matches("/apis/").split('/').collect();
        if let [group, version] = parts.as_slice() {
            return json_answer(200, &self.resources(group, version));
        }
        let Some((kind, namespace, name)) = named(&parts).filter(|(kind, ..)| !self.absent.contains(kind)) else {
            return self.unexpected(&format!("{method} {path}"));
        };
        let watch = query.contains("watch=true");
        match (method, name) {
            (&Method::GET, None) if watch => self.watch(kind, namespace, query, path),
            (&Method::GET, None) => self.list(kind, namespace, query, path),
            (&Method::GET, Some(name)) => {
                self.calls.push(format!("GET {path}"));
                if self.forbidden.contains(&("get", kind)) {
                    return forbidden("get", kind);
                }
                match self.objects.get(&Reference::new(kind, namespace, name)) {
                    Some(object) => json_answer(200, object),
                    None => status(404, "NotFound", "not found"),
                }
            }
            (&Method::PATCH, Some(name)) => {
                self.calls.push(format!("PATCH {path} {body}"));
                if self.forbidden.contains(&("patch", kind)) {
                    return forbidden("patch", kind);
                }
                if self.denials > 0 {
                    self.denials -= 1;
                    let words = self.denied.clone().unwrap_or_default();
                    return status(400, "BadRequest", &format!("admission webhook \"x\" denied the request: {words}"));
                }
                self.patch(&Reference::new(kind, namespace, name), query, body)
            }
            _ => self.unexpected(&format!("{method} {path}")),
        }
    }

    fn patch(&mut self, own: &Reference, query: &str, body: &Value) -> Response<Body> {
        let tests = |path: &str| {
            let mut operations = body.as_array().into_iter().flatten();
            operations.any(|operation| operation["op"] == "test" && operation["path"] == path)
        };
        if !tests("/metadata/uid") || !tests("/metadata/resourceVersion") || query != "fieldManager=sluicegate" {
            return self.unexpected(&format!("PATCH without its preconditions: {body}"));
        }
        let Some(object) = self.objects.get(own).cloned() else { return status(404, "NotFound", "not found") };
        let patch: json_patch::Patch = serde_json::from_value(body.clone()).unwrap();
        let mut patched = object.clone();
        if json_patch::patch(&mut patched, &patch).is_err() {
            return status(422, "Invalid", "the server rejected our request: testing value x failed: test failed");
        }
        if patched["spec"] != object["spec"] {
            let generation = object["metadata"]["generation"].as_i64().unwrap_or(0);
            patched["metadata"]["generation"] = json!(generation + 1);
        }
        self.store(patched);
        json_answer(200, &self.objects[own].clone())
    }

    fn list(&mut self, kind: Kind, namespace: &str, query: &str, path: &str) -> Response<Body> {
        let selector = parameter(query, "labelSelector");
        self.calls.push(format!("LIST {path} {selector}").trim_end().to_owned());
        if self.forbidden.contains(&("list", kind)) {
            return forbidden("list", kind);
        }
        let matches = |object: &Value| match selector.split_once('=') {
            Some((key, value)) => object["metadata"]["labels"][key] == value,
            None => true,
        };
        let items: Vec<&Value> = self
            .objects
            .iter()
            .filter(|(own, object)| {
                own.kind == kind && (namespace.is_empty() || *own.namespace == *namespace) && matches(object)
            })
            .map(|(_, object)| object)
            .collect();
        let list = json!({"apiVersion": kind.row().api_version, "kind": format!("{}List", kind.name()),
                          "metadata": {"resourceVersion": self.version.to_string()}, "items": items});
        json_answer(200, &list)
    }

    fn watch(&mut self, kind: Kind, namespace: &str, query: &str, path: &str) -> Response<Body> {
        let field = parameter(query, "fieldSelector");
        let Some(name) = field.strip_prefix("metadata.name=") else {
            return self.unexpected(&format!("WATCH {path}?{query}: of a whole kind"));
        };
        self.calls.push(format!("WATCH {path}/{name}"));
        if self.forbidden.contains(&("watch", kind)) {
            return forbidden("watch", kind);
        }
        if self.gone > 0 {
            self.gone -= 1;
            return status(410, "Expired", "too old resource version");
        }
        let own = Reference::new(kind, namespace, name);
        let (sender, stream) = unbounded();
        let since = parameter(query, "resourceVersion");
        // What happened in between is told.
        if let Some(object) = self.objects.get(&own)
            && object["metadata"]["resourceVersion"].as_str() != Some(&since)
        {
            let line = format!("{}\n", json!({"type": "MODIFIED", "object": object}));
            let _ = sender.unbounded_send(Ok(Frame::data(line.into())));
        }
        self.watchers.push(Watcher { own, sender });
        let body = BodyExt::boxed(StreamBody::new(stream.map(|frame| frame)));
        Response::builder().status(200).header("content-type", "application/json").body(body).unwrap()
    }

    fn groups(&self) -> Value {
        let names: BTreeSet<(&str, &str)> = KINDS.iter().map(|row| (row.group, row.versions[0])).collect();
        let groups: Vec<Value> = names
            .into_iter()
            .map(|(group, version)| {
                let version = json!({"groupVersion": format!("{group}/{version}"), "version": version});
                json!({"name": group, "versions": [version.clone()], "preferredVersion": version})
            })
            .collect();
        json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
    }

    fn resources(&self, group: &str, version: &str) -> Value {
        let rows = KINDS.iter().filter(|row| row.group == group && !self.absent.contains(&row.kind));
        let resources: Vec<Value> = rows
            .map(|row| {
                json!({"name": row.plural, "singularName": "", "namespaced": row.namespaced, "kind": row.name,
                       "verbs": ["get", "list", "watch", "patch"]})
            })
            .collect();
        json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": format!("{group}/{version}"),
               "resources": resources})
    }

    fn unexpected(&mut self, what: &str) -> Response<Body> {
        self.unexpected.push(what.to_owned());
        status(400, "BadRequest", "nobody expects this")
    }

    /// Does what was to be done after the requests that have come.
    fn react(&mut self, call: &str) {
        let mut triggers = std::mem::take(&mut self.triggers);
        for trigger in &mut triggers {
            if trigger.left > 0 && call.contains(&trigger.part) {
                trigger.left -= 1;
                (trigger.action)(self);
            }
        }
        triggers.append(&mut self.triggers);
        self.triggers = triggers;
    }
}

async fn serve(listener: std::net::TcpListener, inner: Arc<Mutex<Inner>>) {
    listener.set_nonblocking(true).unwrap();
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    loop {
        let Ok((stream, _)) = listener.accept().await else { return };
        let inner = inner.clone();
        tokio::spawn(async move {
            let service = hyper::service::service_fn(move |request: Request<Incoming>| {
                let inner = inner.clone();
                async move { Ok::<_, Infallible>(handle(request, &inner).await) }
            });
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(hyper_util::rt::TokioIo::new(stream), service)
                .await;
        });
    }
}

async fn handle(request: Request<Incoming>, inner: &Arc<Mutex<Inner>>) -> Response<Body> {
    let (head, body) = request.into_parts();
    let bytes = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let mut inner = inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let before = inner.calls.len();
    let answer = inner.answer(&head.method, head.uri.path(), head.uri.query().unwrap_or_default(), &body);
    let call = inner.calls.get(before).cloned();
    if let Some(call) = call {
        inner.react(&call);
    }
    answer
}
