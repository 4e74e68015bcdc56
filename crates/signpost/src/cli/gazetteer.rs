//! The command `signpost gazetteer`: imports the place names of location search.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use serde_json::json;
use signpost_atm::places;
use signpost_locator::gazetteer::{
    CensusTable, Gazetteer as Names, GeoName, GeonamesLine, Postcode, Subdivision, build, read_line,
};

use super::Session;
use crate::server;

/// Maximum bytes of a line: a hundred times the longest lines of the tables.
const MAX_LINE_BYTES: u64 = 1 << 20;
/// Maximum size of all tables of an import, unpacked: three times the largest tables of GeoNames.
const MAX_TABLES: TableBounds = TableBounds { bytes: 8 << 30, lines: 100_000_000 };

#[derive(Debug, Subcommand)]
pub(super) enum GazetteerCommand {
    /// Replace the built-in place names with full GeoNames tables, or add US townships to them
    ///
    /// The gazetteer is stored as gazetteer.bin.gz in the data folder. A running server loads it
    /// automatically.
    ///
    /// The Census table of county subdivisions adds townships, New England towns and the like to
    /// the places of the other files, or to the built-in places if there are no other files.
    Import(GazetteerImport),
}

#[derive(Debug, Args)]
pub(super) struct GazetteerImport {
    /// GeoNames tables, as .txt or .zip: places (cities500, allCountries, US …), postcodes (US, CA,
    /// CA_full) and alternate names (alternateNamesV2); the cousubs file of the US Census; detected
    /// by their columns
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Outside the United States and Canada, skip places with fewer people
    #[arg(long, default_value_t = 0, value_name = "PEOPLE")]
    fewest: u32,
}

/// The rows of all imported tables.
#[derive(Default)]
struct Tables {
    places: Vec<GeoName>,
    subdivisions: Vec<Subdivision>,
    postcodes: Vec<Postcode>,
    /// Names in use and historic names, by the ID of the place.
    current_names: HashMap<u64, Vec<String>>,
    historic_names: HashMap<u64, HashSet<String>>,
}

/// Maximum bytes and lines that are read, because a packed file may expand to any size and a pipe has no end.
#[derive(Clone, Copy)]
struct TableBounds {
    bytes: u64,
    lines: u64,
}

impl TableBounds {
    /// Subtracts the size of a line.
    fn take_line(&mut self, bytes: usize) -> Result<()> {
        let left = self.bytes.checked_sub(bytes as u64).zip(self.lines.checked_sub(1));
        let Some((bytes, lines)) = left else {
            let TableBounds { bytes, lines } = MAX_TABLES;
            bail!("the tables are too long: one import reads at most {lines} lines and {bytes} bytes, unpacked");
        };
        *self = Self { bytes, lines };
        Ok(())
    }
}

impl GazetteerCommand {
    pub(super) fn run(self, session: &Session) -> Result<()> {
        let Self::Import(import) = self;
        let mut tables = Tables::default();
        let mut remaining = MAX_TABLES;
        for file in &import.files {
            tables.read(file, &mut remaining).with_context(|| format!("{}", file.display()))?;
        }
        let subdivisions = tables.subdivisions.len();
        let blob = tables.into_gazetteer(import.fewest)?;
        // The gazetteer is checked before the server can read it.
        let names = Names::from_bytes(&blob)?;
        server::prepare_data_dir(&session.config.data_dir)?;
        let file = places::file(&session.config.data_dir);
        write_atomically(&file, &blob)?;
        let places = names.len();
        let postcodes = names.postcodes();
        let document = json!({
            "file": file,
            "places": places,
            "subdivisions": subdivisions,
            "postcodes": postcodes,
            "bytes": blob.len(),
        });
        session.print(&document, || {
            let subdivision_note = match subdivisions {
                0 => String::new(),
                count => format!(" ({count} county subdivisions among them)"),
            };
            format!(
                "imported {places} places{subdivision_note} and {postcodes} postcodes; a running server uses them too"
            )
        })
    }
}

