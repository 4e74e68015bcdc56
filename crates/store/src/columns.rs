//! Conversions between Rust types and one or more columns of a row.

use std::marker::PhantomData;

use anyhow::{Context, Result, ensure};

use crate::column::{ColumnType, Wrapper};
use crate::row::{Row, Value};
use crate::schema::{Column, ColumnKind, StoredTable};
use crate::text::SqlText;

/// A type that is read from one or more columns.
pub trait ReadColumns: Sized {
    /// The columns of this type. A column with an empty name is named after the field.
    const COLUMNS: &'static [Column];

    /// The comma-separated column names, such as `id, name`, for queries that read only these
    /// columns.
    const COLUMN_LIST: &'static str = SqlText::new().names(Self::COLUMNS, Self::COLUMNS.len()).as_str();

    /// Reads the columns in the order of [`ReadColumns::COLUMNS`].
    ///
    /// # Errors
    /// Returns an error if a column is invalid or contradicts another column.
    fn read(values: &mut Values) -> Result<Self>;

    /// Reads a row that consists of the columns of [`ReadColumns::COLUMN_LIST`].
    ///
    /// # Errors
    /// Returns an error with the name of the table and of the invalid column.
    fn from_part(table: &'static str, row: Row) -> Result<Self> {
        let read = row.0.len();
        let columns = Self::COLUMNS.len();
        ensure!(read == columns, "{read} columns of {table} were read, not {columns}");
        Self::read(&mut Values::new(StoredTable { name: table, key: &[], columns: Self::COLUMNS }, row))
    }
}

/// A type that an `INSERT` statement stores in one or more columns.
pub trait WriteColumns: ReadColumns {
    /// Appends the values of the columns in the order of [`ReadColumns::COLUMNS`].
    fn write(self, values: &mut Vec<Value>);
}

impl<T: ColumnType> ReadColumns for T {
    const COLUMNS: &'static [Column] = &[Column { name: "", kind: T::KIND }];

    fn read(values: &mut Values) -> Result<Self> {
        values.next_column()
    }
}

impl<T: ColumnType> WriteColumns for T {
    fn write(self, values: &mut Vec<Value>) {
        values.push(self.into());
    }
}

/// The values of a row, read in order.
#[derive(Debug)]
pub struct Values {
    table: StoredTable,
    values: std::iter::Enumerate<std::vec::IntoIter<Value>>,
}

impl Values {
    /// Creates the reader of a row of this table.
    #[must_use]
    pub fn new(table: StoredTable, row: Row) -> Self {
        Self { table, values: row.0.into_iter().enumerate() }
    }

    /// Reads the next column.
    ///
    /// # Errors
    /// Returns an error with the name of the table and of the column if the value is invalid.
    pub fn next_column<T: ColumnType>(&mut self) -> Result<T> {
        let (index, value) = self.values.next().context("a row has fewer columns than its definition")?;
        T::from_value(value).with_context(|| {
            let column = self.table.columns.get(index).map_or("", |column| column.name);
            format!("{}.{column}", self.table.name)
        })
    }
}

/// Reads and writes a field of type `T` that is stored as a `V`.
#[derive(Debug)]
pub struct RowField<T, V = T>(PhantomData<(T, V)>);

impl<T, V: ReadColumns + Wrapper<T>> RowField<T, V> {
    /// The columns that store the field.
    pub const COLUMNS: &'static [Column] = V::COLUMNS;

    /// Reads the field from its columns.
    ///
    /// # Errors
    /// Returns the errors of [`ReadColumns::read`].
    pub fn read(values: &mut Values) -> Result<T> {
        V::read(values).map(V::into_wrapped)
    }
}

impl<T, V: WriteColumns + Wrapper<T>> RowField<T, V> {
    /// Appends the column values of the field.
    pub fn write(value: T, values: &mut Vec<Value>) {
        V::wrap(value).write(values);
    }
}

/// Defines a struct for a group of columns that several tables share. Its fields are declared like
/// those of [`rows!`](crate::rows!).
#[macro_export]
macro_rules! columns {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $($(#[$field_meta:meta])* $field_vis:vis $field:ident: $type:ty $(as $via:ty)?,)*
        }
    ) => {
        $(#[$meta])*
        $vis struct $name {
            $($(#[$field_meta])* $field_vis $field: $type,)*
        }

        const _: () = {
            use $crate::columns::{RowField, ReadColumns, Values, WriteColumns, count, flat};
            use $crate::row::Value;
            use $crate::schema::Column;

            const PARTS: &[(&str, &[Column])] = &[
                $((stringify!($field), RowField::<$type $(, $via)?>::COLUMNS),)*
            ];
            const FLAT: [Column; count(PARTS)] = flat(PARTS);

            impl ReadColumns for $name {
                const COLUMNS: &'static [Column] = &FLAT;

                fn read(values: &mut Values) -> ::anyhow::Result<Self> {
                    Ok(Self { $($field: RowField::<$type $(, $via)?>::read(values)?,)* })
                }
            }

            impl WriteColumns for $name {
                fn write(self, values: &mut Vec<Value>) {
                    $(RowField::<$type $(, $via)?>::write(self.$field, values);)*
                }
            }
        };
    };
}

/// Returns the total number of columns of these fields.
#[doc(hidden)]
#[must_use]
pub const fn count(parts: &[(&str, &[Column])]) -> usize {
    let mut count = 0;
    let mut part = 0;
    while part < parts.len() {
        count += parts[part].1.len();
        part += 1;
    }
    count
}

/// Returns the columns of all fields. A column without a name gets the name of its field.
#[doc(hidden)]
#[must_use]
pub const fn flat<const N: usize>(parts: &[(&'static str, &[Column])]) -> [Column; N] {
    let mut flat = [Column { name: "", kind: ColumnKind::Text }; N];
    let mut index = 0;
    let mut part = 0;
    while part < parts.len() {
        let (field, columns) = parts[part];
        let mut column = 0;
        while column < columns.len() {
            let Column { name, kind } = columns[column];
            flat[index] = Column { name: if name.is_empty() { field } else { name }, kind };
            index += 1;
            column += 1;
        }
        part += 1;
    }
    flat
}
