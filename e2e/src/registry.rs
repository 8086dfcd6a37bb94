//! An OCI registry, Debian's `docker-registry`, for OCIRepository.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::process::Command;

use crate::child::{Child, Run};
use crate::cluster::Cluster;
use crate::net::free_ports;
use crate::parts;
use crate::wait::until;

const LAYER: &str = "application/vnd.cncf.flux.content.v1.tar+gzip";
const CONFIG: &str = "application/vnd.cncf.flux.config.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// The registry; it ends when dropped.
pub struct Registry {
    address: String,
    folder: PathBuf,
    client: Client<HttpConnector, Full<Bytes>>,
    _child: Child,
}

impl Registry {
    /// Starts one.
    ///
    /// # Errors
    ///
    /// One line, where Debian's package is not there; or it does not start.
    pub async fn start(cluster: &Cluster) -> Result<Self> {
        let program = parts::player("docker-registry").context(
            "missing: docker-registry (apt-get install docker-registry), which OCIRepository is tested with",
        )?;
        let [port] = free_ports()?;
        let address = format!("127.0.0.1:{port}");
        let folder = cluster.folder().join("registry");
        std::fs::create_dir_all(&folder)?;
        let config = json!({
            "version": "0.1",
            "storage": {"filesystem": {"rootdirectory": folder.join("data")}},
            "http": {"addr": address},
        });
        let file = folder.join("config.yml");
        std::fs::write(&file, config.to_string())?;
        let mut child = cluster.run(Run {
            name: "docker-registry",
            program: &program,
            arguments: vec!["serve".to_owned(), file.display().to_string()],
            environment: Vec::new(),
            remove: None,
        })?;
        let client = Client::builder(TokioExecutor::new()).build_http();
        let registry = format!("http://{address}/v2/");
        until("the registry answers", async || {
            child.alive()?;
            Ok(match client.get(registry.parse()?).await {
                Ok(response) if response.status() == StatusCode::OK => Ok(()),
                Ok(response) => Err(response.status().to_string()),
                Err(error) => Err(error.to_string()),
            })
        })
        .await?;
        Ok(Self { address, folder, client, _child: child })
    }

    /// The URL of a repository, as OCIRepository wants it.
    #[must_use]
    pub fn url(&self, repository: &str) -> String {
        format!("oci://{}/{repository}", self.address)
    }

    /// Pushes files as a Flux artifact, under a tag; says the revision that Flux will call it.
    ///
    /// # Errors
    ///
    /// `tar` is missing, or the registry refuses.
    pub async fn push(&self, repository: &str, tag: &str, files: &[(&str, String)]) -> Result<String> {
        let tree = self.folder.join(format!("{repository}-{tag}"));
        for (path, content) in files {
            let path = tree.join(path);
            std::fs::create_dir_all(path.parent().context("no folder")?)?;
            std::fs::write(&path, content)?;
        }
        let output = Command::new("tar").arg("-C").arg(&tree).args(["-czf", "-", "."]).output().await?;
        if !output.status.success() {
            bail!("tar: {}", String::from_utf8_lossy(&output.stderr));
        }
        let layer = self.blob(repository, output.stdout).await?;
        let config = self.blob(repository, b"{}".to_vec()).await?;
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": {"mediaType": CONFIG, "digest": config.0, "size": config.1},
            "layers": [{"mediaType": LAYER, "digest": layer.0, "size": layer.1}],
        });
        let body = manifest.to_string().into_bytes();
        let revision = format!("{tag}@{}", digest(&body));
        let place = format!("http://{}/v2/{repository}/manifests/{tag}", self.address);
        self.send(Method::PUT, &place, MANIFEST, body).await?;
        Ok(revision)
    }

    async fn blob(&self, repository: &str, bytes: Vec<u8>) -> Result<(String, usize)> {
        let place = format!("http://{}/v2/{repository}/blobs/uploads/", self.address);
        let response = self.send(Method::POST, &place, "application/octet-stream", Vec::new()).await?;
        let location = response.headers().get(header::LOCATION).context("no upload location")?.to_str()?;
        let (digest, size) = (digest(&bytes), bytes.len());
        let separator = if location.contains('?') { '&' } else { '?' };
        let place = format!("{location}{separator}digest={digest}");
        self.send(Method::PUT, &place, "application/octet-stream", bytes).await?;
        Ok((digest, size))
    }

    async fn send(&self, method: Method, url: &str, kind: &str, body: Vec<u8>) -> Result<Response<Bytes>> {
        let request = Request::builder().method(method).uri(url).header(header::CONTENT_TYPE, kind);
        let response = self.client.request(request.body(Full::new(Bytes::from(body)))?).await?;
        let (head, body) = response.into_parts();
        let body = body.collect().await?.to_bytes();
        if !head.status.is_success() {
            bail!("{url}: {} {}", head.status, String::from_utf8_lossy(&body));
        }
        Ok(Response::from_parts(head, body))
    }
}

fn digest(bytes: &[u8]) -> String {
    let hex: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}
