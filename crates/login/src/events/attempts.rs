//! The past attempts of a delivery, in their stored form.

use anyhow::{Context, Result};
use data_encoding::HEXLOWER;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use signpost_auth::WebhookSecret;

use super::Attempt;
use crate::domains::SigningSecrets;

/// Maximum stored attempts of an event.
pub const MAX_PAST_ATTEMPTS: usize = 20;
/// Maximum stored characters of an error, and of a response.
const MAX_TEXT_CHARS: usize = 200;

/// A delivery attempt that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastAttempt {
    /// The start of the attempt.
    pub started_at: Timestamp,
    /// The duration in milliseconds.
    pub duration_ms: u64,
    /// The HTTP status of the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The reason why the attempt failed without a response, or the error in the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The start of the response body, for public endpoints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The fingerprints of the secrets that signed the attempt, the current secret first; not shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signed_by: Vec<String>,
    /// Seconds by which the clock of an endpoint that refused the event was ahead; not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_ahead_s: Option<i64>,
}

impl PastAttempt {
    /// Creates the stored form of an attempt.
    #[must_use]
    pub fn new(attempt: &Attempt, signed_by: Vec<String>, started_at: Timestamp, duration_ms: u64) -> Self {
        let Attempt { status, error, answer, clock_ahead_s, .. } = attempt;
        Self {
            started_at,
            duration_ms,
            status: *status,
            error: error.as_deref().map(shorten),
            answer: answer.as_deref().map(shorten),
            signed_by,
            clock_ahead_s: *clock_ahead_s,
        }
    }

    /// Returns the JSON form of the attempt for the API.
    #[must_use]
    pub fn to_view(&self) -> Value {
        let mut view = json!({ "started_at": self.started_at, "duration_ms": self.duration_ms });
        if let Some(status) = self.status {
            view["status"] = status.into();
        }
        if let Some(error) = &self.error {
            view["error"] = error.as_str().into();
        }
        if let Some(answer) = &self.answer {
            view["answer"] = answer.as_str().into();
        }
        view
    }
}

fn shorten(text: &str) -> String {
    text.chars().take(MAX_TEXT_CHARS).collect()
}

/// Parses the stored attempts of a row.
///
/// # Errors
/// Returns an error if the text is not valid.
pub fn read_past_attempts(stored: Option<&str>) -> Result<Vec<PastAttempt>> {
    match stored {
        Some(text) => serde_json::from_str(text).context("deliveries.past_attempts"),
        None => Ok(Vec::new()),
    }
}

/// Returns the stored attempts of a row with a new attempt appended. Invalid text is replaced, so
/// that a damaged row does not prevent the end of an attempt.
#[must_use]
pub fn append_attempt(stored: Option<&str>, made: PastAttempt) -> String {
    let mut attempts = read_past_attempts(stored).unwrap_or_default();
    attempts.push(made);
    let first_stored = attempts.len().saturating_sub(MAX_PAST_ATTEMPTS);
    json!(attempts[first_stored..]).to_string()
}

/// Returns the fingerprints of the current secrets. The first belongs to the secret that signs
/// `X-Svc-Signature`.
#[must_use]
pub fn fingerprints(secrets: &SigningSecrets) -> Vec<String> {
    [&secrets.current].into_iter().chain(&secrets.next).map(fingerprint).collect()
}

/// Returns four bytes of the hash of a secret: enough to distinguish secrets, too little to attack them.
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
    fn attempts_are_bounded() {
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
    fn damaged_attempts_fail_reads_but_not_appends() {
        for damaged in ["", "{", "{}", "[{}]"] {
            assert!(read_past_attempts(Some(damaged)).is_err(), "{damaged}");
            let repaired = append_attempt(Some(damaged), attempt(1));
            assert_eq!(read_past_attempts(Some(&repaired)).unwrap(), [attempt(1)]);
        }
    }

    #[test]
    fn attempt_view_omits_the_fingerprint() {
        let secrets = SigningSecrets { current: WebhookSecret::from_bytes(&[1; 32]), next: None };
        let made = PastAttempt { signed_by: fingerprints(&secrets), clock_ahead_s: Some(9), ..attempt(1) };
        let view = made.to_view();
        assert!(!view.to_string().contains(&made.signed_by[0]) && view["clock_ahead_s"].is_null(), "{view}");
        assert_eq!(made.signed_by[0].len(), 8);
    }
}
