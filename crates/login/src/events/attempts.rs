//! The attempts that were made with a delivery, which are stored beside it.

use anyhow::{Context, Result};
use data_encoding::HEXLOWER;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use signpost_auth::WebhookSecret;

use super::Attempt;
use crate::domains::SigningSecrets;

/// How many attempts are stored of one event, the last ones.
pub const MAX_PAST_ATTEMPTS: usize = 20;
/// How many characters are stored of what went wrong, and of an answer.
const MAX_TEXT_CHARS: usize = 200;

/// An attempt that ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastAttempt {
    /// When it began.
    pub started_at: Timestamp,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The HTTP status, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The beginning of what a public endpoint answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Fingerprints of the secrets that signed it, the current one first; not shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signed_by: Vec<String>,
    /// By how many seconds the clock of an endpoint that refused was ahead of ours; not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_ahead_s: Option<i64>,
}

impl PastAttempt {
    /// What is stored of an attempt.
    #[must_use]
    pub fn new(attempt: &Attempt, signed_by: Vec<String>, started_at: Timestamp, duration_ms: u64) -> Self {
        let Attempt { status, error, answer, clock_ahead_s, .. } = attempt;
        let beginning = |text: &String| text.chars().take(MAX_TEXT_CHARS).collect();
        Self {
            started_at,
            duration_ms,
            status: *status,
            error: error.as_ref().map(beginning),
            answer: answer.as_ref().map(beginning),
            signed_by,
            clock_ahead_s: *clock_ahead_s,
        }
    }

    /// As it is shown.
    #[must_use]
    pub fn to_view(&self) -> Value {
        let mut view = json!({ "started_at": self.started_at, "duration_ms": self.duration_ms });
        for (member, value) in [
            ("status", self.status.map(Value::from)),
            ("error", self.error.clone().map(Value::from)),
            ("answer", self.answer.clone().map(Value::from)),
        ] {
            if let Some(value) = value {
                view[member] = value;
            }
        }
        view
    }
}

/// The attempts that a row has.
///
/// # Errors
/// Where the text was written by nobody of ours.
pub fn read_past_attempts(stored: Option<&str>) -> Result<Vec<PastAttempt>> {
    stored.map_or(Ok(Vec::new()), |text| serde_json::from_str(text).context("deliveries.past_attempts"))
}

/// The text of a row's attempts and one more. What cannot be read gives way to it: an attempt ends whatever its row has.
#[must_use]
pub fn append_attempt(stored: Option<&str>, made: PastAttempt) -> String {
    let mut attempts = read_past_attempts(stored).unwrap_or_default();
    attempts.push(made);
    let first_stored = attempts.len().saturating_sub(MAX_PAST_ATTEMPTS);
    json!(attempts[first_stored..]).to_string()
}

/// The fingerprints of the secrets that sign now, the current one first.
#[must_use]
pub fn fingerprints(secrets: &SigningSecrets) -> Vec<String> {
    [Some(&secrets.current), secrets.next.as_ref()].into_iter().flatten().map(fingerprint).collect()
}

/// Tells secrets of 256 bits apart and says nothing of them.
fn fingerprint(secret: &WebhookSecret) -> String {
    HEXLOWER.encode(&Sha256::digest(secret.reveal().as_bytes())[..4])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(number: u64) -> PastAttempt {
        let attempt = Attempt {
            status: Some(500),
            error: Some("é".repeat(MAX_TEXT_CHARS + 1)),
            retry_after: None,
            answer: Some("x".repeat(2048)),
            clock_ahead_s: None,
        };
        PastAttempt::new(&attempt, Vec::new(), Timestamp::UNIX_EPOCH, number)
    }

    #[test]
    fn the_last_attempts_stay_and_each_is_bounded() {
        let mut stored = None;
        for number in 0..50 {
            stored = Some(append_attempt(stored.as_deref(), attempt(number)));
        }
        let read = read_past_attempts(stored.as_deref()).unwrap();
        assert_eq!(read.iter().map(|one| one.duration_ms).collect::<Vec<_>>(), (30..50).collect::<Vec<_>>());
        assert!(stored.unwrap().len() < 20 * 1024);
        assert_eq!(read_past_attempts(None).unwrap(), []);
    }

    #[test]
    fn a_damaged_text_is_an_error_to_read_and_none_to_add_to() {
        for damaged in ["", "{", "{}", "[{}]"] {
            assert!(read_past_attempts(Some(damaged)).is_err(), "{damaged}");
            let mended = append_attempt(Some(damaged), attempt(1));
            assert_eq!(read_past_attempts(Some(&mended)).unwrap(), [attempt(1)]);
        }
    }

    #[test]
    fn a_view_shows_no_fingerprint() {
        let secrets = SigningSecrets { current: WebhookSecret::from_bytes(&[1; 32]), next: None };
        let made = PastAttempt { signed_by: fingerprints(&secrets), clock_ahead_s: Some(9), ..attempt(1) };
        let view = made.to_view();
        assert!(!view.to_string().contains(&made.signed_by[0]) && view["clock_ahead_s"].is_null(), "{view}");
        assert_eq!(made.signed_by[0].len(), 8);
    }
}
