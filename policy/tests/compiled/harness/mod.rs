//! The compiled policy over a cluster in memory, asked in few words.

mod answer;
mod build;
mod request;

pub use answer::Answer;
pub use build::{module, policy};
pub use request::{create, request, update};

use crate::resume::{resumed, suspended};
use crate::support::By;
use serde_json::{Value, json};
use sluicegate_core::testing::reference;
use sluicegate_host::{Cluster, Host, MemoryCluster};

/// What the companion's Lease is called where it is read.
pub const LEASE: &str = "Lease/sluicegate-system/sluicegate";

/// The policy with settings, over stored objects.
#[derive(Clone, Debug)]
pub struct Gate {
    pub cluster: MemoryCluster,
    pub settings: Value,
}

impl Gate {
    /// Over these objects, with a companion that is alive.
    pub fn over(objects: impl IntoIterator<Item = Value>) -> Self {
        let lease = json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"namespace": "sluicegate-system", "name": "sluicegate"},
            "spec": {
                "holderIdentity": "sluicegate-0", "leaseDurationSeconds": 15, "renewTime": "2999-01-01T00:00:00.000000Z"
            },
        });
        Self { cluster: MemoryCluster::new().with(lease).with_all(objects), settings: json!({}) }
    }

    /// With these settings.
    pub fn with(self, settings: Value) -> Self {
        Self { settings, ..self }
    }

    /// With a change of the cluster.
    pub fn and(self, change: impl FnOnce(MemoryCluster) -> MemoryCluster) -> Self {
        Self { cluster: change(self.cluster), ..self }
    }

    /// Stores an object.
    pub fn put(&mut self, object: Value) {
        self.cluster.insert(object).unwrap();
    }

    /// The stored object of the kind and name of this one.
    pub fn stored(&self, like: &Value) -> Value {
        let is_it = |other: &&Value| {
            let same = |pointer: &str| other.pointer(pointer) == like.pointer(pointer);
            same("/kind") && same("/metadata/namespace") && same("/metadata/name")
        };
        self.cluster.objects().find(is_it).unwrap_or_else(|| panic!("{} is not stored", reference(like))).clone()
    }

    pub fn update(&self, by: By, old: &Value, new: &Value) -> Answer {
        self.judge(&update(by, old, new))
    }

    pub fn create(&self, by: By, new: &Value) -> Answer {
        self.judge(&create(by, new))
    }

    /// The object loses its switch, and changes in nothing else.
    pub fn resume(&self, by: By, object: &Value) -> Answer {
        self.update(by, &suspended(object.clone()), &resumed(object.clone()))
    }

    /// Judges a request as it comes from the API server.
    pub fn judge(&self, request: &Value) -> Answer {
        self.judge_reading(request, self.cluster.clone())
    }

    /// Judges a request; reads are answered by another cluster.
    pub fn judge_reading(&self, request: &Value, cluster: impl Cluster + 'static) -> Answer {
        let evaluation = self.host(cluster).validate(request).unwrap();
        Answer::new(evaluation, request)
    }

    /// The host. A machine that is busy with other things must not make a test fail, so nobody looks at the clock.
    pub fn host(&self, cluster: impl Cluster + 'static) -> Host {
        Host::new(policy(), cluster).with_settings(self.settings.clone()).unwrap().with_timeout(None)
    }
}
