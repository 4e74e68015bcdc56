//! Bodies in: what is not exactly what the interface takes is refused with the field's name and the reason.

use std::collections::BTreeMap;
use std::fmt;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::web::problem::Problem;

/// The most that a body may hold, in bytes.
const MOST_BYTES: usize = 64 * 1024;
/// The same of a large one, such as a list of machines.
const MOST_BYTES_OF_A_LARGE_ONE: usize = 8 << 20;
/// How deep its arrays and objects may stand in one another.
const MOST_DEPTH: usize = 16;

/// The fields of a JSON object, as they were written, to be taken one by one; what is left is unknown.
#[derive(Debug)]
pub struct Fields(BTreeMap<String, Box<RawValue>>);

/// A JSON body as its bytes and its object: for a payload that is passed on to rules of its own.
#[derive(Debug)]
pub struct Payload(pub Bytes);

/// The fields of a body that may be left out.
#[derive(Debug)]
pub struct OptionalFields(pub Fields);

/// The bytes of a JSON body that may be large, and is read by rules of its own.
#[derive(Debug)]
pub struct LargePayload(pub Bytes);

/// A request that carries nothing: no body, or `{}`.
#[derive(Debug)]
pub struct Nothing;

impl<S: Send + Sync> FromRequest<S> for Fields {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        require_json(&parts.headers)?;
        Self::parse(&read(body, MOST_BYTES).await?)
    }
}

impl<S: Send + Sync> FromRequest<S> for Payload {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        require_json(&parts.headers)?;
        let body = read(body, MOST_BYTES).await?;
        Fields::parse(&body)?;
        Ok(Self(body))
    }
}

impl Payload {
    /// A body that is read by rules of its own, whatever it calls itself.
    ///
    /// # Errors
    /// Where it is too long or ends early.
    pub async fn bytes(body: Body) -> Result<Bytes, Problem> {
        read(body, MOST_BYTES).await
    }
}

impl<S: Send + Sync> FromRequest<S> for OptionalFields {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let body = read(body, MOST_BYTES).await?;
        if body.is_empty() {
            return Ok(Self(Fields(BTreeMap::new())));
        }
        require_json(&parts.headers)?;
        Fields::parse(&body).map(Self)
    }
}

impl<S: Send + Sync> FromRequest<S> for LargePayload {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        require_json(&parts.headers)?;
        Ok(Self(read(body, MOST_BYTES_OF_A_LARGE_ONE).await?))
    }
}

impl<S: Send + Sync> FromRequest<S> for Nothing {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let body = read(request.into_body(), MOST_BYTES).await?;
        if !body.is_empty() {
            Fields::parse(&body)?.done()?;
        }
        Ok(Self)
    }
}

impl Fields {
    /// Reads an object.
    ///
    /// # Errors
    /// Where it is no JSON object, too deep, or has a field twice.
    pub fn parse(body: &[u8]) -> Result<Self, Problem> {
        if is_too_deep(body) {
            return Err(Problem::InvalidJson(format!("it is nested more than {MOST_DEPTH} deep")));
        }
        let fields: Self = serde_json::from_slice(body).map_err(|error| to_problem(&error))?;
        fields.0.values().try_for_each(|value| check(value)).map_err(|error| to_problem(&error))?;
        Ok(fields)
    }

    /// A text, if it is there.
    ///
    /// # Errors
    /// Where it is there and no text.
    pub fn optional_text(&mut self, field: &str) -> Result<Option<String>, Problem> {
        let Some(value) = self.0.remove(field) else { return Ok(None) };
        serde_json::from_str(value.get())
            .map(Some)
            .map_err(|_| Problem::field(field, format!("must be a string, not {}", kind(&value))))
    }

    /// A text or null, if it is there: `Some(None)` is null, which takes a value away.
    ///
    /// # Errors
    /// Where it is there and neither.
    pub fn nullable_text(&mut self, field: &str) -> Result<Option<Option<String>>, Problem> {
        if self.0.get(field).is_some_and(|value| value.get() == "null") {
            self.0.remove(field);
            return Ok(Some(None));
        }
        Ok(self.optional_text(field)?.map(Some))
    }

