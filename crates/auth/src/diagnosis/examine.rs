//! Diagnoses a received event: if its signature is invalid, finds the mistakes that explain the
//! difference.

use data_encoding::HEXLOWER;
use subtle::ConstantTimeEq;

use super::header_mistake::CorrectedHeaders;
use super::{
    BodyEncoding, BodyRewrite, HeaderMistake, KnownSecret, Mistake, SecretMistake, SigningKeys, examples, python,
};
use crate::event::Event;
use crate::webhook::WebhookSecret;

/// Maximum number of mistakes of a diagnosis. With more, the combinations would be many, and the
/// diagnosis of little use.
const MAX_MISTAKES: usize = 2;
/// Reason of a signature that does not match.
const X_SVC_MISMATCH: &str = "its X-Svc-Signature does not match";

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

/// A possible value, with the mistakes that explain how it differs from the received value.
type ExplainedValue<T> = (Vec<Mistake>, T);

/// Verifies the signature of an event with the configured secret, and finds the mistakes if it is
/// invalid. Does not compare `webhook-timestamp` with the current time.
///
/// `field` returns the value of a received header, given its name in lower case. An event is valid
/// with `X-Svc-Signature`, with the headers of Standard Webhooks, or with both if both match.
#[must_use]
pub fn examine<'a>(
    field: impl Fn(&str) -> Option<&'a str>,
    body: &[u8],
    secret: &[u8],
    others: &[KnownSecret],
) -> EventDiagnosis {
    let (header_mistake, received) = CorrectedHeaders::read(field);
    let mut reason = X_SVC_MISMATCH;
    if let Some(secret) = std::str::from_utf8(secret).ok().and_then(|text| WebhookSecret::parse(text).ok()) {
        match verify(&received, body, &secret) {
            Ok(()) if header_mistake.is_none() => return EventDiagnosis::Valid,
            Ok(()) => {}
            Err(why) => reason = why,
        }
    }
    let secrets = candidate_secrets(secret, others);
    let headers = candidate_headers(header_mistake, &received);
    let bodies = candidate_bodies(body);
    let correction = find_correction(&secrets, &headers, &bodies);
    // For equal numbers of mistakes, a wrong secret is more likely than a wrong signer.
    let max = correction.as_ref().map_or(MAX_MISTAKES, |mistakes| mistakes.len().saturating_sub(1));
    let signer = find_signer_mistake(&secrets, &headers[0], &bodies, max);
    match signer.or(correction).or_else(|| lost_body(body)) {
        Some(mistakes) if !mistakes.is_empty() => EventDiagnosis::Explained(mistakes),
        _ => EventDiagnosis::Unexplained(reason),
    }
}

/// Returns the fewest mistakes whose correction makes the signature valid.
fn find_correction(
    secrets: &[ExplainedValue<WebhookSecret>],
    headers: &[ExplainedValue<CorrectedHeaders>],
    bodies: &[ExplainedValue<Vec<u8>>],
) -> Option<Vec<Mistake>> {
    let mut found: Option<Vec<Mistake>> = None;
    for (secret_mistakes, secret) in secrets {
        for (header_mistakes, headers) in headers {
            for (body_mistakes, body) in bodies {
                let count = secret_mistakes.len() + header_mistakes.len() + body_mistakes.len();
                let is_better = found.as_ref().is_none_or(|found| count < found.len());
                if count <= MAX_MISTAKES && is_better && verify(headers, body, secret).is_ok() {
                    found = Some([&secret_mistakes[..], &body_mistakes[..], &header_mistakes[..]].concat());
                }
            }
        }
    }
    found
}

/// Returns the fewest mistakes of a signer that explain the received signature, at most `max`.
fn find_signer_mistake(
    secrets: &[ExplainedValue<WebhookSecret>],
    (header_mistakes, headers): &ExplainedValue<CorrectedHeaders>,
    bodies: &[ExplainedValue<Vec<u8>>],
    max: usize,
) -> Option<Vec<Mistake>> {
    let mut found: Option<Vec<Mistake>> = None;
    let (_, received) = &bodies[0];
    for (secret_mistakes, secret) in secrets {
        let sent = SentSignature::invalid(headers, secret, received);
        for (body_mistakes, body) in bodies {
            let count = secret_mistakes.len() + body_mistakes.len() + header_mistakes.len() + 1;
            if count > max || found.as_ref().is_some_and(|found| count >= found.len()) {
                continue;
            }
            if let Some(signer_mistake) = signer_mistake(secret, body, &sent) {
                let signer_mistakes = [signer_mistake];
                found =
                    Some([&secret_mistakes[..], &body_mistakes[..], &header_mistakes[..], &signer_mistakes].concat());
            }
        }
    }
    found
}

