//! Named after the field cases that speak of `check`.

use super::{Strictness, check, check_files, json, paragraph};
use crate::manifest::{self, File};
use crate::sample::tree;
use crate::tree::{Tree, World};
use proptest::prelude::*;
use rstest::rstest;
use sluicegate_core::object::{Kind, Reference};

fn all(tree: &Tree, partial: bool) -> Vec<super::Finding> {
    let mut found = check_files(tree, |_| false);
    for world in tree.worlds() {
        found.extend(check(tree, &world, Strictness { partial }));
    }
    found
}

fn said_of(tree: &Tree, partial: bool) -> String {
    let show = |finding: &super::Finding| {
        let place = finding.spot.as_ref().map(|spot| format!("{}:{} ", spot.path, spot.line)).unwrap_or_default();
        format!("{place}{} [{}]: {}", finding.severity.name(), finding.rule(), paragraph(finding))
    };
    all(tree, partial).iter().map(show).collect::<Vec<_>>().join("\n")
}

/// What is said of Kustomizations of a namespace, each with what it depends on: `a: b c`.
fn graph(lines: &str) -> String {
    said_of(&of_lines(lines), false)
}

fn of_lines(lines: &str) -> Tree {
    let objects = lines.lines().map(str::trim).filter(|line| !line.is_empty()).map(|line| {
        let (name, needs) = line.split_once(':').unwrap();
        let needs: Vec<String> = needs.split_whitespace().map(|need| format!("  - name: {need}\n")).collect();
        let needs = if needs.is_empty() { String::new() } else { format!("  dependsOn:\n{}", needs.concat().replace("  -", "    -")) };
        format!("apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: {name}\n  namespace: s\nspec:\n{needs}  prune: true\n")
    });
    let text = objects.collect::<Vec<_>>().join("---\n");
    Tree::new(vec![manifest::read("units.yaml", text.as_bytes())])
}

