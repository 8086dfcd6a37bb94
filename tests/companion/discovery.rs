//! Which kinds the cluster has.

use http::{Request, Response};
use kube::client::Body;
use serde_json::{Value, json};
use sluicegate::cluster::Trouble;
use sluicegate::cluster::access::missing;
use sluicegate::cluster::discovery::served;
use sluicegate::rights;
use sluicegate_core::object::Kind;

/// An API server that answers by path; anything else it does not have.
fn client(answer: impl Fn(&str, &Value) -> Option<Value> + Clone + Send + Sync + 'static) -> kube::Client {
    let service = tower::service_fn(move |request: Request<Body>| {
        let answer = answer.clone();
        async move {
            let path = request.uri().path().to_owned();
            let body = serde_json::from_slice(&request.into_body().collect_bytes().await?).unwrap_or_default();
            let (code, body) = match answer(&path, &body) {
                Some(body) => (200, body),
                None => (404, json!({"kind": "Status", "status": "Failure", "message": "not found", "code": 404})),
            };
            Ok::<_, tower::BoxError>(
                Response::builder().status(code).body(Body::from(body.to_string().into_bytes())).unwrap(),
            )
        }
    });
    kube::Client::new(service, "default")
}

fn groups(versions: &[&str]) -> Value {
    let groups: Vec<Value> = versions
        .iter()
        .map(|version| {
            let name = version.split('/').next().unwrap();
            let version = json!({"groupVersion": version, "version": version.split('/').next_back().unwrap()});
            json!({"name": name, "versions": [version], "preferredVersion": version})
        })
        .collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

fn resources(group_version: &str, plurals: &[&str]) -> Value {
    let list: Vec<Value> = plurals
        .iter()
        .map(|plural| json!({"name": plural, "singularName": "", "namespaced": true, "kind": "X", "verbs": ["list"]}))
        .collect();
    json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": list})
}

#[tokio::test]
async fn kinds_are_found_with_the_first_version_of_ours_that_is_served() {
    let client = client(|path, _| match path {
        "/apis" => Some(groups(&[
            "kustomize.toolkit.fluxcd.io/v1",
            "source.toolkit.fluxcd.io/v1",
            "infra.contrib.fluxcd.io/v1alpha1",
            "helm.toolkit.fluxcd.io/v2beta1",
        ])),
        "/apis/kustomize.toolkit.fluxcd.io/v1" => {
            Some(resources("kustomize.toolkit.fluxcd.io/v1", &["kustomizations", "kustomizations/status"]))
        }
        "/apis/source.toolkit.fluxcd.io/v1" => Some(resources("source.toolkit.fluxcd.io/v1", &["gitrepositories"])),
        "/apis/infra.contrib.fluxcd.io/v1alpha1" => {
            Some(resources("infra.contrib.fluxcd.io/v1alpha1", &["terraforms"]))
        }
        _ => None,
    });
    let found: Vec<(Kind, &str)> = served(&client).await.unwrap().into_iter().collect();
    // helm's version is too old for us, and of the sources only one kind is there.
    assert_eq!(found, [(Kind::GitRepository, "v1"), (Kind::Kustomization, "v1"), (Kind::Terraform, "v1alpha1")]);
}

#[tokio::test]
async fn a_cluster_without_flux_has_none_and_one_that_does_not_answer_is_no_such_cluster() {
    let none = client(|path, _| (path == "/apis").then(|| groups(&["apps/v1"])));
    assert!(served(&none).await.unwrap().is_empty());
    let broken = kube::Client::new(
        tower::service_fn(|_: Request<Body>| async { Err::<Response<Body>, tower::BoxError>("cut".into()) }),
        "default",
    );
    assert!(matches!(served(&broken).await, Err(Trouble::Transient(_))));
}

#[tokio::test]
async fn what_is_missing_is_told_by_verb_and_resource() {
    let client = client(|_, review| {
        let of = |field: &str| review.pointer(&format!("/spec/resourceAttributes/{field}")).and_then(Value::as_str);
        let missing = of("resource") == Some("helmreleases") && of("verb") == Some("patch");
        Some(json!({"status": {"allowed": !missing}}))
    });
    let told = missing(&client, &rights::companion(false, false), None).await.unwrap();
    assert_eq!(told, ["patch helmreleases.helm.toolkit.fluxcd.io", "patch helmreleases/status.helm.toolkit.fluxcd.io"]);
}
