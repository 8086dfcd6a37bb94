//! What an error of the API server means for us.

use kube::Error;
use sluicegate_core::text::clean;
use std::fmt;

/// How a request ended that did not do what it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// There is no such object, or no such kind.
    Absent,
    /// Somebody else was faster: the precondition does not hold any more.
    Conflict,
    /// We may not.
    Forbidden(String),
    /// A webhook refused; its own words, hostile until cleaned.
    Refused(String),
    /// The request is wrong: trying again does not help.
    Invalid(String),
    /// Anything that may pass: overload, time-outs, a lost connection.
    Transient(String),
}

impl Trouble {
    /// Sorts an error.
    #[must_use]
    pub fn of(error: &Error) -> Self {
        let Error::Api(status) = error else { return Self::Transient(error.to_string()) };
        let message = status.message.clone();
        // The API server says so of validating and mutating webhooks alike, with whatever code the webhook chose.
        if message.contains("denied the request") && message.contains("admission webhook") {
            return Self::Refused(message);
        }
        match status.code {
            404 | 410 => Self::Absent,
            // A JSON patch whose test fails is 422 (apiserver `patch.go`).
            409 => Self::Conflict,
            422 if is_failed_test(&message) => Self::Conflict,
            403 => Self::Forbidden(message),
            400 | 405 | 406 | 413 | 415 | 422 => Self::Invalid(message),
            _ => Self::Transient(message),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("not found"),
            Self::Conflict => f.write_str("somebody else was faster"),
            Self::Forbidden(text) | Self::Refused(text) | Self::Invalid(text) | Self::Transient(text) => {
                write!(f, "{}", clean(text.trim(), 400))
            }
        }
    }
}

/// The words of the library that the API server applies JSON patches with (evanphx/json-patch 4.13), for a value that is
/// another one and for a path that is not there.
fn is_failed_test(message: &str) -> bool {
    ["test failed", "operation does not apply", "error in test for path", "error in remove for path"]
        .iter()
        .any(|words| message.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube::core::Status;
    use rstest::rstest;

    #[rstest]
    #[case(404, "kustomizations \"a\" not found", Trouble::Absent)]
    #[case(410, "too old", Trouble::Absent)]
    #[case(409, "the object has been modified", Trouble::Conflict)]
    #[case(422, "the server rejected our request: testing value /metadata/uid failed: test failed", Trouble::Conflict)]
    #[case(422, "jsonpatch test operation does not apply: doc is missing path", Trouble::Conflict)]
    #[case(422, "spec.interval: Invalid value", Trouble::Invalid("spec.interval: Invalid value".into()))]
    #[case(500, "etcdserver: request timed out", Trouble::Transient("etcdserver: request timed out".into()))]
    #[case(504, "timeout", Trouble::Transient("timeout".into()))]
    #[case(429, "slow down", Trouble::Transient("slow down".into()))]
    #[case(
        403,
        "admission webhook \"x\" denied the request: no",
        Trouble::Refused("admission webhook \"x\" denied the request: no".into())
    )]
    #[case(
        400,
        "admission webhook \"x\" denied the request: no",
        Trouble::Refused("admission webhook \"x\" denied the request: no".into())
    )]
    #[case(403, "x is forbidden: User \"y\" cannot patch", Trouble::Forbidden("x is forbidden: User \"y\" cannot patch".into()))]
    fn sorts(#[case] code: u16, #[case] message: &str, #[case] expected: Trouble) {
        let status = Status::failure(message, "Reason").with_code(code);
        assert_eq!(Trouble::of(&Error::Api(Box::new(status))), expected);
    }

    #[test]
    fn what_has_no_status_may_pass() {
        let error = Error::Service("connection reset".into());
        assert!(matches!(Trouble::of(&error), Trouble::Transient(_)));
    }
}
