//! Clusters in memory and in folders.

use std::{fs, path::PathBuf, time::Duration};

use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_host::{Cluster, HostRequest, MemoryCluster, ResourceAttributes, Review, SubjectAccessReview};

use crate::support::kustomization;

const KUSTOMIZE: &str = "kustomize.toolkit.fluxcd.io/v1";

fn read(api_version: &str, kind: &str, namespace: Option<&str>, name: &str, masks: &[&str]) -> HostRequest {
    HostRequest::KubernetesGetResource {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        name: name.to_owned(),
        namespace: namespace.map(str::to_owned),
        disable_cache: true,
        field_masks: (!masks.is_empty()).then(|| masks.iter().map(|&mask| mask.to_owned()).collect()),
    }
}

fn get(cluster: &MemoryCluster, namespace: Option<&str>, name: &str) -> Result<Value, String> {
    answer(cluster, &read(KUSTOMIZE, "Kustomization", namespace, name, &[]))
}

fn answer(cluster: &MemoryCluster, request: &HostRequest) -> Result<Value, String> {
    match cluster.answer(request) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes).unwrap()),
        Err(failure) => Err(failure.full_text()),
    }
}

fn list(namespace: Option<&str>, masks: &[&str]) -> HostRequest {
    let field_masks = (!masks.is_empty()).then(|| masks.iter().map(|&mask| mask.to_owned()).collect());
    let (api_version, kind) = (KUSTOMIZE.to_owned(), "Kustomization".to_owned());
    match namespace {
        None => HostRequest::KubernetesListResourceAll {
            api_version,
            kind,
            label_selector: None,
            field_selector: None,
            field_masks,
        },
        Some(namespace) => HostRequest::KubernetesListResourceNamespace {
            api_version,
            kind,
            namespace: namespace.to_owned(),
            label_selector: None,
            field_selector: None,
            field_masks,
        },
    }
}

#[test]
fn absent_objects() {
    let cluster = MemoryCluster::new().with(kustomization("a"));
    assert!(get(&cluster, Some("apps"), "a").is_ok());
    let text =
        "Cannot find kustomize.toolkit.fluxcd.io/v1/Kustomization named 'b' inside of namespace 'Some(\"apps\")'";
    assert_eq!(get(&cluster, Some("apps"), "b").unwrap_err(), text);
    assert!(get(&cluster, Some("other"), "a").is_err());
    assert!(get(&cluster.without("Kustomization/apps/a"), Some("apps"), "a").is_err());
}

#[test]
fn a_namespaced_kind_needs_a_namespace() {
    assert_eq!(
        get(&MemoryCluster::new(), None, "a").unwrap_err(),
        "Resource kustomize.toolkit.fluxcd.io/v1/Kustomization is namespaced, but no namespace was provided"
    );
}

#[test]
fn a_cluster_wide_kind_ignores_the_namespace() {
    let package = json!({"apiVersion": "cozystack.io/v1alpha1", "kind": "Package", "metadata": {"name": "p"}});
    let widget = json!({"apiVersion": "x.io/v1", "kind": "Widget", "metadata": {"name": "p", "namespace": "odd"}});
    let cluster = MemoryCluster::new().cluster_scoped("Widget").with(package.clone()).with(widget);
    for namespace in [None, Some("x")] {
        let found = answer(&cluster, &read("cozystack.io/v1alpha1", "Package", namespace, "p", &[]));
        assert_eq!(found.unwrap(), package);
        assert!(answer(&cluster, &read("x.io/v1", "Widget", namespace, "p", &[])).is_ok());
    }
    assert_eq!(
        answer(&cluster, &read("cozystack.io/v1alpha1", "Package", None, "q", &[])).unwrap_err(),
        "Cannot find cozystack.io/v1alpha1/Package named 'q' inside of namespace 'None'"
    );
}

#[test]
fn an_object_is_served_under_every_version() {
    let cluster = MemoryCluster::new().with(kustomization("a"));
    let old = "kustomize.toolkit.fluxcd.io/v1beta2";
    let found = answer(&cluster, &read(old, "Kustomization", Some("apps"), "a", &[])).unwrap();
    assert_eq!(found["apiVersion"], old);
    assert_eq!(found["spec"], kustomization("a")["spec"]);
    assert!(answer(&cluster, &read("other.io/v1", "Kustomization", Some("apps"), "a", &[])).is_err());
}

