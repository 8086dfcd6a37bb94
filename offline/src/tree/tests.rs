use super::{Tree, World};
use crate::sample::tree;
use rstest::rstest;
use sluicegate_core::need::Reason;
use std::fmt::Write;

/// Every world: its name, its objects with their owners and needs, and its ways out.
fn shown(tree: &Tree) -> String {
    let mut out = String::new();
    for world in tree.worlds() {
        show(tree, &world, &mut out);
    }
    out.trim_end().to_owned()
}

fn show(tree: &Tree, world: &World, out: &mut String) {
    writeln!(out, "world {:?}", world.name).unwrap();
    for (reference, definition) in &world.objects {
        let owner = definition.owner.as_ref().map(|owner| format!(" by {}", owner.name)).unwrap_or_default();
        let needs: Vec<String> = definition
            .object
            .needs()
            .judged
            .iter()
            .filter(|need| need.reason != Reason::SourceRef)
            .map(|need| format!(" > {} {}", need.target.kind, need.target.name))
            .collect();
        let suspended = if definition.object.is_suspended() { " suspended" } else { "" };
        writeln!(out, "  {reference} {}{owner}{suspended}{}", tree.shown(definition.place.unwrap()), needs.concat())
            .unwrap();
    }
    for (reference, unread) in &world.unread {
        writeln!(
            out,
            "  {reference} unread: {}",
            unread.why.as_ref().map_or("encrypted".to_owned(), ToString::to_string)
        )
        .unwrap();
    }
    for open in &world.open {
        writeln!(out, "  open {}:{} {}", open.path, open.line, open.what).unwrap();
    }
    for doubled in &world.doubled {
        writeln!(out, "  doubled {} {} {}", doubled.object, tree.shown(doubled.first), tree.shown(doubled.again))
            .unwrap();
    }
}

