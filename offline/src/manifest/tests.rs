use super::*;
use rstest::rstest;

fn bodies(path: &str, text: &str) -> Vec<String> {
    let show = |document: &Document| match &document.body {
        Body::Object(source) => format!(
            "{} object {} {:?}/{}",
            document.line,
            source.kind,
            source.header.namespace.as_deref().unwrap_or("-"),
            source.header.name
        )
        .replace('"', ""),
        Body::Kustomize(config) => format!("{} kustomize {:?}", document.line, config.resources),
        Body::Data(data) => format!("{} data {} {:?}", document.line, data.header.name, data.values),
        Body::Instance { header, sync } => format!("{} instance {} {sync}", document.line, header.name),
        Body::Operations(operations) => format!("{} operations {operations}", document.line),
        Body::Other(header) => format!("{} other {}/{}", document.line, header.kind, header.name),
    };
    read(path, text.as_bytes()).documents.iter().map(show).collect()
}

#[rstest]
#[case(
    "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a, namespace: s}\n",
    "1 object Kustomization s/a"
)]
#[case(
    "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n",
    "1 kustomize [\"a.yaml\"]"
)]
#[case(
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: b, n: 1}\n",
    "1 data c Some({\"a\": \"b\", \"n\": \"1\"})"
)]
#[case("apiVersion: v1\nkind: Secret\nmetadata: {name: c}\ndata: {a: ENC}\nsops: {mac: x}\n", "1 data c None")]
#[case("apiVersion: v1\nkind: Secret\nmetadata: {name: c}\nstringData: {a: b}\n", "1 data c Some({\"a\": \"b\"})")]
#[case(
    "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux}\nspec: {sync: {kind: GitRepository}}\n",
    "1 instance flux {\"kind\":\"GitRepository\"}"
)]
#[case(
    "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: i}\nspec: {values: {instance: {sync: {kind: GitRepository}}}}\n",
    "1 instance i {\"kind\":\"GitRepository\"}"
)]
#[case(
    "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: i}\nspec: {chart: ENC}\nsops: {mac: x}\n",
    "1 other HelmRelease/i"
)]
#[case(
    "- {op: replace, path: /spec/suspend, value: true}\n",
    "1 operations [{\"op\":\"replace\",\"path\":\"/spec/suspend\",\"value\":true}]"
)]
#[case("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n", "1 other Deployment/d")]
fn documents(#[case] text: &str, #[case] expected: &str) {
    assert_eq!(bodies("x.yaml", text), [expected]);
}

#[test]
fn lists_are_taken_apart_in_their_order() {
    let item = |name: &str| {
        format!("- apiVersion: helm.toolkit.fluxcd.io/v2\n  kind: HelmRelease\n  metadata: {{name: {name}}}\n")
    };
    let text = format!("apiVersion: v1\nkind: List\nitems:\n{}{}", item("a"), item("b"));
    assert_eq!(bodies("x.yaml", &text), ["4 object HelmRelease -/a", "7 object HelmRelease -/b"]);
}

#[rstest]
#[case("{\"name\": \"x\"}")]
#[case("- a\n- b\n")]
#[case("just text")]
#[case("kind: 3\napiVersion: []\n")]
fn what_is_no_object_is_passed_over(#[case] text: &str) {
    assert_eq!(bodies("x.yaml", text), Vec::<String>::new());
}

#[test]
fn a_kustomization_needs_no_kind() {
    assert_eq!(bodies("a/kustomization.yaml", "resources: [b]\n"), ["1 kustomize [\"b\"]"]);
    assert_eq!(bodies("a/other.yaml", "resources: [b]\n"), Vec::<String>::new());
}

#[rstest]
#[case("depends_on", Some("dependsOn"))]
#[case("DependsOn", Some("dependsOn"))]
#[case("dependOn", Some("dependsOn"))]
#[case("suspended", None)]
#[case("susspend", Some("suspend"))]
#[case("healthcheck", Some("healthChecks"))]
#[case("health-checks", Some("healthChecks"))]
#[case("weit", None)]
#[case("path", None)]
#[case("sources", None)]
fn misspelt_fields(#[case] written: &str, #[case] meant: Option<&'static str>) {
    let text = format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: a}}\nspec:\n  x: 1\n  {written}: []\n"
    );
    let file = read("x.yaml", text.as_bytes());
    let Body::Object(source) = &file.documents[0].body else { panic!() };
    let expected = meant.map(|meant| Misspelt { written: written.to_owned(), meant, line: 6 });
    assert_eq!(source.misspelt, Vec::from_iter(expected));
}

#[test]
fn lines_of_fields() {
    let text = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: a\nspec:\n  dependsOn:\n    - name: b\n    - name: c\n  suspend: x\n";
    let file = read("x.yaml", text.as_bytes());
    let Body::Object(source) = &file.documents[0].body else { panic!() };
    let line = |field: &str| source.lines.line(field);
    assert_eq!(line("spec.dependsOn[1].name"), 8);
    assert_eq!(line("spec.dependsOn[7]"), 6);
    assert_eq!(line("spec.suspend"), 9);
    assert_eq!(line("metadata.name"), 4);
    assert_eq!(line("status.conditions[0].type"), 1);
}

#[rstest]
#[case("a: {{ .Values.x }}: y\n", Some(Foreign::Template))]
#[case("a: [\n", Some(Foreign::Other))]
#[case("apiVersion: v1\na: [\n", None)]
fn what_is_broken_may_not_be_ours(#[case] text: &str, #[case] foreign: Option<Foreign>) {
    let file = read("x.yaml", text.as_bytes());
    assert!(!file.broken.is_empty());
    assert_eq!(file.foreign, foreign);
    assert_eq!(read("x.yaml", &[0xff, 0xfe]).foreign, Some(Foreign::Binary));
}
