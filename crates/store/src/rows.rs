//! The macro [`rows!`](crate::rows!), which generates a row struct, its SQL statements and its
//! conversions from one table definition.

use anyhow::{Result, bail};

use crate::columns::Values;
use crate::row::{Row, Value};
use crate::schema::StoredTable;
use crate::text::SqlText;

/// A row struct that [`rows!`](crate::rows!) defines.
pub trait Stored: Sized {
    /// The definition of the table.
    const TABLE: StoredTable;
    /// Number of leading columns that an `INSERT` sets.
    const INSERTED: usize;
    /// Number of leading columns that a `SELECT` reads.
    const READ: usize;

    /// The column list of a row: `id, name`
    const COLUMN_LIST: &'static str = SqlText::new().names(Self::TABLE.columns, Self::READ).as_str();
    /// A query without a condition: `SELECT id, name FROM things`
    const SELECT: &'static str = SqlText::new()
        .push("SELECT ")
        .names(Self::TABLE.columns, Self::READ)
        .push(" FROM ")
        .push(Self::TABLE.name)
        .as_str();
    /// An insert of one row: `INSERT INTO things (id, name) VALUES ($1, $2)`
    const INSERT: &'static str = SqlText::new()
        .insert(&Self::TABLE, Self::INSERTED)
        .push("VALUES (")
        .placeholders(Self::INSERTED)
        .push(")")
        .as_str();
    /// A conditional insert, to be followed by a `WHERE` clause:
    /// `INSERT INTO things (id, name) SELECT $1, $2`
    const INSERT_IF: &'static str =
        SqlText::new().insert(&Self::TABLE, Self::INSERTED).push("SELECT ").placeholders(Self::INSERTED).as_str();
    /// A conditional insert of many rows, for PostgreSQL only. Each parameter is an array, and a
    /// row is named `new`.
    const INSERT_MANY_IF: &'static str =
        SqlText::new().insert(&Self::TABLE, Self::INSERTED).unnested(&Self::TABLE, Self::INSERTED).as_str();

    /// Reads the values of a row of [`Stored::SELECT`].
    ///
    /// # Errors
    /// Returns an error with the name of the table and of the invalid column.
    fn from_values(values: &mut Values) -> Result<Self>;

    /// Returns the parameter values of [`Stored::INSERT`].
    fn params(self) -> Vec<Value>;

    /// Converts a result row of [`Stored::SELECT`].
    ///
    /// # Errors
    /// Returns an error with the name of the table and of the invalid column.
    fn from_row(row: Row) -> Result<Self> {
        if row.0.len() != Self::READ {
            bail!("{} columns of {} were read, not the {} of a row", row.0.len(), Self::TABLE.name, Self::READ);
        }
        Self::from_values(&mut Values::new(Self::TABLE, row))
    }
}

