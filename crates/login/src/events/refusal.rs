//! Explains why an endpoint refused a delivery, as far as the last attempt shows the reason, and
//! how to fix it. No request is sent to the endpoint.

use serde_json::{Value, json};
use signpost_auth::diagnosis::{Mistake, remedies};

use super::attempts::{PastAttempt, fingerprints};
use crate::domains::SigningSecrets;

/// Maximum difference between the clocks of a receiver and the server that the SDKs accept, in seconds.
const CLOCK_TOLERANCE_S: u64 = 5 * 60;

/// The reason why an endpoint refused a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefusalReason {
    /// The response names a known mistake.
    Mistake(Mistake),
    /// The receiver's clock is ahead of the server's clock by this number of seconds, or behind it
    /// if negative.
    ClockSkew(i64),
    /// The response complains about the time of the event.
    EventTime,
    /// The attempt was signed with a secret that was replaced since.
    ReplacedSecret,
    /// The attempt was signed while there were two secrets.
    TwoSecrets,
    /// The receiver's CSRF protection refused the event.
    Csrf,
    /// The receiver responded with an HTML page.
    HtmlPage,
    /// The response complains about the signature.
    Signature,
    /// The response names no reason.
    Unknown,
}

/// Explains the last of these attempts, if it was refused, with the current secrets of its domain.
#[must_use]
pub fn explain_refusal(attempts: &[PastAttempt], secrets: Option<&SigningSecrets>) -> Option<RefusalReason> {
    let last = attempts.last()?;
    let answer = last.answer.as_deref().unwrap_or_default();
    if last.status.is_some_and(|status| status >= 400)
        && let Some(mistake) = Mistake::detect(answer)
    {
        return Some(RefusalReason::Mistake(mistake));
    }
    if !matches!(last.status, Some(401 | 403)) {
        return None;
    }
    if let Some(ahead) = last.clock_ahead_s
        && ahead.unsigned_abs() > CLOCK_TOLERANCE_S
    {
        return Some(RefusalReason::ClockSkew(ahead));
    }
    let current = secrets.map(fingerprints).unwrap_or_default();
    let lower = answer.to_lowercase();
    Some(match (last.signed_by.first(), current.first()) {
        (Some(signed), Some(current)) if signed != current => RefusalReason::ReplacedSecret,
        _ if lower.contains("csrf") => RefusalReason::Csrf,
        _ if contains_any(&lower, &["timestamp", "too old", "clock"]) => RefusalReason::EventTime,
        _ if last.signed_by.len() > 1 => RefusalReason::TwoSecrets,
        _ if lower.trim_start().starts_with('<') => RefusalReason::HtmlPage,
        _ if contains_any(&lower, &["signature", "hmac", "not authentic"]) => RefusalReason::Signature,
        _ => RefusalReason::Unknown,
    })
}

fn contains_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

