//! Identifies states of the file of an embedded database, for caching.

/// An opaque state of the database file, returned by
/// [`Store::file_state`](crate::Store::file_state). Every commit of any process changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileState(u64);

impl FileState {
    pub(crate) const fn new(changes: u64) -> Self {
        Self(changes)
    }
}
