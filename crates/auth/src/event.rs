//! Events that the service posts to integrators: after logins, registrations and links, and after
//! changes of users.

use std::fmt;

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::answer::DeviceInfo;
use crate::challenge::Mode;
use crate::user_event::UserEventData;

/// An event that the service posts to an integrator (specification, section 6).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "RawEvent")]
pub struct Event {
    /// The event ID, `evt_…`, equal for every attempt. It is empty if the sender implements only
    /// the specification.
    pub id: String,
    /// The kind of event.
    pub event: EventKind,
    /// The time of the event, RFC 3339 in UTC.
    pub timestamp: String,
    /// The session ID, `sess_…`. It is empty in a test event, and in events about a user that no
    /// session caused.
    pub session_id: String,
    /// The proof of possession of the key. It is always present in login, registration and link
    /// events, and `None` in other kinds.
    pub data: Option<EventData>,
    /// The member `data` of an event about a change of a user. It is always present in these
    /// kinds, and `None` in other kinds.
    pub user: Option<UserEventData>,
}

/// The kind of an event.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventKind {
    /// A user logged in.
    Login,
    /// A user registered.
    #[serde(alias = "registration")]
    Register,
    /// A user linked another key.
    Link,
    /// Members of a user changed.
    #[serde(rename = "user.updated")]
    UserUpdated,
    /// A user was deleted.
    #[serde(rename = "user.deleted")]
    UserDeleted,
    /// A credential was added to an existing user.
    #[serde(rename = "credential.added")]
    CredentialAdded,
    /// A credential of a user was removed.
    #[serde(rename = "credential.removed")]
    CredentialRemoved,
    /// Sign-ins of a user at the login pages ended.
    #[serde(rename = "user.signed_out")]
    UserSignedOut,
    /// A test event requested by the integrator.
    Test,
    /// A kind that a later version of the service introduced. Accept and ignore it, because
    /// otherwise the service retries the delivery.
    #[serde(untagged)]
    Other(String),
}

/// The answer of a wallet or a passkey, as contained in an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventData {
    /// The user's public key as the wallet sent it, or the DER-encoded `SubjectPublicKeyInfo` of a
    /// passkey in hex.
    pub public_key: String,
    /// The signature: DER in hex. It is empty for the registration of a passkey, which has no
    /// signature.
    pub signature: String,
    /// The challenge, always in its `svc:` rendering.
    pub challenge: String,
    /// The exact signed text, which is needed to verify `signature`. It is empty if the sender
    /// implements only the specification, and for passkeys, which sign a [`WebauthnProof`] instead.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub signed_message: String,
    /// The time of signing by the wallet's clock, in Unix seconds.
    pub signed_at: i64,
    /// The wallet's description of its device. It is empty if the wallet sent none.
    #[serde(default)]
    pub device_info: DeviceInfo,
    /// The user ID, `usr_…`. Only present for hosted domains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// The login method: `scan`, `browser`, `lightning`, `passkey`, or a method of a later version.
    /// Only present for hosted domains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The data that a passkey signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webauthn: Option<WebauthnProof>,
}

/// The data that a passkey signs instead of a text (Web Authentication Level 3, section 6.3.3): the
/// authenticator data, followed by the SHA-256 hash of the client data, whose `challenge` is the
/// SHA-256 hash of the challenge's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebauthnProof {
    /// The authenticator data in base64url without padding.
    pub authenticator_data: String,
    /// The client data (JSON) in base64url without padding.
    pub client_data_json: String,
}

impl Event {
    /// Returns a key that identifies repeated deliveries: the event ID, or the session and the kind
    /// if there is no ID.
    #[must_use]
    pub fn identity(&self) -> String {
        if self.id.is_empty() { format!("{}:{}", self.session_id, self.event) } else { self.id.clone() }
    }
}

