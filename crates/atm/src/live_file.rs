//! A value that is loaded from a file and reloaded when the file changes.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use arc_swap::ArcSwap;

/// A value that is loaded from a file. It is replaced atomically, so that a request sees a single version.
#[derive(Debug)]
pub(crate) struct LiveFile<T> {
    value: ArcSwap<T>,
    /// Path of the file; `None` if the value is fixed.
    path: Option<PathBuf>,
    /// The modification time of the file when it was last read; `None` if the file did not exist.
    modified_at: Mutex<Option<SystemTime>>,
}

impl<T> LiveFile<T> {
    /// Creates a value that never changes.
    pub(crate) fn fixed(value: T) -> Self {
        Self { value: ArcSwap::from_pointee(value), path: None, modified_at: Mutex::new(None) }
    }

    /// Loads the value with `read`. The file need not exist if `read` accepts a missing file.
    ///
    /// # Errors
    /// The error of `read`.
    pub(crate) fn open<E>(path: PathBuf, read: impl FnOnce(&Path) -> Result<T, E>) -> Result<Self, E> {
        let modified_at = Mutex::new(modified_at(&path));
        let value = ArcSwap::from_pointee(read(&path)?);
        Ok(Self { value, path: Some(path), modified_at })
    }

    /// Returns the current value.
    pub(crate) fn now(&self) -> Arc<T> {
        self.value.load_full()
    }

    /// Reloads the file if it was modified, created or deleted since the last call. Returns the new value, if it
    /// changed.
    ///
    /// # Errors
    /// The error of `read`, once for each change of the file. The previous value remains in use.
    pub(crate) fn reload_if_changed<E>(&self, read: impl FnOnce(&Path) -> Result<T, E>) -> Result<Option<Arc<T>>, E> {
        let Some(path) = &self.path else { return Ok(None) };
        let found = modified_at(path);
        let mut known = self.modified_at.lock().unwrap_or_else(PoisonError::into_inner);
        if found == *known {
            return Ok(None);
        }
        *known = found;
        let value = Arc::new(read(path)?);
        self.value.store(Arc::clone(&value));
        Ok(Some(value))
    }
}

/// Returns the modification time of a file, or `None` if it does not exist.
fn modified_at(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}
