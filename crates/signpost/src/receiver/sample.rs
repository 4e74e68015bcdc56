//! Creates signed sample events for tests of receivers.

use clap::ValueEnum;
use jiff::Timestamp;
use signpost_auth::{
    Challenge, DeviceInfo, DomainName, Event, EventData, EventKind, Mode, Nonce, Wallet, WebhookSecret,
};
use signpost_login::domains::{HandlerKind, SigningSecrets};
use signpost_login::events::signatures;
use signpost_login::ids::{EventId, SessionId, UserId};
use signpost_store::random;

use super::SignatureFields;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SampleKind {
    Login,
    Register,
    Link,
    Test,
}

/// An event to be posted.
#[derive(Clone, Debug)]
pub(crate) struct SampleEvent {
    pub(crate) id: EventId,
    pub(crate) body: String,
    pub(crate) sent_at: Timestamp,
}

/// The random parts of an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampleEntropy {
    event: [u8; 16],
    session: [u8; 16],
    user: [u8; 16],
    nonce: [u8; 16],
    key: [u8; 32],
}

impl SampleEntropy {
    pub(crate) fn draw() -> Self {
        Self { event: random(), session: random(), user: random(), nonce: random(), key: random() }
    }
}

impl SampleKind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Login => "login",
            Self::Register => "register",
            Self::Link => "link",
            Self::Test => "test",
        }
    }

    fn mode(self) -> Option<Mode> {
        match self {
            Self::Login => Some(Mode::Login),
            Self::Register => Some(Mode::Register),
            Self::Link => Some(Mode::Link),
            Self::Test => None,
        }
    }
}

impl SampleEvent {
    /// Creates an event of this kind. Its login is signed by a random wallet.
    pub(crate) fn new(
        kind: SampleKind,
        domain: &DomainName,
        handler: HandlerKind,
        now: Timestamp,
        entropy: SampleEntropy,
    ) -> Self {
        let Some(mode) = kind.mode() else { return Self::test(now, entropy.event) };
        let data = sign_login(mode, domain, handler, now, entropy);
        let session_id = SessionId::new(now, entropy.session).to_string();
        Self::write(EventId::new(now, entropy.event), mode.into(), session_id, Some(data), now)
    }

    /// Creates a test event. Receivers accept it without effect.
    pub(crate) fn test(now: Timestamp, event: [u8; 16]) -> Self {
        Self::write(EventId::new(now, event), EventKind::Test, String::new(), None, now)
    }

    fn write(id: EventId, event: EventKind, session_id: String, data: Option<EventData>, now: Timestamp) -> Self {
        let event = Event { id: id.to_string(), event, timestamp: now.to_string(), session_id, data };
        Self { id, body: serde_json::to_string(&event).expect("an event is JSON"), sent_at: now }
    }

    /// Returns the header fields that sign the event, like the service.
    pub(crate) fn sign(&self, secrets: &SigningSecrets) -> SignatureFields {
        signatures(self.id.as_str(), self.body.as_bytes(), secrets, self.sent_at.as_second())
    }

    /// Changes the white space of the body, so that a receiver that serializes the parsed body gets another text.
    pub(crate) fn unusually_spelled(mut self) -> Self {
        self.body = self.body.replacen(r#"{"id":"#, r#"{ "id" : "#, 1).replacen(r#","event":"#, r#" ,  "event" : "#, 1);
        self
    }
}

/// Returns new random secrets, unknown to every receiver.
pub(crate) fn draw_secrets() -> SigningSecrets {
    SigningSecrets { current: WebhookSecret::from_bytes(&random()), next: None }
}

/// Signs a login with a random wallet.
fn sign_login(
    mode: Mode,
    domain: &DomainName,
    handler: HandlerKind,
    now: Timestamp,
    entropy: SampleEntropy,
) -> EventData {
    // Nearly all of the 2^256 numbers are valid keys.
    let wallet = Wallet::from_bytes(entropy.key).or_else(|_| Wallet::from_bytes([1; 32])).expect("a valid key");
    let nonce = Nonce(entropy.nonce);
    let challenge = Challenge { mode, domain: domain.clone(), issued_at: now.as_second(), nonce };
    let answer = wallet.answer(&challenge, now.as_second(), None);
    let is_hosted = handler == HandlerKind::Hosted;
    let device_info = DeviceInfo { platform: Some("ios".to_owned()), ..DeviceInfo::default() };
    EventData {
        public_key: answer.public_key,
        signature: answer.signature,
        challenge: challenge.to_string(),
        signed_message: answer.challenge,
        signed_at: answer.timestamp,
        device_info,
        user_id: is_hosted.then(|| UserId::new(now, entropy.user).to_string()),
        method: is_hosted.then(|| "scan".to_owned()),
        webauthn: None,
    }
}

#[cfg(test)]
mod tests {
    use signpost_auth::{PublicKey, Signature, verify};

    use super::*;

    #[test]
    fn sample_event_has_a_valid_signature() {
        let (domain, now) =
            (DomainName::parse("shop.example").unwrap(), Timestamp::from_second(1_700_000_000).unwrap());
        let entropy = SampleEntropy { event: [1; 16], session: [2; 16], user: [3; 16], nonce: [4; 16], key: [5; 32] };
        for kind in SampleKind::value_variants() {
            for handler in [HandlerKind::Direct, HandlerKind::Hosted] {
                let sample = SampleEvent::new(*kind, &domain, handler, now, entropy);
                let event: Event = serde_json::from_str(&sample.body).unwrap();
                assert_eq!((event.event.as_str(), event.id), (kind.as_str(), sample.id.to_string()));
                let Some(data) = event.data else {
                    assert_eq!(*kind, SampleKind::Test);
                    continue;
                };
                assert_eq!(data.user_id.is_some(), handler == HandlerKind::Hosted);
                let key = PublicKey::parse(&data.public_key).unwrap();
                let signature = Signature::parse(&data.signature).unwrap();
                assert!(verify(&key, &signature, data.signed_message.as_bytes()));
                assert_eq!(Challenge::parse(&data.signed_message).unwrap(), Challenge::parse(&data.challenge).unwrap());
            }
        }
    }

    #[test]
    fn unusual_formatting_is_equal_json() {
        let plain = SampleEvent::test(Timestamp::UNIX_EPOCH, [0; 16]);
        let unusual = plain.clone().unusually_spelled();
        let read = |sample: &SampleEvent| serde_json::from_str::<serde_json::Value>(&sample.body).unwrap();
        assert_eq!(read(&plain), read(&unusual));
        for rewrite in signpost_auth::diagnosis::BodyRewrite::ALL {
            assert!(!rewrite.apply(unusual.body.as_bytes()).contains(&unusual.body), "{rewrite:?}");
        }
    }
}
