//! Reads a client's configuration file with a size limit, and replaces it atomically.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use signpost_platform::bounded_file;

/// Maximum size of a file, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// A client's configuration file, as it was read.
#[derive(Debug)]
pub(super) struct ConfigFile {
    /// The path; it may be a link.
    pub(super) path: PathBuf,
    /// The target of the link, or the path.
    target: PathBuf,
    /// `None` if there is no file.
    pub(super) text: Option<String>,
    metadata: Option<Metadata>,
}

/// The error if another program has changed the file after it was read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} was changed by another program at the same time: run this again")]
pub(super) struct ConcurrentChange(String);

impl ConfigFile {
    /// Reads the file; it may be missing.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let shown = path.display();
        let target = follow(path).with_context(|| format!("cannot follow the link {shown}"))?;
        let metadata = match fs::metadata(&target) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self { path: path.to_owned(), target, text: None, metadata: None });
            }
            Err(error) => return Err(error).with_context(|| format!("cannot read {shown}")),
        };
        if !metadata.is_file() {
            bail!("{shown} is no file");
        }
        let bytes = read_bounded(&target).with_context(|| format!("cannot read {shown}"))?;
        if bytes.len() as u64 > MAX_BYTES {
            bail!("{shown} has more than {} MiB: no client writes so much", MAX_BYTES >> 20);
        }
        let Ok(text) = String::from_utf8(bytes) else { bail!("{shown} is not UTF-8") };
        Ok(Self { path: path.to_owned(), target, text: Some(text), metadata: Some(metadata) })
    }

    /// Replaces the text of the file, and stores the old file as a backup.
    pub(super) fn replace(&self, text: &str) -> Result<()> {
        self.check_writable()?;
        if let Some(before) = &self.text {
            let backup = self.free_backup(before);
            write_whole(&backup, before, self.metadata.as_ref(), || Ok(()))?;
        } else if let Some(folder) = self.target.parent() {
            make_folder(folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
        }
        write_whole(&self.target, text, self.metadata.as_ref(), || self.check_unchanged())
    }

    /// Replaces the file with the text of a backup, and deletes the backup.
    pub(super) fn restore(&self, backup: &Path, text: &str) -> Result<()> {
        self.check_writable()?;
        write_whole(&self.target, text, self.metadata.as_ref(), || self.check_unchanged())?;
        fs::remove_file(backup).with_context(|| format!("cannot remove {}", backup.display()))
    }

    /// Deletes the file.
    pub(super) fn delete(&self) -> Result<()> {
        self.check_writable()?;
        self.check_unchanged()?;
        fs::remove_file(&self.target).with_context(|| format!("cannot remove {}", self.target.display()))
    }

    /// Returns the readable files with the names of backups.
    pub(super) fn backups(&self) -> Vec<(PathBuf, String)> {
        let mut backups = Vec::new();
        for path in self.backup_paths().into_iter().filter(|path| path.is_file()) {
            if let Ok(text) = bounded_file::read_text(&path, MAX_BYTES) {
                backups.push((path, text));
            }
        }
        backups
    }

    /// Returns the names of backups. The second is used if another program uses the first.
    fn backup_paths(&self) -> [PathBuf; 2] {
        [".bak", ".signpost.bak"].map(|end| {
            let mut name = self.target.as_os_str().to_owned();
            name.push(end);
            name.into()
        })
    }

    fn free_backup(&self, before: &str) -> PathBuf {
        let [first, second] = self.backup_paths();
        let is_free = match fs::symlink_metadata(&first) {
            Err(error) => error.kind() == ErrorKind::NotFound,
            Ok(_) => read_bounded(&first).is_ok_and(|bytes| bytes == before.as_bytes()),
        };
        if is_free { first } else { second }
    }

    /// Checks the permissions of the file, because a rename would replace even a read-only file.
    fn check_writable(&self) -> Result<()> {
        if self.metadata.as_ref().is_some_and(|metadata| metadata.permissions().readonly()) {
            bail!(
                "{} is read-only: make it writable, or add the entry by hand, as --print shows it",
                self.path.display()
            );
        }
        Ok(())
    }

    fn check_unchanged(&self) -> Result<()> {
        let now = match read_bounded(&self.target) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        if now.as_deref() == self.text.as_deref().map(str::as_bytes) {
            return Ok(());
        }
        Err(ConcurrentChange(self.path.display().to_string()).into())
    }
}

