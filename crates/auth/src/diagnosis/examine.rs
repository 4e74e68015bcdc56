//! Diagnoses a received event: if its signature is invalid, finds the mistakes that explain the
//! difference.

use subtle::ConstantTimeEq;

use super::{BodyRewrite, KnownSecret, Mistake, SECRET_PREFIX, SecretMistake, SignatureForm, SigningKeys, examples};
use crate::event::Event;
use crate::receiver::{EventHeaders, EventRules, HandlerRefusal, read_event};
use crate::webhook::WebhookSecret;

/// The diagnosis of a received event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventDiagnosis {
    /// The event has a valid signature.
    Valid,
    /// One or two mistakes of the receiver explain why the signature does not match.
    Explained(Vec<Mistake>),
    /// The signature is invalid, and no known mistake explains it. Contains the reason.
    Unexplained(&'static str),
}

/// A possible value, with the mistake that explains how it differs from the received value.
type ExplainedValue<T> = (Option<Mistake>, T);

/// Verifies the signature of an event with the configured secret, and finds the mistakes if it is
/// invalid. Does not compare `webhook-timestamp` with the current time.
#[must_use]
pub fn examine(headers: &EventHeaders<'_>, body: &[u8], secret: &str, others: &[KnownSecret]) -> EventDiagnosis {
    let secrets = candidate_secrets(secret, others);
    let sent_at = headers.webhook_timestamp.and_then(|text| text.parse().ok()).unwrap_or_default();
    let mut reason = "its X-Svc-Signature does not match";
    if let Ok(secret) = WebhookSecret::parse(secret) {
        let rules = EventRules { secrets: vec![secret], allowed_sources: Vec::new() };
        match read_event(headers, body, &rules, sent_at) {
            Err(HandlerRefusal::NotAuthentic(why)) => reason = why,
            // A body with a valid signature may still not be an event.
            _ => return EventDiagnosis::Valid,
        }
    }
    let bodies = candidate_bodies(body);
    let mut found: Option<((usize, bool), Vec<Mistake>)> = None;
    for (secret_mistake, secret) in &secrets {
        for (changed, body) in &bodies {
            for (signer_mistake, x_svc, standard) in computed(secret, body, headers, sent_at) {
                let mistakes: Vec<_> =
                    [secret_mistake, changed, &signer_mistake].into_iter().flatten().cloned().collect();
                // For equal numbers of mistakes, a wrong secret is more likely than a wrong signer.
                let rank = (mistakes.len(), signer_mistake.is_some());
                let is_better = found.as_ref().is_none_or(|(best, _)| rank < *best);
                if is_better && mistakes.len() <= 2 && is_signed(headers, &x_svc, &standard) {
                    found = Some((rank, mistakes));
                }
            }
        }
    }
    match found {
        // An empty list means that only one of the two signatures is valid.
        Some((_, mistakes)) if !mistakes.is_empty() => EventDiagnosis::Explained(mistakes),
        _ => EventDiagnosis::Unexplained(reason),
    }
}

/// Returns `true` if the headers contain either of the two signatures.
fn is_signed(headers: &EventHeaders<'_>, x_svc: &str, standard: &str) -> bool {
    if headers.x_svc_signature.is_none() {
        return headers.webhook_signature.unwrap_or_default().split(' ').any(|entry| is_equal(entry, standard));
    }
    let sent = [headers.x_svc_signature, headers.x_svc_signature_next];
    sent.into_iter().flatten().any(|header| is_equal(header, x_svc))
}

/// Compares two signatures in constant time.
fn is_equal(sent: &str, computed: &str) -> bool {
    sent.as_bytes().ct_eq(computed.as_bytes()).into()
}

/// Returns the possible secrets: the configured text, this text without surrounding characters, and
/// the known secrets.
fn candidate_secrets(text: &str, others: &[KnownSecret]) -> Vec<ExplainedValue<WebhookSecret>> {
    let bare = text.trim().trim_matches(['"', '\'']).trim();
    let secret_mistake = match (text, bare) {
        _ if text == bare => None,
        _ if text.contains('"') => Some(SecretMistake::DoubleQuotes),
        _ if text.contains('\'') => Some(SecretMistake::SingleQuotes),
        _ if text.ends_with("\r\n") => Some(SecretMistake::LineEnd),
        _ if text.ends_with('\n') => Some(SecretMistake::LineFeed),
        _ => Some(SecretMistake::Space),
    };
    let mut secrets: Vec<ExplainedValue<WebhookSecret>> = Vec::new();
    if let Ok(secret) = WebhookSecret::parse(bare) {
        secrets.push((secret_mistake.map(Mistake::Secret), secret));
    } else if let Ok(secret) = WebhookSecret::parse(&format!("{SECRET_PREFIX}{bare}")) {
        secrets.push((Some(Mistake::Secret(SecretMistake::NoPrefix)), secret));
    }
    for known in others.iter().cloned().chain(examples()) {
        secrets.push((Some(Mistake::OtherSecret(known.owner)), known.secret));
    }
    secrets
}

