use data_encoding::{BASE64, HEXLOWER};
use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::{DeviceInfo, Mode};

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

const PREFIX: &str = "whsec_";

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
#[error("a webhook secret is whsec_ followed by 24 to 64 bytes in base64, as the domain's registration showed it")]
pub struct InvalidWebhookSecret;

/// What is posted to the integrator when a user has logged in or registered (specification, section 6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// `evt_…`, the same on every attempt. Empty from a sender that knows only the specification.
    #[serde(default)]
    pub id: String,
    /// What happened.
    pub event: Mode,
    /// When it happened, RFC 3339 in UTC.
    pub timestamp: String,
    /// In which session it happened, `sess_…`.
    pub session_id: String,
    /// The proof.
    pub data: EventData,
}

/// The wallet's answer, as an event repeats it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventData {
    /// The user's public key, as the wallet spelled it.
    pub public_key: String,
    /// The signature in hex, DER.
    pub signature: String,
    /// The challenge, always in its `svc:` rendering.
    pub challenge: String,
    /// The exact text that was signed: without it `signature` could not be checked. Empty from a sender that knows
    /// only the specification.
    #[serde(default)]
    pub signed_message: String,
    /// When the wallet signed by its own clock, in Unix seconds.
    pub signed_at: i64,
    /// What the wallet said it runs on; empty if it did not say.
    #[serde(default)]
    pub device_info: DeviceInfo,
}

impl Event {
    /// What tells this event from all others: its id, else its session and kind, of which there is one each.
    #[must_use]
    pub fn identity(&self) -> String {
        if self.id.is_empty() { format!("{}:{}", self.session_id, self.event) } else { self.id.clone() }
    }
}

impl WebhookSecret {
    /// Makes a secret of 256 random bits.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        Self(format!("{PREFIX}{}", BASE64.encode(bytes)).into())
    }

    /// Reads a secret as it is displayed. Ours hold 32 bytes; Standard Webhooks allows 24 to 64.
    ///
    /// # Errors
    /// [`InvalidWebhookSecret`] for anything else.
    pub fn parse(text: &str) -> Result<Self, InvalidWebhookSecret> {
        let bytes = text.strip_prefix(PREFIX).and_then(|base64| BASE64.decode(base64.as_bytes()).ok());
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
        let key = BASE64.decode(&self.reveal().as_bytes()[PREFIX.len()..]).expect("checked when the secret was made");
        keyed(&key).chain_update(format!("{id}.{timestamp}.")).chain_update(body)
    }
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC takes keys of any length")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

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

    #[test]
    fn an_event_prints_in_the_order_of_its_table_and_leaves_out_what_was_not_given() {
        let event = Event {
            id: "evt_1".to_owned(),
            event: Mode::Login,
            timestamp: "2026-11-20T12:00:00Z".to_owned(),
            session_id: "sess_1".to_owned(),
            data: EventData {
                public_key: "02".to_owned(),
                signature: "30".to_owned(),
                challenge: "svc:".to_owned(),
                signed_message: "Sign".to_owned(),
                signed_at: 5,
                device_info: DeviceInfo { platform: Some("ios".to_owned()), ..DeviceInfo::default() },
            },
        };
        let text = r#"{"id":"evt_1","event":"login","timestamp":"2026-11-20T12:00:00Z","session_id":"sess_1","data":{"public_key":"02","signature":"30","challenge":"svc:","signed_message":"Sign","signed_at":5,"device_info":{"platform":"ios"}}}"#;
        assert_eq!(serde_json::to_string(&event).unwrap(), text);
        assert_eq!(serde_json::from_str::<Event>(text).unwrap(), event);
    }

    #[test]
    fn an_event_of_the_specification_alone_is_read_and_told_apart() {
        let data = json!({"public_key": "02", "signature": "30", "challenge": "svc:", "signed_at": 5});
        let event = json!({"event": "register", "timestamp": "t", "session_id": "sess_1", "data": data});
        let event: Event = serde_json::from_value(event).unwrap();
        assert_eq!(event.identity(), "sess_1:register");
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
