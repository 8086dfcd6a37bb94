//! Durations as Go and Kubernetes write them.

use chrono::TimeDelta;

/// Reads `90s`, `1h30m`, `5m0s`, `1.5h`, or a bare number of seconds. `None` for anything else, and for what is negative
/// or longer than a hundred years.
#[must_use]
pub fn duration(text: &str) -> Option<TimeDelta> {
    let text = text.trim();
    let mut seconds = 0.0_f64;
    let mut rest = text;
    if text.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let unit = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(unit);
        let factor = match unit {
            "" if rest.len() == text.len() => 1.0,
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3_600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        seconds += number.parse::<f64>().ok()? * factor;
        rest = after;
    }
    let longest = 3_155_760_000.0;
    #[allow(clippy::cast_possible_truncation, reason = "bounded above")]
    (seconds <= longest).then(|| TimeDelta::milliseconds((seconds * 1_000.0).round() as i64))
}

#[cfg(test)]
mod tests {
    use super::duration;
    use rstest::rstest;

    #[rstest]
    #[case("90s", Some(90_000))]
    #[case("1h30m", Some(5_400_000))]
    #[case("5m0s", Some(300_000))]
    #[case("1.5h", Some(5_400_000))]
    #[case("250ms", Some(250))]
    #[case("30", Some(30_000))]
    #[case("0", Some(0))]
    #[case(" 5m ", Some(300_000))]
    #[case("2d", Some(172_800_000))]
    #[case("", None)]
    #[case("m", None)]
    #[case("-5m", None)]
    #[case("5 m", None)]
    #[case("5m3", None)]
    #[case("5x", None)]
    #[case("1..5h", None)]
    #[case("99999999999999999999h", None)]
    #[case("NaN", None)]
    fn reads_durations(#[case] text: &str, #[case] milliseconds: Option<i64>) {
        assert_eq!(duration(text).map(|read| read.num_milliseconds()), milliseconds);
    }
}
