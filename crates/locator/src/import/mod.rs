//! Import of ATMs from files: tables with a header, and documents of several sources ([`FORMATS`]).
//!
//! Each row of a file is an ATM, or is skipped or filtered out, and is reported with its line or, in a document, its
//! number. If the import fails with an [`ImportError`], nothing of the file is used. A file always results in equal
//! rows with equal keys, so importing it again changes nothing.

mod address_cells;
mod amount;
mod backslash_quotes;
mod bounds;
mod btcmap;
mod cells;
mod coinmap;
mod column_name;
mod columns;
mod compressed;
mod compressed_error;
mod contacts;
mod coordinates;
mod counted_values;
mod document;
mod document_parts;
mod encoding;
mod error;
mod field;
mod foreign_columns;
mod format;
mod formats;
mod geojson;
mod item;
mod local_date;
mod markup;
mod objects;
mod options;
mod osm;
mod overpass;
mod pbf;
mod placeholders;
mod position_arrays;
mod reading;
mod signatures;
mod street;
mod submission;
mod suggestions;
mod table;
mod text;
mod time;
mod truncated;
mod usable;
mod words;
mod zip_archive;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use arcstr::ArcStr;

use crate::atm::Record;
use crate::dates::DataDates;
use crate::gazetteer::Gazetteer;

pub use bounds::{Bounds, CancelFlag};
pub use compressed::file_stem;
pub use compressed_error::CompressedError;
pub use counted_values::CountedValues;
pub use error::{ColumnList, ImportError};
pub use field::{Field, UnknownField};
pub use format::Format;
pub use formats::{FORMATS, FormatChoice, UnknownFormat};
pub use options::Options;
pub use submission::FORMAT as SUBMISSION;
pub use suggestions::{SuggestedFilter, Suggestions, UnmatchedFilter};
pub use time::{DateError, parse_data_date, parse_time};
pub use truncated::{MAX_LISTED, Truncated};
pub use usable::NothingUsable;

use cells::{OtherDates, ParsedRow, RowContext};
use columns::ColumnMap;
use format::{FileContent, SourceFile};
use item::DocumentItem;
use reading::DocumentItems;
use suggestions::ColumnObserver;

/// The result of an import.
#[derive(Clone, Debug)]
pub struct Import {
    /// The ATMs, in the order of the file.
    pub rows: Vec<ImportedRow>,
    /// The skipped rows.
    pub skipped: Truncated<Skipped>,
    /// The invalid cells. Their fields are unknown.
    pub invalid_cells: Truncated<InvalidCell>,
    /// The number of rows that are no ATMs, or that [`Options::only`] excluded.
    pub filtered: usize,
    /// The tags, properties and values of these rows.
    pub filtered_by: CountedValues,
    /// The keys of ATMs that were removed according to the source.
    pub gone: Vec<String>,
    /// The dates of the ATMs.
    pub dates: DataDates,
    /// The column of each field; empty if the format decides that.
    pub columns: Vec<(Field, String)>,
    /// The unused columns, in a document properties; the first 60 characters of each.
    pub unused: Truncated<String>,
    /// The unit of the numbers of rows: `line` or `item`.
    pub counted: &'static str,
    /// What was done to the file before its rows were read: the data file of an archive, repaired quotes.
    pub notices: Vec<String>,
    /// Suggestions for the next import of the file.
    pub suggestions: Suggestions,
}

/// An ATM in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedRow {
    /// Its first line in the file, from 1. In a document, its number.
    pub line: usize,
    /// The key that identifies it among the ATMs of its source, in this file and in later ones: `ref:` and the source's
    /// own identifier, else `row:`, a hash of name, address and coordinates, and a counter for equal rows.
    pub key: String,
    /// The record.
    pub record: Record,
}

/// A skipped row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Its line or number in the file, from 1.
    pub line: usize,
    /// The reason.
    pub reason: String,
}

