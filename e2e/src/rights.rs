//! Who is who in the cluster, and what each may do: no more than in a real one.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::actor::Account;
use crate::kind;
use crate::manifest::Manifest;

/// The namespaces of every test.
pub const NAMESPACES: &[&str] =
    &["flux-system", "sluicegate-system", "kubewarden", "apps", "infra", "tenant", "ci", "cozy-system"];

/// The groups of everything that Flux and cozystack serve.
pub const FLUX_GROUPS: &[&str] = &[
    "kustomize.toolkit.fluxcd.io",
    "helm.toolkit.fluxcd.io",
    "source.toolkit.fluxcd.io",
    "source.extensions.fluxcd.io",
    "fluxcd.controlplane.io",
    "infra.contrib.fluxcd.io",
    "cozystack.io",
];

/// Everybody: the administrator, a person who may write every Flux object, one who may only in namespace `tenant`, a CI
/// job, the policy's reader, the companion, Flux's controllers, and cozystack's operator.
#[must_use]
pub fn accounts() -> Vec<Account> {
    let human =
        |short, user: &str, group: &str| Account { short, user: user.to_owned(), groups: vec![group.to_owned()] };
    vec![
        human("admin", "admin", "system:masters"),
        human("person", "alice@example.com", "people"),
        human("tenant", "tom@example.com", "tenants"),
        Account::service("ci", "ci", "deployer"),
        Account::service("policy-server", "kubewarden", "policy-server"),
        Account::service("sluicegate", "sluicegate-system", "sluicegate"),
        Account::service("kustomize-controller", "flux-system", "kustomize-controller"),
        Account::service("helm-controller", "flux-system", "helm-controller"),
        Account::service("source-controller", "flux-system", "source-controller"),
        Account::service("source-watcher", "flux-system", "source-watcher"),
        Account::service("cozystack-operator", "cozy-system", "cozystack"),
    ]
}

/// The roles and bindings of all accounts.
///
/// # Errors
///
/// The README no longer shows the rights of the policy's reader.
pub fn rules() -> Result<Vec<Manifest>> {
    let write = ["get", "list", "watch", "create", "update", "patch", "delete"];
    let flux = json!({"apiGroups": FLUX_GROUPS, "resources": ["*"], "verbs": write});
    let person =
        [flux.clone(), json!({"apiGroups": [""], "resources": ["namespaces", "configmaps", "events"], "verbs": write})];
    // As Flux's own `crd-controller` role.
    let controller = [
        json!({"apiGroups": FLUX_GROUPS, "resources": ["*"], "verbs": ["*"]}),
        json!({"apiGroups": [""], "resources": ["secrets", "configmaps", "serviceaccounts", "namespaces"],
               "verbs": ["get", "list", "watch"]}),
        json!({"apiGroups": [""], "resources": ["events"], "verbs": ["create", "patch"]}),
    ];
    let companion = [
        json!({"apiGroups": FLUX_GROUPS, "resources": ["*"], "verbs": ["get", "list", "watch", "update", "patch"]}),
        json!({"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": write}),
        json!({"apiGroups": ["", "events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"]}),
    ];
    let mut rules = Vec::new();
    rules.extend(everywhere("person", &json!(person), &group("people")));
    rules.extend(everywhere("ci", &json!([flux]), &service_account("ci", "deployer")));
    rules.extend(everywhere("companion", &json!(companion), &service_account("sluicegate-system", "sluicegate")));
    for name in ["source-controller", "source-watcher"] {
        rules.extend(everywhere(name, &json!(controller), &service_account("flux-system", name)));
    }
    rules.extend(everywhere("cozystack", &json!(controller), &service_account("cozy-system", "cozystack")));
    // Flux binds these two to cluster-admin.
    for name in ["kustomize-controller", "helm-controller"] {
        rules.push(cluster_binding(name, "cluster-admin", &service_account("flux-system", name)));
    }
    rules.push(
        Manifest::new(&kind::ROLE.at("tenant", "tenant"))
            .with("/rules", json!([{"apiGroups": FLUX_GROUPS, "resources": ["*"], "verbs": write}])),
    );
    rules.push(
        Manifest::new(&kind::ROLE_BINDING.at("tenant", "tenant"))
            .with("/roleRef", json!({"apiGroup": kind::ROLE.group, "kind": "Role", "name": "tenant"}))
            .with("/subjects", json!([group("tenants")])),
    );
    rules.extend(of_the_reader()?);
    Ok(rules)
}

/// The right to let something through, for the person: what a text asks for that denies it.
#[must_use]
pub fn bypass() -> Vec<Manifest> {
    let rule = json!([{"apiGroups": ["sluicegate.dev"], "resources": ["gates"], "verbs": ["bypass"]}]);
    everywhere("bypass", &rule, &group("people")).into()
}

/// What the README tells an operator to give to the policy server.
fn of_the_reader() -> Result<Vec<Manifest>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md");
    let readme = std::fs::read_to_string(path)?;
    let block = readme
        .split("```yaml\n")
        .filter_map(|rest| rest.split_once("```").map(|(block, _)| block))
        .find(|block| block.contains("kind: ClusterRole\n"))
        .context("the README shows no ClusterRole for the policy server")?;
    documents(block)
}

/// The documents of a YAML text.
///
/// # Errors
///
/// It is not YAML.
pub fn documents(text: &str) -> Result<Vec<Manifest>> {
    use yaml_serde::Value as Yaml;
    let mut all = Vec::new();
    for document in yaml_serde::Deserializer::from_str(text) {
        let document = <Yaml as serde::Deserialize<'_>>::deserialize(document)?;
        if !document.is_null() {
            all.push(Manifest(serde_json::to_value(document)?));
        }
    }
    Ok(all)
}

fn everywhere(name: &str, rules: &Value, subject: &Value) -> [Manifest; 2] {
    let name = format!("e2e-{name}");
    let role = Manifest::new(&kind::CLUSTER_ROLE.at("", &name)).with("/rules", rules.clone());
    [role, cluster_binding(&name, &name, subject)]
}

fn cluster_binding(name: &str, role: &str, subject: &Value) -> Manifest {
    Manifest::new(&kind::CLUSTER_ROLE_BINDING.at("", name))
        .with("/roleRef", json!({"apiGroup": kind::ROLE.group, "kind": "ClusterRole", "name": role}))
        .with("/subjects", json!([subject]))
}

fn group(name: &str) -> Value {
    json!({"apiGroup": kind::ROLE.group, "kind": "Group", "name": name})
}

fn service_account(namespace: &str, name: &str) -> Value {
    json!({"kind": "ServiceAccount", "namespace": namespace, "name": name})
}
