//! What goes into a statement and what comes out of it.

use anyhow::{Context, Result, bail};
use jiff::Timestamp;

/// A value in the database. Times are Unix milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// Nothing.
    Null,
    /// A whole number, a time or a truth (0 or 1).
    Int(i64),
    /// Text.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
}

/// One row of an answer, its columns in the order of the query.
#[derive(Clone, Debug, PartialEq)]
pub struct Row(pub(super) Vec<Value>);

impl FromIterator<Value> for Row {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

impl Row {
    /// A whole number that may be missing.
    ///
    /// # Errors
    /// Where the column holds something else.
    pub fn opt_int(&self, column: usize) -> Result<Option<i64>> {
        match self.0.get(column) {
            Some(Value::Int(int)) => Ok(Some(*int)),
            Some(Value::Null) => Ok(None),
            _ => bail!("column {column} is not a number"),
        }
    }

    /// A whole number.
    ///
    /// # Errors
    /// Where the column holds something else or nothing.
    pub fn int(&self, column: usize) -> Result<i64> {
        self.opt_int(column)?.with_context(|| format!("column {column} is empty"))
    }

    /// Text that may be missing.
    ///
    /// # Errors
    /// Where the column holds something else.
    pub fn opt_text(&self, column: usize) -> Result<Option<&str>> {
        match self.0.get(column) {
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(Value::Null) => Ok(None),
            _ => bail!("column {column} is not text"),
        }
    }

    /// Text.
    ///
    /// # Errors
    /// Where the column holds something else or nothing.
    pub fn text(&self, column: usize) -> Result<&str> {
        self.opt_text(column)?.with_context(|| format!("column {column} is empty"))
    }

    /// Bytes.
    ///
    /// # Errors
    /// Where the column holds something else or nothing.
    pub fn blob(&self, column: usize) -> Result<&[u8]> {
        match self.0.get(column) {
            Some(Value::Blob(bytes)) => Ok(bytes),
            _ => bail!("column {column} is not bytes"),
        }
    }

    /// A time that may be missing.
    ///
    /// # Errors
    /// Where the column holds no time.
    pub fn opt_time(&self, column: usize) -> Result<Option<Timestamp>> {
        let millis = self.opt_int(column)?;
        millis.map(|millis| Ok(Timestamp::from_millisecond(millis)?)).transpose()
    }

    /// A time.
    ///
    /// # Errors
    /// Where the column holds no time.
    pub fn time(&self, column: usize) -> Result<Timestamp> {
        self.opt_time(column)?.with_context(|| format!("column {column} is empty"))
    }
}

impl From<i64> for Value {
    fn from(int: i64) -> Self {
        Self::Int(int)
    }
}

impl From<u32> for Value {
    fn from(int: u32) -> Self {
        Self::Int(int.into())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&[u8]> for Value {
    fn from(bytes: &[u8]) -> Self {
        Self::Blob(bytes.to_vec())
    }
}

impl From<Timestamp> for Value {
    fn from(time: Timestamp) -> Self {
        Self::Int(time.as_millisecond())
    }
}

impl From<url::Url> for Value {
    fn from(url: url::Url) -> Self {
        Self::Text(url.into())
    }
}

impl From<&url::Url> for Value {
    fn from(url: &url::Url) -> Self {
        Self::Text(url.to_string())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
