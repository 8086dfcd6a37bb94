//! A policy with its settings, its rights and a cluster to read from.

use std::{
    collections::BTreeSet,
    fmt, mem,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::{Map, Value};
use thiserror::Error;
use wapc::WapcHost;

use crate::{
    call::HostCall,
    callback::{Context, Observer},
    cluster::Cluster,
    module::ContextAwareResource,
    policy::{DEFAULT_TIMEOUT_TICKS, Policy},
    request::{AdmissionRequest, RequestError},
    response::AdmissionResponse,
};

/// How the provider words an interrupted call: it has no typed error.
const CALL_INTERRUPTED: &str = "guest code interrupted, execution deadline exceeded";
/// The same for `_start` and `wapc_init`.
const INIT_INTERRUPTED: &str = "init interrupted, execution deadline exceeded";

/// Settings that are no JSON object, nor null.
#[derive(Debug, Error)]
#[error("Invalid settings in CRD, not an object")]
pub struct SettingsError;

/// Why there is no verdict at all. Traps, time-outs and errors of the guest are verdicts: denials.
#[derive(Debug, Error)]
pub enum EvaluationError {
    /// The request is none.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// No instance could be made, for another reason than time. Policy-server answers HTTP 500.
    #[error("cannot rehydrate PolicyEvaluatorPre: cannot build {step}: {text}")]
    Instance {
        /// What failed to be built
        step: &'static str,
        /// What went wrong
        text: String,
    },
    /// Making the instance took too long.
    #[error("{}", crate::response::TIMEOUT_MESSAGE)]
    InitTimedOut,
    /// The guest's `protocol_version` failed, or said something else than `"v1"`.
    #[error("{0}")]
    Protocol(String),
}

/// What a policy says of its settings.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SettingsVerdict {
    /// Whether they are fine
    pub valid: bool,
    /// If not, why
    pub message: Option<String>,
}

/// One evaluation: the response, and how it came about.
#[derive(Debug, Clone)]
pub struct Evaluation {
    /// What the API server would get
    pub response: AdmissionResponse,
    /// The guest's calls to the host, in order, logging included
    pub calls: Vec<HostCall>,
    /// Time from the request to the response: a fresh instance, the guest, and the calls it made
    pub duration: Duration,
}

impl Evaluation {
    /// The calls that read objects: gets and lists.
    pub fn reads(&self) -> impl Iterator<Item = &HostCall> {
        self.calls.iter().filter(|call| call.is_read())
    }

    /// The calls to the Kubernetes capability: reads, and questions what somebody may do.
    pub fn cluster_calls(&self) -> impl Iterator<Item = &HostCall> {
        self.calls.iter().filter(|call| call.request.is_some())
    }

    /// The part of [`Evaluation::duration`] that host calls took; the rest is the guest's, and that of making it.
    pub fn host_time(&self) -> Duration {
        self.calls.iter().map(|call| call.duration).sum()
    }

    /// What was read, in order, as `Kind/namespace/name`.
    pub fn read_targets(&self) -> Vec<String> {
        self.reads().map(HostCall::target).collect()
    }
}

/// A policy with its settings, its rights and a cluster to read from: what one entry of policy-server's `policies.yml` is.
///
/// By default it has no settings, [`DEFAULT_TIMEOUT_TICKS`], all host capabilities, may read what its metadata asks for, and
/// may mutate if its metadata says so (or if it has none). Cheap to clone.
#[derive(Clone)]
pub struct Host {
    policy: Policy,
    id: String,
    cluster: Arc<dyn Cluster>,
    settings: Arc<Map<String, Value>>,
    ticks: Option<u64>,
    readable: Arc<BTreeSet<ContextAwareResource>>,
    capabilities: Arc<[String]>,
    allowed_to_mutate: bool,
    observer: Option<Observer>,
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("id", &self.id).field("policy", &self.policy).finish_non_exhaustive()
    }
}

impl Host {
    /// A host for the policy that reads from `cluster`.
    pub fn new(policy: &Policy, cluster: impl Cluster + 'static) -> Self {
        let metadata = policy.metadata();
        Self {
            policy: policy.clone(),
            id: "policy-from-cli".to_owned(),
            cluster: Arc::new(cluster),
            settings: Arc::default(),
            ticks: Some(DEFAULT_TIMEOUT_TICKS),
            readable: Arc::new(metadata.map(|metadata| metadata.context_aware_resources.clone()).unwrap_or_default()),
            capabilities: Arc::new(["*".to_owned()]),
            allowed_to_mutate: metadata.is_none_or(|metadata| metadata.mutating),
            observer: None,
        }
    }

