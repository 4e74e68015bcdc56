//! The file of an embedded database, as the system sees it.

use std::path::{Path, PathBuf};

/// A file system with less than this is full, in bytes: a checkpoint of the log needs room too.
const MIN_FREE: u64 = 1 << 20;

/// The file that was opened.
#[derive(Clone, Debug)]
pub(super) struct DatabaseFile {
    path: PathBuf,
    /// None where the system does not tell files apart.
    identity: Option<Identity>,
}

/// Device and number.
type Identity = (u64, u64);

impl DatabaseFile {
    /// The file at a path, which has just been opened.
    pub(super) fn opened(path: &Path) -> Self {
        Self { path: path.to_owned(), identity: identity(path) }
    }

    /// Says why it should not be written to: what is written to a file that was moved or deleted is not found again by
    /// the next server.
    pub(super) fn check(&self) -> Result<(), &'static str> {
        match (self.identity, identity(&self.path)) {
            (Some(_), None) => return Err("the database file was moved or deleted"),
            (Some(opened), Some(found)) if opened != found => return Err("the database file was replaced by another"),
            _ => {}
        }
        match free_bytes(&self.path) {
            Some(free) if free < MIN_FREE => Err("the disk is full"),
            _ => Ok(()),
        }
    }
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Path) -> Option<Identity> {
    None
}

/// What is free for somebody, perhaps for the administrator alone: whether we may use it, a write says.
#[cfg(unix)]
fn free_bytes(path: &Path) -> Option<u64> {
    let told = rustix::fs::statvfs(path).ok().filter(|told| told.f_blocks > 0)?;
    told.f_bfree.checked_mul(told.f_frsize)
}

#[cfg(not(unix))]
fn free_bytes(_: &Path) -> Option<u64> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_that_is_not_at_its_path_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let [path, link, aside] = ["database", "link", "aside"].map(|name| folder.path().join(name));
        fs::write(&path, "").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        for name in [&path, &link] {
            let file = DatabaseFile::opened(name);
            assert_eq!(file.check(), Ok(()));
            fs::rename(&path, &aside).unwrap();
            assert_eq!(file.check(), Err("the database file was moved or deleted"));
            fs::write(&path, "").unwrap();
            assert_eq!(file.check(), Err("the database file was replaced by another"));
            fs::rename(&aside, &path).unwrap();
            assert_eq!(file.check(), Ok(()));
        }
    }
}
