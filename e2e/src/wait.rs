//! Waiting for something to become true, with a limit.

use std::time::Duration;

use anyhow::{Result, bail};
use tokio::time::Instant;

/// How long anything may take. On a busy machine with two cores a controller may need most of it; no test depends on it
/// being short.
pub const LIMIT: Duration = Duration::from_secs(90);

const BETWEEN: Duration = Duration::from_millis(100);

/// Asks `probe` until it gives a value; it says what it saw otherwise.
///
/// # Errors
///
/// The limit has passed: with `what` was waited for and what was seen last. Or the probe itself failed.
pub async fn until<T>(what: &str, mut probe: impl AsyncFnMut() -> Result<Result<T, String>>) -> Result<T> {
    let started = Instant::now();
    loop {
        match probe().await? {
            Ok(value) => return Ok(value),
            Err(seen) if started.elapsed() > LIMIT => {
                bail!("after {} s still waiting until {what}; last seen: {seen}", LIMIT.as_secs())
            }
            Err(_) => tokio::time::sleep(BETWEEN).await,
        }
    }
}
