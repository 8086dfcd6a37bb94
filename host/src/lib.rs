//! A faithful Kubewarden-compatible host.
//!
//! It runs a compiled waPC policy on wasmtime as Kubewarden's policy-server does: the request is normalised the same way,
//! each evaluation gets a fresh instance, host calls are routed, gated and answered with the same texts, and the answer
//! becomes the same admission response. Reads are answered by a [`Cluster`]: a few objects in memory, a folder of manifests,
//! a recorded session, a closure or, with the feature `serve`, a real API server; the same feature has `serve`, the webhook
//! around it all. The feature `bundle` brings policies to OCI registries and describes them. "Upstream" in these pages is
//! Kubewarden's adm-controller repository as of 1.36.0-beta.1.
//!
//! # Example
//!
//! ```no_run
//! use serde_json::json;
//! use sluicegate_host::{Host, MemoryCluster, Policy};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Compiles; do it once, a policy is cheap to clone.
//! let policy = Policy::load("policy.wasm")?;
//!
//! let cluster = MemoryCluster::new()
//!     .with(json!({
//!         "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
//!         "metadata": {"name": "b", "namespace": "apps"},
//!         "spec": {"dependsOn": [{"name": "a"}]}
//!     }))
//!     .forbid("HelmRelease")
//!     .absent_kind("ExternalArtifact");
//!
//! let host = Host::new(&policy, cluster).with_settings(json!({"role": "both"}))?;
//! let evaluation = host.validate(&json!({
//!     "uid": "1", "operation": "CREATE",
//!     "kind": {"group": "kustomize.toolkit.fluxcd.io", "version": "v1", "kind": "Kustomization"},
//!     "resource": {"group": "kustomize.toolkit.fluxcd.io", "version": "v1", "resource": "kustomizations"},
//!     "userInfo": {"username": "alice"},
//!     "object": {"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
//!                "metadata": {"name": "a", "namespace": "apps"}, "spec": {"dependsOn": [{"name": "b"}]}}
//! }))?;
//!
//! assert!(!evaluation.response.allowed);
//! assert_eq!(evaluation.reads().count(), 1);
//! assert!(evaluation.response.message().contains("dependency cycle"));
//! # Ok(()) }
//! ```
//!
//! # Caveats
//!
//! * The guest's standard output and error are those of the process, and its panic text goes to the latter: the provider
//!   offers no hook. The binary keeps its own standard output aside before the guest runs.
//! * A host call that blocks is not interrupted; its time counts, and the deadline strikes when the guest goes on.
//! * A guest that names memory it does not have makes the provider panic (wasmtime-provider 2.25.0, `callbacks.rs`). Nothing
//!   compiled from safe Rust does.
//! * All of it is synchronous. Inside an async runtime, call it from a thread that may block.

#[cfg(feature = "bundle")]
pub mod artifacthub;
mod call;
mod callback;
pub mod cluster;
mod host;
mod module;
#[cfg(feature = "bundle")]
pub mod oci;
mod policy;
mod request;
mod response;
#[cfg(feature = "bundle")]
pub mod sbom;
#[cfg(feature = "serve")]
pub mod serve;
mod session;
pub mod webhook;

pub use call::{Failure, HostCall, HostRequest, ResourceAttributes, SubjectAccessReview};
pub use cluster::{Cluster, FolderError, MemoryCluster, NoCluster, Review, Scripted};
#[cfg(feature = "serve")]
pub use cluster::{ConnectError, LiveCluster};
pub use host::{Evaluation, EvaluationError, Host, Instance, SettingsError, SettingsVerdict};
pub use module::{ContextAwareResource, Metadata, ModuleError, ModuleInfo, Rule};
pub use policy::{DEFAULT_MEMORY_BYTES, DEFAULT_TIMEOUT_TICKS, LoadError, LoadOptions, Policy};
pub use request::{AdmissionRequest, RequestError};
pub use response::{AdmissionResponse, GuestFailure, Status, TIMEOUT_MESSAGE};
pub use session::{Exchange, Recorder, Session, SessionError};
