//! The time of day. Decisions take it as an argument; here is where it comes from.

use chrono::{DateTime, TimeDelta, Utc};
use tokio::time::Instant;

/// A clock.
#[derive(Clone, Copy, Debug)]
pub enum Clock {
    /// That of the machine.
    System,
    /// One that showed this time at that instant, and runs as tokio's does: in tests, which pause it.
    Since(DateTime<Utc>, Instant),
}

impl Clock {
    /// What it shows.
    #[must_use]
    pub fn now(&self) -> DateTime<Utc> {
        match self {
            Self::System => Utc::now(),
            Self::Since(start, instant) => {
                let passed = TimeDelta::from_std(instant.elapsed()).unwrap_or(TimeDelta::MAX);
                start.checked_add_signed(passed).unwrap_or(*start)
            }
        }
    }

    /// The instant at which it will show this time; now for one that is past.
    #[must_use]
    pub fn instant(&self, time: DateTime<Utc>) -> Instant {
        Instant::now() + (time - self.now()).to_std().unwrap_or_default()
    }
}
