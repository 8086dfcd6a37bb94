//! What Kubernetes lets objects be called (RFC 1123, as apimachinery checks it for custom resources and Leases).

/// Whether a namespace can be called so.
pub(crate) fn is_label(name: &str) -> bool {
    name.len() <= 63 && is_part(name)
}

/// Whether an object can be called so. Other than in a DNS name, a part may be longer than 63 bytes.
pub(crate) fn is_subdomain(name: &str) -> bool {
    name.len() <= 253 && name.split('.').all(is_part)
}

fn is_part(part: &str) -> bool {
    let bytes = part.as_bytes();
    let alphanumeric = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    alphanumeric(bytes.first())
        && alphanumeric(bytes.last())
        && bytes.iter().all(|byte| *byte == b'-' || alphanumeric(Some(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("a", true, true)]
    #[case("flux-system", true, true)]
    #[case("9lives", true, true)]
    #[case("a.b-c.d", false, true)]
    #[case("", false, false)]
    #[case("-a", false, false)]
    #[case("a-", false, false)]
    #[case("a..b", false, false)]
    #[case(".", false, false)]
    #[case("..", false, false)]
    #[case("A", false, false)]
    #[case("a/b", false, false)]
    #[case("../secrets/a", false, false)]
    #[case("a?watch=1", false, false)]
    #[case("a%2fb", false, false)]
    #[case("a#", false, false)]
    #[case("a\nb", false, false)]
    #[case("ä", false, false)]
    fn knows_names(#[case] name: &str, #[case] label: bool, #[case] subdomain: bool) {
        assert_eq!((is_label(name), is_subdomain(name)), (label, subdomain));
    }

    #[test]
    fn knows_their_length() {
        assert!(is_label(&"a".repeat(63)) && !is_label(&"a".repeat(64)));
        assert!(is_subdomain(&"a".repeat(253)) && !is_subdomain(&"a".repeat(254)));
    }
}