impl Serialize for Event {
    /// Serializes the members in the order of the specification. Missing data is an empty object,
    /// because `data` is an object in every kind of event.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut event = serializer.serialize_struct("Event", 5)?;
        event.serialize_field("id", &self.id)?;
        event.serialize_field("event", &self.event)?;
        event.serialize_field("timestamp", &self.timestamp)?;
        event.serialize_field("session_id", &self.session_id)?;
        match (&self.data, &self.user) {
            (Some(data), _) => event.serialize_field("data", data)?,
            (None, Some(user)) => event.serialize_field("data", user)?,
            (None, None) => event.serialize_field("data", &Map::new())?,
        }
        event.end()
    }
}

impl EventKind {
    /// The kinds that a domain can select. Test events are always sent.
    pub const SELECTABLE: [Self; 8] = [
        Self::Login,
        Self::Register,
        Self::Link,
        Self::UserUpdated,
        Self::UserDeleted,
        Self::CredentialAdded,
        Self::CredentialRemoved,
        Self::UserSignedOut,
    ];

    /// Returns true for the kinds about a change of a user. Their data is an [`UserEventData`].
    #[must_use]
    pub fn is_about_user(&self) -> bool {
        match self {
            Self::UserUpdated
            | Self::UserDeleted
            | Self::CredentialAdded
            | Self::CredentialRemoved
            | Self::UserSignedOut => true,
            Self::Login | Self::Register | Self::Link | Self::Test | Self::Other(_) => false,
        }
    }

    /// Returns the name that the API uses.
    #[must_use]
    pub fn as_str(&self) -> &str {
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
            Self::Other(word) => word,
        }
    }
}

impl From<Mode> for EventKind {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Login => Self::Login,
            Mode::Register => Self::Register,
            Mode::Link => Self::Link,
        }
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An event whose data is not parsed yet, because its structure depends on the kind of event.
#[derive(Deserialize)]
struct RawEvent {
    #[serde(default)]
    id: String,
    event: EventKind,
    timestamp: String,
    session_id: String,
    #[serde(default)]
    data: Value,
}

impl TryFrom<RawEvent> for Event {
    type Error = serde_json::Error;