    /// An array of texts, if it is there.
    ///
    /// # Errors
    /// Where it is there and anything else.
    pub fn optional_texts(&mut self, field: &str) -> Result<Option<Vec<String>>, Problem> {
        let Some(value) = self.0.remove(field) else { return Ok(None) };
        let wrong = |_| Problem::field(field, format!("must be an array of strings, not {}", kind(&value)));
        serde_json::from_str(value.get()).map(Some).map_err(wrong)
    }

    /// An array of texts or null, if it is there: `Some(None)` is null, which takes a value away.
    ///
    /// # Errors
    /// Where it is there and neither.
    pub fn nullable_texts(&mut self, field: &str) -> Result<Option<Option<Vec<String>>>, Problem> {
        if self.0.get(field).is_some_and(|value| value.get() == "null") {
            self.0.remove(field);
            return Ok(Some(None));
        }
        Ok(self.optional_texts(field)?.map(Some))
    }

    /// A text.
    ///
    /// # Errors
    /// Where it is missing or no text.
    pub fn text(&mut self, field: &str) -> Result<String, Problem> {
        self.optional_text(field)?.ok_or_else(|| Problem::field(field, "is required"))
    }

    /// True or false, if it is there.
    ///
    /// # Errors
    /// Where it is there and neither.
    pub fn optional_bool(&mut self, field: &str) -> Result<Option<bool>, Problem> {
        let Some(value) = self.0.remove(field) else { return Ok(None) };
        let wrong = |_| Problem::field(field, format!("must be true or false, not {}", kind(&value)));
        serde_json::from_str(value.get()).map(Some).map_err(wrong)
    }

    /// A whole number, if it is there.
    ///
    /// # Errors
    /// Where it is there and something else, or not from `least` to `most`.
    pub fn optional_integer(&mut self, field: &str, least: u64, most: u64) -> Result<Option<u64>, Problem> {
        let Some(value) = self.0.remove(field) else { return Ok(None) };
        let number = serde_json::from_str(value.get()).ok().filter(|number| (least..=most).contains(number));
        let wrong = || Problem::field(field, format!("must be a whole number from {least} to {most}"));
        number.map(Some).ok_or_else(wrong)
    }

    /// An object as it was written, if it is there: what is given back unchanged must not pass through numbers of ours.
    ///
    /// # Errors
    /// Where it is there and no object.
    pub fn optional_object(&mut self, field: &str) -> Result<Option<Box<RawValue>>, Problem> {
        match self.0.remove(field) {
            None => Ok(None),
            Some(value) if value.get().starts_with('{') => Ok(Some(value)),
            Some(other) => Err(Problem::field(field, format!("must be an object, not {}", kind(&other)))),
        }
    }

    /// Ends the reading: whatever was not taken is a field that the interface does not know.
    ///
    /// # Errors
    /// The first such field.
    pub fn done(self) -> Result<(), Problem> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(field) => Err(Problem::field(field, "is not a known field of this request")),
        }
    }
}

fn require_json(headers: &HeaderMap) -> Result<(), Problem> {
    let sent = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    let essence = sent.split(';').next().unwrap_or("").trim();
    if essence.eq_ignore_ascii_case("application/json") { Ok(()) } else { Err(Problem::UnsupportedMediaType) }
}

async fn read(body: Body, limit: usize) -> Result<Bytes, Problem> {
    match Limited::new(body, limit).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(Problem::PayloadTooLarge { limit }),
        Err(_) => Err(Problem::field("body", "ended early")),
    }
}

/// Counts brackets outside of texts; what is not JSON at all is left for the parser to say.
fn is_too_deep(body: &[u8]) -> bool {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for byte in body {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => depth += 1,
            b'}' | b']' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MOST_DEPTH {
            return true;
        }
    }
    false
}

