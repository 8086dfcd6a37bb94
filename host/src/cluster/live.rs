//! A cluster that is really there.

use std::{
    collections::BTreeMap,
    error::Error,
    path::Path,
    sync::{PoisonError, RwLock},
    time::Duration,
};

use k8s_openapi::api::authorization::v1 as authorization;
use kube::{
    Api, Client, Config,
    api::{ApiResource, DynamicObject, PostParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use thiserror::Error;
use tokio::runtime::Handle;

use super::{Cluster, error, mask::Mask};
use crate::call::{Failure, HostRequest, SubjectAccessReview};

/// How long upstream waits for an answer of the API server (kube 3.1's default, which kube 5 has no more).
const READ_TIMEOUT: Duration = Duration::from_secs(295);

/// Why there is no way to the API server.
#[derive(Debug, Error)]
pub enum ConnectError {
    /// The kubeconfig cannot be used.
    #[error("cannot use the kubeconfig {path}: {source}")]
    Kubeconfig {
        /// The file, as it was named
        path: String,
        /// What went wrong
        source: kube::config::KubeconfigError,
    },
    /// No client can be made of it.
    #[error("cannot make a client for {server}: {source}")]
    Client {
        /// Address of the API server
        server: String,
        /// What went wrong
        source: kube::Error,
    },
}

/// The cluster of a kubeconfig, read with the account that stands there.
///
/// A read is one GET, uncached; what it says and how it fails are upstream's, down to the Debug forms. Before the first read
/// of a kind its resource is looked up, and kept for good once it is found. `can_i` creates a SubjectAccessReview.
///
/// # Caveats
///
/// * A read that hangs is given up after 295 seconds, as upstream does, not at the deadline of the evaluation.
/// * Must not be asked on a thread that runs async tasks: it would block them, and tokio panics.
/// * Lists are refused: upstream answers them from a watch it keeps, which is not built here.
/// * The texts are kube 5.0's, upstream has kube 3.1's; they differ in an error page that ends in a blank line: kube 5 trims it.
pub struct LiveCluster {
    client: Client,
    runtime: Handle,
    resources: RwLock<BTreeMap<(String, String), (ApiResource, bool)>>,
}

impl std::fmt::Debug for LiveCluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LiveCluster").finish_non_exhaustive()
    }
}

impl LiveCluster {
    /// The cluster of the current context of a kubeconfig file. Nothing is sent yet: that the API server does not answer
    /// shows at the first read.
    ///
    /// # Errors
    /// See [`ConnectError`].
    pub async fn from_kubeconfig(path: impl AsRef<Path>) -> Result<Self, ConnectError> {
        let path = path.as_ref();
        let unusable = |source| ConnectError::Kubeconfig { path: path.display().to_string(), source };
        let kubeconfig = Kubeconfig::read_from(path).map_err(unusable)?;
        let config =
            Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.map_err(unusable)?;
        Self::connect(config)
    }

    /// The cluster of a configuration.
    ///
    /// # Errors
    /// [`ConnectError::Client`].
    ///
    /// # Panics
    /// Outside of a tokio runtime, which then runs its requests.
    pub fn connect(mut config: Config) -> Result<Self, ConnectError> {
        let server = config.cluster_url.to_string();
        config.read_timeout = Some(READ_TIMEOUT);
        let client = Client::try_from(config).map_err(|source| ConnectError::Client { server, source })?;
        Ok(Self { client, runtime: Handle::current(), resources: RwLock::default() })
    }

