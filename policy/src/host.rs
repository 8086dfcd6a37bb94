//! What the host is asked: reads of one object each, never a list, and questions to the authorizer.

mod failure;

use failure::{Wanted, classify};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use sluicegate_core::gate::{Fetched, Question, Read};
use sluicegate_core::object::{Kind, Reference};
use std::cell::RefCell;
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

    /// The time since this was first asked, which is before the first read.
    fn elapsed(&self) -> Duration;
}

/// The cluster as one decision sees it. Nothing is kept from one read for the next, and no cache of the host is used:
/// a verdict holds for the instant of its reads.
pub(crate) struct Cluster<'h> {
    host: &'h dyn Host,
    reading_time: Duration,
    user: &'h str,
    groups: &'h [&'h str],
    /// The masks written so far, by kind: a decision reads many objects of few kinds.
    masks: RefCell<Vec<(&'static str, Box<RawValue>)>>,
}

/// The payload of `get_resource`. The SDK's own type owns every string of it, masks included (policy-sdk-rust 0.17.3).
#[derive(Serialize)]
struct Get<'a> {
    api_version: &'a str,
    kind: &'a str,
    name: &'a str,
    namespace: Option<&'a str>,
    disable_cache: bool,
    field_masks: Option<&'a RawValue>,
}

/// The payload of `can_i`.
#[derive(Serialize)]
struct CanI<'a> {
    subject_access_review: Review<'a>,
    disable_cache: bool,
}

#[derive(Serialize)]
struct Review<'a> {
    user: &'a str,
    groups: &'a [&'a str],
    resource_attributes: Attributes<'a>,
}

#[derive(Serialize)]
struct Attributes<'a> {
    verb: &'a str,
    group: &'a str,
    resource: &'a str,
    namespace: Option<&'a str>,
    name: Option<&'a str>,
}

impl<'h> Cluster<'h> {
    /// A cluster that is read for `reading_time` at most, and asked about this user.
    pub(crate) fn new(host: &'h dyn Host, reading_time: Duration, user: &'h str, groups: &'h [&'h str]) -> Self {
        Self { host, reading_time, user, groups, masks: RefCell::default() }
    }

    /// Reads an object.
    pub(crate) fn read(&self, read: &Read) -> Fetched {
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
    pub(crate) fn lease(&self, namespace: &str, name: &str) -> Fetched {
        // The host makes a URL of the name without escaping (kube-core 3.1), and a label may be a part of it.
        if !can_be_called(namespace, name) {
            return Fetched::Absent;
        }
        self.get(LEASE_API, LEASE, LEASE_MASK, Some(namespace), name)
    }

    fn get(
        &self,
        api_version: &str,
        kind: &'static str,
        mask: &[&str],
        namespace: Option<&str>,
        name: &str,
    ) -> Fetched {
        let mut masks = self.masks.borrow_mut();
        if !mask.is_empty() && masks.iter().all(|(known, _)| *known != kind) {
            masks.extend(to_raw_value(mask).map(|written| (kind, written)));
        }
        let written = masks.iter().find(|(known, _)| *known == kind && !mask.is_empty());
        let field_masks = written.map(|(_, written)| &**written);
        let request = Get { api_version, kind, name, namespace, disable_cache: true, field_masks };
        match call(self.host, GET, &request) {
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
        let resource_attributes = Attributes {
            verb: question.verb,
            group: question.group,
            resource: question.resource,
            namespace: Some(&*question.namespace).filter(|namespace| !namespace.is_empty()),
            name: question.name.as_deref(),
        };
        let review = Review { user: self.user, groups: self.groups, resource_attributes };
        let answer = call(self.host, CAN_I, &CanI { subject_access_review: review, disable_cache: true });
        answer.ok().and_then(|json| serde_json::from_slice::<Status>(&json).ok()).and_then(|status| status.allowed)
            == Some(true)
    }
}

fn call(host: &dyn Host, operation: &str, request: &impl Serialize) -> Result<Vec<u8>, String> {
    // Most requests fit; a buffer that grows is copied twice on the way there.
    let mut payload = Vec::with_capacity(512);
    serde_json::to_writer(&mut payload, request).map_err(|error| error.to_string())?;
    host.call(operation, &payload)
}

/// Whether a Lease can be called so: Kubernetes wants the same of the names of Leases and of Flux objects.
pub(crate) fn can_be_called(namespace: &str, name: &str) -> bool {
    Reference::new(Kind::Kustomization, namespace, name).can_exist()
}
