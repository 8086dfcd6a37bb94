//! One document, sorted by what it is good for.

use super::is_kustomization;
use super::kustomize::Config;
use super::lines::Lines;
use super::misspelt::{self, Misspelt};
use crate::yaml::{Node, Value, to_json, to_value};
use sluicegate_core::object::Kind;
use std::collections::BTreeMap;

/// How deep Lists are taken apart.
const LISTS: usize = 8;

/// A document of a file, or an item of a List in it.
#[derive(Clone, Debug)]
pub struct Document {
    /// The line where it starts, from 1.
    pub line: u32,
    /// What it is.
    pub body: Body,
}

/// What a document is.
#[derive(Clone, Debug)]
pub enum Body {
    /// An object of a judged kind, or a patch for one.
    Object(Box<Source>),
    /// How a folder is built.
    Kustomize(Box<Config>),
    /// A ConfigMap or a Secret, for its values.
    Data(Box<Data>),
    /// A FluxInstance, or the HelmRelease of its chart's values: it makes the source and the first Kustomization.
    Instance {
        /// Its name.
        header: Header,
        /// `spec.sync`
        sync: Box<serde_json::Value>,
    },
    /// A list of operations: a JSON patch.
    Operations(Box<serde_json::Value>),
    /// Any other object.
    Other(Header),
}

/// Which object it is, as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The API group; empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// The namespace, where it is said.
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

/// An object of a judged kind, as it is written.
#[derive(Clone, Debug)]
pub struct Source {
    /// Which object it is.
    pub header: Header,
    /// Its kind.
    pub kind: Kind,
    /// All of it but `spec.values`, as JSON.
    pub json: Vec<u8>,
    /// Where its fields stand.
    pub lines: Lines,
    /// Fields that look like one that is read, and are none.
    pub misspelt: Vec<Misspelt>,
    /// Of a Kustomization of Flux, where it leads.
    pub lead: Option<Box<WrittenLead>>,
}

/// Where a Kustomization leads, as it is written.
#[derive(Clone, Debug, Default)]
pub struct WrittenLead {
    /// `spec.path`
    pub path: String,
    /// The kind, the name and the namespace of its source.
    pub source: (String, String, Option<String>),
}

/// The values of a ConfigMap or a Secret.
#[derive(Clone, Debug)]
pub struct Data {
    /// Which object it is.
    pub header: Header,
    /// The values as text; `None` where they are encrypted or cannot be read.
    pub values: Option<BTreeMap<String, String>>,
}

/// Sorts a document, and the items of a List.
pub(super) fn read(node: &Node<'_>, file: &str, found: &mut Vec<Document>) {
    let mut ahead = vec![(node, 0)];
    while let Some((node, depth)) = ahead.pop() {
        if let Some(items) = node.get("items").filter(|_| is_list(node) && depth < LISTS) {
            // The last is taken first.
            ahead.extend(items.items().iter().rev().map(|item| (item, depth + 1)));
        } else if let Some(body) = body(node, file) {
            found.push(Document { line: node.line, body });
        }
    }
}

fn is_list(node: &Node<'_>) -> bool {
    node.get("kind").and_then(Node::text).is_some_and(|kind| kind.ends_with("List"))
        && node.get("metadata").and_then(|metadata| metadata.get("name")).is_none()
}

fn body(node: &Node<'_>, file: &str) -> Option<Body> {
    if matches!(node.value, Value::Sequence(_)) {
        let is_operation = |item: &Node<'_>| item.get("op").is_some() && item.get("path").is_some();
        return node.items().iter().all(is_operation).then(|| Body::Operations(Box::new(to_value(node))));
    }
    let header = header(node);
    if header.group == "kustomize.config.k8s.io" || (header.kind.is_empty() && is_kustomization(file)) {
        return Some(Body::Kustomize(Box::new(Config::read(node))));
    }
    if header.kind.is_empty() || header.version.is_empty() {
        return None;
    }
    let kind = Kind::find(&header.group, &header.kind);
    // SOPS leaves the name readable, and hardly anything else.
    let encrypted = node.get("sops").is_some_and(|sops| sops.get("mac").is_some() || sops.get("version").is_some());
    Some(match (kind, header.group.as_str(), header.kind.as_str()) {
        (Some(_), ..) if encrypted => Body::Other(header),
        (Some(Kind::HelmRelease), ..) if sync_of_chart(node).is_some() => {
            let sync = Box::new(sync_of_chart(node).map(to_value).unwrap_or_default());
            Body::Instance { header, sync }
        }
        (Some(kind), ..) => Body::Object(Box::new(source(node, kind, header))),
        (None, "fluxcd.controlplane.io", "FluxInstance") => {
            let sync = node.get("spec").and_then(|spec| spec.get("sync")).map(to_value).unwrap_or_default();
            Body::Instance { header, sync: Box::new(sync) }
        }
        (None, "", "ConfigMap" | "Secret") => Body::Data(Box::new(data(node, header, encrypted))),
        _ => Body::Other(header),
    })
}

