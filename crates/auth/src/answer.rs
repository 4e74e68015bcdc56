use std::fmt;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::keys::{MalformedPublicKey, MalformedSignature, PublicKey, Signature, verify};

/// How far a wallet's clock may be from ours, in seconds, either way (specification, section 8).
const CLOCK_TOLERANCE_SECS: u64 = 30;

/// What a wallet posts: a challenge's text, signed.
///
/// Key, signature and challenge are kept as text: a handler looks at the time and the challenge before it looks at the
/// signature (specification, section 4), so that reading must not fail on them.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// The user's public key in hex, as the wallet spells it.
    pub public_key: String,
    /// The signature in hex, DER.
    pub signature: String,
    /// The text that was signed, in either rendering of a [`crate::Challenge`], or in that of a [`crate::Through`].
    pub challenge: String,
    /// When the wallet signed, in Unix seconds. It is not signed itself: what keeps an answer from being used twice is
    /// the challenge.
    pub timestamp: i64,
    /// What the wallet says it runs on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_info: Option<DeviceInfo>,
    /// The number the page showed, where the session asks for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirm_code: Option<String>,
}

/// An [`Answer`] whose time was checked and whose signature is valid. Only the handlers of
/// [`receiver`](crate::receiver) create one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedAnswer {
    answer: Answer,
    key: PublicKey,
}

/// What a wallet says it runs on: its own words, unchecked. What it did not say is left out when printed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// For example `ios` or `android`; at most 32 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// The app's version; at most 64 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The app's name for the device; at most 128 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_id: Option<String>,
}

/// The body is not an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAnswer {
    /// No JSON, or JSON that is no object.
    #[error("the body is not a JSON object with public_key, signature, challenge and timestamp")]
    NotAnObject,
    /// A required field is not there.
    #[error("the field {0} is missing: public_key, signature, challenge and timestamp are required")]
    Missing(&'static str),
    /// A field holds something else.
    #[error("the field {field} must be {expected}")]
    WrongType {
        /// The field, with its object's name before it.
        field: &'static str,
        /// What it holds in an answer.
        expected: &'static str,
    },
    /// A device says more about itself than is kept.
    #[error("the field {field} has more than {max_chars} characters")]
    TooLong {
        /// The field, with its object's name before it.
        field: &'static str,
        /// The most characters it may have.
        max_chars: usize,
    },
}

