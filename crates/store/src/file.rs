//! Checks the files of an embedded database: the main file, the write-ahead log and its index.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Error that no embedded database exists at this path.
#[derive(Debug, thiserror::Error)]
#[error("there is no signpost database at {0}")]
pub struct DatabaseMissing(pub String);

/// Minimum free space of the file system, in bytes. A checkpoint of the write-ahead log needs free
/// space.
const MIN_FREE: u64 = 1 << 20;

/// The files of an open embedded database, for detecting moved, deleted or replaced files.
#[derive(Clone, Debug)]
pub(super) struct DatabaseFile {
    database: OpenFile,
    /// The -wal file, the write-ahead log. It contains the latest commits until a checkpoint copies
    /// them to the main file.
    log: OpenFile,
    /// The -shm file, the index of the write-ahead log. It is shared memory of all processes that
    /// have the database open. A process that creates a new index does not see the commits and
    /// locks of other processes.
    index: OpenFile,
}

/// A file, with its identity at the time it was opened.
#[derive(Clone, Debug)]
struct OpenFile {
    path: PathBuf,
    /// `None` if the operating system does not provide file identities.
    identity: Option<Identity>,
}

/// The device and inode numbers of a file.
type Identity = (u64, u64);

/// The identities of the files that a server has open, as it records them for other processes. A
/// field is `None` if the file did not exist or the operating system does not provide file
/// identities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileIdentities {
    database: Option<Identity>,
    #[serde(rename = "wal")]
    log: Option<Identity>,
    #[serde(rename = "shm")]
    index: Option<Identity>,
}

/// The reason an open file is no longer at its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileChange {
    Missing,
    Replaced,
}

impl DatabaseFile {
    /// Records the identities of the files of a database that was just opened.
    pub(super) fn opened(path: &Path) -> Self {
        let [log, index] = companion_paths(path);
        Self { database: OpenFile::at(path.to_owned()), log: OpenFile::at(log), index: OpenFile::at(index) }
    }

    /// Returns the files at a path with the identities that a server recorded.
    pub(super) fn with(path: &Path, identities: FileIdentities) -> Self {
        let [log, index] = companion_paths(path);
        let FileIdentities { database, log: log_identity, index: index_identity } = identities;
        Self {
            database: OpenFile { path: path.to_owned(), identity: database },
            log: OpenFile { path: log, identity: log_identity },
            index: OpenFile { path: index, identity: index_identity },
        }
    }

    /// Returns the identities of the files.
    pub(super) fn identities(&self) -> FileIdentities {
        FileIdentities { database: self.database.identity, log: self.log.identity, index: self.index.identity }
    }

    /// Checks that the files can still be written. Writes to a moved or deleted file would be lost
    /// at the next start.
    ///
    /// # Errors
    /// Returns the reason if the files cannot be written.
    pub(super) fn check(&self) -> Result<(), &'static str> {
        self.check_identities()?;
        match free_bytes(&self.database.path) {
            Some(free) if free < MIN_FREE => Err("the disk is full"),
            _ => Ok(()),
        }
    }

    /// Checks that the files at their paths are still the open files.
    ///
    /// # Errors
    /// Returns a description of the file that was replaced, moved or deleted.
    pub(super) fn check_identities(&self) -> Result<(), &'static str> {
        match self.database.change() {
            Some(FileChange::Missing) => return Err("the database file was moved or deleted"),
            Some(FileChange::Replaced) => return Err("the database file was replaced by another"),
            None => {}
        }
        match self.log.change() {
            Some(FileChange::Missing) => return Err("the -wal file of the database was moved or deleted"),
            Some(FileChange::Replaced) => return Err("the -wal file of the database was replaced by another"),
            None => {}
        }
        match self.index.change() {
            Some(FileChange::Missing) => Err("the -shm file of the database was moved or deleted"),
            Some(FileChange::Replaced) => Err("the -shm file of the database was replaced by another"),
            None => Ok(()),
        }
    }
}

/// Returns the paths of the -wal and -shm files. They are next to the database file itself, not
/// next to a symbolic link to it.
pub(super) fn companion_paths(database: &Path) -> [PathBuf; 2] {
    let database = database.canonicalize().unwrap_or_else(|_| database.to_owned());
    ["-wal", "-shm"].map(|end| {
        let mut path = database.clone().into_os_string();
        path.push(end);
        path.into()
    })
}

impl OpenFile {
    fn at(path: PathBuf) -> Self {
        Self { identity: identity(&path), path }
    }

