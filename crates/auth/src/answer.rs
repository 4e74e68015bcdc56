//! The answer of a wallet to a challenge: parsing, the check of its time, and the verification of
//! its signature.

use std::fmt;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::keys::{MalformedPublicKey, MalformedSignature, PublicKey, Signature, verify};

/// Maximum difference between the clocks of a wallet and of this server, in seconds (specification,
/// section 8).
const CLOCK_TOLERANCE_SECS: u64 = 30;

/// The answer of a wallet to a challenge, as the wallet posts it.
///
/// Key, signature and challenge are stored as text, because a handler checks the time and the
/// challenge before the signature (specification, section 4), so malformed values must not be
/// rejected earlier, when the body is parsed.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// The user's public key in hex, as the wallet sent it.
    pub public_key: String,
    /// The signature: DER in hex.
    pub signature: String,
    /// The signed text, in either rendering of a [`crate::Challenge`], or in the rendering of a
    /// [`crate::HostBoundChallenge`].
    pub challenge: String,
    /// The time of signing in Unix seconds. It is not part of the signed text, because the
    /// challenge already prevents replays.
    pub timestamp: i64,
    /// The wallet's description of its device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_info: Option<DeviceInfo>,
    /// The number shown on the page, if the session requires it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirm_code: Option<String>,
}

/// An [`Answer`] with a valid time and a valid signature. Only the handlers of
/// [`receiver`](crate::receiver) create it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedAnswer {
    answer: Answer,
    key: PublicKey,
}

/// The wallet's description of its device, which is not verified. Missing fields are omitted when
/// it is serialized.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// The operating system, such as `ios` or `android`; at most 32 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// The version of the wallet app; at most 64 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The name that the wallet app gives to the device; at most 128 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_id: Option<String>,
}

/// Error that a request body is not an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAnswer {
    /// The body is not a JSON object.
    #[error("the body is not a JSON object with public_key, signature, challenge and timestamp")]
    NotAnObject,
    /// A required field is missing.
    #[error("the field {0} is missing: public_key, signature, challenge and timestamp are required")]
    Missing(&'static str),
    /// A field has the wrong type.
    #[error("the field {field} must be {expected}")]
    WrongType {
        /// The field, prefixed with the name of its object.
        field: &'static str,
        /// The expected type.
        expected: &'static str,
    },
    /// A field of the device information is too long.
    #[error("the field {field} has more than {max_chars} characters")]
    TooLong {
        /// The field, prefixed with the name of its object.
        field: &'static str,
        /// Maximum number of characters.
        max_chars: usize,
    },
}

/// Reason the signature of an answer is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerificationError {
    /// The public key is malformed.
    #[error(transparent)]
    PublicKey(#[from] MalformedPublicKey),
    /// The signature is malformed.
    #[error(transparent)]
    Signature(#[from] MalformedSignature),
    /// The key and the signature are well-formed, but the signature is not valid for the text.
    #[error("the signature was not made by this key over this challenge")]
    Mismatch,
}

impl Answer {
    /// Parses the body of a wallet's request. Ignores unknown fields, and treats an optional field
    /// that is `null` as missing.
    ///
    /// The caller must limit the length of the body (64 KiB).
    ///
    /// # Errors
    /// Returns an [`InvalidAnswer`] for the first field that is missing, has the wrong type or is
    /// too long.
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

    /// Verifies the signature over exactly the received text, and returns the public key of the
    /// signer.
    ///
    /// # Errors
    /// Returns a [`VerificationError`] for a malformed key, a malformed signature or a signature
    /// that does not match.
    pub fn verify(&self) -> Result<PublicKey, VerificationError> {
        let key = PublicKey::parse(&self.public_key)?;
        let signature = Signature::parse(&self.signature)?;
        if verify(&key, &signature, self.challenge.as_bytes()) { Ok(key) } else { Err(VerificationError::Mismatch) }
    }
}

impl VerifiedAnswer {
    /// Verifies the signature of an answer. The caller has already checked its time.
    ///
    /// # Errors
    /// Returns the errors of [`Answer::verify`].
    pub(crate) fn new(answer: Answer) -> Result<Self, VerificationError> {
        let key = answer.verify()?;
        Ok(Self { answer, key })
    }

    /// Returns the answer as received, including the exact signed text.
    #[must_use]
    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    /// Returns the public key of the signer.
    #[must_use]
    pub fn key(&self) -> &PublicKey {
        &self.key
    }
}

/// Returns `true` if `timestamp` and `now`, both in Unix seconds, differ by at most 30 seconds.
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
        Ok(Self {
            platform: bounded(fields, "platform", "device_info.platform", 32)?,
            version: bounded(fields, "version", "device_info.version", 64)?,
            device_id: bounded(fields, "device_id", "device_info.device_id", 128)?,
        })
    }
}

impl InvalidAnswer {
    /// Returns the name of the invalid field, for `details.field` of an error body.
    #[must_use]
    pub fn field(&self) -> Option<&'static str> {
        match self {
            Self::NotAnObject => None,
            Self::Missing(field) | Self::WrongType { field, .. } | Self::TooLong { field, .. } => Some(field),
        }
    }
}

/// Deserializes an answer by the rules of [`Answer::parse`].
impl<'de> Deserialize<'de> for Answer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_fields(&Map::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl fmt::Debug for Answer {
    /// Omits the device information and the confirmation number, which must not appear in logs.
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

/// Returns the text of an optional field, which has at most `max_chars` characters.
fn bounded(
    fields: &Map<String, Value>,
    key: &str,
    field: &'static str,
    max_chars: usize,
) -> Result<Option<String>, InvalidAnswer> {
    match optional(fields, key, field)? {
        Some(text) if text.chars().count() > max_chars => Err(InvalidAnswer::TooLong { field, max_chars }),
        text => Ok(text),
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
    fn error_names_the_missing_or_wrong_field() {
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
    fn unknown_fields_are_ignored() {
        let answer = Answer::parse(&with("extra", json!({"deep": [1]}))).unwrap();
        assert_eq!(serde_json::to_vec(&answer).unwrap().len(), body(|_| ()).len());
        let full = with("device_info", json!({"platform": "ios", "version": "1.0"}));
        let answer = Answer::parse(&full).unwrap();
        assert_eq!(Answer::parse(&serde_json::to_vec(&answer).unwrap()), Ok(answer));
    }

    #[test]
    fn clock_skew_of_thirty_seconds_is_accepted() {
        for (timestamp, fresh) in [(0, true), (30, true), (-30, true), (31, false), (-31, false), (i64::MIN, false)] {
            assert_eq!(is_fresh(timestamp, 0), fresh, "{timestamp}");
        }
        assert!(!is_fresh(i64::MIN, i64::MAX));
    }

    #[test]
    fn debug_output_hides_device_and_code() {
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