/// Why an answer's signature does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotVerified {
    /// The key cannot be read.
    #[error(transparent)]
    PublicKey(#[from] MalformedPublicKey),
    /// The signature cannot be read.
    #[error(transparent)]
    Signature(#[from] MalformedSignature),
    /// Both can be read and do not belong to this text.
    #[error("the signature was not made by this key over this challenge")]
    Mismatch,
}

impl Answer {
    /// Reads a wallet's body. Unknown fields are ignored; `null` in an optional field is the same as leaving it out.
    ///
    /// The caller bounds the body's length (64 KiB).
    ///
    /// # Errors
    /// [`InvalidAnswer`] names the first field that is missing, of a wrong type or too long.
    pub fn parse(body: &[u8]) -> Result<Self, InvalidAnswer> {
        Self::from_fields(&serde_json::from_slice(body).map_err(|_| InvalidAnswer::NotAnObject)?)
    }

    fn from_fields(fields: &Map<String, Value>) -> Result<Self, InvalidAnswer> {
        Ok(Self {
            public_key: required(fields, "public_key")?,
            signature: required(fields, "signature")?,
            challenge: required(fields, "challenge")?,
            timestamp: timestamp(fields)?,
            device_info: match fields.get("device_info") {
                None | Some(Value::Null) => None,
                Some(Value::Object(fields)) => Some(DeviceInfo::from_fields(fields)?),
                Some(_) => return Err(InvalidAnswer::WrongType { field: "device_info", expected: "an object" }),
            },
            confirm_code: optional(fields, "confirm_code", "confirm_code")?,
        })
    }

    /// Checks the signature over exactly the text received, and says whose it is.
    ///
    /// # Errors
    /// [`NotVerified`] tells a malformed key, a malformed signature and a wrong signature apart.
    pub fn verify(&self) -> Result<PublicKey, NotVerified> {
        let key = PublicKey::parse(&self.public_key)?;
        let signature = Signature::parse(&self.signature)?;
        if verify(&key, &signature, self.challenge.as_bytes()) { Ok(key) } else { Err(NotVerified::Mismatch) }
    }
}

impl VerifiedAnswer {
    /// Verifies the signature of an answer that is fresh.
    ///
    /// # Errors
    /// As [`Answer::verify`].
    pub(crate) fn new(answer: Answer) -> Result<Self, NotVerified> {
        let key = answer.verify()?;
        Ok(Self { answer, key })
    }

    /// The answer as the wallet sent it, with the exact text that was signed.
    #[must_use]
    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    /// The key that signed.
    #[must_use]
    pub fn key(&self) -> &PublicKey {
        &self.key
    }
}

/// Whether a wallet's `timestamp` is at most 30 seconds away from `now`, both in Unix seconds.
///
/// ```
/// assert!(signpost_auth::is_fresh(1_700_000_000, 1_700_000_030));
/// assert!(!signpost_auth::is_fresh(1_700_000_031, 1_700_000_000));
/// ```
#[must_use]
pub fn is_fresh(timestamp: i64, now: i64) -> bool {
    timestamp.abs_diff(now) <= CLOCK_TOLERANCE_SECS
}

impl DeviceInfo {
    fn from_fields(fields: &Map<String, Value>) -> Result<Self, InvalidAnswer> {
        let bounded = |key, field, max_chars| match optional(fields, key, field)? {
            Some(text) if text.chars().count() > max_chars => Err(InvalidAnswer::TooLong { field, max_chars }),
            text => Ok(text),
        };
        Ok(Self {
            platform: bounded("platform", "device_info.platform", 32)?,
            version: bounded("version", "device_info.version", 64)?,
            device_id: bounded("device_id", "device_info.device_id", 128)?,
        })
    }
}

impl InvalidAnswer {
    /// The field that is to blame, as `details.field` of an error body names it.
    #[must_use]
    pub fn field(&self) -> Option<&'static str> {
        match self {
            Self::NotAnObject => None,
            Self::Missing(field) | Self::WrongType { field, .. } | Self::TooLong { field, .. } => Some(field),
        }
    }
}

/// By the rules of [`Answer::parse`].
impl<'de> Deserialize<'de> for Answer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_fields(&Map::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl fmt::Debug for Answer {
    /// Leaves out what identifies a device and what confirms a login: neither belongs in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer")
            .field("public_key", &self.public_key)
            .field("challenge", &self.challenge.split(" with ").next())
            .field("timestamp", &self.timestamp)
            .finish_non_exhaustive()
    }
}

fn required(fields: &Map<String, Value>, field: &'static str) -> Result<String, InvalidAnswer> {
    match fields.get(field) {
        None => Err(InvalidAnswer::Missing(field)),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(InvalidAnswer::WrongType { field, expected: "a string" }),
    }
}

fn optional(fields: &Map<String, Value>, key: &str, field: &'static str) -> Result<Option<String>, InvalidAnswer> {
    match fields.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(InvalidAnswer::WrongType { field, expected: "a string" }),
    }
}

