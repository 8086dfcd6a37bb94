//! The attempts, as annotations remember them.

use super::ATTEMPTS;
use crate::intent::Fresh;
use chrono::{DateTime, SecondsFormat, Utc};

/// The annotation with the number of attempts.
pub const ATTEMPTS_KEY: &str = "sluicegate.dev/recovery-attempts";
/// The annotation with the time of the last attempt, RFC 3339.
pub const LAST_AT_KEY: &str = "sluicegate.dev/recovery-last-at";

/// What was tried so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tracking {
    /// How often; never more than [`ATTEMPTS`].
    pub attempts: u32,
    /// When last; `None` where nobody knows.
    pub last_at: Option<DateTime<Utc>>,
    /// Whether there is any annotation to take off.
    pub present: bool,
}

impl Tracking {
    /// Reads the annotations of an object.
    #[must_use]
    pub fn of(fresh: &Fresh, now: DateTime<Utc>) -> Self {
        Self::parse(fresh.annotation(ATTEMPTS_KEY), fresh.annotation(LAST_AT_KEY), now)
    }

    /// Reads tolerantly: what is no number is none, a negative one is none, a huge one means exhausted, and a time that is
    /// no time or lies in the future is unknown. Neither spoils the other.
    #[must_use]
    pub fn parse(attempts: Option<&str>, last_at: Option<&str>, now: DateTime<Utc>) -> Self {
        let digits =
            attempts.map(str::trim).filter(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()));
        // A number too large to read is a large number.
        let count = digits.map_or(0, |text| text.parse::<u64>().unwrap_or(u64::MAX));
        let time = last_at.and_then(|text| DateTime::parse_from_rfc3339(text.trim()).ok());
        Self {
            attempts: u32::try_from(count).unwrap_or(u32::MAX).min(ATTEMPTS),
            last_at: time.map(|time| time.with_timezone(&Utc)).filter(|time| *time <= now),
            present: attempts.is_some() || last_at.is_some(),
        }
    }

    /// When it is `delay` after the last attempt; at once where that is not known.
    #[must_use]
    pub(super) fn due(&self, now: DateTime<Utc>) -> DateTime<Utc> {
        let due = self.last_at.and_then(|last| last.checked_add_signed(super::delay(self.attempts)));
        due.unwrap_or(now)
    }
}

/// A time as the annotation holds it.
pub(super) fn time(now: DateTime<Utc>) -> String {
    now.to_rfc3339_opts(SecondsFormat::Millis, true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn now() -> DateTime<Utc> {
        DateTime::parse_from_rfc3339("2026-01-01T00:10:00Z").unwrap().with_timezone(&Utc)
    }

    const THEN: &str = "2026-01-01T00:00:00Z";

    #[rstest]
    #[case::cozystack_19(None, None, 0, false)]
    #[case::cozystack_20(Some("3"), Some(THEN), 3, true)]
    #[case::cozystack_21(Some("three"), Some(THEN), 0, true)]
    #[case::cozystack_22(Some("-2"), Some(THEN), 0, true)]
    #[case::cozystack_23(Some("3"), Some("yesterday"), 3, false)]
    #[case(Some(""), Some(""), 0, false)]
    #[case(Some(" 2 "), Some(THEN), 2, true)]
    #[case(Some("4294967297"), Some(THEN), 5, true)]
    #[case(Some("99999999999999999999999999"), Some(THEN), 5, true)]
    #[case(Some("+1"), Some(THEN), 0, true)]
    #[case(Some("1.5"), Some(THEN), 0, true)]
    #[case::a_time_of_the_future(Some("2"), Some("2999-01-01T00:00:00Z"), 2, false)]
    fn reads_tolerantly(
        #[case] attempts: Option<&str>,
        #[case] last: Option<&str>,
        #[case] count: u32,
        #[case] timed: bool,
    ) {
        let tracking = Tracking::parse(attempts, last, now());
        assert_eq!((tracking.attempts, tracking.last_at.is_some()), (count, timed));
        assert_eq!(tracking.present, attempts.is_some() || last.is_some());
    }

    #[test]
    fn what_is_written_is_read_back() {
        let tracking = Tracking::parse(Some("1"), Some(&time(now())), now());
        assert_eq!((tracking.attempts, tracking.last_at), (1, Some(now())));
    }
}