/// Defines a struct for the rows of a table. Its fields are the columns that an `INSERT` sets, in
/// order, followed by the columns that only later writes set (`mutable`). The columns that are
/// never read are `internal`. A field with a type of another crate is stored `as` another type. A
/// function after `validate` may reject rows with contradicting columns.
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
///     } mutable {
///         pub broken_at: Option<jiff::Timestamp>,
///     } internal {
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
        } $(mutable {
            $($(#[$mutable_meta:meta])* $mutable_vis:vis $mutable:ident: $mutable_type:ty $(as $mutable_via:ty)?,)*
        })? $(internal {
            $($internal:ident: $internal_type:ty,)*
        })? $(validate $check:path)?
    ) => {
        $(#[$meta])*
        $vis struct $name {
            $($(#[$field_meta])* $field_vis $field: $type,)*
            $($($(#[$mutable_meta])* $mutable_vis $mutable: $mutable_type,)*)?
        }

        const _: () = {
            use $crate::columns::{RowField, Values, count, flat};
            use $crate::rows::Stored;
            use $crate::schema::{Column, StoredTable};

            type Part = (&'static str, &'static [Column]);
            const INSERTED: &[Part] = &[
                $((stringify!($field), RowField::<$type $(, $via)?>::COLUMNS),)*
            ];
            const READ: &[Part] = &[
                $((stringify!($field), RowField::<$type $(, $via)?>::COLUMNS),)*
                $($((stringify!($mutable), RowField::<$mutable_type $(, $mutable_via)?>::COLUMNS),)*)?
            ];
            const ALL: &[Part] = &[
                $((stringify!($field), RowField::<$type $(, $via)?>::COLUMNS),)*
                $($((stringify!($mutable), RowField::<$mutable_type $(, $mutable_via)?>::COLUMNS),)*)?
                $($((stringify!($internal), RowField::<$internal_type>::COLUMNS),)*)?
            ];
            const FLAT: [Column; count(ALL)] = flat(ALL);

            impl Stored for $name {
                const TABLE: StoredTable = StoredTable { name: $table, key: &[$(stringify!($key)),+], columns: &FLAT };
                const INSERTED: usize = count(INSERTED);
                const READ: usize = count(READ);

                fn from_values(values: &mut Values) -> ::anyhow::Result<Self> {
                    let row = Self {
                        $($field: RowField::<$type $(, $via)?>::read(values)?,)*
                        $($($mutable: RowField::<$mutable_type $(, $mutable_via)?>::read(values)?,)*)?
                    };
                    $($check(&row)?;)?
                    Ok(row)
                }

                fn params(self) -> Vec<$crate::row::Value> {
                    let mut values = Vec::with_capacity(Self::INSERTED);
                    $(RowField::<$type $(, $via)?>::write(self.$field, &mut values);)*
                    values
                }
            }
        };
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::{Json, Parsed};
    use crate::columns::ReadColumns;

    crate::columns! {
        #[derive(Debug, PartialEq)]
        struct Owner {
            owner: String,
            owner_age: u32,
        }
    }

    rows! {
        #[derive(Debug, PartialEq)]
        struct Thing in "things" by [id] {
            id: i64,
            owner: Owner,
            address: Option<std::net::IpAddr> as Option<Parsed<std::net::IpAddr>>,
            tags: Vec<String> as Json<Vec<String>>,
        } mutable {
            broken_at: Option<jiff::Timestamp>,
        } internal {
            repairs: i64,
        }
    }

    fn stored() -> Vec<Value> {
        let thing = Thing {
            id: 1,
            owner: Owner { owner: "Ann".to_owned(), owner_age: 40 },
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
    fn statements_are_generated_from_the_columns() {
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
    fn a_stored_row_is_read() {
        let thing = Thing::from_row(Row(stored())).unwrap();
        assert_eq!((thing.owner.owner_age, thing.tags.as_slice(), thing.broken_at), (40, &["a".to_owned()][..], None));
    }

    #[test]
    fn invalid_values_are_errors_with_their_table_and_column() {
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
        for (at, value, expected) in wrong {
            let mut values = stored();
            values[at] = value;
            let error = format!("{:#}", Thing::from_row(Row(values)).unwrap_err());
            assert!(error.starts_with(expected), "{error}");
        }
        let fewer = Thing::from_row(Row(stored().into_iter().skip(1).collect())).unwrap_err();
        assert_eq!(fewer.to_string(), "5 columns of things were read, not the 6 of a row");
    }

    #[test]
    fn a_part_of_a_row_is_read() {
        assert_eq!(Owner::COLUMN_LIST, "owner, owner_age");
        let read = |values: Vec<Value>| Owner::from_part("things", Row(values));
        let owner = read(vec!["Ann".into(), 40_i64.into()]).unwrap();
        assert_eq!(owner, Owner { owner: "Ann".to_owned(), owner_age: 40 });
        let error = |values| format!("{:#}", read(values).unwrap_err());
        assert_eq!(error(vec!["Ann".into(), Value::Null]), "things.owner_age: is empty");
        assert_eq!(error(vec!["Ann".into()]), "1 columns of things were read, not 2");
    }
}
