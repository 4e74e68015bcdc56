//! Limits an embedded database to one server process, because two would deliver every event twice.
//! The lock file also records the files that the server has open, so that command-line commands do
//! not open different files.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::file::{DatabaseFile, FileIdentities};

/// Maximum number of symbolic links to follow, equal to the limit of Linux.
const MAX_LINKS: usize = 40;
/// Maximum size of the recorded file identities, in bytes.
const MAX_RECORD_BYTES: u64 = 4096;

/// Error that this process may not read the lock file with the recorded file identities.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {}: run the command as the user of the server", .0.display())]
pub(super) struct RecordNotReadable(PathBuf);

/// An exclusive lock on an embedded database. Dropping it releases the lock.
#[derive(Debug)]
pub struct DatabaseLock {
    file: File,
    database: PathBuf,
}

/// Locks an embedded database for this process. Different paths to the same file share a lock.
///
/// # Errors
/// Returns an error if another process has the lock or the lock file cannot be created.
pub fn lock(database: &Path) -> Result<DatabaseLock> {
    let shown = database.display();
    try_lock(database)?.with_context(|| {
        format!("another server is using the database {shown}: stop it, or choose another folder with --data-dir")
    })
}

/// Locks an embedded database for this process. Returns `None` if another process has the lock.
///
/// # Errors
/// Returns an error if the lock file cannot be created.
pub fn try_lock(database: &Path) -> Result<Option<DatabaseLock>> {
    let shown = database.display();
    let cannot =
        || format!("cannot create a lock file next to the database {shown}: choose another folder with --data-dir");
    let database = resolve_links(database).with_context(cannot)?;
    // Another process that has the lock may have recorded its files, so the lock file is not
    // truncated before it is locked.
    let options = OpenOptions::new().write(true).create(true).truncate(false).open(lock_file(&database));
    let file = options.with_context(cannot)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => {
            return Err(error).with_context(|| format!("cannot lock the database {shown}"));
        }
    }
    let lock = DatabaseLock { file, database };
    lock.clear_record()?;
    Ok(Some(lock))
}

impl DatabaseLock {
    /// Records the identities of the open database files for other processes.
    ///
    /// # Errors
    /// Returns an error if the lock file cannot be written.
    pub fn record_files(&self) -> Result<()> {
        let record = serde_json::to_vec(&DatabaseFile::opened(&self.database).identities())?;
        let written = (&self.file).write_all(&record);
        written.with_context(|| format!("cannot write {}", lock_file(&self.database).display()))
    }

    /// Deletes the recorded file identities. Must be called before the database files are closed.
    ///
    /// # Errors
    /// Returns an error if the lock file cannot be written.
    pub fn clear_record(&self) -> Result<()> {
        let cleared = self.file.set_len(0);
        cleared.with_context(|| format!("cannot write {}", lock_file(&self.database).display()))
    }
}

impl Drop for DatabaseLock {
    /// Unlocks the file explicitly. A forked child process has a copy of the descriptor until it
    /// calls `exec`, so closing only this descriptor would leave the file locked until then; see
    /// flock(2).
    fn drop(&mut self) {
        // If unlocking fails, the lock is released when the last descriptor is closed.
        drop(self.file.unlock());
    }
}

