//! What is found only among all held objects.

use crate::object::Reference;
use std::collections::{BTreeMap, BTreeSet};

/// What each held object waits for first.
pub type Roots = BTreeMap<Reference, Reference>;

/// Held objects that wait for each other, each loop once, beginning with its first member in the stable order.
///
/// `roots` has, for each held object, the object at which its judgement ended. Where that is held as well, it is no end:
/// it waits for its own.
#[must_use]
pub fn held_loops(roots: &Roots) -> Vec<Vec<Reference>> {
    let mut done: BTreeSet<&Reference> = BTreeSet::new();
    let mut loops = Vec::new();
    for start in roots.keys() {
        let mut path: Vec<&Reference> = Vec::new();
        let mut here = start;
        while done.insert(here) {
            path.push(here);
            match roots.get_key_value(here).map(|(_, root)| root) {
                Some(next) if roots.contains_key(next) => here = next,
                _ => break,
            }
        }
        // The path ran into itself, or into what was looked at before.
        if let Some(at) = path.iter().position(|member| roots.get(*path.last().unwrap_or(member)) == Some(*member)) {
            let mut members: Vec<Reference> = path.iter().skip(at).map(|member| (*member).clone()).collect();
            let first = members.iter().enumerate().min_by_key(|(_, member)| *member).map_or(0, |(index, _)| index);
            members.rotate_left(first);
            loops.push(members);
        }
    }
    loops.sort();
    loops
}

/// The object that a held object waits for in the end: the first one on the way that is not held itself. `None` where the
/// way runs in a loop, or the object is not held.
#[must_use]
pub fn root_of<'r>(object: &Reference, roots: &'r Roots) -> Option<&'r Reference> {
    let mut here = roots.get(object)?;
    for _ in 0..roots.len() {
        match roots.get(here) {
            Some(next) => here = next,
            None => return Some(here),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Kind;
    use rstest::rstest;

    fn object(name: &str) -> Reference {
        Reference::new(Kind::Kustomization, "ns", name)
    }

    fn roots(text: &str) -> Roots {
        let pairs = text.split_whitespace().filter_map(|pair| pair.split_once('>'));
        pairs.map(|(from, to)| (object(from), object(to))).collect()
    }

    #[rstest]
    #[case("", "")]
    #[case("a>b", "")]
    #[case("a>b b>c", "")]
    #[case("a>b b>a", "a b")]
    #[case("b>a a>b", "a b")]
    #[case("x>a a>b b>c c>a", "a b c")]
    #[case("a>a", "a")]
    #[case("a>b b>a c>d d>c e>a", "a b|c d")]
    #[case("z>c c>b b>c", "b c")]
    fn finds_loops(#[case] held: &str, #[case] expected: &str) {
        let loops = held_loops(&roots(held));
        let shown: Vec<String> =
            loops.iter().map(|members| members.iter().map(|m| &*m.name).collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(shown.join("|"), expected);
    }

    #[rstest]
    #[case("a>b", Some("b"))]
    #[case("a>b b>c c>d", Some("d"))]
    #[case("a>b b>a", None)]
    #[case("a>b b>c c>b", None)]
    #[case("x>y", None)]
    fn finds_roots(#[case] held: &str, #[case] expected: Option<&str>) {
        let roots = roots(held);
        assert_eq!(root_of(&object("a"), &roots).map(|root| &*root.name), expected);
    }
}
