//! The place names of this installation: those imported by the operator into the data folder, or else embedded in the
//! program.

pub mod geocoder;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use signpost_locator::gazetteer::{Gazetteer, build};
use signpost_platform::bounded_file;

use crate::live_file::LiveFile;

/// Maximum size of the file of imported place names, in bytes.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// The place names of this installation.
#[derive(Debug)]
pub struct Places(LiveFile<Gazetteer>);

/// Returns the path of the file of imported place names.
#[must_use]
pub fn file(data_dir: &Path) -> PathBuf {
    data_dir.join("gazetteer.bin.gz")
}

impl Places {
    /// Reads the place names in about 100 ms.
    ///
    /// # Errors
    /// If the file of imported place names exists but cannot be read. The embedded names are no substitute, because
    /// their results differ from those that the operator chose.
    pub fn open(data_dir: &Path) -> Result<Self> {
        LiveFile::open(file(data_dir), read_imported_or_embedded).map(Self)
    }

    /// Returns an empty gazetteer, for a server without ATMs.
    ///
    /// # Errors
    /// Never: an empty gazetteer can be written and read.
    pub fn none() -> Result<Self> {
        let gazetteer = Gazetteer::from_bytes(&build(Vec::new(), &[], &[], 0)?)?;
        Ok(Self(LiveFile::fixed(gazetteer)))
    }

    /// Returns the current place names.
    #[must_use]
    pub fn now(&self) -> Arc<Gazetteer> {
        self.0.now()
    }

    /// Reads the place names again if their file was written or deleted.
    ///
    /// # Errors
    /// If the file cannot be read. The place names are unchanged then.
    pub fn reload_if_changed(&self) -> Result<()> {
        if let Some(gazetteer) = self.0.reload_if_changed(read_imported_or_embedded)? {
            tracing::info!(places = gazetteer.len(), "place names reloaded");
        }
        Ok(())
    }
}

/// Reads the imported place names. Returns the embedded names if there is no file.
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
