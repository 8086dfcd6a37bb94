//! An API server in memory. It stores objects, applies JSON patches with their tests, tells what it changed as a watch
//! would, and answers nothing that it was not made for: any other request fails the test.

use crate::wire::{answer, describe, find, is_granted, reference, status, watched};
use http::{Method, Request, Response};
use kube::client::Body;
use kube::runtime::watcher::Event;
use serde_json::{Value, json};
use sluicegate::cluster::Watched;
use sluicegate::control::Feed;
use sluicegate_core::object::{Kind, Reference};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::mpsc;

/// A request that came.
#[derive(Clone, Debug)]
pub struct Call {
    pub method: Method,
    pub path: String,
    pub body: Value,
    /// When, in tokio's time.
    pub at: tokio::time::Instant,
}

/// What a fault does instead of the right answer.
#[derive(Clone, Debug)]
pub enum Fault {
    /// An error, and nothing is done.
    Status(u16, &'static str),
    /// The connection is cut, and nothing is done.
    Cut,
    /// It is done, and the answer is lost.
    Lost,
    /// Nothing is ever answered.
    Hang,
    /// The right answer, so many seconds later.
    Late(u64),
    /// Somebody changes the object first.
    Meanwhile(&'static str, Value),
}

struct Rule {
    method: Method,
    part: String,
    body: String,
    fault: Fault,
    times: usize,
}

#[derive(Default)]
struct Inner {
    objects: BTreeMap<Reference, Value>,
    lease: Option<Value>,
    version: u64,
    calls: Vec<Call>,
    events: Vec<Value>,
    rules: Vec<Rule>,
    feed: Option<mpsc::Sender<Feed>>,
    silent: bool,
    forbidden: BTreeSet<Kind>,
    unexpected: Vec<String>,
}

#[derive(Clone, Default)]
pub struct Server(Arc<Mutex<Inner>>);

impl Server {
    pub fn with(objects: impl IntoIterator<Item = Value>) -> Self {
        let server = Self::default();
        for object in objects {
            server.put(object);
        }
        server
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub fn client(&self) -> kube::Client {
        let server = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let server = server.clone();
            async move { server.serve(request).await }
        });
        kube::Client::new(service, "default")
    }

    /// From now on changes are told, as by watches of the kinds that there are; all objects first.
    pub async fn watch(&self, feed: mpsc::Sender<Feed>, kinds: &[Kind]) {
        let served = kinds.iter().map(|kind| (*kind, kind.row().versions[0])).collect();
        feed.send(Feed::Served(served)).await.unwrap();
        self.list(&feed, kinds).await;
        self.lock().feed = Some(feed);
    }

    /// Tells all objects of these kinds.
    pub async fn list(&self, feed: &mpsc::Sender<Feed>, kinds: &[Kind]) {
        for kind in kinds {
            if self.lock().forbidden.contains(kind) {
                feed.send(Feed::Forbidden(*kind)).await.unwrap();
                continue;
            }
            let mut events = vec![Event::Init];
            let objects = self.lock().objects.clone();
            let of_kind = objects.iter().filter(|(object, _)| object.kind == *kind);
            events.extend(of_kind.map(|(_, json)| Event::InitApply(watched(json))));
            events.push(Event::InitDone);
            for event in events {
                feed.send(Feed::Event(*kind, Box::new(event))).await.unwrap();
            }
        }
    }

    /// Objects of this kind may not be listed.
    pub fn forbid(&self, kind: Kind) {
        self.lock().forbidden.insert(kind);
    }

    /// Whether changes are kept from the watches.
    pub fn silence(&self, silent: bool) {
        self.lock().silent = silent;
    }

    /// Stores an object as a controller or a person would.
    pub fn put(&self, object: Value) {
        self.lock().store(object);
    }

    /// Changes fields of an object.
    pub fn change(&self, own: &Reference, fields: &[(&str, Value)]) {
        let mut inner = self.lock();
        let object = inner.objects[own].clone();
        inner.store(sluicegate_core::testing::with(object, fields));
    }

    pub fn delete(&self, own: &Reference) {
        let mut inner = self.lock();
        if let Some(json) = inner.objects.remove(own) {
            inner.tell(own.kind, Event::Delete(watched(&json)));
        }
    }

    pub fn get(&self, own: &Reference) -> Value {
        self.lock().objects[own].clone()
    }

    pub fn lease(&self) -> Option<Value> {
        self.lock().lease.clone()
    }

    pub fn set_lease(&self, lease: Value) {
        self.lock().store_lease(lease);
    }

    /// The next `times` requests of this method whose path and body hold these end so.
    pub fn fail(&self, method: Method, part: &str, body: &str, fault: Fault, times: usize) {
        self.lock().rules.push(Rule { method, part: part.into(), body: body.into(), fault, times });
    }

    /// All writes of objects so far, as `PURPOSE Kind/namespace/name`, in their order.
    pub fn writes(&self) -> Vec<String> {
        self.calls(&Method::PATCH).iter().map(describe).collect()
    }

    pub fn calls(&self, method: &Method) -> Vec<Call> {
        self.lock().calls.iter().filter(|call| call.method == *method).cloned().collect()
    }

    /// Reads of single objects so far.
    pub fn reads(&self) -> usize {
        self.calls(&Method::GET).iter().filter(|call| !call.path.contains("/leases/")).count()
    }

    /// The Events so far, as `Reason Kind/namespace/name`.
    pub fn events(&self) -> Vec<String> {
        let inner = self.lock();
        let text =
            |event: &Value, pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or("").to_owned();
        let about = |event: &Value| {
            let parts =
                ["/regarding/kind", "/regarding/namespace", "/regarding/name"].map(|pointer| text(event, pointer));
            parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
        };
        inner.events.iter().map(|event| format!("{} {}", text(event, "/reason"), about(event))).collect()
    }

    pub fn notes(&self) -> Vec<String> {
        self.lock().events.iter().filter_map(|event| Some(event["note"].as_str()?.to_owned())).collect()
    }

    /// Fails if any request came that nobody expects, or that had no precondition.
    #[track_caller]
    pub fn is_fine(&self) {
        let inner = self.lock();
        assert!(inner.unexpected.is_empty(), "{:?}", inner.unexpected);
        let names: BTreeSet<&str> =
            inner.events.iter().filter_map(|event| event["metadata"]["name"].as_str()).collect();
        assert_eq!(names.len(), inner.events.len(), "an Event twice");
    }

    async fn serve(&self, request: Request<Body>) -> Result<Response<Body>, tower::BoxError> {
        let (parts, body) = request.into_parts();
        let bytes = body.collect_bytes().await?;
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        let path = parts.uri.path().to_owned();
        let call = Call { method: parts.method.clone(), path, body, at: tokio::time::Instant::now() };
        let fault = {
            let mut inner = self.lock();
            inner.calls.push(call.clone());
            inner.fault(&call)
        };
        match fault {
            Some(Fault::Status(code, message)) => return Ok(status(code, message)),
            Some(Fault::Cut) => return Err("connection reset by peer".into()),
            Some(Fault::Hang) => std::future::pending().await,
            Some(Fault::Late(seconds)) => tokio::time::sleep(std::time::Duration::from_secs(seconds)).await,
            Some(Fault::Lost) => {
                let _ = self.lock().answer(&call, parts.uri.query());
                return Ok(status(504, "the answer got lost"));
            }
            Some(Fault::Meanwhile(pointer, value)) => {
                let mut inner = self.lock();
                if let Some(own) = find(&call.path).map(|(own, _)| own).filter(|own| inner.objects.contains_key(own)) {
                    let object = inner.objects[&own].clone();
                    inner.store(sluicegate_core::testing::with(object, &[(pointer, value)]));
                }
            }
            None => {}
        }
        Ok(self.lock().answer(&call, parts.uri.query()))
    }
}

impl Inner {
    fn fault(&mut self, call: &Call) -> Option<Fault> {
        let body = call.body.to_string();
        let rule = self.rules.iter_mut().find(|rule| {
            rule.times > 0 && rule.method == call.method && call.path.contains(&rule.part) && body.contains(&rule.body)
        })?;
        rule.times -= 1;
        Some(rule.fault.clone())
    }

