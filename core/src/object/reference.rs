//! `Kind/namespace/name`: how an object is referred to everywhere.

use super::Kind;
use crate::text::clean;
use std::cmp::Ordering;
use std::fmt;

/// The identity of an object that Sluicegate judges.
///
/// Its [`Display`](fmt::Display) is `Kind/namespace/name` (`Kind/name` for kinds without namespaces), escaped and
/// bounded: safe in any message. The order is the stable order of the design: kind, namespace, name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    /// The kind.
    pub kind: Kind,
    /// The namespace; empty for kinds that have none, or where a reference leaves out what it must say.
    pub namespace: Box<str>,
    /// The name.
    pub name: Box<str>,
}

impl Reference {
    /// A reference; the namespace is dropped for kinds without namespaces.
    #[must_use]
    pub fn new(kind: Kind, namespace: &str, name: &str) -> Self {
        let namespace = if kind.row().namespaced { namespace } else { "" };
        Self { kind, namespace: namespace.into(), name: name.into() }
    }

    /// Whether there can be such an object: Kubernetes stores none whose name is not a DNS subdomain or whose namespace
    /// is not a DNS label (apimachinery `validation.go`). What cannot exist need not be looked for, and must not become
    /// a part of a URL.
    #[must_use]
    pub fn can_exist(&self) -> bool {
        let namespaced = self.kind.row().namespaced;
        let namespace = !namespaced || (self.namespace.len() <= 63 && is_label(&self.namespace));
        namespace && self.name.len() <= 253 && self.name.split('.').all(is_label)
    }
}

fn is_label(text: &str) -> bool {
    let alphanumeric = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.first().is_some_and(alphanumeric)
        && bytes.last().is_some_and(alphanumeric)
        && bytes.iter().all(|byte| alphanumeric(byte) || *byte == b'-')
}

impl Ord for Reference {
    fn cmp(&self, other: &Self) -> Ordering {
        let names = || in_words(self.namespace.as_bytes(), other.namespace.as_bytes());
        self.kind.cmp(&other.kind).then_with(names).then_with(|| in_words(self.name.as_bytes(), other.name.as_bytes()))
    }
}

impl PartialOrd for Reference {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares as bytes compare, eight at a time: in the guest `memcmp` takes one after the other (wasi-libc), and finding
/// objects by references was a third of its time.
fn in_words(a: &[u8], b: &[u8]) -> Ordering {
    let (mut left, mut right) = (a, b);
    while let (Some((one, after)), Some((other, after_other))) = (left.split_first_chunk(), right.split_first_chunk()) {
        let words = (u64::from_ne_bytes(*one), u64::from_ne_bytes(*other));
        if words.0 != words.1 {
            return u64::from_be_bytes(*one).cmp(&u64::from_be_bytes(*other));
        }
        (left, right) = (after, after_other);
    }
    for (one, other) in left.iter().zip(right) {
        if one != other {
            return one.cmp(other);
        }
    }
    left.len().cmp(&right.len())
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/", self.kind)?;
        if self.kind.row().namespaced {
            write!(f, "{}/", clean(&self.namespace, 63))?;
        }
        // 253 is the longest name Kubernetes stores.
        write!(f, "{}", clean(&self.name, 253))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("ns", "a", true)]
    #[case("ns", "a.b-c.9", true)]
    #[case("n-9", "9", true)]
    #[case("", "a", false)]
    #[case("ns", "", false)]
    #[case("n.s", "a", false)]
    #[case("ns", "A", false)]
    #[case("ns", "a..b", false)]
    #[case("ns", "a.", false)]
    #[case("ns", "-a", false)]
    #[case("ns", "a-", false)]
    #[case("ns", "a_b", false)]
    #[case("ns", "../../secrets/x", false)]
    #[case("ns/x", "a", false)]
    #[case("ns", "a?watch=true", false)]
    #[case("ns", "a\u{0}", false)]
    #[case("ns", "ä", false)]
    fn only_what_kubernetes_stores_can_exist(#[case] namespace: &str, #[case] name: &str, #[case] can: bool) {
        assert_eq!(Reference::new(Kind::Kustomization, namespace, name).can_exist(), can);
    }

    #[test]
    fn names_are_bounded_and_some_kinds_have_no_namespace() {
        let long = |namespace: usize, name: usize| {
            Reference::new(Kind::Kustomization, &"n".repeat(namespace), &"a".repeat(name)).can_exist()
        };
        assert_eq!([long(63, 253), long(64, 253), long(63, 254)], [true, false, false]);
        assert!(Reference::new(Kind::Package, "", "a").can_exist());
    }

    proptest::proptest! {
        #[test]
        fn words_compare_as_bytes_do(a in "[ab-]{0,20}", b in "[ab-]{0,20}", common in "[a-z]{0,20}") {
            let (a, b) = (format!("{common}{a}"), format!("{common}{b}"));
            proptest::prop_assert_eq!(in_words(a.as_bytes(), b.as_bytes()), a.cmp(&b));
        }
    }
}