#[test]
fn absent_kinds_and_groups() {
    let cluster = MemoryCluster::new().with(kustomization("a"));
    assert_eq!(
        get(&cluster.clone().absent_kind("Kustomization"), Some("apps"), "a").unwrap_err(),
        "Cannot find resource kustomize.toolkit.fluxcd.io/v1/Kustomization"
    );
    assert_eq!(
        get(&cluster.clone().absent_group(KUSTOMIZE), Some("apps"), "a").unwrap_err(),
        "error finding resource kustomize.toolkit.fluxcd.io/v1 / Kustomization: ApiError: 404 page not found\n: Failed to parse error data (Status { status: Some(Failure), code: 404, message: \"404 page not found\\n\", metadata: None, reason: \"Failed to parse error data\", details: None })"
    );
    let one_version = cluster.clone().absent_kind("kustomize.toolkit.fluxcd.io/v1/Kustomization");
    assert!(get(&one_version, Some("apps"), "a").is_err());
    let other = read("kustomize.toolkit.fluxcd.io/v1beta2", "Kustomization", Some("apps"), "a", &[]);
    assert!(answer(&one_version, &other).is_ok());
    assert!(get(&cluster.absent_kind("HelmRelease").absent_group("x.io/v1"), Some("apps"), "a").is_ok());
}

#[test]
fn forbidden_reads() {
    let cluster = MemoryCluster::new().with(kustomization("a")).forbid("Kustomization");
    let short = "kustomizations.kustomize.toolkit.fluxcd.io \"a\" is forbidden: User \"system:serviceaccount:kubewarden:policy-server\" cannot get resource \"kustomizations\" in API group \"kustomize.toolkit.fluxcd.io\" in the namespace \"apps\": Forbidden";
    let text = get(&cluster, Some("apps"), "a").unwrap_err();
    assert!(text.starts_with(&format!("ApiError: {short} (Status {{ status: Some(Failure), code: 403, ")), "{text}");
    assert!(text.ends_with(&format!("\n\nCaused by:\n    {short}")), "{text}");
    // A session keeps the first line alone.
    let failure = cluster.answer(&read(KUSTOMIZE, "Kustomization", Some("apps"), "a", &[])).unwrap_err();
    assert!(!failure.to_string().contains("Caused by"));
}

#[rstest]
#[case::of_a_kind("Kustomization", &["apps/a", "apps/b", "other/a"])]
#[case::of_a_namespace("Kustomization/apps", &["apps/a", "apps/b"])]
#[case::of_one("Kustomization/apps/a", &["apps/a"])]
#[case::of_another_kind("HelmRelease", &[])]
#[case::with_slashes_in_the_name("Kustomization/apps/a/x", &[])]
fn targets(#[case] target: &str, #[case] hit: &[&str]) {
    let mut other = kustomization("a");
    other["metadata"]["namespace"] = json!("other");
    let cluster = MemoryCluster::new().with_all([kustomization("a"), kustomization("b"), other]).fail(target, "broken");
    for place in ["apps/a", "apps/b", "other/a"] {
        let (namespace, name) = place.split_once('/').unwrap();
        let found = get(&cluster, Some(namespace), name);
        if hit.contains(&place) {
            assert_eq!(found.unwrap_err(), "broken", "{place}");
        } else {
            assert!(found.is_ok(), "{place}");
        }
    }
}

#[test]
fn what_is_said_later_counts() {
    let cluster = MemoryCluster::new()
        .with(kustomization("a"))
        .forbid("Kustomization")
        .delay("Kustomization", Duration::ZERO)
        .garbage("Kustomization/apps/a", b"{{");
    let bytes = cluster.answer(&read(KUSTOMIZE, "Kustomization", Some("apps"), "a", &[])).unwrap();
    assert_eq!(bytes, b"{{");
}

#[test]
fn a_get_serves_the_object_less_what_a_typed_metadata_drops() {
    let mut object = kustomization("a");
    object["metadata"]["managedFields"] = json!([{"manager": "m"}]);
    object["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/last-applied-configuration": "{}"});
    let expected = object.clone();
    object["metadata"]["labels"] = Value::Null;
    object["metadata"]["unknown"] = json!(1);
    let cluster = MemoryCluster::new().with(object);
    assert_eq!(get(&cluster, Some("apps"), "a").unwrap(), expected);
}

#[test]
fn masks_leave_type_and_metadata_alone() {
    let cluster = MemoryCluster::new().with(kustomization("a"));
    let masked = |masks| answer(&cluster, &read(KUSTOMIZE, "Kustomization", Some("apps"), "a", masks)).unwrap();
    let mut expected = kustomization("a");
    expected.as_object_mut().unwrap().remove("status");
    expected["spec"] = json!({"suspend": true});
    assert_eq!(masked(&["spec.suspend"]), expected);
    expected.as_object_mut().unwrap().remove("spec");
    assert_eq!(masked(&["metadata.name"]), expected);
}