    fn store(&mut self, mut object: Value) {
        self.version += 1;
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        let own = reference(&object);
        self.objects.insert(own.clone(), object.clone());
        self.tell(own.kind, Event::Apply(watched(&object)));
    }

    fn store_lease(&mut self, mut lease: Value) -> Value {
        self.version += 1;
        lease["metadata"]["resourceVersion"] = json!(self.version.to_string());
        self.lease = Some(lease.clone());
        lease
    }

    fn tell(&self, kind: Kind, event: Event<Watched>) {
        if let (Some(feed), false) = (&self.feed, self.silent) {
            // After the driver has ended nobody listens.
            let _ = feed.try_send(Feed::Event(kind, Box::new(event)));
        }
    }

    fn answer(&mut self, call: &Call, query: Option<&str>) -> Response<Body> {
        if !is_granted(call) {
            return self.unexpected(call);
        }
        if call.path.contains("/coordination.k8s.io/") {
            return self.answer_lease(call);
        }
        if call.method == Method::POST && call.path.starts_with("/apis/events.k8s.io/v1/namespaces/") {
            let name = &call.body["metadata"]["name"];
            if self.events.iter().any(|event| event["metadata"]["name"] == *name) {
                return status(409, "exists");
            }
            self.events.push(call.body.clone());
            return answer(201, &call.body);
        }
        let Some((own, part)) = find(&call.path) else { return self.unexpected(call) };
        match call.method {
            Method::GET if part.is_empty() => match self.objects.get(&own) {
                Some(object) => answer(200, object),
                None => status(404, "not found"),
            },
            Method::PATCH => self.patch(call, &own, part, query),
            _ => self.unexpected(call),
        }
    }

