//! Values of parameters and rows.

use anyhow::{Context, Result, bail};
use jiff::Timestamp;

/// A value in the database. Times are Unix milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// No value.
    Null,
    /// An integer, a time or a boolean (0 or 1).
    Int(i64),
    /// Text.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
}

/// A row of a result, with the columns in the order of the query.
#[derive(Clone, Debug, PartialEq)]
pub struct Row(pub(super) Vec<Value>);

impl FromIterator<Value> for Row {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

impl Row {
    /// Returns an integer that may be null.
    ///
    /// # Errors
    /// If the column has another type.
    pub fn opt_int(&self, column: usize) -> Result<Option<i64>> {
        match self.0.get(column) {
            Some(Value::Int(int)) => Ok(Some(*int)),
            Some(Value::Null) => Ok(None),
            _ => bail!("column {column} is not a number"),
        }
    }

    /// Returns an integer.
    ///
    /// # Errors
    /// If the column is null or has another type.
    pub fn int(&self, column: usize) -> Result<i64> {
        self.opt_int(column)?.with_context(|| format!("column {column} is empty"))
    }

    /// Returns a text that may be null.
    ///
    /// # Errors
    /// If the column has another type.
    pub fn opt_text(&self, column: usize) -> Result<Option<&str>> {
        match self.0.get(column) {
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(Value::Null) => Ok(None),
            _ => bail!("column {column} is not text"),
        }
    }

    /// Returns a text.
    ///
    /// # Errors
    /// If the column is null or has another type.
    pub fn text(&self, column: usize) -> Result<&str> {
        self.opt_text(column)?.with_context(|| format!("column {column} is empty"))
    }

    /// Returns bytes.
    ///
    /// # Errors
    /// If the column is null or has another type.
    pub fn blob(&self, column: usize) -> Result<&[u8]> {
        match self.0.get(column) {
            Some(Value::Blob(bytes)) => Ok(bytes),
            _ => bail!("column {column} is not bytes"),
        }
    }

    /// Returns a time that may be null.
    ///
    /// # Errors
    /// If the column is not a time.
    pub fn opt_time(&self, column: usize) -> Result<Option<Timestamp>> {
        match self.opt_int(column)? {
            Some(millis) => Ok(Some(Timestamp::from_millisecond(millis)?)),
            None => Ok(None),
        }
    }

    /// Returns a time.
    ///
    /// # Errors
    /// If the column is null or not a time.
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
