//! Manifests, written down in the words of a test.

use serde_json::{Value, json};

use crate::kind::{self, Kind, Object};

/// A manifest under construction.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest(pub Value);

impl Manifest {
    /// A bare object.
    #[must_use]
    pub fn new(object: &Object) -> Self {
        let mut value = json!({
            "apiVersion": object.kind.api_version(),
            "kind": object.kind.name,
            "metadata": {"name": object.name},
        });
        if object.kind.namespaced {
            set(&mut value, "/metadata/namespace", json!(object.namespace));
        }
        Self(value)
    }

    /// What it is the manifest of; `None` for a kind that the tests do not know.
    #[must_use]
    pub fn object(&self) -> Option<Object> {
        let text = |pointer: &str| self.0.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        Some(Kind::named(text("/kind"))?.at(text("/metadata/namespace"), text("/metadata/name")))
    }

    /// Sets a field, given as JSON pointer; maps on the way are made.
    #[must_use]
    pub fn with(mut self, pointer: &str, value: Value) -> Self {
        set(&mut self.0, pointer, value);
        self
    }

    /// Takes a field away.
    #[must_use]
    pub fn without(mut self, pointer: &str) -> Self {
        if let Some((parent, field)) = pointer.rsplit_once('/')
            && let Some(map) = self.0.pointer_mut(parent).and_then(Value::as_object_mut)
        {
            map.remove(&field.replace("~1", "/").replace("~0", "~"));
        }
        self
    }

    /// Suspended.
    #[must_use]
    pub fn suspended(self) -> Self {
        self.with("/spec/suspend", json!(true))
    }

    /// With an annotation.
    #[must_use]
    pub fn annotated(self, key: &str, value: &str) -> Self {
        let key = key.replace('~', "~0").replace('/', "~1");
        self.with(&format!("/metadata/annotations/{key}"), json!(value))
    }

    /// With `dependsOn` on objects of its own kind and namespace, or `NAMESPACE/NAME`.
    #[must_use]
    pub fn depends_on(self, names: &[&str]) -> Self {
        let entries: Vec<Value> = names
            .iter()
            .map(|name| match name.split_once('/') {
                Some((namespace, name)) => json!({"namespace": namespace, "name": name}),
                None => json!({"name": name}),
            })
            .collect();
        self.with("/spec/dependsOn", json!(entries))
    }

    /// As a file of a git commit: JSON, which is YAML, too.
    #[must_use]
    pub fn file(&self) -> String {
        serde_json::to_string_pretty(&self.0).unwrap_or_default()
    }
}

/// Sets a field of any value, given as JSON pointer; maps on the way are made.
pub fn set(value: &mut Value, pointer: &str, to: Value) {
    let mut place = value;
    for field in pointer.split('/').skip(1) {
        let field = field.replace("~1", "/").replace("~0", "~");
        if !place.is_object() {
            *place = json!({});
        }
        let Some(map) = place.as_object_mut() else { return };
        place = map.entry(field).or_insert(Value::Null);
    }
    *place = to;
}

/// A Kustomization over the GitRepository `source` (`NAME` or `NAMESPACE/NAME`), its path being `./NAME`. It reconciles
/// once an hour: whatever happens in a test, happens because of an event.
#[must_use]
pub fn kustomization(namespace: &str, name: &str, source: &str) -> Manifest {
    let source = match source.split_once('/') {
        Some((namespace, name)) => json!({"kind": "GitRepository", "namespace": namespace, "name": name}),
        None => json!({"kind": "GitRepository", "name": source}),
    };
    Manifest::new(&kind::kustomization(namespace, name)).with(
        "/spec",
        json!({
            "interval": "1h",
            "retryInterval": "3s",
            "timeout": "30s",
            "prune": false,
            "path": format!("./{name}"),
            "sourceRef": source,
        }),
    )
}

/// A HelmRelease of chart `./NAME` in the GitRepository `source`, by source revision.
#[must_use]
pub fn helm_release(namespace: &str, name: &str, source: &str) -> Manifest {
    Manifest::new(&kind::helm_release(namespace, name)).with(
        "/spec",
        json!({
            "interval": "1h",
            "chart": {"spec": {
                "chart": format!("./{name}"),
                "reconcileStrategy": "Revision",
                "sourceRef": {"kind": "GitRepository", "name": source},
            }},
        }),
    )
}

/// A GitRepository of branch `main`.
#[must_use]
pub fn git_repository(namespace: &str, name: &str, url: &str) -> Manifest {
    Manifest::new(&kind::git_repository(namespace, name))
        .with("/spec", json!({"interval": "1h", "timeout": "20s", "url": url, "ref": {"branch": "main"}}))
}