#[test]
fn case_001_two_kustomizations_patched_one_at_a_time() {
    let text = "
# file: a.yaml
git repo
{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: one, namespace: flux-system}, spec: {path: ./x, dependsOn: [{name: two}], sourceRef: {kind: GitRepository, name: repo}}}
---
{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: two, namespace: flux-system}, spec: {path: ./x, dependsOn: [{name: one}], sourceRef: {kind: GitRepository, name: repo}}}
---
{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: bystander, namespace: flux-system}, spec: {path: ./x, sourceRef: {kind: GitRepository, name: repo}}}
# file: x/r.yaml
hr r
";
    let text = text.replace("\n{api", "\n---\n{api").replace("---\n---", "---");
    insta::assert_snapshot!(said_of(&tree(&text), false), @r#"
    a.yaml:4 error [cycle]: dependency cycle: Kustomization/flux-system/one needs itself
      Kustomization/flux-system/one
        needs Kustomization/flux-system/two   (spec.dependsOn[0], a.yaml:4)
        needs Kustomization/flux-system/one   (spec.dependsOn[0], a.yaml:6)
      no loop is left if Kustomization/flux-system/one does not need Kustomization/flux-system/two (spec.dependsOn[0], a.yaml:4)
      new revisions of GitRepository/flux-system/repo no longer reach Kustomization/flux-system/bystander (fluxcd/kustomize-controller#1712)
    "#);
}

#[test]
fn case_003_lead_in_nodes_are_not_members() {
    insta::assert_snapshot!(graph("rbac: scc\nscc: init\ninit: scc\n"), @r#"
    units.yaml:28 error [cycle]: dependency cycle: Kustomization/s/init needs itself
      Kustomization/s/init
        needs Kustomization/s/scc    (spec.dependsOn[0], units.yaml:28)
        needs Kustomization/s/init   (spec.dependsOn[0], units.yaml:18)
      no loop is left if Kustomization/s/init does not need Kustomization/s/scc (spec.dependsOn[0], units.yaml:28)
      waits behind this loop: Kustomization/s/rbac
    "#);
}

#[test]
fn case_005_object_depends_on_itself() {
    insta::assert_snapshot!(graph("a: a\n"), @r#"
    units.yaml:8 error [cycle]: self-dependency: Kustomization/s/a names itself in spec.dependsOn[0]
      Kustomization/s/a
        needs Kustomization/s/a   (spec.dependsOn[0], units.yaml:8)
    "#);
    let other = tree("# file: a.yaml\nks a ./x dependsOn: [{name: a, namespace: other}]\n# file: x/r.yaml\nhr r\n");
    insta::assert_snapshot!(said_of(&other, false), @r#"
    a.yaml:2 error [missing]: Kustomization/flux-system/a names Kustomization/other/a in spec.dependsOn[0], which does not exist
      there is Kustomization/flux-system/a: is that meant?
    "#);
}

#[test]
fn case_007_same_dependency_twice() {
    insta::assert_snapshot!(graph("a: b b\nb:\n"), @r#"units.yaml:9 warning [duplicate-dependency]: Kustomization/s/a names Kustomization/s/b twice: spec.dependsOn[0] and spec.dependsOn[1]"#);
    let differing = tree(
        "# file: a.yaml\nks a ./x dependsOn: [{name: b, readyExpr: 'true'}, {name: b}]\nks b ./x\n# file: x/r.yaml\nhr r\n",
    );
    assert_eq!(said_of(&differing, false), "");
}

#[test]
fn a_loop_shows_what_is_said_of_it() {
    let found = graph("a: b c\nb: c\nc: d\nd: b\nx: a\ny: x\n");
    insta::assert_snapshot!(found, @r#"
    units.yaml:19 error [cycle]: dependency cycle: Kustomization/s/b needs itself
      Kustomization/s/b
        needs Kustomization/s/c   (spec.dependsOn[0], units.yaml:19)
        needs Kustomization/s/d   (spec.dependsOn[0], units.yaml:29)
        needs Kustomization/s/b   (spec.dependsOn[0], units.yaml:39)
      no loop is left if Kustomization/s/b does not need Kustomization/s/c (spec.dependsOn[0], units.yaml:19)
      waits behind this loop: Kustomization/s/a, Kustomization/s/x, Kustomization/s/y
    "#);
}

#[test]
fn a_loop_without_a_single_way_out() {
    insta::assert_snapshot!(graph("a: b c\nb: a\nc: a\n"), @r#"
    units.yaml:8 error [cycle]: dependency cycle: Kustomization/s/a needs itself
      Kustomization/s/a
        needs Kustomization/s/b   (spec.dependsOn[0], units.yaml:8)
        needs Kustomization/s/a   (spec.dependsOn[0], units.yaml:19)
      3 objects wait for each other; this is a shortest loop among them
      no single need is on all loops among them
    "#);
}

#[test]
fn case_011_values_and_secrets_are_no_needs() {
    let text = "
# file: ks.yaml
ks platform ./platform wait: true
ks secrets ./secrets dependsOn: [{name: platform}]
# file: platform/vault.yaml
hr vault valuesFrom: [{kind: Secret, name: token}]
# file: secrets/token.yaml
{apiVersion: v1, kind: Secret, metadata: {name: token}, stringData: {a: b}}
";
    assert_eq!(said_of(&tree(text), false), "");
}

#[test]
fn parents_that_wait_for_their_children_are_known_without_a_cluster() {
    let text = "
# file: ks.yaml
ks parent ./parent wait: true
ks other ./other dependsOn: [{name: parent}]
# file: parent/child.yaml
ks child ./child dependsOn: [{name: other}]
# file: child/r.yaml
hr r
# file: other/r.yaml
hr o
";
    insta::assert_snapshot!(said_of(&tree(text), false), @r#"
    parent/child.yaml:2 error [cycle]: dependency cycle: Kustomization/flux-system/child needs itself
      Kustomization/flux-system/child
        needs Kustomization/flux-system/other    (spec.dependsOn[0], parent/child.yaml:2)
        needs Kustomization/flux-system/parent   (spec.dependsOn[0], ks.yaml:4)
        needs Kustomization/flux-system/child    (spec.wait, ks.yaml:2)
      no loop is left if Kustomization/flux-system/child does not need Kustomization/flux-system/other (spec.dependsOn[0], parent/child.yaml:2)
    "#);
}

#[test]
fn case_015_parent_with_wait_child_release_suspended() {
    let text = "
# file: ks.yaml
ks pre ./pre wait: true
ks next ./next dependsOn: [{name: pre}]
# file: pre/net.yaml
hr net suspend: true
# file: next/r.yaml
hr r
";
    insta::assert_snapshot!(said_of(&tree(text), false), @r#"
    pre/net.yaml:2 warning [waits-for-suspended]: HelmRelease/default/net is suspended, and 2 objects wait behind it
      waiting: Kustomization/flux-system/next, Kustomization/flux-system/pre
    "#);
}

#[test]
fn case_017_being_applied_by_something_is_no_need() {
    let text = "
# file: ks.yaml
ks root-5 ./root dependsOn: [{name: gate}]
ks gate ./gate healthChecks: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, name: units-job, namespace: default}]
ks tools ./tools dependsOn: [{name: root-5}]
# file: tools/job.yaml
hr units-job
# file: gate/r.yaml
hr g
# file: root/r.yaml
hr r
";
    assert_eq!(said_of(&tree(text), false), "");
}

#[test]
fn case_019_ordering_stronger_than_needed_is_a_note() {
    insta::assert_snapshot!(graph("a: b c\nb: c\nc:\n"), @r#"units.yaml:9 note [implied-dependency]: Kustomization/s/a needs Kustomization/s/c anyway, through Kustomization/s/b: spec.dependsOn[1] adds nothing"#);
}

#[test]
fn case_023_kustomization_depends_on_a_helmreleases_name() {
    let text = "
# file: a.yaml
ks books ./x dependsOn: [{name: storage-cluster, namespace: default}]
# file: x/r.yaml
hr storage-cluster
";
    insta::assert_snapshot!(said_of(&tree(text), false), @r#"a.yaml:2 error [wrong-kind]: no Kustomization of the name that Kustomization/flux-system/books gives in spec.dependsOn[0]; there is HelmRelease/default/storage-cluster, which spec.dependsOn[0] cannot name"#);
}

#[test]
fn case_025_dependency_renamed_dependants_forgotten() {
    let tree = of_lines("a: core-old\ncore:\n");
    insta::assert_snapshot!(said_of(&tree, false), @r#"
    units.yaml:8 error [missing]: Kustomization/s/a names Kustomization/s/core-old in spec.dependsOn[0], which does not exist
      there is Kustomization/s/core: is it meant?
    "#);
    insta::assert_snapshot!(said_of(&tree, true), @r#"
    units.yaml:8 note [missing]: Kustomization/s/a names Kustomization/s/core-old in spec.dependsOn[0], which does not exist
      there is Kustomization/s/core: is it meant?
    "#);
}

#[test]
fn case_029_namespace_left_out() {
    let text = "
# file: a.yaml
hr x dependsOn: [{name: y}]
hr z dependsOn: [{name: y, namespace: ''}]
{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: y, namespace: flux-system}, spec: {}}
";
    let text = text.replace("\n{api", "\n---\n{api");
    insta::assert_snapshot!(said_of(&tree(&text), false), @r#"
    a.yaml:2 error [missing]: HelmRelease/default/x names HelmRelease/default/y in spec.dependsOn[0], which does not exist
      there is HelmRelease/flux-system/y: is that meant?
    a.yaml:4 error [missing]: HelmRelease/default/z names HelmRelease/default/y in spec.dependsOn[0], which does not exist
      there is HelmRelease/flux-system/y: is that meant?
    "#);
}

#[test]
fn case_031_an_edge_with_an_expression_counts_for_cycles() {
    let text = "
# file: a.yaml
ks a ./x dependsOn: [{name: b, readyExpr: 'true'}]
ks b ./x dependsOn: [{name: a, readyExpr: 'false'}]
# file: x/r.yaml
hr r
";
    let found = said_of(&tree(text), false);
    assert!(found.contains("dependency cycle: Kustomization/flux-system/a needs itself"), "{found}");
}

#[test]
fn case_033_an_object_without_a_name_is_no_trouble() {
    let text = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {generateName: job-, namespace: s}\nspec: {dependsOn: [{name: x}]}\n";
    let tree = Tree::new(vec![manifest::read("a.yaml", text.as_bytes())]);
    insta::assert_snapshot!(said_of(&tree, false), @r#"a.yaml:4 error [missing]: Kustomization/s/job-<generated> names Kustomization/s/x in spec.dependsOn[0], which does not exist"#);
}

#[test]
fn case_035_gate_on_an_arbitrary_kind() {
    let text = "
# file: a.yaml
{apiVersion: fluxcd.controlplane.io/v1, kind: ResourceSet, metadata: {name: net, namespace: c}, spec: {dependsOn: [{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, name: w, namespace: c, ready: true}]}}
";
    insta::assert_snapshot!(said_of(&tree(text), false), @r#"a.yaml:1 note [unjudged]: ResourceSet/c/net waits in spec.dependsOn[0] for Cluster w, a kind that is not judged"#);
}

#[test]
fn bad_fields_are_told_of_with_their_lines() {
    let text = "
# file: a.yaml
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: a
  namespace: s
spec:
  suspend: maybe
---
apiVersion: kustomize.toolkit.fluxcd.io/v9
kind: Kustomization
metadata:
  name: b
  namespace: s
spec:
  depends_on:
    - name: a
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: c
  namespace: s
spec:
  chartRef: {kind: GitRepository, name: a}
---
broken: [
# file: values.yaml
{{ template }}: [
# file: kustomization.yaml
resources: [a.yaml, https://example.org/base]
";
    insta::assert_snapshot!(said_of(&tree(text), false), @r#"
    a.yaml:26 error [broken-yaml]: this is no YAML: unclosed bracket '['
    values.yaml:1 note [broken-yaml]: a key is not text
    a.yaml:7 error [unreadable]: Kustomization/s/a is not judged: field spec.suspend is not a boolean
    a.yaml:24 warning [missing]: HelmRelease/s/c names GitRepository/s/a in spec.chartRef, which does not exist
      it may come from something that was not followed, or that makes objects of templates
    a.yaml:9 warning [unknown-version]: Kustomization/s/b: version v9 is not known; it is read as one that is
    a.yaml:15 warning [misspelt-field]: Kustomization/s/b: spec.depends_on is not read; is spec.dependsOn meant?
    kustomization.yaml:1 note [not-followed]: not followed: https://example.org/base
    "#);
}

#[test]
fn what_generators_and_releases_make_is_not_missing() {
    let text = "
# file: a.yaml
git repo
{apiVersion: source.extensions.fluxcd.io/v1beta1, kind: ArtifactGenerator, metadata: {name: g, namespace: flux-system}, spec: {sources: [{alias: r, kind: GitRepository, name: repo}], artifacts: [{name: part}]}}
---
{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: h, namespace: flux-system}, spec: {chartRef: {kind: ExternalArtifact, name: part}}}
";
    let text = text.replace("\n{api", "\n---\n{api").replace("---\n---", "---");
    assert_eq!(said_of(&tree(&text), false), "");
}

#[test]
fn variables_that_are_not_known_are_never_missing() {
    let text = "
# file: a.yaml
ks a ./x postBuild: {substituteFrom: [{kind: Secret, name: hidden}]}
# file: x/r.yaml
hr r dependsOn: [{name: 'app-${env}'}]
";
    insta::assert_snapshot!(said_of(&tree(text), false), @r#"x/r.yaml:2 note [unknown-variable]: HelmRelease/default/r names HelmRelease/default/app-${env} in spec.dependsOn[0]: not looked for, its variables are not known here"#);
}

#[test]
fn the_cluster_as_it_would_be_after_a_commit() {
    let tree = tree(
        "# file: flux/gotk.yaml\ngit flux-system\nks flux-system ./ prune: true\n# file: a.yaml\nks a ./x dependsOn: [{name: live}]\n# file: x/r.yaml\nhr r\n",
    );
    let live = |name: &str, owner: &str, needs: &str| {
        let reference = Reference::new(Kind::Kustomization, "flux-system", name);
        let labels = if owner.is_empty() {
            String::new()
        } else {
            format!(
                r#","labels":{{"kustomize.toolkit.fluxcd.io/name":"{owner}","kustomize.toolkit.fluxcd.io/namespace":"flux-system"}}"#
            )
        };
        let json = format!(
            r#"{{"metadata":{{"name":"{name}","namespace":"flux-system"{labels}}},"spec":{{"dependsOn":[{needs}]}}}}"#
        );
        (reference, json.into_bytes().into_boxed_slice())
    };
    let world = tree.worlds().remove(0);
    // `live` is applied by something else and waits for `a`; `gone` was in the last commit.
    let cluster = World::of_cluster([
        live("live", "", r#"{"name":"a"}"#),
        live("gone", "flux-system", r#"{"name":"nothing"}"#),
        live("a", "flux-system", ""),
    ]);
    let after = world.over(cluster);
    let names: Vec<String> = after.objects.keys().map(ToString::to_string).collect();
    assert!(names.contains(&"Kustomization/flux-system/live".to_owned()), "{names:?}");
    assert!(!names.contains(&"Kustomization/flux-system/gone".to_owned()), "{names:?}");
    let found: Vec<String> = check(&tree, &after, Strictness::default()).iter().map(paragraph).collect();
    insta::assert_snapshot!(found.join("\n"), @r#"
    dependency cycle: Kustomization/flux-system/a needs itself
      Kustomization/flux-system/a
        needs Kustomization/flux-system/live   (spec.dependsOn[0], a.yaml:2)
        needs Kustomization/flux-system/a      (spec.dependsOn[0])
      no loop is left if Kustomization/flux-system/a does not need Kustomization/flux-system/live (spec.dependsOn[0], a.yaml:2)
    "#);
}

#[rstest]
#[case(1_000)]
fn long_chains_end(#[case] length: usize) {
    let lines: String = (0..length).map(|n| format!("k{n}: k{}\n", n + 1)).collect();
    let found = all(&of_lines(&format!("{lines}k{length}: k0\n")), false);
    assert_eq!(found.len(), 1);
    assert!(paragraph(&found[0]).contains("… 961 more …"), "{}", paragraph(&found[0]));
}

/// What grows with the square of the number of objects ends all the same.
#[test]
fn many_loops_and_many_misspelt_names_end() {
    let pairs: String = (0..600).map(|n| format!("a{n}: b{n}\nb{n}: a{n}\n")).collect();
    let loops = all(&of_lines(&pairs), false);
    assert_eq!(loops.iter().filter(|finding| finding.rule() == "cycle").count(), 600);
    let missing: String = (0..2_000).map(|n| format!("kkkkkkkkkkkkkkkk{n}: kkkkkkkkkkxkkkkk{n}\n")).collect();
    assert_eq!(all(&of_lines(&missing), false).iter().filter(|finding| finding.rule() == "missing").count(), 2_000);
}

#[test]
fn folders_that_double_at_every_level_end() {
    let mut text = String::new();
    for n in 0..30 {
        for side in ["a", "b"] {
            let (left, right) = (n + 1, n + 1);
            text += &format!(
                "# file: {side}{n}/kustomization.yaml\nbuild namePrefix: {side}{n}-, resources: [../a{left}, ../b{right}]\n"
            );
        }
    }
    text += "# file: a30/kustomization.yaml\nbuild resources: [r.yaml]\n# file: a30/r.yaml\nhr r\n# file: b30/kustomization.yaml\nbuild resources: []\n";
    assert!(tree(&text).worlds().iter().all(|world| world.objects.len() <= 200_000));
}

#[test]
fn names_of_files_do_not_write_to_the_terminal() {
    let text = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a, namespace: s}\nspec: {dependsOn: [{name: a}]}\n";
    let tree = Tree::new(vec![manifest::read("a\u{1b}[31m\n.yaml", text.as_bytes())]);
    let found = all(&tree, false);
    let said = format!("{} {}", found[0].spot.as_ref().unwrap(), paragraph(&found[0]));
    assert!(!said.contains('\u{1b}') && said.lines().count() == 3, "{said}");
}

#[test]
fn what_kustomize_would_not_find_is_a_warning() {
    let tree = tree(
        "# file: kustomization.yaml\nbuild resources: [gone.yaml, r.yaml], patches: [{path: nope.yaml}]\n# file: r.yaml\nhr r\n",
    );
    insta::assert_snapshot!(said_of(&tree, false), @r#"
    kustomization.yaml:1 warning [not-followed]: not followed: gone.yaml
    kustomization.yaml:1 warning [not-followed]: not followed: nope.yaml
    "#);
}

#[test]
fn machines_get_the_same() {
    let tree = of_lines("a: b\nb: a\nc: nothing\n");
    let found: Vec<String> =
        all(&tree, false).iter().map(|finding| format!("{:#}", json(finding, &["x".to_owned()]))).collect();
    insta::assert_snapshot!(found.join("\n"), @r#"
    {
      "clusters": [
        "x"
      ],
      "line": 8,
      "loop": {
        "behind": [],
        "cut": {
          "at": {
            "line": 8,
            "path": "units.yaml"
          },
          "fields": [
            "spec.dependsOn[0]"
          ],
          "from": "Kustomization/s/a",
          "to": "Kustomization/s/b"
        },
        "members": [
          "Kustomization/s/a",
          "Kustomization/s/b"
        ],
        "proven": true,
        "shortest": [
          {
            "at": {
              "line": 8,
              "path": "units.yaml"
            },
            "field": "spec.dependsOn[0]",
            "from": "Kustomization/s/a",
            "to": "Kustomization/s/b"
          },
          {
            "at": {
              "line": 18,
              "path": "units.yaml"
            },
            "field": "spec.dependsOn[0]",
            "from": "Kustomization/s/b",
            "to": "Kustomization/s/a"
          }
        ],
        "silenced": []
      },
      "message": "dependency cycle: Kustomization/s/a needs itself",
      "object": "Kustomization/s/a",
      "path": "units.yaml",
      "rule": "cycle",
      "severity": "error",
      "text": "dependency cycle: Kustomization/s/a needs itself\n  Kustomization/s/a\n    needs Kustomization/s/b   (spec.dependsOn[0], units.yaml:8)\n    needs Kustomization/s/a   (spec.dependsOn[0], units.yaml:18)\n  no loop is left if Kustomization/s/a does not need Kustomization/s/b (spec.dependsOn[0], units.yaml:8)"
    }
    {
      "clusters": [
        "x"
      ],
      "line": 28,
      "message": "Kustomization/s/c names Kustomization/s/nothing in spec.dependsOn[0], which does not exist",
      "object": "Kustomization/s/c",
      "path": "units.yaml",
      "reference": {
        "field": "spec.dependsOn[0]",
        "near": null,
        "open": false,
        "target": "Kustomization/s/nothing"
      },
      "rule": "missing",
      "severity": "error",
      "text": "Kustomization/s/c names Kustomization/s/nothing in spec.dependsOn[0], which does not exist"
    }
    "#);
}

proptest! {
    #[test]
    fn the_order_of_files_does_not_matter(
        needs in prop::collection::vec(prop::collection::vec(0_usize..8, 0..3), 1..8),
        order in any::<prop::sample::Index>(),
    ) {
        let file = |(n, needs): (usize, &Vec<usize>)| {
            let needs: Vec<String> = needs.iter().map(|need| format!("{{name: k{need}}}")).collect();
            let text = format!("{{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {{name: k{n}, namespace: s}}, spec: {{dependsOn: [{}]}}}}", needs.join(", "));
            manifest::read(&format!("f{n}.yaml"), text.as_bytes())
        };
        let files: Vec<File> = needs.iter().enumerate().map(file).collect();
        let mut turned = files.clone();
        turned.rotate_left(order.index(files.len()));
        let (one, other) = (Tree::new(files), Tree::new(turned));
        prop_assert_eq!(said_of(&one, false), said_of(&other, false));
        // Exactly what is named and not there is missing, and each loop is found once.
        let missing = all(&one, false).iter().filter(|finding| finding.rule() == "missing").count();
        let named: usize = needs.iter().map(|list| {
            let mut list: Vec<&usize> = list.iter().filter(|need| **need >= needs.len()).collect();
            list.sort_unstable();
            list.dedup();
            list.len()
        }).sum();
        prop_assert_eq!(missing, named);
        let world = one.worlds().remove(0);
        let loops = all(&one, false).iter().filter(|finding| finding.rule() == "cycle").count();
        prop_assert_eq!(loops, super::graph(&world).loops().len());
    }
}
