//! The structured output of a tool, rendered once as JSON and as JSON inside a JSON string.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::call::CallError;
use crate::escape::{has_controls, is_plain, push_escaped};

/// Initial capacity of the buffers in bytes, sufficient for most values.
const USUAL_BYTES: usize = 4096;

/// A JSON object, rendered as JSON and in a form escaped for a JSON string.
#[derive(Clone)]
pub struct Structured {
    json: Vec<u8>,
    escaped: Vec<u8>,
}

/// A writer that builds a [`Structured`] value from parts, in both forms at once. The syntax of the parts is not
/// checked, so use it only for large and frequent values, and [`Structured::render`] for all others.
///
/// ```
/// # use signpost_mcp::{StructuredWriter, fragment};
/// let mut writer = StructuredWriter::default();
/// writer.fragment(fragment!(r#"{"name":"#));
/// writer.text("Corner Market");
/// writer.fragment(fragment!(r#","metres":"#));
/// writer.number(120);
/// writer.fragment(fragment!("}"));
/// assert_eq!(writer.finish()?.json(), r#"{"name":"Corner Market","metres":120}"#);
/// # Ok::<(), signpost_mcp::CallError>(())
/// ```
pub struct StructuredWriter {
    json: Vec<u8>,
    escaped: Vec<u8>,
}

/// A constant part of JSON in both forms, created by [`fragment!`](crate::fragment).
#[derive(Clone, Copy, Debug)]
pub struct Fragment {
    json: &'static [u8],
    escaped: &'static [u8],
}

/// Creates a [`Fragment`] from a constant text, escaped at compile time.
#[macro_export]
macro_rules! fragment {
    ($json:expr) => {{
        const JSON: &str = $json;
        const ESCAPED: [u8; $crate::Fragment::escaped_length(JSON)] = $crate::Fragment::escape(JSON);
        $crate::Fragment::new(JSON, &ESCAPED)
    }};
}

impl Fragment {
    #[doc(hidden)]
    #[must_use]
    pub const fn new(json: &'static str, escaped: &'static [u8]) -> Self {
        Self { json: json.as_bytes(), escaped }
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn escaped_length(json: &str) -> usize {
        let bytes = json.as_bytes();
        let mut at = 0;
        let mut length = 0;
        while at < bytes.len() {
            length += if matches!(bytes[at], b'"' | b'\\') { 2 } else { 1 };
            at += 1;
        }
        length
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn escape<const LENGTH: usize>(json: &str) -> [u8; LENGTH] {
        let bytes = json.as_bytes();
        let mut escaped = [b'\\'; LENGTH];
        let mut at = 0;
        let mut end = 0;
        while at < bytes.len() {
            end += if matches!(bytes[at], b'"' | b'\\') { 1 } else { 0 };
            escaped[end] = bytes[at];
            at += 1;
            end += 1;
        }
        escaped
    }
}

impl Structured {
    /// Renders `value`, which must serialize as a JSON object.
    ///
    /// # Errors
    /// [`CallError::Internal`] if the value does not serialize as an object.
    pub fn render(value: &(impl Serialize + ?Sized)) -> Result<Self, CallError> {
        let mut json = Vec::with_capacity(USUAL_BYTES);
        serde_json::to_writer(&mut json, value).map_err(CallError::internal)?;
        // A value may contain raw JSON with line breaks. They would end the message on stdio and SSE.
        if has_controls(&json) {
            let read: Value = serde_json::from_slice(&json).map_err(CallError::internal)?;
            json = serde_json::to_vec(&read).map_err(CallError::internal)?;
        }
        let mut escaped = Vec::new();
        push_escaped(&mut escaped, &json);
        Self { json, escaped }.checked()
    }

    /// Returns the JSON.
    ///
    /// # Panics
    /// Never: the bytes consist of valid UTF-8 texts.
    #[must_use]
    pub fn json(&self) -> &str {
        std::str::from_utf8(&self.json).expect("JSON is UTF-8")
    }

    /// Returns the JSON and its form escaped for a JSON string.
    pub(crate) fn forms(&self) -> [&[u8]; 2] {
        [&self.json, &self.escaped]
    }

    fn checked(self) -> Result<Self, CallError> {
        if self.json.starts_with(b"{") { Ok(self) } else { Err(CallError::internal("a tool's value is an object")) }
    }
}

impl fmt::Debug for Structured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Structured").field(&self.json()).finish()
    }
}

