//! Lists of bounded length for import reports.

/// Maximum number of items of one kind that an [`Import`](super::Import) lists. Further items are only counted.
pub const MAX_LISTED: usize = 1_000;

/// The first [`MAX_LISTED`] items of a list, and their total number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truncated<T> {
    /// The first items.
    pub first: Vec<T>,
    /// The total number of items.
    pub total: usize,
}

impl<T> Default for Truncated<T> {
    fn default() -> Self {
        Self { first: Vec::new(), total: 0 }
    }
}

impl<T> Truncated<T> {
    pub(super) fn push(&mut self, item: T) {
        self.total += 1;
        if self.first.len() < MAX_LISTED {
            self.first.push(item);
        }
    }
}