    /// The resource of a kind, and whether it has a namespace.
    async fn resource(&self, api_version: &str, kind: &str) -> Result<(ApiResource, bool), Failure> {
        let key = (api_version.to_owned(), kind.to_owned());
        let known = self.resources.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let listed = if api_version == "v1" {
            self.client.list_core_api_resources(api_version).await.map_err(failure)?
        } else {
            let listed = self.client.list_api_group_resources(api_version).await;
            listed.map_err(|source| error::discovery(api_version, kind, &source))?
        };
        let resource = listed
            .resources
            .into_iter()
            .find(|resource| resource.kind == kind)
            .ok_or_else(|| error::absent_kind(api_version, kind))?;
        if group.is_empty() && api_version != "v1" {
            return Err(Failure::new(format!("cannot determine group and version for {api_version}")));
        }
        let found = ApiResource {
            group: group.to_owned(),
            version: version.to_owned(),
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            plural: resource.name,
        };
        let found = (found, resource.namespaced);
        self.resources.write().unwrap_or_else(PoisonError::into_inner).insert(key, found.clone());
        Ok(found)
    }

    async fn get(
        &self,
        api_version: &str,
        kind: &str,
        name: &str,
        namespace: Option<&str>,
        mask: &Mask,
    ) -> Result<Vec<u8>, Failure> {
        let (resource, namespaced) = self.resource(api_version, kind).await?;
        let api: Api<DynamicObject> = if namespaced {
            let namespace = namespace.ok_or_else(|| error::no_namespace(api_version, kind))?;
            Api::namespaced_with(self.client.clone(), namespace, &resource)
        } else {
            Api::all_with(self.client.clone(), &resource)
        };
        let found = api.get_opt(name).await.map_err(failure)?;
        let mut object = found.ok_or_else(|| error::absent(api_version, kind, name, namespace))?;
        if let Some(data) = object.data.as_object_mut() {
            mask.prune(data);
        }
        to_bytes(&object)
    }

    async fn can_i(&self, review: &SubjectAccessReview) -> Result<Vec<u8>, Failure> {
        let what = review.resource_attributes.clone();
        let review = authorization::SubjectAccessReview {
            spec: authorization::SubjectAccessReviewSpec {
                user: Some(review.user.clone()),
                groups: review.groups.clone(),
                resource_attributes: Some(authorization::ResourceAttributes {
                    namespace: what.namespace,
                    verb: Some(what.verb),
                    group: what.group,
                    resource: Some(what.resource),
                    subresource: what.subresource,
                    name: what.name,
                    version: what.version,
                    ..Default::default()
                }),
                ..Default::default()
            },
            ..Default::default()
        };
        let api: Api<authorization::SubjectAccessReview> = Api::all(self.client.clone());
        let answered = api.create(&PostParams::default(), &review).await.map_err(failure)?;
        let status = answered.status.ok_or_else(|| Failure::new("SubjectAccessReview did not return a response"))?;
        to_bytes(&status)
    }
}

impl Cluster for LiveCluster {
    fn answer(&self, request: &HostRequest) -> Result<Vec<u8>, Failure> {
        let mask = request.field_masks().map(Mask::new).unwrap_or_default();
        match request {
            HostRequest::KubernetesGetResource { api_version, kind, name, namespace, .. } => {
                self.runtime.block_on(self.get(api_version, kind, name, namespace.as_deref(), &mask))
            }
            HostRequest::KubernetesCanI { request, .. } => self.runtime.block_on(self.can_i(request)),
            HostRequest::KubernetesListResourceAll { .. } | HostRequest::KubernetesListResourceNamespace { .. } => {
                Err(Failure::new("this host does not list what is in a cluster"))
            }
        }
    }
}

/// The text with what caused it, if anything did; numbered where there are several, as an `anyhow::Error` is in its Debug
/// form.
fn failure(source: kube::Error) -> Failure {
    let mut causes = Vec::new();
    let mut next = source.source();
    while let Some(cause) = next {
        causes.push(cause.to_string());
        next = cause.source();
    }
    match causes.as_slice() {
        [] => Failure::new(source.to_string()),
        [only] => Failure::caused_by(source.to_string(), only),
        several => {
            let lines: Vec<_> = several.iter().enumerate().map(|(at, text)| format!("{at}: {text}")).collect();
            Failure::caused_by(source.to_string(), lines.join("\n"))
        }
    }
}

fn to_bytes(value: &impl serde::Serialize) -> Result<Vec<u8>, Failure> {
    serde_json::to_vec(value).map_err(|error| Failure::new(error.to_string()))
}
