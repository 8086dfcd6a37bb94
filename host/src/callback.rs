//! Where a guest's call to the host goes.

use std::{
    collections::BTreeSet,
    error::Error,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use crate::{
    call::{Failure, HostCall, HostRequest},
    cluster::Cluster,
    module::ContextAwareResource,
};

/// Told of each call once it is answered.
pub(crate) type Observer = Arc<dyn Fn(&HostCall) + Send + Sync>;

/// What calls of one evaluation are judged by, and where they are noted.
pub(crate) struct Context {
    pub cluster: Arc<dyn Cluster>,
    pub readable: Arc<BTreeSet<ContextAwareResource>>,
    pub capabilities: Arc<[String]>,
    pub observer: Option<Observer>,
    pub calls: Mutex<Vec<HostCall>>,
}

impl Context {
    /// Answers a call, and notes it.
    pub(crate) fn call(
        &self,
        binding: &str,
        namespace: &str,
        operation: &str,
        payload: &[u8],
    ) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
        let start = Instant::now();
        let decoded = (binding == "kubewarden" && namespace == "kubernetes")
            .then(|| HostRequest::decode(operation, payload))
            .flatten();
        let answer = self.answer(binding, namespace, operation, decoded.as_ref());
        let mut call = HostCall {
            binding: binding.to_owned(),
            namespace: namespace.to_owned(),
            operation: operation.to_owned(),
            payload: payload.to_vec(),
            request: decoded.and_then(Result::ok),
            answer: answer.as_ref().map(Vec::len).map_err(Clone::clone),
            duration: start.elapsed(),
        };
        if let Some(observer) = &self.observer {
            observer(&call);
        }
        // Noting the call is the host's work too, and none of the guest's time.
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.reserve(1);
        call.duration = start.elapsed();
        calls.push(call);
        drop(calls);
        answer.map_err(Into::into)
    }

    fn answer(
        &self,
        binding: &str,
        namespace: &str,
        operation: &str,
        decoded: Option<&Result<HostRequest, serde_json::Error>>,
    ) -> Result<Vec<u8>, String> {
        if binding != "kubewarden" {
            return Err(format!("unknown binding: {binding}"));
        }
        // Logging is never gated, and a payload that cannot be read is no error of the guest's.
        if namespace == "tracing" {
            return match operation {
                "log" => Ok(Vec::new()),
                _ => Err(format!("unknown operation: {operation}")),
            };
        }
        let capability = format!("{namespace}/{operation}");
        if !self.capabilities.iter().any(|pattern| covers(pattern, &capability)) {
            return Err(format!(
                "Policy has not been granted access to the '{capability}' host capability. The violation has been reported."
            ));
        }
        match (namespace, decoded) {
            ("kubernetes", Some(Ok(request))) => self.kubernetes(request),
            ("kubernetes", Some(Err(error))) => Err(error.to_string()),
            ("oci", _) if matches!(operation, "v1/verify" | "v2/verify") => Err(not_here(&capability)),
            ("oci", _) if matches!(operation, "v1/manifest_digest" | "v1/oci_manifest" | "v1/oci_manifest_config") => {
                Err(not_here(&capability))
            }
            ("net", _) if operation == "v1/dns_lookup_host" => Err(not_here(&capability)),
            ("crypto", _) if operation == "v1/is_certificate_trusted" => Err(not_here(&capability)),
            ("kubernetes" | "oci" | "net" | "crypto", _) => Err(format!("unknown operation: {operation}")),
            _ => Err(format!("unknown namespace: {namespace}")),
        }
    }

    fn kubernetes(&self, request: &HostRequest) -> Result<Vec<u8>, String> {
        if let Some((api_version, kind)) = request.resource() {
            let wanted = ContextAwareResource { api_version: api_version.to_owned(), kind: kind.to_owned() };
            if !self.readable.contains(&wanted) {
                return Err(format!(
                    "Policy has not been granted access to Kubernetes {api_version}/{kind} resources. The violation has been reported."
                ));
            }
        }
        self.cluster.answer(request).map_err(|failure| evaluation_failure(&failure))
    }
}

fn evaluation_failure(failure: &Failure) -> String {
    format!("Callback evaluation failure: {}", failure.full_text())
}

fn not_here(capability: &str) -> String {
    evaluation_failure(&Failure::new(format!("this host does not offer {capability}")))
}

/// Whether a pattern of the host capabilities grants one: `*`, `kubernetes/*`, or the thing itself.
fn covers(pattern: &str, capability: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some("") => true,
        Some(prefix) if prefix.ends_with('/') => capability.starts_with(prefix),
        _ => pattern == capability,
    }
}
