//! One definition per table: [`rows!`](crate::rows!) makes of it the struct, its statements, its parameters, how it is
//! read, and what the mover copies.

use anyhow::{Context, Result, bail};

use crate::column::ColumnType;
use crate::row::{Row, Value};
use crate::schema::{Column, Kind, Table};
use crate::text::Text;

/// A type that one column or several hold.
pub trait Columns: Sized {
    /// The columns; one without a name is named as the field is.
    const COLUMNS: &'static [Column];

    /// Reads them in their order.
    ///
    /// # Errors
    /// Names the first that cannot be read, or that contradicts another.
    fn read(values: &mut Values) -> Result<Self>;
}

/// One that an insert sets.
pub trait IntoColumns: Columns {
    /// Writes them in their order.
    fn write(self, values: &mut Vec<Value>);
}

impl<T: ColumnType> Columns for T {
    const COLUMNS: &'static [Column] = &[Column { name: "", kind: T::KIND }];

    fn read(values: &mut Values) -> Result<Self> {
        values.next_column()
    }
}

impl<T: ColumnType> IntoColumns for T {
    fn write(self, values: &mut Vec<Value>) {
        values.push(self.into());
    }
}

/// The values of a row that is being read.
#[derive(Debug)]
pub struct Values {
    table: Table,
    values: std::iter::Enumerate<std::vec::IntoIter<Value>>,
}

impl Values {
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

/// What [`rows!`](crate::rows!) makes of a table.
pub trait Stored: Sized {
    /// The table.
    const TABLE: Table;
    /// How many of its columns, the first, an insert sets.
    const INSERTED: usize;
    /// How many of its columns, the first, a row holds.
    const READ: usize;

    /// `id, name`: what is read.
    const COLUMN_LIST: &'static str = Text::new().names(&Self::TABLE, Self::READ).as_str();
    /// `SELECT id, name FROM things`
    const SELECT: &'static str =
        Text::new().push("SELECT ").names(&Self::TABLE, Self::READ).push(" FROM ").push(Self::TABLE.name).as_str();
    /// `INSERT INTO things (id, name) VALUES ($1, $2)`
    const INSERT: &'static str =
        Text::new().insert(&Self::TABLE, Self::INSERTED).push("VALUES (").places(Self::INSERTED).push(")").as_str();
    /// `INSERT INTO things (id, name) SELECT $1, $2`, behind which a `WHERE` decides.
    const INSERT_IF: &'static str =
        Text::new().insert(&Self::TABLE, Self::INSERTED).push("SELECT ").places(Self::INSERTED).as_str();
    /// The same for many at once, on PostgreSQL alone: each parameter is an array, and a row is called `new`.
    const INSERT_MANY_IF: &'static str =
        Text::new().insert(&Self::TABLE, Self::INSERTED).unnested(&Self::TABLE, Self::INSERTED).as_str();

    /// Reads what [`Stored::SELECT`] gave.
    ///
    /// # Errors
    /// Names the table and the column that cannot be read.
    fn from_values(values: &mut Values) -> Result<Self>;

    /// The parameters of [`Stored::INSERT`].
    fn params(self) -> Vec<Value>;

