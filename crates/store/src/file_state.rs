//! States of the file of an embedded database.

/// A state of the whole file. It changes with every commit of this process or another
/// ([`Store::file_state`](crate::Store::file_state)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileState(u64);

impl FileState {
    pub(crate) const fn new(changes: u64) -> Self {
        Self(changes)
    }
}
