//! Trees for tests.

use crate::manifest;
use crate::tree::Tree;

/// Files out of one text: each begins with `# file: PATH`. `ks NAME PATH` and the like are short for objects.
pub fn tree(text: &str) -> Tree {
    let files = text.split("# file: ").skip(1).map(|part| {
        let (path, body) = part.split_once('\n').unwrap();
        let lines: Vec<String> = body.lines().map(expand).collect();
        manifest::read(path.trim(), lines.join("\n").as_bytes())
    });
    Tree::new(files.collect())
}

fn expand(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["ks", name, path, rest @ ..] => format!(
            "---\n{{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {{name: {name}, namespace: flux-system}}, spec: {{path: {path}, sourceRef: {{kind: GitRepository, name: flux-system}}, {}}}}}",
            rest.join(" ")
        ),
        ["hr", name, rest @ ..] => format!(
            "---\n{{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {{name: \"{name}\"}}, spec: {{{}}}}}",
            rest.join(" ")
        ),
        ["git", name] => format!(
            "---\n{{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {{name: {name}, namespace: flux-system}}, spec: {{url: \"https://example.org/{name}\"}}}}"
        ),
        ["build", rest @ ..] => {
            format!("{{kind: Kustomization, apiVersion: kustomize.config.k8s.io/v1beta1, {}}}", rest.join(" "))
        }
        _ => line.to_owned(),
    }
}