/// Returns the mistake of a signer with this secret who made this signature of the body.
fn signer_mistake(secret: &WebhookSecret, body: &[u8], sent: &SentSignature<'_>) -> Option<Mistake> {
    let right = SigningKeys::of(secret);
    for mistake in SecretMistake::ALL {
        if sent.is_made_with(&mistake.keys(secret), body) {
            return Some(Mistake::Secret(mistake));
        }
    }
    for rewrite in BodyRewrite::ALL {
        if rewrite.apply(body).iter().any(|rewritten| sent.is_made_with(&right, rewritten.as_bytes())) {
            return Some(Mistake::ParsedBody(rewrite));
        }
    }
    let encodings = BodyEncoding::ALL.into_iter();
    let mut encoded = encodings.filter_map(|encoding| Some((encoding, encoding.encode(body)?)));
    let (encoding, _) = encoded.find(|(_, encoded)| sent.is_made_with(&right, encoded))?;
    Some(Mistake::EncodedBody(encoding))
}

/// The invalid signature in the headers of an event.
enum SentSignature<'a> {
    /// `X-Svc-Signature`, and `X-Svc-Signature-Next` during a rotation.
    XSvc(Vec<&'a str>),
    /// The signature of Standard Webhooks.
    Standard(&'a CorrectedHeaders),
}

impl<'a> SentSignature<'a> {
    /// Returns the signature that does not match the received body, given the right secret. If `X-Svc-Signature` is
    /// valid, it is the other signature.
    fn invalid(headers: &'a CorrectedHeaders, secret: &WebhookSecret, body: &[u8]) -> Self {
        let sent = [&headers.x_svc_signature, &headers.x_svc_signature_next];
        let sent: Vec<&str> = sent.into_iter().flatten().map(String::as_str).collect();
        let x_svc = Self::XSvc(sent);
        if headers.x_svc_signature.is_none() || x_svc.is_made_with(&SigningKeys::of(secret), body) {
            return Self::Standard(headers);
        }
        x_svc
    }

    /// Returns `true` if this is the signature of the body with these keys.
    fn is_made_with(&self, keys: &SigningKeys, body: &[u8]) -> bool {
        match self {
            Self::XSvc(sent) => {
                let computed = HEXLOWER.encode(&keys.x_svc_tag(body));
                sent.iter().any(|header| is_equal(header, &computed))
            }
            Self::Standard(headers) => {
                let sent_at = headers.webhook_timestamp.as_deref().and_then(|text| text.parse().ok());
                let id = headers.webhook_id.as_deref().unwrap_or_default();
                let computed = keys.standard_signature(id, sent_at.unwrap_or_default(), body);
                let entries = headers.webhook_signature.as_deref().unwrap_or_default();
                entries.split(' ').any(|entry| is_equal(entry, &computed))
            }
        }
    }
}

/// Compares two signatures in constant time.
fn is_equal(sent: &str, computed: &str) -> bool {
    sent.as_bytes().ct_eq(computed.as_bytes()).into()
}

/// Verifies the signatures in the headers.
///
/// # Errors
/// Returns the reason if a signature does not match, or if there is none.
fn verify(headers: &CorrectedHeaders, body: &[u8], secret: &WebhookSecret) -> Result<(), &'static str> {
    let mut x_svc = [&headers.x_svc_signature, &headers.x_svc_signature_next].into_iter().flatten();
    if headers.x_svc_signature.is_some() && !x_svc.any(|header| secret.verify_x_svc_signature(header, body)) {
        return Err(X_SVC_MISMATCH);
    }
    let Some(signature) = &headers.webhook_signature else {
        return headers.x_svc_signature.as_ref().map(|_| ()).ok_or("it has no signature");
    };
    let (Some(id), Some(timestamp)) = (&headers.webhook_id, &headers.webhook_timestamp) else {
        return Err("it has a webhook-signature without webhook-id and webhook-timestamp");
    };
    let sent_at: i64 = timestamp.parse().map_err(|_| "its webhook-timestamp is not a number")?;
    if !secret.verify_standard_signature(signature, id, sent_at, body) {
        return Err("its webhook-signature does not match");
    }
    Ok(())
}