#[test]
fn lists() {
    let mut other = kustomization("z");
    other["metadata"]["namespace"] = json!("other");
    other["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/last-applied-configuration": "{}", "kept": "yes"});
    let cluster = MemoryCluster::new().with_all([kustomization("a"), other]);
    let all = answer(&cluster, &list(None, &["status"])).unwrap();
    assert_eq!(
        all,
        json!({
            "apiVersion": KUSTOMIZE, "kind": "KustomizationList", "metadata": {},
            "items": [
                {"apiVersion": KUSTOMIZE, "kind": "Kustomization", "status": {"observedGeneration": 3},
                 "metadata": {"name": "a", "namespace": "apps", "managedFields": [], "annotations": {}}},
                {"apiVersion": KUSTOMIZE, "kind": "Kustomization", "status": {"observedGeneration": 3},
                 "metadata": {"name": "z", "namespace": "other", "managedFields": [], "annotations": {"kept": "yes"}}}
            ]
        })
    );
    let one = answer(&cluster, &list(Some("other"), &[])).unwrap();
    assert_eq!(one["items"][0]["metadata"]["name"], "z");
    assert_eq!(one["items"].as_array().unwrap().len(), 1);
    assert_eq!(answer(&cluster, &list(Some("empty"), &[])).unwrap()["items"], json!([]));
}

#[test]
fn a_cluster_wide_kind_is_not_listed_in_a_namespace() {
    let cluster = MemoryCluster::new().cluster_scoped("Kustomization");
    assert_eq!(
        answer(&cluster, &list(Some("apps"), &[])).unwrap_err(),
        "resource kustomize.toolkit.fluxcd.io/v1/Kustomization is cluster wide. Cannot search for it inside of a namespace"
    );
}

#[test]
fn a_selector_is_refused_rather_than_ignored() {
    let selecting = HostRequest::KubernetesListResourceAll {
        api_version: KUSTOMIZE.to_owned(),
        kind: "Kustomization".to_owned(),
        label_selector: Some("a=b".to_owned()),
        field_selector: None,
        field_masks: None,
    };
    let text = "this host does not evaluate selectors";
    assert_eq!(answer(&MemoryCluster::new(), &selecting).unwrap_err(), text);
}

#[rstest]
#[case::no_version(json!({"kind": "K"}), "no apiVersion")]
#[case::no_kind(json!({"apiVersion": "v1"}), "v1: no kind")]
#[case::no_name(json!({"apiVersion": "v1", "kind": "K", "metadata": {}}), "v1/K: no metadata.name")]
fn what_is_no_object(#[case] object: Value, #[case] text: &str) {
    assert_eq!(MemoryCluster::new().insert(object).unwrap_err(), text);
}

fn can(cluster: &MemoryCluster, user: &str, groups: &[&str], resource: &str, place: (&str, &str)) -> bool {
    let (resource, group) = resource.split_once('.').unwrap_or((resource, ""));
    let optional = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let asked = HostRequest::KubernetesCanI {
        request: SubjectAccessReview {
            user: user.to_owned(),
            groups: Some(groups.iter().map(|&group| group.to_owned()).collect()),
            resource_attributes: ResourceAttributes {
                verb: "get".to_owned(),
                resource: resource.to_owned(),
                group: optional(group),
                namespace: optional(place.0),
                name: optional(place.1),
                ..ResourceAttributes::default()
            },
        },
        disable_cache: true,
    };
    let status = answer(cluster, &asked).unwrap();
    status["allowed"].as_bool().unwrap()
}

#[test]
fn who_may_do_what() {
    let text = |text: &str| Some(text.to_owned());
    let cluster = MemoryCluster::new()
        .grant("alice", "get", "pods")
        .grant("bob", "patch", "pods")
        .review(Review { user: text("carol"), namespace: text("secret"), allowed: false, ..Review::default() })
        .review(Review { user_group: text("team"), verb: text("*"), namespace: text("apps"), ..Review::default() })
        .review(Review { user: text("carol"), ..Review::default() });
    let nowhere = ("", "");
    assert!(can(&cluster, "alice", &[], "pods", nowhere));
    assert!(can(&cluster, "alice", &[], "pods", ("any", "name")));
    assert!(!can(&cluster, "alice", &[], "pods.other.io", nowhere), "another group");
    assert!(!can(&cluster, "alice", &[], "secrets", nowhere), "another resource");
    assert!(!can(&cluster, "bob", &[], "pods", nowhere), "another verb");
    assert!(!can(&cluster, "mallory", &[], "pods", nowhere), "nobody said so");
    assert!(can(&cluster, "mallory", &["x", "system:masters"], "pods", nowhere));
    assert!(can(&cluster, "dave", &["team"], "pods", ("apps", "")));
    assert!(!can(&cluster, "dave", &["team"], "pods", ("other", "")));
    assert!(!can(&cluster, "dave", &["team"], "pods", nowhere), "a grant in one namespace is none in all");
    assert!(can(&cluster, "carol", &[], "pods", ("open", "")));
    assert!(!can(&cluster, "carol", &[], "pods", ("secret", "")), "the first that matches counts");
}