    fn patch(&mut self, call: &Call, own: &Reference, part: &str, query: Option<&str>) -> Response<Body> {
        let tests = |path: &str| {
            call.body.as_array().is_some_and(|operations| {
                operations.iter().any(|operation| operation["op"] == "test" && operation["path"] == path)
            })
        };
        if !tests("/metadata/uid") || !tests("/metadata/resourceVersion") || query != Some("fieldManager=sluicegate") {
            return self.unexpected(call);
        }
        let Some(object) = self.objects.get(own).cloned() else { return status(404, "not found") };
        let patch: json_patch::Patch = serde_json::from_value(call.body.clone()).unwrap();
        let mut patched = object.clone();
        if let Err(error) = json_patch::patch(&mut patched, &patch) {
            let _ = error;
            return status(422, "the server rejected our request: testing value x failed: test failed");
        }
        // A write to one part leaves the other as it was.
        let mut stored = object.clone();
        if part == "status" {
            stored["status"] = patched["status"].clone();
        } else {
            stored["metadata"] = patched["metadata"].clone();
            stored["spec"] = patched["spec"].clone();
            if stored["spec"] != object["spec"] {
                let generation = stored["metadata"]["generation"].as_i64().unwrap_or(0);
                stored["metadata"]["generation"] = json!(generation + 1);
            }
        }
        self.store(stored);
        answer(200, &self.objects[own])
    }

    fn answer_lease(&mut self, call: &Call) -> Response<Body> {
        match (call.method.clone(), &self.lease) {
            (Method::GET, Some(lease)) => answer(200, lease),
            (Method::GET, None) => status(404, "not found"),
            (Method::POST, None) => {
                let lease = self.store_lease(call.body.clone());
                answer(201, &lease)
            }
            (Method::PUT, Some(lease))
                if lease["metadata"]["resourceVersion"] == call.body["metadata"]["resourceVersion"] =>
            {
                let lease = self.store_lease(call.body.clone());
                answer(200, &lease)
            }
            (Method::POST | Method::PUT, _) => status(409, "conflict"),
            _ => self.unexpected(call),
        }
    }

    fn unexpected(&mut self, call: &Call) -> Response<Body> {
        self.unexpected.push(format!("{} {} {}", call.method, call.path, call.body));
        status(400, "nobody expects this")
    }
}
