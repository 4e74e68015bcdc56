//! Webhook secrets and the signatures of events.

use data_encoding::{BASE64, HEXLOWER};
use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;

/// Name of the header that contains [`WebhookSecret::x_svc_signature`].
pub const X_SVC_SIGNATURE: &str = "x-svc-signature";
/// Name of the header that contains [`WebhookSecret::x_svc_signature`] by the next secret, during a
/// rotation.
pub const X_SVC_SIGNATURE_NEXT: &str = "x-svc-signature-next";
/// Name of the Standard Webhooks header that contains the event ID, equal for every attempt.
pub const WEBHOOK_ID: &str = "webhook-id";
/// Name of the Standard Webhooks header that contains the time of the attempt in Unix seconds.
pub const WEBHOOK_TIMESTAMP: &str = "webhook-timestamp";
/// Name of the Standard Webhooks header that contains one or more values of
/// [`WebhookSecret::standard_signature`].
pub const WEBHOOK_SIGNATURE: &str = "webhook-signature";

pub(crate) const SECRET_PREFIX: &str = "whsec_";

/// A secret that signs the events of a domain: `whsec_` and base64.
///
/// The secret contains two keys. `X-Svc-Signature` uses the UTF-8 bytes of the whole text as
/// displayed (specification, section 5). The Standard Webhooks signature uses the decoded bytes
/// after the prefix.
///
/// ```
/// use signpost_auth::WebhookSecret;
///
/// let secret = WebhookSecret::from_bytes(&[0; 32]);
/// assert_eq!(secret.reveal(), "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=");
/// let signature = secret.x_svc_signature(b"{}");
/// assert!(secret.verify_x_svc_signature(&signature, b"{}"));
/// # Ok::<(), signpost_auth::InvalidWebhookSecret>(())
/// ```
#[derive(Clone, Debug)]
pub struct WebhookSecret(SecretString);

/// Error that a text is not a webhook secret. It does not contain the text, which may be a mistyped
/// secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a webhook secret is whsec_ followed by 24 to 64 bytes in base64, as the domain's registration showed it, without a space or a line end"
)]
pub struct InvalidWebhookSecret;

impl WebhookSecret {
    /// Creates a secret of 256 random bits.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        Self(format!("{SECRET_PREFIX}{}", BASE64.encode(bytes)).into())
    }

    /// Parses a secret as displayed. The service creates secrets of 32 bytes; Standard Webhooks
    /// allows 24 to 64 bytes.
    ///
    /// # Errors
    /// Returns [`InvalidWebhookSecret`] for any other text.
    pub fn parse(text: &str) -> Result<Self, InvalidWebhookSecret> {
        let base64 = text.strip_prefix(SECRET_PREFIX).ok_or(InvalidWebhookSecret)?;
        let bytes = BASE64.decode(base64.as_bytes()).map_err(|_| InvalidWebhookSecret)?;
        if (24..=64).contains(&bytes.len()) { Ok(Self(text.into())) } else { Err(InvalidWebhookSecret) }
    }

    /// Returns the text of the secret. Store it, and show it to its owner only.
    #[must_use]
    pub fn reveal(&self) -> &str {
        self.0.expose_secret()
    }

    /// Returns the value of `X-Svc-Signature`: the HMAC-SHA-256 of the raw body in lower-case hex.
    #[must_use]
    pub fn x_svc_signature(&self, body: &[u8]) -> String {
        HEXLOWER.encode(&self.x_svc(body).finalize().into_bytes())
    }

    /// Returns `true` if `header` is the `X-Svc-Signature` of `body` by this secret. Compares in
    /// constant time.
    #[must_use]
    pub fn verify_x_svc_signature(&self, header: &str, body: &[u8]) -> bool {
        let tag = HEXLOWER.decode(header.as_bytes());
        tag.is_ok_and(|tag| self.x_svc(body).verify_slice(&tag).is_ok())
    }

    /// Returns an entry of `webhook-signature`: `v1,` and the HMAC-SHA-256 of
    /// `<id>.<timestamp>.<body>` in base64 (Standard Webhooks 1.0.0). During a rotation, the header
    /// has an entry for each secret, separated by spaces.
    #[must_use]
    pub fn standard_signature(&self, id: &str, timestamp: i64, body: &[u8]) -> String {
        standard_entry(&self.decoded(), id, timestamp, body)
    }

    /// Returns `true` if an entry of `header` was signed with this secret. Ignores entries of other
    /// versions.
    #[must_use]
    pub fn verify_standard_signature(&self, header: &str, id: &str, timestamp: i64, body: &[u8]) -> bool {
        let mac = standard_mac(&self.decoded(), id, timestamp, body);
        header
            .split(' ')
            .filter_map(|entry| BASE64.decode(entry.strip_prefix("v1,")?.as_bytes()).ok())
            .any(|tag| mac.clone().verify_slice(&tag).is_ok())
    }

    fn x_svc(&self, body: &[u8]) -> Hmac<Sha256> {
        x_svc_mac(self.reveal().as_bytes(), body)
    }

    /// Returns the decoded bytes after the prefix.
    pub(crate) fn decoded(&self) -> Vec<u8> {
        BASE64.decode(&self.reveal().as_bytes()[SECRET_PREFIX.len()..]).expect("checked when the secret was made")
    }
}

