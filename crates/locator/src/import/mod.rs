//! Import of ATMs from files: tables with a header, and documents of several sources ([`FORMATS`]).
//!
//! Each row of a file is an ATM, or is skipped or filtered out, and is reported with its line or, in a document, its
//! number. If the import fails with an [`ImportError`], nothing of the file is used. A file always results in equal
//! rows with equal keys, so importing it again changes nothing.

mod bounds;
mod btcmap;
mod cells;
mod columns;
mod document;
mod error;
mod field;
mod format;
mod formats;
mod geojson;
mod item;
mod options;
mod osm;
mod overpass;
mod pbf;
mod submission;
mod table;
mod text;
mod time;
mod truncated;
mod words;

use std::collections::HashMap;
use std::sync::Arc;

use arcstr::ArcStr;

use crate::atm::Record;
use crate::dates::DataDates;

pub use bounds::{Bounds, CancelFlag};
pub use error::{ColumnList, ImportError};
pub use field::{Field, UnknownField};
pub use format::Format;
pub use formats::{FORMATS, FormatChoice, UnknownFormat};
pub use options::Options;
pub use submission::FORMAT as SUBMISSION;
pub use time::{DateError, parse_data_date, parse_time};
pub use truncated::{MAX_LISTED, Truncated};

use cells::OtherDates;
use columns::ColumnMap;
use format::{FileContent, SourceFile};
use item::DocumentItem;

/// The result of an import.
#[derive(Clone, Debug)]
pub struct Import {
    /// The ATMs, in the order of the file.
    pub rows: Vec<ImportedRow>,
    /// The skipped rows.
    pub skipped: Truncated<Skipped>,
    /// The invalid cells. Their fields are unknown.
    pub invalid_cells: Truncated<InvalidCell>,
    /// The number of rows that [`Options::only`] excluded.
    pub filtered: usize,
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

/// Reads a file.
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
    options.cancel.check()?;
    let members = formats::members();
    let file = SourceFile::new(bytes, options.bounds, &options.cancel, &members);
    let format = match options.format {
        FormatChoice::Auto => formats::detect(&file)?,
        FormatChoice::Named(format) => format,
    };
    let mut import = match (format.read)(&file)? {
        FileContent::Rows(rows) => table(rows, options)?,
        FileContent::Items { items, others, dated, is_read } => {
            document(items, others, dated.as_deref(), is_read, options)?
        }
    };
    import.assign_keys();
    import.dates = import.rows.iter().map(|row| row.record.known_at()).collect();
    Ok(import)
}

fn table(rows: Vec<text::RawRow<'_>>, options: &Options) -> Result<Import, ImportError> {
    let max = options.bounds.items;
    if rows.len() > max.saturating_add(1) {
        return Err(ImportError::TooManyItems { max });
    }
    let mut lines = rows.into_iter();
    let header = lines.next().ok_or(ImportError::Empty)?;
    let header = header.cells.map_err(ImportError::Header)?;
    let columns = ColumnMap::new(&header, options)?;
    let mut import = Import::empty(&columns, "line");
    let mut any = false;
    for row in lines {
        options.cancel.check()?;
        any = true;
        import.add_row(&row, &columns, options);
    }
    if any { Ok(import) } else { Err(ImportError::NoRows) }
}

fn document(
    mut items: Vec<DocumentItem>,
    others: usize,
    of_document: Option<&str>,
    is_read: fn(&str) -> bool,
    options: &Options,
) -> Result<Import, ImportError> {
    if !options.partial && items.iter().all(|item| item.is_gone) {
        return Err(ImportError::NoMachines { others });
    }
    let columns = columns::name_cells(&mut items, options, is_read)?;
    let mut import = Import::empty(&columns, "item");
    import.filtered = others;
    for item in items {
        options.cancel.check()?;
        import.add_item(item, of_document, options);
    }
    Ok(import)
}

impl Import {
    fn empty(columns: &ColumnMap, counted: &'static str) -> Self {
        Self {
            rows: Vec::new(),
            skipped: Truncated::default(),
            invalid_cells: Truncated::default(),
            filtered: 0,
            gone: Vec::new(),
            dates: DataDates::default(),
            columns: columns.used(),
            unused: columns.unused(),
            counted,
        }
    }

    fn add_item(&mut self, item: DocumentItem, of_document: Option<&str>, options: &Options) {
        let line = item.number;
        for (name, wanted) in &options.only {
            if item.property(name).unwrap_or_default().trim() != wanted.trim() {
                self.filtered += 1;
                return;
            }
        }
        if item.is_gone {
            if let Some(id) = item.cells.get(&Field::Ref) {
                self.gone.push(format!("ref:{}", cells::text(id)));
            }
            return;
        }
        let dates = OtherDates { of_fields: &item.dates, of_document };
        match cells::record(&|field| item.cells.get(&field).map_or("", String::as_str), dates, options) {
            Err(reason) => self.skipped.push(Skipped { line, reason }),
            Ok((mut record, problems)) => {
                Arc::make_mut(&mut record.coins).extend(item.coins);
                if !item.trades.is_empty() {
                    record.more_mut().trades = item.trades;
                }
                self.add_invalid_cells(line, problems);
                self.rows.push(ImportedRow { line, key: String::new(), record });
            }
        }
    }

    fn add_invalid_cells(&mut self, line: usize, problems: Vec<cells::CellProblem>) {
        for (field, value, reason) in problems {
            let value = value.chars().take(80).collect();
            self.invalid_cells.push(InvalidCell { line, field, value, reason });
        }
    }

    fn add_row(&mut self, row: &text::RawRow, columns: &ColumnMap, options: &Options) {
        let line = row.line;
        let cells = match columns.cells_of(row) {
            Ok(cells) => cells,
            Err(reason) => return self.skipped.push(Skipped { line, reason }),
        };
        if !columns.matches(cells) {
            self.filtered += 1;
            return;
        }
        match cells::record(&|field| columns.cell(cells, field), OtherDates::default(), options) {
            Err(reason) => self.skipped.push(Skipped { line, reason }),
            Ok((record, problems)) => {
                for field in columns.missing(cells) {
                    self.invalid_cells.push(InvalidCell {
                        line,
                        field,
                        value: String::new(),
                        reason: "the row ends before it",
                    });
                }
                self.add_invalid_cells(line, problems);
                self.rows.push(ImportedRow { line, key: String::new(), record });
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
                let hash = cells::hash(&row.record);
                let count = equal_rows.entry(hash.clone()).or_default();
                *count += 1;
                row.key = format!("row:{hash}:{count}");
                return true;
            };
            let last = last_lines[source_ref];
            if row.line != last {
                let reason = format!("{counted} {last} has the same ref {source_ref:?}");
                replaced.push(Skipped { line: row.line, reason });
                return false;
            }
            row.key = format!("ref:{source_ref}");
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
