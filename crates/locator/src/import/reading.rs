//! Reads the rows of a table and the items of a document into an [`Import`].

use super::Import;
use super::cells::RowContext;
use super::columns::{self, ColumnMap};
use super::counted_values::CountedValues;
use super::error::ImportError;
use super::item::DocumentItem;
use super::local_date::{DATE_FIELDS, DayOrders};
use super::options::Options;
use super::suggestions::ColumnObserver;
use super::text::RawRow;
use crate::gazetteer::Gazetteer;

/// Maximum rows above the header, such as a title.
const MAX_TITLE_ROWS: usize = 10;

/// Returns the position of the header in the rows of a table, and its columns: the first row, else the first of the next
/// rows that has columns for the coordinates, below a title.
fn find_header(rows: &[RawRow<'_>], options: &Options) -> Result<(usize, ColumnMap), ImportError> {
    let first = rows.first().ok_or(ImportError::Empty)?;
    let cells = first.cells.as_ref().map_err(|reason| ImportError::Header(reason.clone()))?;
    let error = match ColumnMap::new(cells, options) {
        Ok(columns) => return Ok((0, columns)),
        Err(error) => error,
    };
    for (at, row) in rows.iter().enumerate().take(MAX_TITLE_ROWS + 1).skip(1) {
        if let Ok(cells) = &row.cells
            && let Ok(columns) = ColumnMap::new(cells, options)
        {
            return Ok((at, columns));
        }
    }
    Err(error)
}

/// Imports the rows of a table.
pub(super) fn table(
    rows: &[RawRow<'_>],
    options: &Options,
    gazetteer: Option<&Gazetteer>,
    notices: &mut Vec<String>,
) -> Result<Import, ImportError> {
    let max = options.bounds.items;
    if rows.len() > max.saturating_add(1) {
        return Err(ImportError::TooManyItems { max });
    }
    let (header, columns) = find_header(rows, options)?;
    if header > 0 {
        notices.push(format!("the header is line {}; the lines above it are not read", rows[header].line));
    }
    let rows = &rows[header + 1..];
    let mut day_orders = DayOrders::default();
    for cells in rows.iter().filter_map(|row| row.cells.as_ref().ok()) {
        for field in DATE_FIELDS {
            day_orders.observe(field, columns.cell(cells, field));
        }
    }
    let context = RowContext { options, gazetteer, day_orders: &day_orders };
    let mut import = Import::empty(&columns, "line");
    let mut observer = ColumnObserver::new(&columns, options);
    for row in rows {
        options.cancel.check()?;
        import.add_row(row, &columns, &mut observer, context);
    }
    import.suggestions = observer.suggestions();
    if rows.is_empty() { Err(ImportError::NoRows) } else { Ok(import) }
}

/// The items of a document.
pub(super) struct DocumentItems<'a> {
    pub(super) items: Vec<DocumentItem>,
    /// The other items, by the tag or property that shows that they are no ATMs.
    pub(super) others: CountedValues,
    /// The date of the document.
    pub(super) of_document: Option<&'a str>,
    /// Whether the format itself reads a property.
    pub(super) is_read: fn(&str) -> bool,
}

/// Imports the items of a document.
pub(super) fn document(
    document: DocumentItems<'_>,
    options: &Options,
    gazetteer: Option<&Gazetteer>,
) -> Result<Import, ImportError> {
    let DocumentItems { mut items, others, of_document, is_read } = document;
    if !options.partial && items.iter().all(|item| item.is_gone) {
        return Err(ImportError::NoMachines { others });
    }
    let columns = columns::name_cells(&mut items, options, is_read)?;
    let mut day_orders = DayOrders::default();
    for item in &items {
        for field in DATE_FIELDS {
            day_orders.observe(field, item.cells.get(&field).map_or("", String::as_str));
        }
    }
    let context = RowContext { options, gazetteer, day_orders: &day_orders };
    let mut import = Import::empty(&columns, "item");
    import.filtered = others.total();
    import.filtered_by = others;
    let mut observer = ColumnObserver::new(&columns, options);
    for item in items {
        options.cancel.check()?;
        match observer.observe_item(&item) {
            Some(reason) => import.add_filtered(&reason),
            None => import.add_item(item, of_document, context),
        }
    }
    import.suggestions = observer.suggestions();
    Ok(import)
}
