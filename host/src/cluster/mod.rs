//! Where reads are answered from.

mod error;
mod folder;
#[cfg(feature = "serve")]
mod live;
mod mask;
mod memory;
mod review;

use std::sync::Arc;

pub use folder::FolderError;
#[cfg(feature = "serve")]
pub use live::{ConnectError, LiveCluster};
pub use memory::MemoryCluster;
pub use review::Review;

use crate::call::{Failure, HostRequest};

/// Answers what a guest reads.
///
/// Asked only what the policy may read. Must be safe to ask from several threads; one guest asks one thing at a time.
pub trait Cluster: Send + Sync {
    /// The bytes the guest gets, usually JSON: the object, the list, or the status of a SubjectAccessReview.
    ///
    /// # Errors
    /// What the guest gets instead. It sees [`Failure::full_text`] behind "Callback evaluation failure: ".
    fn answer(&self, request: &HostRequest) -> Result<Vec<u8>, Failure>;
}

impl<C: Cluster + ?Sized> Cluster for Arc<C> {
    fn answer(&self, request: &HostRequest) -> Result<Vec<u8>, Failure> {
        (**self).answer(request)
    }
}

/// No cluster at all: every call fails as it does in policy-server without a kubeconfig.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCluster;

impl Cluster for NoCluster {
    fn answer(&self, _request: &HostRequest) -> Result<Vec<u8>, Failure> {
        Err(Failure::new("kube::Client was not initialized properly"))
    }
}

/// A cluster made of a closure, for tests that want to count, to stall or to lie. To change a few answers only, let the
/// closure ask another cluster for the rest.
#[derive(Debug, Clone, Copy)]
pub struct Scripted<F>(F);

impl<F: Fn(&HostRequest) -> Result<Vec<u8>, Failure> + Send + Sync> Scripted<F> {
    /// A cluster that answers with the closure.
    pub fn new(answer: F) -> Self {
        Self(answer)
    }
}

impl<F: Fn(&HostRequest) -> Result<Vec<u8>, Failure> + Send + Sync> Cluster for Scripted<F> {
    fn answer(&self, request: &HostRequest) -> Result<Vec<u8>, Failure> {
        (self.0)(request)
    }
}
