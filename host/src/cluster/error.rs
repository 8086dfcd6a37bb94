//! The texts in which upstream says that something cannot be read.
//!
//! They hold Debug forms because upstream's do, of `Option<&str>` and of kube 3.1's `Status`.

use crate::call::Failure;

/// Who policy-server is in a text of the API server.
const READER: &str = "system:serviceaccount:kubewarden:policy-server";

/// No such object.
pub(super) fn absent(api_version: &str, kind: &str, name: &str, namespace: Option<&str>) -> Failure {
    Failure::new(format!("Cannot find {api_version}/{kind} named '{name}' inside of namespace '{namespace:?}'"))
}

/// The group and version exist, the kind does not.
pub(super) fn absent_kind(api_version: &str, kind: &str) -> Failure {
    Failure::new(format!("Cannot find resource {api_version}/{kind}"))
}

/// No such group or version: its CRDs are not installed.
pub(super) fn absent_group(api_version: &str, kind: &str) -> Failure {
    // The API server answers plain text there, which kube reports as this Status.
    let status = r#"404 page not found
: Failed to parse error data (Status { status: Some(Failure), code: 404, message: "404 page not found\n", metadata: None, reason: "Failed to parse error data", details: None })"#;
    Failure::new(format!("error finding resource {api_version} / {kind}: ApiError: {status}"))
}

/// The group and version cannot be looked at.
#[cfg(feature = "serve")]
pub(super) fn discovery(api_version: &str, kind: &str, source: &kube::Error) -> Failure {
    Failure::new(format!("error finding resource {api_version} / {kind}: {source}"))
}

/// A namespaced kind, asked for without one.
pub(super) fn no_namespace(api_version: &str, kind: &str) -> Failure {
    Failure::new(format!("Resource {api_version}/{kind} is namespaced, but no namespace was provided"))
}

/// A cluster-wide kind, listed in a namespace.
pub(super) fn cluster_wide(api_version: &str, kind: &str) -> Failure {
    Failure::new(format!("resource {api_version}/{kind} is cluster wide. Cannot search for it inside of a namespace"))
}

/// A request that RBAC does not grant.
pub(super) fn forbidden(verb: &str, group: &str, plural: &str, name: &str, namespace: Option<&str>) -> Failure {
    let dot = if group.is_empty() { "" } else { "." };
    let quoted = if name.is_empty() { String::new() } else { format!(" \"{name}\"") };
    let place = match namespace {
        Some(namespace) => format!("in the namespace \"{namespace}\""),
        None => "at the cluster scope".to_owned(),
    };
    let message = format!(
        "{plural}{dot}{group}{quoted} is forbidden: User \"{READER}\" cannot {verb} resource \"{plural}\" in API group \"{group}\" {place}"
    );
    let metadata =
        "Some(ListMeta { continue_: None, remaining_item_count: None, resource_version: None, self_link: None })";
    let details = format!(
        "Some(StatusDetails {{ name: {name:?}, group: {group:?}, kind: {plural:?}, uid: \"\", causes: [], retry_after_seconds: 0 }})"
    );
    let short = format!("{message}: Forbidden");
    let status = format!(
        "Status {{ status: Some(Failure), code: 403, message: {message:?}, metadata: {metadata}, reason: \"Forbidden\", details: {details} }}"
    );
    Failure::caused_by(format!("ApiError: {short} ({status})"), short)
}