    /// The settings: an object, or null for none. They are not validated: see [`Host::validate_settings`].
    ///
    /// # Errors
    /// [`SettingsError`] for anything else.
    pub fn with_settings(mut self, settings: Value) -> Result<Self, SettingsError> {
        self.settings = match settings {
            Value::Null => Arc::default(),
            Value::Object(settings) => Arc::new(settings),
            _ => return Err(SettingsError),
        };
        Ok(self)
    }

    /// Reads from another cluster from now on.
    pub fn with_cluster(mut self, cluster: impl Cluster + 'static) -> Self {
        self.cluster = Arc::new(cluster);
        self
    }

    /// The deadline of initialisation and of each call, in ticks: `timeoutEvalSeconds` in policy-server. As the first
    /// tick comes at any moment, N ticks are between N - 1 and N seconds. `None` for no deadline, as `kwctl run`.
    pub fn with_timeout(mut self, ticks: Option<u64>) -> Self {
        self.ticks = ticks;
        self
    }

    /// The name of the policy in texts of the host.
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// What the policy may read, instead of what its metadata asks for.
    pub fn with_readable(mut self, resources: impl IntoIterator<Item = ContextAwareResource>) -> Self {
        self.readable = Arc::new(resources.into_iter().collect());
        self
    }

    /// The host capabilities, as patterns: `*`, `kubernetes/*`, `kubernetes/get_resource`. An empty list denies all.
    pub fn with_capabilities<S: Into<String>>(mut self, patterns: impl IntoIterator<Item = S>) -> Self {
        self.capabilities = patterns.into_iter().map(Into::into).collect();
        self
    }

    /// Whether a mutation is accepted: `spec.mutating` of a ClusterAdmissionPolicy.
    pub fn with_mutation(mut self, allowed: bool) -> Self {
        self.allowed_to_mutate = allowed;
        self
    }

    /// Has each host call shown to `observer` once it is answered, while the guest waits; after those that are shown it
    /// already.
    pub fn with_observer(mut self, observer: impl Fn(&HostCall) + Send + Sync + 'static) -> Self {
        self.observer = Some(match self.observer.take() {
            None => Arc::new(observer),
            Some(earlier) => Arc::new(move |call: &HostCall| {
                earlier(call);
                observer(call);
            }),
        });
        self
    }

    /// A fresh instance. For benchmarks, and for a guest that lives through several calls; the methods below make
    /// their own.
    ///
    /// # Errors
    /// [`EvaluationError::Instance`] and [`EvaluationError::InitTimedOut`].
    pub fn instance(&self) -> Result<Instance, EvaluationError> {
        let context = Arc::new(Context {
            cluster: Arc::clone(&self.cluster),
            readable: Arc::clone(&self.readable),
            capabilities: Arc::clone(&self.capabilities),
            observer: self.observer.clone(),
            calls: Mutex::default(),
        });
        let guest = instantiate(&self.policy, self.ticks, &context)?;
        Ok(Instance { host: self.clone(), context, guest })
    }

    /// Judges a request (an AdmissionReview, or the request of one) in a fresh instance.
    ///
    /// # Errors
    /// See [`EvaluationError`]: only where there is no verdict at all.
    pub fn validate(&self, request: &Value) -> Result<Evaluation, EvaluationError> {
        self.judge(&AdmissionRequest::from_value(request)?)
    }

    /// Judges a request that has been read already, in a fresh instance.
    ///
    /// # Errors
    /// As [`Host::validate`].
    pub fn judge(&self, request: &AdmissionRequest) -> Result<Evaluation, EvaluationError> {
        let start = Instant::now();
        let (response, calls) = match self.instance() {
            Ok(mut instance) => {
                let response = instance.validate(request)?;
                (response, instance.take_calls())
            }
            Err(EvaluationError::InitTimedOut) => (AdmissionResponse::timed_out(&request.uid), Vec::new()),
            Err(error) => return Err(error),
        };
        let response = response.constrain_mutation(&self.id, self.allowed_to_mutate);
        Ok(Evaluation { response, calls, duration: start.elapsed() })
    }

    /// Has the policy judge its settings, in a fresh instance.
    ///
    /// # Errors
    /// See [`EvaluationError`]. A guest that fails says that the settings are invalid.
    pub fn validate_settings(&self) -> Result<SettingsVerdict, EvaluationError> {
        self.instance()?.validate_settings()
    }

