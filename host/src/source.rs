//! Policies that are named by a place in a registry.

use std::{error::Error, path::Path};

use crate::cli::Access;

/// The module, if the argument begins with `registry://`; a file is read by whoever wants it.
#[cfg(feature = "bundle")]
pub fn pulled(policy: &Path, access: &Access) -> Result<Option<Vec<u8>>, Box<dyn Error>> {
    use sluicegate_host::oci::Place;

    match policy.to_str().map(Place::if_any).transpose()?.flatten() {
        Some(place) => Ok(Some(block_on(registry(place, access)?.pull())??.module)),
        None => Ok(None),
    }
}

/// Without the client, such a place is named as what it is.
#[cfg(not(feature = "bundle"))]
pub fn pulled(policy: &Path, access: &Access) -> Result<Option<Vec<u8>>, Box<dyn Error>> {
    let asked = access.insecure || access.username.is_some() || access.password_stdin;
    if policy.starts_with("registry:") || asked {
        return Err("this sluicegate-host was built without access to registries (feature `bundle`)".into());
    }
    Ok(None)
}

#[cfg(feature = "bundle")]
pub use client::{block_on, registry};

#[cfg(feature = "bundle")]
mod client {
    use std::{env, error::Error, io};

    use sluicegate_host::oci::{Account, Place, Registry};

    use crate::cli::Access;

    const PASSWORD: &str = "SLUICEGATE_REGISTRY_PASSWORD";

    /// A client for the registry of a place, with the account that was asked for.
    pub fn registry(place: Place, access: &Access) -> Result<Registry, Box<dyn Error>> {
        let account = match &access.username {
            None => Account::Docker,
            Some(name) => Account::Named(name.clone(), password(access.password_stdin)?),
        };
        Ok(Registry::new(place, account, access.insecure)?)
    }

    /// From standard input without the newline, or from the environment: arguments are seen by everybody on the machine.
    fn password(stdin: bool) -> Result<String, Box<dyn Error>> {
        if stdin {
            let text = io::read_to_string(io::stdin().lock())
                .map_err(|error| format!("cannot read the password from standard input: {error}"))?;
            return Ok(text.trim_end_matches(['\r', '\n']).to_owned());
        }
        env::var(PASSWORD).map_err(|_| format!("--username needs a password: --password-stdin, or {PASSWORD}").into())
    }

    /// Runs a future to its end.
    pub fn block_on<T>(future: impl Future<Output = T>) -> io::Result<T> {
        Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(future))
    }
}
