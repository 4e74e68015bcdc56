//! Creates sample events, for tests of receivers.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;
use signpost_auth::{
    Challenge, DeviceInfo, DomainName, Event, EventData, EventKind, Mode, Nonce, UserEventData, ValueChange, Wallet,
};
use signpost_store::random;

use crate::domains::HandlerKind;
use crate::ids::{CredentialId, EventId, SessionId, UserId};

/// The random parts of an event.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct SampleEntropy {
    pub event: [u8; 16],
    pub session: [u8; 16],
    pub user: [u8; 16],
    pub nonce: [u8; 16],
    pub key: [u8; 32],
}

impl SampleEntropy {
    /// Draws random bytes.
    #[must_use]
    pub fn draw() -> Self {
        Self { event: random(), session: random(), user: random(), nonce: random(), key: random() }
    }
}

/// Creates an event of a kind, and its ID. A login in it is signed by a random wallet, and its user is random.
#[must_use]
pub fn sample_event(
    kind: &EventKind,
    domain: &DomainName,
    handler: HandlerKind,
    now: Timestamp,
    entropy: SampleEntropy,
) -> (EventId, Event) {
    let id = EventId::new(now, entropy.event);
    let mut event = Event {
        id: id.to_string(),
        event: kind.clone(),
        timestamp: now.to_string(),
        session_id: String::new(),
        data: None,
        user: None,
    };
    if let Some(mode) = login_mode(kind) {
        event.session_id = SessionId::new(now, entropy.session).to_string();
        event.data = Some(sign_login(mode, domain, handler, now, entropy));
    } else if kind.is_about_user() {
        event.user = Some(change_user(kind, now, entropy));
    }
    (id, event)
}

/// Returns the mode of the session that causes events of this kind.
fn login_mode(kind: &EventKind) -> Option<Mode> {
    match kind {
        EventKind::Login => Some(Mode::Login),
        EventKind::Register => Some(Mode::Register),
        EventKind::Link => Some(Mode::Link),
        _ => None,
    }
}

/// Signs a login with a random wallet.
fn sign_login(
    mode: Mode,
    domain: &DomainName,
    handler: HandlerKind,
    now: Timestamp,
    entropy: SampleEntropy,
) -> EventData {
    let wallet = wallet(entropy);
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

/// Returns the data of an event about a random user.
fn change_user(kind: &EventKind, now: Timestamp, entropy: SampleEntropy) -> UserEventData {
    let user = UserEventData {
        user_id: UserId::new(now, entropy.user).to_string(),
        external_id: Some("sample".to_owned()),
        ..UserEventData::default()
    };
    match kind {
        EventKind::UserUpdated => {
            let change = ValueChange { old: Value::Null, new: "Ann Lee".into() };
            UserEventData { changes: BTreeMap::from([("name".to_owned(), change)]), ..user }
        }
        EventKind::CredentialAdded | EventKind::CredentialRemoved => UserEventData {
            credential_id: Some(CredentialId::new(now, entropy.nonce).to_string()),
            kind: Some("wallet".to_owned()),
            public_key: Some(wallet(entropy).public_key().canonical()),
            ..user
        },
        EventKind::UserSignedOut => UserEventData { everywhere: Some(true), ..user },
        _ => user,
    }
}

/// Returns a random wallet. Nearly all of the 2^256 numbers are valid keys.
fn wallet(entropy: SampleEntropy) -> Wallet {
    Wallet::from_bytes(entropy.key).or_else(|_| Wallet::from_bytes([1; 32])).expect("a valid key")
}
