//! Which cluster, which namespace, which objects: as `kubectl` is told.

use crate::cluster::discovery::{Served, served};
use crate::names;
use anyhow::{Context, anyhow, bail};
use clap::Args;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use sluicegate_core::object::Reference;
use std::path::PathBuf;
use std::time::Duration;

/// Where the cluster is.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Cluster")]
pub struct ClusterArguments {
    /// The kubeconfig file to use; else KUBECONFIG, ~/.kube/config, or the service account of the pod.
    #[arg(long, value_name = "FILE", global = true)]
    pub kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig.
    #[arg(long, value_name = "NAME", global = true)]
    pub context: Option<String>,
    /// The namespace; else that of the context.
    #[arg(long, short, value_name = "NAME", global = true)]
    pub namespace: Option<String>,
}

/// A cluster that can be asked.
#[derive(Clone)]
pub struct Cluster {
    /// The client.
    pub client: Client,
    /// The kinds that it has.
    pub kinds: Served,
    /// The namespace of objects that are named without one.
    pub namespace: String,
}

impl ClusterArguments {
    /// The client and the namespace that it defaults to, without a request.
    ///
    /// # Errors
    /// Where no kubeconfig leads to a cluster, or it has no such context.
    pub async fn client(&self) -> anyhow::Result<(Client, String)> {
        let options = KubeConfigOptions { context: self.context.clone(), ..KubeConfigOptions::default() };
        let mut config = match &self.kubeconfig {
            Some(file) => {
                if !file.exists() {
                    bail!("kubeconfig {} does not exist", file.display());
                }
                let read = Kubeconfig::read_from(file).with_context(|| format!("kubeconfig {}", file.display()))?;
                Config::from_custom_kubeconfig(read, &options).await?
            }
            None if self.context.is_some() => Config::from_kubeconfig(&options).await?,
            None => Config::infer().await.map_err(|error| {
                anyhow!("{error:#}").context("no cluster: neither a kubeconfig nor the service account of a pod")
            })?,
        };
        super::set_limits(&mut config);
        let namespace = self.namespace.clone().unwrap_or_else(|| config.default_namespace.clone());
        Ok((Client::try_from(config)?, namespace))
    }

    /// The cluster, asked which of the judged kinds it has.
    ///
    /// # Errors
    /// As [`ClusterArguments::client`], and where the API server does not answer within ten seconds.
    pub async fn connect(&self) -> anyhow::Result<Cluster> {
        let (client, namespace) = self.client().await?;
        let asked = tokio::time::timeout(Duration::from_secs(10), served(&client)).await;
        let kinds = match asked {
            Ok(kinds) => kinds.map_err(|trouble| anyhow!("cannot ask the cluster for its kinds: {trouble}"))?,
            Err(_) => bail!("the API server does not answer"),
        };
        if kinds.is_empty() {
            bail!("the cluster has none of the kinds of Flux: is Flux installed there?");
        }
        Ok(Cluster { client, kinds, namespace })
    }
}

/// Reads `KIND/NAME` or `KIND/NAMESPACE/NAME`, where the kind may be written as `kubectl` takes it: `ks/apps`,
/// `Kustomization/flux-system/apps`.
///
/// # Errors
/// In a sentence: no such kind (and which one is near), no such form, no possible name.
pub fn object(text: &str, namespace: &str) -> anyhow::Result<Reference> {
    let parts: Vec<&str> = text.split('/').collect();
    let (kind, own, name) = match parts.as_slice() {
        [kind, name] => (*kind, None, *name),
        [kind, namespace, name] => (*kind, Some(*namespace), *name),
        _ => bail!("{text} is not KIND/NAME or KIND/NAMESPACE/NAME"),
    };
    let Some(kind) = names::kind(kind) else {
        match names::near(kind) {
            Some(near) => bail!("{text}: no kind {kind} is judged; is {near} meant?"),
            None => bail!("{text}: no kind {kind} is judged; the kinds are {}", names::list()),
        }
    };
    let namespace = if kind.row().namespaced { own.unwrap_or(namespace) } else { "" };
    if own.is_some() && !kind.row().namespaced {
        bail!("{text}: objects of kind {} are in no namespace", kind.name());
    }
    let reference = Reference::new(kind, namespace, name);
    if !reference.can_exist() {
        bail!("{text}: no object can have this name");
    }
    Ok(reference)
}

#[cfg(test)]
mod tests {
    use super::object;
    use rstest::rstest;

    #[rstest]
    #[case("ks/apps", "Kustomization/here/apps")]
    #[case("Kustomization/there/apps", "Kustomization/there/apps")]
    #[case("helmreleases/x", "HelmRelease/here/x")]
    #[case("helmreleases.helm.toolkit.fluxcd.io/x", "HelmRelease/here/x")]
    #[case("GITREPO/x", "GitRepository/here/x")]
    #[case("pkg/x", "Package/x")]
    fn objects(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(object(text, "here").unwrap().to_string(), expected);
    }

    #[rstest]
    #[case("apps", "apps is not KIND/NAME or KIND/NAMESPACE/NAME")]
    #[case("a/b/c/d", "a/b/c/d is not KIND/NAME or KIND/NAMESPACE/NAME")]
    #[case("kustomisation/x", "kustomisation/x: no kind kustomisation is judged; is Kustomization meant?")]
    #[case(
        "pod/x",
        "pod/x: no kind pod is judged; the kinds are ArtifactGenerator (ag), Bucket, ExternalArtifact (ea), GitRepository (gitrepo), HelmChart (hc), HelmRelease (hr), HelmRepository (helmrepo), Kustomization (ks), OCIRepository (ocirepo), Package (pkg), PackageSource (pks), ResourceSet (rset), Terraform (tf)"
    )]
    #[case("ks/../../secrets", "ks/../../secrets is not KIND/NAME or KIND/NAMESPACE/NAME")]
    #[case("ks/A", "ks/A: no object can have this name")]
    #[case("package/ns/a", "package/ns/a: objects of kind Package are in no namespace")]
    fn refusals(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(object(text, "here").unwrap_err().to_string(), expected);
    }
}
