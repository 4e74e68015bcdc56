//! Strict and lenient reading of the parameters of a request: which applies, and its effect on their form.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::json::{kind, string};
use crate::revision::Revision;

/// Names of arguments that clients add to calls of any tool or prompt: n8n (the first four) and Cursor.
pub const CLIENT_ARGUMENTS: [&str; 5] = ["sessionId", "toolCallId", "action", "chatInput", "random_string"];

/// The reading of the parameters of a request.
///
/// Models and client libraries send numbers as text, `null` or an empty text for absent members, and objects as JSON
/// text. If a request identifies its sender as a client of the protocol, such input is accepted if it has one meaning.
/// These are requests with the header `MCP-Protocol-Version`, requests on an event stream after `initialize`, requests
/// over stdio, and bodies with a stateless revision in `params._meta`. All other requests are read strictly: their
/// authors wrote them by hand and correct a reported mistake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArgumentReading {
    /// Only values of the documented types are accepted.
    #[default]
    Strict,
    /// Values with a single meaning are accepted, and converted by the server's
    /// [`NormalizeArguments`](crate::NormalizeArguments).
    Lenient,
}

impl ArgumentReading {
    /// Returns the reading before the body is parsed; `connection` is the reading of the connection.
    pub(crate) fn without_body(connection: Self, has_version_header: bool) -> Self {
        if has_version_header { Self::Lenient } else { connection }
    }

    /// Returns the reading of a request with this version in `params._meta`.
    pub(crate) fn with_body_version(self, version: Option<&RawValue>) -> Self {
        let revision = version.and_then(string).and_then(|version| Revision::parse(&version));
        if revision.is_some_and(Revision::is_stateless) { Self::Lenient } else { self }
    }

    pub(crate) fn is_lenient(self) -> bool {
        self == Self::Lenient
    }

    /// Returns an optional member; `None` also for `null` and an empty text if the reading is lenient.
    pub(crate) fn value(self, member: Option<&RawValue>) -> Option<&RawValue> {
        member.filter(|member| !(self.is_lenient() && matches!(member.get(), "null" | r#""""#)))
    }

    /// Returns an optional member that is an object; `None` also for `null`, an empty text and an empty array (an empty
    /// object of PHP) if the reading is lenient.
    pub(crate) fn object(self, member: Option<&RawValue>) -> Option<&RawValue> {
        self.value(member).filter(|member| !(self.is_lenient() && is_empty_array(member)))
    }

    /// Returns the JSON of an object of arguments: the member, or the content of a string if the reading is lenient.
    /// Such a string is parsed once: a string in its content is rejected.
    ///
    /// # Errors
    /// The type of another member, for error texts.
    pub(crate) fn object_json(self, member: &RawValue) -> Result<Cow<'_, str>, &'static str> {
        let member_kind = kind(member);
        if member_kind == "an object" {
            return Ok(Cow::Borrowed(member.get()));
        }
        if !self.is_lenient() {
            return Err(member_kind);
        }
        let Some(json) = string(member) else { return Err(member_kind) };
        match json.trim_start_matches([' ', '\t', '\r', '\n']).as_bytes().first() {
            Some(b'{') => Ok(json),
            Some(b'"') => Err("a string that contains a string"),
            _ => Err("a string that is not the JSON of an object"),
        }
    }
}

fn is_empty_array(member: &RawValue) -> bool {
    let inner = member.get().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    inner.is_some_and(|inner| inner.trim_ascii().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ArgumentReading::{Lenient, Strict};

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).unwrap()
    }

    #[test]
    fn header_connection_or_body_makes_reading_lenient() {
        assert_eq!(ArgumentReading::without_body(Strict, false), Strict);
        assert_eq!(ArgumentReading::without_body(Strict, true), Lenient);
        assert_eq!(ArgumentReading::without_body(Lenient, false), Lenient);
        for (version, expected) in [
            (r#""2026-07-28""#, Lenient),
            (r#""2026\u002d07-28""#, Lenient),
            (r#""2025-11-25""#, Strict),
            (r#""2031-01-01""#, Strict),
            ("20260728", Strict),
            ("null", Strict),
        ] {
            assert_eq!(Strict.with_body_version(Some(&raw(version))), expected, "{version}");
            assert_eq!(Lenient.with_body_version(Some(&raw(version))), Lenient, "{version}");
        }
        assert_eq!(Strict.with_body_version(None), Strict);
    }

    #[test]
    fn blank_members_are_absent_if_lenient() {
        for (json, is_value, is_object) in [
            ("null", false, false),
            (r#""""#, false, false),
            ("[]", true, false),
            ("[ \n ]", true, false),
            ("[1]", true, true),
            ("[[]]", true, true),
            (r#"" ""#, true, true),
            ("0", true, true),
            ("{}", true, true),
        ] {
            let member = raw(json);
            assert_eq!(Lenient.value(Some(&member)).is_some(), is_value, "{json}");
            assert_eq!(Lenient.object(Some(&member)).is_some(), is_object, "{json}");
            assert!(Strict.value(Some(&member)).is_some() && Strict.object(Some(&member)).is_some(), "{json}");
        }
    }

    #[test]
    fn json_text_is_unwrapped_once() {
        for (json, expected) in [
            (r#"{"a":1}"#, Ok(r#"{"a":1}"#)),
            (r#""{\"a\":1}""#, Ok(r#"{"a":1}"#)),
            (r#"" \n{}""#, Ok(" \n{}")),
            (r#""\"{}\"""#, Err("a string that contains a string")),
            (r#""[]""#, Err("a string that is not the JSON of an object")),
            (r#"" ""#, Err("a string that is not the JSON of an object")),
            (r#""\ud800{}""#, Err("a string")),
            ("[1]", Err("an array")),
            ("7", Err("a number")),
        ] {
            assert_eq!(Lenient.object_json(&raw(json)).as_deref().map_err(|kind| *kind), expected, "{json}");
        }
        assert_eq!(Strict.object_json(&raw(r#""{}""#)), Err("a string"));
    }
}