    /// Asks the policy for its protocol version, in a fresh instance: `v1`.
    ///
    /// # Errors
    /// See [`EvaluationError`].
    pub fn protocol_version(&self) -> Result<String, EvaluationError> {
        self.instance()?.protocol_version()
    }
}

/// One instance of a policy, with its memory. Stays on the thread it was made on.
pub struct Instance {
    host: Host,
    context: Arc<Context>,
    guest: WapcHost,
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance").field("host", &self.host).finish_non_exhaustive()
    }
}

impl Instance {
    /// Calls an operation of the guest as it is.
    ///
    /// # Errors
    /// The guest's error, or its trap, as "Guest call failure: …".
    pub fn call(&mut self, operation: &str, payload: &[u8]) -> Result<Vec<u8>, wapc::errors::Error> {
        let result = self.guest.call(operation, payload);
        if let Err(error) = &result
            && interrupted(error)
        {
            // The guest stopped somewhere, with its locks held: what is in its memory cannot be relied on.
            if let Ok(guest) = instantiate(&self.host.policy, self.host.ticks, &self.context) {
                self.guest = guest;
            }
        }
        result
    }

    /// Judges a request. The mutation constraint is the host's business, not applied here.
    ///
    /// # Errors
    /// Only if the request cannot be encoded.
    pub fn validate(&mut self, request: &AdmissionRequest) -> Result<AdmissionResponse, EvaluationError> {
        let payload = request.payload(&self.host.settings).map_err(RequestError::Invalid)?;
        Ok(match self.call("validate", &payload) {
            Ok(answer) => AdmissionResponse::from_guest(&request.uid, request.object(), &answer),
            Err(error) if interrupted(&error) => AdmissionResponse::timed_out(&request.uid),
            Err(error) => AdmissionResponse::internal_error(&request.uid, &error.to_string()),
        })
    }

    /// Has the policy judge the host's settings.
    ///
    /// # Errors
    /// Only if they cannot be encoded.
    pub fn validate_settings(&mut self) -> Result<SettingsVerdict, EvaluationError> {
        let payload = serde_json::to_vec(&*self.host.settings).map_err(RequestError::Invalid)?;
        // Both texts hold a Debug form because upstream's do.
        Ok(match self.call("validate_settings", &payload) {
            Ok(answer) => serde_json::from_slice(&answer).unwrap_or_else(|error| SettingsVerdict {
                valid: false,
                message: Some(format!("error: InvalidResponseWithError({error:?})")),
            }),
            Err(error) => SettingsVerdict {
                valid: false,
                message: Some(format!("Error invoking settings validation callback: {error:?}")),
            },
        })
    }

    /// Asks the policy for its protocol version.
    ///
    /// # Errors
    /// [`EvaluationError::Protocol`] if it fails, or is no JSON text.
    pub fn protocol_version(&mut self) -> Result<String, EvaluationError> {
        let answer = self.call("protocol_version", &[]).map_err(|error| {
            EvaluationError::Protocol(format!("cannot invoke 'protocol_version' waPC function : {error}"))
        })?;
        serde_json::from_slice(&answer).map_err(|error| {
            EvaluationError::Protocol(format!(
                "cannot create ProtocolVersion object from {answer:?}: error deserializing ProtocolVersion: {error}"
            ))
        })
    }

    /// The calls made since the last time this was asked.
    pub fn take_calls(&mut self) -> Vec<HostCall> {
        mem::take(&mut *self.context.calls.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn interrupted(error: &wapc::errors::Error) -> bool {
    error.to_string().contains(CALL_INTERRUPTED)
}

fn instantiate(policy: &Policy, ticks: Option<u64>, context: &Arc<Context>) -> Result<WapcHost, EvaluationError> {
    let provider = policy
        .provider(ticks)
        .map_err(|error| EvaluationError::Instance { step: "Wasmtime engine", text: error.to_string() })?;
    let context = Arc::clone(context);
    WapcHost::new(
        Box::new(provider),
        Some(Box::new(move |_, binding, namespace, operation, payload| {
            context.call(binding, namespace, operation, payload)
        })),
    )
    .map_err(|error| {
        let text = error.to_string();
        if text.contains(INIT_INTERRUPTED) {
            EvaluationError::InitTimedOut
        } else {
            EvaluationError::Instance { step: "Wapc host", text }
        }
    })
}
