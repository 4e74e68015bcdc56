//! Opens the file of an embedded database. Checks that it belongs to this program, and that it is
//! the file that the running server, if any, has open.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Error, Result, bail, ensure};
use data_encoding::HEXLOWER;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::{corrupt_message, is_corrupt};
use crate::application_id::{self, DatabaseOwner};
use crate::file::{DatabaseMissing, find_access_error};
use crate::lock::{check_server_files, resolve_links};
use crate::migrate::DatabaseUnreleased;
use crate::random::random;

/// Minimum size of an SQLite database, in bytes.
const MIN_BYTES: u64 = 512;
/// Timeout for a lock on the file by another process.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// Determines what happens if there is no database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IfMissing {
    Create,
    Refuse,
}

/// Error that the file is a database of another program.
#[derive(Debug, thiserror::Error)]
#[error("there is no signpost database at {0}: the file is a database of another program; choose another file")]
struct ForeignDatabase(String);

/// Error that the file is too short to be a database.
#[derive(Debug, thiserror::Error)]
#[error(
    "{file} has {bytes} bytes and is no database: restore a backup, or delete the file if nothing was ever stored in it"
)]
struct TooShort {
    file: String,
    bytes: u64,
}

/// Opens the first connection to a database file.
///
/// # Errors
/// Returns [`DatabaseMissing`] if there is no database and none should be created. Returns an error
/// if the file is not a database, belongs to another program or differs from the file that the
/// server has open, or if the operating system denies access.
pub(super) fn open_first(file: &str, if_missing: IfMissing) -> Result<Connection> {
    if file == ":memory:" {
        return connect(file);
    }
    check_server_files(Path::new(file))?;
    if !has_database(file)? {
        ensure!(if_missing == IfMissing::Create, DatabaseMissing(file.to_owned()));
        create(Path::new(file)).with_context(|| cannot_open(file))?;
    }
    let connection = open(file)?;
    if find_owner(&connection, file)? == DatabaseOwner::Unclaimed && if_missing == IfMissing::Refuse {
        bail!(DatabaseMissing(file.to_owned()));
    }
    configure(&connection).map_err(|error| open_error(error, file))?;
    // The files may have been replaced since the first check. Nothing has been written yet.
    check_server_files(Path::new(file))?;
    Ok(connection)
}

/// Opens a further connection to an open database file, or to a database in memory.
pub(super) fn connect(file: &str) -> Result<Connection> {
    let connection = open(file)?;
    configure(&connection).map_err(|error| open_error(error, file))?;
    Ok(connection)
}

/// Returns `true` if the file exists and is not empty, or if the operating system does not report
/// its size.
///
/// # Errors
/// Returns an error if the file is too short to be a database.
pub(crate) fn has_database(file: &str) -> Result<bool> {
    match fs::metadata(file) {
        Err(error) => Ok(error.kind() != ErrorKind::NotFound),
        Ok(found) if found.is_file() && found.len() < MIN_BYTES => {
            bail!(TooShort { file: file.to_owned(), bytes: found.len() })
        }
        Ok(_) => Ok(true),
    }
}

/// Returns the owner of a database that this program may use: this program, or none yet.
///
/// # Errors
/// Returns [`DatabaseUnreleased`] if an unreleased version created the database. Returns an error
/// if another program created it or if it cannot be read.
pub(crate) fn find_owner(connection: &Connection, file: &str) -> Result<DatabaseOwner> {
    let owner = DatabaseOwner::read(connection).map_err(|error| open_error(error.into(), file))?;
    ensure!(owner != DatabaseOwner::Unreleased, DatabaseUnreleased);
    ensure!(owner != DatabaseOwner::Other, ForeignDatabase(file.to_owned()));
    Ok(owner)
}

/// Creates a database without tables under a temporary name and renames it, so that a file with the
/// final name is never incomplete. If another process creates the file concurrently, that file is
/// used.
fn create(path: &Path) -> Result<()> {
    let path = resolve_links(path)?;
    let new = path.with_added_extension(format!("new-{}", HEXLOWER.encode(&random::<8>())));
    let created = create_empty(&new).and_then(|()| publish(&new, &path));
    drop(fs::remove_file(&new));
    created
}

fn create_empty(new: &Path) -> Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_CREATE;
    let created = Connection::open_with_flags(new, flags).and_then(|connection| {
        application_id::write_id(&connection)?;
        connection.close().map_err(|(_, error)| error)
    });
    created.map_err(|error| with_os_reason(error.into(), new))
}

fn publish(new: &Path, path: &Path) -> Result<()> {
    match fs::hard_link(new, path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(_) => copy(new, path),
    }
}

/// Copies the file, for file systems without hard links.
fn copy(new: &Path, path: &Path) -> Result<()> {
    match fs::File::create_new(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        created => Ok(created?.write_all(&fs::read(new)?)?),
    }
}

fn open(file: &str) -> Result<Connection> {
    let create = if file == ":memory:" { OpenFlags::SQLITE_OPEN_CREATE } else { OpenFlags::empty() };
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | create;
    let connection = Connection::open_with_flags(file, flags).map_err(|error| open_error(error.into(), file))?;
    // Other processes may write to the file while a server runs.
    connection.busy_timeout(LOCK_TIMEOUT)?;
    Ok(connection)
}

fn configure(connection: &Connection) -> Result<()> {
    let start = Instant::now();
    while let Err(error) = connection.pragma_update(None, "journal_mode", "WAL") {
        // Another process is creating the database, and SQLite does not wait for it at this point.
        let is_busy = error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy);
        ensure!(is_busy && start.elapsed() < LOCK_TIMEOUT, error);
        thread::sleep(Duration::from_millis(10));
    }
    // An acknowledged login must survive a power failure, not only a crash. Group commit makes this
    // affordable.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "wal_autocheckpoint", 4000)?;
    connection.set_prepared_statement_cache_capacity(128);
    Ok(())
}

/// Adds the path, and the reason if known, to an error of opening a file.
pub(crate) fn open_error(error: Error, file: &str) -> Error {
    if is_corrupt(error.downcast_ref()) {
        return error.context(corrupt_message(file));
    }
    with_os_reason(error, Path::new(file)).context(cannot_open(file))
}

fn cannot_open(file: &str) -> String {
    format!("cannot open the database {file}")
}

/// Adds the reason from the operating system to an SQLite error without a reason.
fn with_os_reason(error: Error, path: &Path) -> Error {
    let code = error.downcast_ref::<rusqlite::Error>().and_then(rusqlite::Error::sqlite_error_code);
    if !is_refused(code) {
        return error;
    }
    match find_access_error(path) {
        Some(reason) => error.context(reason),
        None => error,
    }
}

/// Returns `true` if the operating system refused to open, read or write a file.
pub(crate) fn is_refused(code: Option<ErrorCode>) -> bool {
    matches!(
        code,
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::SystemIoFailure)
    )
}
