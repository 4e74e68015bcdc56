//! Events about changes of users. A domain receives only the kinds that it has selected. The event
//! is stored in the transaction of the change, and contains the user's external ID at that time.

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use signpost_auth::EventKind;
use signpost_store::{Statement, params, random, sql};

use super::endpoint_from_url;
use crate::domains::Domain;
use crate::ids::{BrowserSessionId, EventId, SessionId, SignInId, UserId};
use crate::users::Credential;

/// Number of characters of the ID of [`QUEUE_ALL_DELETED`] that come from the current time: the prefix `evt_` and 45 of
/// the 48 bits of the time. A further character would contain random bits.
const TIME_LEN: usize = 13;

const INSERT: &str = "
    INSERT INTO deliveries (id, account, environment, domain_id, url, endpoint, body, state, attempts, created_at, next_attempt_at)";

/// The member `external_id` of the data, if the user has an external ID. It contains no control characters, so that only
/// two characters need an escape in JSON.
const EXTERNAL_ID: &str = r#"
    COALESCE(',"external_id":"' || REPLACE(REPLACE(users.external_id, '\', '\\'), '"', '\"') || '"', '')"#;

/// Queues an event about an existing user. `$7` is the start of the body, up to the user ID, and `$8` the rest.
const QUEUE: &str = sql!(
    INSERT,
    " SELECT $1, $2, $3, $4, $5, $6, CAST($7 AS TEXT) || ",
    EXTERNAL_ID,
    " || CAST($8 AS TEXT), 'pending', 0, $9, $9 FROM users WHERE users.domain_id = $4 AND users.id = $10"
);

/// Queues an event if the user has a credential, which an earlier statement of the write may have added.
const QUEUE_IF_CREDENTIAL: &str = sql!(
    QUEUE,
    " AND EXISTS (
        SELECT 1 FROM credentials WHERE credentials.domain_id = $4 AND credentials.user_id = $10 AND credentials.id = $11)"
);

/// Queues an event if a browser session signs the user in.
const QUEUE_IF_SIGNED_IN: &str = sql!(
    QUEUE,
    " AND EXISTS (SELECT 1 FROM browser_sessions WHERE browser_sessions.id = $11 AND browser_sessions.user_id = $10)"
);

/// The ID of the event about the deletion of a user, in a deletion of all users: the current time, and the random bits
/// of the user ID.
const DELETED_ID: &str = "CAST($1 AS TEXT) || SUBSTR(users.id, 14)";

/// Queues an event for each user of a domain. `$7` is the body between the ID of the event and the ID of the user.
const QUEUE_ALL_DELETED: &str = sql!(
    INSERT,
    " SELECT CAST(",
    DELETED_ID,
    r#" AS TEXT), $2, $3, $4, $5, $6, '{"id":"' || "#,
    DELETED_ID,
    " || CAST($7 AS TEXT) || users.id || '\"' || ",
    EXTERNAL_ID,
    " || '}}', 'pending', 0, $8, $8 FROM users WHERE users.domain_id = $4"
);

/// Deletes the users whose events [`QUEUE_ALL_DELETED`] has stored. A user who registers between the two statements is
/// not deleted without an event.
const DELETE_NOTIFIED: &str = sql!(
    "DELETE FROM users WHERE domain_id = $2 AND EXISTS (SELECT 1 FROM deliveries WHERE deliveries.id = ",
    DELETED_ID,
    ")"
);

/// A change of a user, for the event about it.
#[derive(Clone, Copy, Debug)]
pub enum UserEvent<'a> {
    /// Members of the user change.
    Updated(&'a UserChanges),
    /// The user is deleted. The statement precedes the deletion.
    Deleted,
    /// A credential is added to an existing user, by this session if there is one. The statement follows the addition,
    /// and has no effect if the credential was not added.
    CredentialAdded(&'a Credential, Option<&'a SessionId>),
    /// A credential of the user is removed.
    CredentialRemoved(&'a Credential),
    /// Sign-ins of the user end. The statement precedes the end.
    SignedOut(SignOutExtent<'a>),
}

/// The sign-ins of a user that end together.
#[derive(Clone, Copy, Debug)]
pub enum SignOutExtent<'a> {
    /// All sign-ins in browsers and applications.
    Everywhere,
    /// The sign-in in a browser. There is no event if the browser session does not sign the user in anymore.
    Browser {
        /// The browser session.
        id: &'a BrowserSessionId,
        /// The session of the login.
        session: &'a SessionId,
    },
    /// The sign-in at an application. The write must refuse the end of a sign-in that has ended before.
    Application {
        /// The sign-in.
        sign_in: &'a SignInId,
        /// The ID of the client.
        client: &'a str,
    },
}

/// The changed members of a user, with the old and the new value. Equal values are not changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserChanges(Map<String, Value>);

impl UserChanges {
    /// Adds a member if its values differ. A missing value is null.
    #[must_use]
    pub fn with(mut self, member: &str, old: Value, new: Value) -> Self {
        if old != new {
            let change = Map::from_iter([("old".to_owned(), old), ("new".to_owned(), new)]);
            self.0.insert(member.to_owned(), change.into());
        }
        self
    }

    /// Returns true if no member changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Returns the statement that queues an event about a user of a domain, for the write that makes the change. `None` if
/// the domain has not selected this kind of event, or nothing changes. The write is refused if there is no such user,
/// except for the conditional events of [`UserEvent`].
#[must_use]
pub fn queue_user_event(domain: &Domain, user: &UserId, event: UserEvent<'_>, now: Timestamp) -> Option<Statement> {
    let kind = event.kind();
    if domain.account.is_server() || !domain.receives(&kind) {
        return None;
    }
    if let UserEvent::Updated(changes) = event
        && changes.is_empty()
    {
        return None;
    }
    let id = EventId::new(now, random());
    let head = EventHead { event: &kind, timestamp: now, session_id: event.session_id() };
    let start = format!(r#"{{"id":"{id}",{},"data":{{"user_id":"{user}""#, head.members());
    let members = Value::from(event.members()).to_string();
    let rest = if members == "{}" { "}}".to_owned() } else { format!(",{}}}", &members[1..]) };
    let url = domain.events_url();
    let mut params = params![
        &id,
        &domain.account.name,
        domain.account.environment,
        &domain.id,
        url,
        endpoint_from_url(url),
        start,
        rest,
        now,
        user,
    ];
    Some(match event {
        UserEvent::CredentialAdded(credential, _) => {
            params.extend(params![&credential.id]);
            Statement::new(QUEUE_IF_CREDENTIAL, params)
        }
        UserEvent::SignedOut(SignOutExtent::Browser { id, .. }) => {
            params.extend(params![id]);
            Statement::new(QUEUE_IF_SIGNED_IN, params)
        }
        _ => Statement::expect_row(QUEUE, params),
    })
}

/// The statements that delete all users of a domain with an event for each.
#[derive(Debug)]
pub struct AllUsersDeleted {
    /// Queues the events.
    pub queue: Statement,
    /// Deletes the users that have an event.
    pub delete: Statement,
}

/// Returns the statements for the deletion of all users of a domain. `None` if the domain has not selected events about
/// deleted users.
#[must_use]
pub fn delete_all_with_events(domain: &Domain, now: Timestamp) -> Option<AllUsersDeleted> {
    if domain.account.is_server() || !domain.receives(&EventKind::UserDeleted) {
        return None;
    }
    let id = EventId::new(now, [0; 16]);
    let time = &id.as_str()[..TIME_LEN];
    let head = EventHead { event: &EventKind::UserDeleted, timestamp: now, session_id: "" };
    let middle = format!(r#"",{},"data":{{"user_id":""#, head.members());
    let url = domain.events_url();
    let params = params![
        time,
        &domain.account.name,
        domain.account.environment,
        &domain.id,
        url,
        endpoint_from_url(url),
        middle,
        now,
    ];
    Some(AllUsersDeleted {
        queue: Statement::new(QUEUE_ALL_DELETED, params),
        delete: Statement::new(DELETE_NOTIFIED, params![time, &domain.id]),
    })
}

impl UserEvent<'_> {
    fn kind(self) -> EventKind {
        match self {
            Self::Updated(_) => EventKind::UserUpdated,
            Self::Deleted => EventKind::UserDeleted,
            Self::CredentialAdded(..) => EventKind::CredentialAdded,
            Self::CredentialRemoved(_) => EventKind::CredentialRemoved,
            Self::SignedOut(_) => EventKind::UserSignedOut,
        }
    }

    /// Returns the ID of the session, or an empty text.
    fn session_id(&self) -> &str {
        match self {
            Self::CredentialAdded(_, Some(session)) | Self::SignedOut(SignOutExtent::Browser { session, .. }) => {
                session.as_str()
            }
            _ => "",
        }
    }

    /// Returns the members of the data after the user.
    fn members(self) -> Map<String, Value> {
        let members = match self {
            Self::Updated(UserChanges(changes)) => json!({ "changes": changes }),
            Self::Deleted => json!({}),
            Self::CredentialAdded(credential, _) | Self::CredentialRemoved(credential) => {
                let Credential { id, kind, public_key, .. } = credential;
                json!({ "credential_id": id, "kind": kind, "public_key": public_key })
            }
            Self::SignedOut(SignOutExtent::Everywhere) => json!({ "everywhere": true }),
            Self::SignedOut(SignOutExtent::Browser { session, .. }) => {
                json!({ "everywhere": false, "sign_in_id": SignInId::in_browser(session) })
            }
            Self::SignedOut(SignOutExtent::Application { sign_in, client }) => {
                json!({ "everywhere": false, "sign_in_id": sign_in, "client_id": client })
            }
        };
        match members {
            Value::Object(members) => members,
            _ => Map::new(),
        }
    }
}

/// The members of an event between its ID and its data.
struct EventHead<'a> {
    event: &'a EventKind,
    timestamp: Timestamp,
    session_id: &'a str,
}

impl EventHead<'_> {
    /// Returns the members in JSON, in the order of the specification. None of the values needs an escape.
    fn members(&self) -> String {
        let Self { event, timestamp, session_id } = self;
        format!(r#""event":"{event}","timestamp":"{timestamp}","session_id":"{session_id}""#)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_no_change() {
        let same =
            UserChanges::default().with("name", json!("Ann"), json!("Ann")).with("email", json!(null), json!(null));
        assert!(same.is_empty());
        let changed = same.with("name", json!(null), json!("Ann"));
        assert_eq!(Value::from(changed.0), json!({ "name": { "old": null, "new": "Ann" } }));
    }

    #[test]
    fn deletion_events_take_the_time() {
        let now = Timestamp::from_second(1_700_000_000).unwrap();
        let user = UserId::new(Timestamp::from_second(1_600_000_000).unwrap(), [0xab; 16]);
        let time = EventId::new(now, [0; 16]).as_str()[..TIME_LEN].to_owned();
        let id = EventId::parse(&format!("{time}{}", &user.as_str()[TIME_LEN..])).unwrap();
        assert!(now.duration_since(id.time()).abs().as_millis() < 8);
    }
}
