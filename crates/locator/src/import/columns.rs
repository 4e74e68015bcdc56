//! Maps columns to fields.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::cells;
use super::column_name::normalized;
use super::coordinates;
use super::error::{ColumnList, ImportError};
use super::field::{FIELDS, Field};
use super::foreign_columns::FOREIGN_COLUMNS;
use super::item::DocumentItem;
use super::options::Options;
use super::text::RawRow;
use super::truncated::Truncated;

/// Maximum number of different property names of a document.
const MAX_NAMES: usize = 10_000;

/// A value that a column must have, compared in any case.
#[derive(Clone)]
pub(super) struct ColumnFilter {
    /// The position of the column.
    pub(super) column: usize,
    /// The value as in the option.
    pub(super) value: String,
    lower: String,
}

/// The mapping of the columns of a file.
pub(super) struct ColumnMap {
    header: Vec<String>,
    fields: Vec<(Field, usize)>,
    filters: Vec<ColumnFilter>,
    /// Whether the format itself reads a property.
    is_read: fn(&str) -> bool,
}

impl ColumnMap {
    pub(super) fn new(header: &[Cow<'_, str>], options: &Options) -> Result<Self, ImportError> {
        let mut columns = Self::with_header(header.iter().map(|name| cells::text(name)).collect());
        for (field, name) in &options.map {
            if !name.is_empty() {
                let column = columns.named(name)?;
                columns.fields.retain(|(known, _)| known != field);
                columns.fields.push((*field, column));
            }
        }
        let named: Vec<Field> = options.map.iter().map(|(field, _)| *field).collect();
        columns.guess(&named);
        columns.add_filters(options)?;
        for field in [Field::Lat, Field::Lon] {
            if columns.column_of(field).is_none() && columns.column_of(Field::Coordinates).is_none() {
                return Err(ImportError::NoCoordinates { field, columns: columns.list() });
            }
        }
        columns.fields.sort_unstable();
        Ok(columns)
    }

    fn with_header(header: Vec<String>) -> Self {
        Self { header, fields: vec![], filters: vec![], is_read: str::is_empty }
    }

    /// Finds columns for the fields that are not in `decided` by their names in the header. Columns with a field's own
    /// name take precedence, then English names.
    fn guess(&mut self, decided: &[Field]) {
        let header: Vec<String> = self.header.iter().map(|name| normalized(name)).collect();
        self.guess_among(decided, &header);
        // `Latitude (deg)`
        let without_notes: Vec<String> = self.header.iter().map(|name| normalized(without_note(name))).collect();
        if without_notes != header {
            self.guess_among(decided, &without_notes);
        }
    }

    fn guess_among(&mut self, decided: &[Field], header: &[String]) {
        for (field, name, _) in FIELDS.iter().filter(|(field, ..)| !decided.contains(field)) {
            if *field != Field::Coordinates {
                self.guess_column(*field, &[normalized(name).as_str()], header);
            }
        }
        for (field, _, names) in FIELDS.iter().filter(|(field, ..)| !decided.contains(field)) {
            self.guess_column(*field, names, header);
        }
        let foreign = FOREIGN_COLUMNS.iter().filter(|(field, _)| !decided.contains(field));
        for (field, names) in foreign.clone().filter(|(field, _)| *field != Field::Coordinates) {
            self.guess_column(*field, names, header);
        }
        let is_known = |field: &Field| decided.contains(field) || self.column_of(*field).is_some();
        if ![Field::Lat, Field::Lon].iter().all(is_known) && !decided.contains(&Field::Coordinates) {
            self.guess_column(Field::Coordinates, &coordinates::COLUMNS, header);
            for (field, names) in foreign.filter(|(field, _)| *field == Field::Coordinates) {
                self.guess_column(*field, names, header);
            }
        }
    }

    /// Maps the first unused column with one of these names to a field that has no column.
    fn guess_column(&mut self, field: Field, names: &[&str], header: &[String]) {
        if self.column_of(field).is_some() {
            return;
        }
        for name in names {
            for (column, _) in header.iter().enumerate().filter(|(_, column)| *column == name) {
                if self.fields.iter().all(|(_, used)| *used != column) {
                    self.fields.push((field, column));
                    return;
                }
            }
        }
    }

    /// Returns the cells of a row, or the reason why it is skipped: in a row with too many cells, the columns are
    /// ambiguous. Empty cells at the end are ignored. A row may have fewer cells than the header.
    pub(super) fn cells_of<'a, 'b>(&self, row: &'a RawRow<'b>) -> Result<&'a [Cow<'b, str>], String> {
        let all = row.cells.as_deref().map_err(String::clone)?;
        let width = self.header.len();
        let (cells, more) = all.split_at_checked(width).unwrap_or((all, &[]));
        if more.iter().all(|cell| cell.is_empty()) {
            Ok(cells)
        } else {
            Err(format!("the row has {} cells and the header {width}", all.len()))
        }
    }

