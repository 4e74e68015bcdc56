//! Which column holds which field.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::broken::{Broken, ColumnList};
use super::cells;
use super::field::{FIELDS, Field};
use super::item::DocumentItem;
use super::options::Options;
use super::text::RawRow;
use super::truncated::Truncated;

/// Most different names of properties that are looked at in a document.
const MAX_NAMES: usize = 10_000;

/// The columns of a file as they are to be read.
pub(super) struct ColumnMap {
    header: Vec<String>,
    fields: Vec<(Field, usize)>,
    only: Vec<(usize, String)>,
    /// Whether a format reads what has a name, whichever field that is.
    is_read: fn(&str) -> bool,
}

impl ColumnMap {
    pub(super) fn new(header: &[Cow<'_, str>], options: &Options) -> Result<Self, Broken> {
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
        for (name, value) in &options.only {
            columns.only.push((columns.named(name)?, value.trim().to_owned()));
        }
        for field in [Field::Lat, Field::Lon] {
            if columns.column_of(field).is_none() {
                return Err(Broken::NoCoordinates { field, columns: columns.list() });
            }
        }
        columns.fields.sort_unstable();
        Ok(columns)
    }

    fn with_header(header: Vec<String>) -> Self {
        Self { header, fields: vec![], only: vec![], is_read: str::is_empty }
    }

    /// Finds columns for the fields that were not `named`, by the header alone: those with a field's own name first.
    fn guess(&mut self, named: &[Field]) {
        let bare =
            |name: &str| name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
        let header: Vec<String> = self.header.iter().map(|name| bare(name)).collect();
        let mut take = |field: Field, names: &[&str]| {
            let is_open = !named.contains(&field) && self.fields.iter().all(|(known, _)| *known != field);
            let free = |column: &usize| self.fields.iter().all(|(_, taken)| taken != column);
            let columns = |name: &&str| (0..header.len()).filter(|&column| header[column] == *name).find(free);
            if let Some(column) = names.iter().find_map(columns).filter(|_| is_open) {
                self.fields.push((field, column));
            }
        };
        for (field, name, _) in &FIELDS {
            take(*field, &[bare(name).as_str()]);
        }
        for (field, _, names) in &FIELDS {
            take(*field, names);
        }
    }

    /// The cells of a row, or why it is not read. Of a row with too many nobody can tell which ones are the coordinates;
    /// empty ones at the end do not count. A row with too few has what it has.
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

    /// The fields whose columns a row ends before.
    pub(super) fn missing(&self, cells: &[Cow<'_, str>]) -> impl Iterator<Item = Field> {
        self.fields.iter().filter(|(_, column)| *column >= cells.len()).map(|(field, _)| *field)
    }

    /// Whether [`Options::only`] leaves a row in.
    pub(super) fn matches(&self, cells: &[Cow<'_, str>]) -> bool {
        self.only.iter().all(|(column, value)| cells.get(*column).is_some_and(|cell| cell.trim() == value))
    }

    /// What a row says of a field; empty where there is no column for it.
    pub(super) fn cell<'a>(&self, cells: &'a [Cow<'_, str>], field: Field) -> &'a str {
        self.column_of(field).and_then(|column| cells.get(column)).map_or("", |cell| cell)
    }

    /// The columns that nothing is read from.
    pub(super) fn unused(&self) -> Truncated<String> {
        let used = self.fields.iter().map(|(_, column)| column).chain(self.only.iter().map(|(column, _)| column));
        let used: BTreeSet<&usize> = used.collect();
        let mut unused = Truncated::default();
        for (column, name) in self.header.iter().enumerate() {
            if !(self.is_read)(name) && !used.contains(&column) {
                unused.push(shorten(name));
            }
        }
        unused
    }

    /// Which column each field is read from.
    pub(super) fn used(&self) -> Vec<(Field, String)> {
        self.fields.iter().map(|&(field, column)| (field, self.header[column].clone())).collect()
    }

    fn column_of(&self, field: Field) -> Option<usize> {
        self.fields.iter().find(|(known, _)| *known == field).map(|(_, column)| *column)
    }

    /// The column with this name: as it is written in the header, else in another case.
    fn named(&self, name: &str) -> Result<usize, Broken> {
        let name = name.trim();
        let find = |same: &dyn Fn(&String) -> bool| self.header.iter().position(same);
        find(&|column| column == name)
            .or_else(|| find(&|column| column.eq_ignore_ascii_case(name)))
            .ok_or_else(|| Broken::NoSuchColumn { column: name.to_owned(), columns: self.list() })
    }

    fn list(&self) -> ColumnList {
        ColumnList(self.header.clone())
    }
}

/// Gives the properties of items that their format does not know the fields that their names stand for, as those of
/// columns do, and those that the options map the fields that they are mapped to. Returns what was read from where; of
/// the names that the format reads in its own way nothing is said.
pub(super) fn name_cells(
    items: &mut [DocumentItem],
    options: &Options,
    is_read: fn(&str) -> bool,
) -> Result<ColumnMap, Broken> {
    let mut columns = ColumnMap::with_header(names(items, options));
    for (name, value) in &options.only {
        columns.only.push((columns.named(name)?, value.clone()));
    }
    let mut mapped = Vec::new();
    for (field, name) in &options.map {
        mapped.push((*field, if name.is_empty() { None } else { Some(columns.named(name)?) }));
    }
    // Where a format knows a field, its name is not guessed from others.
    let known: BTreeSet<Field> = items.iter().flat_map(|item| item.cells.keys().copied()).collect();
    let decided: Vec<Field> = known.into_iter().chain(mapped.iter().map(|(field, _)| *field)).collect();
    columns.guess(&decided);
    for item in items {
        for (field, column) in &columns.fields {
            item.set(*field, item.properties.get(&columns.header[*column]).cloned());
        }
        for (field, column) in &mapped {
            item.cells.remove(field);
            item.set(*field, column.and_then(|column| item.properties.get(&columns.header[column]).cloned()));
        }
    }
    columns.fields.extend(mapped.into_iter().filter_map(|(field, column)| Some((field, column?))));
    columns.fields.sort_unstable();
    columns.is_read = is_read;
    Ok(columns)
}

/// The names of all properties, or of so many that no source has them all by design.
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

/// As much of a name as a report shows.
fn shorten(name: &str) -> String {
    cells::text(name).chars().take(60).collect()
}