/// An invalid cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidCell {
    /// Its line or number in the file, from 1.
    pub line: usize,
    /// The unknown field.
    pub field: Field,
    /// The first 80 characters of the cell.
    pub value: String,
    /// The reason.
    pub reason: &'static str,
}

/// Reads a file. A gzip file, and a zip archive with one data file, are decompressed; UTF-16 with a byte order mark is
/// converted.
///
/// Each row is an ATM, even if it equals another row; but only the last row with an identifier is used. A row is
/// skipped if it has no valid coordinates or too many cells. Other invalid cells make their fields unknown. All of
/// these are reported.
///
/// ```
/// use signpost_locator::import::{Options, read};
///
/// let file = "id,name,latitude,longitude\n7,Corner Shop,25.76,-80.19\n8,Nowhere,,\n";
/// let import = read(file.as_bytes(), &Options::default()).unwrap();
/// assert_eq!(import.rows.len(), 1);
/// assert_eq!(import.rows[0].key, "ref:7");
/// assert_eq!((import.skipped.total, import.skipped.first[0].line), (1, 3));
/// ```
///
/// # Errors
/// [`ImportError`], if the file as a whole or the options are invalid.
pub fn read(bytes: &[u8], options: &Options) -> Result<Import, ImportError> {
    read_rows(bytes, options, None)
}

/// Reads a file like [`read`]. Addresses on one line are read in the notations of all countries, with the places of a
/// gazetteer near the coordinates: [`Gazetteer::parse_address`].
///
/// # Errors
/// [`ImportError`], if the file as a whole or the options are invalid.
pub fn read_with_places(bytes: &[u8], options: &Options, gazetteer: &Gazetteer) -> Result<Import, ImportError> {
    read_rows(bytes, options, Some(gazetteer))
}

fn read_rows(bytes: &[u8], options: &Options, gazetteer: Option<&Gazetteer>) -> Result<Import, ImportError> {
    options.cancel.check()?;
    let mut notices = Vec::new();
    let bytes = if options.strict { bytes.into() } else { prepare(bytes, options, &mut notices)? };
    let members = formats::members();
    let file = SourceFile::new(&bytes, options.bounds, &options.cancel, &members);
    let format = match options.format {
        FormatChoice::Auto => formats::detect(&file)?,
        FormatChoice::Named(format) => format,
    };
    let mut import = match (format.read)(&file)? {
        FileContent::Rows { rows, notice } => {
            notices.extend(notice);
            reading::table(&rows, options, gazetteer, &mut notices)?
        }
        FileContent::Items { items, others, dated, is_read } => reading::document(
            DocumentItems { items, others, of_document: dated.as_deref(), is_read },
            options,
            gazetteer,
        )?,
    };
    import.notices = notices;
    import.assign_keys();
    import.dates = import.rows.iter().map(|row| row.record.known_at()).collect();
    Ok(import)
}

/// Returns the content of a file: decompressed, in UTF-8, and without tokens of Python that JSON does not have. Rejects
/// files of known formats that are not supported.
fn prepare<'a>(bytes: &'a [u8], options: &Options, notices: &mut Vec<String>) -> Result<Cow<'a, [u8]>, ImportError> {
    let unpacked = compressed::unpack(bytes, options.bounds, &options.cancel)?;
    if let Some(name) = unpacked.name {
        notices.push(format!("the data file in the zip archive is {name}"));
    }
    let bytes = encoding::to_utf8(unpacked.bytes)?;
    signatures::reject_unsupported(&bytes)?;
    Ok(encoding::without_not_a_number(bytes))
}

impl Import {
    fn empty(columns: &ColumnMap, counted: &'static str) -> Self {
        Self {
            rows: Vec::new(),
            skipped: Truncated::default(),
            invalid_cells: Truncated::default(),
            filtered: 0,
            filtered_by: CountedValues::default(),
            gone: Vec::new(),
            dates: DataDates::default(),
            columns: columns.used(),
            unused: columns.unused(),
            counted,
            notices: Vec::new(),
            suggestions: Suggestions::default(),
        }
    }