/// Returns the bodies that may have been signed: the received body, the body without a line end
/// that an editor added, and the body as the service writes events.
fn candidate_bodies(body: &[u8]) -> Vec<ExplainedValue<Vec<u8>>> {
    let mut bodies = vec![(None, body.to_vec())];
    if let Some(line) = body.strip_suffix(b"\n") {
        bodies.push((Some(Mistake::BodyEnd), line.strip_suffix(b"\r").unwrap_or(line).to_vec()));
    }
    bodies.push((Some(Mistake::BodyEnd), [body, b"\n"].concat()));
    let rewrite = find_rewrite(body).unwrap_or(BodyRewrite::Sorted);
    let mut written = Vec::new();
    if let Ok(event) = serde_json::from_slice::<Event>(body)
        && let Ok(event) = serde_json::to_vec(&event)
    {
        written.push(event);
    }
    written.extend(BodyRewrite::Compact.apply(body).into_iter().map(String::into_bytes));
    for written in written {
        if bodies.iter().all(|(_, known)| *known != written) {
            bodies.push((Some(Mistake::ParsedBody(rewrite)), written));
        }
    }
    bodies
}

/// Returns how a receiver has rewritten the body, if it differs from the form that the service
/// sends.
fn find_rewrite(body: &[u8]) -> Option<BodyRewrite> {
    let body = body.trim_ascii();
    let rewrites = [
        BodyRewrite::Sorted,
        BodyRewrite::SortedSpaced,
        BodyRewrite::Spaced,
        BodyRewrite::IndentedByTwo,
        BodyRewrite::IndentedByFour,
    ];
    rewrites.into_iter().find(|rewrite| rewrite.apply(body).iter().any(|rewritten| rewritten.as_bytes() == body))
}