/// Returns the target of a link; it may not exist.
fn follow(path: &Path) -> std::io::Result<PathBuf> {
    const MAX_LINKS: usize = 32;
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::symlink_metadata(&target) {
            Ok(metadata) if metadata.is_symlink() => {
                let next = fs::read_link(&target)?;
                target = target.parent().unwrap_or(Path::new("")).join(next);
            }
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => return Ok(target),
        }
    }
    Err(std::io::Error::other("it leads in a circle"))
}

/// Reads at most [`MAX_BYTES`] and a byte.
fn read_bounded(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Replaces a file atomically: writes a temporary file, runs `check` and renames. The file gets the mode and the owner
/// of `like`; without it, only the owner may read the file.
fn write_whole(path: &Path, text: &str, like: Option<&Metadata>, check: impl FnOnce() -> Result<()>) -> Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let temporary = PathBuf::from(name);
    let written = write_new(&temporary, text, like)
        .with_context(|| format!("cannot write {}", temporary.display()))
        .and_then(|()| check())
        .and_then(|()| fs::rename(&temporary, path).with_context(|| format!("cannot replace {}", path.display())));
    if written.is_err() {
        // The first error is reported instead of an error of this removal.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn write_new(path: &Path, text: &str, like: Option<&Metadata>) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(text.as_bytes())?;
    if let Some(like) = like {
        set_owner(&file, like)?;
        file.set_permissions(Permissions::clone(&like.permissions()))?;
    }
    file.sync_all()
}

/// Sets the owner, so that users can still read their files after root changed them.
#[cfg(unix)]
fn set_owner(file: &File, like: &Metadata) -> std::io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let now = file.metadata()?;
    if now.uid() == like.uid() && now.gid() == like.gid() {
        return Ok(());
    }
    fchown(file, Some(like.uid()), Some(like.gid()))
}

#[cfg(not(unix))]
fn set_owner(_: &File, _: &Metadata) -> std::io::Result<()> {
    Ok(())
}

fn make_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = entries.collect();
        names.sort();
        names
    }

    #[test]
    fn concurrent_changes_are_preserved() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mcp.json");
        fs::write(&path, "{}").unwrap();
        let file = ConfigFile::read(&path).unwrap();
        fs::write(&path, "{\"theirs\": 1}").unwrap();
        for refused in [file.replace("{\"ours\": 1}"), file.delete()] {
            assert!(refused.unwrap_err().is::<ConcurrentChange>());
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"theirs\": 1}");
        assert_eq!(names(folder.path()), ["mcp.json", "mcp.json.bak"], "nothing half-written is left");
    }

    #[test]
    fn concurrently_created_file_is_preserved() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mcp.json");
        let file = ConfigFile::read(&path).unwrap();
        fs::write(&path, "theirs").unwrap();
        assert!(file.replace("ours").unwrap_err().is::<ConcurrentChange>());
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
    }

    #[test]
    fn foreign_backup_is_preserved() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mcp.json");
        fs::write(&path, "before").unwrap();
        fs::write(folder.path().join("mcp.json.bak"), "theirs").unwrap();
        ConfigFile::read(&path).unwrap().replace("after").unwrap();
        let text = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(names(folder.path()), ["mcp.json", "mcp.json.bak", "mcp.json.signpost.bak"]);
        let texts = ["mcp.json", "mcp.json.bak", "mcp.json.signpost.bak"].map(text);
        assert_eq!(texts, ["after", "theirs", "before"]);
    }
}