/// Checks that the database files are the files that the running server, if any, has open. A
/// process that opens a different -shm file does not see the server's locks, so both would write to
/// the same locations and corrupt the database.
///
/// # Errors
/// Returns an error with the remedy if a file was replaced or is missing, or [`RecordNotReadable`]
/// if another user owns the lock file.
pub(super) fn check_server_files(database: &Path) -> Result<()> {
    let Ok(database) = resolve_links(database) else { return Ok(()) };
    let path = lock_file(&database);
    let mut record = Vec::new();
    match File::open(&path) {
        Err(error) if [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&error.kind()) => return Ok(()),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            return Err(error).context(RecordNotReadable(path));
        }
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        Ok(file) => file.take(MAX_RECORD_BYTES).read_to_end(&mut record)?,
    };
    if record.is_empty() {
        return Ok(());
    }
    let checked = match serde_json::from_slice::<FileIdentities>(&record) {
        Ok(identities) => DatabaseFile::with(&database, identities).check_identities(),
        Err(_) => Err("the files that the server has open are not known"),
    };
    let Err(reason) = checked else { return Ok(()) };
    // A server that was killed leaves its recorded identities behind.
    if !is_locked(&path)? {
        return Ok(());
    }
    bail!(
        "{reason}, and a server is using the database {}: restart the server first; nothing was written",
        database.display()
    )
}

/// Returns `true` if another process has the lock.
fn is_locked(path: &Path) -> Result<bool> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    // Released when the file is closed. A server that starts at this moment cannot lock the
    // database. This only affects a restart after a server was killed and its files were replaced.
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("cannot lock {}", path.display())),
    }
}

fn lock_file(database: &Path) -> PathBuf {
    database.with_added_extension("lock")
}

/// Resolves symbolic links, even if the target does not exist yet. The lock file is in the
/// directory of the target.
pub(super) fn resolve_links(path: &Path) -> std::io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match path.canonicalize() {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            found => return found,
        }
        let Ok(target) = fs::read_link(&path) else {
            let folder = match path.parent() {
                Some(folder) if !folder.as_os_str().is_empty() => folder,
                _ => Path::new("."),
            };
            return Ok(folder.canonicalize()?.join(path.file_name().unwrap_or_default()));
        };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    Err(ErrorKind::TooManyLinks.into())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn file_has_one_lock_for_all_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let [real, link, linked, above] = ["real", "link", "linked", "above"].map(|name| folder.path().join(name));
        fs::create_dir(&above).unwrap();
        symlink("real", &link).unwrap();
        symlink("../link", above.join("link")).unwrap();
        symlink(&above, &linked).unwrap();
        // The paths share a lock both before and after the file exists.
        for _ in 0..2 {
            for names in [[&real, &link], [&link, &real], [&linked.join("link"), &real]] {
                let held = lock(names[0]).unwrap();
                assert!(lock(names[1]).unwrap_err().to_string().contains("another server"), "{names:?}");
                drop(held);
            }
            fs::write(&real, "").unwrap();
        }
        symlink("round", folder.path().join("round")).unwrap();
        assert!(lock(&folder.path().join("round")).is_err());
    }

    #[test]
    fn lock_is_released_on_drop_despite_open_copies() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("database");
        let held = lock(&database).unwrap();
        let copy = held.file.try_clone().unwrap();
        assert!(try_lock(&database).unwrap().is_none());
        drop(held);
        assert!(try_lock(&database).unwrap().is_some());
        drop(copy);
    }

    #[test]
    fn foreign_files_are_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let [database, wal, shm, aside] =
            ["database", "database-wal", "database-shm", "aside"].map(|name| folder.path().join(name));
        for file in [&database, &wal, &shm] {
            fs::write(file, "").unwrap();
        }
        for changed in [&database, &wal, &shm] {
            let server = lock(&database).unwrap();
            server.record_files().unwrap();
            // A second server that fails to lock does not delete the record.
            assert!(try_lock(&database).unwrap().is_none());
            check_server_files(&database).unwrap();
            fs::rename(changed, &aside).unwrap();
            for _ in 0..2 {
                let reason = check_server_files(&database).unwrap_err().to_string();
                assert!(reason.contains("restart the server"), "{reason}");
                fs::write(changed, "").unwrap();
            }
            server.clear_record().unwrap();
            check_server_files(&database).unwrap();
            server.record_files().unwrap();
            fs::rename(&aside, changed).unwrap();
            assert!(check_server_files(&database).is_err());
            // The server was killed.
            drop(server);
            check_server_files(&database).unwrap();
        }
    }
}