    fn try_from(raw: RawEvent) -> Result<Self, serde_json::Error> {
        let RawEvent { id, event, timestamp, session_id, data } = raw;
        let mut event = Self { id, event, timestamp, session_id, data: None, user: None };
        match event.event {
            EventKind::Login | EventKind::Register | EventKind::Link => {
                event.data = Some(serde_json::from_value(data)?);
            }
            EventKind::UserUpdated
            | EventKind::UserDeleted
            | EventKind::CredentialAdded
            | EventKind::CredentialRemoved
            | EventKind::UserSignedOut => {
                event.user = Some(serde_json::from_value(data)?);
            }
            EventKind::Test | EventKind::Other(_) => {}
        }
        Ok(event)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const LOGIN: &str = r#"{"id":"evt_1","event":"login","timestamp":"2026-11-20T12:00:00Z","session_id":"sess_1","data":{"public_key":"02","signature":"30","challenge":"svc:","signed_message":"Sign","signed_at":5,"device_info":{"platform":"ios"}}}"#;
    const TEST: &str = r#"{"id":"evt_1","event":"test","timestamp":"2026-11-20T12:00:00Z","session_id":"","data":{}}"#;

    fn event(event: EventKind, session_id: &str, data: Option<EventData>) -> Event {
        let (id, timestamp) = ("evt_1".to_owned(), "2026-11-20T12:00:00Z".to_owned());
        Event { id, event, timestamp, session_id: session_id.to_owned(), data, user: None }
    }

    fn read(value: Value) -> Option<Event> {
        serde_json::from_value(value).ok()
    }

    #[test]
    fn event_serializes_in_table_order() {
        let data = EventData {
            public_key: "02".to_owned(),
            signature: "30".to_owned(),
            challenge: "svc:".to_owned(),
            signed_message: "Sign".to_owned(),
            signed_at: 5,
            device_info: DeviceInfo { platform: Some("ios".to_owned()), ..DeviceInfo::default() },
            user_id: None,
            method: None,
            webauthn: None,
        };
        for (event, text) in
            [(event(EventKind::Login, "sess_1", Some(data)), LOGIN), (event(EventKind::Test, "", None), TEST)]
        {
            assert_eq!(serde_json::to_string(&event).unwrap(), text);
            assert_eq!(serde_json::from_str::<Event>(text).unwrap(), event);
        }
    }

    #[test]
    fn event_kind_round_trips() {
        for kind in EventKind::SELECTABLE.into_iter().chain([EventKind::Test, EventKind::Other("removed".to_owned())]) {
            let word = json!(kind);
            assert_eq!(word, kind.as_str());
            assert_eq!(serde_json::from_value::<EventKind>(word).unwrap(), kind);
        }
        assert_eq!(serde_json::from_value::<EventKind>(json!("registration")).unwrap(), EventKind::Register);
        assert!(serde_json::from_value::<EventKind>(json!(1)).is_err());
    }

    #[test]
    fn only_login_events_require_a_proof() {
        let of = |kind: &str, data: Value| {
            read(json!({"event": kind, "timestamp": "t", "session_id": "sess_1", "data": data}))
        };
        for kind in ["login", "register", "link"] {
            assert_eq!(of(kind, json!({})), None);
            assert_eq!(of(kind, json!({"public_key": "02", "signature": "30", "challenge": "svc:"})), None);
        }
        let later = of("removed", json!({"user_id": "usr_1"})).unwrap();
        assert_eq!((later.event.as_str(), &later.data), ("removed", &None));
        assert_eq!(later.identity(), "sess_1:removed");
        assert_eq!(read(json!({"timestamp": "t", "session_id": "sess_1", "data": {}})), None);
    }

    #[test]
    fn user_event_names_the_user() {
        let changes = json!({"name": {"old": null, "new": "Ann"}});
        let user_event = |kind: &str, data: Value| json!({"id": "evt_1", "event": kind, "timestamp": "t", "session_id": "", "data": data});
        for (kind, data) in [
            ("user.updated", json!({"user_id": "usr_1", "external_id": "7", "changes": changes})),
            ("user.deleted", json!({"user_id": "usr_1"})),
            (
                "credential.added",
                json!({"user_id": "usr_1", "credential_id": "cred_1", "kind": "wallet", "public_key": "02"}),
            ),
            (
                "user.signed_out",
                json!({"user_id": "usr_1", "everywhere": false, "sign_in_id": "sgn_1", "client_id": "cli_1"}),
            ),
        ] {
            let event = read(user_event(kind, data.clone())).unwrap();
            assert!(event.event.is_about_user() && event.data.is_none());
            assert_eq!(event.user.as_ref().map(|user| user.user_id.as_str()), Some("usr_1"));
            assert_eq!(json!(event)["data"], data);
            assert_eq!(read(user_event(kind, json!({}))), None);
        }
    }

    #[test]
    fn passkey_event_has_the_signed_data() {
        let proof = json!({"authenticator_data": "AA", "client_data_json": "e30"});
        let data = json!({
            "public_key": "30", "signature": "30", "challenge": "svc:", "signed_at": 5, "device_info": {},
            "user_id": "usr_1", "method": "passkey", "webauthn": proof,
        });
        let event = json!({"id": "evt_1", "event": "link", "timestamp": "t", "session_id": "sess_1", "data": data});
        let read = read(event.clone()).unwrap();
        assert_eq!(read.data.as_ref().unwrap().webauthn.as_ref().unwrap().client_data_json, "e30");
        assert_eq!(json!(read), event);
    }

    #[test]
    fn minimal_event_parses_and_has_an_identity() {
        let data = json!({"public_key": "02", "signature": "30", "challenge": "svc:", "signed_at": 5});
        let event = json!({"event": "register", "timestamp": "t", "session_id": "sess_1", "data": data});
        assert_eq!(read(event).unwrap().identity(), "sess_1:register");
    }
}