#[test]
fn a_folder_of_files_is_one_world() {
    let tree = tree("# file: a.yaml\nks a ./x\nhr r\n# file: sub/b.yaml\nks b ./y dependsOn: [{name: a}]\n");
    insta::assert_snapshot!(shown(&tree), @r#"
    world ""
      HelmRelease/default/r a.yaml
      Kustomization/flux-system/a a.yaml
      Kustomization/flux-system/b sub/b.yaml > Kustomization a
      open a.yaml:2 what Kustomization/flux-system/a applies
      open sub/b.yaml:2 what Kustomization/flux-system/b applies
    "#);
}

const FLEET: &str = "
# file: clusters/production/flux-system/kustomization.yaml
build resources: [gotk-sync.yaml]
# file: clusters/production/flux-system/gotk-sync.yaml
git flux-system
ks flux-system ./clusters/production
# file: clusters/production/apps.yaml
ks apps ./apps/production dependsOn: [{name: infra}], wait: true
ks infra ./infra postBuild: {substitute: {env: production}}
# file: clusters/staging/flux-system/gotk-sync.yaml
git flux-system
ks flux-system ./clusters/staging
# file: clusters/staging/apps.yaml
ks apps ./apps/staging
ks infra ./infra postBuild: {substitute: {env: staging}}
# file: infra/release.yaml
hr ingress-${env} suspend: true
# file: apps/base/kustomization.yaml
build namespace: podinfo, resources: [release.yaml]
# file: apps/base/release.yaml
hr podinfo
# file: apps/production/kustomization.yaml
build resources: [../base], namePrefix: prod-
# file: apps/staging/kustomization.yaml
build resources: [../base], patches: [{path: patch.yaml, target: {kind: HelmRelease}}]
# file: apps/staging/patch.yaml
hr any suspend: true
";

#[test]
fn each_cluster_of_a_fleet_is_a_world() {
    insta::assert_snapshot!(shown(&tree(FLEET)), @r#"
    world "clusters/production"
      GitRepository/flux-system/flux-system clusters/production/flux-system/gotk-sync.yaml by flux-system
      HelmRelease/default/ingress-production infra/release.yaml by infra suspended
      HelmRelease/podinfo/prod-podinfo apps/base/release.yaml by apps
      Kustomization/flux-system/apps clusters/production/apps.yaml by flux-system > Kustomization infra > HelmRelease prod-podinfo
      Kustomization/flux-system/flux-system clusters/production/flux-system/gotk-sync.yaml by flux-system
      Kustomization/flux-system/infra clusters/production/apps.yaml by flux-system
    world "clusters/staging"
      GitRepository/flux-system/flux-system clusters/staging/flux-system/gotk-sync.yaml by flux-system
      HelmRelease/default/ingress-staging infra/release.yaml by infra suspended
      HelmRelease/podinfo/podinfo apps/base/release.yaml by apps suspended
      Kustomization/flux-system/apps clusters/staging/apps.yaml by flux-system
      Kustomization/flux-system/flux-system clusters/staging/flux-system/gotk-sync.yaml by flux-system
      Kustomization/flux-system/infra clusters/staging/apps.yaml by flux-system
    "#);
}

#[test]
fn patches_of_a_kustomization_reach_its_children_and_theirs() {
    let text = "
# file: cluster/ks.yaml
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: cluster-apps, namespace: flux-system}
spec:
  sourceRef: {kind: GitRepository, name: flux-system}
  path: ./apps
  patches:
    - patch: |-
        apiVersion: kustomize.toolkit.fluxcd.io/v1
        kind: Kustomization
        metadata: {name: not-used}
        spec:
          postBuild: {substitute: {who: world}}
          patches:
            - patch: |-
                apiVersion: helm.toolkit.fluxcd.io/v2
                kind: HelmRelease
                metadata: {name: not-used}
                spec: {suspend: true}
              target: {group: helm.toolkit.fluxcd.io, kind: HelmRelease}
      target: {group: kustomize.toolkit.fluxcd.io, kind: Kustomization}
# file: apps/web/ks.yaml
ks web ./apps/web/app targetNamespace: web
# file: apps/web/app/kustomization.yaml
build resources: [release.yaml]
# file: apps/web/app/release.yaml
hr hello-${who}
# file: apps/kustomization.yaml
build resources: [web/ks.yaml]
";
    insta::assert_snapshot!(shown(&tree(text)), @r#"
    world ""
      HelmRelease/web/hello-world apps/web/app/release.yaml by web suspended
      Kustomization/flux-system/cluster-apps cluster/ks.yaml
      Kustomization/flux-system/web apps/web/ks.yaml by cluster-apps
    "#);
}

#[test]
fn variables_come_from_the_tree_and_stay_open_where_they_cannot_be_had() {
    let text = "
# file: ks.yaml
ks base ./base postBuild: {substituteFrom: [{kind: ConfigMap, name: vars}]}
ks secret ./secret postBuild: {substituteFrom: [{kind: Secret, name: hidden}]}
ks vars ./vars
# file: vars/vars.yaml
{apiVersion: v1, kind: ConfigMap, metadata: {name: vars, namespace: flux-system}, data: {x: one}}
---
{apiVersion: v1, kind: Secret, metadata: {name: hidden, namespace: flux-system}, stringData: {x: 'ENC[AES256_GCM]'}, sops: {mac: x}}
# file: base/r.yaml
hr base-${x}
# file: secret/r.yaml
hr secret-${x} dependsOn: [{name: 'on-${x}'}]
";
    insta::assert_snapshot!(shown(&tree(text)), @r#"
    world ""
      HelmRelease/default/base-one base/r.yaml by base
      HelmRelease/default/secret-${x} secret/r.yaml by secret > HelmRelease on-${x}
      Kustomization/flux-system/base ks.yaml
      Kustomization/flux-system/secret ks.yaml
      Kustomization/flux-system/vars ks.yaml
    "#);
}

#[test]
fn components_change_what_stands_before_them() {
    let text = "
# file: app/kustomization.yaml
build resources: [r.yaml], components: [../part], nameSuffix: -x
# file: app/r.yaml
hr r
# file: part/kustomization.yaml
build kind: Component, resources: [more.yaml], patches: [{patch: '[{op: add, path: /spec/suspend, value: true}]', target: {name: r}}]
# file: part/more.yaml
hr more
";
    insta::assert_snapshot!(shown(&tree(text)), @r#"
    world ""
      HelmRelease/default/more-x part/more.yaml
      HelmRelease/default/r-x app/r.yaml suspended
    "#);
}

#[test]
fn an_instance_makes_its_source_and_its_kustomization() {
    let text = "
# file: flux/instance.yaml
{apiVersion: fluxcd.controlplane.io/v1, kind: FluxInstance, metadata: {name: flux, namespace: flux-system}, spec: {sync: {kind: OCIRepository, url: 'oci://x', path: ./cluster}}}
# file: cluster/r.yaml
hr r
";
    insta::assert_snapshot!(shown(&tree(text)), @r#"
    world ""
      HelmRelease/default/r cluster/r.yaml by flux-system
      Kustomization/flux-system/flux-system flux/instance.yaml
      OCIRepository/flux-system/flux-system flux/instance.yaml
    "#);
}

#[test]
fn what_is_not_here_is_an_open_end() {
    let text = "
# file: a/kustomization.yaml
build resources: ['https://example.org/x.yaml', missing.yaml, '../../out', r.yaml, '../b'], transformers: [x]
# file: a/r.yaml
ks remote ./b kubeConfig: {secretRef: {name: k}}
# file: b/kustomization.yaml
build resources: [../a, r.yaml]
# file: b/r.yaml
hr r
";
    insta::assert_snapshot!(shown(&tree(text)), @r#"
    world ""
      HelmRelease/default/r b/r.yaml
      Kustomization/flux-system/remote a/r.yaml
      open a/kustomization.yaml:1 ../../out
      open a/kustomization.yaml:1 https://example.org/x.yaml
      open a/kustomization.yaml:1 missing.yaml
      open a/kustomization.yaml:1 transformers
      open a/r.yaml:2 what Kustomization/flux-system/remote applies to another cluster
      open b/kustomization.yaml:1 ../a, which leads back to itself
    "#);
}

#[test]
fn other_repositories_are_not_looked_for_here() {
    let text = "
# file: gotk.yaml
git flux-system
git other
ks flux-system ./
{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: o, namespace: flux-system}, spec: {path: ./deploy, sourceRef: {kind: GitRepository, name: other}}}
# file: deploy/r.yaml
hr r
";
    let text = text.replace("\n{api", "\n---\n{api");
    insta::assert_snapshot!(shown(&tree(&text)), @r#"
    world ""
      GitRepository/flux-system/flux-system gotk.yaml by flux-system
      GitRepository/flux-system/other gotk.yaml by flux-system
      HelmRelease/default/r deploy/r.yaml by flux-system
      Kustomization/flux-system/flux-system gotk.yaml by flux-system
      Kustomization/flux-system/o gotk.yaml by flux-system
      open gotk.yaml:8 what Kustomization/flux-system/o applies
    "#);
}

#[test]
fn the_root_of_another_source_is_not_the_root_of_this_tree() {
    let text = "
# file: clusters/one/infra.yaml
ks infra ./infra
# file: clusters/two/infra.yaml
ks infra ./infra wait: true
# file: infra/chart.yaml
---
{apiVersion: source.toolkit.fluxcd.io/v1, kind: OCIRepository, metadata: {name: chart, namespace: flux-system}, spec: {url: 'oci://example.org/chart'}}
---
{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: chart, namespace: flux-system}, spec: {path: ./, wait: true, sourceRef: {kind: OCIRepository, name: chart}}}
";
    insta::assert_snapshot!(shown(&tree(text)), @r#"
    world "clusters/one"
      Kustomization/flux-system/chart infra/chart.yaml by infra
      Kustomization/flux-system/infra clusters/one/infra.yaml
      OCIRepository/flux-system/chart infra/chart.yaml by infra
      open infra/chart.yaml:4 what Kustomization/flux-system/chart applies
    world "clusters/two"
      Kustomization/flux-system/chart infra/chart.yaml by infra
      Kustomization/flux-system/infra clusters/two/infra.yaml > Kustomization chart > OCIRepository chart
      OCIRepository/flux-system/chart infra/chart.yaml by infra
      open infra/chart.yaml:4 what Kustomization/flux-system/chart applies
    "#);
}

#[test]
fn the_same_object_twice_in_one_place_is_doubled_and_in_two_folders_is_two_clusters() {
    let one = tree("# file: a.yaml\nhr r\nhr r suspend: true\n");
    insta::assert_snapshot!(shown(&one), @r#"
    world ""
      HelmRelease/default/r a.yaml suspended
      doubled HelmRelease/default/r a.yaml a.yaml
    "#);
    let two = tree("# file: a/r.yaml\nhr r\n# file: b/r.yaml\nhr r suspend: true\n# file: c/s.yaml\nhr s\n");
    insta::assert_snapshot!(shown(&two), @r#"
    world "a"
      HelmRelease/default/r a/r.yaml
      HelmRelease/default/s c/s.yaml
    world "b"
      HelmRelease/default/r b/r.yaml suspended
      HelmRelease/default/s c/s.yaml
    "#);
}

#[rstest]
#[case("# file: k.yaml\nks a ./\n")]
#[case("# file: a/k.yaml\nks a ./b\n# file: b/k.yaml\nks b ./a\n")]
#[case("# file: a/kustomization.yaml\nbuild resources: [., ../a, kustomization.yaml], components: [.]\n")]
#[case(
    "# file: a/kustomization.yaml\nbuild resources: [../b]\n# file: b/kustomization.yaml\nbuild resources: [../a]\n"
)]
fn circles_end(#[case] text: &str) {
    shown(&tree(text));
}

#[test]
fn circles_of_kustomizations_lose_nothing() {
    let tree = tree("# file: a/k.yaml\nks a ./b\n# file: b/k.yaml\nks b ./a\n");
    assert_eq!(tree.worlds()[0].objects.len(), 2);
}
