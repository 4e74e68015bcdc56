//! A login: what a session becomes once a proven key is accepted, and the event that tells of it.

use jiff::Timestamp;
use serde_json::{Map, Value};
use signpost_auth::{Event, EventData, WebauthnProof};

use super::{KeyEvidence, PasskeyEvidence, Session, SessionState, User};
use crate::domains::LoginMethod;
use crate::ids::{EventId, UserId};

/// A login: the session as it is now, and the event that tells of it. Both are kept or neither.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Login {
    pub session: Session,
    pub event: Event,
    pub event_id: EventId,
    /// What a passkey proved its key with.
    pub passkey: Option<Box<PasskeyEvidence>>,
}

impl Login {
    /// The same, of this user of the hosted domain: the session shows it, and the event tells it.
    #[must_use]
    pub fn of_user(mut self, id: &UserId) -> Self {
        if let SessionState::Authenticated { user, .. } = &mut self.session.state {
            user.id = Some(id.clone());
        }
        if let Some(data) = &mut self.event.data {
            data.user_id = Some(id.to_string());
        }
        self
    }
}

impl Session {
    /// Logs in whose key is proven.
    pub(super) fn log_in(self, evidence: &KeyEvidence, now: Timestamp, random: [u8; 16]) -> Login {
        let (id, device_info, method) = (None, device_info(evidence), self.method_of(evidence));
        let user = User { id, public_key: evidence.public_key.clone(), device_info, method };
        let event_id = EventId::new(now, random);
        let event = self.event(&event_id, evidence, now);
        let passkey = evidence.passkey.clone();
        Login {
            session: Self { state: SessionState::Authenticated { at: now, user }, ..self },
            event,
            event_id,
            passkey,
        }
    }

    /// The event that tells of an accepted answer (specification, §6).
    fn event(&self, id: &EventId, evidence: &KeyEvidence, now: Timestamp) -> Event {
        Event {
            id: id.to_string(),
            event: self.challenge.mode.into(),
            timestamp: now.to_string(),
            session_id: self.id.to_string(),
            data: Some(EventData {
                public_key: evidence.public_key.clone(),
                signature: evidence.signature.clone(),
                challenge: evidence
                    .passkey
                    .as_ref()
                    .map_or_else(|| self.challenge.to_string(), |_| evidence.signed_message.clone()),
                signed_message: if evidence.passkey.is_some() {
                    String::new()
                } else {
                    evidence.signed_message.clone()
                },
                signed_at: evidence.signed_at,
                device_info: evidence.device_info.clone().unwrap_or_default(),
                user_id: None,
                method: self.method_of(evidence).map(|method| method.as_str().to_owned()),
                webauthn: evidence.passkey.as_deref().map(PasskeyEvidence::to_proof),
            }),
        }
    }

    /// How the key was proven, where that is told: other sites' receivers may know the specification alone.
    fn method_of(&self, evidence: &KeyEvidence) -> Option<LoginMethod> {
        self.hosted_url.as_ref().map(|_| evidence.method)
    }
}

impl PasskeyEvidence {
    /// As an event repeats it.
    fn to_proof(&self) -> WebauthnProof {
        let (authenticator_data, client_data_json) = (self.authenticator_data.clone(), self.client_data_json.clone());
        WebauthnProof { authenticator_data, client_data_json }
    }
}

/// What the wallet said of its device; `{}` if nothing.
fn device_info(evidence: &KeyEvidence) -> Map<String, Value> {
    match serde_json::to_value(evidence.device_info.clone().unwrap_or_default()) {
        Ok(Value::Object(object)) => object,
        _ => Map::new(),
    }
}