impl RefusalReason {
    /// Returns the name for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Mistake(mistake) => mistake.code(),
            Self::ClockSkew(_) => "clock",
            Self::EventTime => "time",
            Self::ReplacedSecret => "replaced_secret",
            Self::TwoSecrets => "two_secrets",
            Self::Csrf => "csrf",
            Self::HtmlPage => "page",
            Self::Signature => "signature",
            Self::Unknown => "unknown",
        }
    }

    /// Returns a description of the reason: a sentence without a full stop.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Mistake(mistake) => mistake.to_string(),
            Self::ClockSkew(ahead) => {
                let side = if *ahead > 0 { "ahead of" } else { "behind" };
                format!("clock: the receiver's clock is {} s {side} this server's", ahead.unsigned_abs())
            }
            Self::EventTime => "time: the receiver says that the event is too old or too new".to_owned(),
            Self::ReplacedSecret => {
                "replaced secret: the last attempt was signed with a secret that was replaced since".to_owned()
            }
            Self::TwoSecrets => {
                "two secrets: X-Svc-Signature has the current secret, X-Svc-Signature-Next the next one, and the \
                 receiver may have one and check the header of the other"
                    .to_owned()
            }
            Self::Csrf => "forms: the receiver takes the event for a form of another site".to_owned(),
            Self::HtmlPage => "page: the receiver, or a proxy before it, answered with a page for people".to_owned(),
            Self::Signature => "signature: the receiver says that the signature is wrong".to_owned(),
            Self::Unknown => "unknown: the receiver does not say why".to_owned(),
        }
    }

    /// Returns instructions to fix the problem.
    #[must_use]
    pub fn remedies(&self) -> Vec<String> {
        let lines: &[&str] = match self {
            Self::Mistake(mistake) => return remedies(mistake, None),
            Self::ClockSkew(_) | Self::EventTime => &[
                "Set the clocks of both servers by NTP, then retry: each attempt is signed with the time of that attempt",
            ],
            Self::ReplacedSecret => &["Retry: the next attempt is signed with the current secret"],
            Self::TwoSecrets => {
                &["Give the receiver both secrets, or activate the next one with 'signpost domains secret DOMAIN \
                 --activate' once the receiver has it"]
            }
            Self::Csrf => &["Exempt the path of events from the check of forms, and verify the signature there"],
            Self::HtmlPage => {
                &["Exempt the path of events from login walls and firewalls, and verify the signature there"]
            }
            Self::Signature | Self::Unknown => &[
                "Compare the receiver's secret with 'signpost domains secret DOMAIN'",
                "Run 'signpost trigger test --domain DOMAIN': it finds the mistake by sending test events",
            ],
        };
        lines.iter().map(|&line| line.to_owned()).collect()
    }

    /// Returns the code, the description and the instructions as JSON.
    #[must_use]
    pub fn to_view(&self) -> Value {
        json!({ "reason": self.code(), "text": self.text(), "mending": self.remedies() })
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use signpost_auth::WebhookSecret;

    use super::*;
    use crate::events::Attempt;

    fn secrets(current: u8, next: Option<u8>) -> SigningSecrets {
        let secret = |byte| WebhookSecret::from_bytes(&[byte; 32]);
        SigningSecrets { current: secret(current), next: next.map(secret) }
    }

    fn explained(status: u16, answer: &str, signed: &SigningSecrets, ahead: Option<i64>) -> Option<&'static str> {
        let answer = Some(answer.to_owned());
        let attempt = Attempt { status: Some(status), error: None, retry_after: None, answer, clock_ahead_s: ahead };
        let made = PastAttempt::new(&attempt, fingerprints(signed), Timestamp::UNIX_EPOCH, 1);
        explain_refusal(&[made], Some(&secrets(1, None))).map(|reason| reason.code())
    }

    #[test]
    fn every_refusal_has_a_reason() {
        let now = secrets(1, None);
        for (status, answer, signed, ahead, expected) in [
            (401, "no", &now, None, Some("unknown")),
            (401, "invalid signature", &now, None, Some("signature")),
            (401, "invalid signature", &now, Some(300), Some("signature")),
            (401, "invalid signature", &now, Some(301), Some("clock")),
            (403, "invalid signature", &now, Some(i64::MIN), Some("clock")),
            (401, "invalid signature", &secrets(2, None), None, Some("replaced_secret")),
            (401, "invalid signature", &secrets(1, Some(2)), None, Some("two_secrets")),
            (401, "Timestamp outside of tolerance", &now, None, Some("time")),
            (403, "<h1>CSRF verification failed", &now, None, Some("csrf")),
            (403, " <html>Forbidden", &now, None, Some("page")),
            (500, "TypeError: a bytes-like object is required, not 'dict'", &now, None, Some("parsed_body")),
            (500, "invalid signature", &now, None, None),
            (404, "invalid signature", &now, Some(9000), None),
            (200, "a bytes-like object is required", &now, None, None),
        ] {
            assert_eq!(explained(status, answer, signed, ahead), expected, "{status} {answer} {ahead:?}");
        }
        assert_eq!(explain_refusal(&[], None), None);
    }

    #[test]
    fn every_reason_names_a_remedy() {
        use RefusalReason::{ClockSkew, Csrf, EventTime, HtmlPage, ReplacedSecret, Signature, TwoSecrets, Unknown};
        for reason in [ClockSkew(-400), EventTime, ReplacedSecret, TwoSecrets, Csrf, HtmlPage, Signature, Unknown] {
            let text = reason.text();
            assert!(text.contains(": ") && !text.ends_with('.') && !reason.remedies().is_empty(), "{text}");
        }
        assert!(ClockSkew(-400).text().contains("400 s behind"));
    }
}
