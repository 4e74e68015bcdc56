//! `signpost gazetteer`

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use serde_json::json;
use signpost_atm::places;
use signpost_locator::gazetteer::{Gazetteer as Names, GeoName, GeonamesLine, Postcode, build, read_line};

use super::Session;
use crate::server;

/// Most characters of a line: the longest of the tables have a hundredth of it.
const LONGEST_LINE: u64 = 1 << 20;

#[derive(Debug, Subcommand)]
pub(super) enum GazetteerCommand {
    /// Replace the built-in place names with full GeoNames tables
    ///
    /// They are stored as gazetteer.bin.gz in the data folder. A running server picks them up.
    Import(GazetteerImport),
}

#[derive(Debug, Args)]
pub(super) struct GazetteerImport {
    /// GeoNames tables, as .txt or .zip: places (cities500, allCountries, US …), postcodes (US, CA, CA_full) and
    /// alternate names (alternateNamesV2); their columns show which is which
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Outside the United States and Canada, skip places with fewer people
    #[arg(long, default_value_t = 0, value_name = "PEOPLE")]
    fewest: u32,
}

/// What the tables hold.
#[derive(Default)]
struct Tables {
    places: Vec<GeoName>,
    postcodes: Vec<Postcode>,
    /// By the number of the place: names that are used, and those that are not any more.
    living: HashMap<u64, Vec<String>>,
    dead: HashMap<u64, HashSet<String>>,
}

impl GazetteerCommand {
    pub(super) fn run(self, session: &Session) -> Result<()> {
        let Self::Import(import) = self;
        let mut tables = Tables::default();
        for file in &import.files {
            tables.read(file).with_context(|| format!("{}", file.display()))?;
        }
        let Tables { mut places, postcodes, mut living, mut dead } = tables;
        anyhow::ensure!(!places.is_empty(), "none of the files contains places; add cities500.zip or allCountries.zip");
        for place in &mut places {
            let (dead, living) = (dead.remove(&place.id), living.remove(&place.id));
            place.correct(&dead.unwrap_or_default(), living.unwrap_or_default());
        }
        let blob = build(places, &postcodes, import.fewest)?;
        // What cannot be read back is not put where the server would look for it.
        let names = Names::from_bytes(&blob)?;
        server::prepare_data_dir(&session.config.data_dir)?;
        let file = places::file(&session.config.data_dir);
        put(&file, &blob)?;
        let document =
            json!({ "file": file, "places": names.len(), "postcodes": names.postcodes(), "bytes": blob.len() });
        session.print(&document, || {
            let (places, postcodes) = (names.len(), names.postcodes());
            format!("imported {places} places and {postcodes} postcodes; a running server uses them too")
        })
    }
}

impl Tables {
    /// Reads a table, or all that a packed file holds.
    fn read(&mut self, path: &Path) -> Result<()> {
        let file = File::open(path)?;
        if path.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("zip")) {
            return self.read_lines(file);
        }
        let mut archive = zip::ZipArchive::new(BufReader::new(file))?;
        for at in 0..archive.len() {
            let entry = archive.by_index(at)?;
            // readme.txt, and the list of languages that comes with the other names.
            let name = entry.name().to_ascii_lowercase();
            if !name.contains("readme") && !name.contains("languagecodes") {
                self.read_lines(entry)?;
            }
        }
        Ok(())
    }

    fn read_lines(&mut self, table: impl Read) -> Result<()> {
        let mut table = BufReader::new(table);
        let mut line = Vec::new();
        for number in 1_u64.. {
            line.clear();
            if (&mut table).take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
                break;
            }
            let text = std::str::from_utf8(&line).with_context(|| format!("line {number} is not UTF-8"))?;
            let text = text.trim_end_matches(['\r', '\n']);
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            match read_line(text) {
                None => bail!("line {number} is not from a known GeoNames table (19, 12 or 10 columns)"),
                Some(GeonamesLine::Other) => {}
                Some(GeonamesLine::Place(place)) => self.places.push(place),
                Some(GeonamesLine::Postcode(postcode)) => self.postcodes.push(postcode),
                Some(GeonamesLine::Name { of, name, is_dead: false }) => self.living.entry(of).or_default().push(name),
                Some(GeonamesLine::Name { of, name, is_dead: true }) => {
                    self.dead.entry(of).or_default().insert(name);
                }
            }
        }
        Ok(())
    }
}

/// Puts a file in its place whole: a server that reads it meanwhile sees the old one or the new one.
fn put(file: &Path, bytes: &[u8]) -> Result<()> {
    let beside = file.with_added_extension("new");
    fs::write(&beside, bytes)
        .and_then(|()| File::open(&beside)?.sync_all())
        .and_then(|()| fs::rename(&beside, file))
        .with_context(|| format!("cannot write {}; nothing was changed", file.display()))
}
