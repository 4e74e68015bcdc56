//! The gazetteer that the server uses: the place names that the operator imported into the data folder, or the place
//! names embedded in the program.

pub mod geocoder;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use signpost_locator::gazetteer::{Gazetteer, build};
use signpost_platform::bounded_file;

use crate::live_file::LiveFile;

/// Maximum size of the file with the imported place names, in bytes.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// The gazetteer that the server uses. It is reloaded when the file with the imported place names changes.
#[derive(Debug)]
pub struct Places(LiveFile<Gazetteer>);

/// Returns the path of the file with the imported place names.
#[must_use]
pub fn file(data_dir: &Path) -> PathBuf {
    data_dir.join("gazetteer.bin.gz")
}

impl Places {
    /// Loads the place names in about 100 ms.
    ///
    /// # Errors
    /// If the file with the imported place names exists but cannot be read. There is no fallback to the embedded names,
    /// because they may give other results than the names that the operator chose.
    pub fn open(data_dir: &Path) -> Result<Self> {
        LiveFile::open(file(data_dir), read_imported_or_embedded).map(Self)
    }

    /// Creates an empty gazetteer for a server without the ATM service.
    ///
    /// # Errors
    /// Never: an empty gazetteer can always be encoded and decoded.
    pub fn none() -> Result<Self> {
        let gazetteer = Gazetteer::from_bytes(&build(Vec::new(), &[], &[], 0)?)?;
        Ok(Self(LiveFile::fixed(gazetteer)))
    }

    /// Returns the current place names.
    #[must_use]
    pub fn now(&self) -> Arc<Gazetteer> {
        self.0.now()
    }

    /// Reloads the place names if their file was written or deleted.
    ///
    /// # Errors
    /// If the file cannot be read. The previous place names remain in use.
    pub fn reload_if_changed(&self) -> Result<()> {
        if let Some(gazetteer) = self.0.reload_if_changed(read_imported_or_embedded)? {
            tracing::info!(places = gazetteer.len(), "place names reloaded");
        }
        Ok(())
    }
}

/// Loads the imported place names, or the embedded names if the file does not exist.
fn read_imported_or_embedded(file: &Path) -> Result<Gazetteer> {
    if !file.exists() {
        return Ok(Gazetteer::embedded());
    }
    let shown = file.display();
    let bytes =
        bounded_file::read(file, MAX_FILE_BYTES).with_context(|| format!("cannot read the place names {shown}"))?;
    let again = "import them again with 'signpost gazetteer import', or delete the file to use the embedded ones";
    Gazetteer::from_bytes(&bytes).with_context(|| format!("{shown}: {again}"))
}