/// What is kept as it was written was not decoded: a field may stand twice in it too, and half a surrogate pair is no text.
fn check(value: &RawValue) -> serde_json::Result<()> {
    let text = value.get();
    match text.as_bytes().first() {
        Some(b'{') => serde_json::from_str::<Fields>(text)?.0.values().try_for_each(|value| check(value)),
        Some(b'[') => serde_json::from_str::<Vec<&RawValue>>(text)?.into_iter().try_for_each(check),
        Some(b'"') if text.contains("\\u") => serde_json::from_str::<String>(text).map(drop),
        _ => Ok(()),
    }
}

fn to_problem(error: &serde_json::Error) -> Problem {
    match error.classify() {
        serde_json::error::Category::Data => Problem::field("body", shape(error)),
        _ => Problem::InvalidJson(error.to_string()),
    }
}

/// The parser's words without its position, which means nothing in a one-line body.
fn shape(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line").next().unwrap_or_default().to_owned()
}

fn kind(value: &RawValue) -> &'static str {
    match value.get().as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            // Of two fields of one name, one reader takes the first and another the last: neither is what was meant.
            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Fields, A::Error> {
                let mut fields = BTreeMap::new();
                while let Some((name, value)) = members.next_entry::<String, Box<RawValue>>()? {
                    if fields.contains_key(&name) {
                        return Err(de::Error::custom(format!("the field '{name}' stands twice")));
                    }
                    fields.insert(name, value);
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(Members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_taken_by_name_and_kind() {
        let mut fields = Fields::parse(br#"{"domain": "a", "metadata": {"x": 1}, "mode": 7}"#).unwrap();
        assert_eq!(fields.text("domain").unwrap(), "a");
        assert_eq!(fields.optional_object("metadata").unwrap().unwrap().get(), r#"{"x": 1}"#);
        assert!(fields.optional_text("webhook_url").unwrap().is_none());
        let told = fields.text("mode").unwrap_err().to_string();
        assert_eq!(told, "mode: must be a string, not a number");
        assert_eq!(fields.text("domain").unwrap_err().to_string(), "domain: is required");
        let mut fields = Fields::parse(br#"{"public": true, "pkce": "true"}"#).unwrap();
        assert_eq!(fields.optional_bool("public").unwrap(), Some(true));
        assert!(fields.optional_bool("trusted").unwrap().is_none());
        let told = fields.optional_bool("pkce").unwrap_err().to_string();
        assert_eq!(told, "pkce: must be true or false, not a string");
    }

    #[test]
    fn what_the_interface_does_not_know_is_refused() {
        let told = Fields::parse(br#"{"dommain": "a"}"#).unwrap().done().unwrap_err().to_string();
        assert_eq!(told, "dommain: is not a known field of this request");
        for (body, said) in [
            (&br#"{"a":1,"a":2}"#[..], "the field 'a' stands twice"),
            (br#"{"a":{"b":[1,{"c":1,"\u0063":2}]}}"#, "the field 'c' stands twice"),
            (br#"{"a":["\ud800"]}"#, "not valid JSON"),
            (b"[]", "expected a JSON object"),
            (b"", "not valid JSON"),
            (b"{", "not valid JSON"),
            (b"{} x", "not valid JSON"),
            (b"{\"a\":\"\xff\"}", "not valid JSON"),
        ] {
            let told = Fields::parse(body).unwrap_err().to_string();
            assert!(told.contains(said), "{told}");
        }
    }

    #[test]
    fn depth_is_counted_outside_of_texts() {
        let nested = |depth: usize| format!("{}{}", "{\"a\":".repeat(depth) + "1", "}".repeat(depth));
        assert!(Fields::parse(nested(16).as_bytes()).is_ok());
        assert!(matches!(Fields::parse(nested(17).as_bytes()), Err(Problem::InvalidJson(_))));
        assert!(Fields::parse(br#"{"a": "[[[[[[[[[[[[[[[[[[\"[[["}"#).is_ok());
        assert!(Fields::parse("[".repeat(100_000).as_bytes()).is_err());
    }
}
