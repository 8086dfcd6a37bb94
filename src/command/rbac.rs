//! `sluicegate rbac`: the rights that the companion and the policy need, as manifests.

use crate::rights::{self, Right};
use clap::Args;
use std::fmt::Write;

/// Prints the rights that the companion and the policy need, as manifests.
#[derive(Clone, Debug, Args)]
pub struct RbacArguments {
    /// The namespace of the companion and its Lease.
    #[arg(long, default_value = "sluicegate-system", value_name = "NAME")]
    pub own_namespace: String,
    /// The service account of the companion.
    #[arg(long, default_value = "sluicegate", value_name = "NAME")]
    pub service_account: String,
    /// For a companion that watches this namespace alone: a Role in the place of a ClusterRole.
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// With the right to write the status of PackageSources (run --package-sources=status).
    #[arg(long)]
    pub package_source_status: bool,
    /// The service account of the policy server, as NAMESPACE/NAME.
    #[arg(long, default_value = "kubewarden/policy-server", value_name = "NAMESPACE/NAME")]
    pub policy_server: String,
}

/// The manifests, as YAML.
#[must_use]
pub fn manifests(arguments: &RbacArguments) -> String {
    let RbacArguments { own_namespace, service_account, namespace, package_source_status, policy_server } = arguments;
    let (server_namespace, server) = policy_server.split_once('/').unwrap_or(("kubewarden", policy_server));
    let account = (own_namespace.as_str(), service_account.as_str());
    let documents = [
        format!("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {own_namespace}\n"),
        format!(
            "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: {service_account}\n  namespace: {own_namespace}\n"
        ),
        role("sluicegate", namespace.as_deref(), &rights::companion(*package_source_status, namespace.is_some())),
        binding("sluicegate", namespace.as_deref(), account),
        role("sluicegate-lease", Some(own_namespace), &rights::own()),
        binding("sluicegate-lease", Some(own_namespace), account),
        role("sluicegate-policy", None, &rights::policy()),
        binding("sluicegate-policy", None, (server_namespace, server)),
    ];
    documents.join("---\n")
}

fn header(kind: &str, name: &str, namespace: Option<&str>) -> String {
    let kind = if namespace.is_some() { kind.to_owned() } else { format!("Cluster{kind}") };
    let mut text = format!("apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata:\n  name: {name}\n");
    if let Some(namespace) = namespace {
        text.push_str(&format!("  namespace: {namespace}\n"));
    }
    text
}

fn role(name: &str, namespace: Option<&str>, rights: &[Right]) -> String {
    let mut text = header("Role", name, namespace);
    text.push_str("rules:\n");
    // Resources of one group with the same verbs share a rule.
    for same in rights.chunk_by(|a, b| a.group == b.group) {
        let mut verbs: Vec<&[&str]> = same.iter().map(|right| right.verbs).collect();
        verbs.sort_unstable();
        verbs.dedup();
        for verbs in verbs {
            let resources: Vec<String> =
                same.iter().filter(|right| right.verbs == verbs).map(|right| quoted(&right.resource)).collect();
            let group = same.first().map_or("", |right| right.group);
            let verbs: Vec<String> = verbs.iter().map(|verb| quoted(verb)).collect();
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "  - apiGroups: [{}]\n    resources: [{}]\n    verbs: [{}]\n",
                quoted(group),
                resources.join(", "),
                verbs.join(", ")
            );
        }
    }
    text
}

fn binding(name: &str, namespace: Option<&str>, account: (&str, &str)) -> String {
    let mut text = header("RoleBinding", name, namespace);
    let kind = if namespace.is_some() { "Role" } else { "ClusterRole" };
    text.push_str(&format!("roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: {kind}\n  name: {name}\n"));
    text.push_str(&format!(
        "subjects:\n  - kind: ServiceAccount\n    name: {}\n    namespace: {}\n",
        account.1, account.0
    ));
    text
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(namespace: Option<&str>) -> RbacArguments {
        RbacArguments {
            own_namespace: "sluicegate-system".to_owned(),
            service_account: "sluicegate".to_owned(),
            namespace: namespace.map(Into::into),
            package_source_status: false,
            policy_server: "kubewarden/policy-server".to_owned(),
        }
    }

    #[test]
    fn the_manifests() {
        insta::assert_snapshot!(manifests(&arguments(None)));
    }

    #[test]
    fn one_namespace_needs_no_cluster_role() {
        let text = manifests(&arguments(Some("apps")));
        let own = text.split("sluicegate-policy").next().unwrap();
        assert!(!own.contains("kind: ClusterRole\nmetadata:\n  name: sluicegate\n"), "{own}");
        assert!(own.contains("kind: Role\nmetadata:\n  name: sluicegate\n  namespace: apps\n"), "{own}");
        assert!(!own.contains("packagesources"), "what has no namespace is not watched");
    }

    /// Least privilege: nothing may be deleted, and nothing of the core group is touched.
    #[test]
    fn no_right_is_more_than_it_must_be() {
        let all = rights::companion(true, false).into_iter().chain(rights::own()).chain(rights::policy());
        for right in all {
            assert!(!right.group.is_empty() && !right.resource.contains('*'), "{right:?}");
            let known = ["create", "get", "list", "patch", "update", "watch"];
            assert!(right.verbs.iter().all(|verb| known.contains(verb)), "{right:?}");
        }
    }
}
