//! When to try, and when to give up.

use chrono::TimeDelta;

/// How often recovery is tried.
pub const ATTEMPTS: u32 = 5;

/// How long to wait after this many attempts before the next one, or, after the last one, before giving up. From the
/// stall to the give-up it is twelve minutes, inside the quarter of an hour that Helm usually waits.
#[must_use]
pub fn delay(attempts: u32) -> TimeDelta {
    TimeDelta::seconds(match attempts {
        0 | 1 => 30,
        2 => 60,
        3 => 120,
        _ => 240,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recovery::GRACE;

    #[test]
    fn the_table_of_cozystack_18() {
        let table = [0, 1, 2, 3, 4, 5, 10, u32::MAX].map(|attempts| delay(attempts).num_seconds());
        assert_eq!(table, [30, 30, 60, 120, 240, 240, 240, 240]);
    }

    #[test]
    fn it_ends_within_what_helm_waits() {
        let tries: i64 = (1..=ATTEMPTS).map(|attempts| delay(attempts).num_seconds()).sum();
        assert_eq!(GRACE.num_seconds() + tries, 12 * 60);
    }
}
