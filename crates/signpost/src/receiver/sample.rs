//! Creates signed sample events for tests of receivers.

use clap::ValueEnum;
use jiff::Timestamp;
use signpost_auth::{DomainName, Event, EventKind, WebhookSecret};
use signpost_login::domains::{HandlerKind, SigningSecrets};
use signpost_login::events::sample::sample_event;
use signpost_login::events::signatures;
use signpost_login::ids::EventId;
use signpost_store::random;

use super::SignatureFields;

pub(crate) use signpost_login::events::sample::SampleEntropy;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SampleKind {
    Login,
    Register,
    Link,
    #[value(name = "user.updated")]
    UserUpdated,
    #[value(name = "user.deleted")]
    UserDeleted,
    #[value(name = "credential.added")]
    CredentialAdded,
    #[value(name = "credential.removed")]
    CredentialRemoved,
    #[value(name = "user.signed_out")]
    UserSignedOut,
    Test,
}

/// An event to be posted.
#[derive(Clone, Debug)]
pub(crate) struct SampleEvent {
    pub(crate) id: EventId,
    pub(crate) body: String,
    pub(crate) sent_at: Timestamp,
}

impl SampleKind {
    /// The kinds about a change of a user.
    pub(crate) const ABOUT_USERS: [Self; 5] =
        [Self::UserUpdated, Self::UserDeleted, Self::CredentialAdded, Self::CredentialRemoved, Self::UserSignedOut];

    /// Returns the name of the kind.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Login => "login",
            Self::Register => "register",
            Self::Link => "link",
            Self::UserUpdated => "user.updated",
            Self::UserDeleted => "user.deleted",
            Self::CredentialAdded => "credential.added",
            Self::CredentialRemoved => "credential.removed",
            Self::UserSignedOut => "user.signed_out",
            Self::Test => "test",
        }
    }

    /// Returns the kind of the event.
    pub(crate) fn event_kind(self) -> EventKind {
        match self {
            Self::Login => EventKind::Login,
            Self::Register => EventKind::Register,
            Self::Link => EventKind::Link,
            Self::UserUpdated => EventKind::UserUpdated,
            Self::UserDeleted => EventKind::UserDeleted,
            Self::CredentialAdded => EventKind::CredentialAdded,
            Self::CredentialRemoved => EventKind::CredentialRemoved,
            Self::UserSignedOut => EventKind::UserSignedOut,
            Self::Test => EventKind::Test,
        }
    }
}

impl SampleEvent {
    /// Creates an event of this kind. Its login is signed by a random wallet, and its user is random.
    pub(crate) fn new(
        kind: SampleKind,
        domain: &DomainName,
        handler: HandlerKind,
        now: Timestamp,
        entropy: SampleEntropy,
    ) -> Self {
        let (id, event) = sample_event(&kind.event_kind(), domain, handler, now, entropy);
        Self::write(&event, id, now)
    }

    /// Creates a test event. Receivers accept it without effect.
    pub(crate) fn test(now: Timestamp, event: [u8; 16]) -> Self {
        let id = EventId::new(now, event);
        let (timestamp, session_id) = (now.to_string(), String::new());
        let event = Event { id: id.to_string(), event: EventKind::Test, timestamp, session_id, data: None, user: None };
        Self::write(&event, id, now)
    }

    fn write(event: &Event, id: EventId, now: Timestamp) -> Self {
        Self { id, body: serde_json::to_string(event).expect("an event is JSON"), sent_at: now }
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

#[cfg(test)]
mod tests {
    use signpost_auth::{Challenge, PublicKey, Signature, verify};

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
                assert_eq!((&event.event, &event.id), (&kind.event_kind(), &sample.id.to_string()));
                let value = kind.to_possible_value().unwrap();
                assert_eq!((event.event.as_str(), kind.as_str()), (value.get_name(), value.get_name()));
                assert_eq!(event.user.is_some(), event.event.is_about_user());
                let Some(data) = event.data else {
                    assert!(event.user.is_some() || *kind == SampleKind::Test);
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
