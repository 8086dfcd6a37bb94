//! Durations as Kubernetes writes them: `1h`, `90m`, `1h30m`.

use std::time::Duration;

const YEAR: u64 = 365 * 24 * 3600;

/// Whole hours, minutes and seconds, in this order, from a second to a year.
pub(super) fn parse(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut seconds = 0_u64;
    for (unit, factor) in [('h', 3600), ('m', 60), ('s', 1)] {
        if let Some((number, tail)) = rest.split_once(unit) {
            // `parse` would take a sign.
            if !number.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            seconds = seconds.checked_add(number.parse::<u64>().ok()?.checked_mul(factor)?)?;
            rest = tail;
        }
    }
    (rest.is_empty() && (1..=YEAR).contains(&seconds)).then(|| Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("1h", 3600)]
    #[case("90m", 5400)]
    #[case("45s", 45)]
    #[case("1h30m", 5400)]
    #[case("1h0m1s", 3601)]
    #[case("8760h", YEAR)]
    fn reads(#[case] text: &str, #[case] seconds: u64) {
        assert_eq!(parse(text), Some(Duration::from_secs(seconds)));
    }

    #[rstest]
    #[case("")]
    #[case("0s")]
    #[case("1")]
    #[case("h")]
    #[case("-1h")]
    #[case("+1h")]
    #[case("1.5h")]
    #[case("1d")]
    #[case("1m1h")]
    #[case("1h1h")]
    #[case(" 1h")]
    #[case("1h ")]
    #[case("1H")]
    #[case("8761h")]
    #[case("99999999999999999999h")]
    #[case("9999999999999999h")]
    fn refuses(#[case] text: &str) {
        assert_eq!(parse(text), None);
    }
}
