//! JSON request bodies. The body is first checked as a whole (media type, size, UTF-8, depth,
//! duplicate members), and then deserialized into a struct that documents it.

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::has_media_type;
use super::json_members::JsonMembers;
use crate::web::problem::Problem;

/// Maximum size of a body, in bytes.
const MAX_BODY_LEN: usize = 64 * 1024;
/// Maximum size of a large body, such as a list of ATMs, in bytes.
const MAX_LARGE_BODY_LEN: usize = 8 << 20;
/// Maximum depth of nested arrays and objects.
const MAX_DEPTH: usize = 16;

/// A JSON object that is deserialized into a struct with `#[serde(deny_unknown_fields)]`. Error
/// messages name the member.
///
/// `null` is a value like any other: an `Option` field is `None` only if the member is absent. Use
/// [`Nullable`](super::Nullable) for members that may be null.
#[derive(Debug)]
pub struct JsonBody<T>(pub T);

/// A [`JsonBody`] that may be omitted. An empty body is parsed as `{}`.
#[derive(Debug)]
pub struct OptionalJsonBody<T>(pub T);

/// The bytes of a JSON object, validated like a [`JsonBody`], for a custom parser.
#[derive(Debug)]
pub struct JsonBytes(pub Bytes);

/// The bytes of a large JSON body for a custom parser. They are not validated.
#[derive(Debug)]
pub struct LargeJsonBytes(pub Bytes);

/// A body without content: empty, or `{}`.
#[derive(Debug)]
pub struct EmptyBody;

impl<T: DeserializeOwned> JsonBody<T> {
    /// Deserializes a JSON object.
    ///
    /// # Errors
    /// Returns [`Problem::InvalidJson`] if the text is not JSON or is nested too deeply. Returns
    /// [`Problem::InvalidRequest`] if it is not an object, if it repeats a member, or if a member
    /// is unknown, missing or invalid.
    pub fn parse(body: &[u8]) -> Result<Self, Problem> {
        parse_members(body)?.deserialize().map(Self)
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        Self::parse(&read_json(request, MAX_BODY_LEN).await?)
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for OptionalJsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let body = read_body(body).await?;
        if body.is_empty() {
            return JsonBody::parse(b"{}").map(|JsonBody(value)| Self(value));
        }
        if !has_media_type(&parts.headers, "application/json") {
            return Err(Problem::UnsupportedMediaType);
        }
        JsonBody::parse(&body).map(|JsonBody(value)| Self(value))
    }
}

impl<S: Send + Sync> FromRequest<S> for JsonBytes {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let body = read_json(request, MAX_BODY_LEN).await?;
        parse_members(&body)?;
        Ok(Self(body))
    }
}

impl<S: Send + Sync> FromRequest<S> for LargeJsonBytes {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        read_json(request, MAX_LARGE_BODY_LEN).await.map(Self)
    }
}

impl<S: Send + Sync> FromRequest<S> for EmptyBody {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct NoMembers {}

        let body = read_body(request.into_body()).await?;
        if !body.is_empty() {
            JsonBody::<NoMembers>::parse(&body)?;
        }
        Ok(Self)
    }
}

/// Reads a body of any media type.
///
/// # Errors
/// Returns [`Problem::PayloadTooLarge`] if it is larger than 64 KiB, or [`Problem::InvalidRequest`]
/// if it is incomplete.
pub async fn read_body(body: Body) -> Result<Bytes, Problem> {
    read(body, MAX_BODY_LEN).await
}

async fn read_json(request: Request, limit: usize) -> Result<Bytes, Problem> {
    if !has_media_type(request.headers(), "application/json") {
        return Err(Problem::UnsupportedMediaType);
    }
    read(request.into_body(), limit).await
}

async fn read(body: Body, limit: usize) -> Result<Bytes, Problem> {
    match Limited::new(body, limit).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(Problem::PayloadTooLarge { limit }),
        Err(_) => Err(Problem::field("body", "ended early")),
    }
}

fn parse_members(body: &[u8]) -> Result<JsonMembers<'_>, Problem> {
    if is_too_deep(body) {
        return Err(Problem::InvalidJson(format!("it is nested more than {MAX_DEPTH} deep")));
    }
    JsonMembers::parse(body)
}

