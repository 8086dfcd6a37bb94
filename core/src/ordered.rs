//! Ordered sets and maps, filled one by one, and a small sort.
//!
//! `collect` sorts with a stable sort before it builds the tree: five kilobytes of the compiled policy for each type that
//! is ever collected. One insertion after the other is none.

use std::collections::{BTreeMap, BTreeSet};

/// The set of what the iterator yields.
pub(crate) fn set_of<T: Ord>(items: impl IntoIterator<Item = T>) -> BTreeSet<T> {
    let mut set = BTreeSet::new();
    for item in items {
        set.insert(item);
    }
    set
}

/// The map of what the iterator yields.
pub(crate) fn map_of<K: Ord, V>(items: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    for (key, value) in items {
        map.insert(key, value);
    }
    map
}

/// Sorts, not stably: a heap sort, in place. The standard library's sorts are faster, and three kilobytes of the compiled
/// policy for each type; what is sorted here is small.
pub(crate) fn sort_by<T>(items: &mut [T], is_less: impl Fn(&T, &T) -> bool) {
    let sift = |items: &mut [T], mut at: usize, end: usize| {
        loop {
            let mut child = 2 * at + 1;
            if child >= end {
                return;
            }
            let right = items.get(child).zip(items.get(child + 1)).filter(|_| child + 1 < end);
            if right.is_some_and(|(left, right)| is_less(left, right)) {
                child += 1;
            }
            if !items.get(at).zip(items.get(child)).is_some_and(|(parent, child)| is_less(parent, child)) {
                return;
            }
            items.swap(at, child);
            at = child;
        }
    };
    let length = items.len();
    for at in (0..length / 2).rev() {
        sift(items, at, length);
    }
    for end in (1..length).rev() {
        items.swap(0, end);
        sift(items, 0, end);
    }
}

/// As [`sort_by`], in the order of the type.
pub(crate) fn sort<T: Ord>(items: &mut [T]) {
    sort_by(items, |a, b| a < b);
}

#[cfg(test)]
mod tests {
    use super::{set_of, sort};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts_as_the_standard_library_does(mut items in proptest::collection::vec(any::<i8>(), 0..80)) {
            let mut expected = items.clone();
            expected.sort_unstable();
            sort(&mut items);
            prop_assert_eq!(items, expected);
        }

        #[test]
        fn a_set_is_what_collect_makes(items in proptest::collection::vec(any::<i8>(), 0..80)) {
            let collected: std::collections::BTreeSet<i8> = items.iter().copied().collect();
            prop_assert_eq!(set_of(items), collected);
        }
    }
}
