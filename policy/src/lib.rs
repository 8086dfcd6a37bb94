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

use answer::ADMITTED;
use chrono::{DateTime, Utc};
use host::Cluster;
use kubewarden_policy_sdk::settings::SettingsValidationResponse;
use request::{Full, Glance, Payload, Subject};
use serde::Deserialize;
use serde_json::value::RawValue;
use sluicegate_core::gate::{Answer, Asker, Gate, Request, Settings, Step, Verdict, is_quiet};
use sluicegate_core::object::Text;
use sluicegate_core::text::clean;

/// Answers `validate`: the payload is `{"request": …, "settings": …}`.
///
/// # Errors
/// None that a payload can cause.
///
/// # Caveats
/// What cannot be read, the settings among it, is admitted with a warning. Settings are refused when they are loaded.
pub fn validate(payload: &[u8], host: &dyn Host) -> Result<Vec<u8>, serde_json::Error> {
    if is_at_a_glance(payload) {
        return Ok(ADMITTED.to_vec());
    }
    let Ok(Payload { request: Some(full), settings }) = serde_json::from_slice::<Payload<'_, Full<'_>>>(payload) else {
        return answer::warned("not judged: the admission request cannot be read".into());
    };
    let (kind, operation) = match full.subject() {
        Subject::Nothing => return Ok(ADMITTED.to_vec()),
        Subject::Foreign(kind) => {
            return answer::warned(format!("not judged: {} is none of the kinds of this policy", clean(kind, 63)));
        }
        Subject::Judged(kind, operation) => (kind, operation),
    };
    let Ok(settings) = settings.map_or_else(|| Ok(Settings::default()), |raw| settings::decode(raw.get().as_bytes()))
    else {
        return answer::warned("not judged: the settings of this policy are invalid".into());
    };
    let verdict = judge(full.request(kind, operation), &settings, host);
    answer::encode(&verdict, full.object())
}

/// Whether the request can be admitted as it stands, without a closer look.
fn is_at_a_glance(payload: &[u8]) -> bool {
    let Ok(Payload { request: Some(glance), settings }) = serde_json::from_slice::<Payload<'_, Glance<'_>>>(payload)
    else {
        return false;
    };
    match (glance.subject(), &glance.object) {
        (Subject::Nothing, _) => true,
        (Subject::Judged(kind, operation), Some(object)) => {
            let asker = if is_companion(glance.user(), settings) { Asker::Companion } else { Asker::Person };
            is_quiet(asker, kind, operation, object, glance.old_object.as_ref())
        }
        _ => false,
    }
}

/// Whether this is the companion, which is all that a glance must know of the settings: the other askers are alike.
fn is_companion(user: &str, settings: Option<&RawValue>) -> bool {
    #[derive(Deserialize)]
    struct Companion<'a> {
        #[serde(borrow)]
        companion: Option<Text<'a>>,
    }
    match settings.map_or(Ok(None), |raw| serde_json::from_str::<Companion<'_>>(raw.get()).map(|s| s.companion)) {
        Ok(Some(companion)) => companion.as_ref() == user,
        Ok(None) => settings::COMPANION == user,
        Err(_) => true,
    }
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
