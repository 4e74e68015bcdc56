//! What several columns hold together.

use std::marker::PhantomData;

use anyhow::{Context, Result, ensure};

use crate::column::{ColumnType, Via};
use crate::row::{Row, Value};
use crate::schema::{Column, Kind, StoredTable};
use crate::text::SqlText;

/// A type that one column or several hold.
pub trait ReadColumns: Sized {
    /// The columns; one without a name is named as the field is.
    const COLUMNS: &'static [Column];

    /// `id, name`: where only they are read of a row.
    const COLUMN_LIST: &'static str = SqlText::new().names(Self::COLUMNS, Self::COLUMNS.len()).as_str();

    /// Reads them in their order.
    ///
    /// # Errors
    /// Names the first that cannot be read, or that contradicts another.
    fn read(values: &mut Values) -> Result<Self>;

    /// Reads what a statement gave of a table's row: [`ReadColumns::COLUMN_LIST`] and no more.
    ///
    /// # Errors
    /// Names the table and the column that cannot be read.
    fn from_part(table: &'static str, row: Row) -> Result<Self> {
        let (read, columns) = (row.0.len(), Self::COLUMNS.len());
        ensure!(read == columns, "{read} columns of {table} were read, not {columns}");
        Self::read(&mut Values::new(StoredTable { name: table, key: &[], columns: Self::COLUMNS }, row))
    }
}

/// One that an insert sets.
pub trait WriteColumns: ReadColumns {
    /// Writes them in their order.
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

/// The values of a row that is being read.
#[derive(Debug)]
pub struct Values {
    table: StoredTable,
    values: std::iter::Enumerate<std::vec::IntoIter<Value>>,
}

impl Values {
    /// Those of a table's row.
    #[must_use]
    pub fn new(table: StoredTable, row: Row) -> Self {
        Self { table, values: row.0.into_iter().enumerate() }
    }

    /// The next one.
    ///
    /// # Errors
    /// Where it cannot be read, with the names of its table and column.
    pub fn next_column<T: ColumnType>(&mut self) -> Result<T> {
        let (at, value) = self.values.next().context("a row has fewer columns than its definition")?;
        T::from_value(value).with_context(|| {
            let column = self.table.columns.get(at).map_or("", |column| column.name);
            format!("{}.{column}", self.table.name)
        })
    }
}

/// A field of type `T`, which is stored as a `V`.
#[derive(Debug)]
pub struct RowField<T, V = T>(PhantomData<(T, V)>);

impl<T, V: ReadColumns + Via<T>> RowField<T, V> {
    /// Its columns.
    pub const COLUMNS: &'static [Column] = V::COLUMNS;

    /// Reads it.
    ///
    /// # Errors
    /// As [`ReadColumns::read`].
    pub fn read(values: &mut Values) -> Result<T> {
        V::read(values).map(V::unwrap_via)
    }
}

impl<T, V: WriteColumns + Via<T>> RowField<T, V> {
    /// Writes it.
    pub fn write(value: T, values: &mut Vec<Value>) {
        V::wrap(value).write(values);
    }
}

/// A struct that is a part of rows: its fields are columns, as those of [`rows!`](crate::rows!) are.
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

/// How many columns these fields are.
#[doc(hidden)]
#[must_use]
pub const fn count(parts: &[(&str, &[Column])]) -> usize {
    let (mut count, mut part) = (0, 0);
    while part < parts.len() {
        count += parts[part].1.len();
        part += 1;
    }
    count
}

/// The columns of these fields, each with its name.
#[doc(hidden)]
#[must_use]
pub const fn flat<const N: usize>(parts: &[(&'static str, &[Column])]) -> [Column; N] {
    let mut flat = [Column { name: "", kind: Kind::Text }; N];
    let (mut at, mut part) = (0, 0);
    while part < parts.len() {
        let (field, columns) = parts[part];
        let mut column = 0;
        while column < columns.len() {
            let Column { name, kind } = columns[column];
            flat[at] = Column { name: if name.is_empty() { field } else { name }, kind };
            at += 1;
            column += 1;
        }
        part += 1;
    }
    flat
}