    fn add_filtered(&mut self, reason: &str) {
        self.filtered += 1;
        self.filtered_by.add(reason);
    }

    fn add_item(&mut self, item: DocumentItem, of_document: Option<&str>, context: RowContext<'_>) {
        let line = item.number;
        if item.is_gone {
            if let Some(id) = item.cells.get(&Field::Ref) {
                self.gone.push(format!("ref:{}", cells::text(id)));
            }
            return;
        }
        let dates = OtherDates { of_fields: &item.dates, of_document };
        match cells::parse(&|field| item.cells.get(&field).map_or("", String::as_str), dates, context) {
            Err(reason) => self.skipped.push(Skipped { line, reason }),
            Ok(ParsedRow { mut record, key, problems }) => {
                Arc::make_mut(&mut record.coins).extend(item.coins);
                if !item.trades.is_empty() {
                    record.more_mut().trades = item.trades;
                }
                self.add_invalid_cells(line, problems);
                self.rows.push(ImportedRow { line, key, record });
            }
        }
    }

    fn add_invalid_cells(&mut self, line: usize, problems: Vec<cells::CellProblem>) {
        for (field, value, reason) in problems {
            let value = value.chars().take(80).collect();
            self.invalid_cells.push(InvalidCell { line, field, value, reason });
        }
    }

    fn add_row(
        &mut self,
        row: &text::RawRow,
        columns: &ColumnMap,
        observer: &mut ColumnObserver,
        context: RowContext<'_>,
    ) {
        let line = row.line;
        let cells = match columns.cells_of(row) {
            Ok(cells) => cells,
            Err(reason) => return self.skipped.push(Skipped { line, reason }),
        };
        if let Some(reason) = observer.observe_row(cells) {
            return self.add_filtered(&reason);
        }
        match cells::parse(&|field| columns.cell(cells, field), OtherDates::default(), context) {
            Err(reason) => self.skipped.push(Skipped { line, reason }),
            Ok(ParsedRow { record, key, problems }) => {
                for field in columns.missing(cells) {
                    self.invalid_cells.push(InvalidCell {
                        line,
                        field,
                        value: String::new(),
                        reason: "the row ends before it",
                    });
                }
                self.add_invalid_cells(line, problems);
                self.rows.push(ImportedRow { line, key, record });
            }
        }
    }

    /// Assigns the keys of the rows. Drops all but the last row with each `ref`.
    fn assign_keys(&mut self) {
        let mut last_lines: HashMap<ArcStr, usize> = HashMap::new();
        for row in &self.rows {
            if let Some(source_ref) = &row.record.source_ref {
                last_lines.insert(source_ref.clone(), row.line);
            }
        }
        let mut equal_rows: HashMap<String, usize> = HashMap::new();
        let mut replaced = Vec::new();
        let counted = self.counted;
        self.rows.retain_mut(|row| {
            let Some(source_ref) = &row.record.source_ref else {
                let count = equal_rows.entry(row.key.clone()).or_default();
                *count += 1;
                row.key = format!("{}:{count}", row.key);
                return true;
            };
            let last = last_lines[source_ref];
            if row.line != last {
                let reason = format!("{counted} {last} has the same ref {source_ref:?}");
                replaced.push(Skipped { line: row.line, reason });
                return false;
            }
            true
        });
        self.skipped.merge(replaced);
    }
}

impl Truncated<Skipped> {
    /// Adds rows, and sorts all by the order of the file.
    fn merge(&mut self, more: Vec<Skipped>) {
        self.total += more.len();
        self.first.extend(more);
        self.first.sort_by_key(|skipped| skipped.line);
        self.first.truncate(MAX_LISTED);
    }
}
