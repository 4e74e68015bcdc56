//! The advisories that the server uses: the embedded advisories, merged with the operator's file. The file is reloaded
//! when it changes.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use super::Advisories;
use super::file::{FileRows, InvalidAdvisories, MAX_FILE_BYTES, read_rows};
use crate::live_file::LiveFile;

/// The advisories that the server uses. They are replaced as a whole when the operator's file changes.
#[derive(Debug)]
pub struct LiveAdvisories(LiveFile<Advisories>);

impl LiveAdvisories {
    /// Loads the embedded advisories and the operator's file, if one is configured.
    ///
    /// # Errors
    /// [`InvalidAdvisories`] if the file cannot be read or has an invalid row. There is no fallback to the embedded
    /// advisories, because they may differ from the advisories that the operator chose.
    pub fn open(file: Option<&Path>) -> Result<Self, InvalidAdvisories> {
        match file {
            Some(file) => LiveFile::open(file.to_owned(), read_with_embedded).map(Self),
            None => Ok(Self(LiveFile::fixed(Advisories::merged(Vec::new())))),
        }
    }

    /// Returns the current advisories.
    #[must_use]
    pub fn now(&self) -> Arc<Advisories> {
        self.0.now()
    }

    /// Reloads the advisories if the operator's file has changed.
    ///
    /// # Errors
    /// [`InvalidAdvisories`] if the file cannot be read or has an invalid row. The previous advisories remain in use.
    pub fn reload_if_changed(&self) -> Result<(), InvalidAdvisories> {
        if let Some(advisories) = self.0.reload_if_changed(read_with_embedded)? {
            tracing::info!(advisories = advisories.rows().len(), "advisories reloaded");
        }
        Ok(())
    }
}

impl FileRows {
    /// Reads and parses an advisories file.
    ///
    /// # Errors
    /// [`InvalidAdvisories`] if the file cannot be read.
    pub fn from_file(file: &Path) -> Result<Self, InvalidAdvisories> {
        match read_text(file) {
            Ok(text) => Ok(read_rows(&text)),
            Err(error) => Err(InvalidAdvisories::unreadable(&file.display().to_string(), &error)),
        }
    }
}

/// Returns the embedded advisories and the advisories of the operator's file.
fn read_with_embedded(file: &Path) -> Result<Advisories, InvalidAdvisories> {
    FileRows::from_file(file)?.merge_valid(&file.display().to_string())
}

/// Reads a file up to one byte beyond its maximum size, so that [`read_rows`] rejects larger files.
fn read_text(file: &Path) -> io::Result<String> {
    if !fs::metadata(file)?.is_file() {
        // Reading a named pipe would block until a writer opens it.
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut text = String::new();
    File::open(file)?.take(MAX_FILE_BYTES as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    /// Writes the file, with a modification time of `seconds` after the Unix epoch.
    fn write(file: &Path, text: &str, seconds: u64) {
        fs::write(file, text).unwrap();
        let written = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        File::options().write(true).open(file).unwrap().set_modified(written).unwrap();
    }

    #[test]
    fn invalid_file_is_reported_once_and_ignored() {
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