/// Returns the headers that the service sends with an event. `id` is the event ID, and `sent_at` is
/// the time of the attempt in Unix seconds. During a rotation, `next` is the next secret, which
/// also signs the event.
///
/// ```
/// use signpost_auth::receiver::{EventHeaders, EventRules, read_event};
/// use signpost_auth::{WebhookSecret, sign_event};
///
/// let secret = WebhookSecret::from_bytes(&[0; 32]);
/// let body = br#"{"event": "test", "timestamp": "2026-11-20T12:00:00Z", "session_id": "", "data": {}}"#;
/// let fields = sign_event("evt_1", 1_700_000_000, body, &secret, None);
/// let headers = EventHeaders::from_fields(|name| {
///     fields.iter().find(|(field, _)| *field == name).map(|(_, value)| value.as_str())
/// });
/// let rules = EventRules { secrets: vec![secret], allowed_sources: Vec::new() };
/// assert!(read_event(&headers, body, &rules, 1_700_000_000).is_ok());
/// ```
#[must_use]
pub fn sign_event(
    id: &str,
    sent_at: i64,
    body: &[u8],
    current: &WebhookSecret,
    next: Option<&WebhookSecret>,
) -> Vec<(&'static str, String)> {
    let mut standard = current.standard_signature(id, sent_at, body);
    if let Some(next) = next {
        standard = format!("{standard} {}", next.standard_signature(id, sent_at, body));
    }
    let mut fields = signature_fields(id, sent_at, current.x_svc_signature(body), standard);
    if let Some(next) = next {
        fields.push((X_SVC_SIGNATURE_NEXT, next.x_svc_signature(body)));
    }
    fields
}

/// Returns the headers of an event with these signatures.
pub(crate) fn signature_fields(id: &str, sent_at: i64, x_svc: String, standard: String) -> Vec<(&'static str, String)> {
    vec![
        (X_SVC_SIGNATURE, x_svc),
        (WEBHOOK_ID, id.to_owned()),
        (WEBHOOK_TIMESTAMP, sent_at.to_string()),
        (WEBHOOK_SIGNATURE, standard),
    ]
}

/// Returns the HMAC for `X-Svc-Signature`.
pub(crate) fn x_svc_mac(key: &[u8], body: &[u8]) -> Hmac<Sha256> {
    keyed(key).chain_update(body)
}

/// Returns an entry of `webhook-signature`.
pub(crate) fn standard_entry(key: &[u8], id: &str, sent_at: i64, body: &[u8]) -> String {
    format!("v1,{}", BASE64.encode(&standard_mac(key, id, sent_at, body).finalize().into_bytes()))
}

