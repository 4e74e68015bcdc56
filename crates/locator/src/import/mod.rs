//! Reading machines from files: tables with a header, and documents of the sources that there are ([`FORMATS`]).
//!
//! A file is read as a whole: either every row is an ATM, is skipped, or is filtered out, and each is accounted for by
//! its line or, in a document, its number; or the file is [`Broken`] and nothing of it is used. The same file always gives the same rows with the
//! same keys, so that importing it again changes nothing.

mod bounds;
mod broken;
mod btcmap;
mod cells;
mod columns;
mod document;
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
mod truncated;
mod words;

use std::collections::HashMap;
use std::sync::Arc;

use crate::atm::Record;

pub use bounds::{Bounds, Stop};
pub use broken::{Broken, ColumnList};
pub use field::{Field, UnknownField};
pub use format::Format;
pub use formats::{FORMATS, FormatChoice, UnknownFormat};
pub use options::Options;
pub use submission::FORMAT as SUBMISSION;
pub use truncated::{MAX_LISTED, Truncated};

use columns::ColumnMap;
use format::{FileContent, SourceFile};
use item::DocumentItem;

/// What a file holds.
#[derive(Clone, Debug)]
pub struct Import {
    /// The machines, in the order of the file.
    pub rows: Vec<ImportedRow>,
    /// The rows that are not used.
    pub skipped: Truncated<Skipped>,
    /// The cells that could not be understood; their fields are unknown.
    pub doubts: Truncated<Doubt>,
    /// How many rows [`Options::only`] left out.
    pub filtered: usize,
    /// The keys of machines that the source says are there no more.
    pub gone: Vec<String>,
    /// Which column each field was read from; empty where the format decides that.
    pub columns: Vec<(Field, String)>,
    /// The columns, in a document the properties, that nothing was read from; the first 60 characters of each.
    pub unused: Truncated<String>,
    /// What the numbers of rows count: `line` or `item`.
    pub counted: &'static str,
}

/// A machine in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedRow {
    /// Its line in the file, from 1; of a row over several lines, the first. In a document, its number.
    pub line: usize,
    /// What tells it from the other machines of its source, in this file and in later ones: `ref:` and the source's own
    /// identifier, else `row:`, a hash of name, address and coordinates, and a count of the rows that have it.
    pub key: String,
    /// What the row says.
    pub record: Record,
}

/// A row that is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Its line or number in the file, from 1.
    pub line: usize,
    /// Why.
    pub reason: String,
}

/// A cell that could not be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// Its line or number in the file, from 1.
    pub line: usize,
    /// The field that is unknown because of it.
    pub field: Field,
    /// What the cell holds, at most 80 characters of it.
    pub value: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

/// Reads a file.
///
/// Rows are one machine each, even where they are alike; only of rows with the same identifier does the last one
/// stand for all. A row is skipped for want of usable coordinates, or of the right number of cells; any other cell that
/// cannot be understood makes its field unknown. All of that is reported.
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
/// [`Broken`], where the file as a whole or the options cannot be right.
pub fn read(bytes: &[u8], options: &Options) -> Result<Import, Broken> {
    options.stop.check()?;
    let members = formats::members();
    let file = SourceFile::new(bytes, options.bounds, &options.stop, &members);
    let format = match options.format {
        FormatChoice::Auto => formats::detect(&file)?,
        FormatChoice::Named(format) => format,
    };
    let mut import = match (format.read)(&file)? {
        FileContent::Rows(rows) => table(rows, options)?,
        FileContent::Items { items, others, is_read } => document(items, others, is_read, options)?,
    };
    import.settle_identities();
    Ok(import)
}

fn table(rows: Vec<text::RawRow<'_>>, options: &Options) -> Result<Import, Broken> {
    let most = options.bounds.items;
    if rows.len() > most.saturating_add(1) {
        return Err(Broken::TooManyItems { most });
    }
    let mut lines = rows.into_iter();
    let header = lines.next().ok_or(Broken::Empty)?;
    let header = header.cells.map_err(Broken::Header)?;
    let columns = ColumnMap::new(&header, options)?;
    let mut import = Import::empty(&columns, "line");
    let mut any = false;
    for row in lines {
        options.stop.check()?;
        any = true;
        import.add_row(&row, &columns, options);
    }
    if any { Ok(import) } else { Err(Broken::NoRows) }
}

