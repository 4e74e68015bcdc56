//! Conversions between Rust types and column values. An invalid stored value is an error, never a
//! default.

use std::error::Error;
use std::str::FromStr;

use anyhow::{Result, bail};
use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use url::Url;

use crate::row::Value;
use crate::schema::ColumnKind;

/// A Rust type that is stored in a single column.
pub trait ColumnType: Sized + Into<Value> {
    /// The SQL type of the column.
    const KIND: ColumnKind;

    /// Converts a stored value to this type.
    ///
    /// # Errors
    /// Returns an error if the stored value is not valid for this type.
    fn from_value(value: Value) -> Result<Self>;
}

/// A column type that stores values of type `T`, such as [`Json`] for a type of another crate.
/// Every type wraps itself.
pub trait Wrapper<T>: Sized {
    /// Wraps a value for storage.
    fn wrap(value: T) -> Self;

    /// Unwraps a stored value.
    fn into_wrapped(self) -> T;
}

/// Stores a value as text with its `Display` and `FromStr` implementations.
#[derive(Clone, Debug)]
pub struct Parsed<T>(pub T);

/// Stores a value as JSON text.
#[derive(Clone, Debug)]
pub struct Json<T>(pub T);

impl<T> Wrapper<T> for Parsed<T> {
    fn wrap(value: T) -> Self {
        Self(value)
    }

    fn into_wrapped(self) -> T {
        self.0
    }
}

impl<T> Wrapper<T> for Json<T> {
    fn wrap(value: T) -> Self {
        Self(value)
    }

    fn into_wrapped(self) -> T {
        self.0
    }
}

impl<T> Wrapper<Option<T>> for Option<Parsed<T>> {
    fn wrap(value: Option<T>) -> Self {
        value.map(Parsed)
    }

    fn into_wrapped(self) -> Option<T> {
        self.map(|Parsed(value)| value)
    }
}

impl<T> Wrapper<Option<T>> for Option<Json<T>> {
    fn wrap(value: Option<T>) -> Self {
        value.map(Json)
    }

    fn into_wrapped(self) -> Option<T> {
        self.map(|Json(value)| value)
    }
}

impl<T> Wrapper<T> for T {
    fn wrap(value: T) -> Self {
        value
    }

    fn into_wrapped(self) -> T {
        self
    }
}

impl<T: ToString> From<Parsed<T>> for Value {
    fn from(value: Parsed<T>) -> Self {
        Self::Text(value.0.to_string())
    }
}

impl<T: ToString + FromStr<Err: Error + Send + Sync + 'static>> ColumnType for Parsed<T> {
    const KIND: ColumnKind = ColumnKind::Text;

    fn from_value(value: Value) -> Result<Self> {
        Ok(Self(String::from_value(value)?.parse()?))
    }
}

impl<T: Serialize> From<Json<T>> for Value {
    fn from(value: Json<T>) -> Self {
        Self::Text(serde_json::to_string(&value.0).expect("a type with string keys serializes"))
    }
}

impl<T: Serialize + DeserializeOwned> ColumnType for Json<T> {
    const KIND: ColumnKind = ColumnKind::Text;

    fn from_value(value: Value) -> Result<Self> {
        Ok(Self(serde_json::from_str(&String::from_value(value)?)?))
    }
}

/// Implements [`ColumnType`] for types that are stored as text, given functions that format and
/// parse them:
/// `text_columns! { Flow: |flow| flow.as_str(), |text| Flow::parse(text).context("no flow"); }`
#[macro_export]
macro_rules! text_columns {
    ($($name:ty: $write:expr, $read:expr;)+) => {$(
        impl From<$name> for $crate::row::Value {
            fn from(value: $name) -> Self {
                let write: fn(&$name) -> &str = $write;
                Self::Text(write(&value).to_owned())
            }
        }

        impl $crate::column::ColumnType for $name {
            const KIND: $crate::schema::ColumnKind = $crate::schema::ColumnKind::Text;

            fn from_value(value: $crate::row::Value) -> ::anyhow::Result<Self> {
                let read: fn(&str) -> ::anyhow::Result<$name> = $read;
                read(&<String as $crate::column::ColumnType>::from_value(value)?)
            }
        }
    )+};
}

impl ColumnType for String {
    const KIND: ColumnKind = ColumnKind::Text;

    fn from_value(value: Value) -> Result<Self> {
        match value {
            Value::Text(text) => Ok(text),
            Value::Null => bail!("is empty"),
            _ => bail!("is not text"),
        }
    }
}

impl ColumnType for i64 {
    const KIND: ColumnKind = ColumnKind::Integer;

    fn from_value(value: Value) -> Result<Self> {
        match value {
            Value::Int(int) => Ok(int),
            Value::Null => bail!("is empty"),
            _ => bail!("is not a number"),
        }
    }
}

impl ColumnType for u32 {
    const KIND: ColumnKind = ColumnKind::Integer;

    fn from_value(value: Value) -> Result<Self> {
        Ok(i64::from_value(value)?.try_into()?)
    }
}

impl ColumnType for Timestamp {
    const KIND: ColumnKind = ColumnKind::Integer;

    fn from_value(value: Value) -> Result<Self> {
        Ok(Self::from_millisecond(i64::from_value(value)?)?)
    }
}

impl ColumnType for Url {
    const KIND: ColumnKind = ColumnKind::Text;

    fn from_value(value: Value) -> Result<Self> {
        Ok(String::from_value(value)?.parse()?)
    }
}

impl<T: ColumnType> ColumnType for Option<T> {
    const KIND: ColumnKind = T::KIND;

    fn from_value(value: Value) -> Result<Self> {
        if value == Value::Null { Ok(None) } else { T::from_value(value).map(Some) }
    }
}
