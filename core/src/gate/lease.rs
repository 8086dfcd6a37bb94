//! Is a companion alive?

use super::Fetched;
use super::finding::Unheld;
use crate::object::fields::fields;
use chrono::{DateTime, Duration, Utc};

/// How long after its end a Lease still counts: clocks differ, and a restart takes its time.
const GRACE: i64 = 30;

/// Whether the companion's Lease is current at `now`.
///
/// # Errors
/// Says why not: there is no Lease that can be read, or it has run out.
pub fn current(lease: &Fetched, now: DateTime<Utc>) -> Result<(), Unheld> {
    fields! {
        /// A Lease.
        pub struct Lease {
            "spec" => spec: Spec,
        }
    }
    fields! {
        /// Its `spec`.
        pub struct Spec {
            "renewTime" => renew_time: String,
            "leaseDurationSeconds" => lease_duration_seconds: i64,
        }
    }
    let json = match lease {
        Fetched::Found(json) => json,
        Fetched::Absent | Fetched::KindAbsent => return Err(Unheld::Absent),
        _ => return Err(Unheld::NoLease),
    };
    let lease: Lease = serde_json::from_slice(json).map_err(|_| Unheld::NoLease)?;
    let spec = lease.spec.ok_or(Unheld::NoLease)?;
    let (Some(renewed), Some(seconds)) = (spec.renew_time, spec.lease_duration_seconds) else {
        return Err(Unheld::NoLease);
    };
    let renewed = DateTime::parse_from_rfc3339(&renewed).map_err(|_| Unheld::NoLease)?;
    let lasts = seconds.checked_add(GRACE).and_then(Duration::try_seconds).ok_or(Unheld::NoLease)?;
    let end = renewed.with_timezone(&Utc).checked_add_signed(lasts).ok_or(Unheld::NoLease)?;
    if now < end { Ok(()) } else { Err(Unheld::Stale) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(r#"{"spec":{"renewTime":"2026-01-01T00:00:00.000000Z","leaseDurationSeconds":15}}"#, 44, Ok(()))]
    #[case(r#"{"spec":{"renewTime":"2026-01-01T00:00:00.000000Z","leaseDurationSeconds":15}}"#, 45, Err(Unheld::Stale))]
    #[case(r#"{"spec":{"renewTime":"2999-01-01T00:00:00Z","leaseDurationSeconds":15}}"#, 0, Ok(()))]
    #[case(r#"{"spec":{"renewTime":"yesterday","leaseDurationSeconds":15}}"#, 0, Err(Unheld::NoLease))]
    #[case(
        r#"{"spec":{"renewTime":"2026-01-01T00:00:00Z","leaseDurationSeconds":9223372036854775807}}"#,
        0,
        Err(Unheld::NoLease)
    )]
    #[case(r#"{"spec":{"renewTime":"2026-01-01T00:00:00Z","leaseDurationSeconds":-900}}"#, 0, Err(Unheld::Stale))]
    #[case(r#"{"spec":{"renewTime":null}}"#, 0, Err(Unheld::NoLease))]
    #[case(r#"{}"#, 0, Err(Unheld::NoLease))]
    #[case("garbage", 0, Err(Unheld::NoLease))]
    fn tells(#[case] lease: &str, #[case] after: i64, #[case] expected: Result<(), Unheld>) {
        let now = DateTime::parse_from_rfc3339("2026-01-01T00:00:00Z").unwrap().with_timezone(&Utc);
        let now = now + Duration::seconds(after);
        assert_eq!(current(&Fetched::Found(lease.into()), now), expected);
    }

    #[test]
    fn a_lease_that_is_not_there_is_told_apart_from_one_that_cannot_be_read() {
        assert_eq!(current(&Fetched::Absent, Utc::now()), Err(Unheld::Absent));
        for fetched in [Fetched::Forbidden, Fetched::OutOfTime, Fetched::Failed("x".into())] {
            assert_eq!(current(&fetched, Utc::now()), Err(Unheld::NoLease));
        }
    }
}