    /// Reads what [`Stored::SELECT`] gave.
    ///
    /// # Errors
    /// Names the table and the column that cannot be read.
    fn from_row(row: Row) -> Result<Self> {
        if row.0.len() != Self::READ {
            bail!("{} columns of {} were read, not the {} of a row", row.0.len(), Self::TABLE.name, Self::READ);
        }
        Self::from_values(&mut Values { table: Self::TABLE, values: row.0.into_iter().enumerate() })
    }
}

/// A struct for a table: its fields are the columns that an insert sets, in their order, then those that `later`
/// writes set; what no struct holds stands `beside`. A type that is not ours is read and written `as` another.
///
/// ```
/// use signpost_store::{Stored, rows};
///
/// rows! {
///     /// A thing.
///     #[derive(Debug)]
///     pub struct Thing in "things" by [id] {
///         pub id: i64,
///         pub name: String,
///     } later {
///         pub broken_at: Option<jiff::Timestamp>,
///     } beside {
///         repairs: i64,
///     }
/// }
///
/// assert_eq!(Thing::SELECT, "SELECT id, name, broken_at FROM things");
/// assert_eq!(Thing::INSERT, "INSERT INTO things (id, name) VALUES ($1, $2)");
/// assert_eq!(Thing::TABLE.columns.len(), 4);
/// ```
#[macro_export]
macro_rules! rows {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident in $table:literal by [$($key:ident),+ $(,)?] {
            $($(#[$field_meta:meta])* $field_vis:vis $field:ident: $type:ty $(as $via:ty)?,)*
        } $(later {
            $($(#[$later_meta:meta])* $later_vis:vis $later:ident: $later_type:ty $(as $later_via:ty)?,)*
        })? $(beside {
            $($beside:ident: $beside_type:ty,)*
        })?
    ) => {
        $(#[$meta])*
        $vis struct $name {
            $($(#[$field_meta])* $field_vis $field: $type,)*
            $($($(#[$later_meta])* $later_vis $later: $later_type,)*)?
        }

        const _: () = {
            use $crate::rows::{Columns, IntoColumns, Stored, Values, count, flat};
            use $crate::{Column, Table};

            type Part = (&'static str, &'static [Column]);
            const INSERTED: &[Part] = &[
                $((stringify!($field), <$crate::via!($type $(, $via)?) as Columns>::COLUMNS),)*
            ];
            const READ: &[Part] = &[
                $((stringify!($field), <$crate::via!($type $(, $via)?) as Columns>::COLUMNS),)*
                $($((stringify!($later), <$crate::via!($later_type $(, $later_via)?) as Columns>::COLUMNS),)*)?
            ];
            const ALL: &[Part] = &[
                $((stringify!($field), <$crate::via!($type $(, $via)?) as Columns>::COLUMNS),)*
                $($((stringify!($later), <$crate::via!($later_type $(, $later_via)?) as Columns>::COLUMNS),)*)?
                $($((stringify!($beside), <$beside_type as Columns>::COLUMNS),)*)?
            ];
            const FLAT: [Column; count(ALL)] = flat(ALL);

            impl Stored for $name {
                const TABLE: Table = Table { name: $table, key: &[$(stringify!($key)),+], columns: &FLAT };
                const INSERTED: usize = count(INSERTED);
                const READ: usize = count(READ);

                fn from_values(values: &mut Values) -> ::anyhow::Result<Self> {
                    Ok(Self {
                        $($field: $crate::read_via!(values, $type $(, $via)?),)*
                        $($($later: $crate::read_via!(values, $later_type $(, $later_via)?),)*)?
                    })
                }

                fn params(self) -> Vec<$crate::Value> {
                    let mut values = Vec::with_capacity(Self::INSERTED);
                    $(IntoColumns::write($crate::write_via!(self.$field, $type $(, $via)?), &mut values);)*
                    values
                }
            }
        };
    };
}

/// The type that is stored: what stands behind `as`, if something does.
#[doc(hidden)]
#[macro_export]
macro_rules! via {
    ($type:ty) => {
        $type
    };
    ($type:ty, $via:ty) => {
        $via
    };
}

/// Reads a field.
#[doc(hidden)]
#[macro_export]
macro_rules! read_via {
    ($values:ident, $type:ty) => {
        <$type as $crate::rows::Columns>::read($values)?
    };
    ($values:ident, $type:ty, $via:ty) => {
        <$via as $crate::column::Via<$type>>::unwrap_via(<$via as $crate::rows::Columns>::read($values)?)
    };
}

/// A field as it is stored.
#[doc(hidden)]
#[macro_export]
macro_rules! write_via {
    ($value:expr, $type:ty) => {
        $value
    };
    ($value:expr, $type:ty, $via:ty) => {
        <$via as $crate::column::Via<$type>>::wrap($value)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Json, Parsed};

    /// Two columns.
    #[derive(Debug, PartialEq)]
    struct Owner {
        name: String,
        age: u32,
    }

    impl Columns for Owner {
        const COLUMNS: &'static [Column] =
            &[Column { name: "owner", kind: Kind::Text }, Column { name: "owner_age", kind: Kind::Integer }];

        fn read(values: &mut Values) -> Result<Self> {
            Ok(Self { name: values.next_column()?, age: values.next_column()? })
        }
    }

    impl IntoColumns for Owner {
        fn write(self, values: &mut Vec<Value>) {
            values.extend([self.name.into(), self.age.into()]);
        }
    }

    rows! {
        /// A thing.
        #[derive(Debug, PartialEq)]
        struct Thing in "things" by [id] {
            id: i64,
            owner: Owner,
            address: Option<std::net::IpAddr> as Option<Parsed<std::net::IpAddr>>,
            tags: Vec<String> as Json<Vec<String>>,
        } later {
            broken_at: Option<jiff::Timestamp>,
        } beside {
            repairs: i64,
        }
    }

    fn stored() -> Vec<Value> {
        let thing = Thing {
            id: 1,
            owner: Owner { name: "Ann".to_owned(), age: 40 },
            address: "127.0.0.1".parse().ok(),
            tags: vec!["a".to_owned()],
            broken_at: None,
        };
        let values = thing.params();
        let expected = [1_i64.into(), "Ann".into(), 40_i64.into(), "127.0.0.1".into(), r#"["a"]"#.into()];
        assert_eq!(values, expected);
        values.into_iter().chain([Value::Null]).collect()
    }

    #[test]
    fn one_list_of_columns_makes_every_statement() {
        const FIND: &str = crate::sql!(Thing::SELECT, " WHERE id = $1");
        let columns = "id, owner, owner_age, address, tags";
        assert_eq!(FIND, format!("SELECT {columns}, broken_at FROM things WHERE id = $1"));
        assert_eq!(Thing::INSERT, format!("INSERT INTO things ({columns}) VALUES ($1, $2, $3, $4, $5)"));
        assert_eq!(Thing::INSERT_IF, format!("INSERT INTO things ({columns}) SELECT $1, $2, $3, $4, $5"));
        let arrays = "$1::BIGINT[], $2::TEXT[], $3::BIGINT[], $4::TEXT[], $5::TEXT[]";
        let many = format!("INSERT INTO things ({columns}) SELECT * FROM unnest({arrays}) AS new ({columns})");
        assert_eq!(Thing::INSERT_MANY_IF, many);
        let moved: Vec<_> = Thing::TABLE.columns.iter().map(|column| column.name).collect();
        assert_eq!(moved.join(", "), format!("{columns}, broken_at, repairs"));
    }

    #[test]
    fn what_was_written_reads_back() {
        let thing = Thing::from_row(Row(stored())).unwrap();
        assert_eq!((thing.owner.age, thing.tags.as_slice(), thing.broken_at), (40, &["a".to_owned()][..], None));
    }

    #[test]
    fn what_cannot_be_read_is_an_error_with_its_table_and_column() {
        let wrong = [
            (0, Value::Null, "things.id: is empty"),
            (0, "1".into(), "things.id: is not a number"),
            (1, Value::Null, "things.owner: is empty"),
            (2, (-1_i64).into(), "things.owner_age: "),
            (3, "nowhere".into(), "things.address: "),
            (4, "{}".into(), "things.tags: "),
            (5, i64::MAX.into(), "things.broken_at: "),
            (5, "soon".into(), "things.broken_at: is not a number"),
        ];
        for (at, value, told) in wrong {
            let mut values = stored();
            values[at] = value;
            let error = format!("{:#}", Thing::from_row(Row(values)).unwrap_err());
            assert!(error.starts_with(told), "{error}");
        }
        let fewer = Thing::from_row(Row(stored().into_iter().skip(1).collect())).unwrap_err();
        assert_eq!(fewer.to_string(), "5 columns of things were read, not the 6 of a row");
    }
}
