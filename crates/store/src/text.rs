//! Statements that are assembled at compile time.

use crate::schema::{Column, ColumnKind, StoredTable};

/// Maximum length of a statement that `rows!` makes, in bytes.
const MAX_LEN: usize = 1536;

/// A text of bounded length. Exceeding it is a compile error.
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
        let mut at = 0;
        while at < text.len() {
            self.bytes[self.len] = text.as_bytes()[at];
            self.len += 1;
            at += 1;
        }
        self
    }

    /// Adds `id, name`.
    pub(crate) const fn names(mut self, columns: &[Column], count: usize) -> Self {
        let mut at = 0;
        while at < count {
            self = self.comma(at).push(columns[at].name);
            at += 1;
        }
        self
    }

    /// Adds `$1, $2`.
    pub(crate) const fn places(mut self, count: usize) -> Self {
        let mut at = 0;
        while at < count {
            self = self.comma(at).push("$").number(at + 1);
            at += 1;
        }
        self
    }

    /// Adds `INSERT INTO things (id, name) `.
    pub(crate) const fn insert(self, table: &StoredTable, count: usize) -> Self {
        self.push("INSERT INTO ").push(table.name).push(" (").names(table.columns, count).push(") ")
    }

    /// Adds `SELECT * FROM unnest($1::TEXT[], $2::BIGINT[]) AS new (id, name)`.
    pub(crate) const fn unnested(mut self, table: &StoredTable, count: usize) -> Self {
        self = self.push("SELECT * FROM unnest(");
        let mut at = 0;
        while at < count {
            let array = match table.columns[at].kind {
                ColumnKind::Text => "::TEXT[]",
                ColumnKind::Integer => "::BIGINT[]",
            };
            self = self.comma(at).push("$").number(at + 1).push(array);
            at += 1;
        }
        self.push(") AS new (").names(table.columns, count).push(")")
    }

    const fn comma(self, at: usize) -> Self {
        if at > 0 { self.push(", ") } else { self }
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

/// Concatenates the parts of a statement at compile time:
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

/// Returns the total length of the parts.
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

/// Returns the bytes of the parts.
#[doc(hidden)]
#[must_use]
pub const fn joined<const N: usize>(parts: &[&str]) -> [u8; N] {
    let mut bytes = [0; N];
    let mut to = 0;
    let mut part = 0;
    while part < parts.len() {
        let mut at = 0;
        while at < parts[part].len() {
            bytes[to] = parts[part].as_bytes()[at];
            to += 1;
            at += 1;
        }
        part += 1;
    }
    bytes
}
