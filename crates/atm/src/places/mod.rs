//! The place names of this installation: those that the operator imported into the data folder, else the embedded ones.

pub mod geocoder;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use anyhow::{Context, Result};
use arc_swap::ArcSwap;
use signpost_locator::gazetteer::{Gazetteer, build};
use signpost_platform::bounded_file;

/// Maximum size of the file of imported place names, in bytes.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// The place names; replaced whole, so that a search sees one state from beginning to end.
#[derive(Debug)]
pub struct Places {
    gazetteer: ArcSwap<Gazetteer>,
    file: PathBuf,
    /// When the file that is served was written.
    written: Mutex<Option<SystemTime>>,
}

/// The file of imported place names.
#[must_use]
pub fn file(data_dir: &Path) -> PathBuf {
    data_dir.join("gazetteer.bin.gz")
}

impl Places {
    /// Reads the place names. Takes a tenth of a second.
    ///
    /// # Errors
    /// Where the operator's file cannot be read; the embedded names would be another answer than the one they chose.
    pub fn open(data_dir: &Path) -> Result<Self> {
        let file = file(data_dir);
        let written = written(&file);
        let gazetteer = if written.is_some() { read_gazetteer(&file)? } else { Gazetteer::embedded() };
        Ok(Self { gazetteer: ArcSwap::from_pointee(gazetteer), file, written: Mutex::new(written) })
    }

    /// No place names, for a server that finds no machines.
    ///
    /// # Errors
    /// Never, as long as nothing can be written down.
    pub fn none() -> Result<Self> {
        let gazetteer = Gazetteer::from_bytes(&build(Vec::new(), &[], &[], 0)?)?;
        Ok(Self { gazetteer: ArcSwap::from_pointee(gazetteer), file: PathBuf::new(), written: Mutex::new(None) })
    }

    /// The place names as they are now.
    #[must_use]
    pub fn now(&self) -> Arc<Gazetteer> {
        self.gazetteer.load_full()
    }

    /// Serves what was imported since the last look, or taken away.
    ///
    /// # Errors
    /// Where it cannot be read; what is served stays.
    pub fn reload_if_changed(&self) -> Result<()> {
        let found = written(&self.file);
        let mut known = self.written.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if found == *known {
            return Ok(());
        }
        // Remembered whether it can be read or not: a broken file is reported once.
        *known = found;
        let gazetteer = if found.is_some() { read_gazetteer(&self.file)? } else { Gazetteer::embedded() };
        tracing::info!(places = gazetteer.len(), "place names reloaded");
        self.gazetteer.store(Arc::new(gazetteer));
        Ok(())
    }
}

fn written(file: &Path) -> Option<SystemTime> {
    fs::metadata(file).and_then(|about| about.modified()).ok()
}

fn read_gazetteer(file: &Path) -> Result<Gazetteer> {
    let shown = file.display();
    let bytes =
        bounded_file::read(file, MAX_FILE_BYTES).with_context(|| format!("cannot read the place names {shown}"))?;
    let again = "import them again with 'signpost gazetteer import', or delete the file to use the embedded ones";
    Gazetteer::from_bytes(&bytes).with_context(|| format!("{shown}: {again}"))
}