    fn change(&self) -> Option<FileChange> {
        match (self.identity, identity(&self.path)) {
            (Some(_), None) => Some(FileChange::Missing),
            (Some(opened), Some(found)) if opened != found => Some(FileChange::Replaced),
            _ => None,
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

/// Returns the free space of a file system in bytes, including space that is reserved for the
/// administrator.
#[cfg(unix)]
fn free_bytes(path: &Path) -> Option<u64> {
    let stats = rustix::fs::statvfs(path).ok().filter(|stats| stats.f_blocks > 0)?;
    stats.f_bfree.checked_mul(stats.f_frsize)
}

#[cfg(not(unix))]
fn free_bytes(_: &Path) -> Option<u64> {
    None
}

/// Returns the space in bytes that is available to this process on the file system of a path, if
/// known.
#[cfg(unix)]
#[must_use]
pub fn available_bytes(path: &Path) -> Option<u64> {
    let stats = rustix::fs::statvfs(path).ok().filter(|stats| stats.f_blocks > 0)?;
    stats.f_bavail.checked_mul(stats.f_frsize)
}

/// Returns `None`, because this platform does not report the available space.
#[cfg(not(unix))]
#[must_use]
pub fn available_bytes(_: &Path) -> Option<u64> {
    None
}

/// Returns the reason the operating system denies access to the files of a database, if any. Paths
/// follow the first colon, because only the text before the colon is public.
#[cfg(unix)]
pub(super) fn find_access_error(database: &Path) -> Option<String> {
    use rustix::fs::{Access, access};
    use rustix::io::Errno;

    if let Err(error) = std::fs::File::open("/dev/null")
        && [Some(Errno::MFILE), Some(Errno::NFILE)].contains(&Errno::from_io_error(&error))
    {
        return Some("too many open files: raise the limit (ulimit -n, LimitNOFILE=)".to_owned());
    }
    let folder = match database.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if folder.exists() && !folder.is_dir() {
        return Some(format!("a part of the path is no folder: {}", folder.display()));
    }
    let [log, index] = companion_paths(database);
    let need = Access::READ_OK | Access::WRITE_OK;
    for (path, need) in [(folder, need | Access::EXEC_OK), (database, need), (&log, need), (&index, need)] {
        let shown = path.display();
        match access(path, need) {
            Ok(()) => {}
            // The -wal and -shm files may be missing, because SQLite creates them on demand.
            Err(Errno::NOENT) if path != folder => {}
            Err(Errno::NOENT) => return Some(format!("the folder does not exist: {shown}")),
            Err(Errno::NOTDIR) => return Some(format!("a part of the path is no folder: {shown}")),
            Err(Errno::ROFS) => return Some(format!("the file system is read-only: {shown} cannot be written")),
            Err(Errno::ACCESS | Errno::PERM) => {
                return Some(format!("permission denied: this user may not read and write {shown}"));
            }
            Err(error) => return Some(format!("the system refuses: {shown}: {error}")),
        }
    }
    database.is_dir().then(|| format!("it is a folder: {}", database.display()))
}

#[cfg(not(unix))]
pub(super) fn find_access_error(_: &Path) -> Option<String> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn moved_file_is_detected() {
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

    #[test]
    fn operating_system_error_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let [file, database] = ["file", "database"].map(|name| folder.path().join(name));
        fs::write(&file, "").unwrap();
        fs::create_dir(&database).unwrap();
        for (path, expected) in [
            (folder.path().join("new"), None),
            (file.clone(), None),
            (file.join("below"), Some("a part of the path is no folder")),
            (folder.path().join("none/database"), Some("the folder does not exist")),
            (database, Some("it is a folder")),
        ] {
            let reason = find_access_error(&path);
            let reason = reason.as_deref().map(|reason| reason.split(':').next().unwrap_or_default());
            assert_eq!(reason, expected, "{}", path.display());
        }
    }

    #[test]
    fn missing_companion_file_is_detected() {
        let folder = tempfile::tempdir().unwrap();
        let [path, link, aside] = ["database", "link", "aside"].map(|name| folder.path().join(name));
        fs::write(&path, "").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        for (end, gone, replaced) in [
            (
                "-wal",
                "the -wal file of the database was moved or deleted",
                "the -wal file of the database was replaced by another",
            ),
            (
                "-shm",
                "the -shm file of the database was moved or deleted",
                "the -shm file of the database was replaced by another",
            ),
        ] {
            let companion = folder.path().join(format!("database{end}"));
            // A -wal or -shm file that did not exist may be created.
            let before = DatabaseFile::opened(&path);
            fs::write(&companion, "").unwrap();
            let opened = DatabaseFile::opened(&path);
            let recorded = DatabaseFile::with(&link, opened.identities());
            for file in [&opened, &DatabaseFile::opened(&link), &recorded] {
                fs::rename(&companion, &aside).unwrap();
                assert_eq!(file.check(), Err(gone));
                fs::write(&companion, "").unwrap();
                assert_eq!(file.check(), Err(replaced));
                assert_eq!(before.check(), Ok(()));
                fs::rename(&aside, &companion).unwrap();
                assert_eq!(file.check(), Ok(()));
            }
        }
    }
}
