//! The waPC guest: decodes what the host sends, asks the host for what core wants to know, and writes the verdict down.
//!
//! Every decision is core's. Nothing here panics, whatever the input: a guest that traps denies the request, and a gate
//! must not be in the way of a repair because it could not read something.

mod answer;
#[cfg(target_arch = "wasm32")]
mod guest;
mod host;
mod request;
mod settings;

pub use host::Host;
pub use settings::decode as decode_settings;

use chrono::{DateTime, Utc};
use host::Cluster;
use kubewarden_policy_sdk::settings::SettingsValidationResponse;
use request::{Payload, Subject};
use sluicegate_core::gate::{Answer, Gate, Request, Settings, Step, Verdict};
use sluicegate_core::text::clean;

/// Answers `validate`: the payload is `{"request": …, "settings": …}`.
///
/// # Errors
/// None that a payload can cause.
///
/// # Caveats
/// What cannot be read, the settings among it, is admitted with a warning. Settings are refused when they are loaded.
pub fn validate(payload: &[u8], host: &dyn Host) -> Result<Vec<u8>, serde_json::Error> {
    if let Some(answer) = sluicegate_glance::admitted(payload) {
        return Ok(answer);
    }
    let Ok(Payload { request: Some(full), settings }) = serde_json::from_slice::<Payload<'_>>(payload) else {
        return answer::unjudged("", Some("the admission request cannot be read"));
    };
    let (kind, operation) = match full.subject() {
        Subject::Nothing => return answer::unjudged(&full.path(), None),
        Subject::Foreign(kind) => {
            let why = format!("{} is none of the kinds of this policy", clean(kind, 63));
            return answer::unjudged(&full.path(), Some(&why));
        }
        Subject::Judged(kind, operation) => (kind, operation),
    };
    let Ok(settings) = settings.map_or_else(|| Ok(Settings::default()), |raw| settings::decode(raw.get().as_bytes()))
    else {
        return answer::unjudged(&full.path(), Some("the settings of this policy are invalid"));
    };
    let verdict = judge(full.request(kind, operation), &settings, host);
    answer::encode(&verdict, full.object())
}

/// Runs the decision until there is a verdict.
fn judge(request: Request<'_>, settings: &Settings, host: &dyn Host) -> Verdict {
    let (user, groups) = (request.user, request.groups.clone());
    let cluster = Cluster::new(host, settings.reading_time(), user, &groups);
    let now = host.now();
    let now = DateTime::<Utc>::from_timestamp(now.as_secs().try_into().unwrap_or(0), now.subsec_nanos());
    let mut gate = Gate::new(request, settings, now.unwrap_or_default());
    loop {
        let answer = match gate.step() {
            Step::Read(reads) => Answer::Fetched(reads.iter().map(|read| cluster.read(read)).collect()),
            Step::Lease { namespace, name } => Answer::Fetched(vec![cluster.lease(&namespace, &name)]),
            Step::Ask(questions) => Answer::Allowed(questions.iter().map(|question| cluster.may(question)).collect()),
            Step::Done(verdict) => return *verdict,
        };
        gate.answer(answer);
    }
}

/// Answers `validate_settings`: the payload is the settings.
///
/// # Errors
/// None that a payload can cause.
pub fn validate_settings(payload: &[u8]) -> Result<Vec<u8>, serde_json::Error> {
    let message = settings::decode(payload).err().map(|mistakes| mistakes.join("; "));
    serde_json::to_vec(&SettingsValidationResponse { valid: message.is_none(), message })
}

#[cfg(test)]
mod tests;
