//! What the host calls, and the way back to it.

use crate::Host;
use kubewarden_policy_sdk::protocol_version_guest;
use kubewarden_policy_sdk::wapc_guest::{CallResult, host_call, register_function};
use std::cell::OnceCell;
use std::time::{Duration, Instant, SystemTime};

/// The metadata of the policy, where hosts look for it. Without `#[used]`, which would put a second copy into the data
/// of the module (rustc 1.95): the linker keeps a custom section all the same.
#[allow(unsafe_code, reason = "the attribute is unsafe because a section could hold code; this one holds JSON")]
#[allow(dead_code, reason = "read by hosts, out of the module's file")]
#[unsafe(link_section = "io.kubewarden.metadata")]
static METADATA: [u8; include_bytes!(concat!(env!("OUT_DIR"), "/metadata.json")).len()] =
    *include_bytes!(concat!(env!("OUT_DIR"), "/metadata.json"));

/// Called by the host once, before anything else.
#[allow(unsafe_code, reason = "the attribute is unsafe because a name could clash; waPC demands this one")]
#[unsafe(no_mangle)]
pub extern "C" fn wapc_init() {
    register_function("validate", validate);
    register_function("validate_settings", validate_settings);
    register_function("protocol_version", protocol_version_guest);
}

fn validate(payload: &[u8]) -> CallResult {
    Ok(crate::validate(payload, &Kubewarden::default())?)
}

fn validate_settings(payload: &[u8]) -> CallResult {
    Ok(crate::validate_settings(payload)?)
}

/// The clock starts when it is first asked: a request that needs no read needs no clock.
#[derive(Default)]
struct Kubewarden {
    start: OnceCell<Instant>,
}

impl Host for Kubewarden {
    fn call(&self, operation: &str, payload: &[u8]) -> Result<Vec<u8>, String> {
        host_call("kubewarden", "kubernetes", operation, payload).map_err(|error| error.to_string())
    }

    fn now(&self) -> Duration {
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
    }

    fn elapsed(&self) -> Duration {
        self.start.get_or_init(Instant::now).elapsed()
    }
}
