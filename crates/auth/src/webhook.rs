use data_encoding::{BASE64, HEXLOWER};
use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;

/// The header that carries [`WebhookSecret::x_svc_signature`].
pub const X_SVC_SIGNATURE: &str = "x-svc-signature";
/// The header that carries [`WebhookSecret::x_svc_signature`] by the secret that comes next, during a rotation.
pub const X_SVC_SIGNATURE_NEXT: &str = "x-svc-signature-next";
/// The Standard Webhooks header that carries the event's id, the same on every attempt.
pub const WEBHOOK_ID: &str = "webhook-id";
/// The Standard Webhooks header that carries the attempt's time in Unix seconds.
pub const WEBHOOK_TIMESTAMP: &str = "webhook-timestamp";
/// The Standard Webhooks header that carries one [`WebhookSecret::standard_signature`] or several.
pub const WEBHOOK_SIGNATURE: &str = "webhook-signature";

const SECRET_PREFIX: &str = "whsec_";

/// What a domain's events are signed with: `whsec_` and base64.
///
/// One string makes two keys. `X-Svc-Signature` is keyed with the UTF-8 bytes of the whole string as it is displayed
/// (specification, section 5), the Standard Webhooks signature with the bytes that the base64 after the prefix stands
/// for.
///
/// ```
/// use signpost_auth::WebhookSecret;
///
/// let secret = WebhookSecret::from_bytes(&[0; 32]);
/// assert_eq!(secret.reveal(), "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=");
/// let signature = secret.x_svc_signature(b"{}");
/// assert!(secret.made_x_svc_signature(&signature, b"{}"));
/// # Ok::<(), signpost_auth::InvalidWebhookSecret>(())
/// ```
#[derive(Clone, Debug)]
pub struct WebhookSecret(SecretString);

/// The text is not a webhook secret. It is not repeated here, because it may be one with a slip in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a webhook secret is whsec_ followed by 24 to 64 bytes in base64, as the domain's registration showed it, without a space or a line end"
)]
pub struct InvalidWebhookSecret;

impl WebhookSecret {
    /// Makes a secret of 256 random bits.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        Self(format!("{SECRET_PREFIX}{}", BASE64.encode(bytes)).into())
    }

    /// Reads a secret as it is displayed. Ours hold 32 bytes; Standard Webhooks allows 24 to 64.
    ///
    /// # Errors
    /// [`InvalidWebhookSecret`] for anything else.
    pub fn parse(text: &str) -> Result<Self, InvalidWebhookSecret> {
        let bytes = text.strip_prefix(SECRET_PREFIX).and_then(|base64| BASE64.decode(base64.as_bytes()).ok());
        match bytes {
            Some(bytes) if (24..=64).contains(&bytes.len()) => Ok(Self(text.into())),
            _ => Err(InvalidWebhookSecret),
        }
    }

    /// The secret itself, to be stored and to be shown to its owner, and nowhere else.
    #[must_use]
    pub fn reveal(&self) -> &str {
        self.0.expose_secret()
    }

    /// The value of `X-Svc-Signature`: lower-case hex HMAC-SHA-256 of the raw body.
    #[must_use]
    pub fn x_svc_signature(&self, body: &[u8]) -> String {
        HEXLOWER.encode(&self.x_svc(body).finalize().into_bytes())
    }

    /// Whether `header` is this secret's `X-Svc-Signature` of `body`; takes the same time wherever they differ.
    #[must_use]
    pub fn made_x_svc_signature(&self, header: &str, body: &[u8]) -> bool {
        let tag = HEXLOWER.decode(header.as_bytes());
        tag.is_ok_and(|tag| self.x_svc(body).verify_slice(&tag).is_ok())
    }

    /// One entry of `webhook-signature`: `v1,` and the base64 HMAC-SHA-256 of `<id>.<timestamp>.<body>` (Standard
    /// Webhooks 1.0.0). During a rotation the header holds one entry per secret, with spaces between them.
    #[must_use]
    pub fn standard_signature(&self, id: &str, timestamp: i64, body: &[u8]) -> String {
        format!("v1,{}", BASE64.encode(&self.standard(id, timestamp, body).finalize().into_bytes()))
    }

    /// Whether one of the entries in `header` is by this secret; entries of other versions are passed over.
    #[must_use]
    pub fn made_standard_signature(&self, header: &str, id: &str, timestamp: i64, body: &[u8]) -> bool {
        let mac = self.standard(id, timestamp, body);
        header
            .split(' ')
            .filter_map(|entry| BASE64.decode(entry.strip_prefix("v1,")?.as_bytes()).ok())
            .any(|tag| mac.clone().verify_slice(&tag).is_ok())
    }

    fn x_svc(&self, body: &[u8]) -> Hmac<Sha256> {
        keyed(self.reveal().as_bytes()).chain_update(body)
    }

    fn standard(&self, id: &str, timestamp: i64, body: &[u8]) -> Hmac<Sha256> {
        let key =
            BASE64.decode(&self.reveal().as_bytes()[SECRET_PREFIX.len()..]).expect("checked when the secret was made");
        keyed(&key).chain_update(format!("{id}.{timestamp}.")).chain_update(body)
    }
}

