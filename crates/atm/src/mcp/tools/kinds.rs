//! What arguments of tools may hold: the schema, the words and the reader of each kind.

use serde_json::{Value, json};

/// The largest number that a fraction counts exactly, 2^53.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// What an argument may hold.
pub trait ArgumentKind {
    /// What it is read as.
    type Value;

    /// Its JSON Schema.
    fn schema(&self) -> Value;

    /// What is allowed, as it stands after "must be".
    fn allowed(&self) -> String;

    /// Reads what was sent; `None` where it is not allowed.
    fn read(&self, sent: &Value) -> Option<Self::Value>;
}

/// A kind of which a declaration can hold a value, as the default.
pub trait Constant: ArgumentKind {
    /// A value as it would be sent.
    fn write(&self, value: &Self::Value) -> Value;
}

/// A whole number; `10.0` is 10.
#[derive(Debug)]
pub struct Integer {
    pub(crate) least: u64,
    pub(crate) most: u64,
}

impl ArgumentKind for Integer {
    type Value = u64;

    fn schema(&self) -> Value {
        json!({ "type": "integer", "minimum": self.least, "maximum": self.most })
    }

    fn allowed(&self) -> String {
        format!("a whole number from {} to {}", self.least, self.most)
    }

    fn read(&self, sent: &Value) -> Option<u64> {
        // A whole number is compared as one: 2^53 + 1 is 2^53 to a fraction.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and at most 2^53")]
        let whole = sent.as_u64().or_else(|| {
            let fraction = sent.as_f64().filter(|number| number.fract() == 0.0 && (0.0..=MAX_EXACT).contains(number));
            fraction.map(|number| number as u64)
        });
        whole.filter(|whole| (self.least..=self.most).contains(whole))
    }
}

impl Constant for Integer {
    fn write(&self, value: &u64) -> Value {
        json!(value)
    }
}

/// A number of a unit.
#[derive(Debug)]
pub struct Number {
    pub(crate) unit: &'static str,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl ArgumentKind for Number {
    type Value = f64;

    fn schema(&self) -> Value {
        json!({ "type": "number", "minimum": plain(self.least), "maximum": plain(self.most) })
    }

    fn allowed(&self) -> String {
        format!("a number of {} from {} to {}", self.unit, self.least, self.most)
    }

    fn read(&self, sent: &Value) -> Option<f64> {
        sent.as_f64().filter(|number| (self.least..=self.most).contains(number))
    }
}

impl Constant for Number {
    fn write(&self, value: &f64) -> Value {
        plain(*value)
    }
}

/// A whole number without a fraction, as people write it.
fn plain(number: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "whole, and within bounds that are small")]
    if number.fract() == 0.0 { json!(number as i64) } else { json!(number) }
}

/// A text of 1 to `most` characters, without the space around it.
#[derive(Debug)]
pub struct PlainText {
    pub(crate) most: usize,
}

impl ArgumentKind for PlainText {
    type Value = String;

    fn schema(&self) -> Value {
        json!({ "type": "string", "minLength": 1, "maxLength": self.most })
    }

    fn allowed(&self) -> String {
        format!("a text of 1 to {} characters", self.most)
    }

    fn read(&self, sent: &Value) -> Option<String> {
        let text = sent.as_str()?.trim();
        (1..=self.most).contains(&text.chars().count()).then(|| text.to_owned())
    }
}

/// Yes or no.
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

/// One of some words, each with what it stands for.
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

/// A text that stands for something else.
#[derive(Debug)]
pub struct ParsedText<T> {
    /// What is allowed, as it stands after "must be".
    pub(crate) allowed: &'static str,
    /// How many characters it has, where all have as many.
    pub(crate) length: Option<usize>,
    /// Reads a text without the space around it.
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