fn header(node: &Node<'_>) -> Header {
    let text = |node: Option<&Node<'_>>| node.and_then(scalar).unwrap_or_default();
    let api_version = text(node.get("apiVersion"));
    let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
    let metadata = node.get("metadata");
    Header {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: text(node.get("kind")),
        namespace: metadata.and_then(|metadata| metadata.get("namespace")).and_then(scalar).filter(|n| !n.is_empty()),
        name: match metadata.and_then(|metadata| metadata.get("generateName")).and_then(scalar) {
            Some(start) if metadata.and_then(|metadata| metadata.get("name")).is_none() => {
                format!("{start}<generated>")
            }
            _ => text(metadata.and_then(|metadata| metadata.get("name"))),
        },
    }
}

/// The text of a scalar, whatever it means.
fn scalar(node: &Node<'_>) -> Option<String> {
    match &node.value {
        Value::Scalar { text, .. } if !node.is_null() => Some(text.clone().into_owned()),
        _ => None,
    }
}

/// `spec.values.instance.sync` of the chart flux-instance.
fn sync_of_chart<'n, 't>(node: &'n Node<'t>) -> Option<&'n Node<'t>> {
    let sync = node.get("spec")?.get("values")?.get("instance")?.get("sync")?;
    sync.get("kind").or_else(|| sync.get("url")).map(|_| sync)
}

fn source(node: &Node<'_>, kind: Kind, header: Header) -> Source {
    // The values of a release may be longer than all the rest.
    let mut trimmed;
    let spec = node.entries().iter().position(|entry| entry.key == "spec");
    let long = spec.and_then(|at| node.entries().get(at)).is_some_and(|spec| spec.value.get("values").is_some());
    let whole = if long {
        trimmed = node.clone();
        if let Value::Mapping(entries) = &mut trimmed.value
            && let Some(Value::Mapping(fields)) =
                spec.and_then(|at| entries.get_mut(at)).map(|spec| &mut spec.value.value)
        {
            fields.retain(|field| field.key != "values");
        }
        &trimmed
    } else {
        node
    };
    let keep = |key: &str| matches!(key, "apiVersion" | "kind" | "metadata" | "spec" | "status");
    let misspelt = node.get("spec").map(|spec| misspelt::find(kind, spec)).unwrap_or_default();
    let lead = (kind == Kind::Kustomization).then(|| Box::new(written_lead(node)));
    Source { header, kind, json: to_json(whole, keep), lines: Lines::of(node), misspelt, lead }
}

fn written_lead(node: &Node<'_>) -> WrittenLead {
    let spec = node.get("spec");
    let source = spec.and_then(|spec| spec.get("sourceRef"));
    let text = |key: &str| source.and_then(|source| source.get(key)).and_then(scalar);
    WrittenLead {
        path: spec.and_then(|spec| spec.get("path")).and_then(scalar).unwrap_or_default(),
        source: (text("kind").unwrap_or_default(), text("name").unwrap_or_default(), text("namespace")),
    }
}

fn data(node: &Node<'_>, header: Header, encrypted: bool) -> Data {
    let mut values = BTreeMap::new();
    let mut readable = !encrypted;
    for entry in node.get("data").map(Node::entries).unwrap_or_default() {
        match scalar(&entry.value) {
            Some(text) if header.kind == "ConfigMap" => drop(values.insert(entry.key.clone().into_owned(), text)),
            // Nobody keeps plain secrets in git; what is in base64 is not worth decoding.
            _ => readable = readable && header.kind == "ConfigMap",
        }
    }
    for entry in node.get("stringData").map(Node::entries).unwrap_or_default() {
        if let Some(text) = scalar(&entry.value) {
            values.insert(entry.key.clone().into_owned(), text);
        }
    }
    Data { header, values: readable.then_some(values) }
}