    /// Returns the fields without a cell in a row that is too short.
    pub(super) fn missing(&self, cells: &[Cow<'_, str>]) -> impl Iterator<Item = Field> {
        self.fields.iter().filter(|(_, column)| *column >= cells.len()).map(|(field, _)| *field)
    }

    /// Adds the filters of [`Options::only`].
    fn add_filters(&mut self, options: &Options) -> Result<(), ImportError> {
        for (name, value) in &options.only {
            let value = cells::text(value);
            self.filters.push(ColumnFilter { column: self.named(name)?, lower: value.to_lowercase(), value });
        }
        Ok(())
    }

    pub(super) fn filters(&self) -> &[ColumnFilter] {
        &self.filters
    }

    /// Returns the name of a column.
    pub(super) fn name(&self, position: usize) -> &str {
        &self.header[position]
    }

    /// Returns the cell of a field; empty if it has no column.
    pub(super) fn cell<'a>(&self, cells: &'a [Cow<'_, str>], field: Field) -> &'a str {
        self.column_of(field).and_then(|column| cells.get(column)).map_or("", |cell| cell)
    }

    /// Returns the unused columns.
    pub(super) fn unused(&self) -> Truncated<String> {
        let mut unused = Truncated::default();
        for position in self.unused_positions() {
            unused.push(shorten(&self.header[position]));
        }
        unused
    }

    /// Returns the positions of the unused columns.
    pub(super) fn unused_positions(&self) -> impl Iterator<Item = usize> {
        let mapped = self.fields.iter().map(|(_, column)| *column);
        let used: BTreeSet<usize> = mapped.chain(self.filters.iter().map(|filter| filter.column)).collect();
        let columns = self.header.iter().enumerate();
        let unused = columns.filter(move |(column, name)| !(self.is_read)(name) && !used.contains(column));
        unused.map(|(column, _)| column)
    }

    /// Returns the column of each field.
    pub(super) fn used(&self) -> Vec<(Field, String)> {
        self.fields.iter().map(|&(field, column)| (field, self.header[column].clone())).collect()
    }

    fn column_of(&self, field: Field) -> Option<usize> {
        self.fields.iter().find(|(known, _)| *known == field).map(|(_, column)| *column)
    }

    /// Returns the column with this name, compared exactly, then in any case.
    fn named(&self, name: &str) -> Result<usize, ImportError> {
        let name = name.trim();
        let exact = self.header.iter().position(|column| column == name);
        let column = exact.or_else(|| self.header.iter().position(|column| column.eq_ignore_ascii_case(name)));
        column.ok_or_else(|| ImportError::NoSuchColumn { column: name.to_owned(), columns: self.list() })
    }

    fn list(&self) -> ColumnList {
        ColumnList(self.header.clone())
    }
}

impl ColumnFilter {
    /// Returns `true` if a cell has the value.
    pub(super) fn matches(&self, cell: &str) -> bool {
        cell == self.value || cell.to_lowercase() == self.lower
    }
}

/// Maps properties that the format does not read to fields: by the options, else by their names, like columns. Returns
/// the mapping.
pub(super) fn name_cells(
    items: &mut [DocumentItem],
    options: &Options,
    is_read: fn(&str) -> bool,
) -> Result<ColumnMap, ImportError> {
    let mut columns = ColumnMap::with_header(names(items, options));
    columns.add_filters(options)?;
    let mut mapped = Vec::new();
    for (field, name) in &options.map {
        mapped.push((*field, if name.is_empty() { None } else { Some(columns.named(name)?) }));
    }
    // Fields that the format sets are not guessed.
    let known: BTreeSet<Field> = items.iter().flat_map(DocumentItem::fields).collect();
    let decided: Vec<Field> = known.into_iter().chain(mapped.iter().map(|(field, _)| *field)).collect();
    columns.guess(&decided);
    for item in items {
        for (field, column) in &columns.fields {
            item.set(*field, item.properties.get(&columns.header[*column]).cloned());
        }
        for (field, column) in &mapped {
            item.cells.remove(field);
            item.dates.retain(|(of, _)| of != field);
            item.set(*field, column.and_then(|column| item.properties.get(&columns.header[column]).cloned()));
        }
    }
    columns.fields.extend(mapped.into_iter().filter_map(|(field, column)| Some((field, column?))));
    columns.fields.sort_unstable();
    columns.is_read = is_read;
    Ok(columns)
}

/// Returns the names of the properties, at most [`MAX_NAMES`] and those in the options.
fn names(items: &[DocumentItem], options: &Options) -> Vec<String> {
    let asked = options.only.iter().map(|(name, _)| name).chain(options.map.iter().map(|(_, name)| name));
    let asked: BTreeSet<String> = asked.map(|name| name.trim().to_lowercase()).collect();
    let mut names = BTreeSet::new();
    for name in items.iter().flat_map(|item| item.properties.keys()) {
        if names.len() < MAX_NAMES || asked.contains(&name.to_lowercase()) {
            names.insert(name);
        }
    }
    names.into_iter().cloned().collect()
}

/// Returns a name without the parentheses at its end.
fn without_note(name: &str) -> &str {
    match name.find(['(', '[', '（']) {
        Some(at) if at > 0 => &name[..at],
        _ => name,
    }
}

/// Returns the part of a name that a report shows.
fn shorten(name: &str) -> String {
    cells::text(name).chars().take(60).collect()
}
