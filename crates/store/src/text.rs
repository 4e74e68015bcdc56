//! Assembles SQL statements at compile time.

use crate::schema::{Column, ColumnKind, StoredTable};

/// Maximum length of a statement that `rows!` generates, in bytes.
const MAX_LEN: usize = 1536;

/// An SQL text of bounded length. Exceeding the maximum is a compile error.
#[derive(Clone, Copy, Debug)]
pub struct SqlText {
    bytes: [u8; MAX_LEN],
    len: usize,
}

impl SqlText {
    /// Creates an empty text.
    pub(crate) const fn new() -> Self {
        Self { bytes: [0; MAX_LEN], len: 0 }
    }

    pub(crate) const fn push(mut self, text: &str) -> Self {
        let mut index = 0;
        while index < text.len() {
            self.bytes[self.len] = text.as_bytes()[index];
            self.len += 1;
            index += 1;
        }
        self
    }

    /// Appends the column list `id, name`.
    pub(crate) const fn names(mut self, columns: &[Column], count: usize) -> Self {
        let mut index = 0;
        while index < count {
            self = self.comma(index).push(columns[index].name);
            index += 1;
        }
        self
    }

    /// Appends the parameter list `$1, $2`.
    pub(crate) const fn placeholders(mut self, count: usize) -> Self {
        let mut index = 0;
        while index < count {
            self = self.comma(index).push("$").number(index + 1);
            index += 1;
        }
        self
    }

    /// Appends `INSERT INTO things (id, name) `.
    pub(crate) const fn insert(self, table: &StoredTable, count: usize) -> Self {
        self.push("INSERT INTO ").push(table.name).push(" (").names(table.columns, count).push(") ")
    }

    /// Appends `SELECT * FROM unnest($1::TEXT[], $2::BIGINT[]) AS new (id, name)`.
    pub(crate) const fn unnested(mut self, table: &StoredTable, count: usize) -> Self {
        self = self.push("SELECT * FROM unnest(");
        let mut index = 0;
        while index < count {
            let array = match table.columns[index].kind {
                ColumnKind::Text => "::TEXT[]",
                ColumnKind::Integer => "::BIGINT[]",
            };
            self = self.comma(index).push("$").number(index + 1).push(array);
            index += 1;
        }
        self.push(") AS new (").names(table.columns, count).push(")")
    }

    const fn comma(self, index: usize) -> Self {
        if index > 0 { self.push(", ") } else { self }
    }

    const fn number(self, number: usize) -> Self {
        const DIGITS: &str = "0123456789";
        let tens = if number >= 10 { self.number(number / 10) } else { self };
        tens.push(DIGITS.split_at(number % 10).1.split_at(1).0)
    }

    pub(crate) const fn as_str(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => panic!("names are text"),
        }
    }
}

/// Concatenates the parts of an SQL statement at compile time:
/// `const FIND: &str = sql!(Thing::SELECT, " WHERE id = $1");`
#[macro_export]
macro_rules! sql {
    ($($part:expr),+ $(,)?) => {{
        const PARTS: &[&str] = &[$($part),+];
        const LEN: usize = $crate::text::length(PARTS);
        const BYTES: [u8; LEN] = $crate::text::joined(PARTS);
        match ::std::str::from_utf8(&BYTES) {
            Ok(text) => text,
            Err(_) => panic!("parts of a text are text"),
        }
    }};
}

/// Returns the total length of the parts in bytes.
#[doc(hidden)]
#[must_use]
pub const fn length(parts: &[&str]) -> usize {
    let mut length = 0;
    let mut part = 0;
    while part < parts.len() {
        length += parts[part].len();
        part += 1;
    }
    length
}

/// Returns the bytes of all parts.
#[doc(hidden)]
#[must_use]
pub const fn joined<const N: usize>(parts: &[&str]) -> [u8; N] {
    let mut bytes = [0; N];
    let mut to = 0;
    let mut part = 0;
    while part < parts.len() {
        let mut index = 0;
        while index < parts[part].len() {
            bytes[to] = parts[part].as_bytes()[index];
            to += 1;
            index += 1;
        }
        part += 1;
    }
    bytes
}
