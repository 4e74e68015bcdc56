//! A copy of an embedded database, as of one moment.

use std::fs;
use std::path::Path;

use anyhow::{Context, Error, Result, bail};
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::file::Missing;
use crate::sqlite::{broken, is_broken};

/// Copies `file` to `to`, which must not be there yet; returns its size in bytes. What is under that name is whole or
/// not there: it is written beside it first, and reaches the disk before it gets its name.
pub(super) fn backup(file: &Path, to: &Path) -> Result<u64> {
    let (from, shown) = (file.display(), to.display());
    if to.exists() {
        bail!("{shown} already exists: choose another name");
    }
    let partial = to.with_added_extension("partial");
    // What an earlier run left when it was cut off.
    if partial.exists() {
        fs::remove_file(&partial).with_context(|| format!("cannot replace {}", partial.display()))?;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags);
    let connection = connection.map_err(|error| match error.sqlite_error_code() {
        Some(ErrorCode::CannotOpen) => Missing(from.to_string()).into(),
        _ => Error::new(error).context(format!("cannot open the database {from}")),
    })?;
    let name = partial.to_str().context("the name of a backup must be text")?;
    if let Err(error) = connection.execute("VACUUM INTO ?1", [name]) {
        drop(fs::remove_file(&partial));
        let why = if is_broken(Some(&error)) { broken(&from.to_string()) } else { format!("cannot write {shown}") };
        return Err(error).context(why);
    }
    #[cfg(unix)]
    fs::set_permissions(&partial, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    let copy = fs::OpenOptions::new().write(true).open(&partial)?;
    copy.sync_all()?;
    // Fails where somebody else made the file meanwhile.
    fs::hard_link(&partial, to).with_context(|| format!("cannot write {shown}"))?;
    fs::remove_file(&partial)?;
    Ok(copy.metadata()?.len())
}