/// Returns `true` if arrays and objects are nested too deeply. Counts brackets outside of strings,
/// and leaves text that is not JSON to the parser.
fn is_too_deep(body: &[u8]) -> bool {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut is_escaped = false;
    for byte in body {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::super::{Nullable, raw_object};
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        domain: String,
        #[serde(default, deserialize_with = "raw_object")]
        metadata: Option<Box<RawValue>>,
        #[serde(default)]
        public: bool,
        groups: Option<Vec<String>>,
        mode: Option<SampleMode>,
        name: Option<Nullable<String>>,
        inner: Option<SampleInner>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "lowercase")]
    enum SampleMode {
        Login,
        Register,
        Link,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct SampleInner {
        ip: Option<String>,
        port: u64,
    }

    fn parse(body: &str) -> Result<Sample, Problem> {
        JsonBody::parse(body.as_bytes()).map(|JsonBody(sample)| sample)
    }

    #[test]
    fn members_are_deserialized() {
        let members = r#""metadata": {"x": 1.0}, "public": true, "groups": ["b"], "mode": "link""#;
        let sample = parse(&format!(r#"{{"domain": "a", {members}}}"#)).unwrap();
        assert_eq!((sample.domain.as_str(), sample.public), ("a", true));
        assert_eq!(sample.metadata.unwrap().get(), r#"{"x": 1.0}"#);
        assert_eq!((sample.groups, sample.mode), (Some(vec!["b".to_owned()]), Some(SampleMode::Link)));
        assert!(sample.name.is_none() && sample.inner.is_none());
        assert_eq!(parse(r#"{"domain": "a", "name": null}"#).unwrap().name, Some(Nullable(None)));
        let sample = parse(r#"{"domain": "\u00e9", "name": "b", "inner": {"ip": "::1", "port": 1}}"#).unwrap();
        assert_eq!((sample.domain.as_str(), sample.name), ("é", Some(Nullable(Some("b".to_owned())))));
        let inner = sample.inner.unwrap();
        assert_eq!((inner.ip.as_deref(), inner.port), (Some("::1"), 1));
    }

    #[test]
    fn errors_name_member_and_allowed_values() {
        for (members, expected) in [
            (r#""public": true"#, "domain: is required"),
            (r#""domain": 7"#, "domain: must be a string, not a number"),
            (r#""domain": null"#, "domain: must be a string, not null"),
            (r#""domain": "a", "dommain": "a""#, "dommain: is not a known field of this request"),
            (r#""domain": "a", "metadata": [1]"#, "metadata: must be an object, not an array"),
            (r#""domain": "a", "metadata": null"#, "metadata: must be an object, not null"),
            (r#""domain": "a", "public": "true""#, "public: must be true or false, not a string"),
            (r#""domain": "a", "groups": {}"#, "groups: must be an array of strings, not an object"),
            (r#""domain": "a", "groups": [1]"#, "groups: must be an array of strings, not an array"),
            (r#""domain": "a", "groups": null"#, "groups: must be an array of strings, not null"),
            (r#""domain": "a", "mode": "x""#, "mode: must be 'login', 'register' or 'link'"),
            (r#""domain": "a", "mode": true"#, "mode: must be a string, not a boolean"),
            (r#""domain": "a", "name": 1"#, "name: must be a string, not a number"),
            (r#""domain": "a", "inner": "b""#, "inner: must be an object, not a string"),
            (r#""domain": "a", "inner": {}"#, "inner.port: is required"),
            (r#""domain": "a", "inner": {"port": 1, "ip": 1}"#, "inner.ip: must be a string, not a number"),
            (r#""domain": "a", "inner": {"port": 1, "host": 1}"#, "inner.host: is not a known field of this request"),
        ] {
            assert_eq!(parse(&format!("{{{members}}}")).unwrap_err().to_string(), expected, "{members}");
        }
    }

    #[test]
    fn ambiguous_bodies_are_rejected() {
        for (body, expected) in [
            (&br#"{"a":1,"a":2}"#[..], "the field 'a' is duplicated"),
            (br#"{"a":{"b":[1,{"c":1,"\u0063":2}]}}"#, "the field 'c' is duplicated"),
            (br#"{"a":["\ud800"]}"#, "not valid JSON"),
            (b"[]", "expected a JSON object"),
            (b"", "not valid JSON"),
            (b"{", "not valid JSON"),
            (b"{} x", "not valid JSON"),
            (b"{\"a\":\"\xff\"}", "not valid JSON"),
        ] {
            let message = parse_members(body).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn depth_is_counted_outside_of_strings() {
        let nested = |depth: usize| format!("{}{}", "{\"a\":".repeat(depth) + "1", "}".repeat(depth));
        assert!(parse_members(nested(16).as_bytes()).is_ok());
        assert!(matches!(parse_members(nested(17).as_bytes()), Err(Problem::InvalidJson(_))));
        assert!(parse_members(br#"{"a": "[[[[[[[[[[[[[[[[[[\"[[["}"#).is_ok());
        assert!(parse_members("[".repeat(100_000).as_bytes()).is_err());
    }
}