fn timestamp(fields: &Map<String, Value>) -> Result<i64, InvalidAnswer> {
    let value = fields.get("timestamp").ok_or(InvalidAnswer::Missing("timestamp"))?;
    value.as_i64().ok_or(InvalidAnswer::WrongType { field: "timestamp", expected: "an integer of Unix seconds" })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn body(change: impl FnOnce(&mut Map<String, Value>)) -> Vec<u8> {
        let mut body = json!({ "public_key": "02", "signature": "30", "challenge": "c", "timestamp": 5 });
        change(body.as_object_mut().unwrap());
        body.to_string().into_bytes()
    }

    fn with(field: &str, value: Value) -> Vec<u8> {
        body(|fields| drop(fields.insert(field.to_owned(), value)))
    }

    #[test]
    fn a_missing_or_wrong_field_is_named() {
        for field in ["public_key", "signature", "challenge", "timestamp"] {
            let missing = Answer::parse(&body(|fields| drop(fields.remove(field)))).unwrap_err();
            assert_eq!((missing.field(), &missing), (Some(field), &InvalidAnswer::Missing(field)));
            for wrong in
                [Value::Null, json!(true), json!([]), json!({}), json!(1.5), json!("1".parse::<f64>().unwrap())]
            {
                let error = Answer::parse(&with(field, wrong)).unwrap_err();
                assert!(matches!(error, InvalidAnswer::WrongType { field: named, .. } if named == field), "{error}");
            }
        }
        for (field, value) in [
            ("public_key", json!(2)),
            ("timestamp", json!("5")),
            ("timestamp", json!(u64::MAX)),
            ("device_info", json!("ios")),
            ("device_info", json!([])),
            ("confirm_code", json!(42)),
        ] {
            assert_eq!(Answer::parse(&with(field, value)).unwrap_err().field(), Some(field));
        }
        for text in ["", "[]", "\"a\"", "{", "{}x", "null", "\u{feff}{}"] {
            assert_eq!(Answer::parse(text.as_bytes()), Err(InvalidAnswer::NotAnObject), "{text}");
        }
    }

    #[test]
    fn device_fields_are_optional_and_bounded() {
        let device = |value| Answer::parse(&with("device_info", value)).map(|answer| answer.device_info);
        assert_eq!(device(Value::Null), Ok(None));
        assert_eq!(device(json!({})), Ok(Some(DeviceInfo::default())));
        assert_eq!(device(json!({"platform": null, "build": 7})), Ok(Some(DeviceInfo::default())));
        for (key, field, max_chars) in [
            ("platform", "device_info.platform", 32),
            ("version", "device_info.version", 64),
            ("device_id", "device_info.device_id", 128),
        ] {
            assert!(device(json!({ key: "ü".repeat(max_chars) })).is_ok());
            let error = device(json!({ key: "ü".repeat(max_chars + 1) })).unwrap_err();
            assert_eq!(error, InvalidAnswer::TooLong { field, max_chars });
            assert_eq!(device(json!({ key: 1 })).unwrap_err().field(), Some(field));
        }
    }

    #[test]
    fn unknown_fields_are_ignored_and_an_answer_prints_what_it_has() {
        let answer = Answer::parse(&with("extra", json!({"deep": [1]}))).unwrap();
        assert_eq!(serde_json::to_vec(&answer).unwrap().len(), body(|_| ()).len());
        let full = with("device_info", json!({"platform": "ios", "version": "1.0"}));
        let answer = Answer::parse(&full).unwrap();
        assert_eq!(Answer::parse(&serde_json::to_vec(&answer).unwrap()), Ok(answer));
    }

    #[test]
    fn a_clock_may_be_thirty_seconds_off_either_way() {
        for (timestamp, fresh) in [(0, true), (30, true), (-30, true), (31, false), (-31, false), (i64::MIN, false)] {
            assert_eq!(is_fresh(timestamp, 0), fresh, "{timestamp}");
        }
        assert!(!is_fresh(i64::MIN, i64::MAX));
    }

    #[test]
    fn a_debug_text_tells_neither_the_device_nor_the_code() {
        let text = with("device_info", json!({"device_id": "DEVICE-7"}));
        let mut answer = Answer::parse(&text).unwrap();
        answer.confirm_code = Some("CODE-42".to_owned());
        answer.challenge = "Sign this to login to a.example through a.example with CODE-42".to_owned();
        let debug = format!("{answer:?}");
        assert!(!debug.contains("DEVICE-7") && !debug.contains("CODE-42"), "{debug}");
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(body: Vec<u8>, timestamp: i64, now: i64) {
            let _ = (Answer::parse(&body), is_fresh(timestamp, now));
        }
    }
}