#[test]
fn can_i_may_fail_too() {
    let cluster = MemoryCluster::new().fail("SubjectAccessReview", "no");
    let asked = HostRequest::KubernetesCanI { request: SubjectAccessReview::default(), disable_cache: false };
    assert_eq!(answer(&cluster, &asked).unwrap_err(), "no");
    let text = answer(&MemoryCluster::new().forbid("SubjectAccessReview"), &asked).unwrap_err();
    assert!(
        text.contains(
            "cannot create resource \"subjectaccessreviews\" in API group \"authorization.k8s.io\" at the cluster scope"
        ),
        "{text}"
    );
}

/// A folder of its own, gone with the value.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str, files: &[(&str, &str)]) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
        let _ = fs::remove_dir_all(&path);
        for (name, text) in files {
            let file = path.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const A: &str =
    "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a, namespace: apps}\n";

#[test]
fn a_folder_is_read_with_all_that_is_in_it() {
    let folder = Folder::new(
        "folder-all",
        &[
            ("one.yaml", &format!("---\n{A}---\n# nothing\n---\n{}", A.replace("name: a", "name: b"))),
            ("deep/er/two.yml", &A.replace("name: a", "name: c")),
            ("three.json", &format!("{}\n{}", kustomization("d"), kustomization("e"))),
            ("list.yaml", "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: X, metadata: {name: f}}\n"),
            (
                "kustomization.yaml",
                "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [one.yaml]\n",
            ),
            ("README.md", "not: [a manifest"),
            (
                "reviews.yaml",
                "- {user: alice, verb: get, group: '', resource: pods}\n- {userGroup: g, allowed: false}\n",
            ),
            (
                "absent-kinds.yaml",
                "- kind: HelmRelease\n- apiVersion: source.toolkit.fluxcd.io/v1\n- {apiVersion: x.io/v1, kind: Y}\n",
            ),
        ],
    );
    let cluster = MemoryCluster::from_folder(&folder.0).unwrap();
    let names: Vec<_> =
        cluster.objects().map(|object| object["metadata"]["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names, ["f", "a", "b", "c", "d", "e"]);
    assert!(can(&cluster, "alice", &[], "pods", ("", "")));
    assert!(!can(&cluster, "mallory", &["g"], "pods", ("", "")));
    let text = answer(&cluster, &read("helm.toolkit.fluxcd.io/v2", "HelmRelease", Some("x"), "x", &[])).unwrap_err();
    assert_eq!(text, "Cannot find resource helm.toolkit.fluxcd.io/v2/HelmRelease");
    assert_eq!(
        answer(&cluster, &read("x.io/v1", "Y", Some("x"), "x", &[])).unwrap_err(),
        "Cannot find resource x.io/v1/Y"
    );
    let text = answer(&cluster, &read("source.toolkit.fluxcd.io/v1", "Bucket", Some("x"), "x", &[])).unwrap_err();
    assert!(text.starts_with("error finding resource source.toolkit.fluxcd.io/v1 / Bucket: "), "{text}");
}

#[test]
fn files_with_nothing_in_them_are_no_mistake() {
    let files = ["a.yaml", "reviews.yaml", "absent-kinds.yaml"].map(|name| (name, "# later\n"));
    let folder = Folder::new("folder-empty", &files);
    assert!(MemoryCluster::from_folder(&folder.0).unwrap().is_empty());
}

#[rstest]
#[case::no_yaml("a.yaml", "a: [", "document 1: ")]
#[case::no_name("a.yaml", "---\napiVersion: v1\nkind: X\n", "document 1: v1/X: no metadata.name")]
#[case::twice("a.yaml", TWICE, "document 2: Kustomization/apps/a is there twice")]
#[case::unknown_key("reviews.yaml", "- {who: alice}", "document 1: ")]
#[case::no_json("a.json", "{", "document 1: EOF while parsing an object")]
fn a_folder_with_a_mistake(#[case] name: &str, #[case] text: &str, #[case] expected: &str) {
    let folder = Folder::new(&format!("folder-mistake-{}", expected.len() + text.len()), &[(name, text)]);
    let error = MemoryCluster::from_folder(&folder.0).unwrap_err().to_string();
    let expected = format!("{}: {expected}", folder.0.join(name).display());
    assert!(error.starts_with(&expected), "{error}");
}

const TWICE: &str = "apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: a, namespace: apps}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1beta2
kind: Kustomization
metadata: {name: a, namespace: apps}
";

#[test]
fn a_missing_folder_is_named() {
    let error = MemoryCluster::from_folder("/nowhere/at/all").unwrap_err().to_string();
    assert!(error.starts_with("cannot read /nowhere/at/all: "), "{error}");
}
