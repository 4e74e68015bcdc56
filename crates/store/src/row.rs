//! Values of statement parameters and result rows.

use anyhow::{Context, Result, bail};
use jiff::Timestamp;

/// A database value. Times are stored as Unix milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// SQL `NULL`.
    Null,
    /// An integer, a time or a boolean (0 or 1).
    Int(i64),
    /// A text.
    Text(String),
    /// A byte string.
    Blob(Vec<u8>),
}

/// A row of a query result, with the columns in the order of the query.
#[derive(Clone, Debug, PartialEq)]
pub struct Row(pub(super) Vec<Value>);

impl FromIterator<Value> for Row {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

impl Row {
    /// Returns the value of an integer column, or `None` if it is null.
    ///
    /// # Errors
    /// Returns an error if the column has another type.
    pub fn opt_int(&self, column: usize) -> Result<Option<i64>> {
        match self.0.get(column) {
            Some(Value::Int(int)) => Ok(Some(*int)),
            Some(Value::Null) => Ok(None),
            _ => bail!("column {column} is not a number"),
        }
    }

    /// Returns the value of an integer column.
    ///
    /// # Errors
    /// Returns an error if the column is null or has another type.
    pub fn int(&self, column: usize) -> Result<i64> {
        self.opt_int(column)?.with_context(|| format!("column {column} is empty"))
    }

    /// Returns the value of a text column, or `None` if it is null.
    ///
    /// # Errors
    /// Returns an error if the column has another type.
    pub fn opt_text(&self, column: usize) -> Result<Option<&str>> {
        match self.0.get(column) {
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(Value::Null) => Ok(None),
            _ => bail!("column {column} is not text"),
        }
    }

    /// Returns the value of a text column.
    ///
    /// # Errors
    /// Returns an error if the column is null or has another type.
    pub fn text(&self, column: usize) -> Result<&str> {
        self.opt_text(column)?.with_context(|| format!("column {column} is empty"))
    }

    /// Returns the value of a column of bytes.
    ///
    /// # Errors
    /// Returns an error if the column is null or has another type.
    pub fn blob(&self, column: usize) -> Result<&[u8]> {
        match self.0.get(column) {
            Some(Value::Blob(bytes)) => Ok(bytes),
            _ => bail!("column {column} is not bytes"),
        }
    }

    /// Returns the value of a time column, or `None` if it is null.
    ///
    /// # Errors
    /// Returns an error if the column is not a time.
    pub fn opt_time(&self, column: usize) -> Result<Option<Timestamp>> {
        match self.opt_int(column)? {
            Some(millis) => Ok(Some(Timestamp::from_millisecond(millis)?)),
            None => Ok(None),
        }
    }

    /// Returns the value of a time column.
    ///
    /// # Errors
    /// Returns an error if the column is null or not a time.
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
