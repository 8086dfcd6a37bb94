//! A compiled policy.

use std::{fs, io, path::Path, sync::Arc, thread, time::Duration};

use thiserror::Error;
use wasmtime_provider::{
    EpochDeadlines, ResourceLimits, WasmtimeEngineProvider, WasmtimeEngineProviderBuilder, WasmtimeEngineProviderPre,
    wasmtime::{Config, Engine, Module},
};

use crate::module::{Metadata, ModuleError, ModuleInfo};

/// The deadline policy-server sets unless told otherwise, in ticks (of a second each).
pub const DEFAULT_TIMEOUT_TICKS: u64 = 2;

/// How much memory a guest may take by default. Policy-server itself sets no limit: there the container's strikes, and
/// ends the whole server. Here one evaluation fails.
pub const DEFAULT_MEMORY_BYTES: usize = 512 * 1024 * 1024;

/// A deadline nobody reaches. Once the engine counts epochs, a store without a deadline is interrupted at once.
const NEVER: u64 = u32::MAX as u64;

/// Why a policy cannot be loaded.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file, as it was named
        path: String,
        /// What went wrong
        source: io::Error,
    },
    /// Not WebAssembly, or with metadata that cannot be read.
    #[error(transparent)]
    Module(#[from] ModuleError),
    /// Metadata says that the policy is none of waPC.
    #[error("the policy's execution mode is {0}: only kubewarden-wapc can be run")]
    ExecutionMode(String),
    /// It does not compile.
    #[error("cannot compile the policy: {0}")]
    Compile(String),
    /// It imports what a waPC host does not offer.
    #[error("cannot link the policy: {0}")]
    Link(#[source] wasmtime_provider::errors::Error),
}

/// What is fixed when a policy is loaded.
#[derive(Debug, Clone)]
pub struct LoadOptions {
    /// The most memory one guest may have, in bytes; `None` for no limit but WebAssembly's 4 GiB. A guest that asks for more
    /// is told that there is none, which usually makes it abort.
    pub memory_bytes: Option<usize>,
    /// The length of a tick, a second as in policy-server; shorter only in tests.
    pub tick: Duration,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self { memory_bytes: Some(DEFAULT_MEMORY_BYTES), tick: Duration::from_secs(1) }
    }
}

/// A policy, compiled. Cheap to clone, to be shared among threads.
#[derive(Clone)]
pub struct Policy {
    inner: Arc<Inner>,
}

struct Inner {
    pre: WasmtimeEngineProviderPre,
    info: ModuleInfo,
}

impl std::fmt::Debug for Policy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Policy").field("info", &self.inner.info).finish_non_exhaustive()
    }
}

impl Policy {
    /// Reads and compiles a module from a file, with the default options. Takes about half a second.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(|source| LoadError::Read { path: path.display().to_string(), source })?;
        Self::from_bytes(&bytes)
    }

    /// Compiles the bytes of a module, with the default options.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LoadError> {
        Self::with_options(bytes, &LoadOptions::default())
    }

    /// Compiles the bytes of a module.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn with_options(bytes: &[u8], options: &LoadOptions) -> Result<Self, LoadError> {
        let info = ModuleInfo::parse(bytes)?;
        if let Some(metadata) = &info.metadata
            && metadata.execution_mode != "kubewarden-wapc"
        {
            return Err(LoadError::ExecutionMode(metadata.execution_mode.clone()));
        }

        let mut config = Config::new();
        config.epoch_interruption(true);
        // As upstream: policies built by Go 1.26 or later need it.
        config.wasm_function_references(true);
        let engine = Engine::new(&config).map_err(compile_error)?;
        let module = Module::from_binary(&engine, bytes).map_err(compile_error)?;

        let mut builder = WasmtimeEngineProviderBuilder::new().engine(engine.clone()).module(module);
        if let Some(memory_bytes) = options.memory_bytes {
            let limits = ResourceLimits { max_memory_size: Some(memory_bytes), ..ResourceLimits::default() };
            builder = builder.enable_resource_limits(limits);
        }
        let pre = builder.build_pre().map_err(LoadError::Link)?;
        start_ticking(&engine, options.tick);
        Ok(Self { inner: Arc::new(Inner { pre, info }) })
    }

    /// Imports, size and metadata.
    pub fn info(&self) -> &ModuleInfo {
        &self.inner.info
    }

    /// The embedded metadata, if the policy is annotated.
    pub fn metadata(&self) -> Option<&Metadata> {
        self.inner.info.metadata.as_ref()
    }

    /// A provider for one instance. Initialisation and each call have `ticks` ticks, the first of which has already
    /// begun; `None` for all the time they want.
    pub(crate) fn provider(
        &self,
        ticks: Option<u64>,
    ) -> Result<WasmtimeEngineProvider, wasmtime_provider::errors::Error> {
        let ticks = ticks.unwrap_or(NEVER).min(NEVER);
        self.inner.pre.rehydrate(Some(EpochDeadlines { wapc_init: ticks, wapc_func: ticks }))
    }
}

fn compile_error(error: wasmtime_provider::wasmtime::Error) -> LoadError {
    // The alternate form has the causes, on one line.
    LoadError::Compile(format!("{error:#}"))
}

/// Counts epochs for as long as the engine lives.
fn start_ticking(engine: &Engine, tick: Duration) {
    let engine = engine.weak();
    thread::spawn(move || {
        loop {
            thread::sleep(tick);
            match engine.upgrade() {
                Some(engine) => engine.increment_epoch(),
                None => return,
            }
        }
    });
}