impl fmt::Debug for StructuredWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StructuredWriter").field("bytes", &self.json.len()).finish_non_exhaustive()
    }
}

impl Default for StructuredWriter {
    fn default() -> Self {
        // Most values fit, so the buffers rarely grow.
        Self { json: Vec::with_capacity(USUAL_BYTES), escaped: Vec::with_capacity(USUAL_BYTES * 5 / 4) }
    }
}

impl StructuredWriter {
    /// Returns the number of bytes of JSON written so far.
    #[must_use]
    pub fn written(&self) -> usize {
        self.json.len()
    }

    /// Appends a constant fragment.
    #[inline]
    pub fn fragment(&mut self, fragment: Fragment) {
        self.json.extend_from_slice(fragment.json);
        self.escaped.extend_from_slice(fragment.escaped);
    }

    /// Appends a string.
    ///
    /// # Panics
    /// Never: a text always serializes.
    pub fn text(&mut self, text: &str) {
        self.fragment(fragment!("\""));
        if is_plain(text.as_bytes()) {
            self.json.extend_from_slice(text.as_bytes());
            self.escaped.extend_from_slice(text.as_bytes());
        } else {
            let quoted = serde_json::to_string(text).expect("a text always serializes");
            self.push(&quoted.as_bytes()[1..quoted.len() - 1]);
        }
        self.fragment(fragment!("\""));
    }

    /// Appends an integer.
    pub fn number(&mut self, number: u64) {
        const MAX_DIGITS: usize = 20;
        let mut digits = [b'0'; MAX_DIGITS];
        let mut first = MAX_DIGITS - 1;
        let mut left = number;
        while left > 9 {
            digits[first] += u8::try_from(left % 10).unwrap_or_default();
            first -= 1;
            left /= 10;
        }
        digits[first] += u8::try_from(left).unwrap_or_default();
        self.json.extend_from_slice(&digits[first..]);
        self.escaped.extend_from_slice(&digits[first..]);
    }

    /// Appends a floating-point number in its shortest form.
    ///
    /// # Panics
    /// Never: a number always serializes.
    pub fn float(&mut self, number: f64) {
        let start = self.json.len();
        serde_json::to_writer(&mut self.json, &number).expect("a number always serializes");
        self.escaped.extend_from_slice(&self.json[start..]);
    }

    /// Appends rendered JSON, which must not contain line breaks.
    pub fn json(&mut self, json: &str) {
        self.push(json.as_bytes());
    }

    /// Checks the written JSON and returns it as a value.
    ///
    /// # Errors
    /// [`CallError::Internal`] if the JSON is not an object or contains control characters.
    pub fn finish(self) -> Result<Structured, CallError> {
        let Self { json, escaped } = self;
        if has_controls(&json) {
            return Err(CallError::internal("a tool's value has a control character"));
        }
        Structured { json, escaped }.checked()
    }

    fn push(&mut self, json: &[u8]) {
        self.json.extend_from_slice(json);
        push_escaped(&mut self.escaped, json);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn raw_value_equals_serde_output() {
        proptest!(|(text in any::<String>(), number: u64, bits in 0..64_u32, float in -180.0..180.0_f64)| {
            let number = number >> bits;
            let mut writer = StructuredWriter::default();
            writer.fragment(fragment!(r#"{"a\"\\b":"#));
            writer.text(&text);
            writer.fragment(fragment!(r#","c":["#));
            writer.number(number);
            writer.fragment(fragment!(","));
            writer.float(float);
            writer.fragment(fragment!("],"));
            prop_assert!(!writer.escaped.is_empty());
            writer.json(r#""d":{"e":"f"}}"#);
            let written = writer.finish()?;
            let rendered = Structured::render(&json!({ "a\"\\b": text, "c": [number, float], "d": { "e": "f" } }))?;
            prop_assert_eq!(written.json(), rendered.json());
            prop_assert_eq!(written.forms(), rendered.forms());
        });
    }

    #[test]
    fn invalid_raw_value_is_an_internal_error() {
        for json in ["[]", "", "{\n}", "{\t}"] {
            let mut writer = StructuredWriter::default();
            writer.json(json);
            assert!(matches!(writer.finish(), Err(CallError::Internal(_))), "{json:?}");
        }
    }
}
