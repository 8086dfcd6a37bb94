//! What a plain scalar means.

/// What a scalar is to Kubernetes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// Nothing.
    Null,
    /// A boolean.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A whole number that only fits without a sign.
    Unsigned(u64),
    /// Another finite number.
    Float(f64),
    /// Text.
    Text,
}

/// Resolves a scalar by the rules of YAML 1.1 as Go's library has them (go-yaml v2, which sigs.k8s.io/yaml 1.6 wraps),
/// but for `y` and `n`, which it leaves alone in text.
#[must_use]
pub fn resolve(text: &str, plain: bool) -> Scalar {
    if !plain {
        return Scalar::Text;
    }
    let Some(&first) = text.as_bytes().first() else { return Scalar::Null };
    // Most scalars are words that no rule begins like.
    match first {
        b'~' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'y' | b'Y' | b'o' | b'O' => word(text),
        b'0'..=b'9' | b'+' | b'-' | b'.' => number(text),
        _ => Scalar::Text,
    }
}

fn word(text: &str) -> Scalar {
    match text {
        "~" | "null" | "Null" | "NULL" => Scalar::Null,
        "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Scalar::Bool(true),
        "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Scalar::Bool(false),
        _ => Scalar::Text,
    }
}

fn number(text: &str) -> Scalar {
    let digits: String = text.chars().filter(|letter| *letter != '_').collect();
    let (negative, bare) = match digits.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, digits.strip_prefix('+').unwrap_or(&digits)),
    };
    let radix = |prefix: &str, radix: u32| bare.strip_prefix(prefix).map(|rest| (rest, radix));
    let octal = || bare.strip_prefix('0').filter(|rest| !rest.is_empty()).map(|rest| (rest, 8));
    let (rest, radix) =
        radix("0x", 16).or_else(|| radix("0b", 2)).or_else(|| radix("0o", 8)).or_else(octal).unwrap_or((bare, 10));
    if rest.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        let signed = if negative { format!("-{rest}") } else { rest.to_owned() };
        if let Ok(number) = i64::from_str_radix(&signed, radix) {
            return Scalar::Integer(number);
        }
        if let Ok(number) = u64::from_str_radix(&signed, radix) {
            return Scalar::Unsigned(number);
        }
    }
    let is_float = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-');
    match digits.parse::<f64>() {
        Ok(number) if digits.bytes().all(is_float) && number.is_finite() => Scalar::Float(number),
        _ => Scalar::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("", Scalar::Null)]
    #[case("~", Scalar::Null)]
    #[case("Null", Scalar::Null)]
    #[case("yes", Scalar::Bool(true))]
    #[case("OFF", Scalar::Bool(false))]
    #[case("true", Scalar::Bool(true))]
    #[case("oN", Scalar::Text)]
    #[case("y", Scalar::Text)]
    #[case("no-where", Scalar::Text)]
    #[case("0", Scalar::Integer(0))]
    #[case("-12", Scalar::Integer(-12))]
    #[case("0777", Scalar::Integer(511))]
    #[case("0x1F", Scalar::Integer(31))]
    #[case("0b11", Scalar::Integer(3))]
    #[case("1_000", Scalar::Integer(1_000))]
    #[case("18446744073709551615", Scalar::Unsigned(u64::MAX))]
    #[case("1.5", Scalar::Float(1.5))]
    #[case("-.5e3", Scalar::Float(-500.0))]
    #[case("1.2.3", Scalar::Text)]
    #[case("1e999", Scalar::Text)]
    #[case("089", Scalar::Float(89.0))]
    #[case("2024-01-01", Scalar::Text)]
    #[case("-", Scalar::Text)]
    #[case(".", Scalar::Text)]
    #[case("0x", Scalar::Text)]
    #[case("12ab", Scalar::Text)]
    #[case(".inf", Scalar::Text)]
    #[case("${x}", Scalar::Text)]
    fn plain_scalars(#[case] text: &str, #[case] expected: Scalar) {
        assert_eq!(resolve(text, true), expected, "{text}");
        assert_eq!(resolve(text, false), Scalar::Text);
    }
}