fn document(
    mut items: Vec<DocumentItem>,
    others: usize,
    is_read: fn(&str) -> bool,
    options: &Options,
) -> Result<Import, Broken> {
    if !options.partial && items.iter().all(|item| item.is_gone) {
        return Err(Broken::NoMachines { others });
    }
    let columns = columns::name_cells(&mut items, options, is_read)?;
    let mut import = Import::empty(&columns, "item");
    import.filtered = others;
    for item in items {
        options.stop.check()?;
        import.add_item(item, options);
    }
    Ok(import)
}

impl Import {
    fn empty(columns: &ColumnMap, counted: &'static str) -> Self {
        let (columns, unused) = (columns.used(), columns.unused());
        let (skipped, doubts) = (Truncated::default(), Truncated::default());
        Self { rows: vec![], skipped, doubts, filtered: 0, gone: vec![], columns, unused, counted }
    }

    fn add_item(&mut self, item: DocumentItem, options: &Options) {
        let line = item.number;
        let value = |name: &str| item.properties.get(name).map_or("", |value| value.trim());
        if !options.only.iter().all(|(name, wanted)| value(name) == wanted.trim()) {
            self.filtered += 1;
            return;
        }
        let id = item.cells.get(&Field::Ref);
        if item.is_gone {
            self.gone.extend(id.map(|id| format!("ref:{}", cells::text(id))));
            return;
        }
        match cells::record(&|field| item.cells.get(&field).map_or("", String::as_str), options) {
            Err(reason) => self.skipped.push(Skipped { line, reason }),
            Ok((mut record, doubts)) => {
                Arc::make_mut(&mut record.coins).extend(item.coins);
                if !item.trades.is_empty() {
                    record.more_mut().trades = item.trades;
                }
                self.doubt(line, doubts);
                self.rows.push(ImportedRow { line, key: String::new(), record });
            }
        }
    }

    fn doubt(&mut self, line: usize, doubts: Vec<cells::Doubtful>) {
        for (field, value, reason) in doubts {
            let value = value.chars().take(80).collect();
            self.doubts.push(Doubt { line, field, value, reason });
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
        match cells::record(&|field| columns.cell(cells, field), options) {
            Err(reason) => self.skipped.push(Skipped { line, reason }),
            Ok((record, doubts)) => {
                for field in columns.missing(cells) {
                    self.doubts.push(Doubt { line, field, value: String::new(), reason: "the row ends before it" });
                }
                self.doubt(line, doubts);
                self.rows.push(ImportedRow { line, key: String::new(), record });
            }
        }
    }

    /// Gives every row its key, and of rows with one `ref` keeps the last.
    fn settle_identities(&mut self) {
        let mut last: HashMap<&str, usize> = HashMap::new();
        for row in &self.rows {
            if let Some(source_ref) = &row.record.source_ref {
                last.insert(source_ref.as_str(), row.line);
            }
        }
        let mut alike: HashMap<String, usize> = HashMap::new();
        let mut replaced = Vec::new();
        let counted = self.counted;
        let keys: Vec<Option<String>> = self
            .rows
            .iter()
            .map(|row| match &row.record.source_ref {
                Some(source_ref) if last[source_ref.as_str()] == row.line => Some(format!("ref:{source_ref}")),
                Some(source_ref) => {
                    let line = last[source_ref.as_str()];
                    replaced.push(Skipped {
                        line: row.line,
                        reason: format!("{counted} {line} has the same ref {source_ref:?}"),
                    });
                    None
                }
                None => {
                    let hash = cells::hash(&row.record);
                    let count = alike.entry(hash.clone()).or_default();
                    *count += 1;
                    Some(format!("row:{hash}:{count}"))
                }
            })
            .collect();
        let rows = std::mem::take(&mut self.rows).into_iter().zip(keys);
        self.rows = rows.filter_map(|(row, key)| Some(ImportedRow { key: key?, ..row })).collect();
        self.skipped.merge(replaced);
    }
}

impl Truncated<Skipped> {
    /// Adds more, and puts all in the order of the file.
    fn merge(&mut self, more: Vec<Skipped>) {
        self.total += more.len();
        self.first.extend(more);
        self.first.sort_by_key(|skipped| skipped.line);
        self.first.truncate(MAX_LISTED);
    }
}
