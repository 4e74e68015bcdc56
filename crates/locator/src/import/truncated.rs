//! Lists that end where a report would become too long.

/// Most items of one kind that an [`Import`](super::Import) lists; beyond it they are only counted.
pub const MAX_LISTED: usize = 1_000;

/// Things to report: the first [`MAX_LISTED`] of them, and how many there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truncated<T> {
    /// The first ones.
    pub first: Vec<T>,
    /// How many there are in all.
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
