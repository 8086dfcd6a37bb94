//! What can go wrong with a registry, in a sentence each.

use std::{error::Error, io};

use oci_client::errors::{DigestError, OciDistributionError, OciErrorCode};
use thiserror::Error;

use super::{Account, LAYER_TYPE, Place};
use crate::ModuleError;

/// What was being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Reading
    Pull,
    /// Writing
    Push,
}

impl Action {
    fn verb(self) -> &'static str {
        match self {
            Self::Pull => "pull",
            Self::Push => "push",
        }
    }
}

/// Why a policy could not be pushed or pulled.
#[derive(Debug, Error)]
pub enum OciError {
    /// Docker's configuration, or one of its helpers, fails.
    #[error("cannot read the credentials for {registry}: {error}")]
    Credentials {
        /// The registry
        registry: String,
        /// What its reader says
        error: String,
    },
    /// A push needs a tag, and no digest.
    #[error("cannot push to {0}: a tag is needed, and no digest")]
    NoTag(String),
    /// The file is a damaged module.
    #[error(transparent)]
    Module(#[from] ModuleError),
    /// The file begins as no module does.
    #[error("not pushed, as it is no WebAssembly module")]
    NotWasm,
    /// policy-server would not load the module.
    #[error("not pushed, as policy-server would not load it: {0}")]
    Refused(String),
    /// Nobody answers.
    #[error("cannot reach the registry {registry}: {cause}{hint}")]
    Unreachable {
        /// The registry
        registry: String,
        /// The innermost reason
        cause: String,
        /// What to try
        hint: &'static str,
    },
    /// Wrong account, or none.
    #[error("the registry {registry} does not let {account} {verb} {repository}", verb = .action.verb())]
    Unauthorised {
        /// The registry
        registry: String,
        /// The name in it
        repository: String,
        /// What was being done
        action: Action,
        /// As whom
        account: Account,
    },
    /// The registry does not know the tag, digest or name.
    #[error("{0} does not exist")]
    Absent(String),
    /// The registry does not know the name at all.
    #[error("the registry {0} has no {1}")]
    NoRepository(String, String),
    /// Something else is there.
    #[error("{place} is no Kubewarden policy: it has a layer of type {found}, not {LAYER_TYPE}")]
    MediaType {
        /// The place
        place: String,
        /// Type of the layer
        found: String,
    },
    /// Several images under one tag.
    #[error("{0} is no Kubewarden policy: it is an index of several images")]
    Index(String),
    /// A manifest without layers.
    #[error("{0} is no Kubewarden policy: it has no layer")]
    Empty(String),
    /// The type is right, the content is not.
    #[error("{0} is no Kubewarden policy: its layer is no WebAssembly module")]
    NoModule(String),
    /// Not a manifest.
    #[error("cannot read the manifest of {0}: {1}")]
    NoManifest(String, String),
    /// Damaged, or forged.
    #[error("{place} is damaged: the registry announced {expected} and sent {actual}")]
    Digest {
        /// The place
        place: String,
        /// Announced
        expected: String,
        /// Received
        actual: String,
    },
    /// Larger than any policy.
    #[error("{place} is too large: it says {size} bytes, at most {limit} are taken")]
    TooLarge {
        /// The place
        place: String,
        /// What the manifest says
        size: i64,
        /// The bound
        limit: u64,
    },
    /// More bytes than the manifest says.
    #[error("{0} is damaged: the registry sent more bytes than the manifest says")]
    TooLong(String),
    /// The registry answers with an error that has no sentence of its own here.
    #[error("the registry {registry} did not {verb} {repository}: {message}", verb = .action.verb())]
    Other {
        /// The registry
        registry: String,
        /// The name in it
        repository: String,
        /// What was being done
        action: Action,
        /// What it says
        message: String,
    },
}

impl OciError {
    /// The sentence for what the client has met.
    pub(super) fn of(error: OciDistributionError, action: Action, place: &Place, account: &Account) -> Self {
        use OciDistributionError as E;
        let registry = place.registry().to_owned();
        let repository = place.repository().to_owned();
        let unauthorised =
            |registry, repository| Self::Unauthorised { registry, repository, action, account: account.clone() };
        match error {
            E::UnauthorizedError { .. } | E::AuthenticationFailure(_) => unauthorised(registry, repository),
            E::RegistryError { envelope, .. } => match envelope.errors.into_iter().next() {
                Some(first) => match first.code {
                    OciErrorCode::Unauthorized | OciErrorCode::Denied => unauthorised(registry, repository),
                    OciErrorCode::ManifestUnknown | OciErrorCode::NotFound => Self::Absent(place.to_string()),
                    OciErrorCode::NameUnknown => Self::NoRepository(registry, repository),
                    code => {
                        let code = serde_json::to_value(code).unwrap_or_default();
                        let message = format!("{}: {}", code.as_str().unwrap_or("error"), plain(&first.message));
                        Self::Other { registry, repository, action, message }
                    }
                },
                None => Self::Other { registry, repository, action, message: "no reason given".to_owned() },
            },
            E::ServerError { code: 401 | 403, .. } => unauthorised(registry, repository),
            E::ServerError { code: 404, .. } | E::ImageManifestNotFoundError(_) => Self::Absent(place.to_string()),
            E::ServerError { code, message, .. } => {
                let message = format!("HTTP {code} {}", plain(&message)).trim_end().to_owned();
                Self::Other { registry, repository, action, message }
            }
            E::DigestError(DigestError::VerificationError { expected, actual }) => {
                Self::Digest { place: place.to_string(), expected, actual }
            }
            E::IoError(error) if error.kind() == io::ErrorKind::FileTooLarge => Self::TooLong(place.to_string()),
            E::RequestError(error) if error.is_connect() || error.is_timeout() || error.is_request() => {
                let cause = innermost(&error);
                // A registry that speaks plain HTTP looks like broken TLS.
                let hint = if cause.contains("InvalidContentType") {
                    " (does it speak plain HTTP? then say --insecure)"
                } else {
                    ""
                };
                Self::Unreachable { registry, cause, hint }
            }
            E::RequestError(error) => Self::Other { registry, repository, action, message: innermost(&error) },
            other => Self::Other { registry, repository, action, message: plain(&other.to_string()) },
        }
    }
}

/// The reason at the end of the chain; what stands before repeats addresses.
fn innermost(error: &dyn Error) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}

/// One short line, safe for a terminal, of what a registry says.
pub(super) fn plain(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.chars().take(200).flat_map(char::escape_debug).collect::<String>().replace("\\'", "'").replace("\\\"", "\"")
}