/// Returns the signatures of this body with this secret, without a mistake and with each possible
/// mistake: the value of `X-Svc-Signature`, and an entry of `webhook-signature`.
fn computed(
    secret: &WebhookSecret,
    body: &[u8],
    headers: &EventHeaders<'_>,
    sent_at: i64,
) -> Vec<(Option<Mistake>, String, String)> {
    let id = headers.webhook_id.unwrap_or_default();
    let keys = SigningKeys::of(secret);
    let standard = keys.standard_signature(id, sent_at, body);
    let mut all = vec![(None, keys.x_svc_signature(body, None), standard.clone())];
    for secret_mistake in SecretMistake::ALL {
        let keys = secret_mistake.keys(secret);
        let standard = keys.standard_signature(id, sent_at, body);
        all.push((Some(Mistake::Secret(secret_mistake)), keys.x_svc_signature(body, None), standard));
    }
    for form in SignatureForm::ALL {
        all.push((Some(Mistake::Form(form)), keys.x_svc_signature(body, Some(form)), standard.clone()));
    }
    for rewrite in BodyRewrite::ALL {
        for rewritten in rewrite.apply(body).into_iter().filter(|rewritten| rewritten.as_bytes() != body) {
            let rewritten = rewritten.as_bytes();
            let standard = keys.standard_signature(id, sent_at, rewritten);
            all.push((Some(Mistake::ParsedBody(rewrite)), keys.x_svc_signature(rewritten, None), standard));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = r#"{"id":"evt_1","event":"test","timestamp":"2026-11-20T12:00:00Z","session_id":"","data":{}}"#;

    fn secret(byte: u8) -> WebhookSecret {
        WebhookSecret::from_bytes(&[byte; 32])
    }

    /// Examines a body with a configured secret, given a signature of `BODY` by the secret of
    /// nines.
    fn found(body: &str, configured: &str) -> EventDiagnosis {
        let signature = secret(9).x_svc_signature(BODY.as_bytes());
        let headers = EventHeaders { x_svc_signature: Some(&signature), ..EventHeaders::default() };
        let others = [KnownSecret { owner: "that of b.test".to_owned(), secret: secret(9) }];
        let is_other = configured == secret(7).reveal();
        examine(&headers, body.as_bytes(), configured, if is_other { &others } else { &[] })
    }

    #[test]
    fn every_mistake_is_found() {
        let right = secret(9).reveal().to_owned();
        let value: serde_json::Value = serde_json::from_str(BODY).unwrap();
        let spaced = BodyRewrite::Spaced.apply(BODY.as_bytes()).remove(0);
        let pretty = BodyRewrite::IndentedByTwo.apply(BODY.as_bytes()).remove(0);
        assert_eq!(found(BODY, &right), EventDiagnosis::Valid);
        for (body, configured, expected) in [
            (BODY, format!("{right}\n"), Mistake::Secret(SecretMistake::LineFeed)),
            (BODY, format!("{right}\r\n"), Mistake::Secret(SecretMistake::LineEnd)),
            (BODY, format!(" {right}"), Mistake::Secret(SecretMistake::Space)),
            (BODY, format!("\"{right}\""), Mistake::Secret(SecretMistake::DoubleQuotes)),
            (BODY, right[6..].to_owned(), Mistake::Secret(SecretMistake::NoPrefix)),
            (BODY, secret(7).reveal().to_owned(), Mistake::OtherSecret("that of b.test".to_owned())),
            (&format!("{BODY}\n"), right.clone(), Mistake::BodyEnd),
            (&format!("{BODY}\r\n"), right.clone(), Mistake::BodyEnd),
            (&spaced, right.clone(), Mistake::ParsedBody(BodyRewrite::Spaced)),
            (&pretty, right.clone(), Mistake::ParsedBody(BodyRewrite::IndentedByTwo)),
            (&value.to_string(), right.clone(), Mistake::ParsedBody(BodyRewrite::Sorted)),
        ] {
            assert_eq!(found(body, &configured), EventDiagnosis::Explained(vec![expected]), "{body} {configured:?}");
        }
        let two = found(&format!("{BODY}\n"), &format!("{right}\n"));
        assert_eq!(two, EventDiagnosis::Explained(vec![Mistake::Secret(SecretMistake::LineFeed), Mistake::BodyEnd]));
    }

    #[test]
    fn hand_made_signature_is_diagnosed() {
        let right = secret(9);
        let examined = |signature: &str| {
            let headers = EventHeaders { x_svc_signature: Some(signature), ..EventHeaders::default() };
            examine(&headers, BODY.as_bytes(), right.reveal(), &[])
        };
        let hex = right.x_svc_signature(BODY.as_bytes());
        for (signature, expected) in [
            (format!("sha256={hex}"), Mistake::Form(SignatureForm::Prefixed)),
            (hex.to_uppercase(), Mistake::Form(SignatureForm::UpperCase)),
            (
                SecretMistake::Decoded.keys(&right).x_svc_signature(BODY.as_bytes(), None),
                Mistake::Secret(SecretMistake::Decoded),
            ),
            (right.x_svc_signature(b""), Mistake::ParsedBody(BodyRewrite::Empty)),
        ] {
            assert_eq!(examined(&signature), EventDiagnosis::Explained(vec![expected]), "{signature}");
        }
        for signature in ["", "00", &secret(1).x_svc_signature(BODY.as_bytes())] {
            assert!(matches!(examined(signature), EventDiagnosis::Unexplained(_)), "{signature}");
        }
    }

    #[test]
    fn standard_signature_is_examined() {
        let right = secret(9);
        let standard = right.standard_signature("evt_1", 5, BODY.as_bytes());
        let x_svc = right.x_svc_signature(BODY.as_bytes());
        let (id, at) = (Some("evt_1"), Some("5"));
        let fields = EventHeaders {
            webhook_id: id,
            webhook_timestamp: at,
            webhook_signature: Some(&standard),
            ..EventHeaders::default()
        };
        let examined = |headers: &EventHeaders<'_>, secret: &str| examine(headers, BODY.as_bytes(), secret, &[]);
        // The specification requires X-Svc-Signature.
        assert_eq!(examined(&fields, right.reveal()), EventDiagnosis::Unexplained("it has no X-Svc-Signature"));
        let both = EventHeaders { x_svc_signature: Some(&x_svc), ..fields };
        assert_eq!(examined(&both, right.reveal()), EventDiagnosis::Valid);
        let moved = EventHeaders { webhook_timestamp: Some("6"), ..both };
        let expected = EventDiagnosis::Unexplained("its webhook-signature does not match");
        assert_eq!(examined(&moved, right.reveal()), expected);
    }
}
