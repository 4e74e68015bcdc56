//! The kinds of tool arguments. Each kind defines the JSON Schema, the error text and the parser.

use serde_json::{Value, json};

/// The largest exact integer of `f64`, 2^53.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// A kind of tool argument.
pub trait ArgumentKind {
    /// The parsed value.
    type Value;

    /// Returns the JSON Schema of the argument.
    fn schema(&self) -> Value;

    /// Returns a description of the allowed values that completes the text "must be".
    fn allowed(&self) -> String;

    /// Parses a value, or returns `None` if it is not allowed.
    fn read(&self, sent: &Value) -> Option<Self::Value>;
}

/// A kind of argument that can have a default value.
pub trait Constant: ArgumentKind {
    /// Returns the JSON form of a value.
    fn write(&self, value: &Self::Value) -> Value;
}

/// An integer argument. `10.0` is accepted as 10.
#[derive(Debug)]
pub struct Integer {
    pub(crate) min: u64,
    pub(crate) max: u64,
}

impl ArgumentKind for Integer {
    type Value = u64;

    fn schema(&self) -> Value {
        json!({ "type": "integer", "minimum": self.min, "maximum": self.max })
    }

    fn allowed(&self) -> String {
        format!("a whole number from {} to {}", self.min, self.max)
    }

    fn read(&self, sent: &Value) -> Option<u64> {
        // Integers are not converted to `f64`, because 2^53 + 1 would become 2^53.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and at most 2^53")]
        let whole = sent.as_u64().or_else(|| {
            let fraction = sent.as_f64().filter(|number| number.fract() == 0.0 && (0.0..=MAX_EXACT).contains(number));
            fraction.map(|number| number as u64)
        });
        whole.filter(|whole| (self.min..=self.max).contains(whole))
    }
}

impl Constant for Integer {
    fn write(&self, value: &u64) -> Value {
        json!(value)
    }
}

/// A numeric argument with a unit.
#[derive(Debug)]
pub struct Number {
    pub(crate) unit: &'static str,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl ArgumentKind for Number {
    type Value = f64;

    fn schema(&self) -> Value {
        json!({ "type": "number", "minimum": plain(self.min), "maximum": plain(self.max) })
    }

    fn allowed(&self) -> String {
        format!("a number of {} from {} to {}", self.unit, self.min, self.max)
    }

    fn read(&self, sent: &Value) -> Option<f64> {
        sent.as_f64().filter(|number| (self.min..=self.max).contains(number))
    }
}

impl Constant for Number {
    fn write(&self, value: &f64) -> Value {
        plain(*value)
    }
}

/// Returns a number as JSON, without a decimal point if it is an integer.
fn plain(number: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "whole, and within bounds that are small")]
    if number.fract() == 0.0 { json!(number as i64) } else { json!(number) }
}

/// A text argument of 1 to `max` characters, not counting surrounding spaces.
#[derive(Debug)]
pub struct PlainText {
    pub(crate) max: usize,
}

impl ArgumentKind for PlainText {
    type Value = String;

    fn schema(&self) -> Value {
        json!({ "type": "string", "minLength": 1, "maxLength": self.max })
    }

    fn allowed(&self) -> String {
        format!("a text of 1 to {} characters", self.max)
    }

    fn read(&self, sent: &Value) -> Option<String> {
        let text = sent.as_str()?.trim();
        (1..=self.max).contains(&text.chars().count()).then(|| text.to_owned())
    }
}

/// A Boolean argument.
#[derive(Debug)]
pub struct Flag;

impl ArgumentKind for Flag {
    type Value = bool;

    fn schema(&self) -> Value {
        json!({ "type": "boolean" })
    }

    fn allowed(&self) -> String {
        "true or false".to_owned()
    }

    fn read(&self, sent: &Value) -> Option<bool> {
        sent.as_bool()
    }
}

impl Constant for Flag {
    fn write(&self, value: &bool) -> Value {
        json!(value)
    }
}

/// An argument with a fixed set of words, each mapped to a value.
#[derive(Debug)]
pub struct Choice<T: 'static>(pub(crate) &'static [(&'static str, T)]);

impl<T: Copy + PartialEq> ArgumentKind for Choice<T> {
    type Value = T;

    fn schema(&self) -> Value {
        json!({ "type": "string", "enum": self.0.iter().map(|(word, _)| *word).collect::<Vec<_>>() })
    }

    fn allowed(&self) -> String {
        self.0.iter().map(|(word, _)| format!("\"{word}\"")).collect::<Vec<_>>().join(" or ")
    }

    fn read(&self, sent: &Value) -> Option<T> {
        self.0.iter().find(|(word, _)| Some(*word) == sent.as_str()).map(|(_, value)| *value)
    }
}

impl<T: Copy + PartialEq> Constant for Choice<T> {
    fn write(&self, value: &T) -> Value {
        json!(self.0.iter().find(|(_, other)| other == value).map(|(word, _)| *word))
    }
}

/// A text argument that is parsed into another type.
#[derive(Debug)]
pub struct ParsedText<T> {
    /// A description of the allowed values that completes the text "must be".
    pub(crate) allowed: &'static str,
    /// The number of characters, if the length is fixed.
    pub(crate) length: Option<usize>,
    /// The parser for a trimmed text.
    pub(crate) parse: fn(&str) -> Option<T>,
}

impl<T> ArgumentKind for ParsedText<T> {
    type Value = T;

    fn schema(&self) -> Value {
        match self.length {
            Some(length) => json!({ "type": "string", "minLength": length, "maxLength": length }),
            None => json!({ "type": "string" }),
        }
    }

    fn allowed(&self) -> String {
        self.allowed.to_owned()
    }

    fn read(&self, sent: &Value) -> Option<T> {
        let text = sent.as_str()?.trim();
        (self.parse)(text).filter(|_| self.length.is_none_or(|length| text.chars().count() == length))
    }
}
