//! The advisories of this installation: the embedded ones, with the operator's file on top.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use arc_swap::ArcSwap;

use super::Advisories;
use super::file::{BadAdvisories, FileRows, MAX_FILE_BYTES, read_rows};

/// The advisories; replaced whole, so that a reply sees one state from beginning to end.
#[derive(Debug)]
pub struct LiveAdvisories {
    now: ArcSwap<Advisories>,
    file: Option<PathBuf>,
    /// When the file that is used was written.
    written: Mutex<Option<SystemTime>>,
}

impl LiveAdvisories {
    /// Reads the advisories, with the operator's file if there is one.
    ///
    /// # Errors
    /// Where the file cannot be read, or a row of it is not understood: the embedded ones alone would be another answer
    /// than the one the operator chose.
    pub fn open(file: Option<&Path>) -> Result<Self, BadAdvisories> {
        let written = file.and_then(written);
        let now = read(file)?;
        Ok(Self { now: ArcSwap::from_pointee(now), file: file.map(Path::to_owned), written: Mutex::new(written) })
    }

    /// The advisories as they are now.
    #[must_use]
    pub fn now(&self) -> Arc<Advisories> {
        self.now.load_full()
    }

    /// Uses what the operator wrote since the last look.
    ///
    /// # Errors
    /// As [`LiveAdvisories::open`]; what is used stays.
    pub fn reload_if_changed(&self) -> Result<(), BadAdvisories> {
        let Some(file) = &self.file else { return Ok(()) };
        let found = written(file);
        let mut known = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if found == *known {
            return Ok(());
        }
        // Remembered whether it can be read or not: a broken file is reported once.
        *known = found;
        let advisories = read(Some(file))?;
        tracing::info!(advisories = advisories.rows().len(), "advisories reloaded");
        self.now.store(Arc::new(advisories));
        Ok(())
    }
}

impl FileRows {
    /// What the operator's file holds.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn from_file(file: &Path) -> Result<Self, BadAdvisories> {
        let unreadable = |error: std::io::Error| BadAdvisories::unreadable(&file.display().to_string(), &error);
        let is_file = std::fs::metadata(file).map_err(unreadable)?.is_file();
        if !is_file {
            // Nobody may ever write into a named pipe.
            return Err(unreadable(std::io::Error::other("it is not a regular file")));
        }
        let mut text = String::new();
        // One byte more than may be tells what is too large.
        let most = u64::try_from(MAX_FILE_BYTES).unwrap_or(u64::MAX) + 1;
        File::open(file).and_then(|file| file.take(most).read_to_string(&mut text)).map_err(unreadable)?;
        Ok(read_rows(&text))
    }
}

fn read(file: Option<&Path>) -> Result<Advisories, BadAdvisories> {
    match file {
        None => Ok(Advisories::merged(Vec::new())),
        Some(file) => FileRows::from_file(file)?.all_or_none(&file.display().to_string()),
    }
}

fn written(file: &Path) -> Option<SystemTime> {
    std::fs::metadata(file).and_then(|about| about.modified()).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use super::*;

    /// Writes a file anew, `turn` seconds after the beginning of time.
    fn write(file: &Path, text: &str, turn: u64) {
        fs::write(file, text).unwrap();
        let written = SystemTime::UNIX_EPOCH + Duration::from_secs(turn);
        File::options().write(true).open(file).unwrap().set_modified(written).unwrap();
    }

    #[test]
    fn a_broken_file_is_reported_once_and_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mine.toml");
        let row = "[[advisory]]\nid = \"mine\"\nkind = \"note\"\nstatus = \"in_force\"\ntext = \"Mine.\"\nchecked = \
                   2026-11-22\nsource = { url = \"https://example.com\", title = \"Me\", class = \"news\" }\n";
        write(&file, row, 1);
        let live = LiveAdvisories::open(Some(&file)).unwrap();
        let has_mine = || live.now().rows().iter().any(|row| row.id == "mine");
        assert!(has_mine());
        write(&file, &row.replace("checked", "cheked"), 2);
        assert!(live.reload_if_changed().unwrap_err().to_string().contains("line 6: "));
        live.reload_if_changed().unwrap();
        assert!(has_mine());
        fs::remove_file(&file).unwrap();
        assert!(live.reload_if_changed().unwrap_err().to_string().contains("cannot read"));
        assert!(has_mine());
        write(&file, &row.replace("mine", "other"), 3);
        live.reload_if_changed().unwrap();
        assert!(!has_mine());
        assert!(LiveAdvisories::open(Some(&folder.path().join("none.toml"))).is_err());
    }
}
