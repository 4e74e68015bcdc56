//! Backs up an embedded database by copying a consistent snapshot to a new file.

use std::fs::{self, Metadata};
use std::path::Path;

use anyhow::{Context, Error, Result, bail, ensure};
use rusqlite::{Connection, OpenFlags};

use crate::application_id::DatabaseOwner;
use crate::file::{DatabaseMissing, companion_paths};
use crate::lock::{RecordNotReadable, check_server_files};
use crate::sqlite::{corrupt_message, find_owner, has_database, is_corrupt, is_refused, open_error};

/// The first query of a connection, which fails if SQLite cannot open the -wal and -shm files.
const PROBE: &str = "SELECT COUNT(*) FROM sqlite_master";

/// An open database that is being backed up.
struct Source {
    connection: Connection,
    /// The metadata of the file before the copy, if the database is read without locks.
    before: Option<Metadata>,
}

/// Copies the database `file` to the new file `to`, and returns the size of the copy in bytes. The
/// copy is written to a temporary file in the directory of `to` and renamed once it is on disk, so
/// that a file named `to` is always complete.
pub(super) fn backup(file: &Path, to: &Path) -> Result<u64> {
    let from = file.display();
    let shown = to.display();
    if to.exists() {
        bail!("{shown} already exists: choose another name");
    }
    let partial = to.with_added_extension("partial");
    // Left by an interrupted backup.
    if partial.exists() {
        fs::remove_file(&partial).with_context(|| format!("cannot replace {}", partial.display()))?;
    }
    let source = Source::open(file)?;
    let owner = find_owner(&source.connection, &from.to_string())?;
    ensure!(owner == DatabaseOwner::Signpost, DatabaseMissing(from.to_string()));
    let name = partial.to_str().context("the name of a backup must be text")?;
    let copied = source.connection.execute("VACUUM INTO ?1", [name]).map_err(|error| {
        let why =
            if is_corrupt(Some(&error)) { corrupt_message(&from.to_string()) } else { format!("cannot write {shown}") };
        Error::new(error).context(why)
    });
    if let Err(error) = copied.and_then(|_| source.check_unchanged(file)) {
        drop(fs::remove_file(&partial));
        return Err(error);
    }
    #[cfg(unix)]
    fs::set_permissions(&partial, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    let copy = fs::OpenOptions::new().write(true).open(&partial)?;
    copy.sync_all()?;
    // Fails if another process created the file in the meantime.
    fs::hard_link(&partial, to).with_context(|| format!("cannot write {shown}"))?;
    fs::remove_file(&partial)?;
    Ok(copy.metadata()?.len())
}

impl Source {
    /// Opens the database, which may be on a read-only file system.
    fn open(file: &Path) -> Result<Self> {
        let shown = file.to_str().context("the name of a database must be text")?;
        match check_server_files(file) {
            Ok(()) => {}
            // It is unknown which files a running server has open, so no -shm file is opened or
            // created.
            Err(error) if error.is::<RecordNotReadable>() && !has_log(file) => {
                return Self::open_without_locks(file, shown);
            }
            Err(error) => return Err(error),
        }
        ensure!(has_database(shown)?, DatabaseMissing(shown.to_owned()));
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let error = match probe(Connection::open_with_flags(file, flags)) {
            Ok(connection) => return Ok(Self { connection, before: None }),
            Err(error) => error,
        };
        if !is_refused(error.sqlite_error_code()) {
            return Err(open_error(error.into(), shown));
        }
        // The -shm file cannot be created, for example on a read-only file system.
        if has_log(file) {
            return Err(open_error(error.into(), shown)).context(
                "its -wal file has commits that are not in the database file: copy both to a folder that can be written, \
                 and back up from there with --database-url sqlite:FILE",
            );
        }
        Self::open_without_locks(file, shown)
    }

    /// Opens a database that has no -wal file, so that all commits are in the main file and no
    /// server is writing.
    fn open_without_locks(file: &Path, shown: &str) -> Result<Self> {
        let before = fs::metadata(file).with_context(|| format!("cannot read {shown}"))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
        let connection = probe(Connection::open_with_flags(immutable_uri(shown), flags));
        let connection = connection.map_err(|error| open_error(error.into(), shown))?;
        Ok(Self { connection, before: Some(before) })
    }

    /// Checks that the file was not modified while it was read without locks. The same file system
    /// may be mounted writable elsewhere.
    fn check_unchanged(&self, file: &Path) -> Result<()> {
        let Some(before) = &self.before else { return Ok(()) };
        let now = fs::metadata(file).with_context(|| format!("cannot read {}", file.display()))?;
        let is_same = before.len() == now.len() && before.modified()? == now.modified()?;
        ensure!(
            is_same && !has_log(file),
            "{} was written to while it was copied: run the backup where its server runs",
            file.display()
        );
        Ok(())
    }
}

fn probe(opened: rusqlite::Result<Connection>) -> rusqlite::Result<Connection> {
    let connection = opened?;
    connection.query_row(PROBE, [], |_| Ok(()))?;
    Ok(connection)
}

/// Returns `true` if some commits are only in the -wal file.
fn has_log(file: &Path) -> bool {
    let [log, _] = companion_paths(file);
    fs::metadata(log).is_ok_and(|log| log.len() > 0)
}

/// Returns the SQLite URI that opens a file as immutable, without -wal and -shm files.
fn immutable_uri(file: &str) -> String {
    let escaped = file.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    // Without an authority, a path that starts with two slashes would be parsed as a host.
    let authority = if escaped.starts_with('/') { "//" } else { "" };
    format!("file:{authority}{escaped}?immutable=1")
}
