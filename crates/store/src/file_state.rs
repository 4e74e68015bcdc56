//! Which state of an embedded database was read, by whoever wrote it.

/// A state of the whole file. It is another one once anybody, this process or another, committed anything
/// ([`Store::file_state`](crate::Store::file_state)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileState(u64);

impl FileState {
    pub(crate) const fn new(changes: u64) -> Self {
        Self(changes)
    }
}
