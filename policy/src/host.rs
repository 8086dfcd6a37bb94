//! What the host is asked: reads of one object each, never a list, and questions to the authorizer.

mod failure;
pub(crate) mod name;

use failure::{Wanted, classify};
use kubewarden_policy_sdk::host_capabilities::kubernetes::{
    CanIRequest, GetResourceRequest, ResourceAttributes, SubjectAccessReview,
};
use serde::{Deserialize, Serialize};
use sluicegate_core::gate::{Fetched, Question, Read};
use std::collections::BTreeMap;
use std::time::Duration;

/// The operation that reads an object.
pub(crate) const GET: &str = "get_resource";
/// The operation that asks the authorizer.
pub(crate) const CAN_I: &str = "can_i";
/// Where Leases live.
pub(crate) const LEASE_API: &str = "coordination.k8s.io/v1";
/// The kind of a Lease.
pub(crate) const LEASE: &str = "Lease";
/// What is read of a Lease.
const LEASE_MASK: &[&str] = &["spec.holderIdentity", "spec.leaseDurationSeconds", "spec.renewTime"];

/// The way to the host, and its clock.
pub trait Host {
    /// Calls an operation of the host capability `kubernetes`.
    ///
    /// # Errors
    /// The text of the host.
    fn call(&self, operation: &str, payload: &[u8]) -> Result<Vec<u8>, String>;

    /// The time since 1970, in UTC.
    fn now(&self) -> Duration;

    /// The time since the decision began.
    fn elapsed(&self) -> Duration;
}

/// The cluster as one decision sees it. Nothing is kept from one read for the next, and no cache of the host is used:
/// a verdict holds for the instant of its reads.
pub(crate) struct Cluster<'h> {
    host: &'h dyn Host,
    reading_time: Duration,
    user: &'h str,
    groups: &'h [&'h str],
    /// One request a kind, of which only the name changes: building a mask costs more than sending it.
    gets: BTreeMap<&'static str, GetResourceRequest>,
}

impl<'h> Cluster<'h> {
    /// A cluster that is read for `reading_time` at most, and asked about this user.
    pub(crate) fn new(host: &'h dyn Host, reading_time: Duration, user: &'h str, groups: &'h [&'h str]) -> Self {
        Self { host, reading_time, user, groups, gets: BTreeMap::new() }
    }

    /// Reads an object.
    pub(crate) fn read(&mut self, read: &Read) -> Fetched {
        // A read that hangs cannot be interrupted: then the host's own time limit speaks.
        if self.host.elapsed() >= self.reading_time {
            return Fetched::OutOfTime;
        }
        let row = read.reference.kind.row();
        let namespace = row.namespaced.then_some(&*read.reference.namespace);
        let mask = if read.whole { &[] } else { row.field_mask };
        self.get(row.api_version, row.name, mask, namespace, &read.reference.name)
    }

    /// Reads a Lease, whatever the time: a hold that is due because the time is up needs it.
    pub(crate) fn lease(&mut self, namespace: &str, name: &str) -> Fetched {
        self.get(LEASE_API, LEASE, LEASE_MASK, Some(namespace), name)
    }

    fn get(
        &mut self,
        api_version: &'static str,
        kind: &'static str,
        mask: &[&'static str],
        namespace: Option<&str>,
        name: &str,
    ) -> Fetched {
        // The host makes a URL of them without escaping (kube-core 3.1): what no object can be called must not steer
        // its request somewhere else.
        if !name::is_subdomain(name) || !namespace.is_none_or(name::is_label) {
            return Fetched::Absent;
        }
        let build = || GetResourceRequest {
            api_version: api_version.into(),
            kind: kind.into(),
            name: String::new(),
            namespace: None,
            disable_cache: true,
            field_masks: (!mask.is_empty()).then(|| mask.iter().map(|path| (*path).into()).collect()),
        };
        let mut once;
        let request = if mask.is_empty() {
            once = build();
            &mut once
        } else {
            self.gets.entry(kind).or_insert_with(build)
        };
        name.clone_into(&mut request.name);
        request.namespace = namespace.map(Into::into);
        match call(self.host, GET, request) {
            Ok(object) => Fetched::Found(object),
            Err(text) => classify(&text, &Wanted { api_version, kind, name }),
        }
    }

    /// Asks whether the user may do this; what cannot be found out is a no.
    pub(crate) fn may(&self, question: &Question) -> bool {
        #[derive(Deserialize)]
        struct Status {
            allowed: Option<bool>,
        }
        // A background audit has no user, and the authorizer refuses a review of nobody.
        if self.user.is_empty() {
            return false;
        }
        let request = CanIRequest {
            subject_access_review: SubjectAccessReview {
                user: self.user.into(),
                groups: Some(self.groups.iter().map(|group| (*group).into()).collect()),
                resource_attributes: ResourceAttributes {
                    verb: question.verb.into(),
                    group: Some(question.group.into()),
                    resource: question.resource.into(),
                    namespace: (!question.namespace.is_empty()).then(|| question.namespace.clone().into()),
                    name: question.name.clone().map(Into::into),
                    subresource: None,
                    version: None,
                },
            },
            disable_cache: true,
        };
        let answer = call(self.host, CAN_I, &request);
        answer.ok().and_then(|json| serde_json::from_slice::<Status>(&json).ok()).and_then(|status| status.allowed)
            == Some(true)
    }
}

fn call(host: &dyn Host, operation: &str, request: &impl Serialize) -> Result<Vec<u8>, String> {
    let payload = serde_json::to_vec(request).map_err(|error| error.to_string())?;
    host.call(operation, &payload)
}
