//! A policy as the SDK's template makes one: it decodes the request with the SDK, and accepts.

use kubewarden_policy_sdk::request::ValidationRequest;
use kubewarden_policy_sdk::wapc_guest::{CallResult, register_function};
use kubewarden_policy_sdk::{accept_request, settings::Validatable};
use serde::{Deserialize, Serialize};

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct Settings {}

impl Validatable for Settings {
    fn validate(&self) -> Result<(), String> {
        Ok(())
    }
}

/// Called by the host once, before anything else.
#[allow(unsafe_code, reason = "the attribute is unsafe because a name could clash; waPC demands this one")]
#[unsafe(no_mangle)]
pub extern "C" fn wapc_init() {
    register_function("validate", validate);
}

fn validate(payload: &[u8]) -> CallResult {
    let _request: ValidationRequest<Settings> = ValidationRequest::new(payload)?;
    accept_request()
}