pub(crate) fn keyed(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC takes keys of any length")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_a_displayed_secret_is_read() {
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
    fn a_debug_text_tells_no_secret() {
        let secret = WebhookSecret::from_bytes(&[9; 32]);
        let debug = format!("{secret:?}");
        assert!(debug.contains("REDACTED") && !debug.contains("CQkJ"), "{debug}");
    }

    #[test]
    fn a_signature_counts_only_as_it_is_written() {
        let secret = WebhookSecret::from_bytes(&[9; 32]);
        let good = secret.x_svc_signature(b"body");
        assert!(secret.made_x_svc_signature(&good, b"body"));
        for header in ["", &good[1..], &good.to_uppercase(), &format!("sha256={good}"), &format!("{good} {good}")] {
            assert!(!secret.made_x_svc_signature(header, b"body"), "{header}");
        }
        assert!(!WebhookSecret::from_bytes(&[8; 32]).made_x_svc_signature(&good, b"body"));
    }

    #[test]
    fn during_a_rotation_either_secret_finds_its_signature() {
        let (old, new) = (WebhookSecret::from_bytes(&[1; 32]), WebhookSecret::from_bytes(&[2; 32]));
        let entries = [&old, &new].map(|secret| secret.standard_signature("evt_1", 5, b"body"));
        let header = format!("v1a,AAAA {} v1,%% {}", entries[0], entries[1]);
        assert!(old.made_standard_signature(&header, "evt_1", 5, b"body"));
        assert!(new.made_standard_signature(&header, "evt_1", 5, b"body"));
        for (id, timestamp, body) in [("evt_2", 5, "body"), ("evt_1", 6, "body"), ("evt_1", 5, "bodY")] {
            assert!(!old.made_standard_signature(&header, id, timestamp, body.as_bytes()));
        }
        assert!(!WebhookSecret::from_bytes(&[3; 32]).made_standard_signature(&header, "evt_1", 5, b"body"));
        assert!(!old.made_standard_signature("", "evt_1", 5, b"body"));
    }

    proptest! {
        #[test]
        fn no_changed_byte_passes(
            body in prop::collection::vec(any::<u8>(), 1..64), at: prop::sample::Index, change in 1u8..,
        ) {
            let secret = WebhookSecret::from_bytes(&[9; 32]);
            let (x_svc, standard) = (secret.x_svc_signature(&body), secret.standard_signature("evt_1", 5, &body));
            prop_assert!(secret.made_standard_signature(&standard, "evt_1", 5, &body));
            let mut changed = body.clone();
            changed[at.index(body.len())] ^= change;
            prop_assert!(!secret.made_x_svc_signature(&x_svc, &changed));
            prop_assert!(!secret.made_standard_signature(&standard, "evt_1", 5, &changed));
        }
    }
}