impl Tables {
    /// Returns the gazetteer as bytes. If county subdivisions are the only table, they are added to the built-in
    /// places.
    fn into_gazetteer(self, fewest: u32) -> Result<Vec<u8>> {
        let Self { mut places, subdivisions, postcodes, mut current_names, mut historic_names } = self;
        if places.is_empty() {
            let has_names = !current_names.is_empty() || !historic_names.is_empty();
            let has_only_subdivisions = !subdivisions.is_empty() && postcodes.is_empty() && !has_names;
            anyhow::ensure!(
                has_only_subdivisions,
                "none of the files contains places; add cities500.zip or allCountries.zip"
            );
            return Ok(Names::embedded().with_subdivisions(&subdivisions)?);
        }
        for place in &mut places {
            let historic = historic_names.remove(&place.id).unwrap_or_default();
            place.correct(&historic, current_names.remove(&place.id).unwrap_or_default());
        }
        Ok(build(places, &subdivisions, &postcodes, fewest)?)
    }

    /// Reads a table, or all tables of a zip file.
    fn read(&mut self, path: &Path, remaining: &mut TableBounds) -> Result<()> {
        let file = File::open(path)?;
        if path.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("zip")) {
            return self.read_lines(file, remaining);
        }
        let mut archive = zip::ZipArchive::new(BufReader::new(file))?;
        for at in 0..archive.len() {
            let entry = archive.by_index(at)?;
            // readme.txt and the list of languages in alternateNamesV2 are not tables.
            let name = entry.name()?.to_ascii_lowercase();
            if !name.contains("readme") && !name.contains("languagecodes") {
                self.read_lines(entry, remaining)?;
            }
        }
        Ok(())
    }

    fn read_lines(&mut self, table: impl Read, remaining: &mut TableBounds) -> Result<()> {
        let mut table = BufReader::new(table);
        let mut line = Vec::new();
        // Only tables of the Census have a header.
        let mut census = None;
        let mut is_first = true;
        for number in 1_u64.. {
            line.clear();
            if (&mut table).take(MAX_LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
                break;
            }
            remaining.take_line(line.len())?;
            let is_complete = line.len() as u64 != MAX_LINE_BYTES;
            anyhow::ensure!(is_complete, "line {number} is longer than any of these tables has");
            let text = std::str::from_utf8(&line).with_context(|| format!("line {number} is not UTF-8"))?;
            let text = text.trim_end_matches(['\r', '\n']);
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            if std::mem::take(&mut is_first)
                && let Some(header) = CensusTable::read_header(text)
            {
                census = Some(header?);
                continue;
            }
            match &census {
                Some(table) => {
                    let row = table.read_row(text).with_context(|| format!("line {number}"))?;
                    self.subdivisions.extend(row);
                }
                None => self.add(read_line(text).with_context(|| {
                    format!(
                        "line {number} is not from a known GeoNames table (19, 12 or 10 columns) or one of the Census"
                    )
                })?),
            }
        }
        Ok(())
    }

    fn add(&mut self, line: GeonamesLine) {
        match line {
            GeonamesLine::Other => {}
            GeonamesLine::Place(place) => self.places.push(place),
            GeonamesLine::Subdivision(subdivision) => self.subdivisions.push(subdivision),
            GeonamesLine::Postcode(postcode) => self.postcodes.push(postcode),
            GeonamesLine::Name { of, name, is_dead: false } => self.current_names.entry(of).or_default().push(name),
            GeonamesLine::Name { of, name, is_dead: true } => {
                self.historic_names.entry(of).or_default().insert(name);
            }
        }
    }
}

/// Replaces a file atomically, so that a running server reads either the old or the new file.
fn write_atomically(file: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = file.with_added_extension("new");
    fs::write(&temporary, bytes)
        .and_then(|()| File::open(&temporary)?.sync_all())
        .and_then(|()| fs::rename(&temporary, file))
        .with_context(|| format!("cannot write {}; nothing was changed", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_tables_are_rejected() {
        let mut remaining = TableBounds { bytes: 1 << 20, lines: 1_000 };
        let endless = std::io::repeat(b'\n');
        assert!(Tables::default().read_lines(endless, &mut remaining).unwrap_err().to_string().contains("too long"));
        let mut remaining = TableBounds { bytes: 100, lines: 1_000 };
        let long = std::io::repeat(b'#').take(1_000);
        assert!(Tables::default().read_lines(long, &mut remaining).unwrap_err().to_string().contains("too long"));
    }
}