fn standard_mac(key: &[u8], id: &str, sent_at: i64, body: &[u8]) -> Hmac<Sha256> {
    keyed(key).chain_update(format!("{id}.{sent_at}.")).chain_update(body)
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC takes keys of any length")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_the_displayed_form_parses() {
        let secret = WebhookSecret::from_bytes(&[9; 32]);
        assert_eq!(WebhookSecret::parse(secret.reveal()).unwrap().reveal(), secret.reveal());
        assert!(WebhookSecret::parse(&format!("whsec_{}", BASE64.encode(&[1; 24]))).is_ok());
        for text in [
            "",
            "whsec_",
            "whsec_CQkJCQkJ",
            &secret.reveal()[6..],
            secret.reveal().trim_end_matches('='),
            &format!("{} ", secret.reveal()),
            &secret.reveal().to_uppercase(),
            &format!("whsec_{}", BASE64.encode(&[1; 65])),
        ] {
            assert_eq!(WebhookSecret::parse(text).unwrap_err(), InvalidWebhookSecret, "{text}");
        }
    }

    #[test]
    fn debug_output_hides_the_secret() {
        let secret = WebhookSecret::from_bytes(&[9; 32]);
        let debug = format!("{secret:?}");
        assert!(debug.contains("REDACTED") && !debug.contains("CQkJ"), "{debug}");
    }

    #[test]
    fn signature_has_one_spelling() {
        let secret = WebhookSecret::from_bytes(&[9; 32]);
        let good = secret.x_svc_signature(b"body");
        assert!(secret.verify_x_svc_signature(&good, b"body"));
        for header in ["", &good[1..], &good.to_uppercase(), &format!("sha256={good}"), &format!("{good} {good}")] {
            assert!(!secret.verify_x_svc_signature(header, b"body"), "{header}");
        }
        assert!(!WebhookSecret::from_bytes(&[8; 32]).verify_x_svc_signature(&good, b"body"));
    }

    #[test]
    fn both_secrets_verify_during_rotation() {
        let (old, new) = (WebhookSecret::from_bytes(&[1; 32]), WebhookSecret::from_bytes(&[2; 32]));
        let entries = [&old, &new].map(|secret| secret.standard_signature("evt_1", 5, b"body"));
        let header = format!("v1a,AAAA {} v1,%% {}", entries[0], entries[1]);
        assert!(old.verify_standard_signature(&header, "evt_1", 5, b"body"));
        assert!(new.verify_standard_signature(&header, "evt_1", 5, b"body"));
        for (id, timestamp, body) in [("evt_2", 5, "body"), ("evt_1", 6, "body"), ("evt_1", 5, "bodY")] {
            assert!(!old.verify_standard_signature(&header, id, timestamp, body.as_bytes()));
        }
        assert!(!WebhookSecret::from_bytes(&[3; 32]).verify_standard_signature(&header, "evt_1", 5, b"body"));
        assert!(!old.verify_standard_signature("", "evt_1", 5, b"body"));
    }

    proptest! {
        #[test]
        fn changed_byte_does_not_verify(
            body in prop::collection::vec(any::<u8>(), 1..64), at: prop::sample::Index, change in 1u8..,
        ) {
            let secret = WebhookSecret::from_bytes(&[9; 32]);
            let (x_svc, standard) = (secret.x_svc_signature(&body), secret.standard_signature("evt_1", 5, &body));
            prop_assert!(secret.verify_standard_signature(&standard, "evt_1", 5, &body));
            let mut changed = body.clone();
            changed[at.index(body.len())] ^= change;
            prop_assert!(!secret.verify_x_svc_signature(&x_svc, &changed));
            prop_assert!(!secret.verify_standard_signature(&standard, "evt_1", 5, &changed));
        }
    }
}
