//! Host calls recorded and replayed, in the file format of `kwctl run`.

use std::{
    collections::VecDeque,
    fs, io, mem,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    call::{Failure, HostRequest},
    cluster::Cluster,
};

/// Why a session cannot be read or written.
#[derive(Debug, Error)]
pub enum SessionError {
    /// The file cannot be read or written.
    #[error("cannot access session file {path}: {source}")]
    File {
        /// The file, as it was named
        path: String,
        /// What went wrong
        source: io::Error,
    },
    /// The file is no list of exchanges.
    #[error("cannot read the session: {0}")]
    Malformed(#[source] yaml_serde::Error),
    /// The request of an exchange is none that this host knows.
    #[error("cannot read the request of exchange {exchange}: {source}")]
    Request {
        /// Counted from 1
        exchange: usize,
        /// What went wrong
        source: yaml_serde::Error,
    },
    /// An answer was no text, which a session cannot hold.
    #[error("the answer of exchange {exchange} is not UTF-8")]
    Answer {
        /// Counted from 1
        exchange: usize,
    },
    /// The session cannot be put into YAML.
    #[error("cannot write the session: {0}")]
    Unwritable(#[source] yaml_serde::Error),
}

/// An entry of a session file. The request is YAML in a text, under a tag with the name of its variant.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename = "Exchange")]
struct Entry {
    request: String,
    response: Response,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "type")]
enum Response {
    Success { payload: String },
    Error { message: String },
}

/// A call and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// What was asked
    pub request: HostRequest,
    /// What was answered; a failure has lost its causes once it was in a file
    pub answer: Result<Vec<u8>, Failure>,
}

/// A cluster that replays a session: each call must equal the next recorded one, field by field, and gets its answer.
///
/// As in `kwctl`, a call that differs uses its exchange up and fails, and what is left over at the end is no error: look at
/// [`Session::leftovers`].
#[derive(Debug)]
pub struct Session {
    exchanges: Mutex<VecDeque<Exchange>>,
}

impl Session {
    /// A session of these exchanges.
    pub fn new(exchanges: impl IntoIterator<Item = Exchange>) -> Self {
        Self { exchanges: Mutex::new(exchanges.into_iter().collect()) }
    }

    /// Reads a session file.
    ///
    /// # Errors
    /// See [`SessionError`]. A request that cannot be read is found here; `kwctl` panics when it comes to it.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, SessionError> {
        let path = path.as_ref();
        let text = fs::read_to_string(path)
            .map_err(|source| SessionError::File { path: path.display().to_string(), source })?;
        Self::from_text(&text)
    }

    /// Reads the text of a session file.
    ///
    /// # Errors
    /// As [`Session::load`].
    pub fn from_text(text: &str) -> Result<Self, SessionError> {
        let entries: Vec<Entry> = yaml_serde::from_str(text).map_err(SessionError::Malformed)?;
        let mut exchanges = VecDeque::new();
        for (index, entry) in entries.into_iter().enumerate() {
            let request = yaml_serde::from_str(&entry.request)
                .map_err(|source| SessionError::Request { exchange: index + 1, source })?;
            let answer = match entry.response {
                Response::Success { payload } => Ok(payload.into_bytes()),
                Response::Error { message } => Err(Failure::new(message)),
            };
            exchanges.push_back(Exchange { request, answer });
        }
        Ok(Self { exchanges: Mutex::new(exchanges) })
    }

    /// The calls that nobody has made yet.
    pub fn leftovers(&self) -> Vec<HostRequest> {
        lock(&self.exchanges).iter().map(|exchange| exchange.request.clone()).collect()
    }
}

impl Cluster for Session {
    fn answer(&self, request: &HostRequest) -> Result<Vec<u8>, Failure> {
        let exchange =
            lock(&self.exchanges).pop_front().ok_or_else(|| Failure::new("the list of recorded responses is empty"))?;
        if exchange.request == *request {
            exchange.answer
        } else {
            // Debug forms, as in kwctl.
            let expected = exchange.request;
            Err(Failure::new(format!(
                "Replay error: unexpected request. Was expecting {expected:?}, got {request:?} instead"
            )))
        }
    }
}

/// Passes calls on to another cluster, and keeps them. Clones share what was kept.
#[derive(Debug, Clone)]
pub struct Recorder<C> {
    cluster: C,
    exchanges: Arc<Mutex<Vec<Exchange>>>,
}

impl<C: Cluster> Recorder<C> {
    /// Records what is asked of the cluster.
    pub fn new(cluster: C) -> Self {
        Self { cluster, exchanges: Arc::default() }
    }

    /// What was recorded since the last time this was asked.
    pub fn take(&self) -> Vec<Exchange> {
        mem::take(&mut *lock(&self.exchanges))
    }

    /// What was recorded, as the text of a session file that `kwctl run --replay-host-capabilities-interactions` reads.
    ///
    /// # Errors
    /// [`SessionError::Answer`] for an answer that is no text.
    pub fn to_text(&self) -> Result<String, SessionError> {
        let exchanges = lock(&self.exchanges);
        let entries: Result<Vec<Entry>, SessionError> =
            exchanges.iter().enumerate().map(|(index, exchange)| entry(index + 1, exchange)).collect();
        yaml_serde::to_string(&entries?).map_err(SessionError::Unwritable)
    }

    /// Writes what was recorded to a session file, over what is in it.
    ///
    /// # Errors
    /// As [`Recorder::to_text`], and [`SessionError::File`].
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), SessionError> {
        let path = path.as_ref();
        fs::write(path, self.to_text()?)
            .map_err(|source| SessionError::File { path: path.display().to_string(), source })
    }
}

impl<C: Cluster> Cluster for Recorder<C> {
    fn answer(&self, request: &HostRequest) -> Result<Vec<u8>, Failure> {
        let answer = self.cluster.answer(request);
        lock(&self.exchanges).push(Exchange { request: request.clone(), answer: answer.clone() });
        answer
    }
}

fn entry(number: usize, exchange: &Exchange) -> Result<Entry, SessionError> {
    let response = match &exchange.answer {
        Ok(bytes) => match str::from_utf8(bytes) {
            Ok(text) => Response::Success { payload: text.to_owned() },
            Err(_) => return Err(SessionError::Answer { exchange: number }),
        },
        Err(failure) => Response::Error { message: failure.to_string() },
    };
    let request = yaml_serde::to_string(&exchange.request).map_err(SessionError::Unwritable)?;
    Ok(Entry { request, response })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
