//! Creates logins: the authenticated session together with its event.

use jiff::Timestamp;
use serde_json::{Map, Value};
use signpost_auth::{Event, EventData, WebauthnProof};

use super::{KeyProof, PasskeyProof, Session, SessionState, User};
use crate::domains::LoginMethod;
use crate::ids::{EventId, UserId};

/// An authenticated session and its event, stored in a single write.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct Login {
    pub session: Session,
    pub event: Event,
    pub event_id: EventId,
    /// The proof of the passkey, for logins by passkey.
    pub passkey: Option<Box<PasskeyProof>>,
}

impl Login {
    /// Sets the user of the hosted domain in the session and in the event. `is_new` is true for a user who registers.
    #[must_use]
    pub fn with_user(mut self, id: &UserId, is_new: bool) -> Self {
        if let SessionState::Authenticated { user, .. } = &mut self.session.state {
            user.id = Some(id.clone());
            user.is_new = is_new;
        }
        if let Some(data) = &mut self.event.data {
            data.user_id = Some(id.to_string());
        }
        self
    }
}

impl Session {
    /// Authenticates the session by a verified key.
    pub(super) fn log_in(self, proof: &KeyProof, now: Timestamp, random: [u8; 16]) -> Login {
        let user = User {
            id: None,
            public_key: proof.public_key.clone(),
            device_info: device_info(proof),
            method: self.method_of(proof),
            is_new: false,
        };
        let event_id = EventId::new(now, random);
        let event = self.event(&event_id, proof, now);
        let passkey = proof.passkey.clone();
        Login {
            session: Self { state: SessionState::Authenticated { at: now, user }, ..self },
            event,
            event_id,
            passkey,
        }
    }

    /// Creates the event of an accepted answer (specification, §6). A passkey signs no text: its event has the
    /// challenge that its page showed.
    fn event(&self, id: &EventId, proof: &KeyProof, now: Timestamp) -> Event {
        let (challenge, signed_message) = match &proof.passkey {
            Some(_) => (proof.signed_message.clone(), String::new()),
            None => (self.challenge.to_string(), proof.signed_message.clone()),
        };
        Event {
            id: id.to_string(),
            event: self.challenge.mode.into(),
            timestamp: now.to_string(),
            session_id: self.id.to_string(),
            data: Some(EventData {
                public_key: proof.public_key.clone(),
                signature: proof.signature.clone(),
                challenge,
                signed_message,
                signed_at: proof.signed_at,
                device_info: proof.device_info.clone().unwrap_or_default(),
                user_id: None,
                method: self.method_of(proof).map(|method| method.as_str().to_owned()),
                webauthn: proof.passkey.as_deref().map(PasskeyProof::to_proof),
            }),
            user: None,
        }
    }

    /// Returns the login method, for hosted domains only: the receivers of other domains may support no more than the
    /// specification.
    fn method_of(&self, proof: &KeyProof) -> Option<LoginMethod> {
        self.hosted_url.as_ref().map(|_| proof.method)
    }
}

impl PasskeyProof {
    /// Returns the proof for an event.
    fn to_proof(&self) -> WebauthnProof {
        WebauthnProof {
            authenticator_data: self.authenticator_data.clone(),
            client_data_json: self.client_data_json.clone(),
        }
    }
}

/// Returns the device info of the wallet, or `{}`.
fn device_info(proof: &KeyProof) -> Map<String, Value> {
    match serde_json::to_value(proof.device_info.clone().unwrap_or_default()) {
        Ok(Value::Object(object)) => object,
        _ => Map::new(),
    }
}