/// Returns the possible secrets: the configured secret, corrected, and the known secrets.
fn candidate_secrets(configured: &[u8], others: &[KnownSecret]) -> Vec<ExplainedValue<WebhookSecret>> {
    let mut secrets = Vec::new();
    if let Some((mistakes, secret)) = SecretMistake::correct(configured) {
        secrets.push((mistakes.into_iter().map(Mistake::Secret).collect(), secret));
    }
    for known in others.iter().cloned().chain(examples()) {
        secrets.push((vec![Mistake::OtherSecret(known.owner)], known.secret));
    }
    secrets
}

/// Returns the possible headers: as received, and without each mistake.
fn candidate_headers(
    names: Option<HeaderMistake>,
    received: &CorrectedHeaders,
) -> Vec<ExplainedValue<CorrectedHeaders>> {
    let names: Vec<Mistake> = names.into_iter().map(Mistake::Header).collect();
    let mut headers = vec![(names.clone(), received.clone())];
    for mistake in HeaderMistake::ALL {
        if let Some(corrected) = mistake.correct(received) {
            headers.push(([&names[..], &[Mistake::Header(mistake)]].concat(), corrected));
        }
    }
    headers
}

/// Returns the bodies that may have been signed: the received body, the body without a line end
/// that an editor added, the decoded body, and the body as the service writes events.
fn candidate_bodies(body: &[u8]) -> Vec<ExplainedValue<Vec<u8>>> {
    let mut bodies = vec![(Vec::new(), body.to_vec())];
    if let Some(line) = body.strip_suffix(b"\n") {
        bodies.push((vec![Mistake::BodyEnd], line.strip_suffix(b"\r").unwrap_or(line).to_vec()));
    }
    bodies.push((vec![Mistake::BodyEnd], [body, b"\n"].concat()));
    for encoding in BodyEncoding::ALL {
        if let Some(decoded) = encoding.decode(body) {
            bodies.push((vec![Mistake::EncodedBody(encoding)], decoded));
        }
    }
    let printed = std::str::from_utf8(body).ok().and_then(python::dict_to_json);
    let (rewrite, json) = match printed {
        Some(json) => (BodyRewrite::PythonText, json.into_bytes()),
        None => (find_rewrite(body), body.to_vec()),
    };
    let mut written = Vec::new();
    if let Ok(event) = serde_json::from_slice::<Event>(&json)
        && let Ok(event) = serde_json::to_vec(&event)
    {
        written.push(event);
    }
    written.extend(BodyRewrite::Compact.apply(&json).into_iter().map(String::into_bytes));
    for written in written {
        if bodies.iter().all(|(_, known)| *known != written) {
            bodies.push((vec![Mistake::ParsedBody(rewrite)], written));
        }
    }
    bodies
}

/// Returns the mistake of a receiver whose body no longer contains the event.
fn lost_body(body: &[u8]) -> Option<Vec<Mistake>> {
    let rewrite = match body.trim_ascii() {
        b"" => BodyRewrite::Empty,
        b"[object Object]" => BodyRewrite::ObjectName,
        _ => return None,
    };
    Some(vec![Mistake::ParsedBody(rewrite)])
}

/// Returns how a receiver has rewritten the body, if it differs from the form that the service
/// sends.
fn find_rewrite(body: &[u8]) -> BodyRewrite {
    let body = body.trim_ascii();
    let rewrites = [
        BodyRewrite::Sorted,
        BodyRewrite::SortedSpaced,
        BodyRewrite::Spaced,
        BodyRewrite::IndentedByTwo,
        BodyRewrite::IndentedByFour,
    ];
    let is_body = |rewrite: &BodyRewrite| rewrite.apply(body).iter().any(|rewritten| rewritten.as_bytes() == body);
    if let Some(rewrite) = rewrites.into_iter().find(is_body) {
        return rewrite;
    }
    let has_html_escapes = body.windows(6).any(|escape| matches!(escape, b"\\u003c" | b"\\u003e" | b"\\u0026"));
    if has_html_escapes { BodyRewrite::HtmlEscaped } else { BodyRewrite::Compact }
}
