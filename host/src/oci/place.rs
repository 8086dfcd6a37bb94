//! Where a policy is, and as whom one asks for it.

use std::{env, fmt, fs::File, io, net::IpAddr, path::PathBuf};

use docker_credential::{CredentialRetrievalError, DockerCredential};
use oci_client::{Reference, secrets::RegistryAuth};
use thiserror::Error;

use super::OciError;

/// What a place may begin with.
pub const SCHEME: &str = "registry://";

/// Where Docker keeps the credentials of its own registry.
const DOCKER_HUB: (&str, &str) = ("index.docker.io", "https://index.docker.io/v1/");

/// Why a text names no place in a registry.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlaceError {
    /// No host: Docker would take its own registry, which is never meant here.
    #[error("{0} names no registry: HOST/NAME:TAG is needed")]
    NoHost(String),
    /// Not of the form that references have.
    #[error("{0} is no reference to a registry: {1}")]
    Malformed(String, String),
}

/// A policy in a registry: `HOST/NAME:TAG` or `HOST/NAME@sha256:…`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place(Reference);

impl Place {
    /// Reads a place, with or without `registry://`. Without tag and digest, the tag is `latest`.
    ///
    /// # Errors
    /// See [`PlaceError`].
    pub fn parse(text: &str) -> Result<Self, PlaceError> {
        let rest = text.strip_prefix(SCHEME).unwrap_or(text);
        let host = rest.split_once('/').map(|(host, _)| host);
        if !host.is_some_and(|host| host == "localhost" || host.contains(['.', ':'])) {
            return Err(PlaceError::NoHost(text.to_owned()));
        }
        let reference = rest
            .parse()
            .map_err(|error: oci_client::ParseError| PlaceError::Malformed(text.to_owned(), error.to_string()))?;
        Ok(Self(reference))
    }

    /// The place that a text names, if it begins with `registry://`; files are named without.
    ///
    /// # Errors
    /// See [`PlaceError`].
    pub fn if_any(text: &str) -> Result<Option<Self>, PlaceError> {
        if text.starts_with(SCHEME) { Self::parse(text).map(Some) } else { Ok(None) }
    }

    /// `HOST` or `HOST:PORT`.
    pub fn registry(&self) -> &str {
        self.0.resolve_registry()
    }

    /// The name in the registry.
    pub fn repository(&self) -> &str {
        self.0.repository()
    }

    /// The tag, if the place has one.
    pub fn tag(&self) -> Option<&str> {
        self.0.tag()
    }

    /// The digest, if the place has one.
    pub fn digest(&self) -> Option<&str> {
        self.0.digest()
    }

    /// `HOST/NAME@DIGEST`.
    pub fn immutable(&self, digest: &str) -> String {
        format!("{}/{}@{digest}", self.registry(), self.repository())
    }

    /// On this machine: such a registry is spoken to without TLS, as Docker does.
    pub fn is_loopback(&self) -> bool {
        let registry = self.registry();
        let host = match registry.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
            _ => registry,
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    pub(super) fn reference(&self) -> &Reference {
        &self.0
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// As whom a registry is asked.
#[derive(Clone, Default)]
pub enum Account {
    /// As Docker's configuration says (`$DOCKER_CONFIG/config.json`, its helpers included); else as nobody.
    #[default]
    Docker,
    /// As nobody: Docker's configuration has nothing for this registry.
    Anonymous,
    /// As nobody: Docker's configuration has an identity token, which the client cannot use.
    Token,
    /// With a name and a password.
    Named(String, String),
}

impl Account {
    /// What to send, and as whom that is.
    pub(super) fn resolve(self, registry: &str) -> Result<(RegistryAuth, Self), OciError> {
        match self {
            Self::Named(name, password) => {
                return Ok((RegistryAuth::Basic(name.clone(), password), Self::Named(name, String::new())));
            }
            Self::Docker => {}
            nobody => return Ok((RegistryAuth::Anonymous, nobody)),
        }
        let failed = |error: String| OciError::Credentials { registry: registry.to_owned(), error };
        let anonymous = (RegistryAuth::Anonymous, Self::Anonymous);
        let Some(path) = docker_config() else { return Ok(anonymous) };
        // Opened here, since the reader does not tell a file that is absent from one that cannot be read.
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(anonymous),
            Err(error) => return Err(failed(format!("{}: {error}", path.display()))),
        };
        let key = if registry == DOCKER_HUB.0 { DOCKER_HUB.1 } else { registry };
        match docker_credential::get_credential_from_reader(file, key) {
            Ok(DockerCredential::UsernamePassword(name, password)) => {
                Ok((RegistryAuth::Basic(name, password), Self::Docker))
            }
            Ok(DockerCredential::IdentityToken(_)) => Ok((RegistryAuth::Anonymous, Self::Token)),
            Err(CredentialRetrievalError::NoCredentialConfigured) => Ok(anonymous),
            Err(error) => Err(failed(format!("{}: {}", path.display(), error.to_string().trim_end()))),
        }
    }
}

/// Where Docker keeps its configuration.
fn docker_config() -> Option<PathBuf> {
    let folder =
        env::var_os("DOCKER_CONFIG").map(PathBuf::from).or_else(|| env::home_dir().map(|home| home.join(".docker")))?;
    Some(folder.join("config.json"))
}

/// How a refusal names the account; never with its password.
impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Docker => f.write_str("the account in Docker's configuration"),
            Self::Anonymous => f.write_str("nobody (no account for it is known)"),
            Self::Token => {
                f.write_str("nobody (Docker's configuration has an identity token for it, which cannot be used here)")
            }
            Self::Named(name, _) => write!(f, "{name}"),
        }
    }
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Account({self})")
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("registry://ghcr.io/a/b:v1", "ghcr.io/a/b:v1", false)]
    #[case("ghcr.io/a/b:v1", "ghcr.io/a/b:v1", false)]
    #[case("registry://localhost:5000/b", "localhost:5000/b:latest", true)]
    #[case("registry://localhost/b:1", "localhost/b:1", true)]
    #[case("127.0.0.1:5000/a/b:1", "127.0.0.1:5000/a/b:1", true)]
    #[case("10.0.0.1:5000/a/b:1", "10.0.0.1:5000/a/b:1", false)]
    fn places(#[case] text: &str, #[case] whole: &str, #[case] loopback: bool) {
        let place = Place::parse(text).unwrap();
        assert_eq!((place.to_string().as_str(), place.is_loopback()), (whole, loopback));
    }

    #[rstest]
    #[case("policy", "policy names no registry: HOST/NAME:TAG is needed")]
    #[case("registry://a/b:1", "registry://a/b:1 names no registry: HOST/NAME:TAG is needed")]
    #[case("registry://", "registry:// names no registry: HOST/NAME:TAG is needed")]
    #[case("registry://h:1/", "registry://h:1/ is no reference to a registry: invalid reference format")]
    #[case("h:1/A:1", "h:1/A:1 is no reference to a registry: invalid reference format")]
    fn no_places(#[case] text: &str, #[case] sentence: &str) {
        assert_eq!(Place::parse(text).unwrap_err().to_string(), sentence);
    }

    #[test]
    fn an_account_never_shows_its_password() {
        let account = Account::Named("alice".to_owned(), "secret".to_owned());
        assert_eq!((account.to_string().as_str(), format!("{account:?}").as_str()), ("alice", "Account(alice)"));
    }
}
