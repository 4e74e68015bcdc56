//! One server for an embedded database: two would deliver every event twice.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// How many links may lead to a file: as many as Linux follows.
const LINKS: usize = 40;

/// Takes an embedded database for this process, whichever of its names it is called by.
///
/// # Errors
/// Where another process has it, or nothing can be written beside it.
pub fn lock(database: &Path) -> Result<File> {
    let shown = database.display();
    let cannot =
        || format!("cannot create a lock file next to the database {shown}: choose another folder with --data-dir");
    let database = linked(database).with_context(cannot)?;
    let file = File::create(database.with_added_extension("lock")).with_context(cannot)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            bail!("another server is using the database {shown}: stop it, or choose another folder with --data-dir")
        }
        Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("cannot lock the database {shown}")),
    }
}

/// The file that a path leads to, which need not be there yet: then the lock stands where it will be made.
pub(super) fn linked(path: &Path) -> std::io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        match path.canonicalize() {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            found => return found,
        }
        let Ok(target) = fs::read_link(&path) else {
            let (folder, name) = (path.parent().unwrap_or(Path::new("")), path.file_name().unwrap_or_default());
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            return Ok(folder.canonicalize()?.join(name));
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
    fn a_file_has_one_lock_whatever_it_is_called() {
        let folder = tempfile::tempdir().unwrap();
        let [real, link, linked, above] = ["real", "link", "linked", "above"].map(|name| folder.path().join(name));
        fs::create_dir(&above).unwrap();
        symlink("real", &link).unwrap();
        symlink("../link", above.join("link")).unwrap();
        symlink(&above, &linked).unwrap();
        // Before the file is there, and after.
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
}
