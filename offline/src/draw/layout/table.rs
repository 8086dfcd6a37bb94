//! A value for each of some numbered things.

use std::ops::{Index, IndexMut};

/// The numbers are made by the layout itself.
#[derive(Clone, Debug)]
pub(super) struct Table<T>(pub(super) Vec<T>);

impl<T: Clone> Table<T> {
    pub(super) fn new(count: usize, value: T) -> Self {
        Self(vec![value; count])
    }
}

impl<T> Table<T> {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn push(&mut self, value: T) -> usize {
        self.0.push(value);
        self.0.len() - 1
    }
}

impl<T> FromIterator<T> for Table<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

#[allow(clippy::indexing_slicing, reason = "numbers come from the layout that the table is of, never from input")]
impl<T> Index<usize> for Table<T> {
    type Output = T;

    fn index(&self, number: usize) -> &T {
        &self.0[number]
    }
}

#[allow(clippy::indexing_slicing, reason = "as above")]
impl<T> IndexMut<usize> for Table<T> {
    fn index_mut(&mut self, number: usize) -> &mut T {
        &mut self.0[number]
    }
}
