//! A git server: bare repositories in the test's folder, served by `git http-backend` behind a small bridge.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio::process::Command;

use crate::manifest::Manifest;

/// The server; it ends when dropped.
#[derive(Debug)]
pub struct Git {
    folder: PathBuf,
    url: String,
    task: tokio::task::JoinHandle<()>,
}

/// A repository with one branch, `main`.
#[derive(Clone, Debug)]
pub struct Repository {
    bare: PathBuf,
    tree: PathBuf,
    url: String,
}

impl Git {
    /// Starts a server in `folder`.
    ///
    /// # Errors
    ///
    /// There is no port.
    pub async fn start(folder: &Path) -> Result<Self> {
        let folder = folder.join("git");
        std::fs::create_dir_all(&folder)?;
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let url = format!("http://{}", listener.local_addr()?);
        let root = folder.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let root = root.clone();
                tokio::spawn(async move {
                    let service = hyper::service::service_fn(move |request| serve(root.clone(), request));
                    // A client that goes away is no news.
                    let _ = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        Ok(Self { folder, url, task })
    }

    /// Makes an empty repository.
    ///
    /// # Errors
    ///
    /// git is missing or fails.
    pub async fn repository(&self, name: &str) -> Result<Repository> {
        let bare = self.folder.join(format!("{name}.git"));
        let tree = self.folder.join(name);
        std::fs::create_dir_all(&tree)?;
        git(&["init", "--quiet", "--bare", "--initial-branch=main", &bare.to_string_lossy()]).await?;
        Ok(Repository { bare, tree, url: format!("{}/{name}.git", self.url) })
    }
}

impl Drop for Git {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Repository {
    /// Its URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Commits files, given as path and content, and says which revision Flux will call it. Files of earlier commits
    /// stay; empty content removes a file.
    ///
    /// # Errors
    ///
    /// git fails.
    pub async fn commit(&self, files: &[(&str, String)]) -> Result<String> {
        for (path, content) in files {
            let path = self.tree.join(path);
            if content.is_empty() {
                std::fs::remove_file(&path)?;
            } else {
                std::fs::create_dir_all(path.parent().context("no folder")?)?;
                std::fs::write(&path, content)?;
            }
        }
        self.git(&["add", "--all"]).await?;
        self.git(&["commit", "--quiet", "--allow-empty", "--message", "change"]).await?;
        let id = self.git(&["rev-parse", "HEAD"]).await?;
        Ok(format!("main@sha1:{}", id.trim()))
    }

    /// Makes a branch at the newest commit; says the revision that Flux will call it.
    ///
    /// # Errors
    ///
    /// git fails; there is such a branch, say.
    pub async fn branch(&self, name: &str) -> Result<String> {
        self.git(&["branch", name]).await?;
        let id = self.git(&["rev-parse", name]).await?;
        Ok(format!("{name}@sha1:{}", id.trim()))
    }

    /// Commits manifests into the folder `path`, each as `KIND-NAME.yaml`.
    ///
    /// # Errors
    ///
    /// As [`Self::commit`].
    pub async fn commit_manifests(&self, path: &str, manifests: &[&Manifest]) -> Result<String> {
        let mut files = Vec::new();
        for manifest in manifests {
            let object = manifest.object().context("a manifest of no known kind")?;
            files.push((format!("{path}/{}-{}.yaml", object.kind.name.to_lowercase(), object.name), manifest.file()));
        }
        let files: Vec<(&str, String)> = files.iter().map(|(path, text)| (path.as_str(), text.clone())).collect();
        self.commit(&files).await
    }

    async fn git(&self, arguments: &[&str]) -> Result<String> {
        let bare = format!("--git-dir={}", self.bare.display());
        let tree = format!("--work-tree={}", self.tree.display());
        git(&[&[bare.as_str(), tree.as_str(), "-c", "core.bare=false"], arguments].concat()).await
    }
}

/// Runs git, untouched by the machine's own configuration.
async fn git(arguments: &[&str]) -> Result<String> {
    let output = Command::new("git")
        .args(arguments)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .envs(["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|name| (name, "e2e")))
        .envs(["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|name| (name, "e2e@example.com")))
        .output()
        .await
        .context("missing: git")?;
    if !output.status.success() {
        bail!("git {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// One request, as CGI has it.
async fn serve(root: PathBuf, request: Request<Incoming>) -> Result<Response<Full<Bytes>>> {
    let (head, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let header = |name: &str| {
        let value = head.headers.get(name).and_then(|value| value.to_str().ok());
        value.unwrap_or_default().to_owned()
    };
    let mut child = Command::new("git")
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("REQUEST_METHOD", head.method.as_str())
        .env("PATH_INFO", head.uri.path())
        .env("QUERY_STRING", head.uri.query().unwrap_or_default())
        .env("CONTENT_TYPE", header("content-type"))
        .env("CONTENT_LENGTH", body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("GIT_PROTOCOL", header("git-protocol"))
        .env("REMOTE_ADDR", "127.0.0.1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .context("missing: git http-backend")?;
    let mut stdin = child.stdin.take().context("no standard input")?;
    let writing = tokio::spawn(async move {
        // It may end before it has read all.
        let _ = stdin.write_all(&body).await;
    });
    let output = child.wait_with_output().await?;
    let _ = writing.await;
    respond(&output.stdout)
}

/// Splits what a CGI program prints.
fn respond(output: &[u8]) -> Result<Response<Full<Bytes>>> {
    let split = output.windows(4).position(|bytes| bytes == b"\r\n\r\n").context("git http-backend says nothing")?;
    let (head, body) = output.split_at(split);
    let mut response = Response::builder().status(StatusCode::OK);
    for line in String::from_utf8_lossy(head).lines() {
        let Some((name, value)) = line.split_once(": ") else { continue };
        if name.eq_ignore_ascii_case("status") {
            let code = value.split(' ').next().unwrap_or_default();
            response = response.status(code.parse::<u16>()?);
        } else {
            response = response.header(name, value);
        }
    }
    Ok(response.body(Full::new(Bytes::copy_from_slice(body.get(4..).unwrap_or_default())))?)
}
